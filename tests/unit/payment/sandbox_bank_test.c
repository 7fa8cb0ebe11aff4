/* SPDX-License-Identifier: Apache-2.0 */
#include "payment/sandbox_bank.h"
#include "payment/statement.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { NOW_MS = 1000, FAR_MS = 1000000, PRICE = 999, ROW_BYTES = 2048 };

struct place {
    char folder[64];
    struct bank *bank;
};

static int setup(void **state)
{
    struct place *place = test_calloc(1, sizeof *place);
    /* In memory where there is such a place: one rule writes and syncs many thousand rows. */
    snprintf(place->folder, sizeof place->folder, "%s/stampede-bank-XXXXXX",
        access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(place->folder));
    assert_int_equal(bank_open(&place->bank, place->folder), STATUS_OK);
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    struct place *place = *state;
    char file[128];
    bank_close(place->bank);
    snprintf(file, sizeof file, "%s/payments", place->folder);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(place->folder), 0);
    test_free(place);
    return 0;
}

static void reopen(struct place *place)
{
    bank_close(place->bank);
    assert_int_equal(bank_open(&place->bank, place->folder), STATUS_OK);
}

static struct sandbox_message asked(const char *reference)
{
    struct sandbox_message message = {
        .amount = PRICE, .currency = "CNY", .notify_url = "http://x/", .title = "Phone"
    };
    snprintf(message.reference, sizeof message.reference, "%s", reference);
    return message;
}

static struct sandbox_message made(struct place *place, const char *reference)
{
    const struct sandbox_message ask = asked(reference);
    struct sandbox_message out;
    assert_int_equal(bank_create(place->bank, &ask, &out), BANK_DONE);
    return out;
}

static struct sandbox_message paid(struct place *place, const char *reference, enum bank_how how)
{
    const struct sandbox_message payment = made(place, reference);
    struct sandbox_message out;
    assert_int_equal(
        bank_pay(place->bank, span_from_string(payment.id), how, "", NOW_MS, &out), BANK_DONE);
    return out;
}

static struct sandbox_message shown(struct place *place, const char *reference)
{
    struct sandbox_message out;
    assert_int_equal(bank_show(place->bank, reference, &out), BANK_DONE);
    return out;
}

static uint32_t callbacks(struct place *place, uint64_t now_ms)
{
    struct sandbox_message out;
    uint32_t count = 0;
    while (bank_callback(place->bank, now_ms, &out))
        count++;
    return count;
}

static void create_again_is_the_same_payment_and_another_amount_is_refused(void **state)
{
    struct place *place = *state;
    const struct sandbox_message first = made(place, "r-1");
    struct sandbox_message ask = asked("r-1"), out;
    assert_string_equal(first.state, "open");
    assert_string_equal(made(place, "r-1").id, first.id);
    assert_string_not_equal(made(place, "r-2").id, first.id);
    ask.amount++;
    assert_int_equal(bank_create(place->bank, &ask, &out), BANK_REFUSED);
    ask = asked("r-1");
    snprintf(ask.currency, sizeof ask.currency, "USD");
    assert_int_equal(bank_create(place->bank, &ask, &out), BANK_REFUSED);
    ask = asked("");
    assert_int_equal(bank_create(place->bank, &ask, &out), BANK_REFUSED);
    assert_int_equal(bank_show(place->bank, "r-3", &out), BANK_UNKNOWN);
    assert_int_equal(bank_close_payment(place->bank, "r-3", NOW_MS, &out), BANK_UNKNOWN);
}

static void a_payment_is_paid_once_by_whoever_knows_its_id(void **state)
{
    struct place *place = *state;
    const struct sandbox_message payment = made(place, "r-1");
    struct sandbox_message out;
    char bent[SANDBOX_ID_MAX + 1];
    for (size_t at = 0; at < strlen(payment.id); at++) {
        snprintf(bent, sizeof bent, "%s", payment.id);
        bent[at] = bent[at] == '1' ? '2' : '1';
        assert_int_equal(bank_pay(place->bank, span_from_string(bent), BANK_PAY, "", NOW_MS, &out),
            BANK_UNKNOWN);
        assert_int_equal(bank_show_id(place->bank, span_of(payment.id, at), &out), BANK_UNKNOWN);
    }
    assert_int_equal(bank_show_id(place->bank, span_from_string(payment.id), &out), BANK_DONE);
    assert_int_equal(
        bank_pay(place->bank, span_from_string(payment.id), BANK_PAY, "", NOW_MS, &out), BANK_DONE);
    assert_string_equal(out.state, "captured");
    assert_int_equal(bank_pay(place->bank, span_from_string(payment.id), BANK_PAY, "", NOW_MS, &out),
        BANK_REFUSED);
    assert_int_equal(callbacks(place, NOW_MS), 1);
    assert_int_equal(callbacks(place, FAR_MS), 0);
}

