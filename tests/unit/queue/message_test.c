/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/message.h"

#include "tests/unit/base/unit.h"

#include <stdio.h>

static enum status reads(const char *text, struct message *message)
{
    return message_read(span_from_string(text), message);
}

static void what_is_written_is_read(void **state)
{
    static const char lines[] = "gate 1 0 = 18 c1\ngate 1 1 = 18 c1";
    const struct message written = { .part = PART_MAX,
        .count = 2,
        .entry = { .seq = SEQ_MAX, .epoch = EPOCH_MAX, .time_ms = INT64_MAX, .lines = SPAN(lines) } };
    char bytes[MESSAGE_HEAD_MAX + sizeof lines];
    struct message read;
    (void)state;
    const size_t head = message_head_write(&written, bytes);
    memcpy(bytes + head, lines, sizeof lines);
    assert_int_equal(reads(bytes, &read), STATUS_OK);
    assert_true(read.part == PART_MAX && read.count == 2 && read.entry.seq == SEQ_MAX);
    assert_true(read.entry.epoch == EPOCH_MAX && read.entry.time_ms == INT64_MAX);
    assert_true(span_equal(read.entry.lines, written.entry.lines));
}

static void the_form_is_the_one_of_the_document(void **state)
{
    struct message read;
    (void)state;
    assert_int_equal(reads("stampede1 33 2 101 2 1763315194123\na\nb", &read), STATUS_OK);
    assert_true(read.part == 33 && read.entry.epoch == 2 && read.entry.seq == 102);
    assert_true(read.entry.time_ms == 1763315194123 && span_equal(read.entry.lines, SPAN("a\nb")));
}

static void nothing_else_is_a_message(void **state)
{
    static const char *const bad[] = { "", "\n", "stampede1", "stampede1 1 1 1 1 1",
        "stampede2 1 1 1 1 1\na", "stampede1 1 1 1 1\na", "stampede1 1 1 1 1 1 \na",
        "stampede1 1 1 1 1 1 1\na", "stampede1  1 1 1 1 1\na", "stampede1 01 1 1 1 1\na",
        "stampede1 1 1 0 1 1\na", "stampede1 1 1 1 0 1\n", "stampede1 1 1 1 1 1\n",
        "stampede1 1 1 1 1 1\na\nb", "stampede1 1 1 1 2 1\na", "stampede1 1 4096 1 1 1\na",
        "stampede1 1 1 8796093022208 1 1\na", "stampede1 1 1 1 1 -1\na",
        "stampede1 4294967296 1 1 1 1\na", "hello" };
    struct message read = { .part = 77 };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (reads(bad[i], &read) == STATUS_OK)
            fail_msg("taken: %s", bad[i]);
    assert_int_equal(message_read(SPAN_NONE, &read), STATUS_BAD_INPUT); /* a message without a value */
    assert_int_equal(read.part, 77);
}

static void an_entry_has_at_most_so_many_records(void **state)
{
    char text[400];
    struct message read;
    (void)state;
    for (uint32_t count = STREAM_RECORDS_MAX; count <= STREAM_RECORDS_MAX + 1; count++) {
        int size = snprintf(text, sizeof text, "stampede1 1 1 1 %u 1\na", count);
        for (uint32_t i = 1; i < count; i++)
            size += snprintf(text + size, sizeof text - (size_t)size, "\na");
        assert_int_equal(reads(text, &read), count == STREAM_RECORDS_MAX ? STATUS_OK : STATUS_BAD_INPUT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(the_form_is_the_one_of_the_document),
        cmocka_unit_test(nothing_else_is_a_message),
        cmocka_unit_test(an_entry_has_at_most_so_many_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
