/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. An entry of an address is one word, tag and moment, so that taking it over from an idle
 * address, charging it and losing a race are one compare-and-exchange each; there is no moment at
 * which it belongs to nobody or to two. Its clock is 44 bits of 1/1024 ms, compared by difference:
 * an entry that was left alone for months is far in the future or in the past, and both mean idle.
 * A new address takes the first idle entry of its line. Two threads can take two entries for one
 * address only if they disagree about what is idle; whoever sees the other's entry afterwards
 * frees its own and charges the other's. A user's row (limits_user.c) works alike, with the times after its
 * name. */
#include "funnel/limits_parts.h"

enum {
    LINE_ENTRIES = 8, /* 64 bytes */
    TAG_BITS = 20,
    UNITS_PER_MS = 1024,
};
#define TIME_BITS (64 - TAG_BITS)
#define TIME_MASK ((1ull << TIME_BITS) - 1)
#define SKEW_UNITS ((int64_t)LIMITS_SKEW_MS * UNITS_PER_MS)

enum { INTERVAL_BITS = 21 };
static_assert(LIMITS_RATE_MAX <= UNITS_PER_MS * 1000, "an interval is a unit at least");
static_assert(UNITS_PER_MS * 1000 < 1 << INTERVAL_BITS, "an interval fits");
static_assert((uint64_t)LIMITS_BURST_MAX * UNITS_PER_MS * 1000 < 1ull << (TIME_BITS - 3),
    "a burst is far from half of the clock");

REFUSED(refused_address, "address");
REFUSED(refused_item, "item");
REFUSED(refused_admission, "admission");
OVERFLOW(overflow_address, "address");
EVICTED(evicted_address, "address");

/* ---- making and setting ---- */

static uint64_t power_of_two(uint64_t at_least)
{
    uint64_t size = 8;
    while (size < at_least)
        size *= 2;
    return size;
}

static uint32_t within(uint32_t value, uint32_t most)
{
    return value < most ? value : most;
}

enum status limits_create(struct limits **out, const struct limits_config *config)
{
    const uint64_t entries = power_of_two(config->addresses), rows = power_of_two(config->users);
    const uint32_t slots =
        config->user_requests_max == 0 ? 1 : within(config->user_requests_max, LIMITS_REQUESTS_MAX);
    const size_t row_bytes =
        (ROW_HEAD_BYTES + slots * sizeof(uint32_t) + ROW_BYTES - 1) / ROW_BYTES * ROW_BYTES;
    const uint64_t items = (uint64_t)config->items + 1;
    const size_t bytes = entries * sizeof(uint64_t) + rows * row_bytes + items * sizeof(uint64_t)
        + (config->shared ? limits_uses_bytes(config->items) : 0);
    struct limits *limits = *out = arena_object(sizeof *limits, bytes);
    if (limits == NULL)
        return STATUS_FULL;
    cipher_mac_make(&limits->key, (const uint8_t *)&config->key);
    static_assert(sizeof config->key == CIPHER_MAC_KEY_BYTES, "the whole key");
    limits->v6_bits = config->v6_bits;
    limits->item_count = config->items;
    limits->line_mask = entries / LINE_ENTRIES - 1;
    limits->row_mask = rows / LINE_ROWS - 1;
    limits->row_slots = slots;
    limits->row_bytes = row_bytes;
    limits->bytes = bytes;
    limits->entries = arena_take(&limits->arena, entries, sizeof *limits->entries);
    limits->rows = arena_take(&limits->arena, rows, row_bytes);
    limits->items = arena_take(&limits->arena, items, sizeof *limits->items);
    limits_set(limits, &config->rates);
    return STATUS_OK;
}

void limits_join(struct limits *limits, struct hash_key key)
{
    limits->shared_key = key;
    limits->uses = limits_uses_create(&limits->arena, limits->item_count);
}

void limits_free(struct limits *limits)
{
    arena_object_free(limits);
}

