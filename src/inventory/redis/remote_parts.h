/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/remote_parts.h: what the inventory on many machines consists of. Private to
 *   remote.c         the turns
 *   remote_calls.c   requests and calls of the script (remote_call.h)
 *   remote_parked.c  answers that wait for the database (remote_parked.h)
 *   remote_spend.c   what may be used once, over all gateways
 *   remote_fence.c   is the master the one that was opened?
 *   remote_check.c   does Redis have what the log says?
 *   remote_notes.c   what processes tell each other
 *   remote_open.c    opening, and the partitions that are followed
 *   remote_shards.c  the shards of a sale: who is at home where, and what they have together
 *   remote_walk.c    operators' commands, which go from shard to shard
 *   remote_level.c   units that travel between shards
 *   remote_view.c    the inventory as the seam names it */
#ifndef STAMPEDE_INVENTORY_REDIS_REMOTE_PARTS_H
#define STAMPEDE_INVENTORY_REDIS_REMOTE_PARTS_H

#include "contract/inventory.h"
#include "inventory/redis/keys.h"
#include "inventory/redis/remote.h"

enum {
    NOTE_TAG = 1 << 20,   /* of messages, whose answers nobody looks at */
    FENCE_TAG = 1 << 21,  /* and the number of a partition: remote_fence.c */
    CHECK_TAG = 1 << 22,  /* remote_check.c; there is one at a time */
    REST_TAG = 1 << 23,   /* as FENCE_TAG */
    AGAIN_MS = 40,        /* until an operator's command is tried again */
    NOT_KNOWN_MS = 6000,  /* whoever asked has given up by then (ASK_MS of worker/errands.h) */
    DRAIN_PER_PORT = 256, /* requests taken from one port before the next has its turn */
};

#define REMOTE_PROPOSED "proposed" /* the message of that channel */

struct asker;
struct call;
struct level;
struct walk;
struct log_reader;
struct parked;
struct ports;
struct redis_subscriber;
struct remote_check;
struct replica;

/* Somebody asked for more units of a pool than its shard has, while others have some. */
struct shortage {
    uint32_t part;
    item_id item;
    uint32_t quantity;
    channel_index channel;
    uint64_t at_ms;
};

struct part_state;
struct partition {
    struct replica *replica;
    struct partition_keys keys;
    uint32_t epoch; /* `sha` is of this one; 0: none */
    char sha[SCRIPT_SHA_DIGITS + 1];
    struct call *filling;
    uint32_t in_flight; /* calls of purchases */
    bool refused;       /* its last call: the script is not there, or Redis is away */
    bool damaged;
    bool doubted;                  /* its master may be another one than that which was opened, */
    bool seen_open;                /* once, by this process */
    bool level_asked;              /* a transfer was asked for, and is not kept yet */
    struct shortage told;          /* the last one that was published, and when */
    uint64_t doubted_ms, fence_ms; /* since then; the next look */
    uint64_t units;                /* of its items, when they were counted last */
    uint32_t open_epoch;           /* the last one that was seen open */
    bool rests;                    /* its sale is over, and nobody has it open (opening.h) */
    bool was_equal;                /* what Redis had, when it was last compared (remote_check.c) */
    struct parked *first, **end;
};

/* The partitions of a sale. */
struct shards {
    uint32_t count;                     /* that there are; 0: the sale has no partition yet */
    struct partition *list[SHARDS_MAX]; /* NULL: not followed (yet) */
};

struct remote {
    struct inventory inventory; /* first: an inventory is this */
    struct remote_config config;
    struct arena arena;
    struct board board;
    struct ports *ports;
    struct wake wake;
    _Atomic bool stop;
    struct log_reader *reader;
    struct redis_client *client;
    struct redis_subscriber *subscriber;
    enum remote_redis redis_wrong; /* of the worst one (remote_fence.c) */
    int64_t redis_apart_ms;
    uint64_t judged_ms; /* when these were looked at */
    struct remote_check *check;
    uint64_t now_ms, opened_ms;

    struct partition *partitions;
    uint32_t partition_count;
    struct shards *sales;     /* by sale */
    sale_id *item_sale;       /* by item; 0: not preheated */
    struct partition *taking; /* whose entry is being applied */
    struct walk *walks;
    uint32_t walks_used;
    struct level *level; /* NULL: this process never levels */
    _Atomic(struct replica *) *by_sale;

    struct call *calls, *free_calls;
    uint32_t calls_used;
    struct call *waiting, **waiting_end; /* calls that are tried again */
    struct parked *free_parked;
    uint64_t parked_count;
    uint64_t parked_look_ms;
    bool changed;   /* something was told to config.changed in this turn */
    char notes[64]; /* the channel about orders that were moved */
    char news[64];  /* the channel for what processes tell each other besides */
    uint64_t news_ms;

    pthread_mutex_t health_lock;
    struct remote_health health;
};

/* remote_view.c. */
extern const struct inventory_ops remote_ops;

