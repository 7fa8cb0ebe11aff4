// SPDX-License-Identifier: Apache-2.0
/* The human check: web/human.js, widget.js, pow_background.js and pow_worker.js. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { fresh, part, seen, server, settle } from './page.mjs';

/* The worker itself runs here, beside a page that believes it to be elsewhere. */
const workers = [];
globalThis.addEventListener = (_, heard) => {
    globalThis.workerHears = heard;
};
await import('../../../web/pow_worker.js');
globalThis.POW_WORKER = '/pow_worker-TEST2345.js';
globalThis.Worker = class extends EventTarget {
    constructor(address) {
        super();
        this.address = address;
        workers.push(this);
    }

    postMessage(data) {
        const tell = (told) => this.dispatchEvent(Object.assign(new Event('message'), { data: told }));
        globalThis.postMessage = (told) => setTimeout(() => tell(told), 0);
        if (!this.silent)
            globalThis.workerHears({ data });
    }

    terminate() {
        this.ended = true;
    }
};
const { createHumanCheck } = await import('../../../web/human.js');
const { workInBackground } = await import('../../../web/pow_background.js');
const { widgetShow } = await import('../../../web/widget.js');
const { languageSet } = await import('../../../web/i18n.js');

const IMAGE = { kind: 'image', token: 'tok', image: 'data:image/png;base64,AA', length: 5 };
const SLIDER = { kind: 'slider', token: 'tok', image: 'data:,', pieces: ['data:,', 'data:,'], piece_size: 40, width: 300, height: 150 };
const POW = { parameters: { algorithm: 'SHA-256', cost: 1, keyPrefix: '0', nonce: '00'.repeat(16), salt: '11'.repeat(16) }, signature: 'sig' };
const submit = (node) => node.querySelector('form').dispatchEvent(new Event('submit', { cancelable: true }));

beforeEach(() => {
    fresh();
    languageSet('en');
    workers.length = 0;
});

test('a picture is answered with what was typed, without blanks around it', async () => {
    const asked = server(() => [200, IMAGE]);
    const human = createHumanCheck();
    const solving = human.solve('s', 7, [undefined], false);
    await settle(5);
    assert.equal(human.node.open, true);
    assert.equal(document.activeElement.id, 'human-code');
    assert.equal(part(human.node, 'human-wrong').hidden, true);
    document.activeElement.value = ' ab3x9 ';
    submit(human.node);
    assert.deepEqual(await solving, { token: 'tok', answer: 'ab3x9' });
    assert.equal(human.node.open, false);
    assert.equal(asked[0].path, '/v1/items/7/challenge');
});

test('who was wrong is told so, and another picture can be had', async () => {
    const asked = server(() => [200, IMAGE]);
    const human = createHumanCheck();
    const solving = human.solve('s', 7, ['image'], true);
    await settle(5);
    assert.equal(part(human.node, 'human-wrong').hidden, false);
    const [again] = human.node.querySelectorAll('.human-other');
    again.onclick();
    await settle(5);
    assert.equal(asked.length, 2);
    assert.equal(asked[0].path, '/v1/items/7/challenge?kind=image');
    assert.equal(part(human.node, 'human-wrong').hidden, true, 'it is told once');
    human.end();
    assert.equal(await solving, null);
});

test('Escape and Cancel give up', async () => {
    server(() => [200, IMAGE]);
    const human = createHumanCheck();
    for (const giveUp of [
        () => human.node.dispatchEvent(new Event('cancel', { cancelable: true })),
        () => human.node.querySelectorAll('.human-other')[1].onclick(),
    ]) {
        const solving = human.solve('s', 7, [undefined], false);
        await settle(5);
        giveUp();
        assert.equal(await solving, null);
        assert.equal(human.node.open, false);
    }
});

test('a slider is answered with a place for each piece', async () => {
    server(() => [200, SLIDER]);
    const human = createHumanCheck();
    const solving = human.solve('s', 7, [undefined], false);
    for (const at of ['40', '230']) {
        await settle(5);
        document.activeElement.value = at;
        submit(human.node);
    }
    assert.deepEqual(await solving, { token: 'tok', x: [40, 230] });
});

test('who can’t see it lets the computer work instead', async () => {
    const asked = server((_, path) => [200, path.endsWith('kind=pow') ? POW : IMAGE]);
    const human = createHumanCheck();
    const solving = human.solve('s', 7, [undefined], false);
    await settle(5);
    human.node.querySelectorAll('.human-other')[2].onclick();
    const { challenge, solution } = JSON.parse(atob(await solving));
    assert.deepEqual(challenge, POW);
    assert.match(solution.derivedKey, /^0/);
    assert.equal(asked.at(-1).path, '/v1/items/7/challenge?kind=pow');
});

test('the words follow the language while the sheet is open', async () => {
    server(() => [200, IMAGE]);
    const human = createHumanCheck();
    const solving = human.solve('s', 7, [undefined], false);
    await settle(5);
    const before = seen(human.node);
    languageSet('zh-CN');
    assert.notEqual(seen(human.node), before);
    human.end();
    await solving;
});

test('the work is done beside the page, and its worker ends with it', async () => {
    const heard = [];
    const payload = await workInBackground(POW, (done) => heard.push(done));
    assert.equal(JSON.parse(atob(payload)).challenge.signature, 'sig');
    assert.equal(heard[0], 0);
    assert.deepEqual([workers[0].address, workers[0].ended], ['/pow_worker-TEST2345.js', true]);
});

test('work that is given up ends its worker and brings nothing', async () => {
    Worker.prototype.silent = true;
    const abort = new AbortController();
    const working = workInBackground(POW, () => {}, abort.signal);
    abort.abort();
    assert.equal(await working, null);
    assert.equal(workers[0].ended, true);
    delete Worker.prototype.silent;
});

test('a worker that fails is told', async () => {
    Worker.prototype.silent = true;
    const working = workInBackground(POW);
    workers[0].dispatchEvent(new Event('error'));
    await assert.rejects(working);
    delete Worker.prototype.silent;
});

test('the widget of another service is loaded once, and again after a failure', async () => {
    window.turnstile = { render: (_, { sitekey, callback }) => callback(`for ${sitekey}`) };
    globalThis.turnstile = window.turnstile;
    const node = document.createElement('div');
    const first = widgetShow('turnstile', 'key', node);
    document.head.children.at(-1).onerror();
    await assert.rejects(first);
    const second = widgetShow('turnstile', 'key', node);
    document.head.children.at(-1).onload();
    assert.equal(await second, 'for key');
    assert.equal(await widgetShow('turnstile', 'other', node), 'for other');
    assert.equal(document.head.childElementCount, 2);
});

test('what the service says goes into the solution; away, the sheet says so and offers the work', async () => {
    server(() => [200, { kind: 'turnstile', token: 'tok', site_key: 'k' }]);
    const human = createHumanCheck();
    const solving = human.solve('s', 7, [undefined], false);
    assert.deepEqual(await solving, { token: 'tok', response: 'for k' });
    server(() => [200, { kind: 'hcaptcha', token: 'tok', site_key: 'k' }]);
    const away = human.solve('s', 7, [undefined], false);
    await settle(20);
    const before = part(human.node, 'human-words').textContent;
    document.head.children.at(-1).onerror();
    await settle(5);
    assert.notEqual(part(human.node, 'human-words').textContent, before);
    human.end();
    assert.equal(await away, null);
});
