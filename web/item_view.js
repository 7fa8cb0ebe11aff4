// SPDX-License-Identifier: Apache-2.0
/* The page of one item: its status by polling, its countdown by the clock, its purchase by a
 * click. */

import { itemGet, saleGet, serverAddress } from './api.js';
import { ticketForget, ticketKeep, ticketRead } from './attempt.js';
import { buttonModel } from './buy_button.js';
import { detailsRemembered } from './details.js';
import { element, textSet } from './dom.js';
import { clockText, clockTickMs } from './format.js';
import { nameOf, onLanguage, say } from './i18n.js';
import { createItemLayout } from './item_layout.js';
import { stockWords } from './item_parts.js';
import { lostModel, othersOf } from './lost.js';
import { createOrderActs, payLeave } from './order_acts.js';
import { orderFollow, orderHolds } from './order_follow.js';
import { payAddress } from './pay_address.js';
import {
    itemAfterPush,
    itemAfterRefusal,
    itemAfterWin,
    nextTickMs,
    phaseOf,
    refusalIsPast,
    statusIntervalMs,
} from './phase.js';
import { createPoll } from './poll.js';
import { createPreparation } from './preparation.js';
import { sentenceFor } from './problems.js';
import { createPurchase } from './purchase.js';
import { createPush } from './push.js';
import { readyModel } from './ready.js';
import { reminderIsSet, reminderToggle } from './reminder.js';
import { createRoom, roomGate, roomIsScreen, roomModel, roomTitle } from './room.js';
import { loginAddress, signInMissing } from './shop.js';
import { createTurnAlert } from './turn_alert.js';
import { wonModel } from './won.js';
import { createWaitlist, waitlistModel } from './waitlist.js';

const AFTER_START_MS = 2_500;
const QUIET_MS = 60_000; /* between looks at an item of which push would tell */
const TAKE_OVER_MS = 5_000; /* after that, what is known is shown, and may move when the rest arrives */

