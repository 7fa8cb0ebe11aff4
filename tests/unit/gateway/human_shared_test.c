/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/human_shared.h"

#include "base/clock.h"
#include "tests/unit/base/unit.h"

#include <poll.h>

static struct config config;
static char error[CONFIG_ERROR];

static void it_draws_by_itself_and_stops(void **state)
{
    (void)state;
    struct human_desk desk = { .pool = NULL };
    struct funnel_keys keys;
    clock_start(0);
    config_defaults(&config);
    config.human_pictures = 3; /* becomes 4 */
    assert_int_equal(human_desk_open(&desk, &config, 2, error), STATUS_OK);
    assert_int_equal(human_desk_start(&desk), STATUS_OK);
    const struct human human = human_desk_edge(&desk, &config, &keys, 1);
    assert_true(human.keys == &keys && human.edge == 1 && human.life_s == config.human_challenge_s);
    assert_int_equal(human.start, human_desk_edge(&desk, &config, &keys, 0).start); /* one for all edges */
    for (unsigned taken = 0; taken < 10;) {
        if (picture_pool_code(human.pool, human.edge) != NULL)
            taken++;
        else
            poll(NULL, 0, 1);
    }
    human_desk_stop(&desk);
    human_desk_close(&desk);
}

static void without_pictures_there_is_no_pool(void **state)
{
    (void)state;
    struct human_desk desk = { .pool = NULL };
    config_defaults(&config);
    config.human_pictures = 0;
    assert_int_equal(human_desk_open(&desk, &config, 1, error), STATUS_OK);
    assert_null(desk.pool);
    const uint32_t start = desk.start;
    human_desk_close(&desk);
    assert_int_equal(human_desk_open(&desk, &config, 1, error), STATUS_OK);
    assert_true(desk.start != start); /* each start has its own */
    assert_int_equal(spent_take(desk.spent, 1, 100, 50), SPENT_FRESH);
    human_desk_close(&desk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_draws_by_itself_and_stops),
        cmocka_unit_test(without_pictures_there_is_no_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
