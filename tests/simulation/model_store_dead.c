/* SPDX-License-Identifier: Apache-2.0 */
/* Dead letters of the model store. */
#include "tests/simulation/model_store_parts.h"

#include <stdio.h>
#include <string.h>

enum status model_dead_letters(struct order_store *store, uint64_t after, enum dead_state state,
    struct dead_letter *letters, uint32_t max, uint32_t *count)
{
    const struct model_store *model = model_of(store);
    *count = 0;
    for (uint64_t i = after; i < model->at.dead && *count < max; i++) {
        if (state == DEAD_ANY || model->dead[i].letter.state == state)
            letters[(*count)++] = model->dead[i].letter;
    }
    return STATUS_OK;
}

enum status model_dead_letter_get(
    struct order_store *store, uint64_t id, struct dead_letter *letter, struct queue_record *record)
{
    const struct model_store *model = model_of(store);
    if (id == 0 || id > model->at.dead)
        return STATUS_NOT_FOUND;
    *letter = model->dead[id - 1].letter;
    *record = model->dead[id - 1].record;
    return STATUS_OK;
}

enum status model_dead_letters_open(struct order_store *store, uint64_t *count)
{
    const struct model_store *model = model_of(store);
    *count = 0;
    for (uint32_t i = 0; i < model->at.dead; i++)
        *count += model->dead[i].letter.state == DEAD_OPEN;
    return STATUS_OK;
}

enum status model_dead_letter_decide(
    struct order_store *store, const struct dead_decision *decision, struct refusal *refusal)
{
    struct model_store *model = model_of(store);
    enum status status = STATUS_OK;
    *refusal = (struct refusal){ .index = UINT32_MAX };
    if (decision->id == 0 || decision->id > model->at.dead)
        return STATUS_NOT_FOUND;
    const struct queue_record record = model->dead[decision->id - 1].record;
    const bool ticket = record.command.type == COMMAND_RESERVE;
    if (model->dead[decision->id - 1].letter.state != DEAD_OPEN
        || (decision->to == DEAD_RETURNED && !ticket))
        return STATUS_CONFLICT;
    model_store_undo_forget(model);
    model_store_room(model, &record, 1);
    model->refusal = refusal;
    model->index = 0;
    model->batch++;
    model_store_note(model, &model->at, sizeof model->at);
    if (decision->to != DEAD_DISMISSED)
        status = model_store_record(
            model, &record, decision->to == DEAD_RETRIED ? DISPOSE_APPLY : DISPOSE_REJECT);
    struct dead_letter *letter = &model->dead[decision->id - 1].letter;
    if (status != STATUS_OK) {
        model_store_undo(model);
        snprintf(letter->reason, sizeof letter->reason, "%s", refusal->text);
        return status;
    }
    letter->state = decision->to;
    letter->resolved_ms = decision->now_ms;
    memcpy(letter->resolver, decision->resolver, sizeof letter->resolver);
    memcpy(letter->note, decision->note, sizeof letter->note);
    return STATUS_OK;
}
