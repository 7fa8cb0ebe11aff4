// SPDX-License-Identifier: Apache-2.0
/* web/console/texts_field.js: what is sent of the texts in further languages, and what a reader sees of them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import '../page.mjs';
import { seenIn, textsOf } from '../../../../web/console/texts_field.js';

test('only what was written is sent, so that the rest stays as everybody reads it', () => {
    const texts = textsOf([['zh-CN', 'name', ''], ['zh-CN', 'description', '  '], ['en', 'name', 'Kettle'], ['en', 'description', '']]);
    assert.deepEqual(texts, { en: { name: 'Kettle' } });
    assert.deepEqual(textsOf([]), {});
});

test('the preview is the text of the language over that of everybody', () => {
    const base = { name: '茶壶', description: '不锈钢。' };
    assert.deepEqual(seenIn('en', base, { en: { name: 'Kettle' } }), { name: 'Kettle', description: '不锈钢。' });
    assert.deepEqual(seenIn('zh-CN', base, { en: { name: 'Kettle' } }), base);
});
