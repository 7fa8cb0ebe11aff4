/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/remote_kit.h: a shop on many machines inside of one test: "processes", each an inventory over
 * Redis (inventory/redis/remote.h) with a reader of the log on a thread of its own; one database (SQLite); a
 * keeper of partitions on a thread, which can be stopped and started again.
 * Sale 1 is partition KIT_PART, sale 2 another one. The test's thread is the host of all inventories. */
#ifndef STAMPEDE_TESTS_SEAM_REMOTE_KIT_H
#define STAMPEDE_TESTS_SEAM_REMOTE_KIT_H

#include "contract/inventory.h"
#include "contract/ticket_number.h"
#include "inventory/redis/remote.h"
#include "tests/seam/keeper_kit.h"

enum {
    KIT_PROCESSES = 2,
    KIT_PORTS = 2,
    KIT_SLOTS = 64,
    KIT_TAGS_MAX = 4096,
    KIT_NOTES_MAX = 256,
    KIT_LONG_MS = 60 * 1000,
    KIT_PART = 1 << SHARD_BITS,
};

struct kit_note {
    ticket_number ticket;
    user_id user;
};

/* What one process is, was answered, and was told. */
struct process {
    struct remote_kit *kit;
    uint64_t number;
    struct remote_config config;
    struct order_store *store;
    struct remote *remote;
    struct thread log;
    bool is_deaf;  /* process_open does not start its reader of the log */
    uint64_t tags; /* the last one that was used */
    struct outcome outcomes[KIT_TAGS_MAX];
    uint8_t answers[KIT_TAGS_MAX]; /* how many came */
    struct kit_note changed[KIT_NOTES_MAX];
    uint32_t changed_count, changes_ends;
    struct kit_note moved; /* to be told to the others; ticket 0: nothing */
};

struct remote_kit {
    struct place place;
    struct shop shop; /* its keys are those of KIT_PART */
    struct worker worker;
    struct process each[KIT_PROCESSES];
    uint64_t given_ms; /* the time of decisions */
};

/* Database and shop; nothing runs. */
void remote_kit_open(struct remote_kit *kit, const char *addresses);
void remote_kit_close(struct remote_kit *kit);
/* For a group of tests: *state is a kit whose partition is wanted. */
int remote_kit_setup(void **state, const char *addresses);
int remote_kit_teardown(void **state);
/* A keeper, and process 0 with a sale of a few units. */
struct process *remote_kit_sale_open(struct remote_kit *kit, uint32_t units);
/* A keeper, until kept_stop(&kit->worker). Answers when this many partitions are open. */
void kit_keeper_start(struct remote_kit *kit, uint64_t holder, uint32_t parts);
void kit_part_want(struct remote_kit *kit, uint32_t part);
void kit_flushall(struct remote_kit *kit); /* Redis forgets everything, the script too */

/* The settings of a process, which a test may change before process_open. */
struct process *kit_process(struct remote_kit *kit, uint32_t index);
void process_open(struct process *process);  /* and waits until it is connected */
void process_hear(struct process *process);  /* one that is deaf begins to read */
void process_close(struct process *process); /* or nothing */
/* A turn, and a millisecond of rest if there is nothing to do; answers are collected from port 0. */
void process_turn(struct process *process);
void process_rest(struct process *process); /* turns until nothing waits for an answer */

/* Port 0: asks, and answers the tag. */
uint64_t process_post(struct process *process, const struct command *command);
bool process_is_answered(struct process *process, uint64_t tag); /* after a turn */
struct outcome process_outcome(const struct process *process, uint64_t tag);
struct outcome process_ask(struct process *process, const struct command *command); /* post, and wait */

/* Turns of all processes until the condition holds. */
void kit_turn(struct remote_kit *kit);
#define KIT_UNTIL(kit, condition) \
    for (const uint64_t since_ms = kit_now_ms(); !(condition) && kit_still(since_ms, #condition);) \
    kit_turn(kit)

/* Commands of sale 1 and item 1. */
struct command kit_reserve(user_id user, uint64_t key);
void remote_kit_sale(struct process *process, uint32_t units); /* without a limit for each user */

#endif
