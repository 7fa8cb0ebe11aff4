// SPDX-License-Identifier: Apache-2.0
/* Settings: how each part is, the configuration in force with where each value comes from, and the keys. */

import { element } from '../dom.js';
import { read } from './api.js';
import { csvText, fileSave } from './csv.js';
import { number } from './format.js';
import { healthOf } from './health.js';
import { hasWords, say } from './i18n.js';
import { keysPart, keysTrail } from './keys_part.js';
import { button, chip, choice, loadedPlace, loadedShow, panel, table, titleRow } from './parts.js';
import { may } from './session.js';

function healthPart(snapshot) {
    return panel(say('health.title'), element('ul', { class: 'checks' }, ...healthOf(snapshot).map(([key, grade, values]) => {
        const told = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, number(value)]));
        return element('li', { 'data-grade': grade, 'data-part': key }, element('span', { class: 'sr', textContent: say(`grade.${grade}`) }),
            element('b', { textContent: say(`health.${key}`) }), ' ', say(`health.${key}.${grade === 'good' || hasWords(`health.${key}.${grade}`) ? grade : 'wrong'}`, told));
    })));
}

function settingsPart({ settings }) {
    const search = element('input', { type: 'search', placeholder: say('settings.search'), 'aria-label': say('settings.search') });
    const which = choice([['set', say('settings.set')], ['', say('settings.all')]], 'set');
    which.setAttribute('aria-label', say('settings.which'));
    const place = element('div');
    const save = button(say('orders.csv'), () => fileSave('settings.csv', csvText(['name', 'value', 'source'], settings.map(({ name, value, source }) => [name, value, source])), 'text/csv'), 'plain small');
    const paint = () => {
        const wanted = search.value.trim().toLowerCase();
        const rows = settings.filter(({ name, value, source }) => (name.includes(wanted) || value.toLowerCase().includes(wanted)) && (which.value === '' || source !== 'default'));
        place.replaceChildren(table(say('settings.title'), [say('settings.name'), say('settings.value'), say('settings.source')],
            rows.map(({ name, value, source, reload }) => [element('span', { class: 'mono', textContent: name }), element('span', { class: 'mono', textContent: value === '' ? '–' : value }),
                element('span', {}, chip(say(`source.${source}`), source === 'default' ? '' : 'good'), ...(reload ? [' ', chip('SIGHUP')] : []))]), say('settings.none')));
    };
    search.addEventListener('input', paint);
    which.addEventListener('change', paint);
    paint();
    return panel(say('settings.title'), element('div', { class: 'bar' }, search, which, save), place, element('p', { class: 'note', textContent: say('settings.note') }));
}

export function settingsShow(main) {
    const place = loadedPlace({
        load: () => Promise.all([read('/live'), ...(may('admin') ? [read('/settings'), keysTrail()] : [])]),
        paint: ([snapshot, told, trail], node) => node.replaceChildren(
            element('div', { class: 'grid halves' }, healthPart(snapshot), ...(told ? [keysPart(told, place.look)] : [])), ...(told ? [trail] : []),
            told ? settingsPart(told) : panel(say('settings.title'), element('p', { class: 'none', textContent: say('settings.admin') }))),
    });
    return loadedShow(main, [titleRow(say('nav.settings'))], place);
}
