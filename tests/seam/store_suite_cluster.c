/* SPDX-License-Identifier: Apache-2.0 */
/* What several machines share through the store: leases, epochs, the log of a partition. */
#include "tests/seam/store_suite_parts.h"

#include "contract/cluster_store.h"
#include "contract/ticket_number.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { PART = 5, HOUR_MS = 3600000 };

const struct cluster_store_ops *suite_cluster(struct fixture *f)
{
    if (ops(f)->cluster == NULL)
        skip();
    return ops(f)->cluster;
}

/* ---- leases ---- */

static struct lease taken(struct fixture *f, uint64_t holder, uint32_t ms, enum status expected)
{
    struct lease lease;
    assert_int_equal(suite_cluster(f)->lease_take(f->store, "leader", holder, ms, &lease), expected);
    return lease;
}

static void a_lease_has_one_holder_at_a_time(void **state)
{
    struct fixture *f = *state;
    const uint64_t far = 0xfedcba9876543210u; /* numbers of processes have 64 bits */
    struct lease looked;
    assert_int_equal(suite_cluster(f)->lease_look(f->store, "leader", &looked), STATUS_OK);
    assert_int_equal(looked.holder, 0);
    const struct lease first = taken(f, far, HOUR_MS, STATUS_OK);
    assert_int_equal(suite_cluster(f)->lease_look(f->store, "leader", &looked), STATUS_OK);
    assert_true(looked.holder == far && looked.token == first.token && looked.until_ms == first.until_ms);
    assert_true(looked.now_ms >= first.now_ms);
    assert_true(first.holder == far && first.token == 1);
    assert_true(first.until_ms == first.now_ms + HOUR_MS);
    const struct lease other = taken(f, 2, HOUR_MS, STATUS_CONFLICT);
    assert_true(other.holder == far && other.token == 1 && other.until_ms == first.until_ms);
    const struct lease longer = taken(f, far, 2 * HOUR_MS, STATUS_OK);
    assert_true(longer.token == 1);
    assert_true(longer.until_ms >= first.until_ms + HOUR_MS);
    assert_int_equal(suite_cluster(f)->lease_give(f->store, "leader", 2), STATUS_OK); /* not its own */
    (void)taken(f, 2, HOUR_MS, STATUS_CONFLICT);
    struct lease apart;
    assert_int_equal(suite_cluster(f)->lease_take(f->store, "part 5", 2, HOUR_MS, &apart), STATUS_OK);
    assert_int_equal(suite_cluster(f)->lease_give(f->store, "leader", far), STATUS_OK);
    const struct lease next = taken(f, 2, HOUR_MS, STATUS_OK);
    assert_true(next.holder == 2 && next.token == 2);
    suite_restart(f);
    assert_true(taken(f, 3, HOUR_MS, STATUS_CONFLICT).holder == 2);
}

static void a_lease_whose_time_is_over_goes_to_whoever_asks(void **state)
{
    struct fixture *f = *state;
    (void)taken(f, 1, 0, STATUS_OK); /* over as soon as it is taken */
    assert_int_equal(taken(f, 2, HOUR_MS, STATUS_OK).token, 2);
    assert_int_equal(taken(f, 1, HOUR_MS, STATUS_CONFLICT).holder, 2);
}

static void a_lease_has_a_holder_and_a_short_name(void **state)
{
    struct fixture *f = *state;
    struct lease lease;
    char name[LEASE_NAME_MAX + 2];
    memset(name, 'n', sizeof name);
    name[LEASE_NAME_MAX + 1] = '\0';
    assert_int_equal(suite_cluster(f)->lease_take(f->store, name, 1, 1, &lease), STATUS_BAD_INPUT);
    name[LEASE_NAME_MAX] = '\0';
    assert_int_equal(suite_cluster(f)->lease_take(f->store, name, 0, 1, &lease), STATUS_BAD_INPUT);
    assert_int_equal(suite_cluster(f)->lease_take(f->store, name, 1, 1, &lease), STATUS_OK);
}

static void the_time_of_the_database_goes_on(void **state)
{
    struct fixture *f = *state;
    uint64_t first, second;
    assert_int_equal(suite_cluster(f)->now(f->store, &first), STATUS_OK);
    const uint64_t ours = (uint64_t)time(NULL) * 1000; /* the same machine's */
    assert_true(first < ours + HOUR_MS && ours < first + HOUR_MS);
    do
        assert_int_equal(suite_cluster(f)->now(f->store, &second), STATUS_OK);
    while (second == first);
    assert_true(second > first);
}

