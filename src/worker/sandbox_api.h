/* SPDX-License-Identifier: Apache-2.0 */
/* worker/sandbox_api.h: the sandbox's bank on the wire: its API for the provider (signed), its pay
 * page's two requests (whoever knows the id of a payment may pay it), and its callbacks.
 *
 *   POST /sandbox/v1/payments                          create      signed
 *   GET  /sandbox/v1/payments/{reference}              query       signed
 *   POST /sandbox/v1/payments/{reference}/close        close       signed
 *   POST /sandbox/v1/payments/{reference}/refund       refund      signed
 *   GET  /sandbox/v1/payments/{reference}/refund       its state   signed
 *   GET  /sandbox/v1/pay/{id}                          what the pay page shows
 *   POST /sandbox/v1/pay/{id} {"how":"pay"}            what its buttons do
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_SANDBOX_API_H
#define STAMPEDE_WORKER_SANDBOX_API_H

#include "base/span.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct job;
struct money;
struct outgoing_calls;
struct task;

struct sandbox_api;
struct sandbox_api *sandbox_api_open(struct arena *arena, const struct money *money,
    struct outgoing_calls *calls, struct task *task);
bool sandbox_api_is_on(const struct sandbox_api *api); /* the sandbox is one of the providers */
/* `path`: after /sandbox/v1. */
void sandbox_api_job(struct sandbox_api *api, struct job *job, struct span path, uint64_t now_ms);

#endif
