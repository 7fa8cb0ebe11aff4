/* SPDX-License-Identifier: Apache-2.0 */
/* tests/differential/door.h: what the door's questions must answer: the user's window by the code of one
 * machine (funnel/limits.h), the marks of used passes in a list. */
#ifndef STAMPEDE_TESTS_DIFFERENTIAL_DOOR_H
#define STAMPEDE_TESTS_DIFFERENTIAL_DOOR_H

#include "funnel/limits.h"
#include "inventory/redis/command_text.h"
#include "inventory/redis/record_text.h"

enum { DOOR_MARKS_MAX = 64 };

struct door_model {
    struct limits *limits;
    uint32_t mark_count;
    uint64_t marks[DOOR_MARKS_MAX], until_ms[DOOR_MARKS_MAX];
};

void door_model_open(struct door_model *model, uint32_t requests, uint32_t window_ms);
void door_model_close(struct door_model *model);
/* False: refused. All purchases of a model ask for its window, or for none. */
bool door_model_ask(struct door_model *model, const struct purchase_door *door, user_id user,
    uint64_t now_ms, struct script_refusal *refusal);

#endif
