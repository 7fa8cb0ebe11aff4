/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/replay.h"

#include "contract/record.h"
#include "tests/unit/inventory/engine_kit.h"

#include <string.h>

static struct kit kit; /* the one that decided */
static struct engine again;
static struct replay replay;

static int setup(void **state)
{
    (void)state;
    kit_start(&kit, 64);
    replay = (struct replay){ .engine = &again };
    return engine_open(&again, &kit.engine.config) == STATUS_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    engine_close(&again);
    kit_stop(&kit);
    return 0;
}

/* Decides, logs, replays. `spoil`: the byte of the payload to change. */
static enum status round_trip(struct command command, uint64_t now_ms, int spoil)
{
    uint8_t bytes[RECORD_BYTES_MAX];
    (void)kit_do(&kit, command, now_ms);
    assert_true(kit.out.changed);
    command.time_ms = now_ms;
    const uint32_t size = record_encode(&command, &kit.out, bytes);
    if (spoil >= 0)
        bytes[spoil] ^= 1;
    const struct journal_record record = { .lsn = 1, .type = command.type, .payload = span_of(bytes, size) };
    return replay_record(&replay, &record, now_ms);
}

static const struct command sale = { .type = COMMAND_SALE,
    .sale = { .sale = 1, .start_ms = SALE_START, .end_ms = SALE_END } };
static const struct command buy = { .type = COMMAND_RESERVE,
    .reserve = { .user = ANNA, .key = 3, .item = 1, .quantity = 2 } };

static void the_log_gives_the_same_state_again(void **state)
{
    (void)state;
    const struct command preheat = { .type = COMMAND_PREHEAT, .preheat = kit_item(1, 0) };
    const struct command settle = { .type = COMMAND_SETTLE,
        .settle = {
            .ticket = 1, .step = SETTLE_RETURN, .waiter_count = 1, .waiters = { { BERT, 9, 1 } } } };
    assert_int_equal(round_trip(sale, 1, -1), STATUS_OK);
    assert_int_equal(round_trip(preheat, 2, -1), STATUS_OK);
    assert_int_equal(round_trip(buy, SALE_NOW, -1), STATUS_OK);
    assert_int_equal(replay.outcome.ticket, 1);
    assert_int_equal(round_trip(settle, SALE_NOW, -1), STATUS_OK);
    assert_int_equal(replay.last_time_ms, SALE_NOW);
    assert_int_equal(engine_digest(&again), engine_digest(&kit.engine));
}

static void another_outcome_than_the_logged_one_is_damage(void **state)
{
    (void)state;
    const struct command preheat = { .type = COMMAND_PREHEAT, .preheat = kit_item(1, 0) };
    assert_int_equal(round_trip(sale, 1, -1), STATUS_OK);
    assert_int_equal(round_trip(preheat, 2, -1), STATUS_OK);
    assert_int_equal(round_trip(buy, SALE_NOW, 34), STATUS_CORRUPT); /* the ticket number */
    assert_string_not_equal(replay.what, "");
}

static void a_record_that_would_change_nothing_is_damage(void **state)
{
    (void)state;
    uint8_t bytes[RECORD_BYTES_MAX];
    assert_int_equal(round_trip(sale, 1, -1), STATUS_OK);
    const struct outcome done = { .answer = ANSWER_DONE, .changed = true };
    struct command twice = sale;
    twice.time_ms = 1;
    const struct journal_record record = { .lsn = 2,
        .type = COMMAND_SALE,
        .payload = span_of(bytes, record_encode(&twice, &done, bytes)) };
    assert_int_equal(replay_record(&replay, &record, 1), STATUS_CORRUPT);
}

static void time_that_runs_backwards_and_unreadable_records_are_damage(void **state)
{
    (void)state;
    const struct command preheat = { .type = COMMAND_PREHEAT, .preheat = kit_item(1, 0) };
    assert_int_equal(round_trip(sale, 5, -1), STATUS_OK);
    assert_int_equal(round_trip(preheat, 4, -1), STATUS_CORRUPT);
    const struct journal_record record = { .lsn = 2, .type = COMMAND_SALE, .payload = SPAN("short") };
    assert_int_equal(replay_record(&replay, &record, 1), STATUS_CORRUPT);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(the_log_gives_the_same_state_again),
        RULE(another_outcome_than_the_logged_one_is_damage),
        RULE(a_record_that_would_change_nothing_is_damage),
        RULE(time_that_runs_backwards_and_unreadable_records_are_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
