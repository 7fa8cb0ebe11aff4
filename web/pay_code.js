// SPDX-License-Identifier: Apache-2.0
/* A code that is paid with a phone: to scan, to open on the phone itself, to copy. */

import { element, textSet } from './dom.js';
import { say } from './i18n.js';

const SVG = 'http://www.w3.org/2000/svg';
const QUIET = 4; /* modules of white that scanners want around it */

async function drawingOf(text) {
    const { qrMatrix } = await import('./qr.js'); /* most visitors never pay by code */
    const rows = qrMatrix(text);
    const size = rows.length + 2 * QUIET;
    const drawing = document.createElementNS(SVG, 'svg');
    const path = document.createElementNS(SVG, 'path');
    const steps = [];
    rows.forEach((row, y) => row.forEach((dark, x) => {
        if (dark)
            steps.push(`M${x + QUIET} ${y + QUIET}h1v1h-1z`);
    }));
    path.setAttribute('d', steps.join(''));
    drawing.setAttribute('viewBox', `0 0 ${size} ${size}`);
    drawing.setAttribute('role', 'img');
    drawing.setAttribute('shape-rendering', 'crispEdges');
    drawing.append(path);
    return drawing;
}

export function createPayCode() {
    const app = element('a', { class: 'plain strong code-app' });
    const words = element('p', { class: 'code-words' });
    const picture = element('div', { class: 'code-picture' });
    const link = element('a', { class: 'code-link' });
    const copy = element('button', { class: 'plain', type: 'button' });
    const row = element('p', { class: 'code-row' }, link, copy);
    const node = element('div', { class: 'pay-code' }, app, words, picture, row);
    let code = '';
    let copied = false;
    let named = '';
    node.hidden = true;

    copy.addEventListener('click', async () => {
        try {
            await navigator.clipboard.writeText(code);
            copied = true;
        } catch {
            getSelection()?.selectAllChildren(link); /* the browser won't: ready for the hand */
        }
        paint(code);
    });

    async function draw(text) {
        code = text;
        copied = false;
        link.href = text;
        textSet(link, text);
        picture.replaceChildren();
        try {
            const drawing = await drawingOf(text);
            if (text !== code)
                return;
            drawing.setAttribute('aria-label', say('code.label'));
            picture.replaceChildren(drawing);
        } catch {
            /* Too long for a picture, or no connection; the link stays. */
        }
    }

    /* '': there is none. `provider`: its name, for the words. */
    function paint(text, provider = '') {
        named = provider || named;
        node.hidden = text === '';
        if (text === '')
            return;
        if (text !== code)
            draw(text);
        /* WeChat opens no such links from a browser. */
        app.hidden = text.startsWith('weixin:') || !matchMedia('(pointer: coarse)').matches;
        app.href = text;
        textSet(app, say('code.open', { provider: named }));
        textSet(words, say(text.startsWith('weixin:') ? 'code.scanOnly' : 'code.scan', { provider: named }));
        textSet(copy, say(copied ? 'code.copied' : 'code.copy'));
        picture.firstChild?.setAttribute('aria-label', say('code.label'));
    }

    return { node, paint };
}
