/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/driver_suite_several.c: what connections see of each other, locks, and connections
 * that end. */
#include "tests/seam/driver_suite_parts.h"
#include "tests/seam/relay.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>

static const char put_pair[] = "INSERT INTO pairs(a, b, units) VALUES(?1, ?2, ?3)";
static const char count_pairs[] = "SELECT count(*) FROM pairs";
static const char lock_pair[] = "SELECT units FROM pairs WHERE a = 1 AND b = ?1 FOR UPDATE";
static const char set_pair[] = "UPDATE pairs SET units = ?2 WHERE a = 1 AND b = ?1";

static void pair_put(struct sql_connection *db, int64_t b)
{
    suite_do(db, put_pair, GIVEN(NUMBER(1), NUMBER(b), NUMBER(0)));
}

static void reader_sees_what_is_committed_and_nothing_else(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db, *reader = suite_reader(db);
    suite_begin(db);
    pair_put(db, 1);
    assert_int_equal(suite_number(reader, count_pairs, NONE_GIVEN), 0);
    suite_commit(db);
    assert_int_equal(suite_number(reader, count_pairs, NONE_GIVEN), 1);
    suite_begin(db);
    pair_put(db, 2);
    db->driver->rollback(db);
    assert_int_equal(suite_number(reader, count_pairs, NONE_GIVEN), 1);
    suite_close(reader);
}

static void reader_writes_nothing(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db, *reader = suite_reader(db);
    assert_int_not_equal(suite_run(reader, put_pair, GIVEN(NUMBER(1), NUMBER(1), NUMBER(1))), STATUS_OK);
    assert_int_not_equal(reader->driver->error(reader), SQL_ERROR_NONE);
    suite_close(reader);
    assert_int_equal(suite_number(db, count_pairs, NONE_GIVEN), 0);
}

static void view_sees_one_moment(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db, *reader = suite_reader(db);
    pair_put(db, 1);
    assert_int_equal(reader->driver->begin_view(reader), STATUS_OK);
    assert_true(reader->driver->is_open(reader));
    assert_int_equal(suite_number(reader, count_pairs, NONE_GIVEN), 1);
    pair_put(db, 2);
    suite_do(db, "UPDATE pairs SET units = 9", NONE_GIVEN);
    assert_int_equal(suite_number(reader, count_pairs, NONE_GIVEN), 1);
    assert_int_equal(suite_number(reader, "SELECT sum(units) FROM pairs", NONE_GIVEN), 0);
    reader->driver->rollback(reader);
    assert_false(reader->driver->is_open(reader));
    assert_int_equal(suite_number(reader, count_pairs, NONE_GIVEN), 2);
    suite_close(reader);
}

static void transaction_that_writes_sees_what_others_commit_meanwhile(void **state)
{
    const struct driver_case *test = *state;
    if (!test->world->has_row_locks)
        return;
    struct sql_connection *other = suite_open(test);
    suite_begin(test->db);
    assert_int_equal(suite_number(test->db, count_pairs, NONE_GIVEN), 0);
    pair_put(other, 1);
    assert_int_equal(suite_number(test->db, count_pairs, NONE_GIVEN), 1);
    suite_commit(test->db);
    suite_close(other);
}

static void closing_gives_up_what_is_open(void **state)
{
    const struct driver_case *test = *state;
    struct sql_connection *other = suite_open(test);
    suite_begin(other);
    pair_put(other, 1);
    suite_close(other);
    /* the server may need a moment to see it; the lock on the key is free at last */
    enum status status = STATUS_AWAY;
    for (int i = 0; i < SUITE_TRIES_MAX && status != STATUS_OK; i++)
        status = suite_run(test->db, put_pair, GIVEN(NUMBER(1), NUMBER(1), NUMBER(5)));
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(suite_number(test->db, count_pairs, NONE_GIVEN), 1);
}

/* A thread with a connection of its own. cmocka's asserts are for the main thread: it tells what
 * came out. */
struct second {
    struct sql_connection *db;
    enum status status;
    enum sql_error error;
    int64_t number;
    _Atomic bool begun, done;
};

static enum status number_read(
    struct sql_connection *db, const char *sql, struct sql_values values, int64_t *number)
{
    struct sql_row *row;
    enum status status = db->driver->query(db, sql, values, &row);
    if (status != STATUS_OK)
        return status;
    status = db->driver->next(row);
    if (status == STATUS_OK)
        *number = db->driver->number(row, 0);
    db->driver->finish(row);
    return status;
}

static void *lock_and_read(void *context)
{
    struct second *second = context;
    const struct driver *driver = second->db->driver;
    second->status = driver->begin(second->db);
    atomic_store(&second->begun, true);
    if (second->status == STATUS_OK)
        second->status = number_read(second->db, lock_pair, GIVEN(NUMBER(1)), &second->number);
    atomic_store(&second->done, true);
    driver->rollback(second->db);
    return NULL;
}

