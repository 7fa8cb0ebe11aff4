/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/queue/journal_queue_test.c: what only the journal queue does; the common rules are
 * in tests/seam. */
#include "queue/journal_queue.h"

#include "contract/record.h"
#include "tests/support/journal_put.h"
#include "tests/unit/journal/journal_kit.h"

#include <string.h>

struct fixture {
    struct disk *disk;
    struct journal_config config;
    struct journal *journal;
    struct ticket_queue *queue;
};

static int setup(void **state)
{
    static struct fixture fixture;
    struct journal_recovery recovery;
    struct kit_log log;
    fixture.disk = memory_disk_open(1);
    fixture.config = kit_config(fixture.disk, 3, 1);
    fixture.journal = kit_open(&fixture.config, &log, &recovery);
    assert_int_equal(
        journal_queue_open(&fixture.queue, &fixture.config, fixture.journal, NULL), STATUS_OK);
    *state = &fixture;
    return 0;
}
static int teardown(void **state)
{
    struct fixture *fixture = *state;
    fixture->queue->ops->close(fixture->queue);
    journal_close(fixture->journal);
    assert_int_equal(memory_disk_open_files(fixture->disk), 0);
    memory_disk_close(fixture->disk);
    return 0;
}

static void append_gate(struct journal *journal, sale_id sale)
{
    struct command command = { .time_ms = KIT_TIME, .type = COMMAND_GATE, .gate = { .sale = sale } };
    struct outcome outcome = { .answer = ANSWER_DONE, .changed = true };
    uint8_t bytes[RECORD_BYTES_MAX];
    if (journal_wants_segment(journal))
        assert_int_equal(journal_prepare(journal), STATUS_OK);
    journal_put(journal, COMMAND_GATE, bytes, record_encode(&command, &outcome, bytes));
}
static void write_all(struct journal *journal)
{
    assert_true(journal_seal(journal, KIT_TIME));
    assert_int_equal(journal_write(journal), STATUS_OK);
}

static void records_before_one_that_does_not_decode_come_and_the_fault_stays(void **state)
{
    struct fixture *fixture = *state;
    struct ticket_queue *queue = fixture->queue;
    struct queue_record records[8];
    uint32_t count;
    append_gate(fixture->journal, 1);
    append_gate(fixture->journal, 2);
    journal_put(fixture->journal, 200, "not a command", 13);
    append_gate(fixture->journal, 4);
    write_all(fixture->journal);
    assert_int_equal(queue->ops->poll(queue, records, 8, &count), STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(records[1].command.gate.sale, 2);
    for (int i = 0; i < 3; i++) { /* never skipped */
        assert_int_equal(queue->ops->poll(queue, records, 8, &count), STATUS_CORRUPT);
        assert_int_equal(count, 0);
    }
    assert_int_equal(queue->ops->seek(queue, (struct position){ 0, 3 }),
        STATUS_OK); /* somebody decided to go on behind it */
    assert_int_equal(queue->ops->poll(queue, records, 8, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(records[0].command.gate.sale, 4);
}

static void a_disk_fault_while_polling_loses_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct ticket_queue *queue = fixture->queue;
    for (sale_id sale = 1; sale <= 6; sale++) {
        append_gate(fixture->journal, sale);
        write_all(fixture->journal);
    }
    for (uint64_t k = 1;; k++) {
        struct queue_record records[8];
        uint32_t count, given = 0;
        assert_int_equal(queue->ops->seek(queue, (struct position){ 0, 0 }), STATUS_OK);
        memory_disk_fail(fixture->disk, MEMORY_OPEN | MEMORY_READ, k);
        for (int i = 0; i < 4 && given < 6; i++) {
            enum status status = queue->ops->poll(queue, records, 8, &count);
            assert_true(status == STATUS_OK || status == STATUS_IO);
            for (uint32_t j = 0; j < count; j++)
                assert_int_equal(records[j].command.gate.sale, ++given);
        }
        assert_int_equal(given, 6);
        if (!memory_disk_has_failed(fixture->disk))
            break;
        memory_disk_fail(fixture->disk, 0, 0);
    }
}

static void a_position_never_given_can_not_be_committed(void **state)
{
    struct fixture *fixture = *state;
    struct ticket_queue *queue = fixture->queue;
    struct queue_record records[1];
    uint32_t count;
    append_gate(fixture->journal, 1);
    append_gate(fixture->journal, 2);
    write_all(fixture->journal);
    assert_int_equal(queue->ops->poll(queue, records, 1, &count), STATUS_OK);
    assert_int_equal(queue->ops->commit(queue, (struct position){ 0, 1 }), STATUS_OK);
    assert_int_equal(queue->ops->commit(queue, (struct position){ 0, 2 }), STATUS_BAD_INPUT);
}

static void it_starts_at_the_oldest_that_is_kept(void **state)
{
    struct fixture *fixture = *state;
    struct queue_record records[8];
    uint32_t count;
    struct ticket_queue *late;
    for (sale_id sale = 1; sale <= 5; sale++) {
        append_gate(fixture->journal, sale);
        write_all(fixture->journal);
    }
    assert_int_equal(fixture->disk->ops->remove(fixture->disk, KIT_FIRST), STATUS_OK);
    assert_int_equal(
        fixture->queue->ops->seek(fixture->queue, (struct position){ 0, 0 }), STATUS_NOT_FOUND);
    assert_int_equal(journal_queue_open(&late, &fixture->config, fixture->journal, NULL), STATUS_OK);
    assert_int_equal(late->ops->poll(late, records, 8, &count), STATUS_OK);
    assert_int_equal(count, 3);
    assert_int_equal(records[0].at.seq, 3);
    late->ops->close(late);
}

static void opening_fails_with_the_disk_and_leaks_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct ticket_queue *queue;
    uint32_t open_before = memory_disk_open_files(fixture->disk);
    memory_disk_fail(fixture->disk, MEMORY_OPEN, 1);
    assert_int_equal(journal_queue_open(&queue, &fixture->config, fixture->journal, NULL), STATUS_IO);
    assert_null(queue);
    assert_int_equal(memory_disk_open_files(fixture->disk), open_before);
}

#define FIXED(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXED(records_before_one_that_does_not_decode_come_and_the_fault_stays),
        FIXED(a_disk_fault_while_polling_loses_nothing),
        FIXED(a_position_never_given_can_not_be_committed),
        FIXED(it_starts_at_the_oldest_that_is_kept),
        FIXED(opening_fails_with_the_disk_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
