/* Follows one order by long poll until nothing more will happen to it. */

import { ticketWait } from './api.js';
import { jittered } from './poll.js';

const ROUND_MIN_MS = 1_500; /* a proxy that cuts the wait short must not make this a busy loop */
const TROUBLE_MS = 4_000;
const FINAL_STATES = new Set(['closed', 'refunded']);

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function becomesVisible() {
    if (!document.hidden)
        return Promise.resolve();
    return new Promise((resolve) => {
        document.addEventListener('visibilitychange', function once() {
            document.removeEventListener('visibilitychange', once);
            resolve(becomesVisible());
        });
    });
}

/* `shown` gets each new order view; `gone` is called if the ticket is not this user's or unknown.
 * Returns the function that ends the following. */
export function orderFollow(session, ticket, shown, gone) {
    const abort = new AbortController();

    async function follow() {
        let version;
        while (!abort.signal.aborted) {
            await becomesVisible();
            const askedAt = performance.now();
            try {
                const order = await ticketWait(session, ticket, version, abort.signal);
                if (abort.signal.aborted)
                    return;
                shown(order);
                version = order.version;
                /* A paid order can still be refunded, but nobody watches the page for that. */
                if (FINAL_STATES.has(order.state) || order.state === 'paid')
                    return;
                await pause(Math.max(0, ROUND_MIN_MS - (performance.now() - askedAt)));
            } catch (refusal) {
                if (abort.signal.aborted)
                    return;
                if (refusal.status === 404 || refusal.status === 401) {
                    gone(refusal);
                    return;
                }
                await pause((refusal.retryAfterMs || 0) + jittered(TROUBLE_MS));
            }
        }
    }

    follow();
    return () => abort.abort();
}

/* An order that still holds its units: the buyer has it. */
export const orderHolds = (order) => !FINAL_STATES.has(order.state);
