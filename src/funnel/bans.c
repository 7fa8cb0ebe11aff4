/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. One table with open addressing, at most three quarters full: a row for each user and each
 * block that was banned. A user is one probe. An address is one probe for each length of block that
 * is in the set: its first bits of that length are looked for. Lengths are few (/32 and /24, /64 and
 * /128), and a bit for each of them tells which to try. A secret of the set decides where a row is.
 * Prints of the rows stand in an array of their own, small enough for the cache: whoever is not banned is
 * seldom compared with a row.
 * The writer fills a row before its print makes it visible, and then changes only its times. A row is never
 * taken away: one that holds nobody any more has until_ms 0, and is left out of the next larger set. So
 * the next ban costs the same whatever the number, and readers need neither lock nor retry. */
#include "funnel/bans.h"

#include "base/hash.h"
#include "base/random.h"

#include <stdatomic.h>
#include <stdlib.h>

enum {
    SLOTS_LEAST = 128,
    V4_LENGTHS = ADDRESS_BITS - ADDRESS_V4_BITS + 1,
    LENGTH_WORDS = ADDRESS_BITS / 64 + 1,
    TAG_USER = 1,
    TAG_BLOCK = 2, /* + its bits */
};

struct slot {
    uint32_t tag;
    _Atomic uint32_t sessions_s; /* sessions made up to then are over */
    _Atomic uint64_t until_ms;
    uint64_t high, low; /* a block's first address; low: a user */
};
static_assert(sizeof(struct slot) == 32, "two of them in a line of the cache");
struct ban_set {
    uint64_t mask; /* slots − 1 */
    struct hash_key key;
    uint64_t used;               /* the writer's */
    _Atomic uint64_t v4_lengths; /* a bit for each length that is in use: 0 … 32 */
    _Atomic uint64_t v6_lengths[LENGTH_WORDS];
    _Atomic uint32_t *prints; /* of the rows: part of the hash; 0: empty */
    struct slot slots[];
};
static_assert(V4_LENGTHS <= 64, "they are bits of a word");

/* Whom a row is about. */
struct whom {
    uint32_t tag;
    uint64_t high, low;
};

static struct whom block_whom(uint64_t high, uint64_t low, uint32_t bits)
{
    high = bits >= 64 ? high : bits == 0 ? 0 : high & ~UINT64_C(0) << (64 - bits);
    low = bits <= 64 ? 0 : low & ~UINT64_C(0) << (ADDRESS_BITS - bits);
    return (struct whom){ TAG_BLOCK + bits, high, low };
}

static uint64_t address_high(const struct address *address)
{
    return __builtin_bswap64(bytes_get_u64(address->bytes));
}

static uint64_t address_low(const struct address *address)
{
    return __builtin_bswap64(bytes_get_u64(address->bytes + 8));
}

static struct whom ban_whom(const struct ban_entry *ban)
{
    const struct address *first = &ban->block.first;
    if (ban->kind == BAN_USER)
        return (struct whom){ TAG_USER, 0, ban->user };
    return block_whom(address_high(first), address_low(first), ban->block.bits);
}

static inline uint32_t print_of(uint64_t hash)
{
    return (uint32_t)(hash >> 32) | 1;
}

/* Where its row is, or the empty one where it belongs. */
static inline uint64_t slot_find(const struct ban_set *set, const struct whom *whom, bool *found)
{
    const uint64_t hash = hash_place(set->key, whom->low, whom->high + whom->tag);
    for (uint64_t at = hash & set->mask;; at = (at + 1) & set->mask) {
        const uint32_t print = atomic_load_explicit(&set->prints[at], memory_order_acquire);
        const struct slot *slot = &set->slots[at];
        *found = print == print_of(hash) && slot->tag == whom->tag && slot->low == whom->low
            && slot->high == whom->high;
        if (*found || print == 0)
            return at;
    }
}

/* ---- the writer ---- */