/* ---- epochs ---- */

static struct part_state part_of(struct fixture *f, uint32_t part)
{
    struct part_state found = { 9, 9, 9, 9, 9 };
    assert_int_equal(suite_cluster(f)->part(f->store, part, &found), STATUS_OK);
    return found;
}

static void an_epoch_is_raised_by_one_and_only_from_what_it_is(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(part_of(f, PART).epoch, 0);
    assert_int_equal(suite_cluster(f)->epoch_raise(f->store, PART, 1), STATUS_CONFLICT);
    assert_int_equal(suite_cluster(f)->epoch_raise(f->store, PART, 0), STATUS_OK);
    assert_int_equal(suite_cluster(f)->epoch_raise(f->store, PART, 0), STATUS_CONFLICT);
    assert_int_equal(suite_cluster(f)->epoch_raise(f->store, PART, 1), STATUS_OK);
    assert_int_equal(part_of(f, PART).epoch, 2);
    assert_int_equal(part_of(f, PART + 1).epoch, 0);
    assert_int_equal(suite_cluster(f)->epoch_raise(f->store, PART_EMBEDDED, 0), STATUS_BAD_INPUT);
    assert_int_equal(suite_cluster(f)->epoch_raise(f->store, PART_MAX + 1, 0), STATUS_BAD_INPUT);
    assert_int_equal(suite_cluster(f)->epoch_raise(f->store, PART, EPOCH_MAX), STATUS_BAD_INPUT);
    suite_restart(f);
    assert_int_equal(part_of(f, PART).epoch, 2);
}

enum { RAISES_MAX = 10000 };

struct raiser {
    struct order_store *store;
    uint32_t raised;
    enum status worst;
};

/* Goes on until it has won once: whoever is slower wins when the other has ended. */
static void *raise_often(void *context)
{
    struct raiser *raiser = context;
    const struct cluster_store_ops *of = raiser->store->ops->cluster;
    for (uint32_t i = 0; i < 40 || (raiser->raised == 0 && i < RAISES_MAX); i++) {
        struct part_state found;
        enum status status = of->part(raiser->store, PART, &found);
        if (status == STATUS_OK)
            status = of->epoch_raise(raiser->store, PART, found.epoch);
        raiser->raised += status == STATUS_OK;
        if (status != STATUS_OK && status != STATUS_CONFLICT)
            raiser->worst = status;
    }
    return NULL;
}

static void two_who_raise_an_epoch_at_once_never_both_succeed(void **state)
{
    struct fixture *f = *state;
    struct raiser here = { .store = f->store }, there = { 0 };
    pthread_t thread;
    (void)suite_cluster(f);
    assert_int_equal(ops(f)->writer_open(f->store, &there.store), STATUS_OK);
    if (there.store == NULL)
        skip(); /* this database has one connection that writes */
    assert_int_equal(pthread_create(&thread, NULL, raise_often, &there), 0);
    (void)raise_often(&here);
    assert_int_equal(pthread_join(thread, NULL), 0);
    there.store->ops->close(there.store);
    assert_int_equal(here.worst, STATUS_OK);
    assert_int_equal(there.worst, STATUS_OK);
    assert_true(here.raised > 0 && there.raised > 0);
    assert_int_equal(part_of(f, PART).epoch, here.raised + there.raised);
}

/* ---- the log ---- */

/* A win at the next position of the partition. */
static ticket_number win_add(struct fixture *f, uint32_t epoch, user_id user)
{
    suite_add_win(f, f->one, user, 1);
    struct queue_record *record = &f->records[f->count - 1];
    const struct ticket_parts parts = { PART, epoch, (uint32_t)record->at.seq };
    record->at.part = PART;
    record->outcome.ticket = ticket_number_make(&parts);
    return record->outcome.ticket;
}

