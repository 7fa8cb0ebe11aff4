// SPDX-License-Identifier: Apache-2.0
/* web/console: both languages say the same things, and everything the pages say is there. */

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { SWITCHES } from '../../../../web/console/switch_kinds.js';
import { EN } from '../../../../web/console/words_en.js';
import { ZH } from '../../../../web/console/words_zh.js';

const FOLDER = new URL('../../../../web/console/', import.meta.url);
const API = new URL('../../../../src/', import.meta.url);
const sources = readdirSync(FOLDER).filter((name) => name.endsWith('.js')).map((name) => [name, readFileSync(new URL(name, FOLDER), 'utf8')]);
const values = (text) => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]).sort();

test('every key is there in both languages, with the same values', () => {
    assert.deepEqual(Object.keys(ZH), Object.keys(EN));
    for (const key of Object.keys(EN)) {
        assert.ok(EN[key].trim() && ZH[key].trim(), `${key} is empty`);
        assert.deepEqual(values(ZH[key]), values(EN[key]), key);
    }
});

test('no key is there twice', () => {
    for (const [file, words] of [['words_en.js', EN], ['words_zh.js', ZH]]) {
        const text = readFileSync(new URL(file, FOLDER), 'utf8');
        assert.equal([...text.matchAll(/^ {4}'[\w.-]+':/gm)].length, Object.keys(words).length, file);
    }
});

test('every key that a page names is there', () => {
    let named = 0;
    for (const [name, text] of sources)
        for (const [, key] of text.matchAll(/\bsay\('([\w.-]+)'/g)) {
            named++;
            assert.ok(key in EN, `${name} says ${key}`);
        }
    assert.ok(named > 100, `only ${named} were found`);
});

test('alarms, and answers of the door and the inventory, have words', () => {
    const alarms = readFileSync(new URL('worker/alarms.h', API), 'utf8');
    for (const [, name] of alarms.matchAll(/X\([A-Z_]+, "([\w-]+)"\)/g))
        assert.ok(`alarm.${name}` in EN, name);
    const answers = readFileSync(new URL('funnel/door.h', API), 'utf8');
    const reasons = [...answers.matchAll(/X\([A-Z_]+, "([\w-]+)"/g)].map((match) => match[1]).filter((name) => name !== 'go');
    assert.ok(reasons.length > 10, 'door.h was not understood');
    for (const reason of reasons)
        assert.ok(`reason.${reason}` in EN, reason);
});

test('every act of a sale has its words', () => {
    const acts = readFileSync(new URL('sale_acts.js', FOLDER), 'utf8');
    const names = [...acts.matchAll(/\{ name: '(\w+)', role/g)].map((match) => match[1]);
    assert.ok(names.length >= 9);
    for (const name of names)
        for (const part of ['', '.title', '.text', '.done'])
            assert.ok(`act.${name}${part}` in EN, `act.${name}${part}`);
});

test('every switch of the server is on the run screen, with its words', () => {
    const listed = readFileSync(new URL('funnel/switches.c', API), 'utf8');
    const names = [...listed.matchAll(/X\([A-Z_]+, "(\w+)"/g)].map((match) => match[1]).concat('sold_out_items');
    assert.ok(names.length > 8, 'switches.c was not understood');
    assert.deepEqual(SWITCHES.map(({ name }) => name).sort(), names.sort());
    for (const { name, most, zero } of SWITCHES)
        for (const key of [`switch.${name}`, `switch.${name}.effect`, ...(most ? [`switch.${name}.zero`, `switch.${zero}`] : [])])
            assert.ok(key in EN, key);
});

test('the page before any script says what it says in both languages', () => {
    const page = readFileSync(new URL('index.html', FOLDER), 'utf8');
    const body = page.slice(page.indexOf('<body>')).replace(/<[^>]*>/g, '').trim();
    assert.equal(body, `${EN.noscript} ${ZH.noscript}`);
    assert.equal(/<title>(.*)<\/title>/.exec(page)[1], EN.title);
    assert.doesNotMatch(page, /<script(?![^>]*src=)|<style|style=|onclick=/);
});

test('no text becomes markup, and no style is inside a tag: the policy would not apply it', () => {
    for (const [name, text] of sources)
        assert.doesNotMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|setAttribute\('style'|\beval\(|new Function/, name);
});
