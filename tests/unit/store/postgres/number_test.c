/* SPDX-License-Identifier: Apache-2.0 */
#include "store/postgres/number.h"

#include "tests/unit/base/unit.h"

#define READ(type, number, ...) \
    postgres_number((type), (const uint8_t[]){ __VA_ARGS__ }, \
        sizeof((const uint8_t[]){ __VA_ARGS__ }), (number))
/* how many digits, weight, sign, scale, digits of base 10000 */
#define NUMERIC(number, ...) READ(POSTGRES_NUMERIC, (number), __VA_ARGS__)

static void integers_of_each_size_keep_their_sign(void **state)
{
    (void)state;
    int64_t number = 9;
    assert_true(READ(POSTGRES_INT2, &number, 0xff, 0xfe));
    assert_int_equal(number, -2);
    assert_true(READ(POSTGRES_INT4, &number, 0x80, 0, 0, 0));
    assert_int_equal(number, INT32_MIN);
    assert_true(READ(POSTGRES_INT4, &number, 0x7f, 0xff, 0xff, 0xff));
    assert_int_equal(number, INT32_MAX);
    assert_true(READ(POSTGRES_INT8, &number, 0x80, 0, 0, 0, 0, 0, 0, 0));
    assert_int_equal(number, INT64_MIN);
    assert_true(READ(POSTGRES_INT8, &number, 1, 2, 3, 4, 5, 6, 7, 8));
    assert_int_equal(number, 0x0102030405060708);
    assert_true(READ(POSTGRES_BOOL, &number, 1));
    assert_int_equal(number, 1);
    assert_true(READ(POSTGRES_BOOL, &number, 0));
    assert_int_equal(number, 0);
}

static void number_is_written_as_it_is_read(void **state)
{
    (void)state;
    const uint64_t numbers[] = { 0, 1, UINT64_MAX, (uint64_t)INT64_MIN, INT64_MAX, 0x0102030405060708 };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        uint8_t bytes[8];
        int64_t number = 9;
        postgres_number_put(bytes, numbers[i]);
        assert_true(postgres_number(POSTGRES_INT8, bytes, sizeof bytes, &number));
        assert_int_equal((uint64_t)number, numbers[i]);
    }
}

static void numeric_is_read_to_its_last_digit(void **state)
{
    (void)state;
    int64_t number = 9;
    assert_true(NUMERIC(&number, 0, 0, 0, 0, 0, 0, 0, 0));
    assert_int_equal(number, 0);
    assert_true(NUMERIC(&number, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7));
    assert_int_equal(number, 7);
    assert_true(NUMERIC(&number, 0, 1, 0, 0, 0x40, 0, 0, 0, 0x27, 0x0f));
    assert_int_equal(number, -9999);
    assert_true(NUMERIC(&number, 0, 1, 0, 2, 0, 0, 0, 0, 0, 3)); /* zeros at the end are left out */
    assert_int_equal(number, 300000000);
    assert_true(NUMERIC(&number, 0, 3, 0, 2, 0, 0, 0, 0, 0, 1, 0, 2, 0, 3));
    assert_int_equal(number, 100020003);
}

/* 922 3372 0368 5477 5807 and one more */
#define MOST 0x03, 0x9a, 0x0d, 0x2c, 0x01, 0x70, 0x15, 0x65

static void numeric_of_more_than_64_bits_is_refused(void **state)
{
    (void)state;
    int64_t number = 9;
    assert_true(NUMERIC(&number, 0, 5, 0, 4, 0, 0, 0, 0, MOST, 0x16, 0xaf));
    assert_int_equal(number, INT64_MAX);
    assert_false(NUMERIC(&number, 0, 5, 0, 4, 0, 0, 0, 0, MOST, 0x16, 0xb0));
    assert_true(NUMERIC(&number, 0, 5, 0, 4, 0x40, 0, 0, 0, MOST, 0x16, 0xb0));
    assert_int_equal(number, INT64_MIN);
    assert_false(NUMERIC(&number, 0, 5, 0, 4, 0x40, 0, 0, 0, MOST, 0x16, 0xb1));
    assert_false(NUMERIC(&number, 0, 1, 0, 4, 0, 0, 0, 0, 0x27, 0x0f));
    assert_false(NUMERIC(&number, 0, 1, 0, 5, 0, 0, 0, 0, 0, 1));
    assert_false(NUMERIC(&number, 0, 1, 0x7f, 0xff, 0, 0, 0, 0, 0, 1));
}

static void what_is_no_whole_number_is_refused(void **state)
{
    (void)state;
    int64_t number = 9;
    assert_false(NUMERIC(&number, 0, 2, 0, 0, 0, 0, 0, 4, 0, 1, 0x13, 0x88)); /* 1.5 */
    assert_false(NUMERIC(&number, 0, 1, 0xff, 0xff, 0, 0, 0, 4, 0x13, 0x88)); /* 0.5 */
    assert_false(NUMERIC(&number, 0, 0, 0, 0, 0xc0, 0, 0, 0));                /* not a number */
    assert_false(NUMERIC(&number, 0, 0, 0, 0, 0xd0, 0, 0, 0));                /* infinite */
    assert_false(NUMERIC(&number, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1)); /* a digit is missing */
    assert_false(NUMERIC(&number, 0, 0, 0));
    assert_false(READ(POSTGRES_INT8, &number, 0, 0, 0, 1));
    assert_false(READ(POSTGRES_INT4, &number, 1, 2, 3));
    assert_false(READ(POSTGRES_BOOL, &number, 2));
    assert_false(READ(POSTGRES_TEXT, &number, '1'));
    assert_false(READ(701, &number, 0, 0, 0, 0, 0, 0, 0, 1)); /* a double */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_of_each_size_keep_their_sign),
        cmocka_unit_test(number_is_written_as_it_is_read),
        cmocka_unit_test(numeric_is_read_to_its_last_digit),
        cmocka_unit_test(numeric_of_more_than_64_bits_is_refused),
        cmocka_unit_test(what_is_no_whole_number_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
