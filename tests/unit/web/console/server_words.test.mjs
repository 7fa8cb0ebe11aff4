// SPDX-License-Identifier: Apache-2.0
/* web/console/server_words.js: every sentence that the server can show to an operator has Chinese words. The sentences are read from the
 * sources of the server; one that is new or changed has no words, and a test below names it. */

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';

globalThis.localStorage = { getItem: () => null, setItem() {} };
const { languageSet } = await import('../../../../web/console/i18n.js');
const { actTold, detailTold, findingTold, messageTold, told } = await import('../../../../web/console/server_words.js');
const { ACTS, FINDINGS, MESSAGES, SENTENCES } = await import('../../../../web/console/server_zh.js');

const SOURCES = new URL('../../../../src/', import.meta.url);
const read = (path) => readFileSync(new URL(path, SOURCES), 'utf8').replace(/\/\*[^]*?\*\//g, '');
const LITERAL = /"(?:[^"\\\n]|\\.)*"(?:\s*(?:PRI[diux]64|HUMAN_CHECK_NAMES)?\s*"(?:[^"\\\n]|\\.)*")*/g;
const joined = (literal) => literal.replace(/\\"/g, '\u0002').replace(/%"\s*PRI[diux]64\s*"/g, '%lld').replace(/"\s*HUMAN_CHECK_NAMES\s*"/g, '%s').replace(/"\s*"/g, '').slice(1, -1)
    .replace(/\\u2192/g, '→').replace(/\u0002/g, '"');

const sample = (format) => format.replace(/%%/g, '\u0001').replace(/%0?16llx/g, '00000000000000ab').replace(/%[-+ #0-9.*]*s/g, 'word').replace(/%[0-9]*(?:ll|l|z)?[uidx]/g, '7').replace(/\u0001/g, '%');
const isChinese = (text) => /[\u4e00-\u9fff]/.test(text);
languageSet('zh-CN');

const ADMIN = readdirSync(new URL('admin/', SOURCES)).filter((name) => name.endsWith('.c')).map((name) => `admin/${name}`);
const literalsOf = (text) => (text.match(LITERAL) ?? []).map(joined);
/* What a program counts is explained to programs. */
const METRIC = /\b(?:GAUGE|COUNTER|HISTOGRAM)\([^;]*;/g;

test('every refusal of the admin API has Chinese words', () => {
    const isSentence = (words) => /^[\w%][^]* [^]*\.$/.test(words);
    const refusals = [...ADMIN, 'media/media_service.c', 'media/picture_format.c', 'api/job_reply.c', 'api/json_fields.c', 'api/query.c', 'api/texts.c'].flatMap((path) => literalsOf(read(path).replace(METRIC, '')).filter(isSentence));
    const conflicts = literalsOf(/conflict_texts\[\] = \{([^]*?)\n\};/.exec(read('api/refusals.c'))[1]).filter((words) => words !== 'refused');
    assert.ok(refusals.length > 90 && conflicts.length > 9, `only ${refusals.length} and ${conflicts.length} were found`);
    for (const sentence of [...refusals, ...conflicts])
        assert.ok(isChinese(told(sample(sentence))), sentence);
});

test('every alarm has Chinese words', () => {
    let seen = 0;
    for (const path of [...ADMIN, ...readdirSync(new URL('worker/', SOURCES)).filter((name) => name.endsWith('.c')).map((name) => `worker/${name}`)])
        for (const [call] of read(path).matchAll(/\balarm_(?:set|raise)\(ALARM_[^;]*/g)) {
            const [literal] = call.match(LITERAL);
            seen++;
            assert.ok(isChinese(told(sample(joined(literal)))), `${path}: ${literal}`);
        }
    assert.ok(seen > 15, `only ${seen} were found`);
});

test('every finding, reason of a ban and reason of a dead letter has Chinese words', () => {
    const calls = (folder, call) => readdirSync(new URL(folder, SOURCES)).filter((name) => name.endsWith('.c'))
        .flatMap((name) => [...read(folder + name).matchAll(call)].flatMap(([text]) => text.match(LITERAL) ?? []).map(joined));
    const found = calls('orders/', /\breconcile_finding\([^;]*/g).concat(calls('funnel/anomaly/', /snprintf\(reason[^;]*/g), calls('store/', /\bstore_refuse\([^;]*/g))
        .filter((words) => / /.test(words));
    assert.ok(found.length > 30, `only ${found.length} were found`);
    for (const sentence of found)
        assert.ok(isChinese(told(sample(sentence))), sentence);
    for (const [, code] of read('orders/reconcile_judge.c').matchAll(/= \{ "([\w-]+)", (?:true|false)/g))
        assert.ok(code === 'none' || findingTold(code) === FINDINGS[code] && FINDINGS[code], code);
    for (const [, type] of read('worker/webhooks.c').matchAll(/"(order\.\w+)"/g))
        assert.ok(type === 'order.none' || messageTold(type) === MESSAGES[type] && MESSAGES[type], type);
});

/* Formats with a part that is words itself: how they come out. */
const WRITTEN = {
    'sale %u %s: %.*s%s%.*s': ['sale %u title: one → other', 'sale %u title: now other'],
    '%s, %s%s': ['%s, viewer (password)', '%s, viewer'],
    '%s, %s': ['%s, viewer'],
};

test('every act of the audit trail has Chinese words, with its details', () => {
    const isAct = (words) => /^[a-z-]+\.[a-z.-]+$/.test(words);
    let seen = 0;
    for (const path of ADMIN) {
        const source = read(path);
        for (const [call] of source.replace(/void admin_audit_write\(/g, '').matchAll(/admin_audit_write\([^;]*/g)) {
            const literals = literalsOf(call);
            const named = literals.filter(isAct);
            const acts = named.length > 0 ? named : literalsOf(source).filter(isAct);
            const format = literals.find((words) => !isAct(words));
            for (const act of acts) {
                seen++;
                assert.ok(isChinese(actTold(act)), `${path}: ${act}`);
                for (const detail of format === '%s' || ACTS[act][1][format] === undefined && named.length === 0 ? [] : WRITTEN[format] ?? [format])
                    assert.ok(isChinese(detailTold(act, sample(detail))), `${act}: ${detail}`);
            }
        }
    }
    assert.ok(seen > 30, `only ${seen} were found`);
    for (const [, act] of read('store/admin.c').matchAll(/"((?:sale|item)\.\w+)"/g))
        assert.ok(isChinese(actTold(act)), act);
});

test('values stand where they belong', () => {
    assert.equal(told('3 records could not become orders: stampede admin dead-letter list'), '3 条记录未能成为订单，请在“死信”中处理。');
    assert.equal(told('title must be a text of 1 to 200 bytes.'), '名称须为 1 到 200 字节（一个汉字占 3 字节）。');
    assert.equal(detailTold('key.create', 'till-1, operator'), 'till-1，运营');
    assert.equal(detailTold('sale.users', 'sale 3 loaded 12'), '活动 3：加入 12 人');
    assert.equal(detailTold('sale.create', 'sale 3 loaded 12'), '活动 3：loaded 12');
    assert.equal(detailTold('item.adjust', 'item 7 app asked -5 applied -3'), '商品 7，app：要求 -5，实际 -3');
    assert.equal(told('rule crowd'), '规则：同一地址多个用户');
});

test('what has no words is shown as it came, and English readers get what the server said', () => {
    assert.equal(told('disk I/O error'), 'disk I/O error');
    assert.equal(told(undefined), undefined);
    assert.equal(detailTold('media.remove', '/media/ab.jpg'), '/media/ab.jpg');
    languageSet('en');
    for (const sentence of Object.keys(SENTENCES))
        assert.ok(told(sentence) === sentence || told(sentence).includes('“'), sentence);
    assert.equal(told('This timetable does not exist.'), 'This timetable does not exist.');
    assert.equal(told('period_limit and payer_limit need period_days.'), '“Limit per customer in the period” and “Limit per payer in the period” need “Days of the period”.');
    languageSet('zh-CN');
});

test('an English reader of the trail gets words, times and units, and what somebody wrote stays', () => {
    languageSet('en');
    assert.equal(actTold('sale.unpublish.force'), 'sale unpublish force');
    const detail = detailTold('sale.terms', 'sale 2 start_ms 1794986890945 limit_per_user 0 eligible_only false cooldown_s 60 return_draw_ms 5000');
    assert.match(detail, /^sale 2 start Nov 18, [\d:]+ limit per user 0 eligible only false cooldown 60 s return draw 5000 ms$/);
    assert.equal(detailTold('item.create', 'item 5 sale 2 product 4 total 110 price 9000'), 'item 5 sale 2 product 4 total 110 price 9000 minor units');
    assert.equal(detailTold('sale.change', 'sale 2 pass_once: false → true'), 'sale 2 pass once: false → true');
    assert.equal(detailTold('sale.change', 'sale 2 cooldown_s: 60 → 30'), 'sale 2 cooldown: 60 → 30 s');
    assert.match(detailTold('sale.change', 'sale 2 end_ms: 1794986890945 → 1794986890946'), /^sale 2 end: Nov 18, [\d:]+ → Nov 18, [\d:]+$/);
    assert.equal(detailTold('media.remove', '/media/a_b_12.jpg'), '/media/a_b_12.jpg');
    languageSet('zh-CN');
});
