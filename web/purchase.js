// SPDX-License-Identifier: Apache-2.0
/* The way from a click to an outcome: session, pass, buy, and asking again where that makes sense.
 * Knows nothing of the page; `changed` is called whenever `state` has. */

import { Refusal, buyPost, intentPay, intentPost, mineGet, passPost } from './api.js';
import {
    attemptClose,
    attemptMark,
    attemptOpen,
    attemptRead,
    ticketKeep,
    ticketRead,
} from './attempt.js';
import { detailsGivenSet } from './details.js';
import { reactionTo } from './problems.js';

const TRIES_MAX = 6;
const COOL_DOWN_MIN_MS = 5_000;
const COOL_DOWN_SPREAD_MS = 5_000;
const RETRY_BASE_MS = 700;
const RETRY_MAX_MS = 8_000;
const PATIENCE_MS = 60_000; /* nobody watches a queue for longer: the refusal is told instead */
const EARLY_BY_MAX_MS = 3_000; /* a start this close is waited for, further off is an answer */
const PASS_MARGIN_MS = 1_000;
const CHECKS_MAX = 4;
const VERDICT_PAUSE_MS = 300;
const VERDICT_LOOKS_MAX = 60;

/* The unit was taken and the order is there; only its payment could not be started. */
const ORDERED_ANYWAY = new Set(['payment-refused', 'details-required', 'too-many-payments']);

/* The shop was not reached, or not asked to sell: nothing to cool down from. */
const NOT_THE_SHOP = new Set(['network', 'session-required', 'human-check-required']);

const HUMAN_PROBLEMS = new Set(['human-check-required', 'human-check-failed', 'human-check-spent']);

const SENDING = { kind: 'sending', next: 1, of: TRIES_MAX };

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/* At least what the server asks for, and never the same moment for everybody. */
function retryDelayMs(refusal, tries) {
    const backoff = Math.min(RETRY_BASE_MS * 2 ** tries, RETRY_MAX_MS);
    return refusal.retryAfterMs + backoff * (0.5 + Math.random());
}

/* `human`: asks the visitor for the check that a sale wants (human.js). `prepared`: what was got before
 * the start (preparation.js). */
