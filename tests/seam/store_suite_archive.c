/* SPDX-License-Identifier: Apache-2.0 */
/* Sales that leave for a bundle, numbers that are left out, and what names customers. */
#include "contract/archive.h"
#include "contract/customers.h"
#include "tests/seam/store_suite_money.h"

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
    assert_int_equal(archive_ops(f)->begin(f->store, &row), STATUS_OK);
    assert_int_equal(archive_ops(f)->begin(f->store, &row), STATUS_CONFLICT);
    assert_int_equal(archive_ops(f)->holds(f->store, f->one, &holds), STATUS_OK);
    assert_true(holds);
    while (more && parts++ < 100)
        assert_int_equal(archive_ops(f)->remove(f->store, f->sale, &more), STATUS_OK);
    assert_false(more);
    assert_false(suite_has_order(f, paid) || suite_has_order(f, closed));
    money_totals_are(f, (struct money_totals){ 0 });
    assert_int_equal(archive_ops(f)->step(f->store, f->sale, ARCHIVE_DONE), STATUS_OK);
    assert_int_equal(archive_ops(f)->step(f->store, f->sale, ARCHIVE_REMOVING), STATUS_NOT_FOUND);
    assert_int_equal(archive_ops(f)->list(f->store, 0, &back, 1, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(back.step, ARCHIVE_DONE);
    assert_int_equal(back.orders, 2);
    assert_memory_equal(back.hash, row.hash, sizeof row.hash);
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
        SUITE_RULE(numbers_that_were_left_out_are_counted),
        SUITE_RULE(names_are_erased_by_request_and_by_age),
    };
    return cmocka_run_group_tests_name("order store: archive", rules, NULL, NULL);
}
