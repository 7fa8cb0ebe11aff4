// SPDX-License-Identifier: Apache-2.0
/* web/theme.js: what a shop may say in its own words, and what stays as it is. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import './page.mjs';
import { languageNear, textIn } from '../../../web/texts.js';
import { themeRead, themed } from '../../../web/theme.js';
import { WORDS } from '../../../web/words.js';

const pageWith = (text) => ({ getElementById: () => (text === undefined ? null : { textContent: text }) });

test('without a theme, or with one that is no JSON, everything is as in words.js', () => {
    assert.deepEqual(themeRead(pageWith()), {});
    assert.deepEqual(themeRead(pageWith('{')), {});
    assert.deepEqual(themeRead(undefined), {});
    const { words, languages } = themed({}, WORDS);
    assert.deepEqual(words, { 'zh-CN': WORDS['zh-CN'], en: WORDS.en });
    assert.deepEqual(languages.map(({ tag }) => tag), ['zh-CN', 'en']);
});

test('the name of the shop is its title, in each language its own', () => {
    const { words } = themed({ shop: { name: 'Tea House', 'name.zh-CN': '茶舍' } }, WORDS);
    assert.equal(words.en['shop.name'], 'Tea House');
    assert.equal(words.en['page.title'], 'Tea House');
    assert.equal(words['zh-CN']['shop.name'], '茶舍');
    assert.equal(words.en['nav.orders'], WORDS.en['nav.orders']);
});

test('words are replaced where the pages know them, and a link has a name in each language', () => {
    const { words } = themed({
        'words.en': { 'sales.lead': 'Tea at noon.', 'no.such.key': 'x' },
        'link.1': { url: 'https://x.example', en: 'Imprint', 'zh-CN': '版权' },
        'link.2': { en: 'nowhere' },
        'link.3': { url: '/terms' },
    }, WORDS);
    assert.equal(words.en['sales.lead'], 'Tea at noon.');
    assert.equal('no.such.key' in words.en, false);
    assert.equal(words['zh-CN']['sales.lead'], WORDS['zh-CN']['sales.lead']);
    assert.deepEqual([words.en['link.1'], words['zh-CN']['link.1']], ['Imprint', '版权']);
    assert.equal('link.2' in words.en, false);
    assert.equal(words.en['link.3'], '/terms');
});

test('a further language begins as English and has its own direction', () => {
    const { words, languages } = themed({
        'language.ar': { name: 'العربية', direction: 'rtl' },
        'words.ar': { 'nav.sales': 'العروض' },
        'language.en': { name: 'ignored' },
    }, WORDS);
    assert.deepEqual(languages.at(-1), { tag: 'ar', name: 'العربية', direction: 'rtl' });
    assert.equal(languages.length, 3);
    assert.equal(words.ar['nav.sales'], 'العروض');
    assert.equal(words.ar['nav.orders'], WORDS.en['nav.orders']);
});

test('a language is chosen by what the browser wants, near ones too', () => {
    const tags = ['zh-CN', 'en', 'ar'];
    assert.equal(languageNear('zh-TW', tags), 'zh-CN');
    assert.equal(languageNear('ar-EG', tags), 'ar');
    assert.equal(languageNear('fr', tags), undefined);
    assert.equal(languageNear('', tags), undefined);
});

test('what a merchant wrote is shown in the language of the page, and else as everybody reads it', () => {
    const kettle = { name: '茶壶', description: '不锈钢。', texts: { en: { name: 'Tea kettle' }, 'pt-BR': { name: 'Chaleira', description: 'Aço.' } } };
    assert.equal(textIn('en', kettle, 'name'), 'Tea kettle');
    assert.equal(textIn('pt', kettle, 'name'), 'Chaleira', 'the same language');
    assert.equal(textIn('en', kettle, 'description'), '不锈钢。', 'English leaves it out');
    assert.equal(textIn('zh-CN', kettle, 'name'), '茶壶', 'no text of that language: never that of a third one');
    assert.equal(textIn('en', { name: 'Cup' }, 'name'), 'Cup');
});