export function createPurchase(itemId, clock, session, human, prepared, changed) {
    /* step: idle → sending → won, deciding or refused; refused may be sent again. */
    const state = {
        step: 'idle',
        refusal: null,
        ticket: null,
        order: null, /* told by a purchase that is also a payment */
        quantity: 1,
        coolUntil: 0,
        checking: false, /* it is the visitor's turn: the human check */
        progress: SENDING, /* while sending: what is going on, and the how manieth try comes next */
        tappedMs: 0, /* server time of the last tap */
    };
    let pass = null;

    function stateSet(values) {
        Object.assign(state, values);
        changed();
    }

    async function passEnsure(opened) {
        if (pass === null || clock.now() > pass.expires_ms - PASS_MARGIN_MS)
            pass = await passGet(opened.session);
        return pass.pass;
    }

    async function solutionAsk(token, { type, body }) {
        stateSet({ checking: true });
        try {
            return await human.solve(token, itemId, body.kinds, type === 'human-check-failed');
        } finally {
            stateSet({ checking: false });
        }
    }

    /* The first request learns what the sale asks for; a failed check is asked again, a few times. */
    async function passGet(token) {
        let solution = prepared.solutionTake();
        let verdicts = VERDICT_LOOKS_MAX;
        for (let tries = 0; ; tries++) {
            try {
                return await passPost(token, itemId, solution);
            } catch (refusal) {
                if (refusal.type === 'in-progress' && solution?.response !== undefined && verdicts-- > 0) {
                    tries--;
                    await pause(VERDICT_PAUSE_MS); /* the service is being asked: the same again */
                    continue;
                }
                if (!HUMAN_PROBLEMS.has(refusal.type) || tries === CHECKS_MAX)
                    throw refusal;
                solution = await solutionAsk(token, refusal);
                if (solution === null)
                    throw refusal;
            }
        }
    }

    /* The same key makes the same intent, and the same intent the same order. */
    async function intentBuy(token, wish, { provider, details }) {
        const { intent } = await intentPost(...wish);
        const order = await intentPay(token, intent, provider, details);
        if (details !== undefined)
            detailsGivenSet(order.order);
        state.order = order;
        return order;
    }

    async function tryOnce(attempt) {
        const opened = await session.ensure();
        const granted = await passEnsure(opened);
        const sentBefore = attempt.sent;
        attemptMark(itemId, attempt, true);
        try {
            const wish = [opened.session, granted, itemId, attempt.key, attempt.quantity];
            return attempt.provider === null
                ? await buyPost(...wish)
                : await intentBuy(opened.session, wish, attempt);
        } catch (refusal) {
            if (refusal.type !== 'network')
                attemptMark(itemId, attempt, sentBefore);
            throw refusal;
        }
    }

    /* A buy request went unanswered and now the gate is shut: did that request win? */
    async function lostTicketFind() {
        const opened = session.current();
        if (opened === null)
            return null;
        const mine = await mineGet(opened.session, itemId);
        return mine.bought && mine.ticket !== ticketRead(itemId, opened.user)?.ticket ? mine.ticket : null;
    }

    function startIsNear(refusal) {
        const wait = refusal.body.start_ms - clock.now();
        return refusal.type === 'not-started' && wait < EARLY_BY_MAX_MS ? Math.max(0, wait) : null;
    }

    /* Units are drawn for, and each visitor has a moment of his own: to come earlier gains nothing. */
    function ownMoment(refusal) {
        if (refusal.type !== 'not-your-moment')
            return null;
        const wait = refusal.body.again_ms - clock.now();
        return wait < PATIENCE_MS ? Math.max(0, wait) : null;
    }

    const progressSet = (kind, next) => stateSet({ progress: { kind, next, of: TRIES_MAX } });

    /* Nothing can be sent without a network: waits for it, with the words for that. */
    async function networkWait(next) {
        if (navigator.onLine !== false)
            return;
        progressSet('offline', next);
        await new Promise((resolve) => {
            const timer = setTimeout(resolve, PATIENCE_MS);
            addEventListener('online', () => {
                clearTimeout(timer);
                resolve();
            }, { once: true });
        });
    }

    /* sending, offline, silent (no answer came), early (just before the start), moment (units are drawn
     * for), busy. */
    function kindOf(refusal) {
        if (refusal.type === 'network')
            return navigator.onLine === false ? 'offline' : 'silent';
        if (refusal.type === 'not-started')
            return 'early';
        if (refusal.type === 'not-your-moment')
            return 'moment';
        return reactionTo(refusal) === 'wait' ? 'busy' : 'sending';
    }

    /* Waits as the refusal asks; false when there is nothing to wait for. */
    async function anotherTry(refusal, tries) {
        if (tries + 1 >= TRIES_MAX)
            return false;
        progressSet(kindOf(refusal), tries + 2);
        const early = startIsNear(refusal);
        if (early !== null) {
            await pause(early + 20 + Math.random() * 150);
            return true;
        }
        const moment = ownMoment(refusal);
        if (moment !== null) {
            await pause(moment + 20);
            return true;
        }
        const reaction = reactionTo(refusal);
        if (reaction === 'settle' || refusal.retryAfterMs > PATIENCE_MS)
            return false;
        if (reaction === 'wait') {
            await pause(retryDelayMs(refusal, tries));
            return true;
        }
        pass = null;
        if (reaction === 'session')
            session.forget();
        await pause(Math.random() * RETRY_BASE_MS * (tries + 1));
        return true;
    }

    async function run(attempt) {
        for (let tries = 0; ; tries++) {
            try {
                await networkWait(tries + 1);
                progressSet(tries === 0 ? 'sending' : state.progress.kind, tries + 1);
                const { ticket, outcome } = await tryOnce(attempt);
                return { ticket, refusal: null, deciding: outcome === 'deciding' };
            } catch (refusal) {
                if (await anotherTry(refusal, tries))
                    continue;
                if (reactionTo(refusal) !== 'settle')
                    return { ticket: null, refusal };
                const ordered = ORDERED_ANYWAY.has(refusal.type);
                const found = attempt.sent || ordered ? await lostTicketFind() : null;
                attemptClose(itemId);
                return found
                    ? { ticket: found, refusal: ordered ? refusal : null }
                    : { ticket: refusal.body.ticket ?? null, refusal };
            }
        }
    }

    /* `pay`, for an item whose units are taken on payment: { provider, details }. */
    async function start(quantity, pay = null) {
        if (state.step === 'sending' || clock.now() < state.coolUntil)
            return;
        const coolUntil = clock.now() + COOL_DOWN_MIN_MS + Math.random() * COOL_DOWN_SPREAD_MS;
        const attempt = attemptOpen(itemId, quantity, pay?.provider);
        if (pay !== null)
            attempt.details = pay.details;
        pass = prepared.passTake(); /* else the click gets its own; the tries that follow share it */
        stateSet({
            step: 'sending',
            progress: SENDING,
            tappedMs: clock.now(),
            refusal: null,
            order: null,
            quantity: attempt.quantity,
            coolUntil,
        });
        try {
            const { ticket, refusal, deciding } = await run(attempt);
            if (ticket !== null) {
                attemptClose(itemId);
                ticketKeep(itemId, session.current()?.user, ticket, deciding ? attempt.quantity : undefined);
            }
            refusedOrWon(refusal, ticket, deciding);
        } catch (refusal) {
            refusedOrWon(refusal, null);
        }
    }

    function refusedOrWon(refusal, ticket, deciding) {
        if (refusal !== null && NOT_THE_SHOP.has(refusal.type))
            state.coolUntil = 0;
        stateSet({ step: refusal !== null ? 'refused' : deciding ? 'deciding' : 'won', refusal, ticket });
    }

    return {
        state,
        start,
        passGet,
        /* It ends before it begins, or what was being decided has ended. Another one may follow at once. */
        refuse: (type) =>
            stateSet({ step: 'refused', refusal: new Refusal(type, 0, 0, {}), ticket: null, coolUntil: 0 }),
        /* An earlier request has no known outcome yet; start() would find it out. */
        unresolved: () => attemptRead(itemId)?.sent === true,
        unresolvedQuantity: () => attemptRead(itemId)?.quantity ?? 1,
    };
}
