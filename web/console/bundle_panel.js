// SPDX-License-Identifier: Apache-2.0
/* An ended sale and its bundle: whether it can leave, why not, letting it leave, how far it is, and what became of it. */

import { element } from '../dom.js';
import { change } from './api.js';
import { ask } from './dialog.js';
import { moment, number, size } from './format.js';
import { nameIn, say } from './i18n.js';
import { button, facts, panel } from './parts.js';
import { told } from './server_words.js';
import { may } from './session.js';

const STEPS = ['asked', 'writing', 'verifying', 'removing', 'forgetting', 'done'];

/* How far: the steps that are over, and the one under way. */
function progress(step) {
    const at = STEPS.indexOf(step);
    return element('div', {}, element('progress', { max: STEPS.length - 1, value: at, 'aria-label': say('bundle.progress') }),
        element('p', { class: 'note', role: 'status', textContent: say(`bundle.step.${step}`) }));
}

function about(bundle) {
    const hash = element('code', { class: 'hash', textContent: bundle.sha256 });
    return facts([[say('bundle.name'), bundle.name], [say('bundle.size'), size(bundle.bytes)], [say('bundle.orders'), number(bundle.orders)],
        [say('bundle.made'), moment(bundle.made_ms, true)], ['SHA-256', hash]]);
}

function trouble(bundle) {
    const values = { why: told(bundle.error), tries: number(bundle.tries), next: bundle.next_ms ? moment(bundle.next_ms, true) : '' };
    return element('p', { class: 'note', textContent: say(bundle.next_ms ? 'bundle.failed.again' : 'bundle.failed', values) });
}

export function bundlePanel(sale, bundle, again) {
    const parts = [];
    const waits = bundle.step === 'none';
    if (bundle.sha256)
        parts.push(about(bundle));
    if (!waits && bundle.step !== 'done')
        parts.push(progress(bundle.step));
    if (bundle.error)
        parts.push(trouble(bundle));
    if (waits && bundle.why)
        parts.push(element('p', { class: 'note', textContent: say('bundle.not', { why: told(bundle.why) }) }));
    if (waits && bundle.can)
        parts.push(element('p', { class: 'note', textContent: say('bundle.can') }));
    if (waits && bundle.by_itself_ms)
        parts.push(element('p', { class: 'note', textContent: say('bundle.by.itself', { time: moment(bundle.by_itself_ms, true) }) }));
    if (waits && bundle.can && may('admin'))
        parts.push(element('div', { class: 'acts' }, button(say('bundle.ask'), () => ask({ title: say('bundle.ask.title', { title: nameIn(sale) }),
            text: say('bundle.ask.text'), yes: say('bundle.ask'), danger: true, act: (key) => change('POST', `/sales/${sale.id}/bundle`, undefined, key) })
            .then((answer) => answer !== null && again()), 'plain')));
    return panel(say('bundle.title'), ...parts);
}
