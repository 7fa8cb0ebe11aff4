/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/keys.h"

#include "tests/unit/base/unit.h"

#define HOUR_MS (UINT64_C(1000) * PASS_EPOCH_S)
#define NOW_MS (UINT64_C(472222) * HOUR_MS)

static const uint8_t master[FUNNEL_MASTER_BYTES] = "a master secret of 32 bytes.....";

static struct funnel_keys keys_from(const void *secret, size_t bytes)
{
    struct funnel_keys keys;
    assert_int_equal(funnel_keys_derive(&keys, secret, bytes), STATUS_OK);
    return keys;
}

static void a_master_secret_below_32_bytes_is_refused(void **state)
{
    (void)state;
    struct funnel_keys keys;
    assert_int_equal(funnel_keys_derive(&keys, master, FUNNEL_MASTER_BYTES - 1), STATUS_BAD_INPUT);
    assert_int_equal(funnel_keys_derive(&keys, master, 0), STATUS_BAD_INPUT);
    assert_int_equal(funnel_keys_derive(&keys, master, FUNNEL_MASTER_BYTES), STATUS_OK);
}

static void the_same_master_gives_the_same_keys_and_one_other_bit_others(void **state)
{
    (void)state;
    struct funnel_keys a = keys_from(master, sizeof master), b = keys_from(master, sizeof master);
    assert_memory_equal(&a, &b, sizeof a);
    uint8_t other[FUNNEL_MASTER_BYTES];
    memcpy(other, master, sizeof other);
    other[31] ^= 1;
    b = keys_from(other, sizeof other);
    assert_memory_not_equal(&a.ticket, &b.ticket, sizeof a.ticket);
    assert_true(a.user.k0 != b.user.k0 && a.filter.k1 != b.filter.k1);
}

static void no_two_keys_of_a_set_are_equal(void **state)
{
    (void)state;
    struct funnel_keys keys = keys_from(master, sizeof master);
    funnel_keys_turn(&keys, NOW_MS);
    /* Each starts with its secret, or with a word that follows from it alone. */
    const void *all[] = { &keys.ticket, &keys.order, &keys.user, &keys.idempotency, &keys.filter,
        &keys.drop, &keys.pass.keys[0], &keys.pass.keys[1], &keys.pass.keys[2],
        &keys.session.keys[0], &keys.session.keys[1], &keys.session.keys[2] };
    size_t count = sizeof all / sizeof *all;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(all[i], all[j], sizeof(struct hash_key));
    }
}

static void previous_current_and_next_epoch_are_held_and_no_other(void **state)
{
    (void)state;
    struct funnel_keys keys = keys_from(master, sizeof master);
    uint32_t now = NOW_MS / HOUR_MS;
    assert_null(epoch_key(&keys.pass, now)); /* not turned yet */
    funnel_keys_turn(&keys, NOW_MS);
    assert_null(epoch_key(&keys.pass, now - 2));
    assert_non_null(epoch_key(&keys.pass, now - 1));
    assert_non_null(epoch_key(&keys.pass, now));
    assert_non_null(epoch_key(&keys.pass, now + 1));
    assert_null(epoch_key(&keys.pass, now + 2));
    assert_null(epoch_key(&keys.pass, 0));
}

static void an_epoch_keeps_its_key_when_the_time_moves_on(void **state)
{
    (void)state;
    struct funnel_keys keys = keys_from(master, sizeof master);
    uint32_t epoch = NOW_MS / HOUR_MS;
    funnel_keys_turn(&keys, NOW_MS - 1); /* the last millisecond before it */
    assert_int_equal(keys.pass.first, epoch - 2);
    struct cipher_mac as_next = keys.pass.keys[2];
    assert_ptr_equal(epoch_key(&keys.pass, epoch), &keys.pass.keys[2]);
    funnel_keys_turn(&keys, NOW_MS);
    assert_int_equal(keys.pass.first, epoch - 1);
    assert_memory_equal(epoch_key(&keys.pass, epoch), &as_next, sizeof as_next);
    funnel_keys_turn(&keys, NOW_MS + HOUR_MS);
    assert_memory_equal(epoch_key(&keys.pass, epoch), &as_next, sizeof as_next);
    funnel_keys_turn(&keys, NOW_MS + 2 * HOUR_MS);
    assert_null(epoch_key(&keys.pass, epoch));
    funnel_keys_turn(&keys, NOW_MS); /* and back */
    assert_memory_equal(epoch_key(&keys.pass, epoch), &as_next, sizeof as_next);
}

