/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/queue/memory_broker.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct memory_line {
    struct broker_line line;
    uint64_t number;
    struct memory_line *next;
};

static struct memory_broker *memory_of(struct broker *broker)
{
    return (struct memory_broker *)broker;
}

static bool memory_turn(struct broker *base, uint64_t now_ms)
{
    struct memory_broker *broker = memory_of(base);
    const bool has_acked = !broker->is_held && broker->acked < broker->count;
    for (; !broker->is_held && broker->acked < broker->count; broker->acked++) {
        const struct memory_message *message = &broker->messages[broker->acked];
        for (struct memory_line *at = broker->lines; at != NULL; at = at->next)
            if (at->number == message->line && at->line.acked < message->seq) {
                at->line.acked = message->seq;
                at->line.waits_since_ms = at->line.acked < at->line.sent ? now_ms : 0;
            }
    }
    return has_acked;
}

static const char *memory_wrong(const struct broker *broker)
{
    return ((const struct memory_broker *)(const void *)broker)->wrong;
}

static void memory_wake(struct broker *broker, int fd)
{
    memory_of(broker)->wake_fd = fd;
}

static struct broker_line *memory_line_open(struct broker *base, uint32_t part)
{
    struct memory_broker *broker = memory_of(base);
    struct memory_line *line = calloc(1, sizeof *line);
    *line = (struct memory_line){
        .line = { .part = part }, .number = ++broker->lines_made, .next = broker->lines
    };
    broker->lines = line;
    return &line->line;
}

static void memory_line_close(struct broker *base, struct broker_line *line)
{
    struct memory_broker *broker = memory_of(base);
    struct memory_line **at = (struct memory_line **)&broker->lines;
    while (&(*at)->line != line)
        at = &(*at)->next;
    struct memory_line *gone = *at;
    *at = gone->next;
    if (broker->reader == line)
        broker->reader = NULL;
    free(gone);
}

static void message_add(struct memory_broker *broker, uint32_t part, uint64_t line, uint64_t seq,
    uint64_t time_ms, struct span bytes)
{
    invariant(broker->count < MEMORY_MESSAGES_MAX);
    char *copy = malloc(bytes.size + 1);
    if (bytes.size > 0)
        memcpy(copy, bytes.data, bytes.size);
    copy[bytes.size] = '\0';
    broker->messages[broker->count++] = (struct memory_message){
        .part = part, .line = line, .seq = seq, .time_ms = time_ms, .bytes = copy, .size = bytes.size
    };
}

static enum status memory_send(struct broker *base, struct broker_line *line, uint64_t seq,
    uint64_t time_ms, struct span message)
{
    struct memory_broker *broker = memory_of(base);
    const uint64_t one = 1;
    if (broker->wrong != NULL)
        return STATUS_AWAY;
    message_add(broker, line->part, ((struct memory_line *)line)->number, seq, time_ms, message);
    line->sent = seq;
    if (line->waits_since_ms == 0)
        line->waits_since_ms = 1;
    if (broker->wake_fd >= 0)
        (void)!write(broker->wake_fd, &one, sizeof one);
    return STATUS_OK;
}

static void memory_kept(struct broker *broker, struct broker_line *line, uint64_t seq)
{
    (void)line;
    memory_of(broker)->kept = seq;
}

static enum status memory_seek(struct broker *base, struct broker_line *line, uint64_t time_ms)
{
    struct memory_broker *broker = memory_of(base);
    if (broker->wrong != NULL)
        return STATUS_AWAY;
    if (broker->reader != NULL)
        return STATUS_BUSY;
    broker->reader = line;
    for (broker->at = 0; broker->at < broker->acked; broker->at++)
        if (broker->messages[broker->at].time_ms >= time_ms)
            break;
    return STATUS_OK;
}

static enum status memory_next(
    struct broker *base, struct broker_line *line, struct span *message, char where[80])
{
    struct memory_broker *broker = memory_of(base);
    while (broker->reader == line && broker->at < broker->acked) {
        const struct memory_message *at = &broker->messages[broker->at++];
        snprintf(where, 80, "message %u", broker->at);
        *message = span_of(at->bytes, at->size);
        if (at->part == line->part)
            return STATUS_OK;
    }
    for (uint32_t i = broker->acked; broker->reader == line && i < broker->count; i++)
        if (broker->messages[i].part == line->part)
            return STATUS_BUSY; /* it is under way */
    if (broker->reader == line)
        broker->reader = NULL;
    return STATUS_NOT_FOUND;
}

static void memory_close(struct broker *base)
{
    struct memory_broker *broker = memory_of(base);
    invariant(broker->lines == NULL);
    for (uint32_t i = 0; i < broker->count; i++)
        free(broker->messages[i].bytes);
    free(broker);
}

static const struct broker_ops memory_ops = {
    .turn = memory_turn,
    .wrong = memory_wrong,
    .wake = memory_wake,
    .line_open = memory_line_open,
    .line_close = memory_line_close,
    .send = memory_send,
    .kept = memory_kept,
    .seek = memory_seek,
    .next = memory_next,
    .close = memory_close,
};

struct memory_broker *memory_broker_open(void)
{
    struct memory_broker *broker = calloc(1, sizeof *broker);
    broker->broker.ops = &memory_ops;
    broker->wake_fd = -1;
    return broker;
}

void memory_broker_fail(struct memory_broker *broker)
{
    while (broker->count > broker->acked)
        free(broker->messages[--broker->count].bytes);
    for (struct memory_line *at = broker->lines; at != NULL; at = at->next) {
        at->line.sent = at->line.acked;
        at->line.waits_since_ms = 0;
    }
}

void memory_broker_put(struct memory_broker *broker, uint32_t part, uint64_t time_ms, struct span bytes)
{
    invariant(broker->acked == broker->count);
    message_add(broker, part, 0, 0, time_ms, bytes);
    broker->acked = broker->count;
}
