/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/merge.h"

#include "tests/unit/inventory/engine_kit.h"

#include <string.h>

static struct kit first, second, sum;
static struct merge merge;

/* Two shards of sale 1, each with item 1 as the kit has it, and an empty engine for both. */
static void shards_ready(uint32_t item_limit)
{
    kit_ready(&first, item_limit, 0);
    kit_ready(&second, item_limit, 0);
    kit_start(&sum, 100);
    merge = (struct merge){ .to = &sum.engine };
}

static void shards_end(void)
{
    kit_stop(&first);
    kit_stop(&second);
    kit_stop(&sum);
}

static void both_add(void)
{
    assert_int_equal(merge_add(&merge, &first.engine), STATUS_OK);
    assert_int_equal(merge_add(&merge, &second.engine), STATUS_OK);
    assert_int_equal(merge_end(&merge), STATUS_OK);
}

static enum answer ask_ticket(ticket_number ticket)
{
    return kit_do(&sum, (struct command){ .type = COMMAND_ASK_TICKET, .ask = { .ticket = ticket } }, 0);
}

static void units_tickets_and_users_of_shards_are_added_up(void **state)
{
    (void)state;
    shards_ready(5);
    assert_int_equal(kit_buy(&first, ANNA, 11, 2), ANSWER_WON);
    assert_int_equal(kit_buy(&first, ANNA, 12, 1), ANSWER_WON);
    assert_int_equal(kit_settle(&first, 1, SETTLE_SOLD), ANSWER_DONE);
    assert_int_equal(kit_buy(&second, BERT, 13, 4), ANSWER_WON);
    assert_int_equal(kit_settle(&second, 1, SETTLE_RETURN), ANSWER_DONE);
    assert_int_equal(kit_buy(&second, CLEO, 14, 3), ANSWER_WON);
    both_add();
    const struct engine_item *item = &sum.engine.items[1];
    assert_int_equal(item->given, first.engine.items[1].given + second.engine.items[1].given);
    assert_true(item->sold == 2 && item->held == 4 && item->free[0] == 20 - 6);
    assert_int_equal(sum.engine.sales[1].items, 1);
    assert_int_equal(sum.engine.tickets.last, 4);
    assert_int_equal(ask_ticket(2), ANSWER_FOUND);
    assert_true(sum.out.user == ANNA && sum.out.detail == TICKET_HELD);
    assert_int_equal(ask_ticket(3), ANSWER_FOUND);
    assert_true(sum.out.user == BERT && sum.out.detail == TICKET_RETURNED);
    assert_int_equal(ask_ticket(4), ANSWER_FOUND);
    assert_int_equal(sum.out.user, CLEO);
    kit_check(&sum);
    shards_end();
}

static void keys_limits_and_later_tickets_go_on(void **state)
{
    (void)state;
    shards_ready(3);
    assert_int_equal(kit_buy(&first, ANNA, 11, 2), ANSWER_WON);
    assert_int_equal(kit_buy(&second, BERT, 12, 3), ANSWER_WON);
    both_add();
    assert_int_equal(kit_buy(&sum, BERT, 12, 3), ANSWER_REPEATED); /* the same key: the same ticket */
    assert_true(sum.out.ticket == 2 && !sum.out.changed);
    assert_int_equal(kit_buy(&sum, BERT, 0, 1), ANSWER_LIMIT_REACHED);
    assert_int_equal(kit_settle(&sum, 2, SETTLE_RETURN), ANSWER_DONE);
    assert_int_equal(kit_buy(&sum, BERT, 15, 1), ANSWER_WON);
    assert_int_equal(sum.out.ticket, 3);
    kit_check(&sum);
    shards_end();
}

static void one_key_in_two_sales_stays_with_the_first(void **state)
{
    (void)state;
    shards_ready(0);
    assert_int_equal(kit_buy(&first, ANNA, 11, 1), ANSWER_WON);
    assert_int_equal(kit_buy(&second, ANNA, 11, 1), ANSWER_WON);
    both_add();
    assert_int_equal(merge.keys_dropped, 1);
    assert_int_equal(tickets_find_key(&sum.engine.tickets, 11), 1);
    shards_end();
}

static void what_can_not_be_one_state_is_refused(void **state)
{
    (void)state;
    shards_ready(0);
    second.engine.items[1].unit_price++;
    assert_int_equal(merge_add(&merge, &first.engine), STATUS_OK);
    assert_int_equal(merge_add(&merge, &second.engine), STATUS_CONFLICT);
    assert_non_null(strstr(merge.what, "item 1"));
    shards_end();
    shards_ready(0);
    first.engine.items[1].free[CHANNEL_LINE] = 1; /* for somebody who waits elsewhere */
    assert_int_equal(merge_add(&merge, &first.engine), STATUS_CONFLICT);
    shards_end();
    shards_ready(0);
    first.engine.items[1].held++; /* nobody has it */
    assert_int_equal(merge_add(&merge, &first.engine), STATUS_OK);
    assert_int_equal(merge_end(&merge), STATUS_CONFLICT);
    shards_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_tickets_and_users_of_shards_are_added_up),
        cmocka_unit_test(keys_limits_and_later_tickets_go_on),
        cmocka_unit_test(one_key_in_two_sales_stays_with_the_first),
        cmocka_unit_test(what_can_not_be_one_state_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
