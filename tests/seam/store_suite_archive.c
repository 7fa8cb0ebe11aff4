/* SPDX-License-Identifier: Apache-2.0 */
/* Sales that leave for a bundle, numbers that are left out, and what names customers. */
#include "contract/archive.h"
#include "contract/cluster_store.h"
#include "contract/customers.h"
#include "contract/ticket_number.h"
#include "tests/seam/store_suite_money.h"

#include <stdlib.h>

static const struct archive_store_ops *archive_ops(struct fixture *f)
{
    if (ops(f)->archive == NULL)
        skip();
    return ops(f)->archive;
}

static struct archive_look looked(struct fixture *f)
{
    struct archive_look look;
    assert_int_equal(archive_ops(f)->look(f->store, f->sale, &look), STATUS_OK);
    return look;
}

static void settled(struct fixture *f, ticket_number ticket, enum settle_step step)
{
    suite_add_settle(f, ticket, step);
    suite_must_send(f);
}

static void a_sale_leaves_when_nothing_of_it_is_open(void **state)
{
    struct fixture *f = *state;
    struct order after;
    struct archive row = { .sale = f->sale, .orders = 2, .bytes = 9, .made_ms = 5, .hash = { 1, 2 } };
    struct archive back = { 0 };
    struct archive_look now;
    uint32_t count = 0, parts = 0;
    bool more = true, holds = true;
    const ticket_number paid = money_pending(f, 7), closed = money_pending(f, 8);
    assert_string_equal(looked(f).why, "orders wait for money");
    assert_int_equal(money_shop_pays(f, paid, "bill 1", &after), MOVE_DONE);
    assert_int_equal(money_move(f, closed, ORDER_EVENT_CANCEL, &after), MOVE_DONE);
    assert_string_equal(looked(f).why, "units are on their way back");
    settled(f, paid, SETTLE_SOLD);
    settled(f, closed, SETTLE_RETURN);
    assert_string_equal(looked(f).why, "");
    assert_int_equal(looked(f).orders, 2);
    assert_int_equal(
        looked(f).versions, suite_order_of(f, paid).version + suite_order_of(f, closed).version);
    assert_int_equal(archive_ops(f)->holds(f->store, f->one, &holds), STATUS_OK);
    assert_false(holds);
    const struct archive_look made = looked(f);
    assert_int_equal(archive_ops(f)->begin(f->store, &row, &made, &now), STATUS_OK);
    assert_int_equal(archive_ops(f)->begin(f->store, &row, &made, &now), STATUS_CONFLICT);
    assert_int_equal(archive_ops(f)->holds(f->store, f->one, &holds), STATUS_OK);
    assert_true(holds);
    assert_int_equal(money_move(f, paid, ORDER_EVENT_REFUND, &after), MOVE_UNKNOWN); /* it is in the bundle */
    while (more && parts++ < 100)
        assert_int_equal(archive_ops(f)->remove(f->store, f->sale, &more), STATUS_OK);
    assert_false(more);
    assert_false(suite_has_order(f, paid) || suite_has_order(f, closed));
    money_totals_are(f, (struct money_totals){ 0 });
    assert_int_equal(archive_ops(f)->unfinished(f->store, &back), STATUS_OK);
    assert_int_equal(back.sale, f->sale);
    assert_int_equal(back.step, ARCHIVE_REMOVING);
    assert_int_equal(archive_ops(f)->step(f->store, f->sale, ARCHIVE_DONE), STATUS_OK);
    assert_int_equal(archive_ops(f)->unfinished(f->store, &back), STATUS_NOT_FOUND);
    assert_int_equal(archive_ops(f)->step(f->store, f->sale, ARCHIVE_REMOVING), STATUS_NOT_FOUND);
    assert_int_equal(archive_ops(f)->list(f->store, 0, &back, 1, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(back.step, ARCHIVE_DONE);
    assert_int_equal(back.orders, 2);
    assert_memory_equal(back.hash, row.hash, sizeof row.hash);
}

static void a_bundle_that_has_something_else_than_the_store_is_refused(void **state)
{
    struct fixture *f = *state;
    struct order after;
    struct archive_look now;
    struct sale sale;
    bool holds = true;
    const struct archive row = { .sale = f->sale, .orders = 1, .bytes = 9, .made_ms = 5 };
    const ticket_number paid = money_pending(f, 7);
    struct archive_look made = looked(f);
    assert_int_equal(archive_ops(f)->begin(f->store, &row, &made, &now), STATUS_REFUSED);
    assert_string_equal(now.why, "orders wait for money");
    assert_int_equal(money_shop_pays(f, paid, "bill 1", &after), MOVE_DONE);
    settled(f, paid, SETTLE_SOLD);
    made = looked(f);
    for (uint32_t i = 0; i < 3; i++) {
        struct archive_look other = made;
        *(i == 0 ? &other.orders : i == 1 ? &other.versions : &other.positions) += 1;
        assert_int_equal(archive_ops(f)->begin(f->store, &row, &other, &now), STATUS_REFUSED);
        assert_string_equal(now.why, "orders have changed since the bundle was made");
    }
    assert_int_equal(archive_ops(f)->holds(f->store, f->one, &holds), STATUS_OK);
    assert_false(holds);
    assert_int_equal(ops(f)->sale_get(f->store, f->sale, &sale), STATUS_OK);
    assert_false(sale.archived);
    assert_int_equal(archive_ops(f)->begin(f->store, &row, &made, &now), STATUS_OK);
    assert_int_equal(ops(f)->sale_get(f->store, f->sale, &sale), STATUS_OK);
    assert_true(sale.archived);
}

static void next_is(struct fixture *f, uint64_t now_ms, uint64_t ended_ms, sale_id sale, bool wished)
{
    sale_id found = 77;
    bool asked = !wished;
    assert_int_equal(archive_ops(f)->next(f->store, now_ms, ended_ms, 0, &found, &asked), STATUS_OK);
    assert_int_equal(found, sale);
    assert_int_equal(asked, wished);
}

static void a_sale_leaves_when_it_is_asked_for_or_long_over_and_not_before_its_next_try(void **state)
{
    struct fixture *f = *state;
    struct sale sale;
    struct archive_wish wish = { .sale = f->sale, .asked = true, .due_ms = 1000 }, back;
    struct archive_look now;
    uint64_t open = 9, failed = 9;
    (void)archive_ops(f);
    assert_int_equal(ops(f)->sale_get(f->store, f->sale, &sale), STATUS_OK);
    next_is(f, 1000, 0, 0, false);
    next_is(f, 1000, sale.end_ms - 1, 0, false);
    next_is(f, 1000, sale.end_ms, f->sale, false);
    assert_int_equal(archive_ops(f)->wish_get(f->store, f->sale, &back), STATUS_NOT_FOUND);
    assert_int_equal(archive_ops(f)->wish_put(f->store, &wish), STATUS_OK);
    next_is(f, 999, sale.end_ms, 0, false); /* its try is due later, whoever wants it */
    next_is(f, 1000, 0, f->sale, true);
    assert_int_equal(archive_ops(f)->wishes_count(f->store, &open, &failed), STATUS_OK);
    assert_true(open == 1 && failed == 0);
    wish = (struct archive_wish){ .sale = f->sale, .asked = true, .tries = 3, .due_ms = ARCHIVE_NEVER_MS };
    snprintf(wish.why, sizeof wish.why, "the disk is full");
    assert_int_equal(archive_ops(f)->wish_put(f->store, &wish), STATUS_OK);
    assert_int_equal(archive_ops(f)->wish_get(f->store, f->sale, &back), STATUS_OK);
    assert_true(back.sale == f->sale && back.asked && back.tries == 3 && back.due_ms == ARCHIVE_NEVER_MS);
    assert_string_equal(back.why, wish.why);
    next_is(f, INT64_MAX - 1, sale.end_ms, 0, false);
    assert_int_equal(archive_ops(f)->wishes_count(f->store, &open, &failed), STATUS_OK);
    assert_true(open == 0 && failed == 1);
    const struct archive_look made = looked(f);
    const struct archive row = { .sale = f->sale };
    assert_int_equal(archive_ops(f)->begin(f->store, &row, &made, &now), STATUS_OK);
    assert_int_equal(archive_ops(f)->wish_get(f->store, f->sale, &back), STATUS_NOT_FOUND);
    next_is(f, 1000, sale.end_ms, 0, false); /* it has left */
}

/* A log of one record in the partition of the fixture's sale; the record has no order. */
static void entry_keep(struct fixture *f, uint32_t part)
{
    const struct journal_entry entry = { .part = part, .epoch = 1, .first_seq = 1, .bytes = SPAN("bytes") };
    const uint8_t disposition = 0;
    struct refusal refusal;
    struct queue_record record = { .at = { part, 1 } };
    record.command.type = COMMAND_RECLAIM;
    record.outcome.answer = ANSWER_DONE;
    assert_int_equal(
        ops(f)->cluster->apply(f->store, &entry, &record, &disposition, 1, &refusal), STATUS_OK);
}

static void partitions_and_their_logs_leave_with_the_sale_and_are_not_made_again(void **state)
{
    struct fixture *f = *state;
    struct journal_entry entry;
    struct archive_look now;
    struct part_state listed[4];
    uint32_t count = 0, parts = 0;
    bool more = true;
    const uint32_t part = part_of_sale(f->sale, 0), other = part_of_sale(f->sale + 1, 0);
    if (ops(f)->cluster == NULL) {
        skip();
        return; /* the analyzer does not know that skip() ends the test */
    }
    uint8_t *buffer = malloc(JOURNAL_ENTRY_BYTES_MAX);
    assert_int_equal(ops(f)->cluster->part_want(f->store, part), STATUS_OK);
    assert_int_equal(ops(f)->cluster->epoch_raise(f->store, part, 0), STATUS_OK);
    assert_int_equal(ops(f)->cluster->part_want(f->store, other), STATUS_OK);
    assert_int_equal(ops(f)->cluster->epoch_raise(f->store, other, 0), STATUS_OK);
    struct archive_look made = looked(f);
    entry_keep(f, part);
    entry_keep(f, other);
    const struct archive row = { .sale = f->sale };
    assert_int_equal(archive_ops(f)->begin(f->store, &row, &made, &now), STATUS_REFUSED); /* it went on */
    made = looked(f);
    assert_int_equal(made.positions, 1);
    assert_int_equal(archive_ops(f)->begin(f->store, &row, &made, &now), STATUS_OK);
    while (more && parts++ < 100)
        assert_int_equal(archive_ops(f)->remove(f->store, f->sale, &more), STATUS_OK);
    assert_false(more);
    assert_int_equal(ops(f)->cluster->journal_next(f->store, part, 0, &entry, buffer), STATUS_NOT_FOUND);
    assert_int_equal(ops(f)->cluster->journal_next(f->store, other, 0, &entry, buffer), STATUS_OK);
    assert_int_equal(ops(f)->cluster->part_want(f->store, part), STATUS_OK);
    assert_int_equal(ops(f)->cluster->parts(f->store, 0, listed, 4, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(listed[0].part, other);
    free(buffer);
}

static void numbers_that_were_left_out_are_counted(void **state)
{
    struct fixture *f = *state;
    struct archive back = { 0 };
    uint32_t count = 0;
    (void)archive_ops(f);
    for (uint32_t i = 0; i < 2; i++) {
        struct queue_record *record = suite_add(f, COMMAND_SKIP);
        record->command.skip.to = 1000 * (i + 1);
        record->outcome.applied = 900;
        record->outcome.answer = ANSWER_DONE;
        suite_must_send(f);
    }
    assert_int_equal(archive_ops(f)->list(f->store, 0, &back, 1, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(back.sale, 0);
    assert_int_equal(back.orders, 1800);
}

static bool is_known(struct fixture *f, user_id user)
{
    struct customer customer;
    const enum status status = ops(f)->customers->get(f->store, user, &customer);
    assert_true(status == STATUS_OK || status == STATUS_NOT_FOUND);
    return status == STATUS_OK;
}

static void names_are_erased_by_request_and_by_age(void **state)
{
    struct fixture *f = *state;
    const struct customer customers[] = { { 7, 3, { 1, 2, 3 } }, { 8, 3, { 4, 5, 6 } },
        { 9, 3, { 7, 8, 9 } } };
    struct erase_cursor cursor = { 0 };
    uint64_t rows = 0, all = 0;
    (void)archive_ops(f);
    if (ops(f)->customers == NULL)
        skip();
    (void)money_pending(f, 8);
    assert_int_equal(ops(f)->customers->put(f->store, customers, 3, 100), STATUS_OK);
    assert_int_equal(archive_ops(f)->erase(f->store, 7, &rows), STATUS_OK);
    assert_int_equal(rows, 1);
    assert_false(is_known(f, 7));
    for (uint32_t i = 0; i < 10 && !cursor.ended; i++) {
        assert_int_equal(archive_ops(f)->erase_older(f->store, 100, &cursor, &rows), STATUS_OK);
        assert_int_equal(rows, 0); /* not older */
    }
    assert_true(cursor.ended);
    cursor = (struct erase_cursor){ 0 };
    for (uint32_t i = 0; i < 10 && !cursor.ended; i++) {
        assert_int_equal(archive_ops(f)->erase_older(f->store, 101, &cursor, &rows), STATUS_OK);
        all += rows;
    }
    assert_int_equal(all, 1);
    assert_true(is_known(f, 8)); /* has an order */
    assert_false(is_known(f, 9));
}

int suite_run_archive(void)
{
    const struct CMUnitTest rules[] = {
        SUITE_RULE(a_sale_leaves_when_nothing_of_it_is_open),
        SUITE_RULE(a_bundle_that_has_something_else_than_the_store_is_refused),
        SUITE_RULE(a_sale_leaves_when_it_is_asked_for_or_long_over_and_not_before_its_next_try),
        SUITE_RULE(partitions_and_their_logs_leave_with_the_sale_and_are_not_made_again),
        SUITE_RULE(numbers_that_were_left_out_are_counted),
        SUITE_RULE(names_are_erased_by_request_and_by_age),
    };
    return cmocka_run_group_tests_name("order store: archive", rules, NULL, NULL);
}
