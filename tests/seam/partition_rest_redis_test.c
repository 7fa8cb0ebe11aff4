/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/partition_rest_redis_test.c: a partition whose sale is over is put to rest on a real Redis
 * (tools/with-redis): its keys go after a while, no worker has it open, and whoever needs it gets it back. */
#include "base/clock.h"
#include "contract/part_checks.h"
#include "tests/seam/redis_kit.h"
#include "tests/seam/remote_kit.h"

enum {
    UNITS = 5,
    SOON_MS = 100,
    LATE_MS = 60 * 60 * 1000,
    OTHER_PART = 2 * KIT_PART,
    ANNA = 11,
    BERT = 12
};

static const char *address;

static enum part_answer check(struct process *process, enum part_question question)
{
    struct part_checks *checks = remote_inventory(process->remote)->checks;
    struct part_differences found;
    checks->ops->ask(checks, KIT_PART, question);
    KIT_UNTIL(process->kit, checks->ops->answer(checks, &found) != PART_WAIT);
    return checks->ops->answer(checks, &found);
}

static struct outcome settle(struct process *process, ticket_number ticket, enum settle_step step)
{
    const struct command command = { .type = COMMAND_SETTLE,
        .settle = { .ticket = ticket, .step = (uint8_t)step } };
    return process_ask(process, &command);
}

static struct outcome buy(struct process *process, user_id user)
{
    const struct command command = kit_reserve(user, 1000 + user);
    return process_ask(process, &command);
}

static int64_t epoch(struct remote_kit *kit)
{
    return place_number(&kit->place, "SELECT epoch FROM parts WHERE part = 32");
}

/* What Redis answers to a command about a key. */
static int64_t number(const char *command, struct span key)
{
    char text[REDIS_KIT_TEXT_MAX];
    redis_kit_order(redis_kit_port(address, 0), text, "%s %s", command, key.data);
    return strtoll(text, NULL, 10);
}

static int64_t key_ms(struct remote_kit *kit, enum script_key key)
{
    return number("PTTL", kit->shop.keys.names[key]);
}

/* A sale whose time is over, with one unit that was sold. */
static struct process *sold_open(struct remote_kit *kit, uint64_t keep_ms, ticket_number *ticket)
{
    kit_process(kit, 0)->config.keep_ms = keep_ms;
    struct process *process = remote_kit_sale_open(kit, UNITS);
    const struct outcome won = buy(process, ANNA);
    assert_int_equal(won.answer, ANSWER_WON);
    *ticket = won.ticket;
    return process;
}

static struct process *rest_open(struct remote_kit *kit, uint64_t keep_ms, ticket_number *ticket)
{
    struct process *process = sold_open(kit, keep_ms, ticket);
    assert_int_equal(settle(process, *ticket, SETTLE_SOLD).answer, ANSWER_DONE);
    assert_int_equal(check(process, PART_COMPARE), PART_OVER);
    assert_int_equal(check(process, PART_REST), PART_EQUAL);
    KIT_UNTIL(kit, kept_health(&kit->worker).owned == 0);
    return process;
}

static void expect_open_for_good(struct remote_kit *kit, struct process *process)
{
    KIT_UNTIL(kit, kept_health(&kit->worker).open == 1);
    for (uint32_t key = 0; key < SCRIPT_HASHES; key++)
        assert_int_equal(key_ms(kit, key), -1); /* it is there, and stays */
    assert_int_equal(number("EXISTS", kit->shop.keys.rest), 0);
    KIT_UNTIL(kit, remote_health(process->remote).open == 1);
    assert_int_equal(remote_health(process->remote).resting, 0);
    assert_int_equal(check(process, PART_COMPARE), PART_OVER);
    assert_int_equal(buy(process, BERT).answer, ANSWER_WON); /* by the test's time it is not over */
}

static int setup(void **state)
{
    return remote_kit_setup(state, address);
}

/* ---- rules ---- */

static void the_keys_of_a_sale_that_is_over_go_and_a_late_return_brings_them_back(void **state)
{
    struct remote_kit *kit = *state;
    ticket_number ticket;
    struct process *process = rest_open(kit, SOON_MS, &ticket);
    for (uint32_t key = 0; key < SCRIPT_KEYS; key++)
        KIT_UNTIL(kit, number("EXISTS", kit->shop.keys.names[key]) == 0);
    assert_int_equal(remote_health(process->remote).resting, 1);
    assert_int_equal(remote_health(process->remote).closed, 0);
    assert_int_equal(check(process, PART_COMPARE), PART_NOT_OPEN);
    assert_int_equal(check(process, PART_REST), PART_NOT_OPEN);
    assert_int_equal(kept_heard(&kit->worker).alarms, 0);
    assert_int_equal(settle(process, ticket, SETTLE_RETURN).answer, ANSWER_DONE);
    expect_open_for_good(kit, process);
    assert_int_equal(kept_heard(&kit->worker).alarms, 0);
}

static void a_change_before_they_go_takes_the_expiry_off(void **state)
{
    struct remote_kit *kit = *state;
    ticket_number ticket;
    struct process *process = rest_open(kit, LATE_MS, &ticket);
    for (uint32_t key = 0; key < SCRIPT_KEYS; key++)
        if (key_ms(kit, key) != -2) /* a stream that was trimmed is not there */
            assert_true(key_ms(kit, key) > 0 && key_ms(kit, key) <= LATE_MS);
    assert_true(key_ms(kit, SCRIPT_KEY_PART) > 0);
    assert_int_equal(settle(process, ticket, SETTLE_RETURN).answer, ANSWER_DONE);
    expect_open_for_good(kit, process);
}

