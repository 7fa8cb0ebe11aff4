// SPDX-License-Identifier: Apache-2.0
/* The fields of an item with its product, and how they become a product and an item, or change these. */

import { element } from '../dom.js';
import { change, changeKey } from './api.js';
import { say } from './i18n.js';
import { field } from './parts.js';
import { picturesField } from './picture_field.js';
import { textsField } from './texts_field.js';

const MINUTE_MS = 60_000;
const UNITS_MAX = 100_000_000;

const input = (properties) => element('input', { required: true, ...properties });

/* Minor units as one types them: 99950 with two digits is "999.50". */
export const priceText = (minor, digits) => (minor / 10 ** digits).toFixed(digits);

/* What of `now` differs from `first`. */
export const changed = (first, now) => Object.fromEntries(Object.entries(now).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(first[name])));

const nameInput = (value, required = true) => input({ type: 'text', maxLength: 120, value, required });
const aboutInput = (value) => element('textarea', { rows: 2, maxLength: 1000, value });

const priceInput = (value, placeholder) => input({ type: 'text', inputMode: 'decimal', pattern: '[0-9]+([.][0-9]{1,3})?', placeholder, value });

/* Units of the other channels than the first; what is left is the first one's. */
function channelInputs(item, disabled) {
    const names = Object.keys(item?.channels ?? {}).slice(1);
    return names.map((name) => [name, input({ type: 'number', min: 0, max: UNITS_MAX, value: item.channels[name], disabled })]);
}

function inputsOf(item, product, warm) {
    const digits = item?.minor_units ?? 2;
    return {
        name: nameInput(product?.name ?? ''),
        description: aboutInput(product?.description ?? ''),
        list: priceInput(product ? priceText(product.list_price, digits) : '', '4999.00'),
        price: priceInput(item ? priceText(item.flash_price, digits) : '', '999.00'),
        currency: input({ type: 'text', maxLength: 3, minLength: 3, value: product?.currency ?? 'CNY', pattern: '[A-Z]{3}' }),
        units: input({ type: 'number', min: 1, max: UNITS_MAX, value: item?.total ?? 100, disabled: warm }),
        safety: input({ type: 'number', min: 0, max: UNITS_MAX, value: item?.safety ?? 0, disabled: warm }),
        limit: input({ type: 'number', min: 0, max: 1000, value: item?.limit_per_user ?? 1 }),
        period: input({ type: 'number', min: 0, max: UNITS_MAX, value: item?.period_limit ?? 0 }),
        payer: input({ type: 'number', min: 0, max: UNITS_MAX, value: item?.payer_limit ?? 0 }),
        days: input({ type: 'number', min: 0, max: 366, value: item?.period_days ?? 0 }),
        group: input({ type: 'number', min: 0, max: 1_000_000_000, value: item?.period_group ?? 0 }),
        window: input({ type: 'number', min: 1, max: 10_080, step: 'any', value: (item?.pay_window_ms ?? 15 * MINUTE_MS) / MINUTE_MS }),
    };
}

/* The units of the item, as the server takes them: all of them together. */
function stockOf({ units, safety }, channels, item) {
    const stock = { total: Number(units.value), safety: Number(safety.value) };
    if (channels.length === 0)
        return stock;
    const others = Object.fromEntries(channels.map(([name, box]) => [name, Number(box.value)]));
    const [first] = Object.keys(item.channels);
    const left = stock.total - stock.safety - item.locked - Object.values(others).reduce((sum, count) => sum + count, 0);
    return { ...stock, channels: { [first]: left, ...others } };
}

/* `present`: { item, product, preheated } that are changed; without it they are new. `save(sale)` sends it; what is done stays
 * done when it is called again after a refusal. */
export function itemFields(present = null) {
    const { item, product, preheated: warm = false } = present ?? {};
    const inputs = inputsOf(item, product, warm);
    const channels = channelInputs(item, warm);
    const picture = picturesField(product?.images);
    const keys = [changeKey(), changeKey()];
    const texts = textsField(product?.texts, [['name', say('item.name'), (value) => nameInput(value, false)], ['description', say('item.description'), aboutInput]], inputs);
    const productNow = () => ({ name: inputs.name.value, description: inputs.description.value, texts: texts.now(), images: picture.paths(), list_price: inputs.list.value, currency: inputs.currency.value });
    const termsNow = () => ({
        flash_price: inputs.price.value, limit_per_user: Number(inputs.limit.value), pay_window_ms: Math.round(Number(inputs.window.value) * MINUTE_MS),
        period_limit: Number(inputs.period.value), payer_limit: Number(inputs.payer.value), period_days: Number(inputs.days.value), period_group: Number(inputs.group.value),
    });
    const first = { product: productNow(), terms: termsNow(), stock: present ? stockOf(inputs, channels, item) : {} };
    let made = null;

    async function create(sale) {
        made ??= await change('POST', '/products', productNow(), keys[0]);
        return change('POST', '/items', { sale, product: made.id, ...termsNow(), ...stockOf(inputs, [], null) }, keys[1]);
    }
    async function update() {
        const about = changed(first.product, productNow());
        const stock = stockOf(inputs, channels, item);
        const terms = { ...changed(first.terms, termsNow()), ...(JSON.stringify(stock) === JSON.stringify(first.stock) ? {} : stock) };
        if (Object.keys(terms).length > 0) /* what may be refused goes first */
            await change('PATCH', `/items/${item.id}`, terms);
        if (Object.keys(about).length > 0)
            await change('PATCH', `/products/${product.id}`, about);
    }
    return {
        node: element('fieldset', { class: 'fields' }, element('legend', { textContent: say('item.title') }),
            field(say('item.name'), inputs.name), field(say('item.description'), inputs.description), texts.node, picture.node,
            element('div', { class: 'field-row' }, field(say('item.list'), inputs.list), field(say('item.price'), inputs.price, say('item.price.help')), field(say('item.currency'), inputs.currency)),
            element('div', { class: 'field-row' }, field(say('item.units'), inputs.units), field(say('item.safety'), inputs.safety, say('item.safety.help')),
                ...channels.map(([name, box]) => field(say('item.channel', { name }), box, say('item.channel.help'))),
                field(say('item.limit'), inputs.limit, say('item.limit.help')), field(say('item.window'), inputs.window)),
            element('div', { class: 'field-row' }, field(say('item.period'), inputs.period, say('item.period.help')), field(say('item.days'), inputs.days, say('item.days.help')),
                field(say('item.payer'), inputs.payer, say('item.payer.help')), field(say('item.group'), inputs.group, say('item.group.help')))),
        save: present ? update : create,
    };
}
