/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/human_shared.h"

#include "base/clock.h"
#include "funnel/human/human.h"
#include "funnel/human/picture_pool.h"
#include "funnel/keys.h"
#include "funnel/spent.h"
#include "tests/unit/base/unit.h"

#include <poll.h>

static struct config config;
static char error[CONFIG_ERROR];

static void it_draws_by_itself_and_stops(void **state)
{
    (void)state;
    struct human_shared shared = { .pool = NULL };
    struct funnel_keys keys;
    clock_start(0);
    config_defaults(&config);
    config.human_pictures = 3; /* becomes 4 */
    assert_int_equal(human_shared_open(&shared, &config, 2, error), STATUS_OK);
    assert_int_equal(human_shared_start(&shared), STATUS_OK);
    const struct human human = human_shared_edge(&shared, &config, &keys, 1);
    assert_true(human.keys == &keys && human.edge == 1 && human.life_s == config.human_challenge_s);
    /* One start for all edges. */
    assert_int_equal(human.start, human_shared_edge(&shared, &config, &keys, 0).start);
    for (unsigned taken = 0; taken < 10;) {
        if (picture_pool_code(human.pool, human.edge) != NULL)
            taken++;
        else
            poll(NULL, 0, 1);
    }
    human_shared_stop(&shared);
    human_shared_close(&shared);
}

static void without_pictures_there_is_no_pool(void **state)
{
    (void)state;
    struct human_shared shared = { .pool = NULL };
    config_defaults(&config);
    config.human_pictures = 0;
    assert_int_equal(human_shared_open(&shared, &config, 1, error), STATUS_OK);
    assert_null(shared.pool);
    const uint32_t start = shared.start;
    human_shared_close(&shared);
    assert_int_equal(human_shared_open(&shared, &config, 1, error), STATUS_OK);
    assert_true(shared.start != start); /* each start has its own */
    assert_int_equal(spent_take(shared.spent, 1, 100, 50), SPENT_FRESH);
    human_shared_close(&shared);
}

/* What one gateway gave out, the others accept; those of another shop do not. */
static void gateways_with_the_same_keys_have_one_start(void **state)
{
    (void)state;
    struct human_shared shared[3] = { { .pool = NULL } };
    static const char *const masters[] = { "one secret of thirty-two bytes!!",
        "one secret of thirty-two bytes!!", "another one of thirty-two bytes!" };
    config_defaults(&config);
    config.human_pictures = 0;
    for (unsigned i = 0; i < 3; i++) {
        struct funnel_keys keys;
        assert_int_equal(funnel_keys_derive(&keys, masters[i], FUNNEL_MASTER_BYTES), STATUS_OK);
        assert_int_equal(human_shared_open(&shared[i], &config, 1, error), STATUS_OK);
        human_shared_join(&shared[i], &keys);
    }
    assert_int_equal(shared[0].start, shared[1].start);
    assert_int_not_equal(shared[0].start, shared[2].start);
    for (unsigned i = 0; i < 3; i++)
        human_shared_close(&shared[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_draws_by_itself_and_stops),
        cmocka_unit_test(without_pictures_there_is_no_pool),
        cmocka_unit_test(gateways_with_the_same_keys_have_one_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
