/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. An entry of an address is one word, tag and moment, so that taking it over from an idle
 * address, charging it and losing a race are one compare-and-exchange each; there is no moment at
 * which it belongs to nobody or to two. Its clock is 44 bits of 1/1024 ms, compared by difference:
 * an entry that was left alone for months is far in the future or in the past, and both mean idle.
 * A new address takes the first idle entry of its line. Two threads can take two entries for one
 * address only if they disagree about what is idle; whoever sees the other's entry afterwards
 * frees its own and charges the other's. A user's row works alike, with the times after its name.
 * */
#include "funnel/limits.h"

#include "base/arena.h"
#include "base/metrics.h"

enum {
    LINE_ENTRIES = 8, /* 64 bytes */
    LINE_ROWS = 4,
    TAG_BITS = 20,
    UNITS_PER_MS = 1024,
    TRIES_MAX = 16, /* races lost before one counts as overflow; each was somebody's progress */
    ROW_HEAD_BYTES = 16,
    ROW_BYTES = 64,
};
#define TIME_BITS (64 - TAG_BITS)
#define TIME_MASK ((1ull << TIME_BITS) - 1)
#define SKEW_UNITS ((int64_t)LIMITS_SKEW_MS * UNITS_PER_MS)
#define NS_PER_MS 1000000ull

struct user_row {
    _Atomic uint64_t user;    /* 0: free */
    _Atomic uint32_t taken;   /* slots so far */
    _Atomic uint32_t last;    /* when one was taken */
    _Atomic uint32_t times[]; /* low bits of now_ms; 0: never */
};
static_assert(sizeof(struct user_row) == ROW_HEAD_BYTES, "a row of twelve requests is one line");
static_assert(LIMITS_WINDOW_MAX_MS + LIMITS_SKEW_MS < INT32_MAX, "times are compared by difference");

struct limits {
    struct arena arena;
    struct hash_key key;
    uint32_t v6_bits;
    uint32_t item_count;
    uint64_t line_mask, row_mask;
    size_t row_bytes;
    uint32_t row_slots;
    size_t bytes;
    _Atomic uint64_t *entries; /* of addresses: tag over time; 0: free */
    char *rows;
    _Atomic uint64_t *items; /* moments, in ns */
    _Atomic uint64_t admission, address_overflow, user_overflow;
    /* What limits_set writes. The address's two are one word: they belong together. */
    alignas(64) _Atomic uint64_t address_rate; /* burst × interval, over interval, in units */
    _Atomic uint32_t address_per_s, address_burst, user_requests, user_window_ms, admission_per_s;
};
enum { INTERVAL_BITS = 21 };
static_assert(LIMITS_RATE_MAX <= UNITS_PER_MS * 1000, "an interval is a unit at least");
static_assert(UNITS_PER_MS * 1000 < 1 << INTERVAL_BITS, "an interval fits");
static_assert((uint64_t)LIMITS_BURST_MAX * UNITS_PER_MS * 1000 < 1ull << (TIME_BITS - 3),
    "a burst is far from half of the clock");

#define REFUSED(variable, layer) \
    COUNTER_OF(variable, "stampede_limits_refused_total", "layer=\"" layer "\"", \
        "Requests refused by a rate limit.")
REFUSED(refused_address, "address");
REFUSED(refused_user, "user");
REFUSED(refused_item, "item");
REFUSED(refused_admission, "admission");
#define OVERFLOW(variable, layer) \
    COUNTER_OF(variable, "stampede_limits_overflow_total", "layer=\"" layer "\"", \
        "Requests that shared a bucket because the table was full.")
OVERFLOW(overflow_address, "address");
OVERFLOW(overflow_user, "user");

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
    const size_t bytes = entries * sizeof(uint64_t) + rows * row_bytes + items * sizeof(uint64_t);
    struct limits *limits = *out = arena_object(sizeof *limits, bytes);
    if (limits == NULL)
        return STATUS_FULL;
    limits->key = config->key;
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

void limits_free(struct limits *limits)
{
    arena_object_free(limits);
}

