/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/top_refused.h"

#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <string.h>

static struct top_refused top;
static struct watch_table table;
static char page[64 * 1024];

static int begin(void **state)
{
    (void)state;
    memset(&top, 0, sizeof top);
    memset(&table, 0, sizeof table);
    return 0;
}

static struct watch_row address_row(uint32_t number, uint32_t too_fast)
{
    const uint8_t four[4] = { 10, (uint8_t)(number >> 16), (uint8_t)(number >> 8), (uint8_t)number };
    return (struct watch_row){ .address = address_from_v4(four), .noted = 1, .too_fast = too_fast };
}

static const char *shown(void)
{
    struct text out = text_in(page, sizeof page - 1);
    text_literal(&out, "{");
    top_refused_json(&top, &out);
    assert_false(out.overflow);
    page[out.size] = '\0';
    return page;
}

static void who_was_refused_most_comes_first_and_only_so_many_are_shown(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TOP_REFUSED_SHOWN + 5; i++)
        table.rows[i] = address_row(i + 1, i + 1);
    top_refused_fold(&top, &table, 1000);
    const char *text = shown();
    assert_non_null(strstr(text, "{\"refused\":[{\"kind\":\"address\",\"address\":\"10.0.0.25\""));
    assert_non_null(strstr(text, "10.0.0.6\""));
    assert_null(strstr(text, "10.0.0.5\""));
}

static void counts_of_one_add_up_and_users_are_told_as_users(void **state)
{
    (void)state;
    table.rows[0] = address_row(1, 3);
    table.rows[1] = (struct watch_row){ .user = 0xab, .noted = 1, .failed = 9 };
    top_refused_fold(&top, &table, 1000);
    top_refused_fold(&top, &table, 2000);
    assert_string_equal(shown(),
        "{\"refused\":["
        "{\"kind\":\"user\",\"user_id\":\"00000000000000ab\",\"too_fast\":0,\"failed\":18,\"last_"
        "ms\":2000},"
        "{\"kind\":\"address\",\"address\":\"10.0.0.1\",\"too_fast\":6,\"failed\":0,\"last_ms\":"
        "2000}]");
}

static void who_was_only_seen_is_not_listed(void **state)
{
    (void)state;
    table.rows[0] = address_row(1, 0);
    top_refused_fold(&top, &table, 1000);
    assert_string_equal(shown(), "{\"refused\":[]");
}

static void a_crowd_does_not_push_out_who_comes_again_and_again(void **state)
{
    (void)state;
    table.rows[0] = address_row(1, 1000);
    for (uint32_t round = 0; round < 4; round++) {
        for (uint32_t i = 1; i <= TOP_REFUSED_ROWS; i++)
            table.rows[i] = address_row(round * 1000 + i + 1, 1);
        top_refused_fold(&top, &table, 1000 + round);
    }
    assert_non_null(strstr(shown(), "[{\"kind\":\"address\",\"address\":\"10.0.0.1\",\"too_fast\":4000"));
}

static void an_attack_that_is_over_makes_way_for_one_that_is_not(void **state)
{
    (void)state;
    table.rows[0] = address_row(1, 64);
    top_refused_fold(&top, &table, 1000);
    table.rows[0] = address_row(2, 10);
    top_refused_fold(&top, &table, 2000);
    assert_non_null(strstr(shown(), "[{\"kind\":\"address\",\"address\":\"10.0.0.1\""));
    table.rows[0] = (struct watch_row){ .noted = 0 };
    for (uint64_t minute = 1; minute <= 3; minute++) {
        top.rows[1].last_ms = minute * 60000 + 1000; /* the second goes on */
        top_refused_fold(&top, &table, minute * 60000 + 3000);
    }
    assert_non_null(strstr(shown(), "[{\"kind\":\"address\",\"address\":\"10.0.0.2\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(who_was_refused_most_comes_first_and_only_so_many_are_shown, begin),
        cmocka_unit_test_setup(counts_of_one_add_up_and_users_are_told_as_users, begin),
        cmocka_unit_test_setup(who_was_only_seen_is_not_listed, begin),
        cmocka_unit_test_setup(a_crowd_does_not_push_out_who_comes_again_and_again, begin),
        cmocka_unit_test_setup(an_attack_that_is_over_makes_way_for_one_that_is_not, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
