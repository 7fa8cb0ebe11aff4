// SPDX-License-Identifier: Apache-2.0
/* What a buyer does with an order: pay, say that it is paid, give details, cancel, give back. Knows
 * nothing of the page. `shown` gets an order that an answer has told; `changed` is called whenever a
 * note or the ways to pay have changed. */

import {
    Refusal,
    cancelPost,
    detailsPut,
    orderGet,
    payPost,
    queryPost,
    refundPost,
    saleGet,
    serverAddress,
    waysGet,
} from './api.js';
import { detailsGiven, detailsGivenSet } from './details.js';
import { payAddress } from './pay_address.js';

const START_TRIES_MAX = 5;
const START_PAUSE_MS = 1_200;
const WAYS_RETRY_MS = 10_000;
const CHECKING_MS = 8_000;
const LEAVE_MAX_MS = 15_000;
const REFUND_LOOKS_MAX = 5;
const REFUND_PAUSE_MS = 1_500;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/* Leaves for the pay page. A page that comes back from the browser's memory is not busy any more. */
export function payLeave(href, returned) {
    window.addEventListener('pageshow', returned, { once: true });
    location.assign(href);
}

/* Busy until the page is left, or shown again, or nothing has come of it. */
const left = (href) =>
    Promise.race([new Promise((returned) => payLeave(href, returned)), pause(LEAVE_MAX_MS)]);

export function createOrderActs(session, itemOf, { shown, changed }) {
    const notes = new Map(); /* ticket → { busy, provider, refusal, checkUntil, detailsWanted } */
    const sales = new Map(); /* sale → whether it wants details; null while it is asked for */
    let ways = null;
    let waysAskedAt = -Infinity;

    function noteOf(order) {
        if (!notes.has(order.ticket))
            notes.set(order.ticket, { busy: '', provider: '', refusal: null, checkUntil: 0 });
        return notes.get(order.ticket);
    }

    async function waysEnsure() {
        if (ways === null) {
            waysAskedAt = performance.now();
            ways = await waysGet((await session.ensure()).session);
            changed();
        }
        return ways;
    }

    /* Asked for when the first order is shown, not before. */
    function waysKnown() {
        const may = session.current() !== null; /* looking opens no session */
        if (ways === null && may && performance.now() - waysAskedAt > WAYS_RETRY_MS)
            waysEnsure().catch(() => {});
        return ways;
    }

    async function saleAsk(sale) {
        sales.set(sale, null);
        try {
            sales.set(sale, (await saleGet(sale)).details_required === true);
            changed();
        } catch {
            sales.delete(sale);
        }
        return sales.get(sale) === true;
    }

    async function detailsWantedBy(item) {
        if (item.details_required !== undefined || sales.get(item.sale) === true)
            return item.details_required ?? true;
        return saleAsk(item.sale);
    }

    /* Whether the form comes before the money. A server that wants details says so again when it
     * is asked to start a payment, so that not knowing yet is no harm. */
    function detailsWanted(order) {
        const item = itemOf(order);
        if (noteOf(order).detailsWanted === true)
            return true;
        if (item === null || detailsGiven(order.order))
            return false;
        if (item.details_required !== undefined)
            return item.details_required;
        if (!sales.has(item.sale))
            saleAsk(item.sale);
        return sales.get(item.sale) === true;
    }

    /* One act at a time for an order; a refusal is kept to be said. */
    async function act(order, busy, ask) {
        const note = noteOf(order);
        if (note.busy !== '')
            return;
        Object.assign(note, { busy, refusal: null });
        changed();
        try {
            await ask(session.current()?.session, note);
        } catch (refusal) {
            note.refusal = refusal;
            if (refusal.type === 'session-invalid')
                session.forget();
            if (refusal.type === 'details-required')
                note.detailsWanted = true;
            await truthTell(order);
        }
        note.busy = '';
        changed();
    }

    /* A refusal often means that the order is not what was shown. */
    async function truthTell(order) {
        try {
            shown(await orderGet(session.current()?.session, order.order));
        } catch {
            /* The next poll tells. */
        }
    }

    /* 202: the provider has not answered yet. */
    async function paymentStart(token, order, provider) {
        for (let tries = 1; ; tries++) {
            const after = await payPost(token, order.order, provider);
            if (after.payment?.url !== undefined || tries === START_TRIES_MAX)
                return after;
            await pause(START_PAUSE_MS);
        }
    }

    const pay = (order, provider) => act(order, 'pay', async (token, note) => {
        note.provider = provider;
        const after = await paymentStart(token, order, provider);
        shown(after);
        const address = payAddress(after.payment?.url ?? '', serverAddress());
        if (after.payment?.url === undefined || address === null)
            throw new Refusal('payment-refused', 0, 0, {});
        if (address.kind === 'page')
            await left(address.href);
    });

    const detailsGive = (order, details) => act(order, 'details', async (token, note) => {
        shown(await detailsPut(token, order.order, details));
        note.detailsWanted = false;
        detailsGivenSet(order.order);
    });

    const paidSay = (order) => act(order, 'query', async (token, note) => {
        shown(await queryPost(token, order.order));
        note.checkUntil = performance.now() + CHECKING_MS;
    });

    const cancel = (order) => act(order, 'cancel', async (token) => {
        shown(await cancelPost(token, order.order));
    });

    const giveBack = (order) => act(order, 'refund', async (token) => {
        let after = await refundPost(token, order.order);
        shown(after);
        for (let looks = 0; looks < REFUND_LOOKS_MAX && after.refund?.state !== 'done'; looks++) {
            await pause(REFUND_PAUSE_MS);
            after = await orderGet(token, order.order);
            shown(after);
        }
    });

    return {
        changed,
        noteOf,
        waysEnsure,
        waysKnown,
        detailsWantedBy,
        detailsWanted,
        detailsKnown: (order) => detailsGiven(order.order),
        detailsGive,
        pay,
        paidSay,
        cancel,
        giveBack,
        /* The provider is being asked about this order just now. */
        checking: (order) => performance.now() < noteOf(order).checkUntil,
    };
}
