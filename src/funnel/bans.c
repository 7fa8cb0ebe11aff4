/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. Blocks of addresses either lie apart or one in the other. So they can be laid out on a line:
 * sorted by where they begin, with a stack of those that are open, they become stretches that lie side
 * by side, each with the latest end of all blocks around it. The question is then one binary search
 * for the last stretch that begins at or before the address: no chain of prefix lengths to try, and
 * nested bans of different length cost nothing. n blocks make at most 2n + 1 stretches. IPv4 has an
 * array of its own with 32-bit keys: it is what most ask.
 * Users stand in a table that is at most half full, where a secret of the set decides. */
#include "funnel/bans.h"

#include "base/hash.h"
#include "base/random.h"

#include <stdlib.h>

__extension__ typedef unsigned __int128 wide;

struct user_slot {
    user_id user; /* 0: empty */
    uint64_t until_ms;
    uint64_t sessions_s; /* sessions made up to then are over */
};
struct ban_set {
    uint32_t v4_count, v6_count; /* stretches; the first one begins at 0 */
    uint64_t user_mask;          /* slots − 1 */
    struct hash_key user_key;
    uint32_t user_count;
    uint32_t *v4_first;
    uint64_t *v4_until_ms;
    wide *v6_first;
    uint64_t *v6_until_ms;
    struct user_slot *users;
};

/* A block, or a stretch, while the set is made. */
struct range {
    wide first, last;
    uint64_t until_ms;
};
enum { NESTED_MAX = ADDRESS_BITS + 2 };
struct line {
    struct range *ranges; /* what comes out: first and until_ms count */
    uint32_t count;
    struct range open[NESTED_MAX];
    uint32_t open_count;
};

static wide address_number(const struct address *address)
{
    uint64_t high = __builtin_bswap64(bytes_get_u64(address->bytes));
    uint64_t low = __builtin_bswap64(bytes_get_u64(address->bytes + 8));
    return (wide)high << 64 | low;
}

static struct range block_range(const struct ban_entry *ban)
{
    const wide first = address_number(&ban->block.first);
    const uint32_t behind = ADDRESS_BITS - ban->block.bits;
    const wide size_less_one = behind == ADDRESS_BITS ? ~(wide)0 : ((wide)1 << behind) - 1;
    return (struct range){ first, first | size_less_one, ban->until_ms };
}

/* Those around come before those inside. */
static int range_compare(const void *left, const void *right)
{
    const struct range *a = left, *b = right;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return a->last == b->last ? 0 : a->last > b->last ? -1 : 1;
}

static void stretch_begin(struct line *line, wide first, uint64_t until_ms)
{
    struct range *last = &line->ranges[line->count - 1];
    if (last->first == first)
        last->until_ms = until_ms;
    else if (last->until_ms != until_ms)
        line->ranges[line->count++] = (struct range){ .first = first, .until_ms = until_ms };
}

static uint64_t open_until(const struct line *line)
{
    return line->open_count == 0 ? 0 : line->open[line->open_count - 1].until_ms;
}

static void block_end(struct line *line)
{
    const wide last = line->open[--line->open_count].last;
    if (last != ~(wide)0)
        stretch_begin(line, last + 1, open_until(line));
}

/* Blocks, sorted, as stretches; `out` has room for 2n + 1. */
static uint32_t ranges_lay_out(const struct range *blocks, uint32_t count, struct range *out)
{
    struct line line = { .ranges = out, .count = 1 };
    out[0] = (struct range){ .first = 0 };
    for (uint32_t i = 0; i < count; i++) {
        while (line.open_count > 0 && line.open[line.open_count - 1].last < blocks[i].first)
            block_end(&line);
        const uint64_t around_ms = open_until(&line);
        const uint64_t until_ms = blocks[i].until_ms > around_ms ? blocks[i].until_ms : around_ms;
        stretch_begin(&line, blocks[i].first, until_ms);
        struct range *top = line.open_count == 0 ? NULL : &line.open[line.open_count - 1];
        if (top != NULL && top->last == blocks[i].last) { /* the same block, or one that ends with it */
            top->until_ms = until_ms;
            continue;
        }
        invariant(line.open_count < NESTED_MAX);
        line.open[line.open_count++] = (struct range){ .last = blocks[i].last, .until_ms = until_ms };
    }
    while (line.open_count > 0)
        block_end(&line);
    invariant(line.count <= 2 * count + 1);
    return line.count;
}

