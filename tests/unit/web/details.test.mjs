// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
    detailsCheck,
    detailsGiven,
    detailsGivenSet,
    detailsRemember,
    detailsRemembered,
} from '../../../web/details.js';

const GOOD = { name: '王小明', phone: '+86 138 0000-0000', address: '北京市海淀区\n1 号', note: '', email: '' };
const wrong = (change) => detailsCheck({ ...GOOD, ...change }).wrong;

test('good details are taken as they are, without what can’t be seen', () => {
    assert.deepEqual(detailsCheck(GOOD), { details: GOOD, wrong: {} });
    const { details } = detailsCheck({ ...GOOD, name: '  Ann\u0007\tLee ', address: 'a\r\nb\u0000c' });
    assert.equal(details.name, 'Ann Lee');
    assert.equal(details.address, 'a\nb c');
});

test('what is missing, short, long or no phone number is named', () => {
    assert.deepEqual(detailsCheck({}).wrong, { name: 'missing', phone: 'missing', address: 'missing' });
    assert.deepEqual(wrong({ name: ' ' }), { name: 'missing' });
    assert.deepEqual(wrong({ phone: '12' }), { phone: 'form' });
    assert.deepEqual(wrong({ phone: '()-1-2' }), { phone: 'form' });
    assert.deepEqual(wrong({ phone: 'call me' }), { phone: 'form' });
    assert.deepEqual(wrong({ phone: '<b>1234' }), { phone: 'form' });
    assert.deepEqual(wrong({ email: 'a@b' }), { email: 'form' });
    assert.deepEqual(wrong({ email: 'a@example.org' }), {});
    assert.deepEqual(wrong({ address: 'ab' }), { address: 'short' });
    assert.deepEqual(wrong({ note: 'x'.repeat(501) }), { note: 'long' });
});

test('lengths are bytes, as the server counts them', () => {
    assert.deepEqual(wrong({ name: '王'.repeat(33) }), {});
    assert.deepEqual(wrong({ name: '王'.repeat(34) }), { name: 'long' });
    assert.deepEqual(wrong({ phone: '1'.repeat(40) }), {});
    assert.deepEqual(wrong({ phone: '1'.repeat(41) }), { phone: 'long' });
    assert.deepEqual(wrong({ address: 'x'.repeat(500) }), {});
    assert.deepEqual(wrong({ address: 'x'.repeat(501) }), { address: 'long' });
});

test('what was typed last is remembered, and which order has it', () => {
    assert.equal(detailsRemembered(), null);
    detailsRemember(GOOD);
    assert.deepEqual(detailsRemembered(), GOOD);
    assert.equal(detailsGiven('7'), false);
    detailsGivenSet('7');
    assert.equal(detailsGiven('7'), true);
});
