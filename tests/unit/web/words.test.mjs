// SPDX-License-Identifier: Apache-2.0
/* web/words.js and web/sandbox/words.js: both languages say the same things, and everything the pages say is there. */

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { SANDBOX_WORDS } from '../../../web/sandbox/words.js';
import { WORDS } from '../../../web/words.js';

const WEB = new URL('../../../web/', import.meta.url);
const en = { ...WORDS.en, ...SANDBOX_WORDS.en };
const zh = { ...WORDS['zh-CN'], ...SANDBOX_WORDS['zh-CN'] };

/* Where a language says a number in its own way. */
const OWN_VALUES = new Set(['saving']);

function sources() {
    return readdirSync(WEB, { recursive: true })
        .filter((name) => /\.(js|html)$/.test(name) && name !== 'words.js' && !name.startsWith('console/'))
        .map((name) => [name, readFileSync(new URL(name, WEB), 'utf8')]);
}

test('every key is there in both languages, with the same values', () => {
    assert.deepEqual(Object.keys(zh), Object.keys(en));
    for (const key of Object.keys(en)) {
        const values = (text) => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]).sort();
        assert.ok(en[key].trim() && zh[key].trim(), `${key} is empty`);
        if (!OWN_VALUES.has(key))
            assert.deepEqual(values(zh[key]), values(en[key]), key);
    }
});

test('no key is there twice: the first words would never be seen', () => {
    const text = ['words.js', 'sandbox/words.js'].map((name) => readFileSync(new URL(name, WEB), 'utf8')).join('');
    const written = [...text.matchAll(/^ {4}'?([\w.-]+)'?:/gm)].length;
    assert.equal(written, Object.keys(en).length + Object.keys(zh).length);
});

test('every key that a page names is there', () => {
    let named = 0;
    for (const [name, text] of sources()) {
        const found = text.matchAll(/(?:\bsay\(|data-words=|data-label=|sure\()['"]([\w.-]+)['"]/g);
        for (const [, key] of found) {
            named++;
            assert.ok(key in en, `${name} says ${key}`);
        }
    }
    assert.ok(named > 60, `only ${named} were found`);
});

test('every state of money, and every mistake in details, has its words', () => {
    for (const mistake of ['missing', 'short', 'long', 'form'])
        assert.ok(`details.${mistake}` in en);
    for (const why of ['order', 'late'])
        for (const state of ['wanted', 'done', 'stuck'])
            assert.ok(`refund.${why}.${state}` in en);
    for (const how of ['pay', 'lost', 'twice', 'late', 'wrong-amount', 'decline'])
        assert.ok(`sandbox.how.${how}` in en);
});

test('every module is reached from a page, from a worker or from embed.js', () => {
    const text = (name) => readFileSync(new URL(name, WEB), 'utf8');
    const modules = readdirSync(WEB).filter((name) => name.endsWith('.js'));
    const reached = new Set(modules.filter((name) => name.endsWith('_worker.js') || name === 'embed.js'));
    for (const page of readdirSync(WEB).filter((name) => name.endsWith('.html')))
        for (const [, name] of text(page).matchAll(/src="\/([\w./]+\.js)"/g))
            reached.add(name);
    for (const name of reached)
        for (const [, other] of text(name).matchAll(/(?:from |import\()'\.\/(\w+\.js)'/g))
            reached.add(other);
    assert.deepEqual([...reached].sort(), modules.sort());
});

test('no page has a script of its own in it: the policy would not run it', () => {
    for (const [name, text] of sources().filter(([name]) => name.endsWith('.html'))) {
        assert.doesNotMatch(text, /<script(?![^>]*\ssrc=)/, name);
        assert.doesNotMatch(text, /\son\w+=|\sstyle=|<style/, name);
    }
});
