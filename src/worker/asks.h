/* SPDX-License-Identifier: Apache-2.0 */
/* worker/asks.h: commands and questions to the inventory whose durable answer the caller waits for.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_ASKS_H
#define STAMPEDE_WORKER_ASKS_H

#include "base/status.h"

enum { ASK_MS = 5000 }; /* how long an answer is waited for */

struct arena;
struct command;
struct funnel_keys;
struct inventory;
struct inventory_port;
struct job;
struct outcome;
struct wake;

struct asks;
struct asks_config {
    struct inventory *inventory;
    struct inventory_port *port; /* its own */
    struct wake *wake;           /* the client of the port */
    const struct funnel_keys *keys;
};
struct asks *asks_open(struct arena *arena, const struct asks_config *config);
/* Commands from now on are of this request of an administrator; NULL: of nobody's. */
void asks_acting(struct asks *asks, struct job *job);
/* STATUS_AWAY: it was not asked, nothing changes. STATUS_UNKNOWN: no answer within ASK_MS, it may
 * still be done. Commands that a request of an administrator causes carry its origin. */
MUST_CHECK enum status asks_ask(struct asks *asks, const struct command *command, struct outcome *outcome);

/* command_origin.c */
/* Reads job->origin of an administrator's request. */
void origin_read(const struct funnel_keys *keys, struct job *job);
/* Whom and which request a command of the job is from. */
void origin_fill(const struct funnel_keys *keys, const struct job *job, struct command *command);

#endif
