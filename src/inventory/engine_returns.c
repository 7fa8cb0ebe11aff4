/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/engine_returns.c: so that letting units go and asking fastest pays nobody.
 *
 * The cool-down: a user who gives an item up (cancelled, or not paid in time) can't buy it again
 * for the sale's cooldown_s, twice as long after each further time.
 *
 * The draws: units that many want at one moment are not for whoever asks fastest. There is one from
 * the opening of the sale on (start_draw_ms), and one when units come back to an empty pool
 * (return_draw_ms). In its first half nobody gets a unit, so that everybody can ask; each user has a
 * own moment in the second half, which follows from the user's id and the draw's seed, and takes a
 * unit from then on, if one is left. Nothing is kept per asker, refusals tell the moment, and a
 * replay comes to the same. The seed of a return grows out of the returned tickets with their keys,
 * which are keyed hashes; that of the start has the millisecond at which the sale was defined: nobody
 * outside can check a guess before the draw. */
#include "base/hash.h"
#include "inventory/engine_apply.h"

static uint64_t seconds_up(uint64_t ms)
{
    return (ms + 999) / 1000;
}

uint64_t engine_cooling_until_ms(
    const struct engine *engine, sale_id sale, const struct buyer_row *row, uint64_t now_ms)
{
    if (row == NULL || row->returns == 0 || engine->sales[sale].cooldown_s == 0)
        return 0;
    const uint64_t until_ms = (uint64_t)buyers_cool_until_s(&engine->buyers, row) * 1000;
    return until_ms > now_ms ? until_ms : 0;
}

void engine_cool_down(struct engine *engine, sale_id sale, struct buyer_row *row, uint64_t now_ms)
{
    const uint32_t doublings =
        row->returns < COOLDOWN_DOUBLINGS_MAX ? row->returns : COOLDOWN_DOUBLINGS_MAX;
    const uint64_t until_s =
        seconds_up(now_ms) + ((uint64_t)engine->sales[sale].cooldown_s << doublings);
    buyers_cool_down(&engine->buyers, row, until_s < UINT32_MAX ? (uint32_t)until_s : UINT32_MAX);
}

void engine_return_draw_begin(struct engine *engine, item_id id, channel_index channel,
    const struct ticket_row *returned, uint64_t now_ms)
{
    struct engine_item *item = &engine->items[id];
    const uint32_t length_ms = engine->sales[item->sale].return_draw_ms;
    if (length_ms == 0)
        return;
    const struct hash_key key = { item->draw_seed[channel], engine->tickets.last };
    item->draw_seed[channel] = hash_siphash_pair(key, returned->key ^ now_ms, returned->user);
    item->draw_until_ms[channel] = now_ms + length_ms;
}

uint64_t engine_draw_seed(uint64_t a, uint64_t b, uint64_t c)
{
    const struct hash_key key = { a, 0 };
    return hash_siphash_pair(key, b, c) | 1;
}

struct draw {
    uint64_t until_ms, seed;
    uint32_t length_ms;
};

/* 0: there is none any more, or the user's moment has come. */
static uint64_t moment_ms(
    const struct draw *draw, item_id item, channel_index channel, user_id user, uint64_t now_ms)
{
    if (__builtin_expect(now_ms >= draw->until_ms, 1))
        return 0;
    const struct hash_key key = { draw->seed, item };
    const uint64_t chance = hash_siphash_pair(key, user, channel) >> 32; /* of 2^32 */
    const uint64_t moment = draw->until_ms - (chance * (draw->length_ms / 2) >> 32);
    return moment > now_ms ? moment : 0;
}

uint64_t engine_draw_moment_ms(
    const struct engine *engine, item_id id, channel_index channel, user_id user, uint64_t now_ms)
{
    const struct engine_item *item = &engine->items[id];
    const struct engine_sale *sale = &engine->sales[item->sale];
    const bool by_hand = sale->opened && sale->opened_ms < sale->start_ms;
    const uint64_t opening_ms = by_hand ? sale->opened_ms : sale->start_ms;
    const struct draw start = { sale->start_draw_ms == 0 ? 0 : opening_ms + sale->start_draw_ms,
        sale->draw_seed, sale->start_draw_ms };
    const struct draw back = { item->draw_until_ms[channel], item->draw_seed[channel],
        sale->return_draw_ms };
    const uint64_t first = moment_ms(&start, id, channel, user, now_ms);
    const uint64_t second = moment_ms(&back, id, channel, user, now_ms);
    return first > second ? first : second;
}
