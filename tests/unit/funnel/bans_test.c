/* SPDX-License-Identifier: Apache-2.0 */
/* The set of bans against a reference that looks at every ban, over random blocks, users and times. */
#include "funnel/bans.h"

#include "base/random.h"
#include "tests/unit/base/unit.h"

#include <pthread.h>
#include <stdlib.h>

enum { NOW_MS = 1000000, BANS = 300, ROUNDS = 60, QUESTIONS = 400, ASKED = 30 };

static struct address address_of(const char *text)
{
    struct address address;
    assert_int_equal(address_parse(span_from_string(text), &address), STATUS_OK);
    return address;
}

static struct ban_entry block_ban(const char *text, uint64_t until_ms)
{
    struct ban_entry ban = { .kind = BAN_ADDRESS, .until_ms = until_ms };
    assert_int_equal(address_block_parse(span_from_string(text), &ban.block), STATUS_OK);
    return ban;
}

static struct ban_set *set_of(const struct ban_entry *bans, uint32_t count)
{
    struct ban_set *set = NULL;
    assert_int_equal(ban_set_build(&set, bans, count, NOW_MS), STATUS_OK);
    return set;
}

static bool bans_address(const struct ban_set *set, const char *text, uint64_t now_ms)
{
    const struct address address = address_of(text);
    return ban_set_address_at(set, &address, now_ms);
}

static void no_ban_in_force_is_no_set(void **state)
{
    struct ban_entry bans[2] = { block_ban("10.0.0.0/8", NOW_MS), block_ban("::/0", NOW_MS - 5) };
    const struct address address = address_of("10.1.2.3");
    (void)state;
    assert_null(set_of(NULL, 0));
    assert_null(set_of(bans, 2)); /* all are over */
    assert_false(ban_set_address(NULL, &address));
    assert_false(ban_set_user(NULL, 1));
}

