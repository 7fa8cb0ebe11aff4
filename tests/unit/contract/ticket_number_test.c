/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/ticket_number.h"

#include "tests/unit/base/unit.h"

static void the_numbers_of_one_machine_stay_what_they_are(void **state)
{
    static const uint32_t numbers[] = { 1, 2, TICKET_N_MAX, TICKET_N_MAX + 1, TICKET_NUMBER_MAX };
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct ticket_parts parts = { .n = numbers[i] };
        assert_int_equal(ticket_number_make(&parts), numbers[i]);
        parts = (struct ticket_parts){ 9, 9, 9 };
        assert_true(ticket_number_split(numbers[i], &parts));
        assert_int_equal(parts.part, PART_EMBEDDED);
        assert_int_equal(parts.epoch, 0);
        assert_int_equal(parts.n, numbers[i]);
        assert_int_equal(ticket_part(numbers[i]), PART_EMBEDDED);
    }
}

static void each_part_of_a_number_comes_back_up_to_its_bounds(void **state)
{
    static const uint32_t parts[] = { 1, 2, 0x55555, PART_MAX - 1, PART_MAX };
    static const uint32_t epochs[] = { 0, 1, 0x555, EPOCH_MAX };
    static const uint32_t ns[] = { 1, 2, 0x5555555, TICKET_N_MAX };
    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (size_t j = 0; j < sizeof epochs / sizeof *epochs; j++)
            for (size_t k = 0; k < sizeof ns / sizeof *ns; k++) {
                const struct ticket_parts in = { parts[i], epochs[j], ns[k] };
                struct ticket_parts out = { 0 };
                const ticket_number ticket = ticket_number_make(&in);
                assert_true(ticket != 0 && ticket < (uint64_t)1 << 60);
                assert_int_equal(ticket_part(ticket), parts[i]);
                assert_true(ticket_number_split(ticket, &out));
                assert_int_equal(out.part, parts[i]);
                assert_int_equal(out.epoch, epochs[j]);
                assert_int_equal(out.n, ns[k]);
            }
}

static void a_shop_that_was_moved_gets_numbers_above_all_that_one_machine_can_give(void **state)
{
    static const uint32_t epochs[] = { EPOCH_MOVED + 1, EPOCH_MAX };
    static const uint32_t ns[] = { 1, TICKET_N_MAX };
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const struct ticket_parts in = { PART_EMBEDDED, epochs[i / 2], ns[i % 2] };
        struct ticket_parts out = { 9, 9, 9 };
        const ticket_number ticket = ticket_number_make(&in);
        assert_true(ticket > TICKET_NUMBER_MAX && ticket_part(ticket) == PART_EMBEDDED);
        assert_true(ticket_number_split(ticket, &out));
        assert_true(out.part == in.part && out.epoch == in.epoch && out.n == in.n);
    }
}

static void the_layout_never_changes(void **state)
{
    (void)state;
    const struct ticket_parts parts = { 0xabcde, 0x123, 0x4567890 };
    assert_true(ticket_number_make(&parts) == UINT64_C(0x0abcde1234567890));
}

static void what_does_not_fit_is_no_number(void **state)
{
    static const struct ticket_parts wrong[] = { { 0, 0, 0 }, { 0, 1, 1 }, { 0, EPOCH_MOVED, 1 },
        { 0, EPOCH_MOVED + 1, TICKET_N_MAX + 1 }, { 1, 0, 0 }, { PART_MAX + 1, 0, 1 },
        { 1, EPOCH_MAX + 1, 1 }, { 1, 0, TICKET_N_MAX + 1 }, { UINT32_MAX, UINT32_MAX, UINT32_MAX } };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_true(ticket_number_make(&wrong[i]) == 0);
}

static void what_no_ticket_has_is_not_split(void **state)
{
    static const ticket_number wrong[] = { 0, (ticket_number)TICKET_NUMBER_MAX + 1,
        UINT64_C(1) << 40, UINT64_C(0x0abcde1230000000), UINT64_C(1) << 60 | 1, UINT64_MAX };
    struct ticket_parts parts;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(ticket_number_split(wrong[i], &parts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_numbers_of_one_machine_stay_what_they_are),
        cmocka_unit_test(each_part_of_a_number_comes_back_up_to_its_bounds),
        cmocka_unit_test(a_shop_that_was_moved_gets_numbers_above_all_that_one_machine_can_give),
        cmocka_unit_test(the_layout_never_changes),
        cmocka_unit_test(what_does_not_fit_is_no_number),
        cmocka_unit_test(what_no_ticket_has_is_not_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
