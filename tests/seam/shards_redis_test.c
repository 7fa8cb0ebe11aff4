/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/shards_redis_test.c: a sale with several shards (inventory/redis/remote_shards.c, remote_walk.c,
 * remote_level.c): limits, operators' commands, units that travel between shards. On a real Redis
 * (tools/with-redis) and a database, with a keeper. Process 0 levels. */
#include "base/clock.h"
#include "base/log.h"
#include "contract/cluster_store.h"
#include "tests/seam/redis_kit.h"
#include "tests/seam/remote_kit.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <string.h>

enum { SHARDS = 3, UNITS = 10, SOON_MS = 400 };

static const char *address;
static bool is_levelling;

static bool levels(void *context)
{
    (void)context;
    return is_levelling;
}

/* ---- asking ---- */

static struct outcome ask(struct process *process, struct command command)
{
    return process_ask(process, &command);
}

/* A busy machine tells a win later: it is being decided. Whether it was kept, the books say. */
static struct outcome told_win(struct outcome out)
{
    if (out.answer == ANSWER_DECIDING)
        out.answer = ANSWER_WON;
    return out;
}

static struct outcome buy(struct process *process, user_id user)
{
    return told_win(ask(process, kit_reserve(user, 1000 + user)));
}

/* Again and again while units are on their way: the same key makes that safe. */
static struct outcome ask_later(struct process *process, struct command command)
{
    struct outcome out = ask(process, command);
    for (const uint64_t since_ms = kit_now_ms();
         out.answer == ANSWER_TOO_POPULAR && kit_still(since_ms, "a unit comes");)
        out = ask(process, command);
    return out;
}

static struct outcome buy_later(struct process *process, user_id user)
{
    return told_win(ask_later(process, kit_reserve(user, 1000 + user)));
}

/* The nth user who is at home there. */
static user_id user_at(uint32_t shard, uint32_t nth)
{
    user_id user = 0;
    for (uint32_t found = 0; found <= nth;)
        found += shard_of_user(++user, SHARDS) == shard;
    return user;
}

static struct board_update shown(struct process *process)
{
    struct board_update view;
    assert_true(board_read(remote_inventory(process->remote)->board, 1, &view));
    return view;
}

static int64_t orders(struct remote_kit *kit)
{
    return place_number(&kit->place, "SELECT count(*) FROM orders");
}

/* Units of all shards, in the logs: what was preheated and added, whatever travels. */
static void units_balance(struct remote_kit *kit, struct process *process, uint32_t units)
{
    const struct item_counts counts = shown(process).counts;
    assert_int_equal(counts.given, units);
    assert_int_equal(counts.channel_free[0] + counts.channel_free[CHANNEL_LINE] + counts.held
            + counts.sold + counts.safety,
        units);
    assert_int_equal(place_number(&kit->place, "SELECT total FROM items WHERE id = 1"), units);
}

static void books_balance(struct remote_kit *kit, struct process *process, uint32_t units)
{
    const struct item_counts counts = shown(process).counts;
    units_balance(kit, process, units);
    assert_int_equal(orders(kit), counts.held + counts.sold);
}

static uint32_t shard_of_ticket(ticket_number ticket)
{
    return part_shard(ticket_part(ticket));
}

/* ---- fixtures ---- */

static int setup(void **state)
{
    struct remote_kit *kit = test_calloc(1, sizeof *kit);
    char sql[120];
    log_level_set(LOG_ERROR + 1);
    is_levelling = true;
    remote_kit_open(kit, address);
    snprintf(sql, sizeof sql, "UPDATE sales SET shards = %d WHERE id = 1", SHARDS);
    place_execute(&kit->place, sql);
    snprintf(sql, sizeof sql, "UPDATE items SET total = %d WHERE id = 1", UNITS);
    place_execute(&kit->place, sql);
    kit_part_want(kit, KIT_PART);
    for (uint32_t i = 0; i < KIT_PROCESSES; i++)
        kit_process(kit, i)->config.tell_ms = SOON_MS;
    kit_process(kit, 0)->config.levels = levels;
    *state = kit;
    return 0;
}