static struct ban_set *set_create(uint64_t bans)
{
    uint64_t slots = SLOTS_LEAST;
    while (slots < 2 * bans) /* half as many again make it three quarters full */
        slots *= 2;
    struct ban_set *set = calloc(1, sizeof *set + slots * (sizeof(struct slot) + sizeof *set->prints));
    if (set == NULL)
        return NULL;
    set->mask = slots - 1;
    set->prints = (_Atomic uint32_t *)(void *)(set->slots + slots);
    random_secret(&set->key, sizeof set->key);
    return set;
}

static void length_note(struct ban_set *set, const struct ban_entry *ban)
{
    const uint32_t bits = ban->block.bits;
    if (ban->kind == BAN_USER)
        return;
    if (address_is_v4(&ban->block.first) && bits >= ADDRESS_V4_BITS)
        atomic_fetch_or_explicit(
            &set->v4_lengths, UINT64_C(1) << (bits - ADDRESS_V4_BITS), memory_order_release);
    else
        atomic_fetch_or_explicit(
            &set->v6_lengths[bits / 64], UINT64_C(1) << bits % 64, memory_order_release);
}

/* The row of a ban, made if there was none; NULL: there is no room. */
static struct slot *slot_take(struct ban_set *set, const struct ban_entry *ban)
{
    const struct whom whom = ban_whom(ban);
    bool found;
    const uint64_t at = slot_find(set, &whom, &found);
    struct slot *slot = &set->slots[at];
    if (found)
        return slot;
    if (4 * (set->used + 1) > 3 * (set->mask + 1))
        return NULL;
    set->used++;
    slot->tag = whom.tag;
    slot->high = whom.high;
    slot->low = whom.low;
    atomic_store_explicit(&set->prints[at],
        print_of(hash_place(set->key, whom.low, whom.high + whom.tag)), memory_order_release);
    length_note(set, ban);
    return slot;
}

bool ban_set_put(struct ban_set *set, const struct ban_entry *ban)
{
    struct slot *slot = slot_take(set, ban);
    if (slot == NULL)
        return false;
    atomic_store_explicit(&slot->sessions_s, (uint32_t)(ban->sessions_ms / 1000), memory_order_relaxed);
    atomic_store_explicit(&slot->until_ms, ban->until_ms, memory_order_relaxed);
    return true;
}

/* Whether the ban holds, or sessions that it ended could still be shown. */
static bool ban_matters(uint64_t until_ms, uint64_t sessions_ms, uint64_t now_ms)
{
    return until_ms > now_ms || (sessions_ms != 0 && sessions_ms + BAN_SESSIONS_MS > now_ms);
}

static void longest_put(struct ban_set *set, const struct ban_entry *ban)
{
    struct slot *slot = slot_take(set, ban);
    const uint32_t sessions_s = (uint32_t)(ban->sessions_ms / 1000);
    invariant(slot != NULL);
    if (atomic_load_explicit(&slot->until_ms, memory_order_relaxed) < ban->until_ms)
        atomic_store_explicit(&slot->until_ms, ban->until_ms, memory_order_relaxed);
    if (atomic_load_explicit(&slot->sessions_s, memory_order_relaxed) < sessions_s)
        atomic_store_explicit(&slot->sessions_s, sessions_s, memory_order_relaxed);
}

enum status ban_set_build(
    struct ban_set **set, const struct ban_entry *bans, uint32_t count, uint64_t now_ms)
{
    uint64_t matter = 0;
    *set = NULL;
    for (uint32_t i = 0; i < count; i++)
        matter += ban_matters(bans[i].until_ms, bans[i].sessions_ms, now_ms);
    if (matter == 0)
        return STATUS_OK;
    *set = set_create(matter);
    if (*set == NULL)
        return STATUS_FULL;
    for (uint32_t i = 0; i < count; i++)
        if (ban_matters(bans[i].until_ms, bans[i].sessions_ms, now_ms))
            longest_put(*set, &bans[i]);
    return STATUS_OK;
}