static void a_block_holds_to_its_edges_and_not_one_past_them(void **state)
{
    const struct ban_entry bans[] = { block_ban("203.0.113.0/24", NOW_MS + 10),
        block_ban("0.0.0.0", NOW_MS + 10), block_ban("255.255.255.255", NOW_MS + 10),
        block_ban("2001:db8::/32", NOW_MS + 20),
        block_ban("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NOW_MS + 20) };
    struct ban_set *set = set_of(bans, 5);
    (void)state;
    assert_true(bans_address(set, "203.0.113.0", NOW_MS));
    assert_true(bans_address(set, "203.0.113.255", NOW_MS + 9));
    assert_false(bans_address(set, "203.0.113.255", NOW_MS + 10)); /* its time is over */
    assert_false(bans_address(set, "203.0.112.255", NOW_MS));
    assert_false(bans_address(set, "203.0.114.0", NOW_MS));
    assert_true(bans_address(set, "0.0.0.0", NOW_MS));
    assert_false(bans_address(set, "0.0.0.1", NOW_MS));
    assert_true(bans_address(set, "255.255.255.255", NOW_MS));
    assert_false(bans_address(set, "255.255.255.254", NOW_MS));
    assert_true(bans_address(set, "2001:db8::", NOW_MS));
    assert_true(bans_address(set, "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", NOW_MS));
    assert_false(bans_address(set, "2001:db9::", NOW_MS));
    assert_false(bans_address(set, "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", NOW_MS));
    assert_true(bans_address(set, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NOW_MS));
    assert_true(bans_address(set, "::ffff:203.0.113.7", NOW_MS)); /* another spelling is no way around */
    assert_false(bans_address(set, "::", NOW_MS));
    ban_set_free(set);
}

static void the_longer_of_nested_bans_counts(void **state)
{
    const struct ban_entry bans[] = { block_ban("10.0.0.0/8", NOW_MS + 10),
        block_ban("10.1.0.0/16", NOW_MS + 50), block_ban("10.1.2.3", NOW_MS + 20),
        block_ban("10.255.0.0/16", NOW_MS + 5), block_ban("10.1.0.0/16", NOW_MS + 40) };
    struct ban_set *set = set_of(bans, 5);
    (void)state;
    assert_true(bans_address(set, "10.1.2.3", NOW_MS + 49));
    assert_false(bans_address(set, "10.1.2.3", NOW_MS + 50));
    assert_true(bans_address(set, "10.255.255.255", NOW_MS + 9));
    assert_false(bans_address(set, "10.2.0.0", NOW_MS + 10));
    assert_false(bans_address(set, "11.0.0.0", NOW_MS));
    ban_set_free(set);
}

static void all_of_one_family_leaves_the_other_alone(void **state)
{
    const struct ban_entry six = block_ban("::/0", NOW_MS + 10),
                           four = block_ban("0.0.0.0/0", NOW_MS + 10);
    struct ban_set *set = set_of(&six, 1);
    (void)state;
    assert_true(bans_address(set, "::1", NOW_MS));
    assert_true(bans_address(set, "ffff::", NOW_MS));
    assert_false(bans_address(set, "1.2.3.4", NOW_MS));
    ban_set_free(set);
    set = set_of(&four, 1);
    assert_true(bans_address(set, "0.0.0.0", NOW_MS));
    assert_true(bans_address(set, "255.255.255.255", NOW_MS));
    assert_false(bans_address(set, "::1", NOW_MS));
    ban_set_free(set);
}

/* Few distinct bits, so that blocks are nested, meet and are repeated. */
static struct address random_address(struct random *random)
{
    struct address address = { .bytes = { 0 } };
    const bool v4 = random_below(random, 2) == 0;
    if (v4)
        address.bytes[10] = address.bytes[11] = 0xff;
    for (uint32_t i = v4 ? 12 : 0; i < 16; i++) {
        static const uint8_t edges[] = { 0, 0, 1, 0x80, 0xff, 0xff };
        address.bytes[i] = edges[random_below(random, sizeof edges)];
    }
    return address;
}

static struct ban_entry random_ban(struct random *random)
{
    struct ban_entry ban = { .kind = BAN_ADDRESS, .until_ms = NOW_MS - 3 + random_below(random, 12) };
    if (random_below(random, 4) == 0) {
        ban.kind = BAN_USER;
        ban.user = 1 + random_below(random, 40) * (random_below(random, 2) == 0 ? 1 : 1ull << 40);
    } else {
        const struct address address = random_address(random);
        const uint32_t before = address_is_v4(&address) ? ADDRESS_V4_BITS : 0;
        ban.block.bits = (uint8_t)(before + random_below(random, ADDRESS_BITS - before + 1));
        for (uint32_t bit = 0; bit < ban.block.bits; bit++)
            ban.block.first.bytes[bit / 8] |= (uint8_t)(address.bytes[bit / 8] & (0x80 >> bit % 8));
    }
    return ban;
}

static bool reference(const struct ban_entry *bans, uint32_t count, const struct address *address,
    user_id user, uint64_t now_ms)
{
    for (uint32_t i = 0; i < count; i++) {
        if (bans[i].until_ms <= NOW_MS || bans[i].until_ms <= now_ms)
            continue;
        if (bans[i].kind == BAN_USER ? bans[i].user == user : address_in_block(address, &bans[i].block))
            return true;
    }
    return false;
}

static void random_sets_answer_as_the_reference_does(void **state)
{
    struct random random;
    struct ban_entry *bans = calloc(BANS, sizeof *bans);
    uint64_t banned = 0;
    (void)state;
    assert_non_null(bans);
    random_seed(&random, 20261115);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint32_t count = (uint32_t)random_below(&random, round < 20 ? 6 : BANS);
        for (uint32_t i = 0; i < count; i++)
            bans[i] = random_ban(&random);
        struct ban_set *set = set_of(bans, count);
        for (uint32_t i = 0; i < QUESTIONS; i++) {
            const struct address address = random_address(&random);
            const user_id user = 1 + random_below(&random, 40) * (i % 2 == 0 ? 1 : 1ull << 40);
            const uint64_t now_ms = NOW_MS + random_below(&random, 12);
            const struct address nobody = { .bytes = { 0x20, 1, 0xd, 0xb8, 9 } };
            const bool wanted = reference(bans, count, &address, 0, now_ms);
            banned += wanted;
            assert_int_equal(ban_set_address_at(set, &address, now_ms), wanted);
            if (!reference(bans, count, &nobody, 0, now_ms))
                assert_int_equal(ban_set_user_at(set, user, now_ms),
                    reference(bans, count, &nobody, user, now_ms));
        }
        ban_set_free(set);
    }
    assert_in_range(banned, ROUNDS * QUESTIONS / 10, ROUNDS * QUESTIONS * 9 / 10);
    free(bans);
}

static void a_full_set_is_built_and_asked(void **state)
{
    struct ban_entry *bans = calloc(BANS_MAX, sizeof *bans);
    (void)state;
    assert_non_null(bans);
    for (uint32_t i = 0; i < BANS_MAX; i++) {
        bans[i] = (struct ban_entry){ .kind = i % 2 == 0 ? BAN_USER : BAN_ADDRESS,
            .until_ms = NOW_MS + 1 + i % 7 };
        bans[i].user = i + 1;
        bans[i].block = (struct address_block){
            address_from_v4((uint8_t[]){ 10, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i }), 128
        };
    }
    struct ban_set *set = set_of(bans, BANS_MAX);
    for (uint32_t i = 0; i < BANS_MAX; i++) {
        assert_int_equal(ban_set_user_at(set, i + 1, NOW_MS), i % 2 == 0);
        assert_int_equal(ban_set_address_at(set, &bans[i].block.first, NOW_MS), i % 2 == 1);
    }
    ban_set_free(set);
    free(bans);
}

static void a_ban_that_is_put_replaces_what_held_before(void **state)
{
    struct ban_entry ban = block_ban("10.0.0.0/24", NOW_MS + 10);
    struct ban_entry user = { .kind = BAN_USER, .user = 7, .until_ms = NOW_MS + 10, .sessions_ms = 9000 };
    struct ban_set *set = ban_set_grown(NULL, NOW_MS);
    (void)state;
    assert_non_null(set);
    assert_false(bans_address(set, "10.0.0.9", NOW_MS));
    assert_true(ban_set_put(set, &ban) && ban_set_put(set, &user));
    assert_true(bans_address(set, "10.0.0.9", NOW_MS + 9));
    assert_int_equal(ban_set_sessions_until_s(set, 7), 9);
    ban.until_ms = NOW_MS + 5; /* shorter than before */
    user.until_ms = user.sessions_ms = 0;
    assert_true(ban_set_put(set, &ban) && ban_set_put(set, &user));
    assert_false(bans_address(set, "10.0.0.9", NOW_MS + 5));
    assert_false(ban_set_user_at(set, 7, NOW_MS));
    assert_int_equal(ban_set_sessions_until_s(set, 7), 0);
    ban_set_free(set);
}

static bool same_one(const struct ban_entry *a, const struct ban_entry *b)
{
    return a->kind == b->kind
        && (a->kind == BAN_USER ? a->user == b->user
                                : memcmp(&a->block, &b->block, sizeof a->block) == 0);
}

/* What all bans about the same one do together; a set that is full is replaced. */
static void tell(
    struct ban_set **set, const struct ban_entry *bans, struct ban_entry about, uint32_t *replaced)
{
    about.until_ms = 0;
    for (uint32_t i = 0; i < BANS; i++)
        if (same_one(&bans[i], &about) && bans[i].until_ms > about.until_ms)
            about.until_ms = bans[i].until_ms;
    if (about.kind == 0 || ban_set_put(*set, &about))
        return;
    struct ban_set *grown = ban_set_grown(*set, NOW_MS);
    assert_non_null(grown);
    ban_set_free(*set);
    *set = grown;
    *replaced += 1;
    assert_true(ban_set_put(*set, &about));
}

static void sets_that_change_answer_as_the_reference_does(void **state)
{
    struct random random;
    struct ban_entry *bans = calloc(BANS, sizeof *bans);
    struct ban_set *set = ban_set_grown(NULL, NOW_MS);
    uint32_t replaced = 0;
    (void)state;
    assert_non_null(bans);
    random_seed(&random, 20261116);
    for (uint32_t step = 0; step < ROUNDS * BANS; step++) {
        struct ban_entry *ban = &bans[random_below(&random, BANS)];
        const struct ban_entry before = *ban;
        if (random_below(&random, 3) == 0)
            ban->until_ms = 0;
        else
            *ban = random_ban(&random);
        tell(&set, bans, before, &replaced);
        tell(&set, bans, *ban, &replaced);
        if (step % 8 != 0)
            continue;
        const struct address address = random_address(&random);
        const user_id user = 1 + random_below(&random, 40) * (step % 16 == 0 ? 1 : 1ull << 40);
        const struct address nobody = { .bytes = { 0x20, 1, 0xd, 0xb8, 9 } };
        assert_int_equal(ban_set_address_at(set, &address, NOW_MS + step % 12),
            reference(bans, BANS, &address, 0, NOW_MS + step % 12));
        if (!reference(bans, BANS, &nobody, 0, NOW_MS))
            assert_int_equal(
                ban_set_user_at(set, user, NOW_MS), reference(bans, BANS, &nobody, user, NOW_MS));
    }
    assert_in_range(replaced, 3, ROUNDS * BANS / 20); /* rarely */
    ban_set_free(set);
    free(bans);
}

/* A reader sees each ban complete or not at all while the writer puts in others. */
static void *ask_until_all_are_banned(void *set)
{
    for (uint32_t seen = 0; seen < 2 * ASKED;) {
        seen = 0;
        for (uint32_t i = 1; i <= ASKED; i++) {
            const struct address address = address_from_v4((uint8_t[]){ 10, 0, 0, (uint8_t)i });
            seen += ban_set_user_at(set, i, NOW_MS) + ban_set_address_at(set, &address, NOW_MS);
        }
        assert_false(ban_set_user_at(set, ASKED + 1, NOW_MS));
    }
    return NULL;
}

static void readers_need_no_lock(void **state)
{
    struct ban_set *set = ban_set_grown(NULL, NOW_MS);
    pthread_t thread;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, ask_until_all_are_banned, set), 0);
    for (uint32_t i = 1; i <= ASKED; i++) {
        const struct ban_entry user = { .kind = BAN_USER, .user = i, .until_ms = NOW_MS + 1 };
        struct ban_entry block = { .kind = BAN_ADDRESS, .until_ms = NOW_MS + 1 };
        block.block =
            (struct address_block){ address_from_v4((uint8_t[]){ 10, 0, 0, (uint8_t)i }), 128 };
        assert_true(ban_set_put(set, &user) && ban_set_put(set, &block));
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    ban_set_free(set);
}

