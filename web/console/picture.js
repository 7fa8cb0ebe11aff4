// SPDX-License-Identifier: Apache-2.0
/* Puts a picture on the server, in pieces; the server makes it anew and tells its address. */

import { read, sendPiece } from './api.js';
import { say } from './i18n.js';
import { told } from './server_words.js';

const PIECE_BYTES = 60_000;
const LOOK_MS = 150;
const LOOKS_MAX = 400;

/* `progress` is told what part is sent, from 0 to 1. Resolves to a path like /media/….jpg. */
export async function pictureSend(file, progress = () => {}) {
    const bytes = new Uint8Array(await file.arrayBuffer());
    const type = file.type.startsWith('image/') ? file.type : 'application/octet-stream';
    let { upload } = await sendPiece(`/media?bytes=${bytes.length}`, bytes.slice(0, PIECE_BYTES), type);
    for (let at = PIECE_BYTES; at < bytes.length; at += PIECE_BYTES) {
        progress(at / bytes.length);
        ({ upload } = await sendPiece(`/media?upload=${upload}&at=${at}`, bytes.slice(at, at + PIECE_BYTES), type));
    }
    for (let looks = 0; looks < LOOKS_MAX; looks++) {
        const { state, path, detail } = await read(`/media/uploads/${upload}`);
        if (state === 'done')
            return path;
        if (state === 'refused')
            throw Object.assign(new Error(told(detail)), { status: 422 });
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    throw Object.assign(new Error(say('picture.slow')), { status: 504 });
}
