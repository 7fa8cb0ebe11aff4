/* inventory/engine_returns.c: what a return leaves behind, so that letting units go and polling for
 * them pays nobody.
 *
 * The cool-down: who lets an item go (cancelled, or not paid in time) can't take it again for the
 * sale's cooldown_s, twice as long after each further time.
 *
 * The return draw: units that come back to an empty pool are not for whoever polls fastest. In the
 * first half of return_draw_ms nobody gets them, so that everybody can hear of them; each user has
 * a moment of his own in the second half, which follows from his id and the draw's seed, and takes
 * a unit from then on, if one is left. Nothing is kept per asker, refusals tell the moment, and a
 * replay comes to the same. The seed grows out of the returned tickets with their keys, which are
 * keyed hashes: nobody outside can work it out before. */
#include "base/hash.h"
#include "base/planted.h"
#include "inventory/engine_apply.h"

static uint64_t seconds_up(uint64_t ms)
{
    return (ms + 999) / 1000;
}

uint64_t engine_cooling_until_ms(
    const struct engine_sale *sale, const struct buyer_row *row, uint64_t now_ms)
{
    if (row == NULL || row->returns == 0 || sale->cooldown_s == 0 || planted(COOLDOWN_IGNORED))
        return 0;
    const uint64_t until_ms = (uint64_t)row->cool_until_s * 1000;
    return until_ms > now_ms ? until_ms : 0;
}

void engine_cool_down(const struct engine_sale *sale, struct buyer_row *row, uint64_t now_ms)
{
    const uint32_t doublings =
        row->returns < COOLDOWN_DOUBLINGS_MAX ? row->returns : COOLDOWN_DOUBLINGS_MAX;
    const uint64_t until_s = seconds_up(now_ms) + ((uint64_t)sale->cooldown_s << doublings);
    row->cool_until_s = until_s < UINT32_MAX ? (uint32_t)until_s : UINT32_MAX;
    if (row->returns < BUYER_RETURNS_MAX)
        row->returns++;
}

void engine_return_draw_begin(struct engine *engine, item_id id, channel_index channel,
    const struct ticket_row *returned, uint64_t now_ms)
{
    struct engine_item *item = &engine->items[id];
    const uint32_t length_ms = engine->sales[item->sale].return_draw_ms;
    if (length_ms == 0)
        return;
    const struct hash_key key = { item->draw_seed[channel], engine->tickets.count };
    item->draw_seed[channel] = hash_siphash_pair(key, returned->key ^ now_ms, returned->user);
    item->draw_until_ms[channel] = now_ms + length_ms;
}

uint64_t engine_return_draw_ms(
    const struct engine *engine, item_id id, channel_index channel, user_id user, uint64_t now_ms)
{
    const struct engine_item *item = &engine->items[id];
    const uint64_t until_ms = item->draw_until_ms[channel];
    if (__builtin_expect(now_ms >= until_ms, 1) || planted(RETURN_DRAW_IGNORED))
        return 0;
    const struct hash_key key = { item->draw_seed[channel], id };
    const uint64_t chance = hash_siphash_pair(key, user, channel) >> 32;
    const uint64_t early_ms = chance * (engine->sales[item->sale].return_draw_ms / 2) >> 32;
    const uint64_t moment_ms = until_ms - early_ms;
    return moment_ms > now_ms ? moment_ms : 0;
}
