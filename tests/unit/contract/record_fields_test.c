/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/contract/record_fields_test.c: a table of fields is written in its order and read back by
 * its rules. */
#include "contract/record_fields.h"

#include "tests/unit/base/unit.h"

#include <string.h>

/* A plain one, one that is wider in the record than in memory, a row of them, one with a bit, and one of
 * the outcome. */
static const struct record_field fields[] = {
    COMMAND(8, preheat.unit_price, ANY),
    COMMANDS(4, preheat.channel_units, CHANNELS_MAX, UNITS),
    FLAGGED(4, preheat.item, preheat.change, SOME),
    OUTCOME(4, applied, CHANGE),
};
enum { BYTES = 8 + 4 * CHANNELS_MAX + 4 + 4 };
static const struct record_field narrow[] = { COMMAND(4, sale.cooldown_s, COOLDOWN) };

static void fields_are_written_in_the_order_of_the_table_and_come_back(void **state)
{
    (void)state;
    struct command command = { 0 }, again = { 0 };
    struct outcome outcome = { .applied = -2 }, told = { 0 };
    uint8_t bytes[BYTES];
    command.preheat.unit_price = UINT64_C(0x1122334455667788);
    command.preheat.channel_units[CHANNELS_MAX - 1] = UNITS_MAX;
    command.preheat.item = 9;
    command.preheat.change = true;
    assert_ptr_equal(RECORD_PUT(bytes, fields, &command, &outcome), bytes + BYTES);
    assert_int_equal(bytes[0], 0x88);
    assert_int_equal(bytes_get_u32(bytes + 4 + 4 * CHANNELS_MAX), UNITS_MAX);
    assert_int_equal(bytes_get_u32(bytes + 8 + 4 * CHANNELS_MAX), 9 | 1u << 31);
    assert_int_equal(bytes_get_u32(bytes + 12 + 4 * CHANNELS_MAX), (uint32_t)-2);
    struct record_input in = { .at = bytes, .left = BYTES };
    RECORD_TAKE(&in, fields, &again, &told);
    assert_false(in.bad);
    assert_int_equal(in.left, 0);
    assert_memory_equal(&again, &command, sizeof command);
    assert_memory_equal(&told, &outcome, sizeof outcome);
}

static void bytes_that_are_missing_make_the_input_bad_and_are_not_read(void **state)
{
    (void)state;
    const uint8_t bytes[BYTES] = { 1 };
    for (size_t size = 0; size < BYTES; size++) {
        struct command command = { 0 };
        struct outcome outcome = { 0 };
        struct record_input in = { .at = bytes + BYTES - size, .left = size };
        RECORD_TAKE(&in, fields, &command, &outcome);
        assert_true(in.bad);
    }
}

static void a_narrow_field_is_refused_beyond_its_range_not_cut(void **state)
{
    (void)state;
    static const struct {
        uint32_t value;
        bool fits;
    } cases[] = { { 0, true }, { COOLDOWN_MAX_S, true }, { COOLDOWN_MAX_S + 1, false },
        { 1 << 16, false } };
    for (size_t i = 0; i < RECORD_FIELDS(cases); i++) {
        struct command command = { 0 };
        struct outcome outcome = { 0 };
        uint8_t bytes[4];
        bytes_put_u32(bytes, cases[i].value);
        struct record_input in = { .at = bytes, .left = sizeof bytes };
        RECORD_TAKE(&in, narrow, &command, &outcome);
        assert_int_equal(in.bad, !cases[i].fits);
        if (cases[i].fits)
            assert_int_equal(command.sale.cooldown_s, cases[i].value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_written_in_the_order_of_the_table_and_come_back),
        cmocka_unit_test(bytes_that_are_missing_make_the_input_bad_and_are_not_read),
        cmocka_unit_test(a_narrow_field_is_refused_beyond_its_range_not_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
