// SPDX-License-Identifier: Apache-2.0
/* The work beside the page: takes a challenge, tells how far it is, answers with the solution. */

import { powSolve } from './pow.js';

addEventListener('message', ({ data }) => {
    const solution = powSolve(data, (done) => postMessage({ done }));
    postMessage({ solution });
});
