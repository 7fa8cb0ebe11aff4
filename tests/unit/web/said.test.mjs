// SPDX-License-Identifier: Apache-2.0
/* web/i18n.js, web/problems.js, web/store.js, web/dom.js and web/keyed.js: words, and the nodes that carry them. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { fresh, seen } from './page.mjs';

const { language, languageSet, onLanguage, say } = await import('../../../web/i18n.js');
const { reactionTo, sentenceFor } = await import('../../../web/problems.js');
const { lasting } = await import('../../../web/store.js');
const { attributeSet, element, pictureOf, routeLink, textSet } = await import('../../../web/dom.js');
const { createKeyed } = await import('../../../web/keyed.js');

beforeEach(() => {
    fresh();
    languageSet('en');
});

test('a choice of language is told to all who listen, and is kept', () => {
    let heard = 0;
    const end = onLanguage(() => heard++);
    languageSet('zh-CN');
    assert.deepEqual([language(), heard, lasting.read('language')], ['zh-CN', 1, 'zh-CN']);
    assert.notEqual(say('nav.orders'), 'My orders');
    end();
    languageSet('en');
    assert.equal(heard, 1);
});

test('values are put into the words wherever they are named', () => {
    assert.equal(say('stock.left', { free: 3, given: 10 }), '3 of 10 left');
});

test('what is certain is said, what is not is asked again', () => {
    const react = (type, status = 409) => reactionTo({ type, status });
    assert.equal(react('sold-out'), 'settle');
    assert.equal(react('in-progress'), 'wait');
    assert.equal(react('network', 0), 'wait');
    assert.equal(react('pass-expired'), 'pass');
    assert.equal(react('session-invalid'), 'session');
    assert.equal(react('never-heard-of', 503), 'wait');
    assert.equal(react('never-heard-of', 400), 'settle');
});

test('a refusal that knows a number says it', () => {
    const sentence = (type, body = {}) => sentenceFor({ type, status: 409, body });
    assert.match(sentence('sold-out', { free: 2 }), /2/);
    assert.notEqual(sentence('sold-out', { free: 0 }), sentence('sold-out', { free: 2 }));
    assert.match(sentence('cooling-down', { again_ms: Date.UTC(2026, 10, 16, 12) }), /2026|Nov/);
    assert.notEqual(sentence('not-started', { start_ms: 1 }), sentence('not-started'));
    assert.equal(sentence('never-heard-of'), say('problem.refused'));
});

test('where storage is forbidden, memory serves', () => {
    const { localStorage } = window;
    Object.defineProperty(window, 'localStorage', { get: () => { throw new Error('forbidden'); }, configurable: true });
    lasting.write('waits.7', 'u');
    assert.equal(lasting.read('waits.7'), 'u');
    assert.deepEqual(lasting.names('waits.'), ['7']);
    lasting.remove('waits.7');
    assert.equal(lasting.read('waits.7'), null);
    Object.defineProperty(window, 'localStorage', { value: localStorage, configurable: true, writable: true });
});

test('names are listed without what they begin with, and only those', () => {
    lasting.write('waits.7', 'u');
    lasting.write('language', 'en');
    assert.deepEqual(lasting.names('waits.'), ['7']);
});

test('text is never markup, and a live region is not touched without need', () => {
    const node = element('p', { class: 'a b', role: 'status', 'data-x': '1', tabIndex: -1 }, '<b>x</b>');
    assert.deepEqual([node.className, node.getAttribute('role'), node.tabIndex, node.childElementCount], ['a b', 'status', -1, 0]);
    const before = node.firstChild;
    textSet(node, '<b>x</b>');
    assert.equal(node.firstChild, before);
    textSet(node, 'y');
    assert.equal(seen(node), 'y');
    attributeSet(node, 'data-x', '2');
    assert.equal(node.getAttribute('data-x'), '2');
});

test('a picture that can’t be shown leaves no hole', () => {
    const image = pictureOf({ images: ['https://img.example/a.png'] });
    assert.equal(image.src, 'https://img.example/a.png');
    image.dispatchEvent(new Event('error'));
    assert.equal(image.src, '/favicon.svg');
    assert.equal(pictureOf({}).src, '/favicon.svg');
});

test('a link inside the page is known by its mark', () => {
    assert.equal(routeLink('/?item=1', { class: 'card' }).getAttribute('data-route'), '');
});

test('one part per id: the same node stays, what is gone goes', () => {
    const list = element('ul');
    let made = 0;
    const paintAll = createKeyed(list, (id) => {
        made++;
        return { node: element('li'), id };
    });
    const paint = (part, thing) => textSet(part.node, thing.words);
    paintAll([{ id: 1, words: 'one' }, { id: 2, words: 'two' }], paint);
    const second = list.children[1];
    paintAll([{ id: 2, words: 'zwei' }, { id: 3, words: 'three' }], paint);
    assert.equal(list.children[0], second);
    assert.deepEqual([made, seen(list)], [3, 'zwei three']);
});
