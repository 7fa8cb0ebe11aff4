/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/funnel/door_kit.h"

#include "base/metrics.h"

static void a_good_request_goes_with_its_user_and_defaults(void **state)
{
    (void)state;
    assert_int_equal(ask(), DOOR_GO);
    assert_true(out.user == USER && out.quantity == 1 && out.channel == 0 && out.key == 0);
}

static void a_full_request_goes_with_all_it_said(void **state)
{
    (void)state;
    in.authorization = session_for(USER, NOW_S + 60);
    in.idempotency_key = SPAN("\"key-1\"");
    in.pass = pass_on(1);
    in.body = SPAN("{\"quantity\":3,\"channel\":\"app\"}");
    assert_int_equal(ask(), DOOR_GO);
    assert_true(out.user == USER && out.quantity == 3 && out.channel == 1);
    assert_true(out.key == funnel_key_hash(&keys, USER, SPAN("key-1")));
    in.idempotency_key = SPAN("key-1"); /* bare means the same */
    assert_int_equal(ask(), DOOR_GO);
    assert_true(out.key == funnel_key_hash(&keys, USER, SPAN("key-1")));
}

static void an_item_that_is_unknown_or_not_preheated_is_unknown(void **state)
{
    (void)state;
    static const item_id unknown[] = { 0, OTHER_ITEM, ITEMS, UINT32_MAX };
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        in.item = unknown[i];
        assert_int_equal(ask(), DOOR_UNKNOWN_ITEM);
    }
}

static void the_window_is_open_from_start_to_just_before_end(void **state)
{
    (void)state;
    in.now_ms = START_MS - 1;
    assert_int_equal(ask(), DOOR_NOT_STARTED);
    assert_true(out.start_ms == START_MS);
    in.now_ms = START_MS;
    assert_int_equal(ask(), DOOR_GO);
    in.now_ms = END_MS - 1;
    assert_int_equal(ask(), DOOR_GO);
    in.now_ms = END_MS;
    assert_int_equal(ask(), DOOR_ENDED);
}

static void the_gate_rules_the_window(void **state)
{
    (void)state;
    item.gate = GATE_OPENED;
    board_publish(&board, &item);
    in.now_ms = START_MS - 1;
    assert_int_equal(ask(), DOOR_GO);
    in.now_ms = END_MS;
    assert_int_equal(ask(), DOOR_ENDED);
    item.gate = GATE_PAUSED;
    board_publish(&board, &item);
    assert_int_equal(ask(), DOOR_ENDED);
    in.now_ms = NOW_MS;
    assert_int_equal(ask(), DOOR_PAUSED);
    item.gate = GATE_ENDED;
    board_publish(&board, &item);
    assert_int_equal(ask(), DOOR_ENDED);
}

static void a_sale_that_ended_or_pauses_lets_only_its_buyers_learn_their_win(void **state)
{
    (void)state;
    board_add_buyer(&board, ITEM, USER);
    static const enum gate gates[] = { GATE_ENDED, GATE_PAUSED };
    for (size_t i = 0; i < 2; i++) {
        enum door_reason closed = gates[i] == GATE_ENDED ? DOOR_ENDED : DOOR_PAUSED;
        item.gate = gates[i];
        board_publish(&board, &item);
        in.pass = pass_for(USER, ITEM, NOW_S + 60);
        assert_int_equal(ask_again(), closed);
        in.pass = pass_for(OTHER_USER, ITEM, NOW_S + 60);
        assert_int_equal(ask_plain(), closed);
        in.pass = pass_for(USER, ITEM, NOW_S);
        assert_int_equal(ask(), closed);
        in.pass = SPAN_NONE;
        assert_int_equal(ask(), closed);
    }
    item.gate = GATE_SCHEDULED;
    board_publish(&board, &item);
    in.now_ms = START_MS - 1;
    in.pass = pass_for(USER, ITEM, NOW_S + 60);
    assert_int_equal(ask(), DOOR_NOT_STARTED); /* nothing can have been won yet */
}

