// SPDX-License-Identifier: Apache-2.0
/* Pictures of a product: cut to a square, sent at once, shown as customers see them, put in order, taken away. */

import { element, textSet } from '../dom.js';
import { say } from './i18n.js';
import { button, field } from './parts.js';
import { pictureSquare } from './picture_crop.js';
import { pictureSend } from './picture.js';

const PICTURES_MAX = 8;

/* `paths()`: the pictures in order; the first is the one on lists. */
export function picturesField(first = []) {
    let paths = [...first];
    const file = element('input', { type: 'file', accept: 'image/jpeg,image/png,image/webp', multiple: true });
    const list = element('ul', { class: 'pictures' });
    const told = element('p', { class: 'help', role: 'status' });

    function paint() {
        list.replaceChildren(...paths.map((path, at) => {
            const earlier = button('←', () => move(at), 'plain small');
            earlier.setAttribute('aria-label', say('picture.earlier', { number: at + 1 }));
            earlier.disabled = at === 0;
            const away = button('×', () => {
                paths = paths.filter((_, other) => other !== at);
                paint();
            }, 'plain small');
            away.setAttribute('aria-label', say('picture.away', { number: at + 1 }));
            return element('li', {}, element('img', { class: 'picture-shown', src: path, alt: say('picture.number', { number: at + 1 }), width: 120, height: 120 }),
                element('div', { class: 'acts' }, earlier, away));
        }));
        list.hidden = paths.length === 0;
    }
    function move(at) {
        paths.splice(at - 1, 2, paths[at], paths[at - 1]);
        paint();
    }
    file.addEventListener('change', async () => {
        try {
            for (const one of [...file.files]) {
                if (paths.length >= PICTURES_MAX) {
                    textSet(told, say('picture.most', { count: PICTURES_MAX }));
                    break;
                }
                const square = await pictureSquare(one);
                if (square === null)
                    continue;
                textSet(told, say('picture.sending'));
                paths.push(await pictureSend(square));
                paint();
                textSet(told, say('picture.done'));
            }
        } catch (wrong) {
            textSet(told, wrong.status ? wrong.message : say('sign.away'));
        }
        file.value = '';
    });
    paint();
    return { node: element('div', { class: 'picture-field' }, field(say('item.picture'), file, say('item.picture.help')), list, told), paths: () => paths };
}
