/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/switches.h"

#include "base/metrics.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>

static struct switches switches;

static void everything_is_off_at_first(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SWITCHES; i++)
        assert_int_equal(switch_value(&switches, (enum switch_name)i), 0);
    for (item_id item = 0; item <= ITEMS_LIMIT; item++)
        assert_false(switch_sold_out(&switches, item));
}

static void each_switch_is_set_alone_and_shown(void **state)
{
    (void)state;
    char bytes[8192], line[96];
    for (unsigned i = 0; i < SWITCHES; i++) {
        switch_set(&switches, (enum switch_name)i, switch_kinds[i].most);
        for (unsigned other = i + 1; other < SWITCHES; other++)
            assert_int_equal(switch_value(&switches, (enum switch_name)other), 0);
        assert_int_equal(switch_value(&switches, (enum switch_name)i), switch_kinds[i].most);
        struct text out = text_in(bytes, sizeof bytes - 1);
        metrics_render(&out);
        bytes[out.size] = 0;
        snprintf(line, sizeof line, "stampede_switch{name=\"%s\"} %u\n", switch_kinds[i].name,
            switch_kinds[i].most);
        assert_non_null(strstr(bytes, line));
    }
    for (unsigned i = 0; i < SWITCHES; i++)
        switch_set(&switches, (enum switch_name)i, 0);
}

static void an_item_is_sold_out_alone_and_twice_counts_once(void **state)
{
    (void)state;
    const item_id items[] = { 1, 63, 64, 65, ITEMS_LIMIT - 1 };
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        switch_sold_out_set(&switches, items[i], true);
        switch_sold_out_set(&switches, items[i], true);
        assert_true(switch_sold_out(&switches, items[i]));
        assert_false(switch_sold_out(&switches, items[i] == 2 ? 3 : 2));
        assert_int_equal(switches.sold_out_count, i + 1);
    }
    assert_false(switch_sold_out(&switches, ITEMS_LIMIT + 1)); /* no item has that number */
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        switch_sold_out_set(&switches, items[i], false);
        switch_sold_out_set(&switches, items[i], false);
        assert_false(switch_sold_out(&switches, items[i]));
    }
    assert_int_equal(switches.sold_out_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_off_at_first),
        cmocka_unit_test(each_switch_is_set_alone_and_shown),
        cmocka_unit_test(an_item_is_sold_out_alone_and_twice_counts_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
