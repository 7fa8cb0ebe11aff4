/* SPDX-License-Identifier: Apache-2.0 */
/* worker/command_origin.c: which request of which administrator a command comes from, so that the
 * inventory knows a repeated one and the audit row of a command names its actor. */
#include "api/job.h"
#include "base/hash.h"
#include "funnel/keys.h"
#include "worker/errands.h"

#include <stdio.h>
#include <string.h>

static uint64_t some(uint64_t hash)
{
    return hash != 0 ? hash : 1;
}

/* A key is its actor's own. */
void origin_read(const struct funnel_keys *keys, struct job *job)
{
    const struct hash_key secret = keys->idempotency;
    memset(&job->origin, 0, sizeof job->origin);
    snprintf(job->origin.actor, sizeof job->origin.actor, "%s", job->actor);
    if (job->key.size == 0)
        return;
    const user_id actor = funnel_user_id(keys, span_from_string(job->actor));
    const uint64_t body = hash_siphash(secret, job->body.data, job->body.size);
    const uint64_t path = hash_siphash(secret, job->path.data, job->path.size);
    job->origin.key = funnel_key_hash(keys, actor, job->key);
    job->origin.request = hash_siphash_pair(secret, hash_siphash_pair(secret, path, body), job->method);
}

/* A request may be several commands, each of another type or about something else. */
void origin_fill(const struct funnel_keys *keys, const struct job *job, struct command *command)
{
    const struct hash_key secret = keys->idempotency;
    if (!command_has_origin(command->type))
        return;
    command->origin = job->origin;
    if (command->origin.key == 0 || command->type == COMMAND_USERS)
        return;
    const uint64_t about = command->type == COMMAND_SALE ? command->sale.sale
        : command->type == COMMAND_GATE                  ? command->gate.sale
        : command->type == COMMAND_PREHEAT               ? command->preheat.item
        : command->type == COMMAND_ADJUST                ? command->adjust.item
                                                         : command->move.item;
    command->origin.key =
        some(hash_siphash_pair(secret, command->origin.key, (uint64_t)command->type << 32 | about));
}