/* Sends what was added; what is not kept leaves its numbers to the next. */
static enum status entry_send(struct fixture *f, uint32_t epoch, struct span bytes)
{
    const struct journal_entry entry = {
        .part = PART, .epoch = epoch, .first_seq = f->records[0].at.seq, .bytes = bytes
    };
    memset(&f->refusal, 0, sizeof f->refusal);
    const enum status status =
        suite_cluster(f)->apply(f->store, &entry, f->records, f->dispositions, f->count, &f->refusal);
    if (status != STATUS_OK)
        f->lsn -= f->count;
    f->count = 0;
    return status;
}

static void entry_is(struct fixture *f, uint64_t after, uint64_t first, uint32_t epoch, struct span bytes)
{
    struct journal_entry entry;
    uint8_t *buffer = test_malloc(JOURNAL_ENTRY_BYTES_MAX);
    assert_int_equal(suite_cluster(f)->journal_next(f->store, PART, after, &entry, buffer), STATUS_OK);
    assert_int_equal(entry.part, PART);
    assert_int_equal(entry.epoch, epoch);
    assert_int_equal(entry.first_seq, first);
    assert_int_equal(entry.bytes.size, bytes.size);
    assert_memory_equal(entry.bytes.data, bytes.data, bytes.size);
    test_free(buffer);
}

static void no_entry_after(struct fixture *f, uint32_t part, uint64_t after)
{
    struct journal_entry entry;
    uint8_t *buffer = test_malloc(JOURNAL_ENTRY_BYTES_MAX);
    assert_int_equal(
        suite_cluster(f)->journal_next(f->store, part, after, &entry, buffer), STATUS_NOT_FOUND);
    test_free(buffer);
}

static void records_and_their_entry_are_kept_together(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(suite_cluster(f)->epoch_raise(f->store, PART, 0), STATUS_OK);
    char *large = test_calloc(JOURNAL_ENTRY_BYTES_MAX, 1);
    large[JOURNAL_ENTRY_BYTES_MAX - 1] = 'z';
    const ticket_number first = win_add(f, 1, 1), second = win_add(f, 1, 2);
    assert_int_equal(entry_send(f, 1, (struct span){ "a\0b", 3 }), STATUS_OK);
    const ticket_number third = win_add(f, 1, 3);
    assert_int_equal(entry_send(f, 1, (struct span){ large, JOURNAL_ENTRY_BYTES_MAX }), STATUS_OK);
    suite_restart(f);
    assert_true(suite_has_order(f, first) && suite_has_order(f, second) && suite_has_order(f, third));
    assert_int_equal(part_of(f, PART).seq, 3);
    entry_is(f, 0, 1, 1, (struct span){ "a\0b", 3 });
    entry_is(f, 1, 3, 1, (struct span){ large, JOURNAL_ENTRY_BYTES_MAX });
    no_entry_after(f, PART, 3);
    no_entry_after(f, PART + 1, 0);
    test_free(large);
}

static void records_of_another_epoch_are_not_kept(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(suite_cluster(f)->epoch_raise(f->store, PART, 0), STATUS_OK);
    (void)win_add(f, 1, 1);
    assert_int_equal(entry_send(f, 1, SPAN("one")), STATUS_OK);
    assert_int_equal(suite_cluster(f)->epoch_raise(f->store, PART, 1), STATUS_OK);
    for (uint32_t epoch = 1; epoch <= 3; epoch += 2) {
        const ticket_number late = win_add(f, epoch, 2);
        assert_int_equal(entry_send(f, epoch, SPAN("late")), STATUS_CONFLICT);
        assert_non_null(strstr(f->refusal.text, "epoch 2"));
        assert_false(suite_has_order(f, late));
    }
    assert_int_equal(part_of(f, PART).seq, 1);
    no_entry_after(f, PART, 1);
    const ticket_number good = win_add(f, 2, 2);
    assert_int_equal(entry_send(f, 2, SPAN("two")), STATUS_OK);
    assert_true(suite_has_order(f, good));
    entry_is(f, 1, 2, 2, SPAN("two"));
}

static void an_entry_told_again_changes_nothing_and_another_is_refused(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(suite_cluster(f)->epoch_raise(f->store, PART, 0), STATUS_OK);
    for (int time = 0; time < 3; time++) {
        f->lsn = 0;
        (void)win_add(f, 1, 1);
        (void)win_add(f, 1, 2);
        /* The third is somebody else's: two workers came to different records with the same numbers. */
        assert_int_equal(entry_send(f, 1, time < 2 ? SPAN("first") : SPAN("other")),
            time < 2 ? STATUS_OK : STATUS_CONFLICT);
    }
    assert_int_equal(part_of(f, PART).seq, 2);
    assert_int_equal(suite_item_of(f, f->one).sold, 2);
    entry_is(f, 0, 1, 1, SPAN("first"));
    no_entry_after(f, PART, 1);
}

