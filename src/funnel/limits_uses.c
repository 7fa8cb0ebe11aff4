/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. A slot of the table is one word: 44 bits of the address's name over 20 bits of what it has used.
 * So a note and its being taken are one exchange each; a note is told once, or forgotten as a whole. */
#include "funnel/limits_uses.h"

#include "base/arena.h"
#include "funnel/limits_parts.h"

enum {
    AMOUNT_BITS = 20,
    LINE_SLOTS = 4,
    NOTE_TRIES = 4,
    LIGHT = 2 * LIMITS_PAGE_SHARE, /* two requests: little enough to lose its slot */
    HEAVY_TIMES = 8,               /* shares that are told before those who have used one */
};
#define AMOUNT_MAX ((UINT64_C(1) << AMOUNT_BITS) - 1)

struct limits_uses {
    uint32_t items;
    uint64_t forget_ms; /* taking only: when the next half is forgotten */
    uint32_t first; /* taking only: where the next look begins, so that each slot has its turn */
    _Atomic uint64_t admission;
    _Atomic bool any_item, any_address; /* else nothing need be looked through */
    _Atomic uint64_t *item_ns;          /* by item */
    _Atomic uint64_t *slots;
};

size_t limits_uses_bytes(uint32_t items)
{
    return sizeof(struct limits_uses) + (USES_SLOTS + (size_t)items + 1) * sizeof(uint64_t) + 256;
}

struct limits_uses *limits_uses_create(struct arena *arena, uint32_t items)
{
    struct limits_uses *uses = arena_take(arena, 1, sizeof *uses);
    uses->items = items;
    uses->item_ns = arena_take(arena, (size_t)items + 1, sizeof *uses->item_ns);
    uses->slots = arena_take(arena, USES_SLOTS, sizeof *uses->slots);
    return uses;
}

/* ---- noting ---- */

static void any_set(_Atomic bool *any)
{
    if (!atomic_load_explicit(any, memory_order_relaxed))
        atomic_store(any, true);
}

/* The bits of a name that are in use, next to each other; and back. */
static uint64_t name_pack(uint64_t name)
{
    return name >> 44 << 24 | (name & 0xffffff);
}

static uint64_t name_unpack(uint64_t packed)
{
    return packed >> 24 << 44 | (packed & 0xffffff);
}

void uses_note_address(struct limits_uses *uses, uint64_t name, uint32_t amount)
{
    const uint64_t packed = name_pack(name);
    _Atomic uint64_t *line = &uses->slots[packed % (USES_SLOTS / LINE_SLOTS) * LINE_SLOTS];
    for (int tries = 0; tries < NOTE_TRIES; tries++) {
        uint32_t least = 0;
        uint64_t least_word = UINT64_MAX, word = 0;
        for (uint32_t i = 0; i < LINE_SLOTS; i++) {
            word = atomic_load_explicit(&line[i], memory_order_relaxed);
            if (word >> AMOUNT_BITS == packed && word != 0) {
                least = i;
                break;
            }
            if ((word & AMOUNT_MAX) < (least_word & AMOUNT_MAX)) {
                least = i;
                least_word = word;
            }
            word = 0;
        }
        const uint64_t used = word & AMOUNT_MAX;
        if (word == 0 && (least_word & AMOUNT_MAX) > LIGHT)
            return; /* all in the line use more */
        if (word == 0)
            word = least_word;
        const uint64_t sum = used + amount < AMOUNT_MAX ? used + amount : AMOUNT_MAX;
        if (atomic_compare_exchange_strong(&line[least], &word, packed << AMOUNT_BITS | sum)) {
            any_set(&uses->any_address);
            return;
        }
    }
}

void uses_note_item(struct limits_uses *uses, item_id item, uint64_t ns)
{
    if (item >= uses->items)
        return;
    atomic_fetch_add_explicit(&uses->item_ns[item], ns, memory_order_relaxed);
    any_set(&uses->any_item);
}

void uses_note_admission(struct limits_uses *uses, uint64_t ns)
{
    atomic_fetch_add_explicit(&uses->admission, ns, memory_order_relaxed);
}

/* ---- taking ---- */