static void stopped_wins_are_unavailable_but_a_buyer_may_still_learn_of_a_win(void **state)
{
    (void)state;
    static const enum wins_stopped stops[] = { WINS_NO_DISK, WINS_ORDERS_LAG, WINS_FULL, WINS_FAILED };
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        atomic_store(&board.wins_stopped, (uint32_t)stops[i]);
        in.pass = pass_for(OTHER_USER, ITEM, NOW_S + 60);
        assert_int_equal(ask(), DOOR_UNAVAILABLE);
        in.now_ms = END_MS;
        assert_int_equal(ask(), DOOR_ENDED);
        in.now_ms = NOW_MS;
    }
    board_add_buyer(&board, ITEM, USER);
    in.pass = pass_for(USER, ITEM, NOW_S + 60);
    assert_int_equal(ask_again(), DOOR_UNAVAILABLE);
    in.pass = pass_for(USER, ITEM, NOW_S); /* expired: nobody in particular */
    assert_int_equal(ask_plain(), DOOR_UNAVAILABLE);
    in.pass = pass_for(OTHER_USER, ITEM, NOW_S + 60);
    atomic_store(&board.wins_stopped, (uint32_t)WINS_RUNNING);
    assert_int_equal(ask(), DOOR_GO);
}

static void a_session_that_is_there_must_be_good(void **state)
{
    (void)state;
    in.authorization = session_for(USER, NOW_S + 60);
    assert_int_equal(ask(), DOOR_GO);
    in.authorization = session_for(USER, NOW_S);
    assert_int_equal(ask(), DOOR_SESSION_INVALID);
    in.authorization = SPAN("");
    assert_int_equal(ask(), DOOR_SESSION_INVALID);
    in.authorization = SPAN("Basic YWxhZGRpbjpvcGVuc2VzYW1l");
    assert_int_equal(ask(), DOOR_SESSION_INVALID);
    in.authorization = session_for(USER, NOW_S + 60);
    session_text[20] ^= 1;
    assert_int_equal(ask(), DOOR_SESSION_INVALID);
}

static void a_pass_must_be_there_good_and_for_this_item_and_user(void **state)
{
    (void)state;
    in.pass = SPAN_NONE;
    assert_int_equal(ask(), DOOR_PASS_REQUIRED);
    in.pass = SPAN("");
    assert_int_equal(ask(), DOOR_PASS_INVALID);
    in.pass = SPAN("short");
    assert_int_equal(ask(), DOOR_PASS_INVALID);
    in.pass = pass_for(USER, ITEM, NOW_S + 60);
    pass_text[47] = pass_text[47] == 'A' ? 'B' : 'A';
    assert_int_equal(ask(), DOOR_PASS_INVALID);
    in.pass = pass_for(USER, ITEM, NOW_S);
    assert_int_equal(ask(), DOOR_PASS_EXPIRED);
    in.pass = pass_for(USER, OTHER_ITEM, NOW_S + 60);
    assert_int_equal(ask(), DOOR_PASS_FOREIGN);
    in.pass = pass_for(OTHER_USER, ITEM, NOW_S + 60);
    assert_int_equal(ask(), DOOR_GO);
    in.authorization = session_for(USER, NOW_S + 60);
    assert_int_equal(ask(), DOOR_PASS_FOREIGN);
}

static void a_bad_wish_is_refused_for_what_is_wrong_with_it(void **state)
{
    (void)state;
    in.body = SPAN("{\"quantity\":1,\"price\":1}");
    assert_int_equal(ask(), DOOR_BAD_BODY);
    in.body = SPAN("{\"quantity\":-1}");
    assert_int_equal(ask(), DOOR_BAD_QUANTITY);
    in.body = SPAN("{\"channel\":\"nowhere\"}");
    assert_int_equal(ask(), DOOR_BAD_CHANNEL);
    in.body = SPAN("{\"channel\":\"safety\"}");
    assert_int_equal(ask(), DOOR_BAD_CHANNEL);
    in.body = SPAN("{\"channel\":\"app\"}"); /* there is one, and it is not the buyer's */
    assert_int_equal(ask(), DOOR_BAD_CHANNEL);
    in.pass = pass_on(1);
    in.body = SPAN("{\"channel\":\"web\"}");
    assert_int_equal(ask(), DOOR_BAD_CHANNEL);
    in.body = SPAN_NONE;
    assert_int_equal(ask(), DOOR_GO);
    assert_int_equal(out.channel, 1);
    assert_true(out.user == USER);
}

