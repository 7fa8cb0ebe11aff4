/* SPDX-License-Identifier: Apache-2.0 */
/* verify/verify_logs.c: the logs of a run, and which of them has a ticket or an item. On one machine there
 * is one log, whose tickets have the same numbers inside and outside, unless the shop was moved back from
 * many machines (contract/ticket_ranges.h). */
#include "contract/ticket_number.h"
#include "contract/ticket_ranges.h"
#include "inventory/redis/confirm.h"
#include "verify/verify_parts.h"

#include <inttypes.h>
#include <stdlib.h>

struct verify_place verify_log_name(const struct verify *verify)
{
    struct verify_place place = { "" };
    if (verify->source.partitions)
        snprintf(place.text, sizeof place.text, "partition %u: ", verify->log->state.part);
    return place;
}

struct verify_place verify_place(const struct verify *verify, lsn_t lsn)
{
    struct verify_place place;
    if (verify->source.partitions)
        snprintf(place.text, sizeof place.text, "partition %u, position %" PRIu64,
            verify->log->state.part, lsn);
    else
        snprintf(place.text, sizeof place.text, "position %" PRIu64, lsn);
    return place;
}

enum status verify_logs_make(struct verify *verify, uint32_t count)
{
    verify->logs = calloc(count > 0 ? count : 1, sizeof *verify->logs);
    if (verify->logs == NULL)
        return STATUS_FULL;
    verify->log_count = count;
    verify->log = verify->logs;
    return STATUS_OK;
}

void verify_logs_close(struct verify *verify)
{
    for (uint32_t i = 0; i < verify->log_count; i++) {
        confirm_close(verify->logs[i].confirm);
        arena_close(&verify->logs[i].marks_arena);
    }
    free(verify->logs);
    verify->logs = NULL;
    verify->log_count = 0;
}

static int log_by_part(const void *key, const void *row)
{
    const uint32_t part = *(const uint32_t *)key, of = ((const struct verify_log *)row)->state.part;
    return part < of ? -1 : part > of;
}

struct verify_log *verify_log_find(const struct verify *verify, uint32_t part)
{
    return bsearch(&part, verify->logs, verify->log_count, sizeof *verify->logs, log_by_part);
}

enum status verify_log_marks_open(struct verify_log *log, uint64_t tickets_max)
{
    log->marks_end = log->engine->tickets.last + tickets_max + 1;
    const enum status status = arena_open(&log->marks_arena, log->marks_end + 4096);
    if (status == STATUS_OK)
        log->marks = arena_take(&log->marks_arena, log->marks_end, 1);
    return status;
}

ticket_number verify_log_number(const struct verify_log *log, ticket_number n)
{
    if (log->confirm != NULL)
        return confirm_number(log->confirm, n);
    return n <= log->engine->tickets.last ? ticket_ranges_outside(log->imported, n) : 0;
}

struct verify_log *verify_ticket_find(const struct verify *verify, ticket_number ticket, ticket_number *n)
{
    struct ticket_parts parts;
    if (!verify->source.partitions) {
        *n = ticket_ranges_inside(verify->logs->imported, ticket);
        return *n != 0 && verify_log_number(verify->logs, *n) == ticket ? verify->logs : NULL;
    }
    if (!ticket_number_split(ticket, &parts))
        return NULL;
    struct verify_log *log = verify_log_find(verify, parts.part);
    *n = parts.n;
    return log != NULL && verify_log_number(log, parts.n) == ticket ? log : NULL;
}
