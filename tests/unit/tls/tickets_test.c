/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/tickets.h"

#include "tests/unit/base/unit.h"

enum { TIME_MS = TICKET_KEY_S * 1000 };

static void a_key_seals_for_its_time_and_opens_for_as_long_again(void **state)
{
    struct tickets tickets;
    struct ticket_key first, again, found;
    bool renew = true;
    (void)state;
    tickets_open(&tickets, 1000);
    tickets_seal(&tickets, 1000, &first);
    tickets_seal(&tickets, 1000 + TIME_MS - 1, &again);
    assert_memory_equal(&first, &again, sizeof first);
    assert_true(tickets_find(&tickets, first.name, 1000 + TIME_MS - 1, &found, &renew));
    assert_false(renew);
    tickets_seal(&tickets, 1000 + TIME_MS, &again);
    assert_memory_not_equal(&first, &again, sizeof first);
    assert_true(tickets_find(&tickets, first.name, 1000 + 2ull * TIME_MS - 1, &found, &renew));
    assert_true(renew);
    assert_memory_equal(&first, &found, sizeof first);
    assert_false(tickets_find(&tickets, first.name, 1000 + 2ull * TIME_MS, &found, &renew));
    tickets_close(&tickets);
}

static void after_a_long_rest_no_old_key_opens_anything(void **state)
{
    struct tickets tickets;
    struct ticket_key first, found;
    bool renew;
    (void)state;
    tickets_open(&tickets, 0);
    tickets_seal(&tickets, 0, &first);
    assert_false(tickets_find(&tickets, first.name, 10ull * TIME_MS, &found, &renew));
    tickets_close(&tickets);
}

static void a_name_that_is_not_ours_is_not_found(void **state)
{
    static const unsigned char zeros[TICKET_NAME_BYTES];
    struct tickets tickets;
    struct ticket_key found;
    bool renew;
    (void)state;
    tickets_open(&tickets, 0);
    assert_false(tickets_find(&tickets, zeros, 0, &found, &renew));
    tickets_close(&tickets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_seals_for_its_time_and_opens_for_as_long_again),
        cmocka_unit_test(after_a_long_rest_no_old_key_opens_anything),
        cmocka_unit_test(a_name_that_is_not_ours_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
