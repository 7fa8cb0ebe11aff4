/* SPDX-License-Identifier: Apache-2.0 */
#include "archive/bundle_logs.h"

#include "contract/ticket_number.h"
#include "inventory/engine.h"
#include "inventory/redis/confirm.h"

#include <stdio.h>

enum status bundle_logs_part(struct bundle_logs *logs, sale_id sale, uint64_t data_id,
    const struct engine_config *engine, uint64_t part, uint64_t last)
{
    if (part > PART_MAX || part_sale((uint32_t)part) != sale)
        return STATUS_CORRUPT;
    const uint32_t shard = part_shard((uint32_t)part);
    if (logs->logs[shard] != NULL)
        return STATUS_CORRUPT;
    const struct confirm_config config = { .part = (uint32_t)part, .data_id = data_id, .engine = engine };
    logs->part = (uint32_t)part;
    logs->last[shard] = last;
    logs->count++;
    return confirm_open(&logs->logs[shard], &config);
}

enum status bundle_logs_entry(struct bundle_logs *logs, uint64_t epoch, uint64_t first,
    const void *bytes, size_t size, char *what, size_t what_bytes)
{
    struct confirm *log = logs->count == 0 ? NULL : logs->logs[part_shard(logs->part)];
    const struct journal_entry entry = {
        .part = logs->part, .epoch = (uint32_t)epoch, .first_seq = first, .bytes = { bytes, size }
    };
    if (log == NULL || epoch > EPOCH_MAX) {
        snprintf(what, what_bytes, "an entry of no log");
        return STATUS_CORRUPT;
    }
    const enum status status = confirm_replay(log, &entry);
    if (status != STATUS_OK)
        snprintf(what, what_bytes, "partition %u: %s", logs->part, confirm_trouble(log));
    return status == STATUS_OK ? STATUS_OK : STATUS_CORRUPT;
}

const char *bundle_logs_check(const struct bundle_logs *logs)
{
    for (uint32_t shard = 0; shard < SHARDS_MAX; shard++) {
        const struct confirm *log = logs->logs[shard];
        if (log == NULL)
            continue;
        if (confirm_seq(log) != logs->last[shard])
            return "a log ends before its last record";
        const char *what = engine_check(confirm_engine(log));
        if (what != NULL)
            return what;
    }
    return NULL;
}

const struct ticket_row *bundle_logs_ticket(const struct bundle_logs *logs, sale_id sale,
    ticket_number ticket, const struct engine **engine)
{
    struct ticket_parts parts;
    if (!ticket_number_split(ticket, &parts) || part_sale(parts.part) != sale)
        return NULL;
    const struct confirm *log = logs->logs[part_shard(parts.part)];
    if (log == NULL || confirm_number(log, parts.n) != ticket)
        return NULL;
    *engine = confirm_engine(log);
    return tickets_get(&(*engine)->tickets, parts.n);
}

uint64_t bundle_logs_tickets(const struct bundle_logs *logs)
{
    uint64_t count = 0;
    for (uint32_t shard = 0; shard < SHARDS_MAX; shard++)
        count +=
            logs->logs[shard] == NULL ? 0 : tickets_used(&confirm_engine(logs->logs[shard])->tickets);
    return count;
}

void bundle_logs_close(struct bundle_logs *logs)
{
    for (uint32_t shard = 0; shard < SHARDS_MAX; shard++)
        confirm_close(logs->logs[shard]);
    *logs = (struct bundle_logs){ 0 };
}
