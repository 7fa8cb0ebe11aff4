// SPDX-License-Identifier: Apache-2.0
/* The degrade switches from mild to harsh: what kind of value each has, and which counter tells whom it meets. Nothing here
 * touches the page. */

const refused = (layer) => (metrics) => metrics.stampede_limits_refused_total?.[layer] ?? 0;

/* `most`: the highest number; without it the switch is on or off. `zero`: words for 0. `hits(metrics)`: requests
 * that it has held back so far. */
export const SWITCHES = [
    { name: 'pow_boost', most: 10, zero: 'off' },
    { name: 'address_rate', most: 1_000_000, zero: 'any', hits: refused('address') },
    { name: 'room_rate', most: 1_000_000, zero: 'nobody' },
    { name: 'admission_per_s', most: 1_000_000, zero: 'any', hits: refused('admission') },
    { name: 'refuse_new' },
    { name: 'sold_out_items', list: true },
    { name: 'bypass_address_limit' },
    { name: 'bypass_user_limit' },
    { name: 'bypass_human_check' },
    { name: 'bypass_waiting_room' },
];

/* Whether it does something to customers now. What a rate is at the start is the configuration's to say. */
export function isTurned({ list, most, zero }, value) {
    if (list)
        return value.length > 0;
    if (most === undefined)
        return value === true;
    return zero === 'nobody' ? value === 0 : zero === 'off' && value > 0;
}

/* People of each waiting room: in line, and how many a second went in between two looks. */
export function roomsOf(before, after) {
    const seconds = before === null ? 0 : (after.now_ms - before.now_ms) / 1000;
    return after.sales.filter(({ room }) => room).map(({ id, title, state, room }) => {
        const old = before?.sales.find((sale) => sale.id === id)?.room;
        const went = old && seconds > 0 ? Math.max(0, room.admitted - old.admitted) / seconds : 0;
        return { id, title, state, line: Math.max(0, room.arrived - room.admitted), admitted: room.admitted, drawn: room.drawn, rate: went };
    });
}
