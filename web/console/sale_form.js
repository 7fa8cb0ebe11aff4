// SPDX-License-Identifier: Apache-2.0
/* Screens with a form about a sale: a new one with its first item, one that is changed, one item that is changed. */

import { element, textSet } from '../dom.js';
import { change, changeKey, read } from './api.js';
import { channelsPanel, channelsRead } from './channels_part.js';
import { ask } from './dialog.js';
import { say } from './i18n.js';
import { itemFields } from './item_form.js';
import { button, loadedPlace, loadedShow, titleRow } from './parts.js';
import { saleFields } from './sale_fields.js';

/* A form whose refusal is told above its buttons. `save()` sends it and resolves to the address to go to. */
export function formMake({ back, words, nodes, more = [], save }) {
    const told = element('p', { class: 'told', role: 'alert' });
    const go = element('button', { type: 'submit', class: 'main', textContent: words });
    const form = element('form', { class: 'panel form' }, ...nodes, told,
        element('div', { class: 'acts end' }, ...more, element('a', { class: 'plain', href: back, textContent: say('ask.no') }), go));
    form.addEventListener('submit', async (event) => {
        event.preventDefault();
        go.disabled = true;
        textSet(told, '');
        try {
            location.hash = await save();
        } catch (wrong) {
            textSet(told, wrong.status ? wrong.message : say('sign.away'));
            go.disabled = false;
        }
    });
    return form;
}

export const crumbs = (...links) => element('p', { class: 'crumb' }, ...links.flatMap(([href, words], at) => [at > 0 ? ' / ' : '', element('a', { href, textContent: words })]));

export function saleFormShow(main) {
    const fields = saleFields(null);
    const item = itemFields();
    let sale = null;
    const key = changeKey();
    main.replaceChildren(titleRow(say('sale.new')), element('p', { class: 'note', textContent: say('sale.draft.note') }), formMake({
        back: '#/sales',
        words: say('sale.save'),
        nodes: [fields.node, item.node],
        save: async () => {
            sale ??= await change('POST', '/sales', fields.members(), key);
            await item.save(sale.id);
            return `#/sales/${sale.id}`;
        },
    }));
    fields.focus();
}

export function saleEditShow(main, id) {
    return loadedShow(main, [], loadedPlace({
        load: () => read(`/sales/${id}`),
        paint(sale, place) {
            const fields = saleFields(sale);
            const back = `#/sales/${id}`;
            place.replaceChildren(crumbs(['#/sales', say('nav.sales')], [back, sale.title]), titleRow(say('sale.edit')), element('p', { class: 'note', textContent: say('sale.edit.note') }),
                formMake({ back, words: say('form.save'), nodes: [fields.node], save: async () => {
                    const members = fields.members();
                    if (Object.keys(members).length > 0)
                        await change('PATCH', `/sales/${id}`, members);
                    return back;
                } }));
            fields.focus();
        },
    }));
}

export function itemEditShow(main, sale, id) {
    const shown = loadedPlace({
        async load() {
            const item = await read(`/items/${id}`);
            return [item, ...await Promise.all([read(`/products/${item.product}`), read(`/items/${id}/counts`), channelsRead(id)])];
        },
        paint([item, product, { counts }, channels], place) {
            const back = `#/sales/${sale}`;
            const fields = itemFields({ item, product, preheated: counts !== null });
            const away = button(say('item.remove'), () => ask({ title: say('item.remove.title', { name: product.name }), text: say('item.remove.text'), yes: say('item.remove'), danger: true,
                act: (key) => change('DELETE', `/items/${id}`, undefined, key) }).then((answer) => {
                if (answer !== null)
                    location.hash = back;
            }), 'danger');
            place.replaceChildren(crumbs(['#/sales', say('nav.sales')], [back, say('item.of', { id: sale })]), titleRow(say('item.edit')),
                element('p', { class: 'note', textContent: say(counts === null ? 'item.edit.note' : 'item.edit.warm') }),
                formMake({ back, words: say('form.save'), nodes: [fields.node], more: counts === null ? [away] : [], save: async () => {
                    await fields.save(sale);
                    return back;
                } }),
                channelsPanel({ item, counts, ...channels }, () => shown.look()));
        },
    });
    return loadedShow(main, [], shown);
}
