/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/contract/record_test.c: what is logged comes back as it was, and nothing else is
 * believed. */
#include "contract/record.h"

#include "base/bytes.h"
#include "base/random.h"
#include "tests/unit/base/unit.h"

#include <string.h>

enum {
    SAMPLES = 24,
    PLAIN_SAMPLES = 11,
    SALE_OF_RETURNS = 17,
    SETTLE_LET_GO = 18,
    RECLAIM = 19,
    GIVE = 20,
    TAKE = 21,
    ARCHIVE = 22,
    SKIP = 23
};

static void sample_settle(uint32_t which, struct command *command, struct outcome *outcome)
{
    command->type = COMMAND_SETTLE;
    command->settle = (struct command_settle){
        .ticket = 5, .step = SETTLE_RETURN, .to = CHANNEL_SAFETY, .let_go = which == SETTLE_LET_GO
    };
    outcome->user = 77;
    outcome->item = 3;
    outcome->quantity = QUANTITY_MAX;
    outcome->applied = QUANTITY_MAX;
    if (which == 7 || which == SETTLE_LET_GO)
        return;
    command->settle.waiter_count = WAITERS_PER_RETURN;
    command->settle.waiter_window_ms = 60000;
    for (uint32_t i = 0; i < WAITERS_PER_RETURN; i++)
        command->settle.waiters[i] = (struct waiter){ 88 + i, 99 + i, 2 + i };
    outcome->detail = 5;
    outcome->ticket = 6;
    outcome->unit_price = 100;
    outcome->pay_by_ms = UINT64_MAX;
}

static void sample_transfer(uint32_t which, struct command *command, struct outcome *outcome)
{
    command->type = which == GIVE ? COMMAND_GIVE : COMMAND_TAKE;
    command->transfer = (struct command_transfer){ .item = 3,
        .quantity = UINT32_MAX,
        .number = UINT32_MAX,
        .channel = CHANNEL_SAFETY,
        .shard = SHARDS_MAX - 1 };
    outcome->applied = UNITS_MAX;
}

static void sample(uint32_t which, struct command *command, struct outcome *outcome);

/* SALE … MOVE once more, with who gave them: with all, without a key, without a name. */
static void sample_of_an_administrator(uint32_t which, struct command *command, struct outcome *outcome)
{
    sample(which - PLAIN_SAMPLES + 1, command, outcome);
    memset(command->origin.actor, 'm', which == 12 ? 0 : ACTOR_BYTES_MAX);
    if (which != 13) {
        command->origin.key = UINT64_MAX;
        command->origin.request = which == 14 ? 0 : 5;
    }
}

static const struct command_sale sale_of_returns = { .sale = 7,
    .start_ms = 1,
    .end_ms = 2,
    .one_open_order = true,
    .cooldown_s = COOLDOWN_MAX_S,
    .return_draw_ms = DRAW_MAX_MS,
    .start_draw_ms = DRAW_MAX_MS };
static const struct command_preheat preheat_sample = { .item = 1,
    .sale = 7,
    .unit_price = 1,
    .limit_per_user = 2,
    .pay_window_ms = 300000,
    .total = UNITS_MAX,
    .locked = 5,
    .sold_before = 6,
    .safety = 7,
    .channel_units = { 1, 2, 3, 4, 5, 6, 7, 8 } };

static void sample_of_what_is_forgotten(uint32_t which, struct command *command, struct outcome *outcome)
{
    switch (which) {
    case RECLAIM:
        command->type = COMMAND_RECLAIM;
        command->reclaim = (struct command_reclaim){
            .before_ms = command->time_ms, .from = UINT32_MAX, .rows = RECLAIM_ROWS_MAX
        };
        outcome->applied = RECLAIM_ROWS_MAX;
        outcome->number = UINT32_MAX;
        break;
    case ARCHIVE:
        command->type = COMMAND_ARCHIVE;
        command->archive = (struct command_archive){
            .sale = 7, .from = UINT32_MAX, .rows = RECLAIM_ROWS_MAX, .table = ARCHIVE_BUYERS
        };
        outcome->applied = RECLAIM_ROWS_MAX;
        outcome->number = UINT32_MAX;
        break;
    case SKIP:
        command->type = COMMAND_SKIP;
        command->skip = (struct command_skip){ .to = UINT32_MAX };
        outcome->applied = SKIP_NUMBERS_MAX;
        break;
    default:
        break;
    }
}

