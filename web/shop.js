// SPDX-License-Identifier: Apache-2.0
/* What the server says of the shop: asked for once a visit, by the pages that need it. */

import { shopGet } from './api.js';

export function createShop() {
    let asking = null;
    let known = null;

    return {
        /* null: not known yet. */
        known: () => known,
        ask() {
            asking ??= shopGet().then(
                (shop) => {
                    known = shop;
                    return shop;
                },
                (refusal) => {
                    asking = null; /* the next one asks again */
                    throw refusal;
                },
            );
            return asking;
        },
    };
}

/* Where to send somebody who must sign in: pages only, since it becomes a link. '': nowhere. */
export function loginAddress(shop) {
    const url = shop?.login_url ?? '';
    return /^https?:\/\//.test(url) ? url : '';
}

/* Nobody is signed in, and without that nothing can be bought. */
export const signInMissing = (shop, opened) => opened === null && shop !== null && !shop.guests;
