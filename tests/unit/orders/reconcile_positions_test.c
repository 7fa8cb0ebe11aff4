/* SPDX-License-Identifier: Apache-2.0 */
/* Reconciliation on many machines: tickets of several partitions and epochs, a log that follows the
 * database. */
#include "contract/cluster_store.h"
#include "contract/ticket_number.h"
#include "tests/unit/orders/reconcile_kit.h"

enum { LOW = 32, HIGH = 64, PARTS = 2, TICKETS_EACH = 3 };

/* Each partition: how many tickets it has, and the first one of its second epoch. */
static struct {
    struct part_state state;
    uint32_t tickets, second_epoch_at;
} parts[PARTS];

static enum status parts_list(struct order_store *store, uint32_t from, struct part_state *states,
    uint32_t max, uint32_t *count)
{
    (void)store;
    *count = 0;
    for (uint32_t i = 0; i < PARTS && *count < max; i++)
        if (parts[i].state.part >= from)
            states[(*count)++] = parts[i].state;
    return STATUS_OK;
}

static ticket_number number_of(uint32_t part, uint32_t n)
{
    const uint32_t index = part == LOW ? 0 : 1;
    return ticket_number_make(
        &(struct ticket_parts){ part, n < parts[index].second_epoch_at ? 1 : 2, n });
}

static struct outcome ticket_ask(const struct shop *shop, const struct command_ask *ask)
{
    struct ticket_parts split;
    struct outcome outcome = { .answer = ANSWER_UNKNOWN_TICKET };
    (void)shop;
    if (!ticket_number_split(ask->ticket, &split) || (split.part != LOW && split.part != HIGH)
        || split.n > parts[split.part == LOW ? 0 : 1].tickets
        || (!ask->any_epoch && number_of(split.part, split.n) != ask->ticket))
        return outcome;
    outcome = (struct outcome){ .answer = ANSWER_FOUND, .user = 7, .item = ITEM, .quantity = 1 };
    outcome.ticket = number_of(split.part, split.n);
    outcome.unit_price = 5;
    outcome.detail = TICKET_HELD;
    return outcome;
}

static void positions_set(struct shop *shop)
{
    uint64_t records = 0;
    for (uint32_t i = 0; i < PARTS; i++)
        records += parts[i].state.seq = 10 + parts[i].tickets;
    log_end_set(shop, records);
}

/* Orders of all tickets, ascending. */
static void sell_parts(struct shop *shop)
{
    uint32_t count = 0;
    sell(shop, parts[0].tickets + parts[1].tickets);
    for (uint32_t i = 0; i < PARTS; i++)
        for (uint32_t n = 1; n <= parts[i].tickets; n++, count++)
            shop->orders[count].order.ticket = shop->orders[count].slot =
                number_of(parts[i].state.part, n);
    positions_set(shop);
}

static void order_remove(struct shop *shop, uint32_t at)
{
    memmove(&shop->orders[at], &shop->orders[at + 1], (shop->order_count - at - 1) * sizeof *shop->orders);
    shop->order_count--;
}

static int parts_setup(void **state)
{
    static struct cluster_store_ops cluster = { .parts = parts_list };
    static struct order_store_ops ops;
    (void)setup(state);
    struct shop *shop = *state;
    ops = store_ops;
    ops.cluster = &cluster;
    shop->store.ops = &ops;
    shop->ticket_ask = ticket_ask;
    shop->config.partitions = true;
    shop->reconcile = reconcile_create(&shop->arena, &shop->config);
    for (uint32_t i = 0; i < PARTS; i++) {
        parts[i].state = (struct part_state){ .part = i == 0 ? LOW : HIGH, .epoch = 2 };
        parts[i].tickets = TICKETS_EACH;
        parts[i].second_epoch_at = 2;
    }
    sell_parts(shop);
    return 0;
}

static void orders_of_all_partitions_and_epochs_fit(void **state)
{
    struct shop *shop = *state;
    const struct reconcile_report *report = run(shop, false);
    finds_nothing(report);
    assert_int_equal(report->orders, 2 * TICKETS_EACH);
    assert_int_equal(report->position.seq, 2 * (10 + TICKETS_EACH));
    assert_int_equal(report->skipped, 0);
}

