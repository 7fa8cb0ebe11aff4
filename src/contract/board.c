/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. Each item is a seqlock whose fields are all atomics, so that no fence is needed (TSan
 * can't see fences):
 * - the writer makes `sequence` odd, stores every field with release, makes `sequence` even with
 *   release;
 * - the reader loads `sequence` and every field with acquire, then `sequence` again.
 * A reader that saw one new field synchronized with its store, hence sees the odd (or a later)
 * sequence and reads again. On x86 all of these are plain moves.
 *
 * The buyer filter is a Bloom filter in blocks of one cache line: one hash picks the line and four
 * bits in it, so a question costs one cache miss. The hash is a keyed mixer and not SipHash, which
 * would cost a sold-out answer a fifth of its instructions: user ids are keyed hashes already, and
 * all that somebody could win by collisions is the right to be refused by the inventory instead of
 * by the flag. Bits are only ever set. The inventory adds a buyer before it publishes the counts
 * of the purchase; whoever sees those counts therefore sees the buyer too.
 *
 * The holder filter is another one, of groups and users. Several threads add to it: the inventory each buyer
 * of an item with a group, the worker whoever the database has.
 * `filter_key` is for the owner to set after board_create and before the first buyer. */
#include "contract/board.h"

#include "base/status.h"

#include <sched.h>

enum {
    FILTER_BITS_PER_BUYER = 12, /* at least; rounded up to a power of two in all */
    FILTER_BLOCK_BITS = 512,    /* a cache line */
    FILTER_BLOCK_SHIFT = 9,
    FILTER_PROBES = 4,
    FILTER_BLOCK_HASH_SHIFT = FILTER_PROBES * FILTER_BLOCK_SHIFT, /* the hash bits above pick the block */
    READ_SPINS = 64, /* then let the writer run: it may share our core */
};
#define FILTER_BUYERS_LIMIT (UINT64_C(1) << 32)
#define ARENA_ALIGN(bytes) (((bytes) + 63) & ~(size_t)63)

static uint64_t filter_bits(uint64_t buyers_max)
{
    invariant(buyers_max <= FILTER_BUYERS_LIMIT);
    uint64_t bits = FILTER_BLOCK_BITS;
    while (bits < buyers_max * FILTER_BITS_PER_BUYER)
        bits *= 2;
    invariant(bits >> FILTER_BLOCK_SHIFT <= UINT64_C(1) << (64 - FILTER_BLOCK_HASH_SHIFT));
    return bits;
}

size_t board_bytes(uint32_t item_count, uint64_t buyers_max)
{
    return ARENA_ALIGN((size_t)item_count * sizeof(struct board_item))
        + ARENA_ALIGN((size_t)item_count * sizeof(struct board_flow))
        + ARENA_ALIGN((size_t)item_count * sizeof(uint64_t))
        + ARENA_ALIGN(sizeof(struct board_holders)) + 2 * ARENA_ALIGN(filter_bits(buyers_max) / 8);
}

void board_create(struct board *board, struct arena *arena, uint32_t item_count, uint64_t buyers_max)
{
    uint64_t bits = filter_bits(buyers_max);
    *board =
        (struct board){ .item_count = item_count, .free_channels = CHANNELS_MAX, .filter_mask = bits - 1 };
    board->items = arena_take(arena, item_count, sizeof *board->items);
    board->flows = arena_take(arena, item_count, sizeof *board->flows);
    board->filter = arena_take(arena, bits / 64, sizeof *board->filter);
    board->limit_groups = arena_take(arena, item_count, sizeof *board->limit_groups);
    board->holders = arena_take(arena, 1, sizeof *board->holders);
    board->holders->words = arena_take(arena, bits / 64, sizeof *board->holders->words);
    board->holders->max = buyers_max;
}

void board_touch(const struct board *board)
{
    arena_touch(board->filter, (board->filter_mask + 1) / 8);
}

#define PUT(field, value) atomic_store_explicit(&(field), (value), memory_order_release)
#define GET(field) atomic_load_explicit(&(field), memory_order_acquire)

void board_publish(struct board *board, const struct board_update *update)
{
    invariant(update->item > 0 && update->item < board->item_count);
    invariant(update->sale > 0);
    struct board_item *item = &board->items[update->item];
    uint32_t sequence = atomic_load_explicit(&item->sequence, memory_order_relaxed);
    invariant((sequence & 1) == 0); /* one writer */
    PUT(item->sequence, sequence + 1);
    PUT(item->sale, update->sale);
    PUT(item->start_ms, update->start_ms);
    PUT(item->end_ms, update->end_ms);
    PUT(item->gate, (uint32_t)update->gate);
    PUT(item->limit_per_user, update->limit_per_user);
    for (unsigned i = 0; i < CHANNELS_MAX; i++)
        PUT(item->channel_free[i], update->counts.channel_free[i]);
    PUT(item->unit_price, update->unit_price);
    PUT(item->given, update->counts.given);
    PUT(item->held, update->counts.held);
    PUT(item->sold, update->counts.sold);
    PUT(item->safety, update->counts.safety);
    PUT(item->written_off, update->counts.written_off);
    PUT(item->sequence, sequence + 2);
}

#define SOLD_OUT_UNKNOWN UINT64_MAX

void board_note_sold_out(struct board *board, const struct board_update *update, uint64_t now_ms)
{
    _Atomic uint64_t *noted = &board->items[update->item].sold_out_ms;
    const struct item_counts *counts = &update->counts;
    uint64_t free = 0;
    if (atomic_load_explicit(noted, memory_order_relaxed) != 0 || counts->held + counts->sold == 0)
        return;
    for (unsigned i = 0; i < CHANNELS_MAX; i++)
        free += counts->channel_free[i];
    if (now_ms == 0)
        atomic_store_explicit(noted, SOLD_OUT_UNKNOWN, memory_order_relaxed);
    else if (free == 0)
        atomic_store_explicit(noted, now_ms, memory_order_relaxed);
}

uint64_t board_sold_out_ms(const struct board *board, item_id item)
{
    const uint64_t noted = item == 0 || item >= board->item_count
        ? 0
        : atomic_load_explicit(&board->items[item].sold_out_ms, memory_order_relaxed);
    return noted == SOLD_OUT_UNKNOWN ? 0 : noted;
}

/* Of an item or channel that is not there nothing can be sold: not counted. */
static bool flow_is_kept(const struct board *board, item_id item, channel_index channel)
{
    return item < board->item_count && channel < CHANNELS_MAX;
}

void board_asked(struct board *board, item_id item, channel_index channel, uint32_t units)
{
    if (flow_is_kept(board, item, channel))
        atomic_fetch_add_explicit(&board->flows[item].asked[channel], units, memory_order_relaxed);
}

void board_decided(struct board *board, item_id item, channel_index channel, uint32_t units)
{
    if (!flow_is_kept(board, item, channel))
        return;
    _Atomic uint32_t *decided = &board->flows[item].decided[channel];
    /* One writer. */
    PUT(*decided, atomic_load_explicit(decided, memory_order_relaxed) + units);
}

static void item_read(const struct board_item *item, uint32_t free_channels, struct board_update *copy)
{
    struct item_counts *counts = &copy->counts;
    copy->sale = GET(item->sale);
    copy->start_ms = GET(item->start_ms);
    copy->end_ms = GET(item->end_ms);
    copy->gate = (enum gate)GET(item->gate);
    copy->limit_per_user = GET(item->limit_per_user);
    counts->free = 0;
    for (unsigned i = 0; i < CHANNELS_MAX; i++) {
        counts->channel_free[i] = GET(item->channel_free[i]);
        counts->free += i < free_channels ? counts->channel_free[i] : 0;
    }
    copy->unit_price = GET(item->unit_price);
    counts->given = GET(item->given);
    counts->held = GET(item->held);
    counts->sold = GET(item->sold);
    counts->safety = GET(item->safety);
    counts->written_off = GET(item->written_off);
}

bool board_read(const struct board *board, item_id id, struct board_update *copy)
{
    if (id == 0 || id >= board->item_count)
        return false;
    const struct board_item *item = &board->items[id];
    copy->item = id;
    for (unsigned spins = 1;; spins++) { /* ends with the writer's few stores */
        uint32_t before = GET(item->sequence);
        item_read(item, board->free_channels, copy);
        if ((before & 1) == 0 && atomic_load_explicit(&item->sequence, memory_order_relaxed) == before)
            return copy->sale != 0; /* never published: as good as not there */
        if (spins % READ_SPINS == 0)
            sched_yield();
    }
}

struct filter_place {
    _Atomic uint64_t *words; /* of the block */
    uint64_t hash;
};

/* The finalizer of MurmurHash3: every bit of the input moves every bit of the result. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

/* Items and groups have a filter each. Built into the callers: every sold-out answer asks. */
static inline __attribute__((always_inline)) struct filter_place filter_find(
    const struct board *board, _Atomic uint64_t *filter, uint64_t what, user_id user)
{
    uint64_t salt = (what ^ board->filter_key.k0) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = mix(user ^ salt ^ board->filter_key.k1);
    uint64_t first_bit = (hash >> FILTER_BLOCK_HASH_SHIFT << FILTER_BLOCK_SHIFT) & board->filter_mask;
    return (struct filter_place){ filter + first_bit / 64, hash };
}

static inline __attribute__((always_inline)) bool filter_has(struct filter_place place)
{
    for (unsigned i = 0; i < FILTER_PROBES; i++) {
        uint64_t bit = place.hash >> (i * FILTER_BLOCK_SHIFT) & (FILTER_BLOCK_BITS - 1);
        if ((atomic_load_explicit(&place.words[bit / 64], memory_order_acquire) >> bit % 64 & 1) == 0)
            return false; /* mostly at the first one */
    }
    return true;
}

void board_expect_buyer(const struct board *board, item_id item, user_id user)
{
    __builtin_prefetch(filter_find(board, board->filter, item, user).words, 1);
}

void board_add_buyer(struct board *board, item_id item, user_id user)
{
    struct filter_place place = filter_find(board, board->filter, item, user);
#pragma GCC unroll 4
    for (unsigned i = 0; i < FILTER_PROBES; i++) {
        uint64_t bit = place.hash >> (i * FILTER_BLOCK_SHIFT) & (FILTER_BLOCK_BITS - 1);
        _Atomic uint64_t *word = &place.words[bit / 64];
        uint64_t old = atomic_load_explicit(word, memory_order_relaxed); /* one writer */
        atomic_store_explicit(word, old | UINT64_C(1) << bit % 64, memory_order_release);
    }
    const uint64_t group = board_limit_group(board, item);
    if (__builtin_expect(group != 0, 0))
        board_add_holder(board, group, user);
}

bool board_may_have_bought(const struct board *board, item_id item, user_id user)
{
    return filter_has(filter_find(board, board->filter, item, user));
}

void board_set_limit_group(const struct board *board, item_id item, uint64_t group)
{
    invariant(item < board->item_count);
    atomic_store_explicit(&board->limit_groups[item], group, memory_order_relaxed);
}

bool board_may_hold(const struct board *board, uint64_t group, user_id user)
{
    return filter_has(filter_find(board, board->holders->words, group, user));
}

bool board_holders_full(const struct board *board)
{
    return atomic_load_explicit(&board->holders->count, memory_order_relaxed) >= board->holders->max;
}

void board_add_holder(const struct board *board, uint64_t group, user_id user)
{
    struct board_holders *holders = board->holders;
    const struct filter_place place = filter_find(board, holders->words, group, user);
    if (filter_has(place) || board_holders_full(board))
        return;
    atomic_fetch_add_explicit(&holders->count, 1, memory_order_relaxed);
    for (unsigned i = 0; i < FILTER_PROBES; i++) {
        uint64_t bit = place.hash >> (i * FILTER_BLOCK_SHIFT) & (FILTER_BLOCK_BITS - 1);
        atomic_fetch_or_explicit(&place.words[bit / 64], UINT64_C(1) << bit % 64, memory_order_release);
    }
}

void board_clear_holders(const struct board *board)
{
    for (uint64_t i = 0; i <= board->filter_mask / 64; i++)
        atomic_store_explicit(&board->holders->words[i], 0, memory_order_relaxed);
    atomic_store_explicit(&board->holders->count, 0, memory_order_relaxed);
}

size_t board_rooms_bytes(uint32_t sale_count)
{
    return ARENA_ALIGN((size_t)sale_count * sizeof(struct board_room));
}

void board_create_rooms(struct board *board, struct arena *arena, uint32_t sale_count)
{
    board->sale_count = sale_count;
    board->rooms = arena_take(arena, sale_count, sizeof *board->rooms);
}

/* Publish the draw before arrivals and head: a reader that sees an arrival after the start sees the
 * draw too, and one that sees a head sees the arrivals before it. */
void board_publish_room(struct board *board, const struct board_room_update *update)
{
    invariant(update->sale != 0 && update->sale < board->sale_count);
    struct board_room *room = &board->rooms[update->sale];
    PUT(room->draw, update->draw_done ? (uint64_t)update->drawn + 1 : 0);
    PUT(room->arrived, update->arrived);
    PUT(room->head, update->head);
}

bool board_read_room(const struct board *board, sale_id sale, struct board_room_update *copy)
{
    if (sale == 0 || sale >= board->sale_count)
        return false;
    const struct board_room *room = &board->rooms[sale];
    *copy = (struct board_room_update){ .sale = sale, .head = GET(room->head) };
    copy->arrived = GET(room->arrived);
    const uint64_t draw = GET(room->draw);
    copy->draw_done = draw != 0;
    copy->drawn = draw == 0 ? 0 : (uint32_t)(draw - 1);
    if (copy->arrived < copy->drawn)
        copy->arrived = copy->drawn;
    return true;
}
