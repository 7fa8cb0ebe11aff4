/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks that sync the disk rest while wins come in, and no longer. */
#include "worker/selling_rest.h"

#include "contract/limits.h"
#include "tests/unit/base/unit.h"

static void nobody_rests_while_nothing_is_sold(void **unused)
{
    struct selling_rest rest = { .durable_seen = 7 };
    (void)unused;
    for (uint64_t now_ms = 1000; now_ms < 1010; now_ms++)
        assert_int_equal(selling_rest_until(&rest, now_ms, 7, false, false), now_ms);
}

static void while_wins_come_in_there_is_one_turn_and_then_a_pause(void **unused)
{
    struct selling_rest rest = { 0 };
    (void)unused;
    assert_int_equal(selling_rest_until(&rest, 1000, 1, false, false), 1000);
    assert_int_equal(selling_rest_until(&rest, 1001, 2, false, false), 1000 + ORDER_BATCH_WAIT_MS);
    assert_int_equal(selling_rest_until(&rest, 1000 + ORDER_BATCH_WAIT_MS, 500, false, true),
        1000 + ORDER_BATCH_WAIT_MS);
    /* that one was well filled: a longer pause, for as long as wins come in */
    uint64_t now_ms = 1000 + ORDER_BATCH_WAIT_MS;
    const uint64_t until_ms = now_ms + SELLING_FULL_PAUSE_MS;
    for (lsn_t durable = 501; ++now_ms < until_ms; durable++)
        assert_int_equal(selling_rest_until(&rest, now_ms, durable, false, true), until_ms);
    assert_int_equal(selling_rest_until(&rest, until_ms, 1000, false, true), until_ms);
}

/* A backlog of a peak, and ten wins in each pause: 500 a second. */
static void few_wins_after_a_peak_make_no_long_pause(void **unused)
{
    struct selling_rest rest = { 0 };
    uint64_t now_ms = 1000;
    lsn_t durable = 100000;
    (void)unused;
    assert_int_equal(selling_rest_until(&rest, now_ms, durable, false, true), now_ms);
    now_ms += SELLING_FULL_PAUSE_MS; /* the peak's own */
    for (int i = 0; i < 10; i++) {
        durable += 10;
        assert_int_equal(selling_rest_until(&rest, now_ms, durable, false, true), now_ms);
        now_ms += ORDER_BATCH_WAIT_MS;
    }
}

static void the_rest_ends_when_selling_does_or_orders_fall_behind(void **unused)
{
    struct selling_rest rest = { 0 };
    (void)unused;
    assert_int_equal(selling_rest_until(&rest, 1000, 5000, false, true), 1000);
    assert_true(selling_rest_until(&rest, 1010, 5000, false, true) > 1010);
    assert_int_equal(selling_rest_until(&rest, 1010, 5000, true, true), 1010);
    assert_true(selling_rest_until(&rest, 1000 + SELLING_MS - 1, 5000, false, true) > 1000 + SELLING_MS);
    assert_int_equal(selling_rest_until(&rest, 1000 + SELLING_MS, 5000, false, true), 1000 + SELLING_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_rests_while_nothing_is_sold),
        cmocka_unit_test(while_wins_come_in_there_is_one_turn_and_then_a_pause),
        cmocka_unit_test(few_wins_after_a_peak_make_no_long_pause),
        cmocka_unit_test(the_rest_ends_when_selling_does_or_orders_fall_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
