/* SPDX-License-Identifier: Apache-2.0 */
/* tests/differential/pair.h: the engine and the script side by side: each step is given to both, and whatever
 * they answer, log and keep must be the same. */
#ifndef STAMPEDE_TESTS_DIFFERENTIAL_PAIR_H
#define STAMPEDE_TESTS_DIFFERENTIAL_PAIR_H

#include "inventory/redis/image.h"
#include "tests/differential/door.h"
#include "tests/differential/history.h"
#include "tests/differential/runner.h"

enum { PAIR_WRONG_MAX = 4096 };

struct pair {
    struct runner *runner;
    struct engine engine;
    struct image_head head;
    const struct profile *profile;
    struct door_model door;
    uint64_t entries; /* in the stream */
    uint64_t calls;
    uint32_t compare_every; /* calls: how often the whole state is compared, where it is large */
    char wrong[PAIR_WRONG_MAX]; /* the first difference; "": none */
    /* What came up: by answer, and by conflict. */
    uint64_t answers[ANSWERS], conflicts[CONFLICTS];
    uint64_t spent, too_fast; /* by the door */
};

void pair_open(struct pair *pair, struct runner *runner, const struct profile *profile);
void pair_close(struct pair *pair);
/* False: there is a difference. */
bool pair_step(struct pair *pair, const struct step *step, const struct command *commands,
    const struct purchase_door *doors);
/* The whole state, now. */
bool pair_compare(struct pair *pair);

#endif