static uint64_t slots_for(uint32_t users)
{
    uint64_t slots = 2;
    while (slots < 2 * (uint64_t)users)
        slots *= 2;
    return slots;
}

static void user_put(struct ban_set *set, const struct ban_entry *ban)
{
    const user_id user = ban->user;
    const uint64_t sessions_s = ban->sessions_ms / 1000;
    uint64_t at = hash_place(set->user_key, user, 0) & set->user_mask;
    while (set->users[at].user != 0 && set->users[at].user != user)
        at = (at + 1) & set->user_mask;
    set->user_count += set->users[at].user == 0;
    set->users[at].user = user;
    if (set->users[at].until_ms < ban->until_ms)
        set->users[at].until_ms = ban->until_ms;
    if (set->users[at].sessions_s < sessions_s)
        set->users[at].sessions_s = sessions_s;
}

/* What is in force, by kind. */
struct sorted {
    struct range *v4, *v6;
    uint32_t v4_count, v6_count, users;
    uint64_t next_ms;
};

/* When the ban, or what it did to sessions, is over next; 0: it is over. */
static uint64_t ban_next_ms(const struct ban_entry *ban, uint64_t now_ms)
{
    const uint64_t sessions_ms = ban->sessions_ms == 0 ? 0 : ban->sessions_ms + BAN_SESSIONS_MS;
    return ban->until_ms > now_ms ? ban->until_ms : sessions_ms > now_ms ? sessions_ms : 0;
}

static void sort_out(struct sorted *sorted, const struct ban_entry *bans, uint32_t count, uint64_t now_ms)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t next_ms = ban_next_ms(&bans[i], now_ms);
        if (next_ms == 0)
            continue;
        if (next_ms < sorted->next_ms)
            sorted->next_ms = next_ms;
        if (bans[i].kind == BAN_USER)
            sorted->users++;
        else if (address_is_v4(&bans[i].block.first))
            sorted->v4[sorted->v4_count++] = block_range(&bans[i]);
        else
            sorted->v6[sorted->v6_count++] = block_range(&bans[i]);
    }
    qsort(sorted->v4, sorted->v4_count, sizeof *sorted->v4, range_compare);
    qsort(sorted->v6, sorted->v6_count, sizeof *sorted->v6, range_compare);
}

static struct ban_set *set_allocate(uint32_t v4_count, uint32_t v6_count, uint32_t users)
{
    const uint64_t slots = slots_for(users);
    const size_t v6_bytes = v6_count * (sizeof(wide) + sizeof(uint64_t));
    const size_t v4_bytes = v4_count * (sizeof(uint32_t) + sizeof(uint64_t));
    const size_t head = (sizeof(struct ban_set) + 63) / 64 * 64;
    char *bytes = NULL;
    if (posix_memalign((void **)&bytes, 64, head + v6_bytes + slots * sizeof(struct user_slot) + v4_bytes)
        != 0)
        return NULL;
    struct ban_set *set = (struct ban_set *)bytes;
    memset(bytes, 0, head + v6_bytes + slots * sizeof(struct user_slot) + v4_bytes);
    *set = (struct ban_set){ .v4_count = v4_count, .v6_count = v6_count, .user_mask = slots - 1 };
    random_secret(&set->user_key, sizeof set->user_key);
    bytes += head; /* the widest first, so that each is aligned */
    set->v6_first = (wide *)bytes;
    set->users = (struct user_slot *)(bytes += v6_count * sizeof(wide));
    set->v6_until_ms = (uint64_t *)(bytes += slots * sizeof(struct user_slot));
    set->v4_until_ms = (uint64_t *)(bytes += v6_count * sizeof(uint64_t));
    set->v4_first = (uint32_t *)(bytes + v4_count * sizeof(uint64_t));
    return set;
}

