// SPDX-License-Identifier: Apache-2.0
/* The buy button and the one sentence with it. On a phone they stay at the lower edge within reach of
 * the thumb. The button never moves: its sentence stands above it and grows upwards. In place of an
 * empty sentence stands a note of what is known anyway. */

import { attributeSet, element, textSet } from './dom.js';

const NEAR_MS = 10_000;

export function createDock() {
    const status = element('p', { class: 'status', id: 'status', role: 'status' });
    const note = element('p', { class: 'dock-note' });
    const button = element('button', { class: 'buy', type: 'button', 'aria-describedby': 'status' });
    const lines = element('div', { class: 'dock-lines' }, status, note);
    const node = element('div', { class: 'dock' }, lines, button);

    return {
        node,
        button,
        /* `startsInMs`: until the button turns live, NaN when it does not count down. */
        paint({ words, live, busy = false, kind, sentence, noteWords, startsInMs = NaN }) {
            textSet(button, words);
            attributeSet(button, 'aria-disabled', String(!live));
            attributeSet(button, 'aria-busy', String(busy));
            attributeSet(button, 'data-near', String(startsInMs <= NEAR_MS));
            status.dataset.kind = kind;
            textSet(status, sentence);
            textSet(note, noteWords);
            note.hidden = sentence !== '';
        },
    };
}
