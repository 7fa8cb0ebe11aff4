// SPDX-License-Identifier: Apache-2.0
/* The server's time, known on the page.
 *
 * A sample asks the server for its time and notes performance.now() before and after; the answer
 * is taken to be half a round trip old. The sample with the shortest round trip is the most
 * exact one and wins. performance.now() never jumps when somebody sets the local clock, so
 * neither does a countdown. It may stand still while a laptop sleeps: a new sample that the old
 * offset can't explain replaces it. */

const FIRST_SAMPLES = 4;
const LATER_SAMPLES = 2;
const SAMPLE_GAP_MS = 120;
const RESYNC_MS = 45_000;
const RETRY_MS = 3_000;
const SAMPLE_LIFE_MS = 300_000; /* quartz drifts by some 50 ppm: 15 ms in this time */
const DISAGREE_SLACK_MS = 20;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export function createClock(askServerTime, monotonic = () => performance.now()) {
    let best = null; /* { offset, roundTrip, takenAt } */
    let syncing = null;
    let timer = 0;

    function sampleOffer(serverMs, sentAt, receivedAt) {
        const roundTrip = receivedAt - sentAt;
        const sample = {
            offset: serverMs + roundTrip / 2 - receivedAt,
            roundTrip,
            takenAt: receivedAt,
        };
        if (best !== null) {
            const explained = (sample.roundTrip + best.roundTrip) / 2 + DISAGREE_SLACK_MS;
            const jumped = Math.abs(sample.offset - best.offset) > explained;
            const stale = receivedAt - best.takenAt > SAMPLE_LIFE_MS;
            if (!jumped && !stale && roundTrip >= best.roundTrip)
                return;
        }
        best = sample;
    }

    async function sampleTake() {
        const sentAt = monotonic();
        const serverMs = await askServerTime();
        sampleOffer(serverMs, sentAt, monotonic());
    }

    async function samplesTake(count) {
        let taken = 0;
        for (let i = 0; i < count; i++) {
            try {
                await sampleTake();
                taken++;
            } catch {
                /* The samples that did arrive are enough; with none, sync() tries again soon. */
            }
            if (i + 1 < count)
                await pause(SAMPLE_GAP_MS);
        }
        return taken;
    }

    function sync() {
        clearTimeout(timer);
        syncing ??= samplesTake(best === null ? FIRST_SAMPLES : LATER_SAMPLES).then((taken) => {
            syncing = null;
            if (!document.hidden)
                timer = setTimeout(sync, taken > 0 ? RESYNC_MS : RETRY_MS);
        });
        return syncing;
    }

    document.addEventListener('visibilitychange', () => {
        if (document.hidden)
            clearTimeout(timer);
        else
            sync();
    });

    return {
        sync,
        sampleOffer,
        known: () => best !== null,
        /* Milliseconds since 1970 on the server's clock. Only meaningful once known(). */
        now: () => (best === null ? NaN : monotonic() + best.offset),
        roundTrip: () => (best === null ? NaN : best.roundTrip),
    };
}
