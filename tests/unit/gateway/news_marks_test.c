/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/news_marks.h"

#include "tests/unit/base/unit.h"

#include <string.h>

static struct news_marks marks;

static int fresh(void **state)
{
    (void)state;
    memset(&marks, 0, sizeof marks);
    return 0;
}

static void news_that_came_after_the_job_was_handed_in_is_known(void **state)
{
    (void)state;
    const uint64_t seen = marks.count;
    assert_false(news_since(&marks, 5, seen));
    news_mark(&marks, 5);
    assert_true(news_since(&marks, 5, seen));
    assert_false(news_since(&marks, 6, seen));        /* another order */
    assert_false(news_since(&marks, 5, marks.count)); /* a job that was handed in after it */
}

static void news_of_any_order_is_news_of_each(void **state)
{
    (void)state;
    news_mark(&marks, 5);
    const uint64_t seen = marks.count;
    news_mark(&marks, 0);
    assert_true(news_since(&marks, 5, seen) && news_since(&marks, 6, seen));
    assert_false(news_since(&marks, 6, marks.count));
}

static void no_news_is_forgotten_however_many_orders_change(void **state)
{
    (void)state;
    const uint64_t seen = marks.count;
    for (ticket_number ticket = 1; ticket <= 3 * NEWS_ROWS; ticket++)
        news_mark(&marks, ticket);
    for (ticket_number ticket = 1; ticket <= 3 * NEWS_ROWS; ticket++)
        assert_true(news_since(&marks, ticket, seen));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(news_that_came_after_the_job_was_handed_in_is_known, fresh),
        cmocka_unit_test_setup(news_of_any_order_is_news_of_each, fresh),
        cmocka_unit_test_setup(no_news_is_forgotten_however_many_orders_change, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
