// SPDX-License-Identifier: Apache-2.0
/* Follows one order until nothing more will happen to it: by push while a connection is there, by
 * long poll otherwise. Both tell the same. */

import { ticketWait } from './api.js';
import { jittered } from './poll.js';

const ROUND_MIN_MS = 1_500; /* a proxy that cuts the wait short must not make this a busy loop */
const TROUBLE_MS = 4_000;
const FINAL_STATES = new Set(['closed', 'refunded', 'void']);

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
 * `push`: a connection of this session (push.js), or null. Returns the function that ends the
 * following. */
export function orderFollow(session, ticket, shown, gone, push = null) {
    const abort = new AbortController();

    async function follow() {
        let version;
        let asked = false;
        let deciding = false; /* push tells orders only: that there will be none must be asked for */
        while (!abort.signal.aborted) {
            await becomesVisible();
            const askedAt = performance.now();
            try {
                /* The first question is always asked: only its answer knows strange tickets. */
                const pushed = asked && !deciding && push?.live() === true;
                const order = pushed
                    ? await push.next(ticket, version)
                    : await ticketWait(session, ticket, version, abort.signal);
                if (abort.signal.aborted)
                    return;
                asked = true;
                if (order === null)
                    continue;
                shown(order);
                version = order.version;
                deciding = order.state === 'deciding';
                /* A paid order can still be refunded, but nobody watches the page for that. */
                if (FINAL_STATES.has(order.state) || order.state === 'paid')
                    return;
                if (deciding || (!pushed && push?.live() !== true))
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
