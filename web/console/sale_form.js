// SPDX-License-Identifier: Apache-2.0
/* A new sale with its first item. It is a draft until it is published. */

import { element, textSet } from '../dom.js';
import { change, changeKey } from './api.js';
import { zoneName } from './format.js';
import { say } from './i18n.js';
import { itemFields } from './item_form.js';
import { choice, field, titleRow } from './parts.js';

const HOUR_MS = 3_600_000;

/* What <input type="datetime-local"> takes: local time, to the minute. */
export function localText(ms) {
    const two = (value) => String(value).padStart(2, '0');
    const date = new Date(ms);
    return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

export function saleFormShow(main) {
    const now = Date.now();
    const next = Math.ceil(now / HOUR_MS) * HOUR_MS;
    const title = element('input', { type: 'text', required: true, maxLength: 120 });
    const start = element('input', { type: 'datetime-local', required: true, value: localText(next) });
    const end = element('input', { type: 'datetime-local', required: true, value: localText(next + HOUR_MS) });
    const room = element('input', { type: 'checkbox' });
    const check = choice(['none', 'image', 'slider', 'pow'].map((kind) => [kind, say(`check.${kind}`)]), 'none');
    const item = itemFields();
    const told = element('p', { class: 'told', role: 'alert' });
    const save = element('button', { type: 'submit', class: 'main', textContent: say('sale.save') });
    const form = element('form', { class: 'panel form' },
        element('fieldset', { class: 'fields' }, element('legend', { textContent: say('sale.when') }), field(say('sale.title'), title),
            element('div', { class: 'field-row dates' }, field(say('sale.start'), start, say('sale.zone', { zone: zoneName() })), field(say('sale.end'), end),
                field(say('sale.check'), check)),
            element('div', { class: 'check-row' }, field(say('sale.room'), room))),
        item.node, told, element('div', { class: 'acts end' }, element('a', { class: 'plain', href: '#/sales', textContent: say('ask.no') }), save));
    let sale = null;
    const key = changeKey();
    form.addEventListener('submit', async (event) => {
        event.preventDefault();
        save.disabled = true;
        textSet(told, '');
        try {
            sale ??= await change('POST', '/sales', {
                title: title.value,
                start_ms: new Date(start.value).getTime(),
                end_ms: new Date(end.value).getTime(),
                human_check: check.value,
                waiting_room: room.checked,
            }, key);
            await item.save(sale.id);
            location.hash = `#/sales/${sale.id}`;
        } catch (wrong) {
            textSet(told, wrong.status ? wrong.message : say('sign.away'));
            save.disabled = false;
        }
    });
    main.replaceChildren(titleRow(say('sale.new')), element('p', { class: 'note', textContent: say('sale.draft.note') }), form);
    title.focus();
}