void limits_touch(struct limits *limits)
{
    arena_touch(limits->entries, (limits->line_mask + 1) * LINE_ENTRIES * sizeof *limits->entries);
    arena_touch(limits->rows, (limits->row_mask + 1) * LINE_ROWS * limits->row_bytes);
}

size_t limits_bytes(const struct limits *limits)
{
    return limits->bytes;
}

uint64_t limits_evicted(const struct limits *limits)
{
    return atomic_load_explicit(&limits->evicted, memory_order_relaxed);
}

void limits_set(struct limits *limits, const struct limits_rates *rates)
{
    const uint32_t per_s = within(rates->address_per_s, LIMITS_RATE_MAX);
    const uint32_t burst =
        rates->address_burst == 0 ? 1 : within(rates->address_burst, LIMITS_BURST_MAX);
    uint64_t rate = 0;
    if (per_s != 0) {
        const uint64_t interval = (UNITS_PER_MS * 1000ull + per_s - 1) / per_s; /* never faster */
        rate = interval * burst << INTERVAL_BITS | interval;
    }
    atomic_store_explicit(&limits->address_rate, rate, memory_order_relaxed);
    atomic_store_explicit(&limits->address_per_s, per_s, memory_order_relaxed);
    atomic_store_explicit(&limits->address_burst, burst, memory_order_relaxed);
    atomic_store_explicit(&limits->user_requests, within(rates->user_requests, limits->row_slots),
        memory_order_relaxed);
    atomic_store_explicit(&limits->user_window_ms,
        within(rates->user_window_ms, LIMITS_WINDOW_MAX_MS), memory_order_relaxed);
    atomic_store_explicit(&limits->admission_per_s, within(rates->admission_per_s, LIMITS_RATE_MAX),
        memory_order_relaxed);
}

void limits_get(const struct limits *limits, struct limits_rates *rates)
{
    *rates = (struct limits_rates){
        .address_per_s = atomic_load_explicit(&limits->address_per_s, memory_order_relaxed),
        .address_burst = atomic_load_explicit(&limits->address_burst, memory_order_relaxed),
        .user_requests = atomic_load_explicit(&limits->user_requests, memory_order_relaxed),
        .user_window_ms = atomic_load_explicit(&limits->user_window_ms, memory_order_relaxed),
        .admission_per_s = atomic_load_explicit(&limits->admission_per_s, memory_order_relaxed),
    };
}

/* ---- one bucket in ns: items, admission, overflow ---- */

static uint32_t wait_from_ns(uint64_t ns)
{
    const uint64_t ms = (ns + NS_PER_MS - 1) / NS_PER_MS;
    return ms < LIMITS_WAIT_MAX_MS ? (uint32_t)ms : LIMITS_WAIT_MAX_MS;
}

uint32_t limits_bucket_take(
    _Atomic uint64_t *bucket, uint64_t interval_ns, uint64_t burst_ns, uint64_t now_ms)
{
    const uint64_t now = now_ms * NS_PER_MS;
    uint64_t full = atomic_load_explicit(bucket, memory_order_relaxed);
    if (burst_ns < interval_ns)
        burst_ns = interval_ns;
    for (int i = 0; i < TRIES_MAX; i++) {
        uint64_t from = full > now ? full : now;
        if (from - now > burst_ns + LIMITS_SKEW_MS * NS_PER_MS)
            from = now; /* the clock was set back */
        if (from + interval_ns > now + burst_ns)
            return wait_from_ns(from + interval_ns - now - burst_ns);
        if (atomic_compare_exchange_weak_explicit(
                bucket, &full, from + interval_ns, memory_order_relaxed, memory_order_relaxed))
            return 0;
    }
    return wait_from_ns(interval_ns);
}

static uint64_t interval_ns(uint32_t per_s)
{
    return (1000 * NS_PER_MS + per_s - 1) / per_s;
}