static void wait_for(const _Atomic bool *flag)
{
    for (int i = 0; i < SUITE_TRIES_MAX && !atomic_load(flag); i++)
        usleep(SUITE_WAIT_US);
    assert_true(atomic_load(flag));
}

/* Whoever comes first: the other one never reads what is about to change. */
static void locked_row_waits_for_the_end_of_the_transaction(void **state)
{
    const struct driver_case *test = *state;
    if (!test->world->has_row_locks)
        return;
    struct sql_connection *db = test->db;
    struct second second = { .db = suite_open(test) };
    pthread_t thread;
    pair_put(db, 1);
    suite_begin(db);
    assert_int_equal(suite_number(db, lock_pair, GIVEN(NUMBER(1))), 0);
    assert_int_equal(pthread_create(&thread, NULL, lock_and_read, &second), 0);
    wait_for(&second.begun);
    usleep(10 * SUITE_WAIT_US); /* long enough to go wrong */
    assert_false(atomic_load(&second.done));
    suite_do(db, set_pair, GIVEN(NUMBER(1), NUMBER(42)));
    suite_commit(db);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(second.status, STATUS_OK);
    assert_int_equal(second.number, 42);
    suite_close(second.db);
}

enum { ADDERS = 3, ADDITIONS = 40, ADD_TRIES_MAX = 200 };

static enum status add_one(struct sql_connection *db)
{
    int64_t units = 0;
    enum status status = db->driver->begin(db);
    if (status == STATUS_OK)
        status = number_read(db, lock_pair, GIVEN(NUMBER(1)), &units);
    if (status == STATUS_OK)
        status = suite_run(db, set_pair, GIVEN(NUMBER(1), NUMBER(units + 1)));
    if (status == STATUS_OK)
        status = db->driver->commit(db);
    if (status != STATUS_OK)
        db->driver->rollback(db);
    return status;
}

static void *add_many(void *context)
{
    struct second *second = context;
    for (int i = 0; i < ADDITIONS && second->status == STATUS_OK; i++)
        for (int tries = 0; tries < ADD_TRIES_MAX; tries++) {
            second->status = add_one(second->db);
            const enum sql_error error = second->db->driver->error(second->db);
            if (second->status == STATUS_OK || (error != SQL_ERROR_AGAIN && error != SQL_ERROR_LOCKED))
                break; /* LOCKED: on a machine that has other things to do */
        }
    return NULL;
}

static void what_is_read_under_a_lock_is_never_overwritten(void **state)
{
    const struct driver_case *test = *state;
    if (!test->world->has_row_locks)
        return;
    struct second adders[ADDERS] = { 0 };
    pthread_t threads[ADDERS];
    pair_put(test->db, 1);
    for (int i = 0; i < ADDERS; i++) {
        adders[i].db = suite_open(test);
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, &adders[i]), 0);
    }
    for (int i = 0; i < ADDERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < ADDERS; i++) {
        assert_int_equal(adders[i].status, STATUS_OK);
        suite_close(adders[i].db);
    }
    assert_int_equal(suite_number(test->db, "SELECT units FROM pairs WHERE a = 1", NONE_GIVEN),
        ADDERS * ADDITIONS);
}

static void *lock_two_then_one(void *context)
{
    struct second *second = context;
    const struct driver *driver = second->db->driver;
    second->status = driver->begin(second->db);
    if (second->status == STATUS_OK)
        second->status = number_read(second->db, lock_pair, GIVEN(NUMBER(2)), &second->number);
    atomic_store(&second->begun, true);
    if (second->status == STATUS_OK)
        second->status = number_read(second->db, lock_pair, GIVEN(NUMBER(1)), &second->number);
    if (second->status != STATUS_OK)
        second->error = driver->error(second->db);
    driver->rollback(second->db);
    return NULL;
}

static void one_of_two_that_wait_for_each_other_is_told_to_try_again(void **state)
{
    const struct driver_case *test = *state;
    if (!test->world->has_row_locks)
        return;
    struct sql_connection *db = test->db;
    struct second second = { .db = suite_open(test) };
    pthread_t thread;
    int64_t number = 0;
    pair_put(db, 1);
    pair_put(db, 2);
    suite_begin(db);
    assert_int_equal(suite_number(db, lock_pair, GIVEN(NUMBER(1))), 0);
    assert_int_equal(pthread_create(&thread, NULL, lock_two_then_one, &second), 0);
    wait_for(&second.begun);
    const enum status status = number_read(db, lock_pair, GIVEN(NUMBER(2)), &number);
    const enum sql_error error = status == STATUS_OK ? SQL_ERROR_NONE : db->driver->error(db);
    db->driver->rollback(db);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true((status == STATUS_AWAY && error == SQL_ERROR_AGAIN && second.status == STATUS_OK)
        || (status == STATUS_OK && second.status == STATUS_AWAY && second.error == SQL_ERROR_AGAIN));
    suite_begin(db); /* and so it does */
    assert_int_equal(suite_number(db, lock_pair, GIVEN(NUMBER(2))), 0);
    suite_commit(db);
    suite_close(second.db);
}