/* One of each type, SETTLE with and without a waiter, all fields that the engine sets at their
 * edges. */
static void sample(uint32_t which, struct command *command, struct outcome *outcome)
{
    if (which >= PLAIN_SAMPLES && which < SALE_OF_RETURNS) {
        sample_of_an_administrator(which, command, outcome);
        return;
    }
    memset(command, 0, sizeof *command);
    memset(outcome, 0, sizeof *outcome);
    command->time_ms = UINT64_C(1700000000123);
    outcome->answer = ANSWER_DONE;
    outcome->changed = true;
    switch (which) {
    case 0:
        command->type = COMMAND_RESERVE;
        command->reserve = (struct command_reserve){ .user = UINT64_MAX,
            .key = 0x0123456789abcdef,
            .item = ITEMS_LIMIT - 1,
            .quantity = QUANTITY_MAX,
            .channel = CHANNELS_MAX - 1,
            .flags = RESERVE_AFTER_END,
            .pending_from = UINT64_MAX };
        outcome->answer = ANSWER_WON;
        outcome->ticket = 123456789;
        outcome->unit_price = 99900;
        outcome->pay_by_ms = UINT64_C(1700000300123);
        break;
    case 1:
        command->type = COMMAND_SALE;
        command->sale = (struct command_sale){
            .sale = 7, .limit_per_user = 3, .start_ms = 1, .end_ms = UINT64_MAX, .eligible_only = true
        };
        break;
    case SALE_OF_RETURNS:
        command->type = COMMAND_SALE;
        command->sale = sale_of_returns;
        break;
    case 2:
        command->type = COMMAND_PREHEAT;
        command->preheat = preheat_sample;
        break;
    case 3:
        command->type = COMMAND_GATE;
        command->gate = (struct command_gate){ .sale = 7, .move = GATE_MOVE_END };
        break;
    case 4:
        command->type = COMMAND_USERS;
        command->users.sale = 7;
        command->users.count = USERS_PER_COMMAND;
        for (uint32_t i = 0; i < USERS_PER_COMMAND; i++)
            command->users.users[i] = i + 1;
        outcome->applied = 11;
        break;
    case 5:
        command->type = COMMAND_ADJUST;
        command->adjust = (struct command_adjust){
            .item = 3, .channel = CHANNEL_SAFETY, .delta = INT32_MIN, .gone = true
        };
        outcome->applied = -UNITS_MAX;
        break;
    case 6:
        command->type = COMMAND_MOVE;
        command->move =
            (struct command_move){ .item = 3, .from = CHANNEL_SAFETY, .to = 7, .quantity = UINT32_MAX };
        outcome->applied = 40;
        break;
    case 9:
        command->type = COMMAND_ARRIVE;
        command->arrive = (struct command_arrive){ .sale = 7, .user = UINT64_MAX };
        outcome->number = UINT32_MAX;
        break;
    case 10:
        command->type = COMMAND_ADMIT;
        command->admit = (struct command_admit){ .sale = 7, .head = UINT32_MAX };
        outcome->number = 8;
        break;
    case RECLAIM:
    case ARCHIVE:
    case SKIP:
        sample_of_what_is_forgotten(which, command, outcome);
        break;
    case GIVE:
    case TAKE:
        sample_transfer(which, command, outcome);
        break;
    default:
        sample_settle(which, command, outcome);
    }
}

static struct span span_of_bytes(const uint8_t *bytes, uint32_t size)
{
    return span_of(bytes, size);
}

static void every_logged_command_comes_back_with_its_outcome(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        struct command command, command_back;
        struct outcome outcome, outcome_back;
        uint8_t bytes[RECORD_BYTES_MAX];
        sample(i, &command, &outcome);
        uint32_t size = record_encode(&command, &outcome, bytes);
        assert_true(size <= RECORD_BYTES_MAX);
        assert_int_equal(
            record_decode(command.type, span_of_bytes(bytes, size), &command_back, &outcome_back),
            STATUS_OK);
        assert_memory_equal(&command, &command_back, sizeof command);
        assert_memory_equal(&outcome, &outcome_back, sizeof outcome);
    }
}

