/* The human check: what the shop asks before it gives a place. `solve` resolves to what goes into
 * {"solution": …}, or to null when the visitor gave up. Pictures can be used by keyboard, and next to
 * each is the way for who can't see it: the computer does some work instead. */

import { challengeGet } from './api.js';
import { element, textSet } from './dom.js';
import { say } from './i18n.js';
import { payloadOf } from './pow.js';

const TRACK_MAX = 60;
const STEP = 4; /* pixels of one arrow key */

/* Works beside the page; `told` hears how far it is. */
function workInBackground(challenge, told, signal) {
    return new Promise((resolve, reject) => {
        const worker = new Worker('/pow_worker.js', { type: 'module' });
        const end = () => worker.terminate();
        worker.addEventListener('message', ({ data }) => {
            if (data.solution === undefined) {
                told(data.done);
                return;
            }
            end();
            resolve(payloadOf(challenge, data.solution));
        });
        worker.addEventListener('error', (error) => {
            end();
            reject(error);
        });
        signal.addEventListener('abort', () => {
            end();
            resolve(null);
        });
        worker.postMessage(challenge);
    });
}

/* A track of at most TRACK_MAX points that begins and ends where the piece did. */
export function trackThin(track) {
    if (track.length <= TRACK_MAX)
        return track;
    const every = (track.length - 1) / (TRACK_MAX - 1);
    return Array.from({ length: TRACK_MAX }, (_, at) => track[Math.round(at * every)]);
}

export function createHumanCheck() {
    const heading = element('h2', { class: 'human-heading', tabIndex: -1 });
    const words = element('p', { class: 'human-words', id: 'human-words' });
    const stage = element('div', { class: 'human-stage' });
    const progress = element('progress', { max: 1, value: 0, 'aria-labelledby': 'human-words' });
    const other = element('button', { class: 'human-other', type: 'button' });
    const node = element('section', { class: 'human', 'aria-live': 'polite' }, heading, words, stage, other);
    let abort = null;
    node.hidden = true;

    function show(wordsKey, otherWay, ...children) {
        node.hidden = false;
        other.hidden = !otherWay;
        textSet(heading, say('human.title'));
        textSet(words, say(wordsKey));
        textSet(other, say('human.other'));
        stage.replaceChildren(...children);
        node.scrollIntoView({ block: 'nearest' });
    }

    function hide() {
        node.hidden = true;
        stage.replaceChildren();
    }

    function work(challenge) {
        show('human.working', false, progress);
        progress.value = 0;
        return workInBackground(
            challenge,
            (done) => {
                progress.value = done;
            },
            abort.signal,
        );
    }

    /* Resolves when the form is sent, or with 'other' when the work is wanted instead. */
    function formDone(form, read) {
        heading.focus({ preventScroll: true });
        return new Promise((resolve) => {
            form.addEventListener('submit', (event) => {
                event.preventDefault();
                const solution = read();
                if (solution !== null)
                    resolve(solution);
            });
            other.onclick = () => resolve('other');
            abort.signal.addEventListener('abort', () => resolve(null));
        });
    }

    function code(challenge) {
        const picture = element('img', { src: challenge.image, alt: say('human.picture'), width: 200, height: 72 });
        const label = element('label', { htmlFor: 'human-code' }, say('human.code'));
        const input = element('input', {
            id: 'human-code',
            type: 'text',
            autocomplete: 'off',
            maxLength: challenge.length,
            required: true,
            'autocapitalize': 'characters',
            'spellcheck': 'false',
        });
        const send = element('button', { class: 'human-send', type: 'submit' }, say('human.send'));
        const form = element('form', { class: 'human-form' }, picture, label, input, send);
        show('human.read', true, form);
        return formDone(form, () => ({ token: challenge.token, answer: input.value.trim() }));
    }

    function slider(challenge) {
        const { width, height, piece_size: size, piece_y: top } = challenge;
        const whole = element('img', { src: challenge.image, alt: say('human.picture'), width, height });
        const piece = element('img', { class: 'human-piece', src: challenge.piece, alt: '', width: size, height: size });
        const frame = element('div', { class: 'human-frame' }, whole, piece);
        const range = element('input', {
            id: 'human-range',
            type: 'range',
            min: 0,
            max: width - size,
            step: 1,
            value: 0,
        });
        const label = element('label', { htmlFor: 'human-range' }, say('human.slide'));
        const send = element('button', { class: 'human-send', type: 'submit' }, say('human.send'));
        const form = element('form', { class: 'human-form' }, frame, label, range, send);
        const track = [];
        const began = performance.now();
        const note = () => {
            piece.style.left = `${range.value}px`;
            track.push([Math.round(performance.now() - began), Number(range.value)]);
        };
        piece.style.top = `${top}px`;
        note();
        range.addEventListener('input', note);
        range.addEventListener('keydown', (event) => {
            const steps = { PageUp: 5, PageDown: -5 }[event.key];
            if (steps === undefined)
                return;
            event.preventDefault();
            range.value = Number(range.value) + steps * STEP;
            note();
        });
        show('human.move', true, form);
        return formDone(form, () => {
            note();
            return { token: challenge.token, x: Number(range.value), track: trackThin(track) };
        });
    }

    /* One challenge from asking for it to its solution. */
    async function solveOne(session, item, kind) {
        const challenge = await challengeGet(session, item, kind);
        if (challenge.parameters !== undefined)
            return work(challenge);
        const solution = await (challenge.kind === 'slider' ? slider(challenge) : code(challenge));
        return solution === 'other' ? solveOne(session, item, 'pow') : solution;
    }

    async function solve(session, item, kinds) {
        abort = new AbortController();
        try {
            return await solveOne(session, item, kinds[0]);
        } finally {
            hide();
        }
    }

    return { node, solve, end: () => abort?.abort() };
}
