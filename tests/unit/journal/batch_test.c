/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/batch.h"

#include "base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { DATA_ID = 7, SIZE = 160 };

struct made {
    uint8_t data[SIZE];
    uint32_t bytes;
};

/* A batch of two records after *end. */
static struct made two(struct journal_position *end, uint64_t time_ms)
{
    struct made made = { .bytes = 0 };
    struct batch_maker maker;
    batch_begin(&maker, made.data, SIZE);
    assert_true(batch_append(&maker, 7, "abc", 3));
    assert_true(batch_append(&maker, 9, "\xff", 1));
    made.bytes = batch_end(&maker, DATA_ID, time_ms, end);
    return made;
}

static enum status read_batch(
    const struct made *made, struct journal_position *end, struct batch *batch, char what[120])
{
    uint32_t bytes = 0;
    if (batch_head_wrong(made->data, SIZE, &bytes) != NULL || bytes != made->bytes
        || !batch_is_whole(made->data, bytes))
        return STATUS_IO; /* nobody looks further */
    return batch_follow(made->data, bytes, DATA_ID, true, end, batch, what, 120);
}

static void what_is_made_can_be_read(void **state)
{
    struct journal_position written = { .lsn = 41, .time_ms = 1000, .hash = "before" }, read = written;
    const struct made first = two(&written, 1000), second = two(&written, 1001);
    struct journal_record record;
    struct batch batch;
    char what[120];
    (void)state;
    assert_int_equal(read_batch(&first, &read, &batch, what), STATUS_OK);
    assert_int_equal(batch.first_lsn, 42);
    assert_int_equal(batch.last_lsn, 43);
    assert_int_equal(batch.time_ms, 1000);
    uint32_t cursor = BATCH_RECORDS_AT;
    batch_take(&batch, &cursor, &record);
    assert_int_equal(record.type, 7);
    assert_true(span_equal(record.payload, SPAN("abc")));
    batch_take(&batch, &cursor, &record);
    assert_int_equal(record.type, 9);
    assert_true(span_equal(record.payload, SPAN("\xff")));
    assert_int_equal(cursor, batch.bytes);
    assert_int_equal(read_batch(&second, &read, &batch, what), STATUS_OK);
    assert_memory_equal(&read, &written, sizeof read);
}

static void a_batch_takes_what_fits(void **state)
{
    uint8_t data[BATCH_RECORDS_AT + 4 + 3];
    struct journal_position end = { 0 };
    struct batch_maker maker;
    (void)state;
    batch_begin(&maker, data, sizeof data);
    assert_false(batch_append(&maker, 1, "abcd", 4));
    assert_true(batch_append(&maker, 1, "abc", 3));
    assert_false(batch_append(&maker, 1, "", 0));
    assert_int_equal(batch_end(&maker, DATA_ID, 5, &end), sizeof data);
    assert_int_equal(end.lsn, 1);
    assert_int_equal(end.time_ms, 5);
}

static void a_batch_that_does_not_go_on_is_refused(void **state)
{
    const struct journal_position before = { .lsn = 3, .time_ms = 1000 };
    struct journal_position end = before;
    const struct made made = two(&end, 1000);
    struct batch batch;
    char what[120];
    (void)state;
    struct journal_position at = before;
    at.lsn = 4;
    assert_int_equal(read_batch(&made, &at, &batch, what), STATUS_CORRUPT);
    assert_non_null(strstr(what, "wrong LSN: 4, expected 5"));
    at = before;
    at.time_ms = 1001;
    assert_int_equal(read_batch(&made, &at, &batch, what), STATUS_CORRUPT);
    assert_non_null(strstr(what, "time runs backwards"));
    at = before;
    at.hash[31] = 1;
    assert_int_equal(read_batch(&made, &at, &batch, what), STATUS_CORRUPT);
    assert_non_null(strstr(what, "hash"));
    assert_int_equal(at.lsn, 3); /* nothing has moved */
    at = before;
    assert_int_equal(
        batch_follow(made.data, made.bytes, DATA_ID + 1, true, &at, &batch, what, sizeof what),
        STATUS_CONFLICT);
    assert_non_null(strstr(what, "data id"));
}

static void a_changed_byte_is_noticed(void **state)
{
    struct journal_position end = { 0 };
    const struct made good = two(&end, 1);
    (void)state;
    for (uint32_t i = 0; i < good.bytes; i++) {
        struct made made = good;
        struct journal_position at = { 0 };
        struct batch batch;
        char what[120];
        made.data[i] ^= 1;
        assert_int_not_equal(read_batch(&made, &at, &batch, what), STATUS_OK);
    }
}

static void records_must_fill_the_batch(void **state)
{
    const uint8_t no_hash[32] = { 0 };
    struct journal_position end = { 0 };
    const struct made good = two(&end, 1);
    (void)state;
    for (uint32_t records = 0; records <= 3; records++) { /* what a right checksum does not see */
        struct made made = good;
        struct journal_position at = { 0 };
        struct batch batch;
        uint8_t digest[32];
        char what[120];
        batch_head_put(made.data, made.bytes, records, 1, 1, DATA_ID);
        batch_finish(made.data, made.bytes, no_hash, digest);
        assert_int_equal(read_batch(&made, &at, &batch, what), records == 2 ? STATUS_OK : STATUS_CORRUPT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_made_can_be_read),
        cmocka_unit_test(a_batch_takes_what_fits),
        cmocka_unit_test(a_batch_that_does_not_go_on_is_refused),
        cmocka_unit_test(a_changed_byte_is_noticed),
        cmocka_unit_test(records_must_fill_the_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