/* remote_open.c. */
struct partition *remote_partition(struct remote *remote, uint32_t part); /* NULL: not followed */
/* What the log reader has brought is applied, and what waited for it is answered. */
MUST_CHECK enum status remote_log_take(struct remote *remote);

/* remote_shards.c. */
/* A partition that is followed: whose sales it has, and how many shards they have. */
void remote_shards_note(
    struct remote *remote, struct partition *partition, const struct part_state *state);
struct shards *remote_shards(struct remote *remote, sale_id sale); /* NULL: no such sale */
/* Those of the sale that a command is about; NULL: it is about none that is known here. */
struct shards *remote_shards_of(struct remote *remote, const struct command *command);
/* Where a command is decided; NULL: nobody follows it. Not for operators' commands of several shards. */
struct partition *remote_partition_of(struct remote *remote, const struct command *command);
/* Whether it goes to all shards of its sale. */
bool command_is_for_all(const struct command *command);
/* Units of a pool that are on their way to `to`, or to any shard (NULL). */
uint32_t shards_in_transit(
    const struct shards *shards, const struct partition *to, item_id item, channel_index channel);
/* Its shard has too few units for a purchase, but others have some, or they are on their way. */
bool purchase_is_short(struct remote *remote, const struct partition *home,
    const struct command_reserve *purchase, const struct outcome *outcome);
/* Whoever waits for units is served where they come back, if at home there. Else the units go to the line of
 * their shard, from where they are offered (orders/waitlist.h). */
void shards_settle(const struct shards *shards, uint32_t part, struct command_settle *settle);
void remote_item_show(void *context, item_id item, uint64_t at_ms); /* the remote; replica_config.show */

/* remote_walk.c. */
size_t remote_walks_bytes(void);
void remote_walks_create(struct remote *remote);
/* False: there is no place for it now. */
bool remote_walk_begin(struct remote *remote, const struct asker *asker, const struct command *command);
void remote_walks_send(struct remote *remote);
void remote_walk_answered(struct remote *remote, uint64_t index, const struct outcome *outcome);

/* remote_level.c. */
size_t remote_level_bytes(const struct remote_config *config);
void remote_level_create(struct remote *remote);
void remote_level_item(struct remote *remote, item_id item); /* its units should be looked at */
void remote_level_turn(struct remote *remote);
void remote_level_answered(struct remote *remote, uint64_t partition);
/* A purchase found its shard empty while others are not: whoever levels is told. */
void remote_short_tell(
    struct remote *remote, struct partition *partition, const struct command_reserve *purchase);
/* A message of that kind; false: it is another one. */
bool remote_short_heard(struct remote *remote, struct span message);

/* remote_calls.c. */
/* Asks the script; false: there is no place for it now. */
bool remote_command(struct remote *remote, struct partition *partition, const struct asker *asker,
    const struct command *command);
/* False: there is no place for it now, and it has to wait in its ring. */
bool remote_request(struct remote *remote, uint32_t port, const struct inventory_request *request);
void remote_calls_send(struct remote *remote); /* what has gathered, and what is tried again */
void remote_answered(void *self, uint64_t tag, enum redis_answer answer, const struct redis_value *value);
void remote_answer(struct remote *remote, const struct asker *asker, const struct outcome *outcome);

/* remote_spend.c: COMMAND_ASK_SPEND. False: there is no place for it now. */
bool remote_spend(struct remote *remote, const struct asker *asker, const struct command *command);
void remote_spend_answered(struct remote *remote, struct call *call, enum redis_answer answer,
    const struct redis_value *value);

/* remote_fence.c. */
void remote_fence_send(struct remote *remote);
void remote_doubt(struct remote *remote, struct partition *partition);
void remote_informed(void *self, const struct redis_node *node, const struct redis_info *info);
void remote_fence_answered(struct remote *remote, uint32_t index, const struct redis_value *value);
void remote_rest_answered(struct remote *remote, uint32_t index, const struct redis_value *value);

/* remote_check.c. */
MUST_CHECK enum status remote_check_open(struct remote *remote); /* STATUS_FULL: no memory */
void remote_check_close(struct remote_check *check);             /* accepts NULL */
struct part_checks *remote_checks(struct remote_check *check);
void remote_check_turn(struct remote *remote);
uint64_t remote_check_due(const struct remote *remote);
void remote_check_answered(
    struct remote *remote, enum redis_answer answer, const struct redis_value *value);
/* The record that was waited for is applied: a part of its entry is not, perhaps. */
void remote_check_reached(struct remote *remote, uint64_t time_ms);

/* remote_notes.c. */
MUST_CHECK enum status remote_notes_open(struct remote *remote); /* the channel is followed */
void remote_notes_send(struct remote *remote);                   /* what this process has moved */
void remote_news_send(struct remote *remote);                    /* what it tells besides */
uint64_t remote_news_due(const struct remote *remote);
/* A message of that channel; false: it is of another one. And: messages may have been missed. */
bool remote_note_heard(struct remote *remote, struct span channel, struct span message);
bool remote_notes_missed(struct remote *remote, struct span channel);
void remote_changed(struct remote *remote, ticket_number ticket, user_id user);

#endif
