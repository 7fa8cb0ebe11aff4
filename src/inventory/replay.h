/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/replay.h: applies logged records to an engine and asserts that it comes to the same
 * outcome. */
#ifndef STAMPEDE_INVENTORY_REPLAY_H
#define STAMPEDE_INVENTORY_REPLAY_H

#include "inventory/engine.h"
#include "journal/journal.h"

struct replay {
    struct engine *engine;
    struct command command; /* the last record, decoded */
    struct outcome outcome;
    uint64_t last_time_ms;
    char what[160]; /* filled when replay_record refuses */
};

/* A journal_each callback; context is a struct replay. STATUS_CORRUPT: the record does not
 * decode, or the engine comes to another outcome. */
enum status replay_record(void *context, const struct journal_record *record, uint64_t batch_time_ms);

#endif
