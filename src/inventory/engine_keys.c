/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/engine_keys.c: what became of admin commands that had a key, so that a request whose
 * answer was lost can be repeated safely, also after a restart. Loading users has no row: it is a
 * set, loading them again changes nothing, and long lists would drive everything else out. */
#include "inventory/engine_apply.h"

static bool key_counts(const struct command *command)
{
    return command->origin.key != 0 && command->type != COMMAND_USERS;
}

bool engine_keys_repeated(
    const struct engine *engine, const struct command *command, struct outcome *outcome)
{
    if (!key_counts(command))
        return false;
    const uint64_t used = engine_keys_kept(engine->keys.count);
    for (uint64_t i = 0; i < used; i++) {
        const struct engine_key *row = &engine->keys.rows[i];
        if (row->key != command->origin.key)
            continue;
        if (row->request != command->origin.request) {
            outcome->answer = ANSWER_KEY_REUSED;
            return true;
        }
        outcome->answer = row->answer;
        outcome->detail = row->detail;
        outcome->applied = row->applied;
        outcome->repeated = true;
        return true;
    }
    return false;
}

void engine_keys_note(struct engine *engine, const struct command *command, const struct outcome *outcome)
{
    if (!outcome->changed || !key_counts(command))
        return;
    engine->keys.rows[engine->keys.count++ % COMMAND_KEYS_MAX] =
        (struct engine_key){ .key = command->origin.key,
            .request = command->origin.request,
            .applied = outcome->applied,
            .answer = outcome->answer,
            .detail = outcome->detail };
}
