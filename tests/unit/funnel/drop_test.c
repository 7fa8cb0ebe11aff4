/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/drop.h"

#include "tests/unit/base/unit.h"

enum { USERS = 200000 };
static const uint8_t master[FUNNEL_MASTER_BYTES] = "a master secret of 32 bytes.....";

static struct funnel_keys keys_make(uint8_t last)
{
    struct funnel_keys keys;
    uint8_t secret[FUNNEL_MASTER_BYTES];
    memcpy(secret, master, sizeof secret);
    secret[31] ^= last;
    assert_int_equal(funnel_keys_derive(&keys, secret, sizeof secret), STATUS_OK);
    return keys;
}

static uint32_t hits(const struct funnel_keys *keys, sale_id sale, uint32_t percent)
{
    uint32_t count = 0;
    for (user_id user = 1; user <= USERS; user++)
        count += drop_hits(keys, sale, user, percent);
    return count;
}

static void nobody_at_0_everybody_at_100(void **state)
{
    (void)state;
    const struct funnel_keys keys = keys_make(0);
    assert_int_equal(hits(&keys, 1, 0), 0);
    assert_int_equal(hits(&keys, 1, 100), USERS);
}

/* The deviation of a fair draw is below sqrt(USERS) / 2 = 224; five of them are never seen. */
static void the_share_is_what_was_asked(void **state)
{
    (void)state;
    const struct funnel_keys keys = keys_make(0);
    for (uint32_t percent = 1; percent < 100; percent += 7) {
        const int64_t off = (int64_t)hits(&keys, 3, percent) - USERS / 100 * percent;
        assert_in_range(off + 1120, 0, 2240);
    }
}

static void asking_again_does_not_help_and_a_higher_share_keeps_who_was_out(void **state)
{
    (void)state;
    const struct funnel_keys keys = keys_make(0);
    for (user_id user = 1; user <= 10000; user++) {
        const bool out = drop_hits(&keys, 1, user, 30);
        assert_int_equal(drop_hits(&keys, 1, user, 30), out);
        if (out)
            assert_true(drop_hits(&keys, 1, user, 31));
    }
}

/* Of those out in one sale about half are out at 50 % in another one, and under another key. */
static void another_sale_and_another_key_drop_others(void **state)
{
    (void)state;
    const struct funnel_keys keys = keys_make(0), others = keys_make(1);
    uint32_t same_sale = 0, same_key = 0;
    for (user_id user = 1; user <= USERS; user++) {
        same_sale += drop_hits(&keys, 1, user, 50) && drop_hits(&others, 1, user, 50);
        same_key += drop_hits(&keys, 1, user, 50) && drop_hits(&keys, 2, user, 50);
    }
    assert_in_range(same_sale, USERS / 4 - 1000, USERS / 4 + 1000);
    assert_in_range(same_key, USERS / 4 - 1000, USERS / 4 + 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_at_0_everybody_at_100),
        cmocka_unit_test(the_share_is_what_was_asked),
        cmocka_unit_test(asking_again_does_not_help_and_a_higher_share_keeps_who_was_out),
        cmocka_unit_test(another_sale_and_another_key_drop_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