static struct process *process_start(struct remote_kit *kit, uint32_t index)
{
    struct process *process = kit_process(kit, index);
    process_open(process);
    KIT_UNTIL(kit, remote_health(process->remote).open == SHARDS);
    return process;
}

static struct process *sale_open(struct remote_kit *kit)
{
    kit_keeper_start(kit, 7, SHARDS);
    struct process *process = process_start(kit, 0);
    remote_kit_sale(process, UNITS);
    return process;
}

/* ---- rules ---- */

static void a_sale_is_prepared_in_all_its_shards_with_its_units_shared_out(void **state)
{
    struct remote_kit *kit = *state;
    struct process *process = sale_open(kit);
    is_levelling = false;
    books_balance(kit, process, UNITS);
    assert_int_equal(place_number(&kit->place, "SELECT count(*) FROM parts WHERE seq = 2"), SHARDS);
    for (uint32_t i = 0; i < UNITS / SHARDS; i++)
        for (uint32_t shard = 0; shard < SHARDS; shard++) {
            const struct outcome won = buy(process, user_at(shard, i));
            assert_int_equal(won.answer, ANSWER_WON);
            assert_int_equal(shard_of_ticket(won.ticket), shard);
        }
    books_balance(kit, process, UNITS);
}

static void every_unit_is_sold_wherever_buyers_are_at_home(void **state)
{
    struct remote_kit *kit = *state;
    struct process *process = sale_open(kit);
    for (uint32_t i = 0; i < UNITS; i++) { /* all at home in one shard */
        const struct outcome out = buy_later(process, user_at(1, i));
        assert_int_equal(out.answer, ANSWER_WON);
        assert_int_equal(shard_of_ticket(out.ticket), 1);
    }
    assert_int_equal(buy(process, user_at(1, UNITS)).answer, ANSWER_SOLD_OUT);
    assert_int_equal(buy(process, user_at(0, 0)).answer, ANSWER_SOLD_OUT);
    books_balance(kit, process, UNITS);
    assert_int_equal(shown(process).counts.free, 0);
}

static void nobody_hears_sold_out_while_another_shard_has_units(void **state)
{
    struct remote_kit *kit = *state;
    struct process *process = sale_open(kit);
    is_levelling = false;
    const uint32_t share = UNITS / SHARDS;
    for (uint32_t i = 0; i < share; i++)
        assert_int_equal(buy(process, user_at(2, i)).answer, ANSWER_WON);
    assert_int_equal(buy(process, user_at(2, share)).answer, ANSWER_TOO_POPULAR);
    assert_int_equal(shown(process).counts.free, UNITS - share);
    struct command two = kit_reserve(user_at(2, share), 5);
    two.reserve.quantity = UNITS;
    assert_int_equal(ask(process, two).answer, ANSWER_SOLD_OUT); /* as many are nowhere */
    books_balance(kit, process, UNITS);
}

static void another_gateway_says_what_it_lacks(void **state)
{
    struct remote_kit *kit = *state;
    (void)sale_open(kit);
    struct process *gateway = process_start(kit, 1);
    KIT_UNTIL(kit, shown(gateway).counts.given == UNITS);
    for (uint32_t i = 0; i < UNITS; i++) {
        const struct outcome out = buy_later(gateway, user_at(0, i));
        assert_int_equal(out.answer, ANSWER_WON);
    }
    books_balance(kit, gateway, UNITS);
}

static struct command adjust(int32_t delta, uint64_t key)
{
    struct command command = { .type = COMMAND_ADJUST, .adjust = { .item = 1, .delta = delta } };
    command.origin.key = key;
    command.origin.request = 77;
    snprintf(command.origin.actor, sizeof command.origin.actor, "anna");
    return command;
}

