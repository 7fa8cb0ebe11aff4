/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/message.h"

#include <inttypes.h>
#include <stdio.h>

uint32_t message_records(struct span lines)
{
    uint32_t count = lines.size > 0;
    for (size_t i = 0; i < lines.size; i++)
        count += lines.data[i] == '\n';
    return count;
}

size_t message_head_write(const struct message *message, char head[MESSAGE_HEAD_MAX])
{
    const struct stream_entry *entry = &message->entry;
    invariant(message->count > 0 && entry->seq >= message->count);
    const int size = snprintf(head, MESSAGE_HEAD_MAX,
        "stampede1 %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu32 " %" PRIu64 "\n", message->part,
        entry->epoch, entry->seq - message->count + 1, message->count, entry->time_ms);
    invariant(size > 0 && size < MESSAGE_HEAD_MAX);
    return (size_t)size;
}

static bool number_take(struct span *head, uint64_t most, uint64_t *number)
{
    struct span word = SPAN_NONE;
    return span_take_until(head, ' ', &word) && span_to_u64(word, number) == STATUS_OK && *number <= most;
}

enum status message_read(struct span bytes, struct message *message)
{
    struct span head = SPAN_NONE, word = SPAN_NONE;
    uint64_t part, epoch, first, count, time_ms;
    if (bytes.size == 0 || memchr(bytes.data, '\n', bytes.size) == NULL
        || !span_take_until(&bytes, '\n', &head) || !span_take_until(&head, ' ', &word)
        || !span_equal(word, SPAN("stampede1")) || !number_take(&head, PART_MAX, &part)
        || !number_take(&head, EPOCH_MAX, &epoch) || !number_take(&head, SEQ_MAX, &first)
        || !number_take(&head, STREAM_RECORDS_MAX, &count)
        || span_to_u64(head, &time_ms) != STATUS_OK || time_ms > INT64_MAX)
        return STATUS_BAD_INPUT;
    if (first == 0 || count == 0 || message_records(bytes) != count)
        return STATUS_BAD_INPUT;
    *message = (struct message){ .part = (uint32_t)part,
        .count = (uint32_t)count,
        .entry = {
            .seq = first + count - 1, .epoch = (uint32_t)epoch, .time_ms = time_ms, .lines = bytes } };
    return STATUS_OK;
}
