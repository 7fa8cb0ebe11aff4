/* SPDX-License-Identifier: Apache-2.0 */
/* contract/cluster_store.h: what the processes of several machines share through the order store: who does
 * what only one may do (leases), which opening of a partition counts (its epoch), and the log of each
 * partition (its journal). One machine needs none of it: partition 0 has epoch 0 and a journal of files. When
 * its shop was moved to many machines, that log goes on here, with epochs after EPOCH_MOVED.
 *
 * Leases. A process holds a lease until a time of the database's own clock, and prolongs it before. A
 * process that was stopped for longer may believe that it still holds it. So a lease only spares work that
 * is done twice; what must not happen twice is fenced.
 * The fence. A partition's records are kept only under its present epoch, and only behind the last one that
 * is kept. Whoever comes with an older epoch is told so, and nothing is written.
 *
 * Thread, errors: as the order store (order_store.h). */
#ifndef STAMPEDE_CONTRACT_CLUSTER_STORE_H
#define STAMPEDE_CONTRACT_CLUSTER_STORE_H

#include "contract/journal_entry.h"
#include "contract/order_store.h"

enum { LEASE_NAME_MAX = 40 };
#define LEASE_LEADER "leader"
#define LEASE_PART "part %u" /* of a partition, for printf */

struct lease {
    uint64_t holder;   /* the number of a process; 0: nobody */
    uint64_t token;    /* grows whenever somebody else gets it */
    uint64_t until_ms; /* by the database's clock */
    uint64_t now_ms;   /* which says this now */
};

struct part_state {
    uint32_t part;
    uint32_t epoch; /* 0: it was never opened */
    uint64_t seq;   /* the last record that is kept */
    uint32_t shards; /* of its sale, the same in all its partitions, always; 0: this one is not there */
    /* Partition 0 of a shop that was moved to many machines: sales up to this number are its own, each with
     * one shard. Later ones have partitions of their own, and elsewhere it is 0. */
    uint32_t sales;
};

enum shop_moving {
    SHOP_STAYS,
    SHOP_COMES,  /* it is being moved into this database */
    SHOP_LEAVES, /* it is being moved to one machine */
    SHOP_LEFT,   /* it has been */
};

/* A switch that an operator has turned (funnel/switches.h). On many machines it is kept, and all processes
 * follow. */
enum { SWITCH_NAME_MAX = 40 };
struct switch_row {
    char name[SWITCH_NAME_MAX + 1];
    item_id item; /* 0: it is about none */
    uint32_t value;
};

/* A process of a shop on many machines, as it tells of itself each MEMBER_BEAT_MS (worker/members.h). */
enum {
    MEMBER_ROLE_MAX = 7,
    MEMBER_NAME_MAX = 79,
    MEMBER_VERSION_MAX = 31,
    MEMBER_CHANNELS_MAX = 255,
    MEMBERS_MAX = 256, /* that one look reads */
    MEMBER_BEAT_MS = 1000,
    MEMBER_LIVE_MS = 10 * 1000,   /* who was not heard for so long does not count */
    MEMBER_FORGET_MS = 60 * 1000, /* and is removed after this */
};
struct member {
    uint64_t process; /* its number, not 0 */
    char role[MEMBER_ROLE_MAX + 1];
    char name[MEMBER_NAME_MAX + 1];         /* machine:port, for people */
    char version[MEMBER_VERSION_MAX + 1];   /* of its program */
    char channels[MEMBER_CHANNELS_MAX + 1]; /* channels.names */
    uint64_t settings;                      /* a hash of those that must agree (config/agreed.h) */
    uint64_t clock_ms;                      /* its own clock, when it was heard */
    uint64_t seen_ms;                       /* when it was heard, by the database's clock */
};

static inline bool member_is_live(const struct member *member, uint64_t database_ms)
{
    return member->seen_ms + MEMBER_LIVE_MS > database_ms;
}