uint32_t limits_item(struct limits *limits, item_id item, uint32_t pace_per_s, uint64_t now_ms)
{
    if (pace_per_s == 0 || item >= limits->item_count)
        return 0;
    const uint32_t pace = within(pace_per_s, LIMITS_RATE_MAX);
    const uint32_t wait_ms = limits_bucket_take(
        &limits->items[item], interval_ns(pace), LIMITS_BURST_MS * NS_PER_MS, now_ms);
    if (wait_ms != 0)
        metric_add(&refused_item, 1);
    else if (__builtin_expect(limits->uses != NULL, 0))
        uses_note_item(limits->uses, item, interval_ns(pace));
    return wait_ms;
}

uint32_t limits_admission(struct limits *limits, uint64_t now_ms)
{
    const uint32_t per_s = atomic_load_explicit(&limits->admission_per_s, memory_order_relaxed);
    if (per_s == 0)
        return 0;
    const uint32_t wait_ms = limits_bucket_take(
        &limits->admission, interval_ns(per_s), LIMITS_BURST_MS * NS_PER_MS, now_ms);
    if (wait_ms != 0)
        metric_add(&refused_admission, 1);
    else if (__builtin_expect(limits->uses != NULL, 0))
        uses_note_admission(limits->uses, interval_ns(per_s));
    return wait_ms;
}

/* ---- addresses ---- */

/* How far ahead of now the moment is, at most half of the clock. */
static inline int64_t units_ahead(uint64_t entry, uint64_t now)
{
    return (int64_t)((entry - now) << TAG_BITS) >> TAG_BITS;
}

/* Idle ones have passed, or can't be ours: a clock set back, or months of rest. */
static inline bool is_idle(int64_t ahead, int64_t burst)
{
    return ahead <= 0 || ahead > burst + SKEW_UNITS;
}

static inline uint64_t entry_of(uint64_t tag, uint64_t moment)
{
    return tag << TIME_BITS | (moment & TIME_MASK);
}

static __attribute__((noinline)) uint32_t address_overflowed(struct limits *limits, uint64_t now_ms)
{
    const uint32_t per_s = atomic_load_explicit(&limits->address_per_s, memory_order_relaxed);
    const uint64_t burst = atomic_load_explicit(&limits->address_burst, memory_order_relaxed);
    if (per_s == 0)
        return 0;
    metric_add(&overflow_address, 1);
    const uint64_t interval = (1000 * NS_PER_MS / LIMITS_OVERFLOW_SHARE + per_s - 1) / per_s;
    return limits_bucket_take(
        &limits->address_overflow, interval, interval * burst * LIMITS_OVERFLOW_SHARE, now_ms);
}

enum { PLACE_NONE = LINE_ENTRIES };
struct place {
    uint32_t index;
    uint64_t entry;
    bool known;
};

/* The entry that is worth least: of who used least of the burst. Half of it, or one request, is little. */
static __attribute__((noinline)) struct place place_evict(struct limits *limits,
    const _Atomic uint64_t *line, uint64_t now, int64_t interval, int64_t burst)
{
    struct place place = { PLACE_NONE, 0, false };
    int64_t least = burst / 2 > interval ? burst / 2 : interval;
    for (uint32_t i = 0; i < LINE_ENTRIES; i++) {
        const uint64_t entry = atomic_load_explicit(&line[i], memory_order_relaxed);
        const int64_t ahead = units_ahead(entry, now);
        if (ahead <= least) {
            least = ahead;
            place = (struct place){ i, entry, false };
        }
    }
    if (place.index != PLACE_NONE) {
        metric_add(&evicted_address, 1);
        atomic_fetch_add_explicit(&limits->evicted, 1, memory_order_relaxed);
    }
    return place;
}

