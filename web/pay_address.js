// SPDX-License-Identifier: Apache-2.0
/* Where a payment's address may lead. It comes from outside, so it is judged before it is used: a
 * page is gone to, a code is shown for the phone to scan, and nothing else is touched. */

const CODE_SCHEMES = new Set(['weixin:', 'alipays:']);
const CODE_HOSTS = new Set(['qr.alipay.com']); /* pages that are meant for a phone */
const PAGE_SCHEMES = new Set(['https:', 'http:']);
const LISTENING = new Set(['127.0.0.1', '0.0.0.0', '[::1]', '[::]', 'localhost']);

/* { kind: 'page', href } or { kind: 'code', href }, or null: not an address to pay at. */
export function payAddress(text, here) {
    let url;
    try {
        url = new URL(text, here);
    } catch {
        return null;
    }
    if (CODE_SCHEMES.has(url.protocol))
        return { kind: 'code', href: text };
    if (!PAGE_SCHEMES.has(url.protocol) || url.username !== '' || url.password !== '')
        return null;
    if (CODE_HOSTS.has(url.host))
        return { kind: 'code', href: url.href };
    /* A server that was not told its public address names the one it listens on. Who came to it
     * by another name (localhost, a forwarded port) stays there: the session is kept there. */
    const own = new URL(here);
    const itself = url.pathname.startsWith('/sandbox/') || url.pathname === '/';
    if (itself && url.protocol === 'http:' && LISTENING.has(url.hostname))
        return { kind: 'page', href: own.origin + url.pathname + url.search };
    return { kind: 'page', href: url.href };
}