size_t limits_bytes(const struct limits *limits)
{
    return limits->bytes;
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

/* `interval_ns` for one, `burst_ns` at once (one interval at least). */
static uint32_t bucket_take(
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
    const uint32_t wait_ms =
        bucket_take(&limits->items[item], interval_ns(pace), LIMITS_BURST_MS * NS_PER_MS, now_ms);
    if (wait_ms != 0)
        metric_add(&refused_item, 1);
    return wait_ms;
}

uint32_t limits_admission(struct limits *limits, uint64_t now_ms)
{
    const uint32_t per_s = atomic_load_explicit(&limits->admission_per_s, memory_order_relaxed);
    if (per_s == 0)
        return 0;
    const uint32_t wait_ms =
        bucket_take(&limits->admission, interval_ns(per_s), LIMITS_BURST_MS * NS_PER_MS, now_ms);
    if (wait_ms != 0)
        metric_add(&refused_admission, 1);
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
    return bucket_take(
        &limits->address_overflow, interval, interval * burst * LIMITS_OVERFLOW_SHARE, now_ms);
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

enum { PLACE_NONE = LINE_ENTRIES };
struct place {
    uint32_t index;
    uint64_t entry;
    bool known;
};

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

static inline uint32_t address_take(struct limits *limits, uint64_t hash, uint64_t rate, uint64_t now_ms)
{
    const uint64_t now = now_ms * UNITS_PER_MS;
    const int64_t interval = (int64_t)(rate & ((1u << INTERVAL_BITS) - 1));
    const int64_t burst = (int64_t)(rate >> INTERVAL_BITS);
    uint64_t tag = hash >> TIME_BITS;
    tag += tag == 0; /* 0 is nobody's */
    _Atomic uint64_t *line = &limits->entries[(hash & limits->line_mask) * LINE_ENTRIES];
    for (int i = 0; i < TRIES_MAX; i++) {
        struct place place = place_find(line, tag, now, burst);
        if (__builtin_expect(place.index == PLACE_NONE, 0))
            break;
        int64_t ahead = units_ahead(place.entry, now);
        if (!place.known || is_idle(ahead, burst))
            ahead = 0;
        if (ahead + interval > burst)
            return (uint32_t)((ahead + interval - burst + UNITS_PER_MS - 1) / UNITS_PER_MS);
        const uint64_t charged = entry_of(tag, now + (uint64_t)(ahead + interval));
        if (!atomic_compare_exchange_strong(&line[place.index], &place.entry, charged))
            continue;
        if (__builtin_expect(place.known, 1) || !is_there_twice(line, place.index, tag, now, burst))
            return 0;
        uint64_t mine = charged;
        if (!atomic_compare_exchange_strong(&line[place.index], &mine, 0))
            return 0; /* somebody charges this one already */
    }
    return address_overflowed(limits, now_ms);
}

static inline uint32_t address_ask(
    struct limits *limits, const struct address *client, uint64_t rate, uint64_t now_ms)
{
    if (rate == 0)
        return 0;
    const struct address group = address_group(client, limits->v6_bits);
    const uint32_t wait_ms = address_take(limits, address_hash(limits->key, &group), rate, now_ms);
    if (__builtin_expect(wait_ms != 0, 0))
        metric_add(&refused_address, 1);
    return wait_ms;
}

uint32_t limits_address(struct limits *limits, const struct address *client, uint64_t now_ms)
{
    return address_ask(
        limits, client, atomic_load_explicit(&limits->address_rate, memory_order_relaxed), now_ms);
}

uint32_t limits_page(struct limits *limits, const struct address *client, uint64_t now_ms)
{
    const uint64_t rate = atomic_load_explicit(&limits->address_rate, memory_order_relaxed);
    const uint64_t mask = (1u << INTERVAL_BITS) - 1;
    const uint64_t interval = (rate & mask) / LIMITS_PAGE_SHARE;
    return address_ask(
        limits, client, rate == 0 ? 0 : (rate & ~mask) | (interval > 0 ? interval : 1), now_ms);
}

/* ---- users ---- */

static struct user_row *row_at(const struct limits *limits, uint64_t line, uint32_t index)
{
    return (struct user_row *)(void *)(limits->rows + (line * LINE_ROWS + index) * limits->row_bytes);
}

/* Whether a time is one of the last `window_ms`, or just ahead. */
static bool is_recent(uint32_t time, uint32_t now, uint32_t window_ms)
{
    const int32_t age = (int32_t)(now - time);
    return time != 0 && age < (int32_t)window_ms && age > -(int32_t)LIMITS_SKEW_MS;
}

static uint32_t user_overflowed(
    struct limits *limits, uint32_t requests, uint32_t window_ms, uint64_t now_ms)
{
    const uint64_t window_ns = window_ms * NS_PER_MS;
    metric_add(&overflow_user, 1);
    return bucket_take(&limits->user_overflow, window_ns / requests / LIMITS_OVERFLOW_SHARE + 1,
        window_ns, now_ms);
}

static struct user_row *row_of(
    const struct limits *limits, uint64_t line, user_id user, const struct user_row *except)
{
    for (uint32_t i = 0; i < LINE_ROWS; i++) {
        struct user_row *row = row_at(limits, line, i);
        if (row != except && atomic_load(&row->user) == user)
            return row;
    }
    return NULL;
}

/* Takes an idle row over. All its times are a window old, so it needs no cleaning. NULL: `full`, or
 * a race was lost. */
static struct user_row *row_claim(const struct limits *limits, uint64_t line, user_id user,
    uint32_t now, uint32_t window_ms, bool *full)
{
    for (uint32_t i = 0; i < LINE_ROWS; i++) {
        struct user_row *row = row_at(limits, line, i);
        uint64_t holder = atomic_load(&row->user);
        if (holder != 0 && is_recent(atomic_load(&row->last), now, window_ms))
            continue;
        if (!atomic_compare_exchange_strong(&row->user, &holder, user))
            return NULL; /* look again: it may have been taken for this very user */
        if (row_of(limits, line, user, row) == NULL)
            return row;
        holder = user;
        (void)atomic_compare_exchange_strong(&row->user, &holder, 0); /* there is one already */
        return NULL;
    }
    *full = true;
    return NULL;
}

/* How long until the next slot in turn lets in. */
static uint32_t row_wait_ms(
    const struct user_row *row, uint32_t slot, uint32_t requests, uint32_t now, uint32_t window_ms)
{
    const uint32_t next = atomic_load(&row->times[(slot + 1) % requests]);
    const int32_t age = next == 0 ? 0 : (int32_t)(now - next);
    return age <= 0 ? window_ms : age >= (int32_t)window_ms ? 1 : window_ms - (uint32_t)age;
}

static uint32_t user_take(
    struct limits *limits, user_id user, uint32_t requests, uint32_t window_ms, uint64_t now_ms)
{
    const uint64_t line = user & limits->row_mask; /* a user is a keyed hash already */
    const uint32_t now = (uint32_t)now_ms == 0 ? 1 : (uint32_t)now_ms;
    bool full = false;
    for (int i = 0; i < TRIES_MAX && !full; i++) {
        struct user_row *row = row_of(limits, line, user, NULL);
        if (row == NULL)
            row = row_claim(limits, line, user, now, window_ms, &full);
        if (row == NULL)
            continue;
        atomic_store(&row->last, now);
        const uint32_t slot = atomic_fetch_add(&row->taken, 1);
        const uint32_t before = atomic_exchange(&row->times[slot % requests], now);
        if (atomic_load(&row->user) != user)
            continue; /* it was idle and has just been taken over */
        return is_recent(before, now, window_ms) ? row_wait_ms(row, slot, requests, now, window_ms) : 0;
    }
    return user_overflowed(limits, requests, window_ms, now_ms);
}

uint32_t limits_user(struct limits *limits, user_id user, uint64_t now_ms)
{
    const uint32_t requests = atomic_load_explicit(&limits->user_requests, memory_order_relaxed);
    const uint32_t window_ms = atomic_load_explicit(&limits->user_window_ms, memory_order_relaxed);
    if (requests == 0 || window_ms == 0)
        return 0;
    const uint32_t wait_ms = user_take(limits, user, requests, window_ms, now_ms);
    if (wait_ms != 0)
        metric_add(&refused_user, 1);
    return wait_ms;
}
