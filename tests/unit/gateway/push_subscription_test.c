/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/push_subscription.h"

#include "tests/unit/base/unit.h"

static struct push_watch watch;

static bool message(const char *text)
{
    return push_watch_message(span_from_string(text), &watch);
}

static bool list(const char *text)
{
    return push_watch_list(span_from_string(text), &watch);
}

static void up_to_eight_items_are_read_each_once(void **state)
{
    (void)state;
    assert_true(message("{\"watch\":[]}"));
    assert_int_equal(watch.count, 0);
    assert_true(message(" { \"watch\" : [ 3 , 7,3\t] }\n"));
    assert_int_equal(watch.count, 2);
    assert_int_equal(watch.items[0], 3);
    assert_int_equal(watch.items[1], 7);
    assert_true(message("{\"watch\":[1,2,3,4,5,6,7,8]}"));
    assert_true(list("4294967295,2"));
    assert_int_equal(watch.items[0], UINT32_MAX);
    assert_true(list("1,2,3,4,5,6,7,8,8"));
}

static void anything_else_is_refused(void **state)
{
    static const char *const wrong[] = { "", "{}", "[]", "{\"watch\":[1,]}", "{\"watch\":[,1]}",
        "{\"watch\":[1 2]}", "{\"watch\":[01]}", "{\"watch\":[4294967296]}", "{\"watch\":[-1]}",
        "{\"watch\":[1.0]}", "{\"watch\":[\"1\"]}", "{\"watch\":1}", "{\"watch\":[1]", "{\"watch\":[1]}}",
        "{\"watch\":[1],\"x\":1}", "{\"wat\":[1]}", "{\"watch\":[1,2,3,4,5,6,7,8,9]}", "\xff" };
    static const char *const lists[] = { "", ",", "1,", ",1", "1,,2", "x", "-1", " 1", "4294967296",
        "1,2,3,4,5,6,7,8,9" };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(message(wrong[i]));
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        assert_false(list(lists[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(up_to_eight_items_are_read_each_once),
        cmocka_unit_test(anything_else_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