static void the_sizes_are_those_of_the_format(void **state)
{
    static const uint32_t sizes[SAMPLES] = { 58, 35, 82, 15, 19 + 8 * USERS_PER_COMMAND, 23, 24, 40,
        69 + 20 * WAITERS_PER_RETURN, 26, 22, 35 + 81, 82 + 17, 15 + 81,
        19 + 8 * USERS_PER_COMMAND + 81, 23 + 81, 24 + 81, 47, 40, 34, 28, 28, 31, 18 };
    (void)state;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        struct command command;
        struct outcome outcome;
        uint8_t bytes[RECORD_BYTES_MAX];
        sample(i, &command, &outcome);
        assert_int_equal(record_encode(&command, &outcome, bytes), sizes[i]);
    }
}

static void the_bytes_of_a_win_are_those_of_the_documentation(void **state)
{
    static const uint8_t expected[] = { 0x7b, 0x68, 0xe5, 0xcf, 0x8b, 1, 0, 0, /* time 1700000000123 */
        0x2a, 0, 0, 0, 0, 0, 0, 0, 0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, /* user 42, key */
        9, 0, 0, 0, 2, 0, 0, 0, 1, 0,                         /* item 9, 2 units, channel 1 */
        1, 0, 0, 0, 0, 0, 0, 0, 0x3c, 0x86, 1, 0, 0, 0, 0, 0, /* ticket 1, price 99900 */
        0x5b, 0xfc, 0xe9, 0xcf, 0x8b, 1, 0, 0 };              /* pay by, 5 min later */
    struct command command = { .time_ms = UINT64_C(1700000000123),
        .type = COMMAND_RESERVE,
        .reserve = { .user = 42, .key = 0x0123456789abcdef, .item = 9, .quantity = 2, .channel = 1 } };
    struct outcome outcome = { .ticket = 1,
        .unit_price = 99900,
        .pay_by_ms = UINT64_C(1700000300123),
        .answer = ANSWER_WON,
        .changed = true };
    uint8_t bytes[RECORD_BYTES_MAX];
    (void)state;
    assert_int_equal(record_encode(&command, &outcome, bytes), sizeof expected);
    assert_memory_equal(bytes, expected, sizeof expected);
}

static void corrections_come_back_in_the_same_size(void **state)
{
    struct command command, back;
    struct outcome outcome, told;
    uint8_t bytes[RECORD_BYTES_MAX];
    (void)state;
    sample(2, &command, &outcome);
    command.preheat.change = true;
    assert_int_equal(record_encode(&command, &outcome, bytes), 82);
    assert_int_equal(record_decode(COMMAND_PREHEAT, span_of(bytes, 82), &back, &told), STATUS_OK);
    assert_memory_equal(&back, &command, sizeof command);
    sample(4, &command, &outcome);
    command.users.remove = true;
    const uint32_t size = record_encode(&command, &outcome, bytes);
    assert_int_equal(size, 19 + 8 * USERS_PER_COMMAND);
    assert_int_equal(record_decode(COMMAND_USERS, span_of(bytes, size), &back, &told), STATUS_OK);
    assert_true(back.users.remove && back.users.count == USERS_PER_COMMAND);
    sample(3, &command, &outcome);
    command.gate.move = GATE_MOVE_REOPEN;
    assert_int_equal(record_encode(&command, &outcome, bytes), 15);
    assert_int_equal(record_decode(COMMAND_GATE, span_of(bytes, 15), &back, &told), STATUS_OK);
    assert_int_equal(back.gate.move, GATE_MOVE_REOPEN);
}

static void a_preheat_may_tell_its_currency(void **state)
{
    (void)state;
    struct command command, back;
    struct outcome outcome, told;
    uint8_t bytes[RECORD_BYTES_MAX];
    sample(2, &command, &outcome);
    memcpy(command.preheat.currency, "CNY", 4);
    memcpy(command.origin.actor, "ann", 4);
    const uint32_t size = record_encode(&command, &outcome, bytes);
    assert_int_equal(size, 85 + 17 + 3);
    assert_int_equal(record_decode(COMMAND_PREHEAT, span_of(bytes, size), &back, &told), STATUS_OK);
    assert_string_equal(back.preheat.currency, "CNY");
    assert_string_equal(back.origin.actor, "ann");
    assert_int_equal(back.preheat.channel_units[7], 8);
    bytes[84] = 'y';
    assert_int_equal(record_decode(COMMAND_PREHEAT, span_of(bytes, size), &back, &told), STATUS_CORRUPT);
    sample(3, &command, &outcome);
    const uint32_t gate = record_encode(&command, &outcome, bytes);
    bytes[8] |= 0x40; /* no other record has one */
    assert_int_equal(record_decode(COMMAND_GATE, span_of(bytes, gate), &back, &told), STATUS_CORRUPT);
}

