// SPDX-License-Identifier: Apache-2.0
/* One push connection: orders and watched items as they change. It is a shortcut, not a source of
 * its own: the server sends what polling would get, and whoever follows something here goes on by
 * polling while the connection is away. */

import { pushOrigin } from './api.js';
import { jittered } from './poll.js';

const RETRY_BASE_MS = 1_000;
const RETRY_MAX_MS = 60_000;
const REFUSED = 1008; /* this session or this page is not welcome: polling will do */

/* How long to stay away after the n-th failure in a row; a server that leaves says when to come. */
export function retryMs(failures, reason = '') {
    const hint = /^retry_ms=(\d{1,5})$/.exec(reason);
    if (hint)
        return Number(hint[1]);
    return jittered(Math.min(RETRY_BASE_MS * 2 ** Math.max(0, failures - 1), RETRY_MAX_MS));
}

function socketOpen(session, items, room) {
    const query = [];
    if (items.length > 0)
        query.push(`watch=${items.join(',')}`);
    if (room !== null)
        query.push(`room=${room}`);
    const asked = query.length > 0 ? `?${query.join('&')}` : '';
    const address = `${pushOrigin()}/v1/push${asked}`;
    return new WebSocket(address, ['stampede.v1', `bearer.${session}`]);
}

/* `itemTold` gets each change of a watched item, never an older one after a newer one; `roomTold` where
 * one stands in the waiting room of the sale `room`, if there is one. */
export function createPush(
    session,
    items,
    itemTold,
    { open = socketOpen, after = setTimeout, room = null, roomTold = () => {} } = {},
) {
    const orders = new Map(); /* by ticket, the newest version */
    const itemsKnown = new Map(); /* by item, the newest version */
    let waiting = []; /* [{ ticket, version, resolve }] */
    let socket = null;
    let live = false;
    let failures = 0;
    let ended = false;
    let timer = 0;

    const isNews = (order, version) => order !== undefined && order.version !== version;

    function orderTake(order) {
        if (!(orders.get(order.ticket)?.version > order.version))
            orders.set(order.ticket, order);
    }

    /* What an item was when the connection came up is known by its status; news are changes. */
    function itemTake(told) {
        const before = itemsKnown.get(told.item);
        if (before?.version >= told.version)
            return;
        itemsKnown.set(told.item, told);
        if (told.type === 'item' || (before !== undefined && before.state !== told.state))
            itemTold(told);
    }

    function waitersAnswer() {
        const before = waiting;
        waiting = [];
        for (const one of before) {
            const order = orders.get(one.ticket);
            if (!live)
                one.resolve(null);
            else if (isNews(order, one.version))
                one.resolve(order);
            else
                waiting.push(one);
        }
    }

    function received(message) {
        if (message.type === 'state') {
            live = true;
            failures = 0;
        }
        if (message.type === 'order')
            orderTake(message.order);
        if (message.type === 'item')
            itemTake(message);
        if (message.type === 'room')
            roomTold(message);
        message.orders?.forEach(orderTake);
        message.items?.forEach(itemTake);
        waitersAnswer();
    }

    function closed({ code, reason }) {
        socket = null;
        live = false;
        failures++;
        waitersAnswer();
        if (!ended && code !== REFUSED)
            timer = after(connect, retryMs(failures, reason));
    }

    function connect() {
        try {
            socket = open(session, items, room);
        } catch {
            return; /* no WebSocket here */
        }
        socket.onmessage = ({ data }) => received(JSON.parse(data));
        socket.onclose = closed;
    }

    connect();
    return {
        live: () => live,
        /* The order in another version than this one, or null once the connection is away. */
        next: (ticket, version) =>
            new Promise((resolve) => {
                waiting.push({ ticket, version, resolve });
                waitersAnswer();
            }),
        end() {
            ended = true;
            live = false;
            clearTimeout(timer);
            waitersAnswer();
            socket?.close(1000);
        },
    };
}