/* Whether another entry of the line is our address's too, and busy. */
static bool is_there_twice(
    const _Atomic uint64_t *line, uint32_t mine, uint64_t tag, uint64_t now, int64_t burst)
{
    for (uint32_t i = 0; i < LINE_ENTRIES; i++) {
        const uint64_t entry = atomic_load(&line[i]);
        if (i != mine && entry >> TIME_BITS == tag && !is_idle(units_ahead(entry, now), burst))
            return true;
    }
    return false;
}

/* The address's entry, else the first idle one. */
static inline struct place place_find(
    const _Atomic uint64_t *line, uint64_t tag, uint64_t now, int64_t burst)
{
    struct place place = { PLACE_NONE, 0, false };
    for (uint32_t i = 0; i < LINE_ENTRIES; i++) {
        const uint64_t entry = atomic_load_explicit(&line[i], memory_order_relaxed);
        if (entry >> TIME_BITS == tag)
            return (struct place){ i, entry, true };
        if (place.index == PLACE_NONE && (entry == 0 || is_idle(units_ahead(entry, now), burst)))
            place = (struct place){ i, entry, false };
    }
    return place;
}

/* `amount`: as other gateways are told of it. */
static inline uint32_t address_take(
    struct limits *limits, uint64_t hash, uint64_t rate, uint32_t amount, uint64_t now_ms)
{
    const uint64_t now = now_ms * UNITS_PER_MS;
    const int64_t interval = (int64_t)(rate & ((1u << INTERVAL_BITS) - 1));
    const int64_t burst = (int64_t)(rate >> INTERVAL_BITS);
    uint64_t tag = hash >> TIME_BITS;
    tag += tag == 0; /* 0 is nobody's */
    _Atomic uint64_t *line = &limits->entries[(hash & limits->line_mask) * LINE_ENTRIES];
    for (int i = 0; i < TRIES_MAX; i++) {
        struct place place = place_find(line, tag, now, burst);
        if (__builtin_expect(place.index == PLACE_NONE, 0)) {
            place = place_evict(limits, line, now, interval, burst);
            if (place.index == PLACE_NONE)
                break;
        }
        int64_t ahead = units_ahead(place.entry, now);
        const bool again = place.known && ahead > -(int64_t)USES_LIFE_MS * UNITS_PER_MS;
        if (!place.known || is_idle(ahead, burst))
            ahead = 0;
        if (ahead + interval > burst)
            return (uint32_t)((ahead + interval - burst + UNITS_PER_MS - 1) / UNITS_PER_MS);
        const uint64_t charged = entry_of(tag, now + (uint64_t)(ahead + interval));
        uint64_t entry = place.entry;
        if (!atomic_compare_exchange_strong(&line[place.index], &entry, charged))
            continue;
        if (__builtin_expect(limits->uses != NULL && again, 0))
            uses_note_address(limits->uses, hash, amount);
        if (__builtin_expect(place.known, 1) || !is_there_twice(line, place.index, tag, now, burst))
            return 0;
        uint64_t mine = charged;
        if (!atomic_compare_exchange_strong(&line[place.index], &mine, 0))
            return 0; /* somebody charges this one already */
    }
    return address_overflowed(limits, now_ms);
}

/* Other gateways know the address by the same name, whatever their processors are. */
static __attribute__((noinline, cold)) uint64_t shared_name(
    const struct limits *limits, const struct address *group)
{
    return hash_siphash(limits->shared_key, group->bytes, sizeof group->bytes) & USES_NAME_MASK;
}

static inline uint32_t address_ask(struct limits *limits, const struct address *client,
    uint64_t rate, uint32_t amount, uint64_t now_ms)
{
    if (rate == 0)
        return 0;
    const struct address group = address_group(client, limits->v6_bits);
    const uint64_t name = __builtin_expect(limits->uses == NULL, 1)
        ? cipher_place(&limits->key, group.bytes)
        : shared_name(limits, &group);
    const uint32_t wait_ms = address_take(limits, name, rate, amount, now_ms);
    if (__builtin_expect(wait_ms != 0, 0))
        metric_add(&refused_address, 1);
    return wait_ms;
}