static void a_key_is_1_to_64_visible_characters_quoted_or_bare(void **state)
{
    (void)state;
    char text[KEY_BYTES_MAX + 3];
    struct span key;
    memset(text, '~', sizeof text);
    assert_true(door_key_read(span_of(text, KEY_BYTES_MAX), &key) && key.size == KEY_BYTES_MAX);
    assert_false(door_key_read(span_of(text, KEY_BYTES_MAX + 1), &key));
    text[0] = text[KEY_BYTES_MAX + 1] = '"';
    assert_true(door_key_read(span_of(text, KEY_BYTES_MAX + 2), &key) && key.size == KEY_BYTES_MAX);
    text[0] = text[KEY_BYTES_MAX + 2] = '"';
    text[KEY_BYTES_MAX + 1] = '~';
    assert_false(door_key_read(span_of(text, KEY_BYTES_MAX + 3), &key));
    static const char *const bad[] = { "", "\"", "\"\"", "\"\"\"", "\"a", "a\"", "a\"b", "\"a\"b\"",
        "a b", "a\tb", " a" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(door_key_read(span_from_string(bad[i]), &key));
    in.idempotency_key = SPAN("");
    assert_int_equal(ask(), DOOR_BAD_KEY);
}

static void no_other_character_gets_into_a_key_at_any_place(void **state)
{
    (void)state;
    for (size_t size = 1; size <= 20; size++) {
        char text[20];
        memset(text, 'x', sizeof text);
        for (size_t at = 0; at < size; at++) {
            for (int c = 0; c < 256; c++) {
                struct span key;
                text[at] = (char)c;
                assert_int_equal(
                    door_key_read(span_of(text, size), &key), c > ' ' && c <= '~' && c != '"');
            }
            text[at] = 'x';
        }
    }
}

static void a_key_is_required_unless_the_limit_is_one(void **state)
{
    (void)state;
    static const uint32_t limits[] = { 0, 2, UINT32_MAX };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        item.limit_per_user = limits[i];
        board_publish(&board, &item);
        in.idempotency_key = SPAN_NONE;
        assert_int_equal(ask(), DOOR_KEY_REQUIRED);
        in.idempotency_key = SPAN("k");
        assert_int_equal(ask(), DOOR_GO);
    }
}

static void sold_out_means_fewer_free_in_the_channel_than_asked(void **state)
{
    (void)state;
    in.body = SPAN("{\"quantity\":7}");
    assert_int_equal(ask(), DOOR_GO);
    in.body = SPAN("{\"quantity\":8}");
    assert_int_equal(ask(), DOOR_SOLD_OUT);
    assert_true(out.free == 7 && out.user == USER);
    in.pass = pass_on(1);
    in.body = SPAN("{\"quantity\":4}");
    assert_int_equal(ask(), DOOR_SOLD_OUT);
    assert_true(out.free == 3);
    item.counts.channel_free[1] = 4;
    board_publish(&board, &item); /* stock came back: at once */
    assert_int_equal(ask(), DOOR_GO);
}

static void the_sold_out_flag_never_hides_a_win(void **state)
{
    (void)state;
    item.counts = (struct item_counts){ .given = 10, .held = 10 };
    board_publish(&board, &item);
    in.idempotency_key = SPAN("k");
    assert_int_equal(ask_plain(), DOOR_SOLD_OUT);
    assert_int_equal(out.key, 0);
    board_add_buyer(&board, ITEM, USER);
    assert_int_equal(ask_again(), DOOR_SOLD_OUT);
    assert_int_equal(out.key, funnel_key_hash(&keys, USER, SPAN("k")));
    in.pass = pass_for(OTHER_USER, ITEM, NOW_S + 60);
    assert_int_equal(ask_plain(), DOOR_SOLD_OUT);
}

/* Who has bought can buy again like everybody: nothing is easier for him, and nothing harder. */
static void a_buyer_who_is_not_refused_just_goes_on(void **state)
{
    (void)state;
    board_add_buyer(&board, ITEM, USER);
    assert_int_equal(ask_plain(), DOOR_GO);
}

static void a_pass_for_an_old_answer_opens_no_purchase(void **state)
{
    (void)state;
    static char text[TOKEN_CHARS];
    const struct pass pass = {
        .user = USER, .item = ITEM, .expires_s = NOW_S + 60, .nonce = 5, .repeat_only = true
    };
    struct pass back;
    pass_issue(&keys, &pass, text);
    in.pass = span_of(text, sizeof text);
    assert_int_equal(pass_verify(&keys, in.pass, NOW_MS, &back), TOKEN_OK);
    assert_true(back.repeat_only && !back.once && back.item == ITEM && back.nonce == 5);
    assert_int_equal(ask_plain(), DOOR_TOO_POPULAR);
    board_add_buyer(&board, ITEM, USER);
    assert_int_equal(ask_again(), DOOR_TOO_POPULAR);
}