static struct ban_entry slot_ban(const struct slot *slot)
{
    const uint32_t tag = slot->tag;
    struct ban_entry ban = { .kind = tag == TAG_USER ? BAN_USER : BAN_ADDRESS,
        .until_ms = atomic_load_explicit(&slot->until_ms, memory_order_relaxed),
        .sessions_ms = 1000 * (uint64_t)atomic_load_explicit(&slot->sessions_s, memory_order_relaxed) };
    if (tag == TAG_USER) {
        ban.user = slot->low;
        return ban;
    }
    const uint64_t bytes[] = { __builtin_bswap64(slot->high), __builtin_bswap64(slot->low) };
    memcpy(ban.block.first.bytes, bytes, sizeof ban.block.first.bytes);
    ban.block.bits = (uint8_t)(tag - TAG_BLOCK);
    return ban;
}

/* How many rows of a set matter; into `copy`, if it is not NULL. */
static uint64_t set_copy(const struct ban_set *set, struct ban_set *copy, uint64_t now_ms)
{
    uint64_t matter = 0;
    for (uint64_t at = 0; at <= set->mask; at++) {
        const struct ban_entry ban = slot_ban(&set->slots[at]);
        if (set->slots[at].tag == 0 || !ban_matters(ban.until_ms, ban.sessions_ms, now_ms))
            continue;
        matter++;
        if (copy != NULL)
            longest_put(copy, &ban);
    }
    return matter;
}

struct ban_set *ban_set_grown(const struct ban_set *set, uint64_t now_ms)
{
    struct ban_set *copy = set_create(set == NULL ? 0 : set_copy(set, NULL, now_ms));
    if (set != NULL && copy != NULL)
        (void)set_copy(set, copy, now_ms);
    return copy;
}

void ban_set_free(void *set)
{
    free(set);
}

/* ---- readers ---- */

static inline uint64_t block_until(const struct ban_set *set, uint64_t high, uint64_t low, uint32_t bits)
{
    const struct whom whom = block_whom(high, low, bits);
    bool found;
    const uint64_t at = slot_find(set, &whom, &found);
    return found ? atomic_load_explicit(&set->slots[at].until_ms, memory_order_relaxed) : 0;
}

/* The longest of the blocks whose lengths are bits of `lengths`, counted from `first`. */
static inline uint64_t lengths_until(
    const struct ban_set *set, const struct address *address, uint64_t lengths, uint32_t first)
{
    const uint64_t high = address_high(address), low = address_low(address);
    uint64_t longest_ms = 0;
    for (; lengths != 0; lengths &= lengths - 1) {
        const uint64_t until_ms =
            block_until(set, high, low, first + (uint32_t)__builtin_ctzll(lengths));
        longest_ms = until_ms > longest_ms ? until_ms : longest_ms;
    }
    return longest_ms;
}

uint64_t ban_set_address_until(const struct ban_set *set, const struct address *address)
{
    uint64_t longest_ms = 0;
    if (__builtin_expect(address_is_v4(address), 1))
        return lengths_until(set, address,
            atomic_load_explicit(&set->v4_lengths, memory_order_acquire), ADDRESS_V4_BITS);
    for (uint32_t i = 0; i < LENGTH_WORDS; i++) {
        const uint64_t until_ms = lengths_until(
            set, address, atomic_load_explicit(&set->v6_lengths[i], memory_order_acquire), 64 * i);
        longest_ms = until_ms > longest_ms ? until_ms : longest_ms;
    }
    return longest_ms;
}

/* NULL: no ban is about this user. */
static inline const struct slot *user_find(const struct ban_set *set, user_id user)
{
    const struct whom whom = { TAG_USER, 0, user };
    bool found;
    const uint64_t at = slot_find(set, &whom, &found);
    return found ? &set->slots[at] : NULL;
}

uint64_t ban_set_user_until(const struct ban_set *set, user_id user)
{
    const struct slot *slot = user_find(set, user);
    return slot == NULL ? 0 : atomic_load_explicit(&slot->until_ms, memory_order_relaxed);
}

uint32_t ban_set_sessions_until_s(const struct ban_set *set, user_id user)
{
    const struct slot *slot = user_find(set, user);
    return slot == NULL ? 0 : atomic_load_explicit(&slot->sessions_s, memory_order_relaxed);
}
