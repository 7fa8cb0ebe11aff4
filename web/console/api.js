// SPDX-License-Identifier: Apache-2.0
/* The console's requests: to the admin API, with the session that the browser keeps in a cookie. */

import { language } from './i18n.js';
import { told } from './server_words.js';

const PAGES_MAX = 200;
const KEY_BYTES = 16;

/* What the server refused, in the reader's language where it has words for it. */
export class Refusal extends Error {
    constructor(status, problem) {
        super(told(problem?.detail) ?? `HTTP ${status}`);
        this.status = status;
        this.type = problem?.type?.replace('/problems/', '') ?? '';
        this.problem = problem ?? {};
    }
}

let signedOut = () => {};
/* Told when a request shows that the session is over. */
export function onSignedOut(listener) {
    signedOut = listener;
}

/* So that an act which is sent again is done once. */
export function changeKey() {
    const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
    return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function send(method, path, { body, type = 'application/json', headers = {}, signal } = {}) {
    const response = await fetch(path, {
        method,
        body,
        signal,
        cache: 'no-store',
        credentials: 'same-origin',
        headers: {
            'Stampede-Console': '1',
            'Accept-Language': language(),
            ...(body === undefined ? {} : { 'Content-Type': type }),
            ...headers,
        },
    });
    if (response.status === 204)
        return null;
    if (response.ok && response.headers?.get('Content-Type')?.startsWith('text/csv'))
        return { text: await response.text(), next: response.headers.get('Stampede-Next') ?? undefined };
    const answer = await response.json().catch(() => null);
    if (!response.ok)
        throw new Refusal(response.status, answer);
    return answer;
}

async function admin(method, path, options) {
    try {
        return await send(method, `/admin/v1${path}`, options);
    } catch (wrong) {
        if (wrong.status === 401)
            signedOut();
        throw wrong;
    }
}

export const read = (path, signal) => admin('GET', path, { signal });

/* `key`: the same for each try of one act. */
export function change(method, path, members, key = changeKey()) {
    return admin(method, path, {
        body: members === undefined ? undefined : JSON.stringify(members),
        headers: { 'Idempotency-Key': key },
    });
}

export const sendPiece = (path, bytes, type) => admin('POST', path, { body: bytes, type });

/* All pages of a list, as far as there are any. `name`: of the list; `turn`: the parameter that says where a page begins, and
 * `first` its value on the first one. */
export async function readAll(path, name, { turn = 'after', most = Infinity, first } = {}) {
    const rows = [];
    const join = path.includes('?') ? '&' : '?';
    let next = first;
    for (let page = 0; page < PAGES_MAX && rows.length < most; page++) {
        const answer = await read(next === undefined ? path : `${path}${join}${turn}=${next}`);
        rows.push(...answer[name]);
        next = answer.next;
        if (next === undefined || next === null)
            break;
    }
    return rows;
}

/* A file that the server writes page by page. */
export async function readFile(path) {
    const join = path.includes('?') ? '&' : '?';
    let text = '';
    let next;
    for (let page = 0; page < PAGES_MAX; page++) {
        const answer = await read(next === undefined ? path : `${path}${join}before=${next}`);
        text += answer.text;
        next = answer.next;
        if (next === undefined)
            break;
    }
    return text;
}

export const sessionRead = () => send('GET', '/console/session');
export const sessionEnd = () => send('DELETE', '/console/session');
/* What signs in: an admin key, or a token that counts once; or a user name and a password. */
export const bearer = (key) => `Bearer ${key}`;
export const basic = (name, password) => `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${name}:${password}`)))}`;
export const sessionBegin = (authorization) => send('POST', '/console/session', { headers: { Authorization: authorization } });