static void now_is_the_clock(void **state)
{
    clock_start(0);
    const uint64_t now_ms = clock_now_ms();
    struct ban_entry bans[2] = { block_ban("10.0.0.0/8", now_ms + 60000),
        { .kind = BAN_USER, .user = 7, .until_ms = now_ms + 60000 } };
    struct ban_set *set;
    const struct address address = address_of("10.0.0.1");
    (void)state;
    assert_int_equal(ban_set_build(&set, bans, 2, now_ms), STATUS_OK);
    assert_true(ban_set_address(set, &address));
    assert_true(ban_set_user(set, 7));
    assert_false(ban_set_user(set, 8));
    ban_set_free(set);
    bans[0].until_ms = bans[1].until_ms = 2; /* built long ago, over since */
    assert_int_equal(ban_set_build(&set, bans, 2, 1), STATUS_OK);
    assert_non_null(set);
    assert_false(ban_set_address(set, &address));
    assert_false(ban_set_user(set, 7));
    ban_set_free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_ban_in_force_is_no_set),
        cmocka_unit_test(a_block_holds_to_its_edges_and_not_one_past_them),
        cmocka_unit_test(the_longer_of_nested_bans_counts),
        cmocka_unit_test(all_of_one_family_leaves_the_other_alone),
        cmocka_unit_test(random_sets_answer_as_the_reference_does),
        cmocka_unit_test(a_full_set_is_built_and_asked),
        cmocka_unit_test(a_ban_that_is_put_replaces_what_held_before),
        cmocka_unit_test(sets_that_change_answer_as_the_reference_does),
        cmocka_unit_test(readers_need_no_lock),
        cmocka_unit_test(now_is_the_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