static void closed_and_declined_cannot_be_paid_and_paid_cannot_be_closed(void **state)
{
    struct place *place = *state;
    const struct sandbox_message one = made(place, "r-1");
    struct sandbox_message out;
    assert_int_equal(bank_close_payment(place->bank, "r-1", NOW_MS, &out), BANK_DONE);
    assert_string_equal(out.state, "closed");
    assert_int_equal(
        bank_pay(place->bank, span_from_string(one.id), BANK_PAY, "", NOW_MS, &out), BANK_REFUSED);
    assert_string_equal(paid(place, "r-2", BANK_DECLINE).state, "closed");
    paid(place, "r-3", BANK_PAY);
    assert_int_equal(bank_close_payment(place->bank, "r-3", NOW_MS, &out), BANK_DONE);
    assert_string_equal(out.state, "captured");
}

static void a_refund_happens_once_under_its_key(void **state)
{
    struct place *place = *state;
    struct sandbox_message out;
    uint64_t captured, refunded;
    made(place, "r-0");
    paid(place, "r-1", BANK_PAY);
    assert_int_equal(bank_refund(place->bank, "r-0", "k", PRICE, &out), BANK_REFUSED); /* not paid */
    assert_int_equal(bank_refund(place->bank, "r-9", "k", PRICE, &out), BANK_UNKNOWN);
    assert_int_equal(bank_refund(place->bank, "r-1", "k", PRICE + 1, &out), BANK_REFUSED);
    assert_int_equal(bank_refund_show(place->bank, "r-1", "", &out), BANK_DONE);
    assert_string_equal(out.state, "captured");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(bank_refund(place->bank, "r-1", "k", PRICE, &out), BANK_DONE);
        assert_string_equal(out.state, "refunded");
        assert_string_equal(out.key, "k");
    }
    assert_int_equal(bank_refund(place->bank, "r-1", "k-2", PRICE, &out), BANK_REFUSED);
    assert_int_equal(bank_refund_show(place->bank, "r-1", "", &out), BANK_DONE);
    assert_string_equal(out.state, "refunded");
    bank_totals(place->bank, &captured, &refunded);
    assert_int_equal(captured, PRICE);
    assert_int_equal(refunded, PRICE);
}

static void parts_go_back_once_each_and_never_more_than_was_paid(void **state)
{
    struct place *place = *state;
    struct sandbox_message out;
    uint64_t captured, refunded;
    paid(place, "r-1", BANK_PAY);
    for (int i = 0; i < 2; i++)
        assert_int_equal(bank_refund(place->bank, "r-1", "p-1", 10, &out), BANK_DONE);
    assert_string_equal(out.state, "refunded");
    assert_int_equal(bank_refund(place->bank, "r-1", "p-2", 20, &out), BANK_DONE);
    assert_int_equal(bank_refund(place->bank, "r-1", "p-3", PRICE - 29, &out), BANK_REFUSED);
    assert_int_equal(bank_refund(place->bank, "r-1", "p-3", 0, &out), BANK_REFUSED);
    assert_int_equal(bank_refund_show(place->bank, "r-1", "p-2", &out), BANK_DONE);
    assert_string_equal(out.state, "refunded");
    assert_int_equal(bank_refund_show(place->bank, "r-1", "p-3", &out), BANK_DONE);
    assert_string_equal(out.state, "captured");
    bank_totals(place->bank, &captured, &refunded);
    assert_int_equal(refunded, 30);
    assert_int_equal(bank_refund(place->bank, "r-1", "k", PRICE - 30, &out), BANK_DONE);
    assert_int_equal(bank_refund(place->bank, "r-1", "k-2", 1, &out), BANK_REFUSED);
    bank_totals(place->bank, &captured, &refunded);
    assert_int_equal(refunded, PRICE);
}

