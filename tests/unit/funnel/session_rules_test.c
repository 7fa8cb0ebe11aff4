/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of funnel/session_rules.h: which sessions still count. */
#include "contract/bans.h"
#include "funnel/bans.h"
#include "funnel/session_rules.h"
#include "funnel/token.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { NOW_S = 1000000, USER = 7 };

static struct session session_at(uint32_t issued_s, uint32_t key_mark)
{
    return (struct session){
        .user = USER, .issued_s = issued_s, .expires_s = NOW_S + 1000, .key_mark = key_mark
    };
}

static bool counts(const struct session_rules *rules, const struct ban_set *bans, struct session session)
{
    return session_counts(rules, bans, &session);
}

static void sessions_made_before_the_time_are_over(void **state)
{
    (void)state;
    const struct session_rules any = { .valid_from_s = 0 }, some = { .valid_from_s = NOW_S };
    assert_true(counts(&any, NULL, session_at(1, 0)));
    assert_false(counts(&some, NULL, session_at(NOW_S - 1, 0)));
    assert_true(counts(&some, NULL, session_at(NOW_S, 0)));
}

static void a_session_needs_the_key_it_was_made_with(void **state)
{
    (void)state;
    const struct session_rules rules = { .key_count = 2, .key_marks = { 5, KEY_MARK_MAX } };
    const struct session_rules none = { .key_count = 0, .key_marks = { 5 } };
    assert_true(counts(&rules, NULL, session_at(NOW_S, 5)));
    assert_true(counts(&rules, NULL, session_at(NOW_S, KEY_MARK_MAX)));
    assert_false(counts(&rules, NULL, session_at(NOW_S, 6)));
    assert_false(counts(&none, NULL, session_at(NOW_S, 5)));
    assert_true(counts(&none, NULL, session_at(NOW_S, 0))); /* a guest */
}

static void a_ban_ends_sessions_up_to_its_time_even_after_it_is_over(void **state)
{
    (void)state;
    const uint64_t now_ms = NOW_S * 1000ull;
    const struct session_rules rules = { .key_count = 0 };
    const struct ban_entry bans[] = {
        { .kind = BAN_USER, .user = USER, .until_ms = now_ms + 60000, .sessions_ms = now_ms },
        { .kind = BAN_USER, .user = USER + 1, .until_ms = now_ms + 60000 },
    };
    static const uint64_t later_ms[] = { 0, 60000, BAN_SESSIONS_MS - 1 };
    for (size_t i = 0; i < sizeof later_ms / sizeof *later_ms; i++) {
        struct ban_set *set = NULL;
        assert_int_equal(ban_set_build(&set, bans, 2, now_ms + later_ms[i]), STATUS_OK);
        assert_non_null(set);
        assert_int_equal(ban_set_user_at(set, USER, now_ms + later_ms[i]), later_ms[i] == 0);
        assert_false(counts(&rules, set, session_at(NOW_S, 0)));
        assert_true(counts(&rules, set, session_at(NOW_S + 1, 0)));
        struct session other = session_at(1, 0);
        other.user = USER + 1; /* banned, but may look at orders */
        assert_true(session_counts(&rules, set, &other));
        ban_set_free(set);
    }
    struct ban_set *set = NULL;
    assert_int_equal(ban_set_build(&set, bans, 2, now_ms + BAN_SESSIONS_MS), STATUS_OK);
    assert_null(set); /* no session is so old */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_made_before_the_time_are_over),
        cmocka_unit_test(a_session_needs_the_key_it_was_made_with),
        cmocka_unit_test(a_ban_ends_sessions_up_to_its_time_even_after_it_is_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
