// SPDX-License-Identifier: Apache-2.0
/* One degrade switch on the run screen: what it does, its value, whom it holds back, and the question before it is turned. */

import { element, textSet } from '../dom.js';
import { change } from './api.js';
import { ask } from './dialog.js';
import { number, rate } from './format.js';
import { say } from './i18n.js';
import { choice, field } from './parts.js';
import { may } from './session.js';
import { isTurned } from './switch_kinds.js';

export const switchName = (name) => say(`switch.${name}`);

function valueSay(kind, value, itemName) {
    if (kind.list)
        return value.length === 0 ? say('switch.none') : value.map(itemName).join(', ');
    if (kind.most === undefined)
        return say(value ? 'switch.on' : 'switch.off');
    if (value === 0)
        return say(`switch.${kind.zero}`);
    return kind.name === 'pow_boost' ? say('switch.bits', { count: number(value) }) : say('switch.per_s', { count: number(value) });
}

/* The field of the question, and the value in it. */
function inputMake(kind, value, items) {
    if (kind.list) {
        const boxes = items.map(({ id, name }) => ({ id, box: element('input', { type: 'checkbox', checked: value.includes(id) }), name }));
        return {
            nodes: boxes.map(({ box, name, id }) => element('div', { class: 'check-row' }, field(say('switch.item', { id, name }), box))),
            read: () => [...boxes.filter(({ box }) => box.checked).map(({ id }) => id), ...value.filter((id) => !items.some((item) => item.id === id))],
        };
    }
    if (kind.most === undefined) {
        const select = choice([['true', say('switch.on')], ['false', say('switch.off')]], String(!value));
        return { nodes: [field(say('switch.value'), select)], read: () => select.value === 'true' };
    }
    const input = element('input', { type: 'number', required: true, min: 0, max: kind.most, value });
    return { nodes: [field(say('switch.value'), input, say(`switch.${kind.name}.zero`))], read: () => Number(input.value) };
}

const sendSwitch = (name, value, key) => change('PATCH', '/switches', { [name]: value }, key);

/* `seen()`: the values and figures of the last look. `done(words, undo)` is told when it was turned. */
export function switchRow(kind, seen, done) {
    const { name } = kind;
    const value = element('b', { class: 'switch-value' });
    const hits = element('small', { class: 'switch-hits' });
    const turn = element('button', { type: 'button', class: 'plain small', textContent: say('switch.change'), 'aria-label': say('switch.change.of', { name: switchName(name) }) });
    const node = element('li', { class: 'switch', 'data-switch': name },
        element('div', { class: 'switch-words' }, element('b', { textContent: switchName(name) }), element('span', { textContent: say(`switch.${name}.effect`) }), hits),
        value, ...(may('operator') ? [turn] : []));
    const words = (shown) => valueSay(kind, shown, seen().itemName);
    turn.addEventListener('click', () => {
        const was = seen().values[name];
        const input = inputMake(kind, was, seen().items);
        const text = [say(`switch.${name}.effect`), say('switch.now', { value: words(was) }), seen().figures(kind)].filter(Boolean).join(' ');
        ask({ title: say('switch.turn', { name: switchName(name) }), text, yes: say('switch.set'), fields: input.nodes, act: (key) => sendSwitch(name, input.read(), key) })
            .then((answer) => {
                if (answer === null)
                    return;
                const undo = JSON.stringify(answer[name]) === JSON.stringify(was) ? null : () => sendSwitch(name, was);
                done(say('switch.done', { name: switchName(name), value: words(answer[name]) }), undo);
            });
    });
    return {
        node,
        paint() {
            const { values, figures } = seen();
            textSet(value, words(values[name]));
            node.dataset.turned = String(isTurned(kind, values[name]));
            textSet(hits, figures(kind));
        },
    };
}

/* Requests that a limit has held back: in all, and a second. */
export function hitsSay(kind, metrics, before, seconds) {
    if (!kind.hits)
        return '';
    const count = kind.hits(metrics);
    const speed = before === null || seconds <= 0 ? 0 : Math.max(0, count - kind.hits(before)) / seconds;
    return say('switch.hits', { count: number(count), rate: rate(speed) });
}