/* Seven units are free on the web, three in the app. */
static void who_is_behind_more_than_there_is_comes_back_later(void **state)
{
    (void)state;
    enum { SLACK = 64 };
    board_asked(&board, ITEM, 0, 7 + SLACK - 1);
    assert_int_equal(ask(), DOOR_GO);
    board_asked(&board, ITEM, 0, 1);
    assert_int_equal(ask(), DOOR_NO_CHANCE);
    in.pass = pass_on(1);
    assert_int_equal(ask(), DOOR_GO); /* a queue of its own */
    in.pass = pass_on(0);
    board_decided(&board, ITEM, 0, 1); /* refused, say: the unit that it wanted is still there */
    assert_int_equal(ask(), DOOR_GO);
    board_asked(&board, ITEM, 0, 100);
    assert_int_equal(ask(), DOOR_NO_CHANCE);
    board_decided(&board, ITEM, 0, 7);
    item.counts.channel_free[0] = 0;
    board_publish(&board, &item);
    assert_int_equal(ask(), DOOR_SOLD_OUT); /* the plainer word, once it is true */
}

static void a_long_queue_never_hides_a_win(void **state)
{
    (void)state;
    board_asked(&board, ITEM, 0, 1000);
    assert_int_equal(ask_plain(), DOOR_NO_CHANCE);
    board_add_buyer(&board, ITEM, USER);
    assert_int_equal(ask_again(), DOOR_NO_CHANCE);
}

static void counters_of_the_queue_may_wrap(void **state)
{
    (void)state;
    board_asked(&board, ITEM, 0, UINT32_MAX - 10);
    board_decided(&board, ITEM, 0, UINT32_MAX - 10);
    assert_int_equal(ask(), DOOR_GO);
    board_asked(&board, ITEM, 0, 70);
    assert_int_equal(board_queued(&board, ITEM, 0), 70);
    assert_int_equal(ask(), DOOR_GO);
    board_asked(&board, ITEM, 0, 1);
    assert_int_equal(ask(), DOOR_NO_CHANCE);
}

static void an_item_switched_to_sold_out_answers_unseen_but_not_to_its_buyers(void **state)
{
    (void)state;
    switch_sold_out_set(&switches, ITEM, true);
    assert_int_equal(ask(), DOOR_SOLD_OUT);
    assert_int_equal(out.free, 0);
    board_add_buyer(&board, ITEM, USER);
    assert_int_equal(ask_again(), DOOR_SOLD_OUT);
    in.pass = pass_for(OTHER_USER, ITEM, NOW_S + 60);
    assert_int_equal(ask(), DOOR_SOLD_OUT);
    switch_sold_out_set(&switches, ITEM, false);
    assert_int_equal(ask(), DOOR_GO);
}

/* Everything is wrong at once; each step repairs the first thing, and the next one shows. */
static void the_questions_come_in_their_fixed_order(void **state)
{
    (void)state;
    item.limit_per_user = 2;
    item.counts = (struct item_counts){ .given = 1, .held = 1 };
    item.start_ms = NOW_MS + 1;
    board_publish(&board, &item);
    atomic_store(&board.wins_stopped, (uint32_t)WINS_NO_DISK);
    in = (struct door_request){ .now_ms = NOW_MS,
        .item = OTHER_ITEM,
        .authorization = SPAN("x"),
        .idempotency_key = SPAN("a b"),
        .body = SPAN("{\"quantity\":0}") };
    assert_int_equal(ask(), DOOR_UNKNOWN_ITEM);
    in.item = ITEM;
    assert_int_equal(ask(), DOOR_NOT_STARTED);
    item.start_ms = START_MS;
    board_publish(&board, &item);
    assert_int_equal(ask(), DOOR_UNAVAILABLE);
    atomic_store(&board.wins_stopped, (uint32_t)WINS_RUNNING);
    assert_int_equal(ask(), DOOR_SESSION_INVALID);
    in.authorization = session_for(USER, NOW_S + 60);
    assert_int_equal(ask(), DOOR_PASS_REQUIRED);
    in.pass = pass_for(OTHER_USER, ITEM, NOW_S);
    assert_int_equal(ask(), DOOR_PASS_EXPIRED);
    in.pass = pass_for(OTHER_USER, ITEM, NOW_S + 60);
    assert_int_equal(ask(), DOOR_PASS_FOREIGN);
    in.pass = pass_for(USER, ITEM, NOW_S + 60);
    assert_int_equal(ask(), DOOR_BAD_QUANTITY);
    in.body = SPAN_NONE;
    assert_int_equal(ask(), DOOR_BAD_KEY);
    in.idempotency_key = SPAN_NONE;
    assert_int_equal(ask(), DOOR_KEY_REQUIRED);
    in.idempotency_key = SPAN("k");
    assert_int_equal(ask(), DOOR_SOLD_OUT);
    item.counts = (struct item_counts){ .given = 1, .free = 1, .channel_free = { 1 } };
    board_publish(&board, &item);
    assert_int_equal(ask(), DOOR_GO);
}

