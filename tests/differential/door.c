/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/differential/door.h"

#include <assert.h>
#include <string.h>

enum { USERS = 16 * 1024 };
static_assert((int)SCRIPT_REQUESTS_MAX == (int)LIMITS_REQUESTS_MAX
        && (int)SCRIPT_SKEW_MS == (int)LIMITS_SKEW_MS,
    "the door of one machine and that of many have the same bounds");

void door_model_open(struct door_model *model, uint32_t requests, uint32_t window_ms)
{
    const struct limits_config config = { .addresses = 8,
        .users = USERS,
        .items = 1,
        .user_requests_max = LIMITS_REQUESTS_MAX,
        .v6_bits = 64,
        .rates = { .user_requests = requests, .user_window_ms = window_ms } };
    memset(model, 0, sizeof *model);
    invariant(limits_create(&model->limits, &config) == STATUS_OK);
}

void door_model_close(struct door_model *model)
{
    limits_free(model->limits);
    model->limits = NULL;
}

static uint64_t *mark_find(struct door_model *model, uint64_t mark)
{
    for (uint32_t i = 0; i < model->mark_count; i++)
        if (model->marks[i] == mark)
            return &model->until_ms[i];
    invariant(model->mark_count < DOOR_MARKS_MAX);
    model->marks[model->mark_count] = mark;
    return &model->until_ms[model->mark_count++];
}

bool door_model_ask(struct door_model *model, const struct purchase_door *door, user_id user,
    uint64_t now_ms, struct script_refusal *refusal)
{
    uint64_t none_ms = 0;
    uint64_t *until_ms = door->mark == 0 ? &none_ms : mark_find(model, door->mark);
    *refusal = (struct script_refusal){ .pass_spent = now_ms < *until_ms };
    if (refusal->pass_spent)
        return false;
    if (door->requests != 0 && door->window_ms != 0)
        refusal->wait_ms = limits_user(model->limits, user, now_ms);
    if (refusal->wait_ms != 0)
        return false;
    *until_ms = door->mark_until_ms;
    return true;
}