static void units_are_added_and_removed_over_all_shards_and_once_for_a_key(void **state)
{
    struct remote_kit *kit = *state;
    struct process *process = sale_open(kit);
    is_levelling = false; /* what is on its way can't be taken away */
    struct outcome out = ask(process, adjust(5, 1));
    assert_int_equal(out.answer, ANSWER_DONE);
    assert_int_equal(out.applied, 5);
    out = ask(process, adjust(5, 1));
    assert_true(out.answer == ANSWER_DONE && out.applied == 5 && out.repeated);
    books_balance(kit, process, UNITS + 5);
    out = ask(process, adjust(-7, 2));
    assert_true(out.answer == ANSWER_DONE && out.applied == -7 && !out.repeated);
    books_balance(kit, process, UNITS - 2);
    out = ask(process, adjust(-100, 3)); /* what is free, and no more */
    assert_true(out.answer == ANSWER_DONE && out.applied == -(UNITS - 2));
    books_balance(kit, process, 0);
    assert_int_equal(ask(process, adjust(-1, 4)).answer, ANSWER_UNCHANGED);
    assert_int_equal(ask(process, adjust(UNITS_MAX, 5)).answer, ANSWER_DONE);
    assert_int_equal(ask(process, adjust(1, 6)).answer, ANSWER_BAD_QUANTITY);
}

static void preparing_again_changes_nothing_however_units_have_travelled(void **state)
{
    struct remote_kit *kit = *state;
    struct process *process = sale_open(kit);
    struct command item = { .type = COMMAND_PREHEAT };
    for (uint32_t i = 0; i < 5; i++) {
        const struct outcome out = buy_later(process, user_at(1, i));
        assert_int_equal(out.answer, ANSWER_WON);
    }
    item.preheat = (struct command_preheat){
        .item = 1, .sale = 1, .unit_price = 99, .pay_window_ms = 100, .total = UNITS
    };
    item.preheat.channel_units[0] = UNITS;
    assert_int_equal(ask(process, item).answer, ANSWER_UNCHANGED);
    item.preheat.pay_window_ms = 200;
    struct outcome out = ask(process, item);
    assert_true(out.answer == ANSWER_CONFLICT && out.detail == CONFLICT_OTHER_TERMS);
    item.preheat.total = item.preheat.channel_units[0] = UNITS + 1;
    out = ask(process, item);
    assert_true(out.answer == ANSWER_CONFLICT && out.detail == CONFLICT_OTHER_TOTAL);
    item.preheat.change = true;
    item.preheat.unit_price = 98; /* somebody has a unit, in one shard */
    out = ask(process, item);
    assert_true(out.answer == ANSWER_CONFLICT && out.detail == CONFLICT_HAS_BUYERS);
    books_balance(kit, process, UNITS);
}

static void a_pause_holds_in_all_shards(void **state)
{
    struct remote_kit *kit = *state;
    struct process *process = sale_open(kit);
    const struct command pause = { .type = COMMAND_GATE, .gate = { 1, GATE_MOVE_PAUSE } };
    assert_int_equal(ask(process, pause).answer, ANSWER_DONE);
    for (uint32_t shard = 0; shard < SHARDS; shard++)
        assert_int_equal(buy(process, user_at(shard, 0)).answer, ANSWER_PAUSED);
    assert_int_equal(ask(process, pause).answer, ANSWER_UNCHANGED);
    const struct command resume = { .type = COMMAND_GATE, .gate = { 1, GATE_MOVE_RESUME } };
    assert_int_equal(ask(process, resume).answer, ANSWER_DONE);
    for (uint32_t shard = 0; shard < SHARDS; shard++)
        assert_int_equal(buy(process, user_at(shard, 0)).answer, ANSWER_WON);
}

