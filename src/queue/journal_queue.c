/* SPDX-License-Identifier: Apache-2.0 */
/* queue/journal_queue.c: see journal_queue.h. The position is kept by the order side's own
 * transaction, so commit only notes it; segments are kept by the rule of the archive, not by the
 * queue. */
#include "queue/journal_queue.h"

#include "base/log.h"
#include "contract/record.h"
#include "contract/ticket_ranges.h"

#include <stdlib.h>

struct journal_queue {
    struct ticket_queue queue; /* first: a ticket_queue from us is a journal_queue */
    struct journal_reader *reader;
    const struct journal *writer;
    lsn_t given, committed;
    bool undecodable;                     /* the reader stands after a record that can't be given */
    const struct ticket_ranges *imported; /* NULL: none */
};

static struct journal_queue *queue_of(struct ticket_queue *queue)
{
    return (struct journal_queue *)queue;
}

static enum status take_one(struct journal_queue *queue, lsn_t limit, struct queue_record *out)
{
    struct journal_record record;
    uint64_t batch_time_ms;
    if (queue->undecodable)
        return STATUS_CORRUPT;
    enum status status = journal_reader_next(queue->reader, limit, &record, &batch_time_ms);
    if (status != STATUS_OK)
        return status;
    status = record_decode(record.type, record.payload, &out->command, &out->outcome);
    if (status != STATUS_OK) {
        queue->undecodable = true;
        log_error("queue", "record lsn=%llu type=%u can't be decoded",
            (unsigned long long)record.lsn, record.type);
        return status;
    }
    if (out->command.type == COMMAND_SETTLE) /* new tickets have one number inside and outside */
        out->command.settle.ticket = ticket_ranges_outside(queue->imported, out->command.settle.ticket);
    out->at = (struct position){ queue->queue.part, record.lsn };
    queue->given = record.lsn;
    return STATUS_OK;
}

static enum status queue_poll(
    struct ticket_queue *base, struct queue_record *records, uint32_t max, uint32_t *count)
{
    struct journal_queue *queue = queue_of(base);
    const lsn_t limit = journal_durable(queue->writer);
    enum status status = STATUS_OK;
    *count = 0;
    while (*count < max && status == STATUS_OK) {
        status = take_one(queue, limit, &records[*count]);
        if (status == STATUS_OK)
            ++*count;
    }
    /* What was taken is given; a fault comes again with the next poll. */
    return status == STATUS_NOT_FOUND || *count > 0 ? STATUS_OK : status;
}

static enum status queue_seek(struct ticket_queue *base, struct position after)
{
    struct journal_queue *queue = queue_of(base);
    if (after.part != base->part)
        return STATUS_BAD_INPUT;
    enum status status = journal_reader_seek(queue->reader, after.seq);
    if (status != STATUS_OK)
        return status;
    queue->undecodable = false;
    queue->given = after.seq;
    queue->committed = after.seq;
    return STATUS_OK;
}

static enum status queue_commit(struct ticket_queue *base, struct position position)
{
    struct journal_queue *queue = queue_of(base);
    if (position.part != base->part || position.seq > queue->given)
        return STATUS_BAD_INPUT;
    if (position.seq > queue->committed)
        queue->committed = position.seq;
    return STATUS_OK;
}

static struct position queue_end(struct ticket_queue *base)
{
    return (struct position){ base->part, journal_durable(queue_of(base)->writer) };
}

static void queue_close(struct ticket_queue *base)
{
    struct journal_queue *queue = queue_of(base);
    if (queue == NULL)
        return;
    journal_reader_close(queue->reader);
    free(queue);
}

static const struct ticket_queue_ops journal_queue_ops = {
    .poll = queue_poll,
    .seek = queue_seek,
    .commit = queue_commit,
    .end = queue_end,
    .close = queue_close,
};

enum status journal_queue_open(struct ticket_queue **opened, const struct journal_config *config,
    const struct journal *writer, const struct ticket_ranges *imported)
{
    uint64_t oldest = 0;
    *opened = NULL;
    struct journal_queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL)
        return STATUS_FULL;
    queue->queue = (struct ticket_queue){ .ops = &journal_queue_ops, .part = PART_EMBEDDED };
    queue->writer = writer;
    queue->imported = imported;
    enum status status = journal_reader_open(&queue->reader, config);
    if (status == STATUS_OK)
        status = journal_oldest(config->disk, &oldest);
    if (status == STATUS_OK)
        status = queue_seek(&queue->queue, (struct position){ PART_EMBEDDED, oldest });
    if (status != STATUS_OK) {
        queue_close(&queue->queue);
        return status;
    }
    *opened = &queue->queue;
    return STATUS_OK;
}
