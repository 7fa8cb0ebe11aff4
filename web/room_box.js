// SPDX-License-Identifier: Apache-2.0
/* How the waiting room looks on an item's page. */

import { attributeSet, element, textSet } from './dom.js';
import { count } from './format.js';
import { say } from './i18n.js';

export function createRoomBox() {
    const title = element('h2', { class: 'room-title' });
    const number = element('p', { class: 'room-number' });
    const bar = element('progress', { class: 'stock-bar room-bar' });
    const eta = element('p', { class: 'room-eta' });
    const odds = element('p', { class: 'room-odds' });
    /* Only what changes seldom is announced; a number every second would drown everything else. */
    const words = element('p', { class: 'room-words', role: 'status' });
    const node = element('section', { class: 'room-box' }, title, number, bar, eta, odds, words);
    node.hidden = true;

    function paint(model, trouble) {
        node.hidden = model === null;
        if (model === null)
            return;
        node.dataset.kind = model.kind;
        textSet(title, say('room.title'));
        textSet(number, model.number ? say(model.number[0], { count: count(model.number[1]) }) : '');
        textSet(eta, model.eta ? say(model.eta, model.values) : '');
        textSet(odds, model.odds ? say(model.odds) : '');
        odds.dataset.odds = model.odds ?? '';
        bar.hidden = model.of === undefined;
        attributeSet(bar, 'max', String(model.of ?? 1));
        attributeSet(bar, 'value', String(model.done ?? 0));
        attributeSet(bar, 'aria-label', say('room.progress'));
        for (const part of [number, eta, odds])
            part.hidden = part.textContent === '';
        textSet(words, trouble || say(model.words));
    }

    return { node, paint };
}