static struct ban_set *set_fill(const struct sorted *sorted, struct range *stretches,
    const struct ban_entry *bans, uint32_t count, uint64_t now_ms)
{
    struct range *v6 = stretches + 2 * (size_t)sorted->v4_count + 1;
    const uint32_t v4_count =
        sorted->v4_count == 0 ? 0 : ranges_lay_out(sorted->v4, sorted->v4_count, stretches);
    const uint32_t v6_count =
        sorted->v6_count == 0 ? 0 : ranges_lay_out(sorted->v6, sorted->v6_count, v6);
    struct ban_set *set = set_allocate(v4_count, v6_count, sorted->users);
    if (set == NULL)
        return NULL;
    for (uint32_t i = 0; i < v4_count; i++) {
        set->v4_first[i] = (uint32_t)stretches[i].first;
        set->v4_until_ms[i] = stretches[i].until_ms;
    }
    /* There is nothing after the last IPv4 address. */
    if (v4_count > 0 && stretches[v4_count - 1].first > UINT32_MAX + ((wide)0xffff << 32))
        set->v4_count--;
    for (uint32_t i = 0; i < v6_count; i++) {
        set->v6_first[i] = v6[i].first;
        set->v6_until_ms[i] = v6[i].until_ms;
    }
    for (uint32_t i = 0; i < count; i++)
        if (bans[i].kind == BAN_USER && ban_next_ms(&bans[i], now_ms) != 0)
            user_put(set, &bans[i]);
    return set;
}

enum status ban_set_build(struct ban_set **set, const struct ban_entry *bans, uint32_t count,
    uint64_t now_ms, uint64_t *next_ms)
{
    invariant(count <= BANS_MAX);
    const size_t stretches_max = 2 * (size_t)count + 2;
    struct range *room = calloc(stretches_max + 2 * (size_t)count, sizeof *room);
    *set = NULL;
    if (room == NULL)
        return STATUS_FULL;
    struct range *blocks = room + stretches_max;
    struct sorted sorted = { .v4 = blocks, .v6 = blocks + count, .next_ms = UINT64_MAX };
    sort_out(&sorted, bans, count, now_ms);
    *next_ms = sorted.next_ms;
    if (sorted.next_ms != UINT64_MAX)
        *set = set_fill(&sorted, room, bans, count, now_ms);
    free(room);
    return sorted.next_ms == UINT64_MAX || *set != NULL ? STATUS_OK : STATUS_FULL;
}

void ban_set_free(void *set)
{
    free(set);
}

uint64_t ban_set_address_until(const struct ban_set *set, const struct address *address)
{
    uint32_t at = 0, left;
    if (__builtin_expect(address_is_v4(address), 1)) {
        const uint32_t number = __builtin_bswap32(bytes_get_u32(address->bytes + 12));
        if (set->v4_count == 0)
            return 0;
        for (left = set->v4_count; left > 1;) {
            const uint32_t half = left / 2;
            at += set->v4_first[at + half] <= number ? half : 0;
            left -= half;
        }
        return set->v4_until_ms[at];
    }
    if (set->v6_count == 0)
        return 0;
    const wide number = address_number(address);
    for (left = set->v6_count; left > 1;) {
        const uint32_t half = left / 2;
        at += set->v6_first[at + half] <= number ? half : 0;
        left -= half;
    }
    return set->v6_until_ms[at];
}

/* NULL: no ban is about this user. */
static inline const struct user_slot *user_find(const struct ban_set *set, user_id user)
{
    if (set->user_count == 0)
        return NULL;
    for (uint64_t at = hash_place(set->user_key, user, 0) & set->user_mask;
         set->users[at].user != 0; at = (at + 1) & set->user_mask)
        if (set->users[at].user == user)
            return &set->users[at];
    return NULL;
}

uint64_t ban_set_user_until(const struct ban_set *set, user_id user)
{
    const struct user_slot *slot = user_find(set, user);
    return slot == NULL ? 0 : slot->until_ms;
}

uint32_t ban_set_sessions_until_s(const struct ban_set *set, user_id user)
{
    const struct user_slot *slot = user_find(set, user);
    return slot == NULL ? 0 : (uint32_t)slot->sessions_s;
}
