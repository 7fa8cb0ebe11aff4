/* SPDX-License-Identifier: Apache-2.0 */
/* contract/bans.h: bans of an address, a block of addresses, or a user, until a time, for a
 * reason that a person can read, by an administrator or by a rule. What is over or lifted stays in the
 * store as history.
 * Thread: the store's. Errors: as contract/order_store.h. */
#ifndef STAMPEDE_CONTRACT_BANS_H
#define STAMPEDE_CONTRACT_BANS_H

#include "base/address.h"
#include "contract/order_store.h"

enum {
    BANS_MAX = 100000, /* in force at a time */
    BAN_REASON_MAX = 200,
    BAN_MINUTES_MAX = 5 * 366 * 24 * 60,
    BAN_SESSIONS_MS = 24 * 60 * 60 * 1000, /* no session lives longer */
};
enum ban_kind { BAN_ADDRESS = 1, BAN_USER, BAN_KINDS };

struct ban {
    uint64_t id;
    uint8_t kind; /* enum ban_kind */
    struct address_block block;
    user_id user;
    char reason[BAN_REASON_MAX + 1];
    char by[NAME_BYTES_MAX + 1]; /* an administrator's name, or "rule failures" */
    uint64_t created_ms, until_ms;
    uint64_t lifted_ms;   /* 0: not lifted */
    uint64_t sessions_ms; /* of a user: sessions made up to then are over; 0: they go on */
};

/* What the set of bans in force is made of (funnel/bans.h). */
struct ban_entry {
    uint8_t kind; /* enum ban_kind */
    struct address_block block;
    user_id user;
    uint64_t until_ms;
    uint64_t sessions_ms;
};
static inline struct ban_entry ban_entry_of(const struct ban *ban)
{
    return (struct ban_entry){ ban->kind, ban->block, ban->user, ban->until_ms, ban->sessions_ms };
}

struct bans_ended {
    uint64_t count[BAN_KINDS];
    uint64_t next_ms; /* 0: none is in force */
};

struct ban_store_ops {
    /* Fills the id. How many are in force is bounded by its caller (worker/ban_list.h). */
    enum status (*insert)(struct order_store *, struct ban *);
    enum status (*get)(struct order_store *, uint64_t id, struct ban *);
    /* *lifted: it was in force until now. STATUS_NOT_FOUND: there is no such ban. */
    enum status (*lift)(struct order_store *, uint64_t id, uint64_t now_ms, bool *lifted);
    /* Rows with id > after, ascending. in_force_ms: only what is in force at that time; 0: all. */
    enum status (*list)(struct order_store *, uint64_t after, uint64_t in_force_ms, struct ban *,
        uint32_t max, uint32_t *count);
    /* Each of those in force at now_ms, and of those that are over but not lifted and ended sessions
     * less than BAN_SESSIONS_MS ago; in no order. `take` false: no further one. */
    enum status (*in_effect)(struct order_store *, uint64_t now_ms,
        bool (*take)(void *context, const struct ban *), void *context);
    /* What all those about the same user or the same block do together; both times 0: nothing. */
    enum status (*effect)(
        struct order_store *, const struct ban *about, uint64_t now_ms, struct ban_entry *);
    /* How many that were not lifted ended in (from_ms, to_ms], and when the next one does. */
    enum status (*ended)(struct order_store *, uint64_t from_ms, uint64_t to_ms, struct bans_ended *);
};

#endif