static void an_entry_that_does_not_go_on_is_refused(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(suite_cluster(f)->epoch_raise(f->store, PART, 0), STATUS_OK);
    (void)win_add(f, 1, 1);
    (void)win_add(f, 1, 2);
    assert_int_equal(entry_send(f, 1, SPAN("one")), STATUS_OK);
    f->lsn = 1; /* one is in, one is not */
    (void)win_add(f, 1, 2);
    (void)win_add(f, 1, 3);
    assert_int_equal(entry_send(f, 1, SPAN("overlaps")), STATUS_CORRUPT);
    f->lsn = 3; /* the third is missing */
    (void)win_add(f, 1, 3);
    assert_int_equal(entry_send(f, 1, SPAN("gap")), STATUS_CORRUPT);
    assert_int_equal(part_of(f, PART).seq, 2);
    assert_int_equal(suite_item_of(f, f->one).sold, 2);
    no_entry_after(f, PART, 1);
}

static void an_entry_with_a_refused_record_is_kept_with_its_dead_letter(void **state)
{
    struct fixture *f = *state;
    uint64_t letters = 0;
    assert_int_equal(suite_cluster(f)->epoch_raise(f->store, PART, 0), STATUS_OK);
    for (int time = 0; time < 2; time++) {
        (void)win_add(f, 1, 1);
        (void)win_add(f, 1, 1); /* one unit is what a user may have */
        f->dispositions[1] = time == 0 ? DISPOSE_APPLY : DISPOSE_DEAD;
        assert_int_equal(entry_send(f, 1, SPAN("both")), time == 0 ? STATUS_REFUSED : STATUS_OK);
        if (time == 0)
            no_entry_after(f, PART, 0);
    }
    entry_is(f, 0, 1, 1, SPAN("both"));
    assert_int_equal(part_of(f, PART).seq, 2);
    assert_int_equal(ops(f)->dead_letters_open(f->store, &letters), STATUS_OK);
    assert_int_equal(letters, 1);
}

