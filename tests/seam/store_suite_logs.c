/* SPDX-License-Identifier: Apache-2.0 */
/* How far the log of each partition is in: contiguous, each by itself. */
#include "tests/seam/store_suite_parts.h"

#include "contract/ticket_number.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { OTHER = 2 }; /* a partition but that of one machine */

static uint64_t seq_of(struct fixture *f, uint32_t part)
{
    struct position position = { 77, 77 };
    assert_int_equal(ops(f)->applied(f->store, part, &position), STATUS_OK);
    assert_int_equal(position.part, part);
    return position.seq;
}

/* A win that stands at this position, with a ticket of its partition. */
static ticket_number add_at(struct fixture *f, uint32_t part, uint64_t seq, user_id user)
{
    const lsn_t lsn = f->lsn;
    suite_add_win(f, f->one, user, 1);
    struct queue_record *record = &f->records[f->count - 1];
    const struct ticket_parts parts = { part, part == PART_EMBEDDED ? 0 : 1, (uint32_t)user };
    record->at = (struct position){ part, seq };
    record->outcome.ticket = ticket_number_make(&parts);
    f->lsn = lsn;
    return record->outcome.ticket;
}

static void corrupt(struct fixture *f)
{
    const uint32_t sold = suite_item_of(f, f->one).sold;
    assert_int_equal(suite_send(f), STATUS_CORRUPT);
    assert_non_null(strstr(f->refusal.text, "missing"));
    assert_int_equal(f->refusal.kind, REFUSAL_NONE);
    assert_int_equal(suite_item_of(f, f->one).sold, sold);
}

static void a_record_that_is_missing_is_never_passed_over(void **state)
{
    struct fixture *f = *state;
    add_at(f, PART_EMBEDDED, 1, 1);
    suite_must_send(f);
    const ticket_number early = add_at(f, PART_EMBEDDED, 3, 3);
    corrupt(f);
    assert_false(suite_has_order(f, early));
    const ticket_number next = add_at(f, PART_EMBEDDED, 2, 2);
    add_at(f, PART_EMBEDDED, 4, 4); /* the third is missing in the middle: nothing of it goes in */
    corrupt(f);
    assert_false(suite_has_order(f, next));
    assert_int_equal(seq_of(f, PART_EMBEDDED), 1);
    add_at(f, PART_EMBEDDED, 1, 1); /* told again: not a gap */
    add_at(f, PART_EMBEDDED, 2, 2);
    add_at(f, PART_EMBEDDED, 3, 3);
    suite_must_send(f);
    assert_true(suite_has_order(f, next) && suite_has_order(f, early));
    assert_int_equal(seq_of(f, PART_EMBEDDED), 3);
}

static void what_changes_nothing_has_its_place_in_the_log_too(void **state)
{
    struct fixture *f = *state;
    suite_add(f, COMMAND_RECLAIM);
    suite_add(f, COMMAND_GATE)->outcome.answer = ANSWER_CONFLICT;
    suite_must_send(f);
    assert_int_equal(seq_of(f, PART_EMBEDDED), 2);
    add_at(f, PART_EMBEDDED, 4, 1);
    corrupt(f);
}

static void a_log_begins_with_its_first_record(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(seq_of(f, PART_EMBEDDED), 0);
    assert_int_equal(seq_of(f, OTHER), 0);
    add_at(f, PART_EMBEDDED, 2, 1);
    corrupt(f);
    add_at(f, OTHER, 2, 1);
    corrupt(f);
    assert_int_equal(seq_of(f, OTHER), 0);
    add_at(f, OTHER, 1, 1);
    suite_must_send(f);
    assert_int_equal(seq_of(f, OTHER), 1);
    assert_int_equal(seq_of(f, PART_EMBEDDED), 0);
}

static void each_partition_has_a_log_of_its_own(void **state)
{
    struct fixture *f = *state;
    add_at(f, PART_EMBEDDED, 1, 1);
    add_at(f, PART_EMBEDDED, 2, 2);
    suite_must_send(f);
    const ticket_number first = add_at(f, OTHER, 1, 3);
    suite_must_send(f);
    assert_int_equal(seq_of(f, PART_EMBEDDED), 2);
    assert_int_equal(seq_of(f, OTHER), 1);
    assert_int_equal(suite_order_of(f, first).user, 3);
    add_at(f, OTHER, 1, 3); /* the same again */
    suite_must_send(f);
    add_at(f, PART_EMBEDDED, 3, 4); /* which has not moved the other one */
    suite_must_send(f);
    add_at(f, OTHER, 3, 5);
    corrupt(f);
    suite_restart(f);
    assert_int_equal(seq_of(f, PART_EMBEDDED), 3);
    assert_int_equal(seq_of(f, OTHER), 1);
    assert_int_equal(suite_item_of(f, f->one).sold, 4);
    suite_check_accounting(f, f->one, 0);
}

static void a_batch_is_of_one_partition(void **state)
{
    struct fixture *f = *state;
    add_at(f, PART_EMBEDDED, 1, 1);
    add_at(f, OTHER, 1, 2);
    corrupt(f);
    add_at(f, PART_EMBEDDED, 1, 1);
    add_at(f, OTHER, 2, 2); /* it is not the next one of the first, either */
    corrupt(f);
    assert_int_equal(seq_of(f, PART_EMBEDDED), 0);
    assert_int_equal(seq_of(f, OTHER), 0);
}

