/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/token.h"

#include "base/base64.h"
#include "base/random.h"
#include "tests/unit/base/unit.h"

#define EPOCH_MS (UINT64_C(1000) * PASS_EPOCH_S)
#define NOW_MS (UINT64_C(1700000000) * 1000)
enum { NOW_S = 1700000000, LIFE_S = 300, FORGERIES = 1000 * 1000 };

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
static struct funnel_keys keys;
static const struct pass a_pass = { .user = 77, .item = 5, .expires_s = NOW_S + LIFE_S, .nonce = 9 };
static const struct session a_session = { .user = 77, .expires_s = NOW_S + LIFE_S, .issued_s = NOW_S };

static int make_keys(void **state)
{
    (void)state;
    static const char master[FUNNEL_MASTER_BYTES] = "another master secret, 32 bytes";
    assert_int_equal(funnel_keys_derive(&keys, master, sizeof master), STATUS_OK);
    funnel_keys_turn(&keys, NOW_MS);
    return 0;
}

static enum token_answer pass_ask(const char *text, size_t size, uint64_t now_ms)
{
    struct pass pass;
    return pass_verify(&keys, span_of(text, size), now_ms, &pass);
}

static enum token_answer session_ask(const char *text, size_t size, uint64_t now_ms)
{
    struct session session;
    return session_verify(&keys, span_of(text, size), now_ms, &session);
}

static void a_pass_comes_back_as_it_was_issued(void **state)
{
    (void)state;
    for (int i = 0; i < CHANNELS_MAX; i++) {
        const channel_index channel = (channel_index)i;
        char text[TOKEN_CHARS];
        struct pass given = a_pass, pass;
        given.channel = channel;
        given.item = channel % 2 == 0 ? a_pass.item : ITEMS_LIMIT - 1;
        pass_issue(&keys, &given, text);
        assert_int_equal(pass_verify(&keys, span_of(text, sizeof text), NOW_MS, &pass), TOKEN_OK);
        assert_true(pass.user == given.user && pass.item == given.item && pass.channel == channel);
        assert_true(pass.expires_s == given.expires_s && pass.nonce == given.nonce);
    }
}

static void a_session_comes_back_as_it_was_issued(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * CHANNELS_MAX; i++) {
        struct session given = a_session, session;
        given.guest = i % 2 != 0;
        given.channel = (channel_index)(i / 2);
        char text[TOKEN_CHARS];
        session_issue(&keys, &given, text);
        assert_int_equal(session_verify(&keys, span_of(text, sizeof text), NOW_MS, &session), TOKEN_OK);
        assert_true(session.user == given.user && session.expires_s == given.expires_s);
        assert_true(session.issued_s == given.issued_s && session.guest == given.guest);
        assert_int_equal(session.channel, given.channel);
    }
}

static void every_other_character_at_every_position_is_refused(void **state)
{
    (void)state;
    char pass[TOKEN_CHARS], session[TOKEN_CHARS];
    pass_issue(&keys, &a_pass, pass);
    session_issue(&keys, &a_session, session);
    for (size_t at = 0; at < TOKEN_CHARS; at++) {
        char was_pass = pass[at], was_session = session[at];
        for (int c = 0; c < 256; c++) {
            bool ours = c != 0 && strchr(alphabet, c) != NULL;
            pass[at] = session[at] = (char)c;
            enum token_answer answer = pass_ask(pass, TOKEN_CHARS, NOW_MS);
            if ((char)c != was_pass)
                assert_true(ours ? answer == TOKEN_FORGED || answer == TOKEN_EXPIRED
                                 : answer == TOKEN_MALFORMED);
            answer = session_ask(session, TOKEN_CHARS, NOW_MS);
            if ((char)c != was_session)
                assert_true(ours ? answer != TOKEN_OK : answer == TOKEN_MALFORMED);
        }
        pass[at] = was_pass;
        session[at] = was_session;
    }
    assert_int_equal(pass_ask(pass, TOKEN_CHARS, NOW_MS), TOKEN_OK);
    assert_int_equal(session_ask(session, TOKEN_CHARS, NOW_MS), TOKEN_OK);
}

