/* SPDX-License-Identifier: Apache-2.0 */
/* Dead letters: what only a real file can show; the seam suite has the rest. */
#include "contract/order_store.h"

#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int place_setup(void **state)
{
    struct place *place = test_calloc(1, sizeof *place);
    place_make(place);
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    for (user_id user = 1; user <= 5; user++)
        assert_int_equal(place_sell(place, user), STATUS_OK);
    *state = place;
    return 0;
}

static int place_teardown(void **state)
{
    place_remove(*state);
    test_free(*state);
    return 0;
}

static void a_letter_whose_record_is_damaged_is_not_applied(void **state)
{
    struct place *place = *state;
    struct queue_record record = place_win(place, 9);
    const uint8_t dead = DISPOSE_DEAD;
    const struct dead_decision decision = { .id = 1, .to = DEAD_RETRIED };
    place->refusal = (struct refusal){ 0 };
    assert_int_equal(
        place->store->ops->apply(place->store, &record, &dead, 1, &place->refusal), STATUS_OK);
    place_execute(place, "UPDATE dead_letters SET record = substr(record, 1, 9)");
    assert_int_equal(place->store->ops->dead_letter_decide(place->store, &decision, &place->refusal),
        STATUS_CORRUPT);
    assert_int_equal(place_number(place, "SELECT state FROM dead_letters"), DEAD_OPEN);
    assert_int_equal(place_number(place, "SELECT count(*) FROM orders"), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_letter_whose_record_is_damaged_is_not_applied, place_setup, place_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
