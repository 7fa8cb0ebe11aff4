// SPDX-License-Identifier: Apache-2.0
/* The browser of the tests: Chromium without windows, which takes half the processor time of the whole one (33 s instead of 62 s for the
 * payment tests), or whatever CHROMIUM names. */

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = ['chromium-headless-shell', 'chromium', 'google-chrome'];

export function browserFind() {
    const folders = process.env.PATH.split(delimiter);
    const found = NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
    const path = process.env.CHROMIUM ?? found;
    if (!path)
        throw new Error('no Chromium on the PATH; set CHROMIUM');
    return path;
}
