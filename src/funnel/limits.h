/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/limits.h: how fast is too fast, in four layers that all edges share.
 *
 * address    A token bucket for each address (address_group): `per_s`, with a burst. Kept as one
 *            time, the moment at which the bucket is full again (GCRA): an entry whose moment has
 *            passed says the same as no entry, so idle ones are reused without loss. Entries live in
 *            lines of eight. In a line full of busy ones a newcomer takes the entry of whoever used
 *            least of its burst, if that is half or less, or one request: who has asked once may ask
 *            anew, and who hammers stays known. A line full of those who hammer: newcomers share one
 *            bucket that is as fast as LIMITS_OVERFLOW_SHARE addresses.
 *            An entry knows its address by 20 bits of a keyed hash and its line: of a million
 *            addresses about eight share a bucket with another, and nobody can choose with whom.
 * user       At most `requests` in any `window_ms`. A log of the last `requests` times per user;
 *            a purchase takes the next slot in turn and is let in if the time that it finds
 *            there is a window old. What counts is every purchase that gets this far, the refused ones too:
 *            hammering keeps one out, waiting lets one in. Each slot lets in once per window at most,
 *            whatever threads do. A line of four that is full: as above.
 * item       Leaky bucket: an item's purchases reach the inventory at its pace (catalog_sale.pace_per_s).
 * admission  The same for all items together.
 * The last two let LIMITS_BURST_MS worth of purchases in at once, because edges work in turns.
 *
 * Many machines. Each gateway has buckets of its own. It notes what it has let through (limits_uses.h), the
 * gateways tell each other, and each charges its own buckets with what it hears (limits_charge): all
 * buckets of an address, an item or of admission come to say the same. What others have let through before
 * it was heard makes a bucket owe more than its burst, up to LIMITS_DEBT_MS more; so nothing is lost by
 * hearing late, and over seconds all gateways together let through what one would. The user's layer is
 * asked elsewhere (struct purchase_door).
 *
 * Time comes in as now_ms, never goes back in the server, and may differ between edges by a turn. A
 * moment that lies further ahead than it could by LIMITS_SKEW_MS is a clock that was set back: it is
 * forgotten, so that nobody waits for the old time to come again.
 *
 * Thread: any; atomics only, no locks, every loop bounded. Memory: all at create, by the
 * configuration; pages that were never used cost nothing, until limits_touch. */
#ifndef STAMPEDE_FUNNEL_LIMITS_H
#define STAMPEDE_FUNNEL_LIMITS_H

#include "base/address.h"
#include "contract/types.h"

enum {
    LIMITS_RATE_MAX = 1000000,      /* of address, item and admission, per second */
    LIMITS_BURST_MAX = 1000000,     /* of an address */
    LIMITS_REQUESTS_MAX = 60,       /* of a user in a window */
    LIMITS_WINDOW_MAX_MS = 3600000, /* of a user */
    LIMITS_OVERFLOW_SHARE = 64,
    LIMITS_PAGE_SHARE = 8,
    LIMITS_BURST_MS = 100,
    LIMITS_SKEW_MS = 60 * 1000,
    LIMITS_DEBT_MS = LIMITS_SKEW_MS / 2, /* what others have let through never looks like a clock set back */
    LIMITS_WAIT_MAX_MS = LIMITS_WINDOW_MAX_MS,
};

struct limits_rates { /* 0: that layer is off */
    uint32_t address_per_s, address_burst;
    uint32_t user_requests, user_window_ms;
    uint32_t admission_per_s;
};
struct limits_config {
    uint32_t addresses;         /* entries of 8 bytes, rounded up to a power of two, 8 at least */
    uint32_t users;             /* rows of 64 bytes (256 above 12 requests), likewise */
    uint32_t items;             /* ids below this have a pace */
    uint32_t user_requests_max; /* the most that limits_set may ask for */
    uint32_t v6_bits;           /* address_group */
    struct hash_key key;        /* made at start, secret */
    bool shared;                /* memory for what limits_join needs */
    struct limits_rates rates;
};

struct limits;
MUST_CHECK enum status limits_create(struct limits **limits, const struct limits_config *config);
void limits_free(struct limits *limits); /* accepts NULL */
size_t limits_bytes(const struct limits *limits);
/* Before a crowd comes: arena_touch of what it meets. */
void limits_touch(struct limits *limits);
/* How many addresses and users lost their place to a newcomer: the tables are too small for the crowd. */
uint64_t limits_evicted(const struct limits *limits);

/* Live, for all edges, from the next request on. What is out of bounds is brought within. Each value
 * is exchanged on its own: while this runs a request may see some new and some old ones. */
void limits_set(struct limits *limits, const struct limits_rates *rates);
void limits_get(const struct limits *limits, struct limits_rates *rates);

/* Before the threads run, of one that was created for it: other gateways have the same key, and are told
 * what is let through here. */
void limits_join(struct limits *limits, struct hash_key key);
/* What another gateway has let through. */
enum limits_layer { LIMITS_ADDRESS, LIMITS_ITEM, LIMITS_ADMISSION, LIMITS_LAYERS };
struct limits_use {
    enum limits_layer layer;
    uint64_t name; /* of an address: a keyed hash, the same at all gateways; of an item: its number; else 0 */
    uint64_t amount; /* of an address: LIMITS_PAGE_SHARE for a request, 1 for a page; else ns of its pace */
};
void limits_charge(struct limits *limits, const struct limits_use *use, uint64_t now_ms);

/* Each asks and, if it answers 0, has counted. Otherwise it is refused, and the answer is how long to
 * wait at least, in ms (1 … LIMITS_WAIT_MAX_MS). */
MUST_CHECK uint32_t limits_address(struct limits *limits, const struct address *client, uint64_t now_ms);
/* The same bucket for what costs us less than a request: LIMITS_PAGE_SHARE of it cost as much as one. */
MUST_CHECK uint32_t limits_page(struct limits *limits, const struct address *client, uint64_t now_ms);
MUST_CHECK uint32_t limits_user(struct limits *limits, user_id user, uint64_t now_ms);
MUST_CHECK uint32_t limits_item(struct limits *limits, item_id item, uint32_t pace_per_s, uint64_t now_ms);
MUST_CHECK uint32_t limits_admission(struct limits *limits, uint64_t now_ms);

#endif