static void pending_from_is_not_logged_and_comes_back_as_nothing_pending(void **state)
{
    struct command command, back;
    struct outcome outcome, outcome_back;
    uint8_t with[RECORD_BYTES_MAX], without[RECORD_BYTES_MAX];
    (void)state;
    sample(0, &command, &outcome);
    uint32_t size = record_encode(&command, &outcome, without);
    command.reserve.pending_from = 17;
    assert_int_equal(record_encode(&command, &outcome, with), size);
    assert_memory_equal(with, without, size);
    assert_int_equal(
        record_decode(COMMAND_RESERVE, span_of_bytes(with, size), &back, &outcome_back), STATUS_OK);
    assert_true(back.reserve.pending_from == UINT64_MAX);
}

static void a_record_one_byte_short_or_long_is_refused(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        struct command command, back;
        struct outcome outcome, outcome_back;
        uint8_t bytes[RECORD_BYTES_MAX + 1] = { 0 };
        sample(i, &command, &outcome);
        uint32_t size = record_encode(&command, &outcome, bytes);
        for (uint32_t cut = 0; cut < size; cut++) {
            assert_int_equal(record_decode(command.type, span_of_bytes(bytes, cut), &back, &outcome_back),
                STATUS_CORRUPT);
        }
        assert_int_equal(record_decode(command.type, span_of_bytes(bytes, size + 1), &back, &outcome_back),
            STATUS_CORRUPT);
    }
}

static void unknown_types_are_refused(void **state)
{
    struct command command, back;
    struct outcome outcome, outcome_back;
    uint8_t bytes[RECORD_BYTES_MAX];
    (void)state;
    sample(0, &command, &outcome);
    uint32_t size = record_encode(&command, &outcome, bytes);
    for (uint32_t type = 0; type < 256; type++)
        if (type != COMMAND_RESERVE)
            assert_int_equal(
                record_decode((uint8_t)type, span_of_bytes(bytes, size), &back, &outcome_back),
                STATUS_CORRUPT);
    assert_int_equal(record_decode(COMMAND_NONE, SPAN_NONE, &back, &outcome_back), STATUS_CORRUPT);
}