static void a_ticket_without_an_order_is_found_in_each_partition_wherever_it_is(void **state)
{
    struct shop *shop = *state;
    for (uint32_t at = 0; at < 2 * TICKETS_EACH; at++) {
        sell_parts(shop);
        const ticket_number ticket = shop->orders[at].order.ticket;
        order_remove(shop, at);
        const struct reconcile_report *report = run(shop, false);
        assert_int_equal(report->found, 1);
        assert_int_equal(report->findings[0].code, FINDING_TICKET_WITHOUT_ORDER);
        assert_int_equal(report->findings[0].ticket, ticket);
    }
}

static void all_orders_of_a_partition_are_missed(void **state)
{
    struct shop *shop = *state;
    shop->order_count = TICKETS_EACH; /* the higher partition has none */
    assert_int_equal(run(shop, false)->found, TICKETS_EACH);
    sell_parts(shop);
    for (uint32_t i = 0; i < TICKETS_EACH; i++)
        order_remove(shop, 0);
    assert_int_equal(run(shop, false)->found, TICKETS_EACH);
}

static void an_order_of_another_epoch_or_partition_has_no_ticket(void **state)
{
    struct shop *shop = *state;
    struct look_order *last = &shop->orders[shop->order_count];
    *last = shop->orders[0];
    last->order.ticket = last->slot = ticket_number_make(&(struct ticket_parts){ HIGH + 1, 1, 1 });
    shop->order_count++;
    finds_one(run(shop, false), FINDING_ORDER_WITHOUT_TICKET);
    last->order.ticket = last->slot = ticket_number_make(&(struct ticket_parts){ HIGH, 3, 2 });
    finds_one(run(shop, false), FINDING_ORDER_WITHOUT_TICKET);
}

static void a_recent_run_sees_new_orders_of_a_lower_partition(void **state)
{
    struct shop *shop = *state;
    finds_nothing(run_of(shop, false, true)); /* the first is a whole one */
    const struct reconcile_report *report = run_of(shop, false, true);
    assert_true(report->recent);
    assert_int_equal(report->orders, 0);
    parts[0].tickets += 2;
    sell_parts(shop);
    report = run_of(shop, false, true);
    finds_nothing(report);
    assert_int_equal(report->orders, 2);
    parts[0].tickets++;
    sell_parts(shop);
    order_remove(shop, parts[0].tickets - 1);
    report = run_of(shop, false, true);
    assert_int_equal(report->found, 1);
    assert_int_equal(report->findings[0].code, FINDING_TICKET_WITHOUT_ORDER);
    assert_int_equal(report->findings[0].ticket, number_of(LOW, parts[0].tickets));
}

static void a_log_that_is_behind_the_database_is_waited_for(void **state)
{
    struct shop *shop = *state;
    parts[1].tickets++;
    sell_parts(shop);
    parts[1].tickets--; /* the process has not followed it yet */
    log_end_set(shop, 2 * (10 + TICKETS_EACH));
    assert_true(reconcile_begin(shop->reconcile, shop->now_ms, false, false));
    for (int i = 0; i < 100; i++)
        assert_true(turn(shop));
    assert_int_equal(reconcile_report(shop->reconcile)->found, 0);
    parts[1].tickets++;
    positions_set(shop);
    for (int i = 0; i < 200; i++)
        (void)turn(shop);
    assert_int_equal(reconcile_report(shop->reconcile)->state, RECONCILE_DONE);
    assert_int_equal(reconcile_report(shop->reconcile)->found, 0);
}

static void partitions_without_tickets_have_no_findings(void **state)
{
    struct shop *shop = *state;
    shop->order_count = 0;
    parts[0].tickets = parts[1].tickets = 0;
    sell(shop, 0);
    positions_set(shop);
    finds_nothing(run(shop, false));
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, parts_setup, teardown)
    const struct CMUnitTest tests[] = {
        RULE(orders_of_all_partitions_and_epochs_fit),
        RULE(a_ticket_without_an_order_is_found_in_each_partition_wherever_it_is),
        RULE(all_orders_of_a_partition_are_missed),
        RULE(an_order_of_another_epoch_or_partition_has_no_ticket),
        RULE(a_recent_run_sees_new_orders_of_a_lower_partition),
        RULE(a_log_that_is_behind_the_database_is_waited_for),
        RULE(partitions_without_tickets_have_no_findings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
