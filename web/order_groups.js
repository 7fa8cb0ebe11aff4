// SPDX-License-Identifier: Apache-2.0
/* How a list of orders is shown, and what is said when there is none. Pure functions of what is known. */

export const GROUPS = ['deciding', 'toPay', 'paid', 'past'];

const GROUP_OF = { deciding: 'deciding', creating: 'toPay', pending: 'toPay', paid: 'paid' };

/* { deciding, toPay, paid, past }: each in the order of the list. */
export function ordersGrouped(orders) {
    const grouped = Object.fromEntries(GROUPS.map((group) => [group, []]));
    for (const order of orders)
        grouped[GROUP_OF[order.state] ?? 'past'].push(order);
    return grouped;
}

/* A key of words.js for an empty list: somebody who is signed out has orders all the same. `ended`: there was
 * a session, and it is over. `shop` null: not known yet. */
export function emptyWords(opened, shop, ended) {
    if (opened !== null)
        return 'orders.none';
    if (shop === null)
        return 'orders.loading';
    if (!shop.guests)
        return 'orders.signIn';
    return ended ? 'orders.ended' : 'orders.none';
}
