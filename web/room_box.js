// SPDX-License-Identifier: Apache-2.0
/* How the waiting room looks on an item's page. */

import { attributeSet, element, textSet } from './dom.js';
import { count, hourAndMinute, minutesAndSeconds } from './format.js';
import { say } from './i18n.js';
import { roomIsScreen } from './room.js';

/* `alert`: tells of the turn (turn_alert.js); `drawCheck` checks the draw (room.js). */
export function createRoomBox(alert, drawCheck) {
    const title = element('h2', { class: 'room-title' });
    const number = element('p', { class: 'room-number' });
    const unit = element('p', { class: 'room-unit' });
    const bar = element('progress', { class: 'stock-bar room-bar' });
    const eta = element('p', { class: 'room-eta' });
    const odds = element('p', { class: 'room-odds' });
    const ago = element('p', { class: 'room-ago' });
    const bell = element('button', { class: 'plain room-bell', type: 'button' });
    /* Only what changes seldom is announced; a number every second would drown everything else. */
    const words = element('p', { class: 'room-words', role: 'status' });
    const message = element('p', { class: 'room-message', role: 'status' });
    const node = element('section', { class: 'room-box' }, title, message, number, unit, bar, eta, odds, words, bell, ago);
    const fair = element('summary');
    const fairWords = element('p', { class: 'room-words' });
    const check = element('button', { class: 'plain', type: 'button' });
    const found = element('p', { class: 'room-found', role: 'status' });
    const proof = element('details', { class: 'room-proof' }, fair, fairWords, check, found);
    node.append(proof);
    node.hidden = true;
    let result = null; /* of the check: what drawCheck says, or 'away' */

    check.addEventListener('click', async () => {
        try {
            result = await drawCheck();
        } catch {
            result = 'away';
        }
        proofPaint(true);
    });

    function foundWords() {
        if (result === null)
            return '';
        if (result === 'away')
            return say('proof.away');
        return result.wrong === ''
            ? say('proof.good', { place: count(result.place), count: count(result.count) })
            : say('proof.wrong', { what: result.wrong });
    }

    function proofPaint(shown) {
        proof.hidden = !shown || globalThis.crypto?.subtle === undefined;
        textSet(fair, say('proof.title'));
        textSet(fairWords, say('proof.words'));
        textSet(check, say('proof.check'));
        found.dataset.good = String(result?.wrong === '');
        textSet(found, foundWords());
    }

    bell.addEventListener('click', async () => {
        await alert.toggle();
        bellPaint();
    });

    function bellPaint() {
        attributeSet(bell, 'aria-pressed', String(alert.on()));
        textSet(bell, say(alert.on() ? 'room.bellOn' : 'room.bell'));
    }

    function etaSay(model, now) {
        if (model.eta === undefined)
            return '';
        const time = model.inMs === undefined ? '' : hourAndMinute(now + model.inMs);
        return say(model.eta, { minutes: model.minutes, time });
    }

    function paint(model, trouble, now) {
        node.hidden = model === null;
        if (model === null)
            return;
        node.dataset.kind = model.kind;
        textSet(title, say('room.title'));
        message.hidden = !model.message;
        textSet(message, model.message ?? '');
        const [unitWords, value] = model.number ?? ['', 0];
        const turn = model.turnLeftMs !== undefined;
        textSet(number, turn ? minutesAndSeconds(model.turnLeftMs) : value > 0 ? count(value) : '');
        textSet(unit, turn ? say('room.turnLeft') : unitWords === '' ? '' : say(value === 1 && unitWords === 'room.arrived' ? 'room.arrivedOne' : unitWords, { count: count(value) }));
        textSet(eta, etaSay(model, now));
        textSet(odds, model.odds ? say(model.odds) : '');
        odds.dataset.odds = model.odds ?? '';
        bar.hidden = model.of === undefined;
        attributeSet(bar, 'max', String(model.of ?? 1));
        attributeSet(bar, 'value', String(model.done ?? 0));
        attributeSet(bar, 'aria-label', say('room.progress'));
        textSet(ago, model.agoS === undefined ? '' : say('room.ago', { seconds: model.agoS }));
        for (const part of [number, unit, eta, odds, ago])
            part.hidden = part.textContent === '';
        bell.hidden = !roomIsScreen(model);
        bellPaint();
        proofPaint(model.kind === 'line' || model.kind === 'in');
        textSet(words, trouble || say(model.words));
    }

    return { node, paint };
}
