// SPDX-License-Identifier: Apache-2.0
/* The fields of an item with its product, and how they become a product and an item. */

import { element, textSet } from '../dom.js';
import { change, changeKey } from './api.js';
import { say } from './i18n.js';
import { field } from './parts.js';
import { pictureSend } from './picture.js';

const MINUTE_MS = 60_000;

const input = (properties) => element('input', { required: true, ...properties });

function pictureField() {
    const file = element('input', { type: 'file', accept: 'image/jpeg,image/png,image/webp' });
    const shown = element('img', { class: 'picture-shown', alt: '', hidden: true, width: 120, height: 120 });
    const told = element('p', { class: 'help', role: 'status' });
    let path = null;
    file.addEventListener('change', async () => {
        path = null;
        shown.hidden = true;
        if (!file.files[0])
            return;
        textSet(told, say('picture.sending'));
        try {
            path = await pictureSend(file.files[0]);
            shown.src = path;
            shown.hidden = false;
            textSet(told, say('picture.done'));
        } catch (wrong) {
            textSet(told, wrong.status ? wrong.message : say('sign.away'));
        }
    });
    return { node: element('div', { class: 'picture-field' }, field(say('item.picture'), file, say('item.picture.help')), shown, told), path: () => path };
}

/* `save(sale)` makes the product and the item; what is made stays made when it is called again after a refusal. */
export function itemFields() {
    const name = input({ type: 'text', maxLength: 120 });
    const description = element('textarea', { rows: 2, maxLength: 1000 });
    const list = input({ type: 'text', inputMode: 'decimal', pattern: '[0-9]+([.][0-9]{1,3})?', placeholder: '4999.00' });
    const price = input({ type: 'text', inputMode: 'decimal', pattern: '[0-9]+([.][0-9]{1,3})?', placeholder: '999.00' });
    const currency = input({ type: 'text', maxLength: 3, minLength: 3, value: 'CNY', pattern: '[A-Z]{3}' });
    const units = input({ type: 'number', min: 1, max: 100_000_000, value: 100 });
    const limit = input({ type: 'number', min: 0, max: 1000, value: 1 });
    const window = input({ type: 'number', min: 1, max: 1440, value: 15 });
    const picture = pictureField();
    let product = null;
    const keys = [changeKey(), changeKey()];
    return {
        node: element('fieldset', { class: 'fields' }, element('legend', { textContent: say('item.title') }),
            field(say('item.name'), name), field(say('item.description'), description), picture.node,
            element('div', { class: 'field-row' }, field(say('item.list'), list), field(say('item.price'), price, say('item.price.help')), field(say('item.currency'), currency)),
            element('div', { class: 'field-row' }, field(say('item.units'), units), field(say('item.limit'), limit, say('item.limit.help')), field(say('item.window'), window))),
        async save(sale) {
            product ??= await change('POST', '/products', {
                name: name.value,
                description: description.value,
                images: picture.path() ? [picture.path()] : [],
                list_price: list.value,
                currency: currency.value,
            }, keys[0]);
            return change('POST', '/items', {
                sale,
                product: product.id,
                flash_price: price.value,
                total: Number(units.value),
                limit_per_user: Number(limit.value),
                pay_window_ms: Number(window.value) * MINUTE_MS,
            }, keys[1]);
        },
    };
}
