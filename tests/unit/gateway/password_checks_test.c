/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/password_checks.h"

#include "funnel/lockout.h"
#include "tests/unit/base/unit.h"

#include <poll.h>
#include <string.h>

static struct password_checks *checks;
static struct wake wakes[2];
static const struct span right_one = SPAN("correct horse battery staple");

static int open_them(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(wake_open(&wakes[i]), STATUS_OK);
    assert_int_equal(password_checks_open(&checks, ADDRESS_GROUP_BITS), STATUS_OK);
    for (uint32_t i = 0; i < 2; i++)
        password_checks_wake(checks, i, &wakes[i]);
    return 0;
}

static int close_them(void **state)
{
    (void)state;
    password_checks_close(checks);
    for (uint32_t i = 0; i < 2; i++)
        wake_close(&wakes[i]);
    return 0;
}

/* Of somebody at the address 10.0.0.`last`. */
static struct password_check check_of(uint8_t last, bool known)
{
    struct password_check check = { .to = { .token = last }, .known = known };
    check.client = address_from_v4((const uint8_t[]){ 10, 0, 0, last });
    if (known)
        assert_int_equal(password_hash(right_one, check.salt, check.expected), STATUS_OK);
    return check;
}

static bool taken(uint32_t edge, struct password_check *check, bool *right)
{
    for (int i = 0; i < 6000; i++) {
        if (password_checks_take(checks, edge, check, right))
            return true;
        poll(NULL, 0, 10);
    }
    return false;
}

static void the_edge_that_asked_learns_whether_the_password_is_right(void **state)
{
    struct password_check check = check_of(1, true), back;
    bool right;
    (void)state;
    assert_int_equal(password_checks_start(checks), STATUS_OK);
    assert_int_equal(password_checks_add(checks, 1, &check, right_one), PASSWORD_WAITS);
    assert_true(taken(1, &back, &right));
    assert_true(right);
    assert_int_equal(back.to.token, 1);
    assert_false(password_checks_take(checks, 0, &back, &right));
    assert_int_equal(password_checks_add(checks, 0, &check, SPAN("wrong horse")), PASSWORD_WAITS);
    assert_true(taken(0, &back, &right));
    assert_false(right);
    assert_false(password_checks_take(checks, 0, &back, &right)); /* told once */
}

static void a_name_that_nobody_has_is_hashed_too_and_never_right(void **state)
{
    struct password_check check = check_of(1, true), back;
    bool right = true;
    (void)state;
    check.known = false; /* with a salt and a hash that would fit */
    assert_int_equal(password_checks_start(checks), STATUS_OK);
    assert_int_equal(password_checks_add(checks, 0, &check, right_one), PASSWORD_WAITS);
    assert_true(taken(0, &back, &right));
    assert_false(right);
    assert_memory_not_equal(back.salt, check.salt, sizeof check.salt); /* one that was made up */
}

static void one_of_an_address_waits_and_few_of_all(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < PASSWORD_CHECKS_MAX; i++) {
        const struct password_check check = check_of((uint8_t)i, false);
        assert_int_equal(password_checks_add(checks, 0, &check, right_one), PASSWORD_WAITS);
        assert_int_equal(password_checks_add(checks, 1, &check, right_one), PASSWORD_ONE_WAITS);
    }
    const struct password_check more = check_of(PASSWORD_CHECKS_MAX, false);
    assert_int_equal(password_checks_add(checks, 0, &more, right_one), PASSWORD_FULL);
}

static void those_of_one_ipv6_customer_count_as_one_address(void **state)
{
    struct password_check check = { .to = { .token = 1 } };
    (void)state;
    assert_int_equal(address_parse(SPAN("2001:db8::1"), &check.client), STATUS_OK);
    assert_int_equal(password_checks_add(checks, 0, &check, right_one), PASSWORD_WAITS);
    assert_int_equal(address_parse(SPAN("2001:db8::2"), &check.client), STATUS_OK);
    assert_int_equal(password_checks_add(checks, 0, &check, right_one), PASSWORD_ONE_WAITS);
}

static void an_address_with_wrong_passwords_waits(void **state)
{
    const struct password_check check = check_of(1, false), other = check_of(2, false);
    (void)state;
    for (int i = 0; i < LOCKOUT_FREE; i++) {
        password_checks_failed(checks, &check.client, 1000);
        assert_int_equal(password_checks_wait_ms(checks, &check.client, 1000), 0);
    }
    password_checks_failed(checks, &check.client, 1000);
    assert_int_equal(password_checks_wait_ms(checks, &check.client, 1000), 1000);
    assert_int_equal(password_checks_wait_ms(checks, &other.client, 1000), 0);
}

#define each(test) cmocka_unit_test_setup_teardown(test, open_them, close_them)

int main(void)
{
    const struct CMUnitTest tests[] = {
        each(the_edge_that_asked_learns_whether_the_password_is_right),
        each(a_name_that_nobody_has_is_hashed_too_and_never_right),
        each(one_of_an_address_waits_and_few_of_all),
        each(those_of_one_ipv6_customer_count_as_one_address),
        each(an_address_with_wrong_passwords_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
