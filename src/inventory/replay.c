/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/replay.h"

#include "base/thread.h"
#include "contract/record.h"

#include <inttypes.h>
#include <stdio.h>

enum status replay_record(void *context, const struct journal_record *record, uint64_t batch_time_ms)
{
    thread_give_way(); /* a snapshot is made while others sell */
    struct replay *replay = context;
    struct outcome outcome;
    uint8_t bytes[RECORD_BYTES_MAX];
    (void)batch_time_ms;
    if (record_decode(record->type, record->payload, &replay->command, &replay->outcome) != STATUS_OK) {
        snprintf(replay->what, sizeof replay->what, "record %" PRIu64 " can't be read", record->lsn);
        return STATUS_CORRUPT;
    }
    if (replay->command.time_ms < replay->last_time_ms) {
        snprintf(replay->what, sizeof replay->what, "record %" PRIu64 ": time runs backwards",
            record->lsn);
        return STATUS_CORRUPT;
    }
    replay->last_time_ms = replay->command.time_ms;
    engine_apply(replay->engine, &replay->command, true, &outcome);
    /* The byte form is the whole outcome: if the bytes agree, the outcomes do. */
    const uint32_t size = outcome.changed ? record_encode(&replay->command, &outcome, bytes) : 0;
    if (!span_equal(span_of(bytes, size), record->payload)) {
        snprintf(replay->what, sizeof replay->what,
            "record %" PRIu64 ": replay comes to another outcome", record->lsn);
        return STATUS_CORRUPT;
    }
    return STATUS_OK;
}
