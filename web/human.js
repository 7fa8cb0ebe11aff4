// SPDX-License-Identifier: Apache-2.0
/* The human check: what the shop asks before it gives a place. `solve` resolves to what goes into
 * {"solution": …}, or to null when the visitor gave up. Pictures can be used by keyboard, and next to
 * each is the way for who can't see it: the computer does some work instead. */

import { challengeGet } from './api.js';
import { element, textSet } from './dom.js';
import { onLanguage, say } from './i18n.js';
import { workInBackground } from './pow_background.js';

const STEP = 20; /* pixels of PageUp and PageDown */

async function widgetLoad({ kind, site_key: siteKey }, place) {
    const { widgetShow } = await import('./widget.js');
    return widgetShow(kind, siteKey, place);
}

export function createHumanCheck() {
    const heading = element('h2', { class: 'human-heading', id: 'human-heading' });
    const wrong = element('p', { class: 'human-wrong', role: 'alert' });
    const words = element('p', { class: 'human-words', id: 'human-words' });
    const stage = element('div', { class: 'human-stage' });
    const progress = element('progress', { max: 1, value: 0, 'aria-labelledby': 'human-words' });
    const again = element('button', { class: 'human-other', type: 'button' });
    const other = element('button', { class: 'human-other', type: 'button' });
    const cancel = element('button', { class: 'human-other', type: 'button' });
    /* A sheet from the lower edge, above everything else; Escape closes it. */
    const node = element('dialog',
        { class: 'human', 'aria-labelledby': 'human-heading', 'aria-describedby': 'human-words' },
        heading, wrong, words, stage, element('div', { class: 'human-more' }, again, cancel, other));
    const spoken = new Map(); /* node → [key, values]: said again when the language changes */
    let abort = null;
    let failed = false;

    function speak(part, key, values = {}) {
        spoken.set(part, [key, values]);
        textSet(part, say(key, values));
        return part;
    }

    function speakAgain() {
        for (const [part, [key, values]] of spoken)
            textSet(part, say(key, values));
    }
    node.addEventListener('cancel', (event) => {
        event.preventDefault();
        abort.abort();
    });

    function show([key, values], picture, ...children) {
        again.hidden = other.hidden = !picture;
        speak(heading, 'human.title');
        speak(words, key, values);
        speak(again, 'human.again');
        speak(other, 'human.other');
        speak(cancel, 'human.cancel');
        cancel.onclick = () => abort.abort();
        stage.replaceChildren(...children);
        if (!node.open)
            node.showModal();
        if (failed)
            speak(wrong, 'human.wrong');
        wrong.hidden = !failed;
        (stage.querySelector('input') ?? cancel).focus();
    }

    function hide() {
        node.close();
        wrong.textContent = '';
        spoken.clear();
        stage.replaceChildren();
    }

    function work(challenge) {
        show(['human.working'], false, progress);
        progress.value = 0;
        return workInBackground(
            challenge,
            (done) => {
                progress.value = done;
            },
            abort.signal,
        );
    }

    /* Resolves when the form is sent; with 'other' when the work is wanted instead, with 'again' for
     * another picture, with null when the visitor gives up. */
    function formDone(form, read) {
        return new Promise((resolve) => {
            form.addEventListener('submit', (event) => {
                event.preventDefault();
                const solution = read();
                if (solution !== null)
                    resolve(solution);
            });
            other.onclick = () => resolve('other');
            again.onclick = () => resolve('again');
            abort.signal.addEventListener('abort', () => resolve(null));
        });
    }

    const sendMake = () => speak(element('button', { class: 'human-send', type: 'submit' }), 'human.send');

    function code(challenge) {
        const picture = element('img', { src: challenge.image, alt: say('human.picture'), class: 'human-picture', width: 240, height: 80 });
        const label = speak(element('label', { htmlFor: 'human-code' }), 'human.code');
        const input = element('input', {
            id: 'human-code',
            type: 'text',
            autocomplete: 'off',
            maxLength: challenge.length,
            required: true,
            'autocapitalize': 'characters',
            'spellcheck': 'false',
        });
        const form = element('form', { class: 'human-form' }, picture, label, input, sendMake());
        show(['human.read'], true, form);
        return formDone(form, () => ({ token: challenge.token, answer: input.value.trim() }));
    }

    /* One piece: a line is moved through the figure of the picture that shows the same thing. */
    function place(challenge, at) {
        const { width, height, pieces, piece_size: size } = challenge;
        const piece = element('img', { class: 'human-piece', src: pieces[at], alt: '', width: size, height: size });
        const whole = element('img', { src: challenge.image, alt: say('human.picture'), width, height });
        const mark = element('div', { class: 'human-mark' });
        const lane = element('div', { class: 'human-lane' }, piece);
        const frame = element('div', { class: 'human-frame' }, lane, whole, mark);
        const range = element('input', { id: 'human-range', type: 'range', min: 0, max: width, step: 1, value: width / 2 });
        const label = speak(element('label', { htmlFor: 'human-range' }), 'human.slide');
        const form = element('form', { class: 'human-form' }, frame, label, range, sendMake());
        const moved = () => {
            const left = `${(100 * range.value) / width}%`;
            piece.style.left = `calc(${left} - ${size / 2}px)`;
            mark.style.left = left;
        };
        const moveTo = (x) => {
            range.value = Math.round(x);
            moved();
        };
        /* The picture is narrower on a narrow screen; places are counted in its own pixels. */
        const moveUnder = ({ clientX }) => {
            const shown = frame.getBoundingClientRect();
            moveTo(((clientX - shown.left) * width) / shown.width);
        };
        lane.style.height = `${size}px`;
        moved();
        range.addEventListener('input', moved);
        range.addEventListener('keydown', (event) => {
            const way = { PageUp: 1, PageDown: -1 }[event.key];
            if (way === undefined)
                return;
            event.preventDefault();
            moveTo(Number(range.value) + way * STEP);
        });
        /* A tap on the figure is the quickest way. */
        frame.addEventListener('pointerdown', moveUnder);
        frame.addEventListener('pointermove', (event) => {
            if (event.buttons !== 0)
                moveUnder(event);
        });
        show(['human.move', { at: at + 1, of: pieces.length }], true, form);
        return formDone(form, () => Number(range.value));
    }

    async function slider(challenge) {
        const places = [];
        for (let at = 0; at < challenge.pieces.length; at++) {
            const x = await place(challenge, at);
            if (typeof x !== 'number')
                return x;
            places.push(x);
        }
        return { token: challenge.token, x: places };
    }

    /* A service's widget; the work is offered beside it, also when it does not load. */
    function widget(challenge) {
        const place = element('div', { class: 'human-widget' });
        show(['human.widget'], true, place);
        again.hidden = true;
        return new Promise((resolve) => {
            other.onclick = () => resolve('other');
            abort.signal.addEventListener('abort', () => resolve(null));
            widgetLoad(challenge, place).then(
                (response) => resolve({ token: challenge.token, response }),
                () => speak(words, 'human.widget-away'),
            );
        });
    }

    function ask(challenge) {
        if (challenge.site_key !== undefined)
            return widget(challenge);
        return challenge.kind === 'slider' ? slider(challenge) : code(challenge);
    }

    /* One challenge from asking for it to its solution. */
    async function solveOne(session, item, kind) {
        const challenge = await challengeGet(session, item, kind);
        if (challenge.parameters !== undefined)
            return work(challenge);
        const solution = await ask(challenge);
        failed = false; /* it was told */
        if (solution === 'again')
            return solveOne(session, item, kind);
        return solution === 'other' ? solveOne(session, item, 'pow') : solution;
    }

    /* `wrongBefore`: the last answer was wrong. */
    async function solve(session, item, kinds, wrongBefore) {
        const languageEnd = onLanguage(speakAgain);
        abort = new AbortController();
        failed = wrongBefore;
        try {
            return await solveOne(session, item, kinds?.[0]);
        } finally {
            languageEnd();
            hide();
        }
    }

    return { node, solve, end: () => abort?.abort() };
}
