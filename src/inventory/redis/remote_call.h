/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/remote_call.h: a call of the script, and who asked for what is in it. Private to the
 * inventory over Redis (remote_parts.h). */
#ifndef STAMPEDE_INVENTORY_REDIS_REMOTE_CALL_H
#define STAMPEDE_INVENTORY_REDIS_REMOTE_CALL_H

#include "inventory/ports.h"
#include "inventory/redis/script.h"

enum {
    CALLS_MAX = 512, /* of the script: on their way, being filled, or waiting to be tried again */
    CALLS_KEPT = 64, /* of these: not for purchases */
    CALLS_AT_ONCE = 2, /* of a partition's purchases; further ones gather, and go when a call is full */
};

/* Who asked: a port, an operator's command that goes to all shards (tag: which walk), or the levelling (tag:
 * which partition). */
enum asker_kind { ASKER_PORT, ASKER_WALK, ASKER_LEVEL };
struct asker {
    uint64_t tag;
    struct flow_units flow;
    uint32_t port;
    enum asker_kind kind;
};

struct partition;
struct remote;
/* Purchases of one partition, or one other command. */
struct call {
    struct call *next;           /* in the list of those that wait, or of the free ones */
    struct partition *partition; /* NULL: it is about none (remote_spend.c) */
    uint32_t epoch;              /* that it was sent under */
    uint32_t count;              /* of purchases; 0: `command` */
    uint64_t begun_ms, again_ms;
    bool over; /* nobody knows whether it was done: it only waits for its end */
    struct command command;
    struct command_reserve purchases[SCRIPT_PURCHASES_MAX];
    struct asker askers[SCRIPT_PURCHASES_MAX];
};

struct call *call_take(struct remote *remote, bool for_purchases); /* NULL: all are used */
/* Answers all of it, and ends it. */
void call_refuse(struct remote *remote, struct call *call, enum answer what);

#endif
