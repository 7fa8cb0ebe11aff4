/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of funnel/lockout.h: who shows wrong keys waits, longer each time; operators don't. */
#include "funnel/lockout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define NOW_MS UINT64_C(1000000000)

static struct lockout *lockout;

static struct address address(const char *text)
{
    struct address parsed;
    assert_int_equal(address_parse(span_from_string(text), &parsed), STATUS_OK);
    return parsed;
}

static int setup(void **state)
{
    (void)state;
    assert_int_equal(lockout_open(&lockout, (struct hash_key){ 1, 2 }, 64), STATUS_OK);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    lockout_close(lockout);
    return 0;
}

/* Fails so often, waiting each time; the last wait. */
static uint32_t fails(const char *who, uint32_t times, uint64_t *now_ms)
{
    const struct address client = address(who);
    uint32_t wait_ms = 0;
    for (uint32_t i = 0; i < times; i++) {
        *now_ms += lockout_wait_ms(lockout, &client, *now_ms);
        assert_int_equal(lockout_wait_ms(lockout, &client, *now_ms), 0);
        lockout_failed(lockout, &client, *now_ms);
        wait_ms = lockout_wait_ms(lockout, &client, *now_ms);
    }
    return wait_ms;
}

static void the_first_wrong_keys_cost_nothing_and_then_the_wait_doubles_to_its_end(void **state)
{
    (void)state;
    uint64_t now_ms = NOW_MS;
    assert_int_equal(fails("203.0.113.1", LOCKOUT_FREE, &now_ms), 0);
    assert_int_equal(fails("203.0.113.1", 1, &now_ms), 1000);
    assert_int_equal(fails("203.0.113.1", 1, &now_ms), 2000);
    assert_int_equal(fails("203.0.113.1", 1, &now_ms), 4000);
    assert_int_equal(fails("203.0.113.1", 30, &now_ms), LOCKOUT_MAX_MS);
    const struct address other = address("203.0.113.2");
    assert_int_equal(lockout_wait_ms(lockout, &other, now_ms), 0);
}

static void this_machine_waits_a_second_at_most(void **state)
{
    (void)state;
    uint64_t now_ms = NOW_MS;
    assert_int_equal(fails("127.0.0.1", LOCKOUT_FREE + 10, &now_ms), LOCKOUT_LOCAL_MS);
    assert_int_equal(fails("::1", LOCKOUT_FREE + 10, &now_ms), LOCKOUT_LOCAL_MS);
}

static void an_address_that_showed_a_right_key_does_not_wait_for_a_day(void **state)
{
    (void)state;
    uint64_t now_ms = NOW_MS;
    const struct address office = address("203.0.113.3");
    lockout_passed(lockout, &office, now_ms);
    assert_int_equal(fails("203.0.113.3", LOCKOUT_FREE + 20, &now_ms), 0);
    now_ms += LOCKOUT_TRUST_MS;
    assert_int_equal(fails("203.0.113.3", LOCKOUT_FREE, &now_ms), 0); /* forgotten meanwhile */
    assert_int_equal(fails("203.0.113.3", 1, &now_ms), 1000);
    lockout_passed(lockout, &office, now_ms);
    assert_int_equal(lockout_wait_ms(lockout, &office, now_ms), 0);
}

static void a_quarter_of_an_hour_without_a_wrong_key_forgets(void **state)
{
    (void)state;
    uint64_t now_ms = NOW_MS;
    assert_int_equal(fails("203.0.113.4", LOCKOUT_FREE + 4, &now_ms), 8000);
    now_ms += LOCKOUT_FORGET_MS;
    assert_int_equal(fails("203.0.113.4", 1, &now_ms), 16000);
    now_ms += LOCKOUT_FORGET_MS + 1;
    assert_int_equal(fails("203.0.113.4", 1, &now_ms), 0);
}

static void addresses_of_one_ipv6_network_wait_together(void **state)
{
    (void)state;
    uint64_t now_ms = NOW_MS;
    assert_int_equal(fails("2001:db8::1", LOCKOUT_FREE + 1, &now_ms), 1000);
    const struct address neighbour = address("2001:db8::2"), other = address("2001:db8:1::1");
    assert_int_equal(lockout_wait_ms(lockout, &neighbour, now_ms), 1000);
    assert_int_equal(lockout_wait_ms(lockout, &other, now_ms), 0);
}

static void however_many_come_the_newest_is_known(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 10 * LOCKOUT_PLACES; i++) {
        const uint8_t four[4] = { 10, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i };
        const struct address client = address_from_v4(four);
        for (uint32_t times = 0; times <= LOCKOUT_FREE; times++)
            lockout_failed(lockout, &client, NOW_MS + i);
        assert_int_equal(lockout_wait_ms(lockout, &client, NOW_MS + i), 1000);
    }
}

static void a_clock_that_was_set_back_keeps_nobody_out(void **state)
{
    (void)state;
    uint64_t now_ms = NOW_MS;
    assert_int_equal(fails("203.0.113.5", LOCKOUT_FREE + 1, &now_ms), 1000);
    const struct address client = address("203.0.113.5");
    assert_int_equal(lockout_wait_ms(lockout, &client, now_ms - LOCKOUT_MAX_MS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            the_first_wrong_keys_cost_nothing_and_then_the_wait_doubles_to_its_end, setup, teardown),
        cmocka_unit_test_setup_teardown(this_machine_waits_a_second_at_most, setup, teardown),
        cmocka_unit_test_setup_teardown(
            an_address_that_showed_a_right_key_does_not_wait_for_a_day, setup, teardown),
        cmocka_unit_test_setup_teardown(a_quarter_of_an_hour_without_a_wrong_key_forgets, setup, teardown),
        cmocka_unit_test_setup_teardown(addresses_of_one_ipv6_network_wait_together, setup, teardown),
        cmocka_unit_test_setup_teardown(however_many_come_the_newest_is_known, setup, teardown),
        cmocka_unit_test_setup_teardown(a_clock_that_was_set_back_keeps_nobody_out, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