static void dead_letters_of_two_partitions_may_have_the_same_seq(void **state)
{
    struct fixture *f = *state;
    struct dead_letter letters[3], letter;
    struct queue_record record;
    struct refusal refusal;
    uint32_t count;
    add_at(f, PART_EMBEDDED, 1, 1);
    f->dispositions[0] = DISPOSE_DEAD;
    suite_must_send(f);
    const ticket_number ticket = add_at(f, OTHER, 1, 2);
    f->dispositions[0] = DISPOSE_DEAD;
    suite_must_send(f);
    assert_int_equal(ops(f)->dead_letters(f->store, 0, DEAD_ANY, letters, 3, &count), STATUS_OK);
    assert_int_equal(count, 2);
    assert_true(letters[0].at.part == PART_EMBEDDED && letters[0].at.seq == 1);
    assert_true(letters[1].at.part == OTHER && letters[1].at.seq == 1);
    assert_int_equal(ops(f)->dead_letter_get(f->store, letters[1].id, &letter, &record), STATUS_OK);
    assert_true(record.at.part == OTHER && record.at.seq == 1);
    const struct dead_decision decision = { .id = letters[1].id, .to = DEAD_RETRIED, .now_ms = 5 };
    assert_int_equal(ops(f)->dead_letter_decide(f->store, &decision, &refusal), STATUS_OK);
    assert_true(suite_has_order(f, ticket));
    assert_int_equal(seq_of(f, PART_EMBEDDED), 1);
    assert_int_equal(seq_of(f, OTHER), 1);
}

static void list_is(
    struct fixture *f, struct order_filter filter, const ticket_number *tickets, uint32_t wanted)
{
    struct order orders[2];
    uint32_t found = 0, count;
    do { /* pages of two */
        assert_int_equal(
            ops(f)->orders_list(f->store, &filter, orders, 2, &count, &filter.before), STATUS_OK);
        for (uint32_t i = 0; i < count; i++, found++) {
            assert_true(found < wanted);
            assert_true(orders[i].ticket == tickets[found]);
        }
    } while (filter.before != 0);
    assert_int_equal(found, wanted);
}

/* The ticket of one partition says nothing about the time of another one's. */
static void lists_go_by_time_then_by_ticket(void **state)
{
    static const struct {
        uint32_t part, seq;
        uint64_t after_ms;
    } wins[] = { { OTHER, 1, 1 }, { 0, 1, 2 }, { 0, 2, 2 }, { OTHER, 2, 2 }, { 0, 3, 3 } };
    enum { WINS = sizeof wins / sizeof *wins };
    struct fixture *f = *state;
    ticket_number newest[WINS];
    for (uint32_t i = 0; i < WINS; i++) {
        newest[WINS - 1 - i] = add_at(f, wins[i].part, wins[i].seq, wins[i].seq);
        struct command *command = &f->records[0].command;
        command->time_ms = START_MS + wins[i].after_ms;
        command->reserve.user = 7;
        command->reserve.item = f->free;
        suite_must_send(f);
    }
    const ticket_number highest[WINS] = { newest[1], newest[4], newest[0], newest[2], newest[3] };
    list_is(f, (struct order_filter){ 0 }, newest, WINS);
    list_is(f, (struct order_filter){ .user = 7 }, newest, WINS);
    list_is(f, (struct order_filter){ .user = 7, .item = f->free }, newest, WINS);
    list_is(f, (struct order_filter){ .sale = f->sale, .to_ms = START_MS + 3 }, newest + 1, WINS - 1);
    list_is(f, (struct order_filter){ .from_ms = START_MS + 2 }, newest, WINS - 1);
    list_is(f, (struct order_filter){ .to_ms = START_MS + 2, .before = newest[0] }, newest + 4, 1);
    list_is(f, (struct order_filter){ .by_ticket = true }, highest, WINS);
    list_is(f, (struct order_filter){ .by_ticket = true, .before = newest[4] + 1 }, highest + 1,
        WINS - 1);
    list_is(f, (struct order_filter){ .by_ticket = true, .from_ms = START_MS + 3 }, newest, 1);
    list_is(f, (struct order_filter){ .by_ticket = true, .to_ms = START_MS + 2 }, newest + 4, 1);
    const struct order_filter strange = { .before = newest[0] + 1 };
    struct order order;
    ticket_number next = 1;
    uint32_t count = 1;
    assert_int_equal(ops(f)->orders_list(f->store, &strange, &order, 1, &count, &next), STATUS_NOT_FOUND);
    assert_int_equal(count, 0);
    assert_true(next == 0);
}

int suite_run_logs(void)
{
    const struct CMUnitTest rules[] = {
        SUITE_RULE(a_record_that_is_missing_is_never_passed_over),
        SUITE_RULE(what_changes_nothing_has_its_place_in_the_log_too),
        SUITE_RULE(a_log_begins_with_its_first_record),
        SUITE_RULE(each_partition_has_a_log_of_its_own),
        SUITE_RULE(a_batch_is_of_one_partition),
        SUITE_RULE(dead_letters_of_two_partitions_may_have_the_same_seq),
        SUITE_RULE(lists_go_by_time_then_by_ticket),
    };
    return cmocka_run_group_tests_name("order store: logs", rules, NULL, NULL);
}
