// SPDX-License-Identifier: Apache-2.0
/* Who attacks: whom the server refused most of late, and what its rules found. An operator can ban from here. */

import { element } from '../dom.js';
import { change, read } from './api.js';
import { ask } from './dialog.js';
import { clockTime, number } from './format.js';
import { named, say } from './i18n.js';
import { panelMake } from './live_parts.js';
import { button, chip, field, table } from './parts.js';
import { may } from './session.js';

const EVERY_MS = 5000;
const SHOWN_MAX = 8;
const MINUTES = 60;

const whom = (row) => row.address ?? row.user_id;

function banAsk(row, again) {
    const minutes = element('input', { type: 'number', min: 1, max: 525_600, value: MINUTES, required: true });
    const reason = element('input', { type: 'text', maxLength: 200, required: true, value: say('attack.reason', { count: number(row.too_fast + row.failed) }) });
    ask({ title: say('attack.ban.title', { whom: whom(row) }), text: say('attack.ban.text', { fast: number(row.too_fast), failed: number(row.failed) }), yes: say('attack.ban'), danger: true,
        fields: [field(say('bans.minutes'), minutes), field(say('bans.reason'), reason)],
        act: (key) => change('POST', '/bans', { [row.kind === 'address' ? 'address' : 'user_id']: whom(row), minutes: Number(minutes.value), reason: reason.value }, key) })
        .then((answer) => answer !== null && again());
}

function refusedTable(rows, again) {
    return table(say('attack.refused'), [say('bans.whom'), say('attack.fast'), say('attack.failed'), say('attack.last'), ''],
        rows.slice(0, SHOWN_MAX).map((row) => {
            const act = button(say('attack.ban'), () => banAsk(row, again), 'plain small');
            act.setAttribute('aria-label', say('attack.ban.title', { whom: whom(row) }));
            return [element('span', { class: 'mono', textContent: whom(row) }), number(row.too_fast), number(row.failed), clockTime(row.last_ms), may('operator') ? act : ''];
        }), say('attack.none'));
}

function rulesTable(rules) {
    return table(say('attack.rules'), [say('attack.rule'), say('attack.mode'), say('attack.found'), say('attack.banned')],
        Object.entries(rules).map(([name, { mode, found, banned }]) => [named('rule', name), chip(named('mode', mode), mode === 'ban' ? 'good' : ''), number(found), number(banned)]));
}

export function attackMake() {
    const place = element('div', { class: 'stack' }, element('p', { class: 'none', textContent: say('list.loading') }));
    const node = panelMake(say('attack.title'), 'attack-title', place);
    let shown = '';
    return {
        node,
        start(ended) {
            const look = async () => {
                const seen = ended() || document.hidden ? null : await read('/watch').catch(() => null);
                if (ended())
                    return;
                const said = JSON.stringify([seen?.refused, seen?.rules]);
                if (seen !== null && said !== shown && !document.querySelector('dialog[open]')) {
                    shown = said;
                    place.replaceChildren(refusedTable(seen.refused, look), rulesTable(seen.rules));
                }
                setTimeout(look, EVERY_MS);
            };
            look();
        },
    };
}