static void every_flipped_bit_is_refused(void **state)
{
    (void)state;
    char text[TOKEN_CHARS];
    uint8_t bytes[TOKEN_BYTES];
    size_t size = sizeof bytes;
    pass_issue(&keys, &a_pass, text);
    assert_int_equal(base64_decode(span_of(text, sizeof text), bytes, &size), STATUS_OK);
    assert_int_equal(size, TOKEN_BYTES);
    for (unsigned bit = 0; bit < TOKEN_BYTES * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        base64_encode(bytes, sizeof bytes, text);
        assert_int_not_equal(pass_ask(text, sizeof text, NOW_MS), TOKEN_OK);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void any_other_length_is_malformed(void **state)
{
    (void)state;
    char text[TOKEN_CHARS + 1];
    pass_issue(&keys, &a_pass, text);
    text[TOKEN_CHARS] = 'A';
    for (size_t size = 0; size <= sizeof text; size++)
        assert_int_equal(pass_ask(text, size, NOW_MS), size == TOKEN_CHARS ? TOKEN_OK : TOKEN_MALFORMED);
    assert_int_equal(pass_ask(NULL, 0, NOW_MS), TOKEN_MALFORMED);
    text[TOKEN_CHARS - 1] = '=';
    assert_int_equal(pass_ask(text, TOKEN_CHARS, NOW_MS), TOKEN_MALFORMED);
}

static void a_token_is_good_until_the_millisecond_before_it_expires(void **state)
{
    (void)state;
    char pass[TOKEN_CHARS], session[TOKEN_CHARS];
    pass_issue(&keys, &a_pass, pass);
    session_issue(&keys, &a_session, session);
    uint64_t end_ms = (uint64_t)a_pass.expires_s * 1000;
    assert_int_equal(pass_ask(pass, TOKEN_CHARS, end_ms - 1), TOKEN_OK);
    assert_int_equal(pass_ask(pass, TOKEN_CHARS, end_ms), TOKEN_EXPIRED);
    assert_int_equal(session_ask(session, TOKEN_CHARS, end_ms - 1), TOKEN_OK);
    assert_int_equal(session_ask(session, TOKEN_CHARS, end_ms), TOKEN_EXPIRED);
}

static void a_pass_is_no_session_and_a_session_no_pass(void **state)
{
    (void)state;
    struct pass pass = { .user = 77, .item = 7, .expires_s = NOW_S + LIFE_S, .nonce = 0 };
    /* The same expiry wherever it is read, so that only the keys keep it from being a pass. */
    struct session session = { .user = 77, .expires_s = NOW_S + LIFE_S, .issued_s = NOW_S + LIFE_S };
    char text[TOKEN_CHARS];
    pass_issue(&keys, &pass, text);
    assert_int_not_equal(session_ask(text, TOKEN_CHARS, NOW_MS), TOKEN_OK);
    session_issue(&keys, &session, text);
    assert_int_equal(pass_ask(text, TOKEN_CHARS, NOW_MS), TOKEN_FORGED);
}

static void a_pass_from_the_previous_epoch_is_accepted_and_older_ones_are_refused(void **state)
{
    (void)state;
    uint64_t begin_ms = (NOW_MS / EPOCH_MS + 1) * EPOCH_MS; /* an epoch begins here */
    char text[TOKEN_CHARS];
    struct pass pass = a_pass;
    funnel_keys_turn(&keys, begin_ms - 1000);
    pass.expires_s = (uint32_t)(begin_ms / 1000) + LIFE_S;
    pass_issue(&keys, &pass, text); /* issued before, expires after */
    funnel_keys_turn(&keys, begin_ms);
    assert_int_equal(pass_ask(text, TOKEN_CHARS, begin_ms), TOKEN_OK);
    assert_int_equal(pass_ask(text, TOKEN_CHARS, begin_ms + LIFE_S * 1000 - 1), TOKEN_OK);
    funnel_keys_turn(&keys, begin_ms + EPOCH_MS); /* its key is the previous one now */
    assert_int_equal(pass_ask(text, TOKEN_CHARS, begin_ms + EPOCH_MS), TOKEN_EXPIRED);
    text[0] = text[0] == 'A' ? 'B' : 'A';
    assert_int_equal(pass_ask(text, TOKEN_CHARS, begin_ms + EPOCH_MS), TOKEN_FORGED);
    funnel_keys_turn(&keys, begin_ms + 2 * EPOCH_MS); /* and now it is gone */
    assert_int_equal(pass_ask(text, TOKEN_CHARS, begin_ms + 2 * EPOCH_MS), TOKEN_EXPIRED);
    /* Not even with a clock that would like it. */
    assert_int_equal(pass_ask(text, TOKEN_CHARS, begin_ms), TOKEN_FORGED);
}

static void the_longest_life_fits_at_any_moment_of_an_epoch(void **state)
{
    (void)state;
    uint64_t begin_ms = NOW_MS / EPOCH_MS * EPOCH_MS;
    for (uint64_t now_ms = begin_ms; now_ms <= begin_ms + EPOCH_MS; now_ms += EPOCH_MS / 8) {
        struct pass pass = a_pass;
        char text[TOKEN_CHARS];
        funnel_keys_turn(&keys, now_ms);
        pass.expires_s = (uint32_t)(now_ms / 1000) + PASS_LIFE_MAX_S;
        pass_issue(&keys, &pass, text);
        assert_int_equal(pass_ask(text, TOKEN_CHARS, now_ms), TOKEN_OK);
    }
}

static void issue_far_ahead(void)
{
    struct pass pass = a_pass;
    char text[TOKEN_CHARS];
    pass.expires_s += 2 * PASS_EPOCH_S;
    pass_issue(&keys, &pass, text);
}

static void a_life_beyond_the_keys_stops_the_program(void **state)
{
    (void)state;
    assert_true(unit_stops(issue_far_ahead));
}

static void keys_of_another_master_accept_nothing(void **state)
{
    (void)state;
    char text[TOKEN_CHARS];
    pass_issue(&keys, &a_pass, text);
    static const char master[FUNNEL_MASTER_BYTES] = "some other secret of 32 bytes..";
    assert_int_equal(funnel_keys_derive(&keys, master, sizeof master), STATUS_OK);
    funnel_keys_turn(&keys, NOW_MS);
    assert_int_equal(pass_ask(text, TOKEN_CHARS, NOW_MS), TOKEN_FORGED);
}

static void of_a_million_forgeries_none_is_accepted(void **state)
{
    (void)state;
    struct random random;
    uint8_t bytes[TOKEN_BYTES + 4];
    char good[TOKEN_CHARS], text[TOKEN_CHARS];
    random_seed(&random, 20240601);
    pass_issue(&keys, &a_pass, good);
    size_t size = sizeof bytes;
    assert_int_equal(base64_decode(span_of(good, sizeof good), bytes, &size), STATUS_OK);
    for (unsigned i = 0; i < FORGERIES; i++) {
        /* Half: right fields, a made-up signature. Half: made-up fields, a right signature of
         * others. */
        uint8_t forged[sizeof bytes];
        memcpy(forged, bytes, sizeof forged);
        uint64_t noise[2] = { random_next(&random), random_next(&random) };
        if (i % 2 == 0)
            memcpy(forged + TOKEN_SIGNED_BYTES, noise, 16);
        else
            memcpy(forged, noise, 12); /* user and item; the expiry stays good */
        base64_encode(forged, TOKEN_BYTES, text);
        assert_int_equal(pass_ask(text, sizeof text, NOW_MS), TOKEN_FORGED);
    }
}

static void bearer_takes_the_token_behind_the_scheme(void **state)
{
    (void)state;
    struct span token;
    assert_true(token_bearer(SPAN("Bearer abc"), &token));
    assert_true(span_equal(token, SPAN("abc")));
    assert_true(token_bearer(SPAN("bEARER   abc d"), &token));
    assert_true(span_equal(token, SPAN("abc d")));
    static const char *const bad[] = { "", "Bearer", "Bearer ", "Bearer    ", "Basic abc",
        "Bearerabc", "Bear abc" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(token_bearer(span_from_string(bad[i]), &token));
    assert_false(token_bearer(SPAN_NONE, &token));
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup(name, make_keys)
    const struct CMUnitTest rules[] = {
        RULE(a_pass_comes_back_as_it_was_issued),
        RULE(a_session_comes_back_as_it_was_issued),
        RULE(every_other_character_at_every_position_is_refused),
        RULE(every_flipped_bit_is_refused),
        RULE(any_other_length_is_malformed),
        RULE(a_token_is_good_until_the_millisecond_before_it_expires),
        RULE(a_pass_is_no_session_and_a_session_no_pass),
        RULE(a_pass_from_the_previous_epoch_is_accepted_and_older_ones_are_refused),
        RULE(the_longest_life_fits_at_any_moment_of_an_epoch),
        RULE(a_life_beyond_the_keys_stops_the_program),
        RULE(keys_of_another_master_accept_nothing),
        RULE(of_a_million_forgeries_none_is_accepted),
        RULE(bearer_takes_the_token_behind_the_scheme),
    };
    return cmocka_run_group_tests(rules, NULL, NULL);
}