static void passes_and_sessions_differ_in_epochs_of_the_same_number(void **state)
{
    (void)state;
    struct funnel_keys keys = keys_from(master, sizeof master);
    funnel_keys_turn(&keys, 0); /* both are in epoch 0 */
    assert_int_equal(keys.pass.first, keys.session.first);
    for (unsigned i = 0; i < FUNNEL_EPOCHS_HELD; i++)
        assert_memory_not_equal(&keys.pass.keys[i], &keys.session.keys[i], sizeof keys.pass.keys[i]);
}

static void the_first_epoch_of_all_works(void **state)
{
    (void)state;
    struct funnel_keys keys = keys_from(master, sizeof master);
    funnel_keys_turn(&keys, 0);
    assert_non_null(epoch_key(&keys.pass, 0));
    assert_non_null(epoch_key(&keys.pass, 1));
    assert_null(epoch_key(&keys.pass, 2));
}

static void users_and_idempotency_keys_get_ids_of_their_own(void **state)
{
    (void)state;
    struct funnel_keys keys = keys_from(master, sizeof master);
    user_id alice = funnel_user_id(&keys, SPAN("alice")), bob = funnel_user_id(&keys, SPAN("bob"));
    assert_true(alice != 0 && bob != 0 && alice != bob);
    assert_true(alice == funnel_user_id(&keys, SPAN("alice")));
    uint64_t key = funnel_key_hash(&keys, alice, SPAN("k1"));
    assert_true(key != 0 && key == funnel_key_hash(&keys, alice, SPAN("k1")));
    assert_true(key != funnel_key_hash(&keys, alice, SPAN("k2")));
    assert_true(key != funnel_key_hash(&keys, bob, SPAN("k1")));
    char longest[KEY_BYTES_MAX];
    memset(longest, 'x', sizeof longest);
    assert_true(funnel_key_hash(&keys, bob, span_of(longest, sizeof longest)) != 0);
}

static void our_own_keys_are_apart_from_those_of_users(void **state)
{
    (void)state;
    struct funnel_keys keys = keys_from(master, sizeof master);
    const uint64_t key = funnel_own_key(&keys, 7, "late", 12);
    assert_true(key != 0 && key == funnel_own_key(&keys, 7, "late", 12));
    assert_true(key != funnel_own_key(&keys, 8, "late", 12));
    assert_true(key != funnel_own_key(&keys, 7, "late", 13));
    assert_true(key != funnel_own_key(&keys, 7, "intent", 12));
    assert_true(key != funnel_key_hash(&keys, 7, SPAN("late-12")));
    assert_true(key != funnel_key_hash(&keys, 7, SPAN("late-000000000000000c")));
}

static void key_one_too_long(void)
{
    static const char text[KEY_BYTES_MAX + 1] = "x";
    struct funnel_keys keys = { .root = { 0 } };
    (void)!funnel_key_hash(&keys, 1, span_of(text, sizeof text));
}

static void an_idempotency_key_past_its_bound_stops_the_program(void **state)
{
    (void)state;
    assert_true(unit_stops(key_one_too_long));
}

static void told_ids_lead_back_and_ticket_and_order_differ(void **state)
{
    (void)state;
    struct funnel_keys keys = keys_from(master, sizeof master);
    for (ticket_number ticket = 1; ticket < 1000; ticket++) {
        uint64_t as_ticket = funnel_ticket_id(&keys, ticket), as_order = funnel_order_id(&keys, ticket);
        assert_true(as_ticket != as_order && as_ticket != ticket);
        assert_true(funnel_ticket_number(&keys, as_ticket) == ticket);
        assert_true(funnel_order_number(&keys, as_order) == ticket);
        const struct win_ids both = funnel_win_ids(&keys, ticket);
        assert_true(both.ticket == as_ticket && both.order == as_order);
    }
}

int main(void)
{
    const struct CMUnitTest rules[] = {
        cmocka_unit_test(a_master_secret_below_32_bytes_is_refused),
        cmocka_unit_test(the_same_master_gives_the_same_keys_and_one_other_bit_others),
        cmocka_unit_test(no_two_keys_of_a_set_are_equal),
        cmocka_unit_test(previous_current_and_next_epoch_are_held_and_no_other),
        cmocka_unit_test(an_epoch_keeps_its_key_when_the_time_moves_on),
        cmocka_unit_test(passes_and_sessions_differ_in_epochs_of_the_same_number),
        cmocka_unit_test(the_first_epoch_of_all_works),
        cmocka_unit_test(users_and_idempotency_keys_get_ids_of_their_own),
        cmocka_unit_test(our_own_keys_are_apart_from_those_of_users),
        cmocka_unit_test(an_idempotency_key_past_its_bound_stops_the_program),
        cmocka_unit_test(told_ids_lead_back_and_ticket_and_order_differ),
    };
    return cmocka_run_group_tests(rules, NULL, NULL);
}