/* A part of the order store's operations; NULL where a store has none of it. */
struct cluster_store_ops {
    /* The database's clock, ms since 1970. */
    enum status (*now)(struct order_store *, uint64_t *now_ms);

    /* The number of the last row of the audit trail; 0: it is empty. It grows with each operator's change. */
    enum status (*audit_last)(struct order_store *, uint64_t *id);

    /* Takes the lease if nobody holds it or its time is over; prolongs it if `holder` does. `ms`: for how
     * long from now. STATUS_CONFLICT: somebody else has it, and *lease tells who and until when. */
    enum status (*lease_take)(
        struct order_store *, const char *name, uint64_t holder, uint32_t ms, struct lease *);
    /* Gives it back, so that others need not wait; nothing if `holder` does not have it. */
    enum status (*lease_give)(struct order_store *, const char *name, uint64_t holder);
    /* What it is now, without taking it; nobody has one that was never taken. */
    enum status (*lease_look)(struct order_store *, const char *name, struct lease *);

    /* Part of an administrator's transaction (admin_store.h), or one of its own. An item's switch that is 0
     * has no row; others keep theirs. */
    enum status (*switch_set)(struct order_store *, const struct switch_row *);
    /* By name and item. */
    enum status (*switch_list)(struct order_store *, struct switch_row *, uint32_t max, uint32_t *count);

    /* The row of a process: made, or renewed. STATUS_BAD_INPUT: it has no number. */
    enum status (*member_set)(struct order_store *, const struct member *);
    /* By number. */
    enum status (*member_list)(struct order_store *, struct member *, uint32_t max, uint32_t *count);
    enum status (*member_remove)(struct order_store *, uint64_t process); /* nothing if there is none */
    enum status (*members_forget)(struct order_store *, uint64_t before_ms); /* seen before this */

    /* Whether this connection may write, by a statement that changes nothing; `what`: what the database says
     * if not. */
    enum status (*write_check)(struct order_store *, char *what, size_t what_bytes);

    /* Whether the shop moves (store/moving.h). Unless it stays, nobody may serve it. */
    enum status (*moving)(struct order_store *, enum shop_moving *);

    enum status (*part)(struct order_store *, uint32_t part, struct part_state *);
    /* Those with this number or a higher one, in their order; partition 0 only if it has sales. */
    enum status (*parts)(
        struct order_store *, uint32_t from, struct part_state *, uint32_t max, uint32_t *count);
    /* It is needed. If its sale has no partitions yet, all of them are made at one moment, one for each of
     * its shards (struct sale), and workers will open them; later edits of the sale make no further ones. A
     * sale that the database does not have gets this partition only, and one that was archived none.
     * STATUS_BAD_INPUT: partition 0. */
    enum status (*part_want)(struct order_store *, uint32_t part);
    /* The partition is opened anew: its epoch becomes from + 1. STATUS_CONFLICT: it is not `from` (any more).
     * STATUS_BAD_INPUT: partition 0 of one machine, or no epoch is left. STATUS_NOT_FOUND: its sale has fewer
     * shards. */
    enum status (*epoch_raise)(struct order_store *, uint32_t part, uint32_t from);

    /* What `apply` does, and keeps the entry of these records in the same transaction. STATUS_CONFLICT: the
     * partition has another epoch, or another entry in the place of this one, and nothing is written. If this
     * entry is in already, nothing is changed; an entry that is in only by a part is STATUS_CORRUPT, as a gap
     * is. */
    enum status (*apply)(struct order_store *, const struct journal_entry *,
        const struct queue_record *, const uint8_t *dispositions, uint32_t count, struct refusal *);
    /* The entry with the lowest number above `after`. Its bytes are copied to `buffer` of
     * JOURNAL_ENTRY_BYTES_MAX bytes. STATUS_NOT_FOUND: there is none. */
    enum status (*journal_next)(struct order_store *, uint32_t part, uint64_t after,
        struct journal_entry *, uint8_t *buffer);
};

#endif
