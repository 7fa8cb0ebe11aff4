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
struct log_reader;
struct parked;
struct ports;
struct redis_subscriber;
struct remote_check;
struct replica;

struct partition {
    struct replica *replica;
    struct partition_keys keys;
    uint32_t epoch; /* `sha` is of this one; 0: none */
    char sha[SCRIPT_SHA_DIGITS + 1];
    struct call *filling;
    uint32_t in_flight; /* calls of purchases */
    bool refused;       /* its last call: the script is not there, or Redis is away */
    bool damaged;
    bool doubted;        /* its master may be another one than that which was opened */
    bool seen_open;      /* once, by this process */
    uint32_t open_epoch; /* the last one that was seen open */
    bool rests;          /* its sale is over, and nobody has it open (opening.h) */
    uint64_t fence_ms;
    bool was_equal; /* what Redis had, when it was last compared: remote_check.c */
    struct parked *first, **end;
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
    struct remote_check *check;
    enum remote_redis redis_wrong; /* of the server that spoke last */
    uint64_t now_ms, opened_ms;

    struct partition *partitions;
    uint32_t partition_count;
    struct partition **item_partition; /* by item; NULL: not preheated */
    struct partition *taking;          /* whose entry is being applied */
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

/* remote_calls.c. */
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