static void nothing_can_be_paid_and_given_back_too(void **state)
{
    struct place *place = *state;
    struct sandbox_message free = asked("r-1"), out;
    free.amount = 0;
    assert_int_equal(bank_create(place->bank, &free, &out), BANK_DONE);
    assert_int_equal(
        bank_pay(place->bank, span_from_string(out.id), BANK_PAY, "", NOW_MS, &out), BANK_DONE);
    assert_int_equal(bank_refund(place->bank, "r-1", "", 0, &out), BANK_REFUSED);
    assert_int_equal(bank_refund(place->bank, "r-1", "k", 0, &out), BANK_DONE);
    assert_string_equal(out.state, "refunded");
    assert_int_equal(bank_refund_show(place->bank, "r-1", "", &out), BANK_DONE);
    assert_string_equal(out.state, "refunded");
    assert_int_equal(bank_refund(place->bank, "r-1", "k-2", 0, &out), BANK_REFUSED);
}

static bool row_sum(void *context, const struct statement_row *row)
{
    uint64_t *sums = context;
    sums[row->kind] += row->amount;
    return true;
}

static void its_books_are_a_statement(void **state)
{
    struct place *place = *state;
    struct sandbox_message out;
    char path[256], bytes[8192];
    uint64_t sums[2] = { 0 };
    made(place, "r-0");
    paid(place, "r-1", BANK_PAY);
    paid(place, "r-2", BANK_PAY);
    assert_int_equal(bank_refund(place->bank, "r-2", "k", PRICE, &out), BANK_DONE);
    snprintf(path, sizeof path, "%s/payments", place->folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    struct statement_reader reader = { .text = span_of(bytes, size), .take = row_sum, .context = sums };
    assert_int_equal(statement_read("sandbox", &reader), STATUS_OK);
    assert_int_equal(reader.rows, 3);
    assert_int_equal(sums[STATEMENT_CAPTURED], 2 * PRICE);
    assert_int_equal(sums[STATEMENT_REFUNDED], PRICE);
    reader.text = SPAN("something else");
    assert_int_equal(statement_read("sandbox", &reader), STATUS_BAD_INPUT);
}

static void everything_told_survives_opening_again(void **state)
{
    struct place *place = *state;
    const struct sandbox_message open = made(place, "r-1");
    struct sandbox_message out;
    uint64_t captured, refunded;
    paid(place, "r-2", BANK_PAY);
    paid(place, "r-3", BANK_PAY);
    assert_int_equal(bank_refund(place->bank, "r-3", "k", PRICE, &out), BANK_DONE);
    assert_int_equal(bank_close_payment(place->bank, "r-1", NOW_MS, &out), BANK_DONE);
    reopen(place);
    assert_string_equal(shown(place, "r-1").state, "closed");
    assert_string_equal(shown(place, "r-1").id, open.id);
    assert_string_equal(shown(place, "r-1").title, "Phone");
    assert_string_equal(shown(place, "r-2").state, "captured");
    assert_int_equal(bank_refund(place->bank, "r-3", "k", PRICE, &out), BANK_DONE); /* the same, again */
    bank_totals(place->bank, &captured, &refunded);
    assert_int_equal(captured, 2 * PRICE);
    assert_int_equal(refunded, PRICE);
    assert_string_not_equal(made(place, "r-4").id, open.id);
    assert_int_equal(callbacks(place, FAR_MS), 0); /* lost, as callbacks are */
}

static void row_damage(struct place *place, unsigned row)
{
    char file[128];
    const char byte = 'x';
    snprintf(file, sizeof file, "%s/payments", place->folder);
    const int fd = open(file, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)row * ROW_BYTES + 60), 1);
    close(fd);
}

static void a_torn_row_costs_that_row_only(void **state)
{
    struct place *place = *state;
    struct sandbox_message out;
    made(place, "r-1");
    made(place, "r-2");
    const struct sandbox_message third = paid(place, "r-3", BANK_PAY);
    made(place, "r-4");
    row_damage(place, 1);
    row_damage(place, 3);
    reopen(place);
    assert_int_equal(bank_show(place->bank, "r-2", &out), BANK_UNKNOWN);
    assert_int_equal(bank_show(place->bank, "r-4", &out), BANK_UNKNOWN);
    assert_string_equal(shown(place, "r-1").state, "open");
    assert_string_equal(shown(place, "r-3").state, "captured");
    assert_string_equal(shown(place, "r-3").id, third.id);
    assert_int_equal(bank_show_id(place->bank, SPAN("sb_000000010000000000000000"), &out), BANK_UNKNOWN);
    made(place, "r-2");
    made(place, "r-5");
    reopen(place);
    assert_string_equal(shown(place, "r-5").state, "open");
    assert_string_equal(shown(place, "r-3").id, third.id);
}