static void eligible_users_are_listed_where_they_are_at_home(void **state)
{
    struct remote_kit *kit = *state;
    struct process *process = sale_open(kit);
    const struct command invite = { .type = COMMAND_SALE,
        .sale = { .sale = 1, .start_ms = 1000, .end_ms = 2000, .eligible_only = true } };
    struct command list = { .type = COMMAND_USERS, .users = { .sale = 1, .count = 4 } };
    for (uint32_t i = 0; i < 4; i++)
        list.users.users[i] = user_at(i % 2, i);
    assert_int_equal(ask(process, invite).answer, ANSWER_DONE);
    const struct outcome out = ask(process, list);
    assert_true(out.answer == ANSWER_DONE && out.applied == 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(buy(process, list.users.users[i]).answer, ANSWER_WON);
    assert_int_equal(buy(process, user_at(2, 0)).answer, ANSWER_NOT_ELIGIBLE);
    assert_int_equal(place_number(&kit->place, "SELECT count(*) FROM eligible_users"), 4);
}

/* Redis forgets everything again and again while units travel. */
static void units_survive_redis_while_they_travel(void **state)
{
    struct remote_kit *kit = *state;
    struct process *process = sale_open(kit);
    uint32_t won = 0;
    for (uint32_t i = 0; won < UNITS; i++) {
        const user_id user = user_at(won < 5 ? 1 : 2, won);
        const uint64_t tag = process_post(process,
            &(struct command){ .type = COMMAND_RESERVE,
                .reserve = { .user = user, .key = 1000 + user, .item = 1, .quantity = 1 } });
        if (i % 4 == 3)
            kit_flushall(kit);
        KIT_UNTIL(kit, process_is_answered(process, tag));
        const struct outcome out = process_outcome(process, tag);
        won += out.answer == ANSWER_WON || out.answer == ANSWER_REPEATED;
        assert_int_not_equal(out.answer, ANSWER_SOLD_OUT);
    }
    KIT_UNTIL(kit, orders(kit) == UNITS);
    KIT_UNTIL(kit, shown(process).counts.free == 0);
    books_balance(kit, process, UNITS);
}

static struct command give_back_for(ticket_number ticket, user_id waiter)
{
    struct command command = { .type = COMMAND_SETTLE,
        .settle = { .ticket = ticket, .step = SETTLE_RETURN, .waiter_count = 1, .waiter_window_ms = 50 } };
    command.settle.waiters[0] = (struct waiter){ .user = waiter, .key = 4242, .quantity = 1 };
    return command;
}

static struct command offer_to(user_id waiter)
{
    struct command command = kit_reserve(waiter, 4242);
    command.reserve.channel = CHANNEL_LINE;
    command.reserve.flags = RESERVE_AFTER_END | RESERVE_OFFER;
    command.reserve.window_ms = 50;
    return command;
}

static void a_unit_that_somebody_elsewhere_waits_for_goes_to_nobody_else(void **state)
{
    struct remote_kit *kit = *state;
    struct process *process = sale_open(kit);
    const user_id waiter = user_at(2, 50), local = user_at(1, 50);
    ticket_number tickets[UNITS];
    for (uint32_t i = 0; i < UNITS; i++) {
        const struct outcome out = buy_later(process, user_at(1, i));
        tickets[i] = out.ticket;
    }
    assert_int_equal(ask(process, give_back_for(tickets[0], waiter)).answer, ANSWER_DONE);
    assert_int_equal(shown(process).counts.channel_free[CHANNEL_LINE], 1);
    assert_int_equal(shown(process).counts.free, 0); /* for whoever walks in */
    for (uint32_t shard = 0; shard < SHARDS; shard++)
        assert_int_equal(buy(process, user_at(shard, 60)).answer, ANSWER_SOLD_OUT);
    struct outcome out = told_win(ask_later(process, offer_to(waiter)));
    assert_true(out.answer == ANSWER_WON || out.answer == ANSWER_REPEATED);
    assert_int_equal(shard_of_ticket(out.ticket), 2);
    /* One who is at home where the unit comes back is served at once. */
    out = ask(process, give_back_for(tickets[1], local));
    assert_true(out.answer == ANSWER_DONE && out.detail == 1);
    assert_int_equal(orders(kit), UNITS + 2);
    units_balance(kit, process, UNITS);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, remote_kit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(a_sale_is_prepared_in_all_its_shards_with_its_units_shared_out),
        RULE(every_unit_is_sold_wherever_buyers_are_at_home),
        RULE(nobody_hears_sold_out_while_another_shard_has_units),
        RULE(another_gateway_says_what_it_lacks),
        RULE(units_are_added_and_removed_over_all_shards_and_once_for_a_key),
        RULE(preparing_again_changes_nothing_however_units_have_travelled),
        RULE(a_pause_holds_in_all_shards),
        RULE(eligible_users_are_listed_where_they_are_at_home),
        RULE(units_survive_redis_while_they_travel),
        RULE(a_unit_that_somebody_elsewhere_waits_for_goes_to_nobody_else),
    };
    clock_start(0);
    address = getenv("STAMPEDE_TEST_REDIS");
    if (address == NULL) {
        fputs("run by tools/with-redis\n", stderr);
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
