/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simulation/sim_queue.h"

#include "tests/simulation/trace.h"

static struct sim_queue *of(struct ticket_queue *queue)
{
    return (struct sim_queue *)queue;
}

static enum status queue_poll(
    struct ticket_queue *base, struct queue_record *records, uint32_t max, uint32_t *count)
{
    struct sim_queue *queue = of(base);
    *count = 0;
    if (queue->away)
        return STATUS_IO;
    if (queue->late)
        return STATUS_OK;
    if (queue->given > 0 && random_below(queue->random, 8) == 0) {
        const uint64_t back = random_below(queue->random, queue->given < 6 ? queue->given + 1 : 6);
        queue->given -= back; /* the same again */
    }
    if (random_below(queue->random, 4) == 0 && max > 3)
        max = 1 + (uint32_t)random_below(queue->random, 3);
    while (*count < max && queue->given < queue->model->lsn)
        records[(*count)++] = queue->model->log[++queue->given];
    if (queue->given > queue->most)
        queue->most = queue->given;
    return STATUS_OK;
}

static enum status queue_seek(struct ticket_queue *base, struct position after)
{
    if (after.part != base->part)
        return STATUS_BAD_INPUT;
    if (after.seq > of(base)->model->lsn)
        return STATUS_NOT_FOUND;
    of(base)->given = of(base)->most = after.seq;
    return STATUS_OK;
}

static enum status queue_commit(struct ticket_queue *base, struct position position)
{
    if (position.part != base->part || position.seq > of(base)->most)
        violation("queue", "position %llu was committed but never given",
            (unsigned long long)position.seq);
    return STATUS_OK;
}

static struct position queue_end(struct ticket_queue *base)
{
    return (struct position){ base->part, of(base)->model->lsn };
}

static void queue_close(struct ticket_queue *base)
{
    (void)base;
}

static const struct ticket_queue_ops ops = {
    .poll = queue_poll,
    .seek = queue_seek,
    .commit = queue_commit,
    .end = queue_end,
    .close = queue_close,
};

void sim_queue_start(struct sim_queue *queue, const struct model *model, struct random *random)
{
    *queue = (struct sim_queue){ .queue = { .ops = &ops }, .model = model, .random = random };
}