uint32_t limits_address(struct limits *limits, const struct address *client, uint64_t now_ms)
{
    return address_ask(limits, client,
        atomic_load_explicit(&limits->address_rate, memory_order_relaxed), LIMITS_PAGE_SHARE, now_ms);
}

uint32_t limits_page(struct limits *limits, const struct address *client, uint64_t now_ms)
{
    const uint64_t rate = atomic_load_explicit(&limits->address_rate, memory_order_relaxed);
    const uint64_t mask = (1u << INTERVAL_BITS) - 1;
    const uint64_t interval = (rate & mask) / LIMITS_PAGE_SHARE;
    return address_ask(
        limits, client, rate == 0 ? 0 : (rate & ~mask) | (interval > 0 ? interval : 1), 1, now_ms);
}

/* ---- what other gateways have let through ---- */

static void bucket_charge(_Atomic uint64_t *bucket, uint64_t ns, uint64_t now_ms)
{
    const uint64_t now = now_ms * NS_PER_MS, most = now + LIMITS_DEBT_MS * NS_PER_MS;
    uint64_t full = atomic_load_explicit(bucket, memory_order_relaxed);
    for (int i = 0; i < TRIES_MAX; i++) {
        const uint64_t from = full > now ? full : now;
        const uint64_t owed = ns < most - now ? from + ns : most;
        if (from >= most
            || atomic_compare_exchange_weak_explicit(bucket, &full, owed < most ? owed : most,
                memory_order_relaxed, memory_order_relaxed))
            return;
    }
}

static void address_charge(struct limits *limits, uint64_t name, uint64_t amount, uint64_t now_ms)
{
    const uint64_t rate = atomic_load_explicit(&limits->address_rate, memory_order_relaxed);
    const uint64_t now = now_ms * UNITS_PER_MS;
    const int64_t interval = (int64_t)(rate & ((1u << INTERVAL_BITS) - 1));
    const int64_t burst = (int64_t)(rate >> INTERVAL_BITS);
    const int64_t most = burst + (int64_t)LIMITS_DEBT_MS * UNITS_PER_MS;
    if (rate == 0 || amount > UINT32_MAX)
        return;
    const int64_t more = (int64_t)amount * interval / LIMITS_PAGE_SHARE;
    uint64_t tag = name >> TIME_BITS;
    tag += tag == 0;
    _Atomic uint64_t *line = &limits->entries[(name & limits->line_mask) * LINE_ENTRIES];
    for (int i = 0; i < TRIES_MAX; i++) {
        struct place place = place_find(line, tag, now, burst);
        if (place.index == PLACE_NONE)
            place = place_evict(limits, line, now, interval, burst);
        if (place.index == PLACE_NONE)
            return; /* all in the line hammer, and share one bucket here */
        int64_t ahead = units_ahead(place.entry, now);
        if (!place.known || is_idle(ahead, burst))
            ahead = 0;
        const int64_t owed = ahead + more < most ? ahead + more : most;
        const uint64_t charged = entry_of(tag, now + (uint64_t)owed);
        uint64_t entry = place.entry;
        if (owed <= ahead)
            return;
        if (!atomic_compare_exchange_strong(&line[place.index], &entry, charged))
            continue;
        if (place.known || !is_there_twice(line, place.index, tag, now, burst))
            return;
        uint64_t mine = charged;
        if (!atomic_compare_exchange_strong(&line[place.index], &mine, 0))
            return;
    }
}

void limits_charge(struct limits *limits, const struct limits_use *use, uint64_t now_ms)
{
    if (use->layer == LIMITS_ADDRESS)
        address_charge(limits, use->name, use->amount, now_ms);
    else if (use->layer == LIMITS_ADMISSION)
        bucket_charge(&limits->admission, use->amount, now_ms);
    else if (use->layer == LIMITS_ITEM && use->name < limits->item_count)
        bucket_charge(&limits->items[use->name], use->amount, now_ms);
}
