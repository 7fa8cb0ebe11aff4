/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/queue_journal_test.c: the ticket queue suite against the journal, in segments small
 * enough to roll. */
#include "contract/record.h"
#include "queue/journal_queue.h"
#include "tests/seam/queue_suite.h"
#include "tests/support/journal_put.h"
#include "tests/unit/journal/journal_kit.h"

#include <stdlib.h>

struct made {
    struct disk *disk;
    struct journal_config config;
    struct journal *journal;
    struct ticket_queue *queue;
};

static void *made_open(void)
{
    struct made *made = calloc(1, sizeof *made);
    struct journal_recovery recovery;
    struct kit_log log;
    assert_non_null(made);
    made->disk = memory_disk_open(1);
    made->config = kit_config(made->disk, 6, 3);
    made->journal = kit_open(&made->config, &log, &recovery);
    assert_int_equal(journal_queue_open(&made->queue, &made->config, made->journal, NULL), STATUS_OK);
    return made;
}

static void made_close(void *context)
{
    struct made *made = context;
    made->queue->ops->close(made->queue);
    journal_close(made->journal);
    assert_int_equal(memory_disk_open_files(made->disk), 0);
    memory_disk_close(made->disk);
    free(made);
}

static struct ticket_queue *made_queue(void *context)
{
    return ((struct made *)context)->queue;
}

static void made_reopen(void *context)
{
    struct made *made = context;
    made->queue->ops->close(made->queue);
    assert_int_equal(journal_queue_open(&made->queue, &made->config, made->journal, NULL), STATUS_OK);
}

static void made_append(void *context, const struct command *command, const struct outcome *outcome)
{
    struct made *made = context;
    uint8_t bytes[RECORD_BYTES_MAX];
    uint32_t size = record_encode(command, outcome, bytes);
    if (journal_wants_segment(made->journal))
        assert_int_equal(journal_prepare(made->journal), STATUS_OK);
    assert_true(journal_room(made->journal) > 0);
    journal_put(made->journal, command->type, bytes, size);
}

static void made_durable(void *context)
{
    struct made *made = context;
    assert_true(journal_seal(made->journal, KIT_TIME));
    assert_int_equal(journal_write(made->journal), STATUS_OK);
}

int main(void)
{
    const struct queue_suite_maker maker = { .name = "journal queue",
        .open = made_open,
        .close = made_close,
        .queue = made_queue,
        .reopen = made_reopen,
        .append = made_append,
        .make_durable = made_durable };
    return queue_suite_run(&maker);
}