/* A lost connection may need some time to come back. */
static void begin_at_last(struct sql_connection *db)
{
    enum status status = STATUS_AWAY;
    for (int i = 0; i < SUITE_TRIES_MAX && status == STATUS_AWAY; i++) {
        status = db->driver->begin(db);
        if (status == STATUS_AWAY)
            usleep(SUITE_WAIT_US);
    }
    assert_int_equal(status, STATUS_OK);
}

static void transaction_of_a_lost_connection_is_given_up(void **state)
{
    const struct driver_case *test = *state;
    struct sql_connection *db = test->db;
    if (test->world->cut == NULL)
        return;
    pair_put(db, 1);
    for (int i = 0; i < 3; i++) {
        suite_begin(db);
        pair_put(db, 10);
        test->world->cut(db);
        suite_fails(db, put_pair, GIVEN(NUMBER(1), NUMBER(11), NUMBER(0)), STATUS_AWAY, SQL_ERROR_AWAY);
        assert_false(db->driver->is_open(db));
        /* nothing of it is kept, so nothing more of it is done */
        assert_int_equal(suite_run(db, put_pair, GIVEN(NUMBER(1), NUMBER(12), NUMBER(0))), STATUS_AWAY);
        assert_int_equal(db->driver->part_begin(db, "part"), STATUS_AWAY);
        db->driver->part_drop(db, "part");
        assert_int_equal(db->driver->commit(db), STATUS_AWAY);
        db->driver->rollback(db);
        begin_at_last(db);
        assert_true(db->driver->is_open(db));
        assert_int_equal(suite_number(db, count_pairs, NONE_GIVEN), 1 + i);
        pair_put(db, 100 + i);
        suite_commit(db);
    }
}

static void commit_of_a_lost_connection_is_not_called_kept(void **state)
{
    const struct driver_case *test = *state;
    struct sql_connection *db = test->db;
    if (test->world->cut == NULL)
        return;
    suite_begin(db);
    pair_put(db, 1);
    test->world->cut(db);
    const enum status status = db->driver->commit(db);
    assert_true(status == STATUS_AWAY || status == STATUS_UNKNOWN);
    assert_false(db->driver->is_open(db));
    db->driver->rollback(db);
    begin_at_last(db);
    assert_int_equal(suite_number(db, count_pairs, NONE_GIVEN), 0);
    suite_commit(db);
}

static void lost_connection_is_made_again_for_a_statement_outside_of_transactions(void **state)
{
    const struct driver_case *test = *state;
    struct sql_connection *db = test->db;
    if (test->world->cut == NULL)
        return;
    pair_put(db, 1);
    struct sql_connection *reader = suite_reader(db);
    struct sql_connection *const both[] = { db, reader };
    for (int i = 0; i < 2; i++) {
        assert_int_equal(suite_number(both[i], count_pairs, NONE_GIVEN), 1);
        test->world->cut(both[i]);
        enum status status = STATUS_AWAY;
        int64_t count = 0;
        for (int tries = 0; tries < SUITE_TRIES_MAX && status != STATUS_OK; tries++) {
            status = number_read(both[i], count_pairs, NONE_GIVEN, &count);
            assert_true(status == STATUS_OK || status == STATUS_AWAY);
            if (status != STATUS_OK)
                usleep(SUITE_WAIT_US);
        }
        assert_int_equal(status, STATUS_OK);
        assert_int_equal(count, 1);
    }
    assert_int_not_equal(suite_run(reader, put_pair, GIVEN(NUMBER(1), NUMBER(2), NUMBER(1))),
        STATUS_OK); /* still reads only */
    suite_close(reader);
}

static struct sql_connection *open_through(const struct driver_case *test, const struct relay *relay)
{
    struct sql_connection *db = NULL;
    assert_int_equal(test->world->open_at(&db, relay_port(relay)), STATUS_OK);
    return db;
}