export function mountItem(root, itemId, { clock, session, shop, titleSet }) {
    const acts = createOrderActs(session, () => item, { shown: orderShown, changed: () => paint() });
    const turnAlert = createTurnAlert();
    const layout = createItemLayout(acts, payChosen, {
        changed: () => paint(),
        detailsSaved: () => tick(),
        check: () => preparation.checkDo(item, shop.known()),
        remind: () => reminderToggle(item, clock.now(), nameOf(item)),
        reminded: () => item !== null && reminderIsSet(item.id),
    }, { turnAlert, drawCheck: () => room.check() });
    let item = null;
    let failure = null; /* why the last status did not arrive */
    let order = null;
    let choosing = false; /* between the click and the start: how to pay is being found out */
    let followed = null; /* { ticket, end } */
    let push = null;
    let wasPhase = 'unknown';
    let openedHere = false;
    let waited = false; /* in the room, and not admitted yet */
    let aside = false; /* an order is there, and its buyer looks at the item all the same */
    let others = null; /* what else the sale has, once this is sold out; [] while it is asked for */
    let othersTold = false;
    let addressReady = false; /* the address was shown before the start: it is sent after the win */
    let timer = 0;
    let inside = null; /* the item as the page came with it, until it is known how it stands now */
    let late = false;
    const page = element('div', { class: 'item-page' }, ...layout.nodes);

    const preparation = createPreparation(itemId, {
        clock,
        session,
        human: layout.human,
        changed: () => paint(),
    });
    const purchase = createPurchase(itemId, clock, session, layout.human, preparation, purchaseChanged);
    const poll = createPoll(statusAsk, () => {
        const phase = phaseOf(item, clock.now());
        const quiet = push?.live() && (phase === 'soldOut' || phase === 'paused');
        return quiet ? QUIET_MS : statusIntervalMs(phase, item, clock.now());
    });
    const waitlist = createWaitlist(itemId, session, purchase.passGet, waitlistChanged, line);
    const room = createRoom(session, roomChanged);

    /* Whom units are for that come: those who book, or those who wait. */
    function line() {
        return item?.offers?.item === itemId ? 'presale' : 'waitlist';
    }

    async function statusAsk() {
        if (purchase.state.step === 'sending' && item !== null)
            return;
        try {
            item = await itemGet(itemId);
            failure = null;
            if (session.current() === null || phaseOf(item, clock.now()) === 'before')
                shop.ask().then(tick, () => {}); /* the next look asks again */
            if (item.waiting_room)
                room.follow(item.sale, () => push?.live() ?? false);
        } catch (refusal) {
            failure = refusal;
            paint();
            throw refusal;
        }
        tick();
    }

    /* Only once there is a session, and something that can change. */
    function pushOpen() {
        const opened = session.current();
        if (push === null && opened !== null)
            push = createPush(opened.session, [itemId], itemTold, {
                room: item?.waiting_room ? item.sale : null,
                roomTold: room.told,
            });
    }

    function itemTold(told) {
        item = itemAfterPush(item, told);
        tick();
    }

    function follow(ticket) {
        if (followed?.ticket === ticket)
            return;
        followed?.end();
        const opened = session.current();
        if (opened === null)
            return;
        pushOpen();
        const gone = () => {
            ticketForget(itemId);
            followed = null;
            if (order?.state === 'deciding')
                order = null; /* nobody will tell what became of it */
            paint();
        };
        const end = orderFollow(opened.session, ticket, orderShown, gone, push);
        followed = { ticket, end };
    }

    function orderShown(next) {
        if (order?.state === 'deciding' && next.state !== 'deciding')
            ticketKeep(itemId, session.current()?.user, next.ticket);
        order = next;
        if (!orderHolds(order))
            ticketForget(itemId);
        if (order.state === 'void') {
            order = null;
            purchase.refuse('void');
            return;
        }
        paint();
        if (addressReady && order.state === 'pending' && acts.detailsWanted(order)) {
            addressReady = false;
            acts.detailsGive(order, detailsRemembered());
        }
    }

    /* Units that are taken on payment: how it is paid comes first, and is asked only if there is
     * something to ask. */
    async function payFirst(quantity) {
        choosing = true;
        paint();
        try {
            const { providers } = await acts.waysEnsure();
            const wanted = await acts.detailsWantedBy(item);
            const details = wanted && addressReady ? detailsRemembered() : undefined;
            if (providers.length === 1 && (!wanted || details !== undefined))
                purchase.start(quantity, { provider: providers[0], details });
            else if (providers.length > 0)
                layout.choice.open(providers, wanted, details);
            else
                purchase.refuse('no-provider');
        } catch (refusal) {
            purchase.refuse(refusal.type);
        }
        choosing = false;
        paint();
    }

    function payChosen(provider, details) {
        layout.choice.close();
        layout.dock.button.focus();
        purchase.start(layout.quantity(), { provider, details });
    }

    function purchaseChanged() {
        const { step, refusal, ticket } = purchase.state;
        if (ticket !== null && step !== 'sending') {
            if (step === 'won' && order?.ticket !== ticket)
                item = itemAfterWin(item, purchase.state.quantity);
            /* Until the first order view arrives, the ticket itself is what there is to show. */
            if (order?.ticket !== ticket)
                order = purchase.state.order ?? {
                    state: step === 'deciding' ? step : 'creating',
                    ticket,
                    quantity: purchase.state.quantity,
                };
            follow(ticket);
        }
        if (refusal !== null) {
            if (refusal.type === 'not-your-turn' || refusal.type === 'not-in-room')
                room.look();
            item = itemAfterRefusal(item, refusal);
            poll.soon(AFTER_START_MS);
        }
        if (step === 'won' || step === 'deciding')
            aside = false;
        tick();
        const address = payAddress(purchase.state.order?.payment?.url ?? '', serverAddress());
        if (step === 'won' && purchase.state.order?.payment?.url && address?.kind === 'page')
            payLeave(address.href, paint);
    }

    /* An offer is an order: it is shown and followed like one. */
    function waitlistChanged() {
        const { place } = waitlist.state;
        if (place?.state === 'offered' && followed?.ticket !== place.ticket) {
            order = { state: 'creating', ticket: place.ticket, quantity: place.quantity };
            ticketKeep(itemId, session.current()?.user, place.ticket);
            follow(place.ticket);
        }
        paint();
    }

    /* Once in the room, its news come by push. */
    function roomChanged() {
        if (room.state.standing !== null)
            pushOpen();
        const admitted = room.state.standing?.state === 'admitted';
        if (admitted && waited)
            turnAlert.tell(say('room.titleTurn'), nameOf(item));
        waited = room.state.standing !== null && !admitted;
        paint();
    }

    function roomShown(phase) {
        const { standing, from, toldAt, turnEnds } = room.state;
        const turnLeftMs = turnEnds === null ? 0 : turnEnds - Date.now();
        return roomModel({ item, phase, owned: owned(), standing, from, agoMs: performance.now() - toldAt, turnLeftMs });
    }

    function titlePaint(shownRoom) {
        const before = roomTitle(shownRoom);
        const name = nameOf(item);
        titleSet(before === null ? name : `${say(before.words, before)} · ${name}`);
    }

    function owned() {
        return order !== null && orderHolds(order) && item?.limit_per_user === 1;
    }

    /* The one sentence under the button. */
    function statusMessage(phase) {
        const { step, refusal, checking } = purchase.state;
        if (checking)
            return ['info', say('status.checking')];
        if (choosing)
            return ['info', ''];
        if (step === 'sending')
            return ['info', say(`status.${purchase.state.progress.kind}`, purchase.state.progress)];
        if (signInState() !== 'done' && (phase === 'before' || phase === 'open'))
            return ['bad', say('status.signIn')];
        if (step === 'refused' && refusal.type === 'sold-out' && item.deduct === 'payment')
            return ['bad', say('problem.sold-out.unpaid')];
        if (step === 'refused' && !refusalIsPast(refusal, phase))
            return ['bad', sentenceFor(refusal)];
        if (purchase.unresolved())
            return ['info', say('status.unresolved')];
        if (failure !== null)
            return ['info', say('status.trouble')];
        if (phase === 'full')
            return ['info', say('status.full')];
        const mayBuy = phase === 'open' && roomGate(roomShown(phase)) === 'none';
        return mayBuy && openedHere && order === null ? ['info', say('status.opened')] : ['info', ''];
    }

    /* done, link (the shop's login is known) or missing. */
    function signInState() {
        if (!signInMissing(shop.known(), session.current()))
            return 'done';
        return loginAddress(shop.known()) === '' ? 'missing' : 'link';
    }

    function readyShown(phase) {
        const details = item.details_required ? detailsRemembered() ?? 'missing' : null;
        const model = readyModel({
            phase,
            opened: session.current(),
            shop: shop.known(),
            login: loginAddress(shop.known()),
            details,
            quantity: layout.quantity(),
            choices: layout.quantityChoices(),
            check: preparation.state.check,
            checkFrom: preparation.state.checkFrom,
            pass: preparation.state.pass,
            room: item.waiting_room,
        });
        if (model !== null)
            addressReady = details !== null && details !== 'missing';
        return model;
    }

    /* What stands in place of an empty sentence. */
    function noteWords(phase, ready) {
        if (ready?.oneTap)
            return say('ready.oneTap');
        if (ready !== null && !ready.ready)
            return say('ready.count', { count: ready.todo });
        return phase === 'before' || phase === 'open' ? stockWords(item) : '';
    }

    function waitShown(phase) {
        const { place, busy, refusal } = waitlist.state;
        const ordered = order !== null && orderHolds(order);
        return waitlistModel({ phase, owned: owned(), ordered, place, busy, refusal, line: line(), terms: item?.offers?.deposit_kept });
    }

    function dockModel(phase, now) {
        return buttonModel({
            phase,
            step: choosing ? 'sending' : purchase.state.step,
            checking: purchase.state.checking,
            progress: purchase.state.step === 'sending' ? purchase.state.progress : null,
            pays: item.deduct === 'payment',
            owned: owned(),
            unresolved: purchase.unresolved(),
            coolMs: purchase.state.coolUntil - now,
            room: roomGate(roomShown(phase)),
            entering: room.state.busy,
            signIn: signInState(),
            wait: waitShown(phase),
        });
    }

    function paintDock(phase, now) {
        const ready = readyShown(phase);
        const model = dockModel(phase, now);
        const [kind, sentence] = statusMessage(phase);
        const startsInMs = model.words === 'buy.before' ? item.start_ms - now : NaN;
        const time = Number.isNaN(startsInMs) ? '' : clockText(startsInMs, say('unit.days'));
        layout.dock.paint({
            ...model,
            words: say(model.words, { ...model, time }),
            kind,
            sentence,
            noteWords: noteWords(phase, ready),
            startsInMs,
        });
        layout.ready.paint(ready, phase === 'open' || phase === 'full');
        const mayWait = phase === 'before'
            || (phase === 'soldOut' && waitlist.state.place?.state !== 'waiting');
        layout.quantityLock((!model.live && !mayWait) || purchase.unresolved());
    }

    function paint() {
        const now = clock.now();
        const phase = phaseOf(item, now);
        const gone = failure?.type === 'unknown-item';
        const trouble = failure === null ? '' : sentenceFor(failure);
        if (inside !== null && !gone && !settled(phase)) {
            textSet(inside.querySelector('.dock-lines'), trouble);
            return;
        }
        layout.paint(item, phase, now, trouble, gone);
        if (item === null) {
            takeOver();
            titleSet(gone ? say('item.gone') : '');
            return;
        }
        const shownRoom = roomShown(phase);
        titlePaint(shownRoom);
        paintDock(phase, now);
        const roomTrouble = room.state.refusal === null ? '' : sentenceFor(room.state.refusal);
        layout.room.paint(shownRoom, roomTrouble, now);
        if (phase !== 'open' || owned())
            layout.choice.close();
        layout.choice.paint();
        const { refusal } = waitlist.state;
        layout.waitPaint(waitShown(phase), refusal === null ? '' : sentenceFor(refusal));
        layout.lost.paint(lostShown(phase));
        const holds = order !== null && orderHolds(order);
        const offered = waitlist.state.place?.state === 'offered';
        const [kind, sentence] = statusMessage(phase);
        layout.orderPaint(
            order,
            holds ? wonModel(order, now, offered, (order.item ?? itemId) !== itemId) : null,
            kind === 'bad' ? sentence : '',
            holds && !owned(),
            now,
        );
        layout.viewSet(holds && !aside ? 'order' : roomIsScreen(shownRoom) ? 'room' : 'item');
        takeOver();
    }

    /* Whether all is known that decides what stands where. Until then the page that the server has sent stays: its parts have
     * the same places, and nothing moves. */
    function settled(phase) {
        if (item === null)
            return false;
        if (phase === 'soldOut')
            othersAsk();
        const waits = phase === 'unknown'
            || (phase === 'before' && shop.known() === null)
            || (phase === 'soldOut' && !othersTold)
            || (followed !== null && order === null);
        return late || !waits;
    }

    /* In one step: a part that is there before and after would count as moved. */
    function takeOver() {
        inside?.replaceWith(page);
        inside = null;
    }

    function lostShown(phase) {
        const { step, refusal, tappedMs } = purchase.state;
        if (phase === 'soldOut')
            othersAsk();
        return lostModel({
            phase,
            item,
            owned: line() === 'presale' || (order !== null && orderHolds(order)),
            waiting: waitlist.state.place?.state === 'waiting',
            tappedMs: step === 'refused' && refusal.type === 'sold-out' ? tappedMs : 0,
            others: others ?? [],
        });
    }

    async function othersAsk() {
        if (others !== null)
            return;
        others = [];
        try {
            const shown = item.offers?.substitutes ?? (line() === 'waitlist' && item.offers?.item ? [item.offers.item] : null);
            others = shown ? await Promise.all(shown.map(itemGet)) : othersOf((await saleGet(item.sale)).items, itemId);
        } catch {
            /* Nothing else is offered then. */
        }
        othersTold = true;
        paint();
    }

    /* Paints now and again when the shown second or the phase changes. */
    function tick() {
        clearTimeout(timer);
        const now = clock.now();
        const phase = phaseOf(item, now);
        if (wasPhase === 'before' && phase === 'open') {
            openedHere = true;
            poll.soon(AFTER_START_MS);
        }
        wasPhase = phase;
        if (phase === 'before')
            preparation.tick(item, shop.known());
        /* A visitor without an order gets enough news of an open sale by polling. */
        if (phase === 'full' || phase === 'soldOut' || phase === 'paused' || purchase.state.step !== 'idle')
            pushOpen();
        paint();
        if (!document.hidden)
            timer = setTimeout(tick, nextTickMs(item, now, clockTickMs));
    }

    function visibilityChanged() {
        if (!document.hidden)
            tick();
    }

    layout.dock.button.addEventListener('click', () => {
        if (layout.dock.button.getAttribute('aria-disabled') === 'true')
            return;
        const { act } = dockModel(phaseOf(item, clock.now()), clock.now());
        if (purchase.unresolved())
            purchase.start(purchase.unresolvedQuantity());
        else if (act === 'signIn')
            location.assign(loginAddress(shop.known()));
        else if (act === 'enter')
            room.enter();
        else if (act === 'wait')
            waitlist.join(layout.quantity());
        else if (item.deduct === 'payment')
            payFirst(layout.quantity());
        else
            purchase.start(layout.quantity());
    });
    layout.toItem.addEventListener('click', () => {
        aside = true;
        paint();
        layout.heading.focus();
    });
    layout.waitButton.addEventListener('click', () => waitlist.leave());
    layout.quantityChanged(() => paint());
    document.addEventListener('visibilitychange', visibilityChanged);
    const languageEnd = onLanguage(paint);

    root.dataset.dock = ''; /* what follows the page keeps clear of it */
    inside = [...root.children].find((node) => node.dataset.inside === String(itemId)) ?? null;
    root.replaceChildren(inside ?? page);
    const lateTimer = setTimeout(() => {
        late = true;
        paint();
    }, TAKE_OVER_MS);
    tick();
    poll.start();
    if (session.current() === null)
        shop.ask().then(tick, () => {});
    waitlist.start();
    const opened = session.current();
    const kept = opened === null ? null : ticketRead(itemId, opened.user);
    if (kept?.deciding)
        order = { state: 'deciding', ticket: kept.ticket, quantity: kept.deciding };
    if (kept !== null)
        follow(kept.ticket);

    return {
        heading: layout.heading,
        stop() {
            delete root.dataset.dock;
            clearTimeout(timer);
            clearTimeout(lateTimer);
            poll.stop();
            layout.human.end();
            waitlist.stop();
            room.stop();
            followed?.end();
            push?.end();
            languageEnd();
            document.removeEventListener('visibilitychange', visibilityChanged);
        },
    };
}