static void switches_at_0_do_nothing_and_at_100_always_happen(void **state)
{
    struct place *place = *state;
    struct bank_switches *switches = bank_switches(place->bank);
    struct sandbox_message out;
    for (int i = 0; i < 200; i++)
        assert_false(bank_is_unreached(place->bank) || bank_is_unanswered(place->bank));
    *switches = (struct bank_switches){ .unreached = 100, .unanswered = 100 };
    for (int i = 0; i < 200; i++)
        assert_true(bank_is_unreached(place->bank) && bank_is_unanswered(place->bank));
    *switches = (struct bank_switches){ .lost = 100, .doubled = 100 };
    paid(place, "lost", BANK_PAY);
    assert_int_equal(callbacks(place, FAR_MS), 0);
    *switches = (struct bank_switches){ .doubled = 100 };
    paid(place, "doubled", BANK_PAY);
    assert_int_equal(callbacks(place, NOW_MS), 2);
    *switches = (struct bank_switches){ .wrong_amount = 100 };
    paid(place, "wrong", BANK_PAY);
    assert_true(bank_callback(place->bank, NOW_MS, &out));
    assert_int_equal(out.amount, PRICE + 1);
    assert_int_equal(shown(place, "wrong").amount, PRICE);
    *switches = (struct bank_switches){ .short_paid = 100 };
    assert_int_equal(paid(place, "short", BANK_PAY).amount, PRICE - 1);
    assert_int_equal(callbacks(place, NOW_MS), 1);
    *switches = (struct bank_switches){ .reordered = 100 };
    paid(place, "reordered", BANK_PAY);
    assert_int_equal(callbacks(place, NOW_MS), 0);
    assert_int_equal(callbacks(place, FAR_MS), 1);
    *switches = (struct bank_switches){ .delay_ms = 50 };
    for (int i = 0; i < 20; i++) {
        char reference[24];
        snprintf(reference, sizeof reference, "late-%d", i);
        paid(place, reference, BANK_PAY);
    }
    assert_int_equal(callbacks(place, NOW_MS - 1), 0);
    assert_int_equal(callbacks(place, NOW_MS + 49), 20);
}

static void a_payer_chooses_what_becomes_of_the_callback(void **state)
{
    struct place *place = *state;
    struct sandbox_message out;
    paid(place, "lost", BANK_PAY_LOST);
    assert_int_equal(callbacks(place, FAR_MS), 0);
    paid(place, "twice", BANK_PAY_TWICE);
    assert_int_equal(callbacks(place, NOW_MS), 2);
    paid(place, "late", BANK_PAY_LATE);
    assert_int_equal(callbacks(place, NOW_MS), 0);
    assert_int_equal(callbacks(place, FAR_MS), 1);
    paid(place, "wrong", BANK_PAY_WRONG);
    assert_true(bank_callback(place->bank, NOW_MS, &out));
    assert_int_equal(out.amount, PRICE + 1);
    assert_string_equal(out.state, "captured");
}

static void callbacks_that_wait_are_bounded(void **state)
{
    struct place *place = *state;
    struct sandbox_message out;
    bank_switches(place->bank)->doubled = 100;
    for (unsigned i = 0; i < BANK_CALLBACKS_MAX / 2 + 10; i++) {
        char reference[24];
        snprintf(reference, sizeof reference, "r-%u", i);
        paid(place, reference, BANK_PAY);
    }
    assert_int_equal(callbacks(place, NOW_MS), BANK_CALLBACKS_MAX);
    assert_false(bank_callback(place->bank, FAR_MS, &out));
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(create_again_is_the_same_payment_and_another_amount_is_refused),
        RULE(a_payment_is_paid_once_by_whoever_knows_its_id),
        RULE(closed_and_declined_cannot_be_paid_and_paid_cannot_be_closed),
        RULE(a_refund_happens_once_under_its_key),
        RULE(parts_go_back_once_each_and_never_more_than_was_paid),
        RULE(nothing_can_be_paid_and_given_back_too),
        RULE(its_books_are_a_statement),
        RULE(everything_told_survives_opening_again),
        RULE(a_torn_row_costs_that_row_only),
        RULE(switches_at_0_do_nothing_and_at_100_always_happen),
        RULE(a_payer_chooses_what_becomes_of_the_callback),
        RULE(callbacks_that_wait_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