static void values_one_past_their_range_are_refused(void **state)
{
    static const struct {
        uint32_t sample, at, bytes;
        uint64_t good, bad;
    } edges[] = {
        { 0, 8, 8, 1, 0 },                               /* user */
        { 0, 24, 4, 1, 0 },                              /* item */
        { 0, 28, 4, 1, 0 },                              /* quantity */
        { 0, 28, 4, QUANTITY_MAX, QUANTITY_MAX + 1 },    /* quantity */
        { 0, 32, 1, CHANNELS_MAX - 1, CHANNELS_MAX },    /* channel */
        { 0, 32, 1, 0, CHANNEL_SAFETY },                 /* nobody buys from the safety stock */
        { 0, 33, 1, RESERVE_AFTER_END, 4 },              /* flags */
        { 0, 34, 8, 1, 0 },                              /* ticket */
        { 1, 8, 1, ANSWERS_LOGGED - 1, ANSWERS_LOGGED }, /* answer */
        { 1, 8, 1, 1, ANSWER_NONE },                     /* answer */
        { 1, 9, 1, CONFLICTS - 1, CONFLICTS },           /* detail */
        { 1, 10, 4, 1, 0 },                              /* sale */
        { 1, 34, 1, 3, 4 },                              /* eligible, one open order */
        { SALE_OF_RETURNS, 35, 4, COOLDOWN_MAX_S, COOLDOWN_MAX_S + 1 }, /* cool-down */
        { SALE_OF_RETURNS, 39, 4, DRAW_MAX_MS, DRAW_MAX_MS + 1 },       /* return draw */
        { SALE_OF_RETURNS, 43, 4, DRAW_MAX_MS, DRAW_MAX_MS + 1 },       /* start draw */
        { SETTLE_LET_GO, 18, 1, 128 + SETTLE_RETURN, 128 + SETTLE_SOLD }, /* only a return is let go */
        { 2, 10, 4, 1, 0 },                                               /* item */
        { 2, 14, 4, 1, 0 },                                               /* sale */
        { 2, 34, 4, UNITS_MAX, UNITS_MAX + 1 },                           /* total */
        { 2, 78, 4, UNITS_MAX, UNITS_MAX + 1 },                 /* units of the last channel */
        { 3, 14, 1, GATE_MOVES - 1, GATE_MOVES },               /* move */
        { 4, 18, 1, USERS_PER_COMMAND, USERS_PER_COMMAND + 1 }, /* count */
        { 4, 18, 1, USERS_PER_COMMAND, 0 },                     /* count */
        { 5, 14, 1, CHANNELS_MAX - 1, CHANNELS_MAX },           /* channel */
        { 5, 14, 1, CHANNEL_SAFETY, CHANNEL_SAFETY - 1 },       /* channel */
        { 5, 15, 4, UNITS_MAX, UNITS_MAX + 1 },                 /* delta */
        { 5, 15, 4, 1, 0 },                                     /* delta */
        { 5, 19, 4, (uint32_t)-UNITS_MAX, (uint32_t)(-UNITS_MAX - 1) }, /* applied */
        { 6, 14, 1, CHANNEL_SAFETY, CHANNELS_MAX },                     /* from */
        { 6, 15, 1, CHANNEL_SAFETY, CHANNELS_MAX },                     /* to */
        { 6, 16, 4, 1, 0 },                                             /* quantity */
        { 7, 10, 8, 1, 0 },                                             /* ticket */
        { 7, 18, 1, SETTLE_STEPS - 1, SETTLE_STEPS },                   /* step */
        { 7, 19, 1, CHANNELS_MAX - 1, CHANNELS_MAX },                   /* to */
        { 7, 32, 4, QUANTITY_MAX, QUANTITY_MAX + 1 },                   /* quantity */
        { 7, 9, 1, 0, 1 },                                   /* served, but nobody waited */
        { 8, 9, 1, 15, 16 },                                 /* served: the fifth of four */
        { 8, 9, 1, 1, 0 },                                   /* nobody, but a ticket */
        { 3, 8, 1, ANSWER_DONE, ANSWER_DONE | 0x80 },        /* an origin that is not there */
        { 7, 8, 1, ANSWER_DONE, ANSWER_DONE | 0x80 },        /* an origin of a settle */
        { 12, 82, 8, 1, 0 },                                 /* neither key nor actor */
        { 13, 23, 8, 0, 1 },                                 /* a request without a key */
        { 15, 39, 1, ACTOR_BYTES_MAX, ACTOR_BYTES_MAX + 1 }, /* the name's size */
        { 15, 40, 1, 'm', 0 },                               /* a name that ends early */
        { RECLAIM, 10, 8, UINT64_C(1700000000123), UINT64_C(1700000000124) }, /* before: the future */
        { RECLAIM, 22, 4, RECLAIM_ROWS_MAX, RECLAIM_ROWS_MAX + 1 },           /* rows */
        { RECLAIM, 26, 4, RECLAIM_ROWS_MAX, RECLAIM_ROWS_MAX + 1 },           /* forgotten */
        { RECLAIM, 26, 4, 1, 0 },                                             /* forgotten */
        { GIVE, 19, 1, SHARDS_MAX - 1, SHARDS_MAX },                          /* shard */
        { GIVE, 24, 4, UNITS_MAX, UNITS_MAX + 1 },                            /* given */
        { GIVE, 24, 4, 1, 0 },                                                /* given */
        { TAKE, 20, 4, 1, 0 },                                                /* number */
        { TAKE, 15, 4, UNITS_MAX, 1 },                            /* taken more than there were */
        { 8, 68, 1, WAITERS_PER_RETURN, WAITERS_PER_RETURN + 1 }, /* count */
    };
    (void)state;
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        struct command command, back;
        struct outcome outcome, outcome_back;
        uint8_t bytes[RECORD_BYTES_MAX];
        sample(edges[i].sample, &command, &outcome);
        uint32_t size = record_encode(&command, &outcome, bytes);
        memcpy(bytes + edges[i].at, &edges[i].good, edges[i].bytes);
        assert_int_equal(
            record_decode(command.type, span_of_bytes(bytes, size), &back, &outcome_back), STATUS_OK);
        memcpy(bytes + edges[i].at, &edges[i].bad, edges[i].bytes);
        if (record_decode(command.type, span_of_bytes(bytes, size), &back, &outcome_back) != STATUS_CORRUPT)
            fail_msg("edge %zu is believed", i);
    }
}