static void commit_without_an_answer_is_unknown_and_may_be_kept(void **state)
{
    const struct driver_case *test = *state;
    if (test->world->open_at == NULL)
        return;
    struct relay *relay = relay_open(test->world->port);
    struct sql_connection *db = open_through(test, relay);
    suite_begin(db);
    pair_put(db, 1);
    relay_set(relay, RELAY_LOSE_ANSWER);
    assert_int_equal(db->driver->commit(db), STATUS_UNKNOWN);
    assert_false(db->driver->is_open(db));
    db->driver->rollback(db);
    assert_int_equal(suite_number(test->db, count_pairs, NONE_GIVEN), 1); /* it was kept */
    begin_at_last(db);
    assert_int_equal(suite_number(db, count_pairs, NONE_GIVEN), 1);
    suite_commit(db);
    suite_close(db);
    relay_close(relay);
}

/* Whoever asks is told soon; a caller with other things to do is not held up until the server is
 * back. */
static void server_that_is_silent_is_away_and_found_again(void **state)
{
    const struct driver_case *test = *state;
    const enum relay_mode modes[] = { RELAY_SILENT, RELAY_CUT };
    if (test->world->open_at == NULL)
        return;
    for (int i = 0; i < 2; i++) {
        struct relay *relay = relay_open(test->world->port);
        struct sql_connection *db = open_through(test, relay);
        suite_begin(db);
        relay_set(relay, RELAY_CUT);
        assert_int_equal(suite_run(db, count_pairs, NONE_GIVEN), STATUS_AWAY);
        db->driver->rollback(db);
        relay_set(relay, modes[i]);
        for (int tries = 0; tries < 5; tries++) {
            const uint64_t began_ns = clock_monotonic_ns();
            assert_int_equal(db->driver->begin(db), STATUS_AWAY);
            assert_int_equal(db->driver->error(db), SQL_ERROR_AWAY);
            assert_false(db->driver->is_open(db));
            assert_true(clock_monotonic_ns() - began_ns < 2000000000);
        }
        relay_set(relay, RELAY_PASS);
        begin_at_last(db);
        assert_int_equal(suite_number(db, count_pairs, NONE_GIVEN), 0);
        suite_commit(db);
        suite_close(db);
        relay_close(relay);
    }
}

static void *count_forever(void *context)
{
    struct second *second = context;
    second->status = number_read(second->db,
        "SELECT count(*) FROM pairs one, pairs two, pairs three, pairs four, pairs five"
        " WHERE one.units + two.units + three.units + four.units + five.units = -1",
        NONE_GIVEN, &second->number);
    atomic_store(&second->done, true);
    return NULL;
}

static void interrupt_ends_a_long_statement(void **state)
{
    const struct driver_case *test = *state;
    struct sql_connection *db = test->db;
    struct second second = { .db = suite_reader(db) };
    pthread_t thread;
    suite_begin(db);
    for (int i = 0; i < 300; i++)
        pair_put(db, i);
    suite_commit(db);
    second.db->driver->interrupt(second.db); /* nothing runs: harmless */
    assert_int_equal(pthread_create(&thread, NULL, count_forever, &second), 0);
    for (int i = 0; i < SUITE_TRIES_MAX && !atomic_load(&second.done); i++) {
        usleep(SUITE_WAIT_US);
        second.db->driver->interrupt(second.db);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(second.status, STATUS_AWAY);
    assert_int_equal(second.db->driver->error(second.db), SQL_ERROR_AWAY);
    enum status status = STATUS_AWAY; /* the last interrupt may have come late */
    for (int i = 0; i < SUITE_TRIES_MAX && status == STATUS_AWAY; i++)
        status = number_read(second.db, count_pairs, NONE_GIVEN, &second.number);
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(second.number, 300);
    suite_close(second.db);
}

const struct CMUnitTest driver_suite_several[] = {
    SUITE_TEST(reader_sees_what_is_committed_and_nothing_else),
    SUITE_TEST(reader_writes_nothing),
    SUITE_TEST(view_sees_one_moment),
    SUITE_TEST(transaction_that_writes_sees_what_others_commit_meanwhile),
    SUITE_TEST(closing_gives_up_what_is_open),
    SUITE_TEST(locked_row_waits_for_the_end_of_the_transaction),
    SUITE_TEST(what_is_read_under_a_lock_is_never_overwritten),
    SUITE_TEST(one_of_two_that_wait_for_each_other_is_told_to_try_again),
    SUITE_TEST(transaction_of_a_lost_connection_is_given_up),
    SUITE_TEST(commit_of_a_lost_connection_is_not_called_kept),
    SUITE_TEST(lost_connection_is_made_again_for_a_statement_outside_of_transactions),
    SUITE_TEST(commit_without_an_answer_is_unknown_and_may_be_kept),
    SUITE_TEST(server_that_is_silent_is_away_and_found_again),
    SUITE_TEST(interrupt_ends_a_long_statement),
};
const size_t driver_suite_several_count = sizeof driver_suite_several / sizeof *driver_suite_several;
