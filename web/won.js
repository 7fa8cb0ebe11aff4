// SPDX-License-Identifier: Apache-2.0
/* The head of the screen of an order that one has: what happened, and how long it is kept. */

import { attributeSet, element, textSet } from './dom.js';
import { minutesAndSeconds, timeOfDay } from './format.js';
import { say } from './i18n.js';
import { orderIsClosing, orderIsOpen } from './payment.js';

/* What the head says: a pure function of what is known. `offered`: from the waitlist. `deposit`: it pays for a booking. */
export function wonModel(order, now, offered, deposit) {
    if (order.state === 'deciding')
        return { kind: 'deciding', title: 'won.deciding', words: 'status.sending' };
    if (order.state === 'paid')
        return { kind: 'paid', title: deposit ? 'presale.number' : 'won.paid', words: 'won.paidWords' };
    if (orderIsClosing(order))
        return { kind: 'closing', title: 'order.state.closing', words: 'won.closing' };
    const title = deposit ? 'order.state.pending' : offered ? 'won.offered' : 'won.title';
    if (order.state === 'creating')
        return { kind: 'creating', title, words: 'won.creating' };
    if (!orderIsOpen(order, now))
        return { kind: 'late', title: 'won.late', words: 'won.lateWords' };
    const left = order.pay_by_ms - now;
    const whole = Math.max(1, order.pay_by_ms - order.created_ms);
    return { kind: 'open', title, words: 'won.until', untilMs: order.pay_by_ms, leftMs: left, share: Math.min(1, left / whole) };
}

export function createWonHead() {
    const mark = element('span', { class: 'won-mark', 'aria-hidden': 'true' });
    const title = element('p', { class: 'won-title', role: 'status', tabIndex: -1 });
    const clock = element('p', { class: 'won-clock', role: 'timer' });
    const bar = element('progress', { class: 'stock-bar won-bar', max: 1 });
    const words = element('p', { class: 'won-words' });
    const trouble = element('p', { class: 'won-trouble', role: 'alert' });
    const node = element('div', { class: 'won' }, mark, title, clock, bar, words, trouble);

    return {
        node,
        title,
        /* `wrong`: what did not go as it should, as a sentence; or ''. */
        paint(model, wrong) {
            node.dataset.kind = model.kind;
            textSet(title, say(model.title));
            clock.hidden = bar.hidden = model.leftMs === undefined;
            textSet(clock, clock.hidden ? '' : minutesAndSeconds(model.leftMs));
            attributeSet(bar, 'value', String(model.share ?? 0));
            attributeSet(bar, 'aria-label', say('won.left'));
            trouble.hidden = wrong === '';
            textSet(trouble, wrong);
            textSet(words, say(model.words, { time: model.untilMs === undefined ? '' : timeOfDay(model.untilMs) }));
        },
    };
}
