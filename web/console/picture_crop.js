// SPDX-License-Identifier: Apache-2.0
/* Customers see pictures square. Of one that is not, the merchant chooses the square before it is sent. */

import { element } from '../dom.js';
import { ask } from './dialog.js';
import { say } from './i18n.js';
import { field } from './parts.js';

const SHOWN = 240; /* pixels of the preview */
const SIDE_MAX = 2048;
const PERCENT = 100;

/* The square of a picture: `part` from 0 (left or top) to 1, `zoom` from 1 (as large as can be) on. */
export function squareOf(width, height, part, zoom = 1) {
    const side = Math.max(1, Math.round(Math.min(width, height) / zoom));
    const along = (length, at) => Math.round((length - side) * at);
    return width >= height ? { x: along(width, part), y: along(height, 0.5), side } : { x: along(width, 0.5), y: along(height, part), side };
}

function drawn(picture, { x, y, side }, pixels) {
    const canvas = element('canvas', { width: pixels, height: pixels });
    canvas.getContext('2d').drawImage(picture, x, y, side, side, 0, 0, pixels, pixels);
    return canvas;
}

const blobOf = (canvas, type) => new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob === null ? reject(new Error('no picture')) : resolve(blob)), type, 0.92);
});

/* The file itself if it is square, or if this browser can't read it (the server says what is wrong with it then); else the chosen
 * square of it; null: the merchant wants none. */
export async function pictureSquare(file) {
    const picture = await createImageBitmap(file).catch(() => null);
    if (picture === null || picture.width === picture.height)
        return file;
    const slider = (min, max, value) => element('input', { type: 'range', min, max, value });
    const part = slider(0, PERCENT, PERCENT / 2);
    const zoom = slider(PERCENT, 4 * PERCENT, PERCENT);
    const place = element('div', { class: 'crop', role: 'img', 'aria-label': say('crop.preview') });
    const square = () => squareOf(picture.width, picture.height, part.value / PERCENT, zoom.value / PERCENT);
    const paint = () => place.replaceChildren(drawn(picture, square(), SHOWN));
    part.addEventListener('input', paint);
    zoom.addEventListener('input', paint);
    paint();
    return ask({ title: say('crop.title'), text: say('crop.text', { name: file.name }), yes: say('crop.yes'),
        fields: [place, field(say(picture.width > picture.height ? 'crop.across' : 'crop.down'), part), field(say('crop.zoom'), zoom)],
        act: () => blobOf(drawn(picture, square(), Math.min(SIDE_MAX, square().side)), file.type === 'image/png' ? 'image/png' : 'image/jpeg') });
}
