// SPDX-License-Identifier: Apache-2.0
/* The work of the human check, beside the page. `told` hears how far it is; `signal` ends it, with null.
 * POW_WORKER: the address of pow_worker.js, put in by the build (tools/bundle.py). */

export const payloadOf = ({ parameters, signature }, solution) =>
    btoa(JSON.stringify({ challenge: { parameters, signature }, solution }));

export function workInBackground(challenge, told = () => {}, signal = undefined) {
    return new Promise((resolve, reject) => {
        const worker = new Worker(POW_WORKER, { type: 'module' });
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
        signal?.addEventListener('abort', () => {
            end();
            resolve(null);
        });
        worker.postMessage(challenge);
    });
}
