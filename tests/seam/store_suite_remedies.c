/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of units that were sold twice: for each store that keeps them. */
#include "contract/remedy.h"
#include "tests/seam/store_suite_parts.h"

static const struct remedy_store_ops *remedies(struct fixture *f)
{
    if (ops(f)->remedy == NULL)
        skip();
    return ops(f)->remedy;
}

/* A case with one order that has no remedy yet. */
static struct remedy_order case_make(struct fixture *f)
{
    struct remedy_case made = { .item = f->many, .missing = 1, .state = CASE_OPEN, .created_ms = START_MS };
    uint32_t added = 0;
    bool fresh = false;
    const ticket_number ticket = suite_add_win(f, f->many, 1, 1);
    suite_must_send(f);
    assert_int_equal(remedies(f)->open(f->store, &made, &fresh), STATUS_OK);
    assert_true(fresh);
    assert_int_equal(remedies(f)->orders_add(f->store, made.id, &ticket, 1, START_MS, &added), STATUS_OK);
    assert_int_equal(added, 1);
    return (struct remedy_order){ .case_id = made.id, .ticket = ticket };
}

static void an_order_gets_one_remedy_in_a_case_whoever_asks_at_the_same_time(void **state)
{
    struct fixture *f = *state;
    (void)remedies(f);
    struct remedy_order row = case_make(f), kept;
    struct order order = suite_order_of(f, row.ticket);
    row.remedy = REMEDY_WAIT;
    row.coupon_value = 100;
    snprintf(row.coupon, sizeof row.coupon, "FIRST");
    assert_int_equal(remedies(f)->apply(f->store, &row, &order), STATUS_OK);
    snprintf(row.coupon, sizeof row.coupon, "SECOND");
    assert_int_equal(remedies(f)->apply(f->store, &row, &order), STATUS_CONFLICT);
    assert_int_equal(remedies(f)->order(f->store, row.case_id, row.ticket, &kept), STATUS_OK);
    assert_string_equal(kept.coupon, "FIRST");
}

static uint64_t mails_failed(struct fixture *f)
{
    uint64_t count = UINT64_MAX;
    assert_int_equal(remedies(f)->mails_failed(f->store, &count), STATUS_OK);
    return count;
}

static void note_add(
    struct fixture *f, const struct remedy_order *row, ticket_number ticket, const char *actor)
{
    struct remedy_note note = { .case_id = row->case_id, .ticket = ticket, .time_ms = START_MS };
    snprintf(note.actor, sizeof note.actor, "%s", actor);
    snprintf(note.way, sizeof note.way, "mail");
    snprintf(note.text, sizeof note.text, "x");
    assert_int_equal(remedies(f)->note_add(f->store, &note), STATUS_OK);
}

static void a_mail_that_was_given_up_counts_until_a_person_writes_a_note_about_its_order(void **state)
{
    struct fixture *f = *state;
    (void)remedies(f);
    const struct remedy_order row = case_make(f);
    struct mail_row mail = { .case_id = row.case_id, .ticket = row.ticket, .created_ms = START_MS };
    uint32_t count = 0;
    assert_int_equal(remedies(f)->mail_put(f->store, &mail), STATUS_OK);
    assert_int_equal(remedies(f)->mails(f->store, row.case_id, &mail, 1, &count), STATUS_OK);
    note_add(f, &row, row.ticket, "wang"); /* before */
    assert_int_equal(mails_failed(f), 0);
    assert_int_equal(remedies(f)->mail_sending(f->store, mail.id, END_MS), STATUS_OK);
    mail.state = MAIL_FAILED;
    assert_int_equal(remedies(f)->mail_settle(f->store, &mail), STATUS_OK);
    note_add(f, &row, row.ticket, REMEDY_ACTOR_SERVER);
    assert_int_equal(mails_failed(f), 1);
    note_add(f, &row, 0, "wang"); /* of the whole case */
    assert_int_equal(mails_failed(f), 1);
    note_add(f, &row, row.ticket, "wang");
    assert_int_equal(mails_failed(f), 0);
}

int suite_run_remedies(void)
{
    const struct CMUnitTest rules[] = {
        SUITE_RULE(an_order_gets_one_remedy_in_a_case_whoever_asks_at_the_same_time),
        SUITE_RULE(a_mail_that_was_given_up_counts_until_a_person_writes_a_note_about_its_order),
    };
    return cmocka_run_group_tests_name("order store: remedies", rules, NULL, NULL);
}
