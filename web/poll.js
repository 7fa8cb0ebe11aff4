// SPDX-License-Identifier: Apache-2.0
/* Asks for the status again and again: never two at once, never while the page is hidden, at
 * random distances so that a crowd does not march in step, and further apart while the server is
 * in trouble. */

const JITTER = 0.35;
const FAILURE_BASE_MS = 4_000;
const FAILURE_MAX_MS = 60_000;
const RETURN_SPREAD_MS = 600;

export const jittered = (ms) => ms * (1 - JITTER + 2 * JITTER * Math.random());

/* `ask` fetches and shows; `intervalMs` says how far off the next time is (Infinity: no more). */
export function createPoll(ask, intervalMs) {
    let timer = 0;
    let failures = 0;
    let asking = false;
    let stopped = false;

    function schedule(ms) {
        clearTimeout(timer);
        if (!stopped && !document.hidden && ms !== Infinity)
            timer = setTimeout(round, ms);
    }

    async function round() {
        if (stopped || asking)
            return;
        asking = true;
        let wait;
        try {
            await ask();
            failures = 0;
            wait = jittered(intervalMs());
        } catch (refusal) {
            failures++;
            const backoff = Math.min(FAILURE_BASE_MS * 2 ** (failures - 1), FAILURE_MAX_MS);
            wait = (refusal.retryAfterMs || 0) + jittered(backoff);
        }
        asking = false;
        schedule(wait);
    }

    function visibilityChanged() {
        if (document.hidden)
            clearTimeout(timer);
        else
            schedule(Math.random() * RETURN_SPREAD_MS);
    }
    document.addEventListener('visibilitychange', visibilityChanged);

    return {
        start: round,
        /* Asks again in about `ms`, instead of whenever was planned. */
        soon: (ms) => schedule(jittered(ms)),
        stop() {
            stopped = true;
            clearTimeout(timer);
            document.removeEventListener('visibilitychange', visibilityChanged);
        },
    };
}