static void held_units_and_a_sale_that_goes_on_keep_it_awake(void **state)
{
    struct remote_kit *kit = *state;
    ticket_number ticket;
    struct process *process = sold_open(kit, LATE_MS, &ticket);
    assert_int_equal(check(process, PART_COMPARE), PART_EQUAL);
    assert_int_equal(check(process, PART_REST), PART_NOT_OPEN); /* somebody may still pay */
    assert_int_equal(settle(process, ticket, SETTLE_SOLD).answer, ANSWER_DONE);
    struct command sale = { .type = COMMAND_SALE,
        .sale = { .sale = 1, .start_ms = 1000, .end_ms = kit_now_ms() + LATE_MS } };
    assert_int_equal(process_ask(process, &sale).answer, ANSWER_DONE);
    assert_int_equal(check(process, PART_COMPARE), PART_EQUAL);
    assert_int_equal(check(process, PART_REST), PART_NOT_OPEN);
    assert_int_equal(kept_health(&kit->worker).open, 1);
    sale.sale.end_ms = 2000;
    assert_int_equal(process_ask(process, &sale).answer, ANSWER_DONE);
    assert_int_equal(check(process, PART_COMPARE_RECENT), PART_OVER);
}

static void without_the_setting_nothing_rests(void **state)
{
    struct remote_kit *kit = *state;
    ticket_number ticket;
    struct process *process = sold_open(kit, 0, &ticket);
    assert_int_equal(settle(process, ticket, SETTLE_SOLD).answer, ANSWER_DONE);
    assert_int_equal(check(process, PART_COMPARE), PART_EQUAL);
    assert_int_equal(check(process, PART_REST), PART_NOT_OPEN);
    assert_int_equal(kept_health(&kit->worker).open, 1);
}

/* It is in Redis, and not in the database yet: nothing may go. */
static void a_proposal_that_is_not_kept_keeps_it_awake(void **state)
{
    struct remote_kit *kit = *state;
    ticket_number ticket;
    struct process *process = sold_open(kit, SOON_MS, &ticket);
    const struct command command = kit_reserve(BERT, 1);
    assert_int_equal(settle(process, ticket, SETTLE_SOLD).answer, ANSWER_DONE);
    kept_stop(&kit->worker);
    const uint64_t tag = process_post(process, &command);
    KIT_UNTIL(kit, remote_health(process->remote).parked == 1);
    assert_int_equal(check(process, PART_REST), PART_NOT_KNOWN);
    assert_int_equal(key_ms(kit, SCRIPT_KEY_PART), -1);
    kit_keeper_start(kit, 8, 1);
    KIT_UNTIL(kit, process_is_answered(process, tag));
    assert_int_equal(process_outcome(process, tag).answer, ANSWER_WON);
}

static void workers_and_gateways_that_start_leave_it_at_rest(void **state)
{
    struct remote_kit *kit = *state;
    ticket_number ticket;
    rest_open(kit, SOON_MS, &ticket);
    const int64_t before = epoch(kit);
    process_close(kit_process(kit, 0));
    kept_stop(&kit->worker);
    kit_part_want(kit, OTHER_PART);
    kit_keeper_start(kit, 9, 1); /* the other one */
    struct process *process = kit_process(kit, 0);
    process_open(process);
    KIT_UNTIL(kit, remote_health(process->remote).resting == 1);
    KIT_UNTIL(kit, kept_health(&kit->worker).owned == 1);
    assert_int_equal(epoch(kit), before);
    assert_int_equal(settle(process, ticket, SETTLE_RETURN).answer, ANSWER_DONE);
    assert_true(epoch(kit) > before);
    KIT_UNTIL(kit, kept_health(&kit->worker).open == 2);
}

/* Nobody else would know that it rests, and so nobody would ask for it. */
static void a_mark_that_redis_has_lost_ends_the_rest(void **state)
{
    struct remote_kit *kit = *state;
    ticket_number ticket;
    struct process *process = rest_open(kit, LATE_MS, &ticket);
    parts_do(&kit->shop, REDIS_WORDS(SPAN("UNLINK"), kit->shop.keys.rest));
    expect_open_for_good(kit, process);
}

static void it_can_rest_again(void **state)
{
    struct remote_kit *kit = *state;
    ticket_number ticket;
    struct process *process = rest_open(kit, SOON_MS, &ticket);
    assert_int_equal(settle(process, ticket, SETTLE_RETURN).answer, ANSWER_DONE);
    KIT_UNTIL(kit, kept_health(&kit->worker).open == 1);
    assert_int_equal(check(process, PART_COMPARE), PART_OVER);
    assert_int_equal(check(process, PART_REST), PART_EQUAL);
    KIT_UNTIL(kit, kept_health(&kit->worker).owned == 0);
    KIT_UNTIL(kit, number("EXISTS", kit->shop.keys.names[SCRIPT_KEY_PART]) == 0);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, remote_kit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(the_keys_of_a_sale_that_is_over_go_and_a_late_return_brings_them_back),
        RULE(a_change_before_they_go_takes_the_expiry_off),
        RULE(held_units_and_a_sale_that_goes_on_keep_it_awake),
        RULE(without_the_setting_nothing_rests),
        RULE(a_proposal_that_is_not_kept_keeps_it_awake),
        RULE(workers_and_gateways_that_start_leave_it_at_rest),
        RULE(a_mark_that_redis_has_lost_ends_the_rest),
        RULE(it_can_rest_again),
    };
    clock_start(0);
    address = redis_kit_address();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
