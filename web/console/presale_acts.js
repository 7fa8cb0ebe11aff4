// SPDX-License-Identifier: Apache-2.0
/* What an item offers when it is sold out, its bookings, and units that arrive for those who booked. */

import { element } from '../dom.js';
import { change, readAll } from './api.js';
import { ask } from './dialog.js';
import { number } from './format.js';
import { nameIn, named, say } from './i18n.js';
import { button, choice, field } from './parts.js';
import { may } from './session.js';

const KINDS = ['end', 'waitlist', 'substitutes', 'presale'];
const TERMS = ['never', 'unpaid', 'given-up'];
const MINUTE_MS = 60_000;

export const numbersRead = (text) => text.split(/[\s,，]+/).filter((part) => part !== '').map(Number);

function offerAsk({ item, product }, again) {
    const numeric = (value) => element('input', { type: 'number', min: 0, value });
    const inputs = {
        kind: choice(KINDS.map((kind) => [kind, named('soldout', kind)]), item.when_sold_out),
        substitutes: element('input', { type: 'text', value: item.substitutes.join(', '), inputMode: 'numeric' }),
        cap: numeric(item.presale_cap),
        deposit: numeric(item.deposit_item),
        minutes: numeric(item.balance_ms / MINUTE_MS),
        kept: choice(TERMS.map((terms) => [terms, named('soldout.kept', terms)]), item.deposit_kept),
    };
    const wish = () => ({ when_sold_out: inputs.kind.value,
        ...(inputs.kind.value === 'substitutes' ? { substitutes: numbersRead(inputs.substitutes.value) } : {}),
        ...(inputs.kind.value === 'presale' && item.presale_item === 0 ? { presale_cap: Number(inputs.cap.value), deposit_item: Number(inputs.deposit.value), balance_ms: Math.round(Number(inputs.minutes.value) * MINUTE_MS), ...(Number(inputs.deposit.value) > 0 ? { deposit_kept: inputs.kept.value } : {}) } : {}),
        ...(inputs.kind.value === 'presale' && item.presale_item !== 0 ? { presale_item: item.presale_item } : {}) });
    ask({
        title: say('soldout.title', { name: nameIn(product) }),
        text: say('soldout.text'),
        yes: say('form.save'),
        fields: [field(say('soldout.kind'), inputs.kind), field(say('soldout.substitutes'), inputs.substitutes, say('soldout.substitutes.help')), field(say('soldout.cap'), inputs.cap, say('soldout.cap.help')),
            field(say('soldout.deposit'), inputs.deposit, say('soldout.deposit.help')), field(say('soldout.kept'), inputs.kept, say('soldout.kept.help')), field(say('soldout.minutes'), inputs.minutes, say('soldout.minutes.help'))],
        act: (key) => change('PUT', `/items/${item.id}/sold-out`, wish(), key),
    }).then((answer) => answer !== null && again());
}

async function arriveAsk({ item, product }, again) {
    const bookings = await readAll(`/items/${item.id}/presale`, 'bookings');
    const waiting = bookings.filter(({ state }) => state === 'booked').length;
    const due = bookings.filter(({ state }) => state === 'deposit-due').length;
    const units = element('input', { type: 'number', required: true, min: 1, max: 100_000_000, value: Math.max(1, waiting) });
    ask({
        title: say('presale.title', { name: nameIn(product) }),
        text: say('presale.text', { waiting: number(waiting), due: number(due), all: number(bookings.length) }),
        yes: say('presale.arrive'),
        fields: [field(say('item.units'), units)],
        act: (key) => change('POST', `/items/${item.id}/presale/arrive`, { units: Number(units.value) }, key),
    }).then((answer) => answer !== null && again());
}

/* Buttons under an item of a sale. */
export function presaleActs(row, again) {
    const acts = [];
    if (may('admin'))
        acts.push(button(say('soldout.act'), () => offerAsk(row, again), 'plain small'));
    if (may('operator') && row.preheated && row.item.when_sold_out === 'presale' && row.item.presale_item === 0)
        acts.push(button(say('presale.act'), () => arriveAsk(row, again), 'plain small'));
    return acts;
}
