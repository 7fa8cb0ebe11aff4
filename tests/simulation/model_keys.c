/* SPDX-License-Identifier: Apache-2.0 */
/* Admin commands with a key: one key, one outcome, whatever the client that asks again has heard. */
#include "tests/simulation/model.h"
#include "tests/simulation/trace.h"

#include <inttypes.h>
#include <stddef.h>

static bool has_key(const struct command *command)
{
    return command_has_origin(command->type) && command->type != COMMAND_USERS
        && command->origin.key != 0;
}

/* The record that had this key first; NULL: none yet. */
static const struct queue_record *key_record(const struct model *model, uint64_t key)
{
    for (lsn_t lsn = 1; lsn <= model->lsn; lsn++)
        if (has_key(&model->log[lsn].command) && model->log[lsn].command.origin.key == key)
            return &model->log[lsn];
    return NULL;
}

bool model_expect_key(const struct model *model, const struct command *command, struct outcome *outcome)
{
    const struct queue_record *first = has_key(command) ? key_record(model, command->origin.key) : NULL;
    if (first == NULL)
        return false;
    if (first->command.origin.request != command->origin.request) {
        outcome->answer = ANSWER_KEY_REUSED;
        return true;
    }
    *outcome = first->outcome;
    outcome->changed = false;
    outcome->repeated = true;
    return true;
}

void model_told_key(
    const struct model *model, const struct model_request *request, const struct outcome *told)
{
    if (!told->repeated)
        return;
    const struct queue_record *first =
        has_key(&request->command) ? key_record(model, request->command.origin.key) : NULL;
    if (first == NULL)
        violation("I6 durable before told", "a key is told as used, and the log does not have it");
    if (told->answer != first->outcome.answer || told->applied != first->outcome.applied
        || told->detail != first->outcome.detail)
        violation("I8 one key, one outcome",
            "a repeated request was told %d units, the first one moved %d", told->applied,
            first->outcome.applied);
}
