// SPDX-License-Identifier: Apache-2.0
/* Trouble: what waits for a person, and what a person can do about it. */

import { element } from '../dom.js';
import { change, read, readAll } from './api.js';
import { ask } from './dialog.js';
import { moment, money, number } from './format.js';
import { named, say } from './i18n.js';
import { button, chip, facts, field, listPanel, loadedPlace, loadedShow, panel, table, titleRow } from './parts.js';
import { findingTold, messageTold, told } from './server_words.js';
import { may } from './session.js';

const ROWS_MAX = 100;
const LOOK_MS = 400;

const text = (properties) => element('input', { type: 'text', required: true, ...properties });

/* Asks, does, and looks again. */
const asked = (look, question) => ask(question).then((answer) => answer !== null && look());

function alarmsPart({ alarms }) {
    const up = alarms.filter((alarm) => alarm.up);
    return panel(say('live.alarms'), up.length === 0 ? element('p', { class: 'none', textContent: say('alarm.none') })
        : element('ul', { class: 'alarms' }, ...up.map(({ name, detail, since_ms: since }) => element('li', { 'data-grade': name === 'test-mode' ? 'calm' : 'bad' },
            element('b', { textContent: named('alarm', name) }), element('span', { textContent: told(detail) }), element('small', { textContent: say('alarm.since', { time: moment(since, true) }) })))));
}

function lettersPart(letters, look) {
    const acts = ({ id }) => {
        if (!may('operator'))
            return '';
        const note = text({ maxLength: 200 });
        const one = (name, more = {}) => button(say(`letter.${name}`), () => asked(look, { title: say(`letter.${name}.title`, { id }), text: say(`letter.${name}.text`),
            yes: say(`letter.${name}`), act: (key) => change('POST', `/dead-letters/${id}/${name}`, more.body?.(), key), fields: more.fields ?? [] }), 'plain small');
        return element('div', { class: 'acts' }, one('retry'), one('return'), one('dismiss', { body: () => ({ note: note.value }), fields: [field(say('letter.note'), note)] }));
    };
    return listPanel(say('letters.title'), 'dead-letters', table(say('letters.title'), [say('letters.number'), say('letters.why'), ''],
        letters.map((letter) => [letter.id, told(letter.reason), acts(letter)]), say('letters.none')));
}

/* The report when the run is over. */
async function reconcileWait() {
    for (;;) {
        const report = await read('/reconcile');
        if (report.state !== 'running')
            return report;
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
}

function reconcilePart(report, look) {
    const run = (repair) => asked(look, {
        title: say(repair ? 'reconcile.repair' : 'reconcile.run'),
        text: say(repair ? 'reconcile.repair.text' : 'reconcile.run.text', { count: number(report.findings.filter((one) => one.repairable).length) }),
        yes: say(repair ? 'reconcile.repair' : 'reconcile.run'),
        act: async (key) => {
            await change('POST', '/reconcile', { repair }, key);
            return reconcileWait();
        },
    });
    const acts = [];
    if (may('operator'))
        acts.push(button(say('reconcile.run'), () => run(false)));
    if (may('admin') && report.findings.some(({ repairable, repaired }) => repairable && !repaired))
        acts.push(button(say('reconcile.repair'), () => run(true), 'main'));
    const summary = report.state === 'never' ? element('p', { class: 'none', textContent: say('reconcile.never') })
        : facts([[say('reconcile.ended'), moment(report.ended_ms, true)], [say('reconcile.compared'), say('reconcile.compared.value', { orders: number(report.orders), payments: number(report.payments) })],
            [say('reconcile.found'), number(report.found)], [say('reconcile.repaired'), number(report.repaired)]]);
    const rows = report.findings.map(({ code, text: words, repaired, repairable }) => [findingTold(code), told(words),
        chip(say(repaired ? 'finding.repaired' : repairable ? 'finding.repairable' : 'finding.person'), repaired ? 'good' : 'warn')]);
    return panel(say('reconcile.title'), summary, ...(rows.length > 0 ? [table(say('reconcile.title'), [say('finding.code'), say('finding.text'), say('finding.state')], rows)] : []),
        element('div', { class: 'acts' }, ...acts));
}

function webhooksPart(webhooks, look) {
    return listPanel(say('webhooks.title'), 'webhooks', table(say('webhooks.title'), [say('webhooks.event'), say('webhooks.tries'), say('webhooks.error'), ''],
        webhooks.map((row) => [messageTold(row.type), number(row.tries), told(row.error) || `HTTP ${row.http_status}`, may('operator') ? button(say('webhooks.replay'), () => asked(look, {
            title: say('webhooks.replay'), text: say('webhooks.replay.text'), yes: say('webhooks.replay'), act: (key) => change('POST', `/webhooks/${row.id}/replay`, undefined, key) }), 'plain small') : '']),
        say('webhooks.none')));
}

function refundsPart(refunds) {
    return listPanel(say('refunds.title'), 'refunds', table(say('refunds.title'), [say('order.order'), say('order.amount'), say('order.state')],
        refunds.map((row) => [element('a', { class: 'mono', href: `#/orders/${row.order}`, textContent: row.order }), money(row.amount, row.currency), row.state]), say('refunds.none')));
}

function banAdd(look) {
    const address = text({ placeholder: '203.0.113.0/24' });
    const minutes = element('input', { type: 'number', min: 1, max: 525_600, value: 60, required: true });
    const reason = text({ maxLength: 200 });
    return asked(look, { title: say('bans.add'), text: say('bans.add.text'), yes: say('bans.add'), danger: true,
        fields: [field(say('bans.address'), address), field(say('bans.minutes'), minutes), field(say('bans.reason'), reason)],
        act: (key) => change('POST', '/bans', { address: address.value, minutes: Number(minutes.value), reason: reason.value }, key) });
}

function bansPart(bans, look) {
    const rows = bans.slice(0, ROWS_MAX).map((ban) => [ban.address ?? ban.user ?? ban.user_id ?? '', told(ban.reason), told(ban.by), moment(ban.until_ms), may('operator') ? button(say('bans.lift'), () => asked(look, {
        title: say('bans.lift'), text: say('bans.lift.text', { whom: ban.address ?? ban.user ?? '' }), yes: say('bans.lift'), act: (key) => change('POST', `/bans/${ban.id}/lift`, undefined, key) }), 'plain small') : '']);
    return listPanel(say('refused.bans'), 'bans', table(say('refused.bans'), [say('bans.whom'), say('bans.reason'), say('bans.by'), say('bans.until'), ''], rows, say('bans.none')),
        ...(may('operator') ? [element('div', { class: 'acts' }, button(say('bans.add'), () => banAdd(look)))] : []));
}

export function troubleShow(main) {
    const most = { most: ROWS_MAX };
    const place = loadedPlace({
        load: () => Promise.all([read('/alarms'), readAll('/dead-letters?state=open', 'dead_letters', most), read('/reconcile'),
            readAll('/webhooks?state=failed', 'webhooks', most), readAll('/refunds?open=1', 'refunds', most), readAll('/bans', 'bans', most)]),
        paint([alarms, letters, report, webhooks, refunds, bans], node) {
            node.replaceChildren(element('div', { class: 'grid halves' }, element('div', { class: 'stack' }, alarmsPart(alarms), lettersPart(letters, place.look), refundsPart(refunds)),
                element('div', { class: 'stack' }, reconcilePart(report, place.look), webhooksPart(webhooks, place.look), bansPart(bans, place.look))));
        },
    });
    return loadedShow(main, [titleRow(say('nav.trouble'))], place);
}