static void half_forget(struct limits_uses *uses)
{
    bool any = false;
    atomic_store(&uses->any_address, false);
    for (uint32_t i = 0; i < USES_SLOTS; i++) {
        uint64_t word = atomic_load_explicit(&uses->slots[i], memory_order_relaxed);
        const uint64_t half = (word & AMOUNT_MAX) / 2;
        any |= word != 0;
        if (word != 0)
            (void)atomic_compare_exchange_strong(
                &uses->slots[i], &word, half == 0 ? 0 : (word & ~AMOUNT_MAX) | half);
    }
    if (any)
        atomic_store(&uses->any_address, true);
}

void uses_look_begin(struct limits *limits, struct uses_look *look, uint64_t now_ms)
{
    struct limits_uses *uses = limits->uses;
    const bool items = atomic_exchange(&uses->any_item, false);
    const bool addresses = atomic_load(&uses->any_address);
    *look = (struct uses_look){ .item = items ? 0 : uses->items,
        .slot = addresses ? 0 : USES_SLOTS,
        .pass = addresses ? 0 : 1 };
    if (!addresses || now_ms < uses->forget_ms)
        return;
    const bool due = now_ms < uses->forget_ms + USES_LIFE_MS; /* else: nobody was noted for a while */
    uses->forget_ms = now_ms + USES_LIFE_MS;
    if (due)
        half_forget(uses);
}

static bool admission_take(struct limits_uses *uses, struct limits_use *use)
{
    *use = (struct limits_use){ .layer = LIMITS_ADMISSION };
    if (atomic_load_explicit(&uses->admission, memory_order_relaxed) != 0)
        use->amount = atomic_exchange(&uses->admission, 0);
    return use->amount != 0;
}

static bool item_take(struct limits_uses *uses, struct uses_look *look, struct limits_use *use)
{
    for (; look->item < uses->items; look->item++) {
        _Atomic uint64_t *ns = &uses->item_ns[look->item];
        if (atomic_load_explicit(ns, memory_order_relaxed) == 0)
            continue;
        *use = (struct limits_use){
            .layer = LIMITS_ITEM, .name = look->item, .amount = atomic_exchange(ns, 0)
        };
        return true;
    }
    return false;
}

static uint64_t share_of(const struct limits *limits, uint32_t gateways)
{
    const uint64_t burst = atomic_load_explicit(&limits->address_burst, memory_order_relaxed);
    const uint64_t share = burst * LIMITS_PAGE_SHARE / ((uint64_t)USES_SHARE * gateways);
    return share > LIMITS_PAGE_SHARE ? share : LIMITS_PAGE_SHARE;
}

static bool address_take(
    struct limits_uses *uses, struct uses_look *look, uint64_t least, struct limits_use *use)
{
    for (; look->slot < USES_SLOTS && look->told < USES_PER_LOOK; look->slot++) {
        const uint32_t at = (uses->first + look->slot) % USES_SLOTS;
        _Atomic uint64_t *slot = &uses->slots[at];
        if ((atomic_load_explicit(slot, memory_order_relaxed) & AMOUNT_MAX) < least)
            continue;
        const uint64_t word = atomic_exchange(slot, 0);
        *use = (struct limits_use){ .layer = LIMITS_ADDRESS,
            .name = name_unpack(word >> AMOUNT_BITS),
            .amount = word & AMOUNT_MAX };
        look->told++;
        look->last = at;
        return true;
    }
    return false;
}

/* The heaviest first, then all that have used a share. */
bool uses_look_next(
    struct limits *limits, struct uses_look *look, uint32_t gateways, struct limits_use *use)
{
    struct limits_uses *uses = limits->uses;
    if (!look->admission) {
        look->admission = true;
        if (admission_take(uses, use))
            return true;
    }
    if (item_take(uses, look, use))
        return true;
    const uint64_t share = share_of(limits, gateways);
    for (; look->pass < 2; look->pass++, look->slot = 0)
        if (address_take(uses, look, look->pass == 0 ? share * HEAVY_TIMES : share, use))
            return true;
    if (look->told == USES_PER_LOOK)
        uses->first = look->last + 1;
    return false;
}
