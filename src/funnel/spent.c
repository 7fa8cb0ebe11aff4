/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. Buckets of SPENT_NEIGHBOURS words; a mark lives in the bucket that its low bits name. A word is
 *   tag 44 bits (the mark's high bits) | pending 1 | expiry 19 bits, in units of SPENT_UNIT_S
 * and 0 is an empty place. All of it is one word, so that a place changes hands in one step.
 *
 * Two threads that take one mark at once may pick different places, because a place expired or was
 * given back between their looks. So taking has two steps: put the word in as pending, look at the
 * whole bucket again, then confirm. A thread that sees the same tag confirmed elsewhere withdraws.
 * Of two that are pending the lower place goes on: the upper one withdraws when it sees the lower
 * one, and the lower one empties the upper place when it sees that; a confirm that finds its place
 * emptied has lost. The lowest pending one loses only to a confirmed one, so exactly one wins.
 *
 * Expiries wrap after 24 days; spent_sweep empties places long before they would look alive again. */
#include "funnel/spent.h"

#include "base/metrics.h"

#include <assert.h>
#include <stdatomic.h>

enum {
    EXPIRY_BITS = 19,
    PENDING_BIT = EXPIRY_BITS,
    TAG_SHIFT = 64 - 44,
    TRIES_MAX = 4 * SPENT_NEIGHBOURS, /* each lost try is another thread's success in this bucket */
};
static_assert((int)PENDING_BIT + 1 == (int)TAG_SHIFT, "tag, pending and expiry fill the word");
static_assert((SPENT_LIFE_MAX_S + SPENT_MARGIN_S) / SPENT_UNIT_S < 1 << (EXPIRY_BITS - 1),
    "before and after differ by less than half the circle");

#define EXPIRY_MASK ((UINT64_C(1) << EXPIRY_BITS) - 1)
#define PENDING (UINT64_C(1) << PENDING_BIT)

COUNTER(forgotten_metric, "stampede_spent_forgotten_total",
    "Used challenges, passes and tokens that were forgotten early because the set was full.");

struct bucket {
    _Atomic uint64_t places[SPENT_NEIGHBOURS];
};
struct spent {
    struct bucket *buckets;
    uint64_t mask;
    uint64_t swept; /* spent_sweep only: buckets so far */
    _Atomic uint64_t crowded, forgotten;
    _Atomic bool used; /* a mark was ever taken: else there is nothing to sweep */
};

static uint64_t bucket_count(uint32_t marks_max)
{
    uint64_t count = 1;
    while (count * SPENT_NEIGHBOURS < (uint64_t)marks_max * SPENT_SPARE)
        count *= 2;
    return count;
}

size_t spent_bytes(uint32_t marks_max)
{
    return sizeof(struct spent) + 64 + bucket_count(marks_max) * sizeof(struct bucket);
}

struct spent *spent_create(struct arena *arena, uint32_t marks_max)
{
    const uint64_t count = bucket_count(marks_max);
    struct spent *spent = arena_take(arena, 1, sizeof *spent);
    spent->buckets = arena_take(arena, count, sizeof(struct bucket));
    spent->mask = count - 1;
    return spent;
}

static uint64_t tag_of(uint64_t mark)
{
    const uint64_t tag = mark >> TAG_SHIFT;
    return tag != 0 ? tag : 1; /* a word is never 0 */
}

static struct bucket *bucket_of(const struct spent *spent, uint64_t mark)
{
    return &spent->buckets[mark & spent->mask];
}

static uint64_t word_of(uint64_t mark, uint32_t expires_s)
{
    const uint64_t units = ((uint64_t)expires_s + SPENT_UNIT_S - 1) / SPENT_UNIT_S;
    return tag_of(mark) << TAG_SHIFT | (units & EXPIRY_MASK);
}

static bool word_has(uint64_t word, uint64_t tag)
{
    return word >> TAG_SHIFT == tag;
}

static bool place_is_free(uint64_t word, uint32_t now_s)
{
    if (word == 0)
        return true;
    if ((word & PENDING) != 0)
        return false;
    const uint64_t now = ((uint64_t)now_s - SPENT_MARGIN_S) / SPENT_UNIT_S;
    const uint64_t behind = (now - (word & EXPIRY_MASK)) & EXPIRY_MASK;
    return behind < UINT64_C(1) << (EXPIRY_BITS - 1);
}

/* How long a word has until its expiry, in units; little for one that is over but within the margin. */
static uint64_t units_left(uint64_t word, uint32_t now_s)
{
    const uint64_t now = ((uint64_t)now_s - SPENT_MARGIN_S) / SPENT_UNIT_S;
    return ((word & EXPIRY_MASK) - now) & EXPIRY_MASK;
}

struct found {
    unsigned place; /* the first free one, else that of the mark that expires first; SPENT_NEIGHBOURS: none */
    uint64_t held;  /* what is there */
    unsigned taken; /* places that are not free */
    bool again;     /* the tag is there, taken or about to be */
};
static struct found place_find(struct bucket *bucket, uint64_t tag, uint32_t now_s)
{
    struct found found = { .place = SPENT_NEIGHBOURS };
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < SPENT_NEIGHBOURS; i++) {
        const uint64_t word = atomic_load(&bucket->places[i]);
        if (word_has(word, tag))
            return (struct found){ .again = true };
        const bool is_free = place_is_free(word, now_s);
        found.taken += !is_free;
        if (!is_free && (word & PENDING) != 0)
            continue;
        const uint64_t left = is_free ? 0 : 1 + units_left(word, now_s);
        if (left < least) {
            least = left;
            found.place = i;
            found.held = word;
        }
    }
    return found;
}