static void a_settle_has_one_form_only(void **state)
{
    struct command command, back;
    struct outcome outcome, outcome_back;
    uint8_t bytes[RECORD_BYTES_MAX] = { 0 };
    (void)state;
    sample(7, &command, &outcome);
    assert_int_equal(record_encode(&command, &outcome, bytes), 40);
    assert_int_equal(record_decode(COMMAND_SETTLE, span_of_bytes(bytes, 69), &back, &outcome_back),
        STATUS_CORRUPT);
}

static void whatever_decodes_encodes_to_the_same_bytes(void **state)
{
    struct random random;
    uint32_t decoded = 0;
    (void)state;
    random_seed(&random, 1);
    for (uint32_t i = 0; i < 200000; i++) {
        struct command command, back;
        struct outcome outcome, outcome_back;
        uint8_t bytes[RECORD_BYTES_MAX], again[RECORD_BYTES_MAX];
        sample(i % SAMPLES, &command, &outcome);
        uint32_t size = record_encode(&command, &outcome, bytes);
        for (uint64_t changes = random_below(&random, 3); changes > 0; changes--)
            bytes[random_below(&random, size)] = (uint8_t)random_next(&random);
        if (record_decode(command.type, span_of_bytes(bytes, size), &back, &outcome_back) != STATUS_OK)
            continue;
        decoded++;
        assert_int_equal(record_encode(&back, &outcome_back, again), size);
        assert_memory_equal(bytes, again, size);
    }
    assert_true(decoded > 50000);
}

static struct command bug_command;
static struct outcome bug_outcome;
static void encode_bug(void)
{
    uint8_t bytes[RECORD_BYTES_MAX];
    record_encode(&bug_command, &bug_outcome, bytes);
}

static void an_outcome_that_would_not_come_back_is_a_bug_that_stops(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        sample(i, &bug_command, &bug_outcome);
        assert_false(unit_stops(encode_bug));
        bug_outcome.free = 1;
        assert_true(unit_stops(encode_bug));
        sample(i, &bug_command, &bug_outcome);
        bug_outcome.changed = false;
        assert_true(unit_stops(encode_bug));
        sample(i, &bug_command, &bug_outcome);
        bug_outcome.user++;
        assert_int_equal(unit_stops(encode_bug), bug_command.type != COMMAND_SETTLE);
    }
    sample(0, &bug_command, &bug_outcome);
    bug_outcome.answer = ANSWER_REPEATED;
    assert_true(unit_stops(encode_bug));
    sample(3, &bug_command, &bug_outcome);
    bug_command.type = COMMAND_ASK_MINE;
    assert_true(unit_stops(encode_bug));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_logged_command_comes_back_with_its_outcome),
        cmocka_unit_test(the_sizes_are_those_of_the_format),
        cmocka_unit_test(corrections_come_back_in_the_same_size),
        cmocka_unit_test(a_preheat_may_tell_its_currency),
        cmocka_unit_test(the_bytes_of_a_win_are_those_of_the_documentation),
        cmocka_unit_test(pending_from_is_not_logged_and_comes_back_as_nothing_pending),
        cmocka_unit_test(a_record_one_byte_short_or_long_is_refused),
        cmocka_unit_test(unknown_types_are_refused),
        cmocka_unit_test(values_one_past_their_range_are_refused),
        cmocka_unit_test(a_settle_has_one_form_only),
        cmocka_unit_test(whatever_decodes_encodes_to_the_same_bytes),
        cmocka_unit_test(an_outcome_that_would_not_come_back_is_a_bug_that_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
