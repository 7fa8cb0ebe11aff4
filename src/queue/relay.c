/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/relay.h"

#include "base/log.h"
#include "base/metrics.h"

#include <stdlib.h>

COUNTER(messages_unreadable, "stampede_broker_unreadable_total",
    "Messages of the broker that can't be read.");

enum { PASSED_MAX = 1000 }; /* messages in one call: others have their turns too */

enum status relay_open(struct relay *relay, uint32_t part)
{
    if (relay->broker == NULL)
        return STATUS_OK;
    relay->buffer = malloc(RELAY_MESSAGE_MAX);
    relay->line = relay->buffer == NULL ? NULL : relay->broker->ops->line_open(relay->broker, part);
    return relay->line == NULL ? STATUS_AWAY : STATUS_OK;
}

void relay_close(struct relay *relay)
{
    if (relay->line != NULL)
        relay->broker->ops->line_close(relay->broker, relay->line);
    free(relay->buffer);
    relay->line = NULL;
    relay->buffer = NULL;
}

void relay_begin(struct relay *relay, uint64_t seq)
{
    if (relay->line != NULL)
        relay->line->sent = relay->line->acked = seq;
}

enum status relay_send(struct relay *relay, const struct stream_entry *entry)
{
    const struct message message = {
        .part = relay->line->part, .count = message_records(entry->lines), .entry = *entry
    };
    if (message.count == 0 || message.count > STREAM_RECORDS_MAX || entry->seq < message.count
        || entry->lines.size > RELAY_MESSAGE_MAX - MESSAGE_HEAD_MAX)
        return STATUS_CORRUPT;
    const size_t head = message_head_write(&message, relay->buffer);
    memcpy(relay->buffer + head, entry->lines.data, entry->lines.size);
    return relay->broker->ops->send(relay->broker, relay->line, entry->seq, entry->time_ms,
        span_of(relay->buffer, head + entry->lines.size));
}

enum status relay_back(struct relay *relay, uint32_t epoch, uint64_t time_ms)
{
    const enum status status = relay->broker->ops->seek(relay->broker, relay->line, time_ms);
    relay->beyond = 0;
    relay->epoch = status == STATUS_OK ? epoch : 0;
    return status;
}

static void unreadable_tell(const struct relay *relay, const char *where)
{
    metric_add(&messages_unreadable, 1);
    log_error("queue", "a message of the broker can't be read part=%u where=\"%s\"",
        relay->line->part, where);
}

enum status relay_next(struct relay *relay, uint64_t seq, struct stream_entry *entry)
{
    for (uint32_t passed = 0; passed < PASSED_MAX; passed++) {
        struct span bytes = SPAN_NONE;
        struct message message;
        char where[80];
        const enum status status = relay->broker->ops->next(relay->broker, relay->line, &bytes, where);
        if (status == STATUS_NOT_FOUND)
            relay->epoch = 0;
        if (status != STATUS_OK)
            return status;
        if (message_read(bytes, &message) != STATUS_OK || message.part != relay->line->part) {
            unreadable_tell(relay, where);
            continue;
        }
        *entry = message.entry;
        if (entry->epoch > relay->epoch)
            return STATUS_CONFLICT;
        if (entry->epoch < relay->epoch || entry->seq <= seq)
            continue;
        if (entry->seq - message.count == seq)
            return STATUS_OK;
        if (entry->seq > relay->beyond)
            relay->beyond = entry->seq;
    }
    return STATUS_BUSY;
}