static void partitions_are_listed_and_one_that_is_wanted_is_made_once(void **state)
{
    struct fixture *f = *state;
    struct part_state states[4];
    uint32_t count = 9;
    assert_int_equal(suite_cluster(f)->parts(f->store, PART_EMBEDDED, states, 4, &count), STATUS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(suite_cluster(f)->part_want(f->store, PART + 2), STATUS_OK);
    assert_int_equal(suite_cluster(f)->epoch_raise(f->store, PART, 0), STATUS_OK);
    assert_int_equal(suite_cluster(f)->part_want(f->store, PART), STATUS_OK); /* it is there, and stays */
    assert_int_equal(suite_cluster(f)->parts(f->store, PART_EMBEDDED, states, 4, &count), STATUS_OK);
    assert_int_equal(count, 2);
    assert_true(states[0].part == PART && states[0].epoch == 1 && states[0].seq == 0);
    assert_true(states[1].part == PART + 2 && states[1].epoch == 0 && states[1].seq == 0);
    assert_true(states[0].shards == 1 && states[1].shards == 1); /* of no sale that is known */
    assert_int_equal(suite_cluster(f)->parts(f->store, PART_EMBEDDED, states, 1, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(suite_cluster(f)->parts(f->store, PART + 1, states, 4, &count), STATUS_OK);
    assert_true(count == 1 && states[0].part == PART + 2);
    assert_int_equal(suite_cluster(f)->part_want(f->store, PART_EMBEDDED), STATUS_BAD_INPUT);
    assert_int_equal(suite_cluster(f)->part_want(f->store, PART_MAX + 1), STATUS_BAD_INPUT);
}

/* ---- shards ---- */

static enum status shards_set(struct order_store *store, sale_id id, uint32_t shards)
{
    struct sale sale;
    const enum status status = store->ops->sale_get(store, id, &sale);
    sale.shards = shards;
    return status == STATUS_OK ? store->ops->sale_update(store, &sale) : status;
}

static uint32_t shards_of(struct fixture *f, sale_id id)
{
    struct sale sale;
    assert_int_equal(ops(f)->sale_get(f->store, id, &sale), STATUS_OK);
    return sale.shards;
}

static enum status want(struct fixture *f, sale_id sale, uint32_t shard)
{
    return suite_cluster(f)->part_want(f->store, part_of_sale(sale, shard));
}

/* From this sale on, read at one moment: each has as many partitions as each of them says. */
static void no_sale_has_some_of_its_partitions(struct fixture *f, sale_id sale)
{
    struct part_state states[4 * SHARDS_MAX];
    uint32_t count = 0;
    assert_int_equal(
        suite_cluster(f)->parts(f->store, part_of_sale(sale, 0), states, 4 * SHARDS_MAX, &count),
        STATUS_OK);
    for (uint32_t i = 0; i < count;) {
        const uint32_t shards = states[i].shards;
        assert_in_range(shards, 1, SHARDS_MAX);
        for (uint32_t shard = 0; shard < shards; shard++, i++) {
            assert_true(i < count && states[i].shards == shards);
            assert_int_equal(states[i].part, part_of_sale(part_sale(states[i].part), shard));
        }
    }
}

static void the_partitions_of_a_sale_are_made_together_and_once(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(shards_set(f->store, f->sale, 3), STATUS_OK);
    assert_int_equal(part_of(f, part_of_sale(f->sale, 0)).shards, 0);
    for (uint32_t shard = 2; shard < 5; shard++) { /* also for one that it does not have */
        assert_int_equal(want(f, f->sale, shard), STATUS_OK);
        no_sale_has_some_of_its_partitions(f, f->sale);
        assert_int_equal(part_of(f, part_of_sale(f->sale, 0)).shards, 3);
        assert_int_equal(part_of(f, part_of_sale(f->sale, 3)).shards, 0);
    }
    assert_int_equal(suite_cluster(f)->epoch_raise(f->store, part_of_sale(f->sale, 2), 0), STATUS_OK);
    assert_int_equal(
        suite_cluster(f)->epoch_raise(f->store, part_of_sale(f->sale, 3), 0), STATUS_NOT_FOUND);
    suite_restart(f);
    assert_int_equal(part_of(f, part_of_sale(f->sale, 1)).epoch, 0);
    assert_int_equal(part_of(f, part_of_sale(f->sale, 2)).epoch, 1);
    no_sale_has_some_of_its_partitions(f, f->sale);
}

static void one_that_is_opened_before_it_was_wanted_brings_the_others(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(shards_set(f->store, f->sale, 2), STATUS_OK);
    (void)suite_cluster(f);
    assert_int_equal(suite_cluster(f)->epoch_raise(f->store, part_of_sale(f->sale, 1), 0), STATUS_OK);
    no_sale_has_some_of_its_partitions(f, f->sale);
    assert_int_equal(part_of(f, part_of_sale(f->sale, 0)).shards, 2);
}

static void shards_change_until_the_partitions_are_made(void **state)
{
    struct fixture *f = *state;
    (void)suite_cluster(f);
    assert_int_equal(shards_of(f, f->sale), 1);
    assert_int_equal(shards_set(f->store, f->sale, SHARDS_MAX), STATUS_OK);
    assert_int_equal(shards_set(f->store, f->sale, SHARDS_MAX + 1), STATUS_REFUSED);
    assert_int_equal(shards_set(f->store, f->sale, 0), STATUS_REFUSED);
    assert_int_equal(shards_of(f, f->sale), SHARDS_MAX);
    assert_int_equal(want(f, f->sale, 0), STATUS_OK);
    no_sale_has_some_of_its_partitions(f, f->sale);
    assert_int_equal(shards_set(f->store, f->sale, SHARDS_MAX - 1), STATUS_CONFLICT);
    assert_int_equal(shards_of(f, f->sale), SHARDS_MAX);
    assert_int_equal(shards_set(f->store, f->sale, SHARDS_MAX), STATUS_OK);
    assert_int_equal(want(f, f->sale, 0), STATUS_OK);
    assert_int_equal(part_of(f, part_of_sale(f->sale, SHARDS_MAX - 1)).shards, SHARDS_MAX);
    assert_int_equal(shards_set(f->store, f->sale + 1, 2), STATUS_NOT_FOUND);
}

enum { RACES = 60 };

struct racer {
    struct order_store *store;
    pthread_barrier_t *start;
    sale_id first;
    enum status worst;
};

static void *want_each(void *context)
{
    struct racer *racer = context;
    for (sale_id i = 0; i < RACES; i++) {
        (void)pthread_barrier_wait(racer->start);
        const enum status status =
            racer->store->ops->cluster->part_want(racer->store, part_of_sale(racer->first + i, i % 3));
        racer->worst = status == STATUS_OK ? racer->worst : status;
    }
    return NULL;
}

static sale_id sales_add(struct fixture *f)
{
    sale_id first = 0;
    for (uint32_t i = 0; i < RACES; i++) {
        struct sale sale = { .title = "Race", .start_ms = 1, .end_ms = 2 };
        assert_int_equal(ops(f)->sale_insert(f->store, &sale), STATUS_OK);
        first = i == 0 ? sale.id : first;
    }
    return first;
}

/* One edits each sale and wants it then, while the other wants it: whoever comes first, the partitions are
 * those that the sale says. */
static void an_edit_and_two_who_want_a_sale_at_once_agree(void **state)
{
    struct fixture *f = *state;
    pthread_barrier_t start;
    struct racer there = { .start = &start };
    pthread_t thread;
    uint32_t edited = 0;
    (void)suite_cluster(f);
    assert_int_equal(ops(f)->writer_open(f->store, &there.store), STATUS_OK);
    if (there.store == NULL)
        skip(); /* this database has one connection that writes */
    there.first = sales_add(f);
    assert_int_equal(pthread_barrier_init(&start, NULL, 2), 0);
    assert_int_equal(pthread_create(&thread, NULL, want_each, &there), 0);
    for (sale_id sale = there.first; sale < there.first + RACES; sale++) {
        (void)pthread_barrier_wait(&start);
        const enum status status = sale % 2 == 0 ? STATUS_OK : shards_set(f->store, sale, 2 + sale % 7);
        assert_true(status == STATUS_OK || status == STATUS_CONFLICT);
        edited += sale % 2 != 0 && status == STATUS_OK;
        assert_int_equal(want(f, sale, 0), STATUS_OK);
        no_sale_has_some_of_its_partitions(f, sale);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    there.store->ops->close(there.store);
    pthread_barrier_destroy(&start);
    assert_int_equal(there.worst, STATUS_OK);
    for (sale_id sale = there.first; sale < there.first + RACES; sale++)
        assert_int_equal(part_of(f, part_of_sale(sale, 0)).shards, shards_of(f, sale));
    print_message("%u of %u edits came first\n", edited, RACES / 2);
}

int suite_run_cluster(void)
{
    const struct CMUnitTest rules[] = {
        SUITE_RULE(a_lease_has_one_holder_at_a_time),
        SUITE_RULE(a_lease_whose_time_is_over_goes_to_whoever_asks),
        SUITE_RULE(a_lease_has_a_holder_and_a_short_name),
        SUITE_RULE(the_time_of_the_database_goes_on),
        SUITE_RULE(an_epoch_is_raised_by_one_and_only_from_what_it_is),
        SUITE_RULE(two_who_raise_an_epoch_at_once_never_both_succeed),
        SUITE_RULE(partitions_are_listed_and_one_that_is_wanted_is_made_once),
        SUITE_RULE(the_partitions_of_a_sale_are_made_together_and_once),
        SUITE_RULE(one_that_is_opened_before_it_was_wanted_brings_the_others),
        SUITE_RULE(shards_change_until_the_partitions_are_made),
        SUITE_RULE(an_edit_and_two_who_want_a_sale_at_once_agree),
        SUITE_RULE(records_and_their_entry_are_kept_together),
        SUITE_RULE(records_of_another_epoch_are_not_kept),
        SUITE_RULE(an_entry_told_again_changes_nothing_and_another_is_refused),
        SUITE_RULE(an_entry_that_does_not_go_on_is_refused),
        SUITE_RULE(an_entry_with_a_refused_record_is_kept_with_its_dead_letter),
    };
    return cmocka_run_group_tests_name("order store: several machines", rules, NULL, NULL);
}