static void channel_names_are_checked(void **state)
{
    (void)state;
    struct door_channels made;
    struct span names[CHANNELS_MAX + 1] = { SPAN("web"), SPAN("a"), SPAN("b"), SPAN("c"), SPAN("d"),
        SPAN("e"), SPAN("f"), SPAN("0123456789abcd_-"), SPAN("one-too-many") };
    channel_index index;
    assert_int_equal(door_channels_set(&made, names, CHANNELS_MAX), STATUS_OK);
    assert_true(door_channel_find(&made, SPAN("0123456789abcd_-"), &index) && index == CHANNELS_MAX - 1);
    assert_false(door_channel_find(&made, SPAN("we"), &index));
    assert_false(door_channel_find(&made, SPAN(""), &index));
    assert_int_equal(door_channels_set(&made, names, CHANNELS_MAX + 1), STATUS_BAD_INPUT);
    assert_int_equal(door_channels_set(&made, names, 0), STATUS_BAD_INPUT);
    assert_int_equal(door_channels_set(&made, names + 1, 1), STATUS_BAD_INPUT); /* the first is "web" */
    static const char *const bad[] = { "", "web", "safety", "App", "a b", "0123456789abcdefg", "a\"" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        names[1] = span_from_string(bad[i]);
        assert_int_equal(door_channels_set(&made, names, 2), STATUS_BAD_INPUT);
    }
}

static void each_answer_is_counted_under_its_name(void **state)
{
    (void)state;
    static bool registered;
    if (!registered)
        registered = true;
    char before[65536], after[65536];
    struct text text = text_in(before, sizeof before - 1);
    metrics_render(&text);
    before[text.size] = '\0';
    in.pass = SPAN_NONE;
    assert_int_equal(ask(), DOOR_PASS_REQUIRED);
    text = text_in(after, sizeof after - 1);
    metrics_render(&text);
    after[text.size] = '\0';
    assert_false(text.overflow);
    for (unsigned i = 0; i < DOOR_REASONS; i++) {
        char line[96];
        struct text wanted = text_in(line, sizeof line - 1);
        text_format(
            &wanted, "stampede_door_total{answer=\"%s\"} ", door_reason_name((enum door_reason)i));
        line[wanted.size] = '\0';
        const char *was = strstr(before, line), *is = strstr(after, line);
        assert_non_null(was);
        assert_non_null(is);
        bool same = was != NULL && is != NULL && strncmp(was, is, strcspn(was, "\n") + 1) == 0;
        assert_int_equal(same, i != DOOR_PASS_REQUIRED);
    }
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, open_door, close_door)
    const struct CMUnitTest rules[] = {
        RULE(a_good_request_goes_with_its_user_and_defaults),
        RULE(a_full_request_goes_with_all_it_said),
        RULE(an_item_that_is_unknown_or_not_preheated_is_unknown),
        RULE(the_window_is_open_from_start_to_just_before_end),
        RULE(the_gate_rules_the_window),
        RULE(a_sale_that_ended_or_pauses_lets_only_its_buyers_learn_their_win),
        RULE(stopped_wins_are_unavailable_but_a_buyer_may_still_learn_of_a_win),
        RULE(a_session_that_is_there_must_be_good),
        RULE(a_pass_must_be_there_good_and_for_this_item_and_user),
        RULE(a_bad_wish_is_refused_for_what_is_wrong_with_it),
        RULE(a_key_is_1_to_64_visible_characters_quoted_or_bare),
        RULE(no_other_character_gets_into_a_key_at_any_place),
        RULE(a_key_is_required_unless_the_limit_is_one),
        RULE(sold_out_means_fewer_free_in_the_channel_than_asked),
        RULE(the_sold_out_flag_never_hides_a_win),
        RULE(a_buyer_who_is_not_refused_just_goes_on),
        RULE(a_pass_for_an_old_answer_opens_no_purchase),
        RULE(who_is_behind_more_than_there_is_comes_back_later),
        RULE(a_long_queue_never_hides_a_win),
        RULE(counters_of_the_queue_may_wrap),
        RULE(an_item_switched_to_sold_out_answers_unseen_but_not_to_its_buyers),
        RULE(the_questions_come_in_their_fixed_order),
        RULE(channel_names_are_checked),
        RULE(each_answer_is_counted_under_its_name),
    };
    return cmocka_run_group_tests(rules, NULL, NULL);
}