static void crowd_note(struct spent *spent, unsigned taken)
{
    if (__builtin_expect(taken < SPENT_CROWDED, 1))
        return;
    atomic_fetch_add_explicit(&spent->crowded, 1, memory_order_relaxed);
    if (taken < SPENT_NEIGHBOURS)
        return;
    atomic_fetch_add_explicit(&spent->forgotten, 1, memory_order_relaxed);
    metric_add(&forgotten_metric, 1);
}

/* Our pending word is at `mine`: does anybody else stand for the same mark? */
static bool rivals_beaten(struct bucket *bucket, uint64_t tag, unsigned mine)
{
    for (unsigned i = 0; i < SPENT_NEIGHBOURS; i++) {
        uint64_t word = atomic_load(&bucket->places[i]);
        if (i == mine || !word_has(word, tag))
            continue;
        if ((word & PENDING) == 0 || i < mine)
            return false;
        if (!atomic_compare_exchange_strong(&bucket->places[i], &word, 0) && word_has(word, tag))
            return false; /* it was confirmed in the meantime */
    }
    return true;
}

enum spent_answer spent_take(struct spent *spent, uint64_t mark, uint32_t expires_s, uint32_t now_s)
{
    struct bucket *bucket = bucket_of(spent, mark);
    const uint64_t tag = tag_of(mark), word = word_of(mark, expires_s);
    for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
        struct found found = place_find(bucket, tag, now_s);
        const unsigned place = found.place;
        if (found.again)
            return SPENT_AGAIN;
        if (place == SPENT_NEIGHBOURS)
            return SPENT_FULL;
        if (!atomic_compare_exchange_strong(&bucket->places[place], &found.held, word | PENDING))
            continue;
        if (!atomic_load_explicit(&spent->used, memory_order_relaxed))
            atomic_store(&spent->used, true);
        crowd_note(spent, found.taken);
        uint64_t pending = word | PENDING;
        if (rivals_beaten(bucket, tag, place)) {
            if (atomic_compare_exchange_strong(&bucket->places[place], &pending, word))
                return SPENT_FRESH;
        } else {
            atomic_compare_exchange_strong(&bucket->places[place], &pending, 0);
        }
        return SPENT_AGAIN;
    }
    return SPENT_FULL;
}

bool spent_seen(const struct spent *spent, uint64_t mark)
{
    struct bucket *bucket = bucket_of(spent, mark);
    const uint64_t tag = tag_of(mark);
    for (unsigned i = 0; i < SPENT_NEIGHBOURS; i++)
        if (word_has(atomic_load_explicit(&bucket->places[i], memory_order_relaxed), tag))
            return true;
    return false;
}

uint64_t spent_crowded(const struct spent *spent)
{
    return atomic_load_explicit(&spent->crowded, memory_order_relaxed);
}

uint64_t spent_forgotten(const struct spent *spent)
{
    return atomic_load_explicit(&spent->forgotten, memory_order_relaxed);
}

void spent_give_back(struct spent *spent, uint64_t mark)
{
    struct bucket *bucket = bucket_of(spent, mark);
    const uint64_t tag = tag_of(mark);
    for (unsigned i = 0; i < SPENT_NEIGHBOURS; i++) {
        uint64_t word = atomic_load(&bucket->places[i]);
        if (word_has(word, tag) && (word & PENDING) == 0
            && atomic_compare_exchange_strong(&bucket->places[i], &word, 0))
            return;
    }
}

/* Nearly all are: with one look at the sixteen words. */
static bool bucket_is_empty(const struct bucket *bucket)
{
    uint64_t any = 0;
    for (unsigned i = 0; i < SPENT_NEIGHBOURS; i++)
        any |= atomic_load_explicit(&bucket->places[i], memory_order_relaxed);
    return any == 0;
}

uint32_t spent_sweep(struct spent *spent, uint32_t places, uint32_t now_s)
{
    const uint64_t buckets = (places + SPENT_NEIGHBOURS - 1) / SPENT_NEIGHBOURS;
    uint32_t taken = 0;
    if (!atomic_load(&spent->used))
        return 0;
    for (uint64_t i = 0; i < buckets && i <= spent->mask; i++) {
        struct bucket *bucket = &spent->buckets[spent->swept++ & spent->mask];
        if (bucket_is_empty(bucket))
            continue;
        for (unsigned at = 0; at < SPENT_NEIGHBOURS; at++) {
            uint64_t word = atomic_load(&bucket->places[at]);
            if (word != 0 && !place_is_free(word, now_s))
                taken++;
            else if (word != 0)
                atomic_compare_exchange_strong(&bucket->places[at], &word, 0);
        }
    }
    return taken;
}
