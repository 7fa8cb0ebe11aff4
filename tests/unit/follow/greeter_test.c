/* SPDX-License-Identifier: Apache-2.0 */
/* Strangers at the port: they learn nothing, hold up nobody, and are gone after a while. And what a session
 * does with records that somebody in between has touched. */
#include "follow/greeter.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/thread.h"

#include <arpa/inet.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { CALL_MS = 5000 };

static struct follow_secret secret = { .bytes = "a secret of forty characters, or longer.", .size = 40 };
static struct follow_secret other = { .bytes = "a secret of forty characters, or longes.", .size = 40 };
static char address[32];

static struct greeter *greeter_make(void)
{
    struct greeter *greeter;
    uint16_t port;
    const int listener = session_listen("127.0.0.1:0", &port);
    assert_true(listener >= 0);
    snprintf(address, sizeof address, "127.0.0.1:%u", port);
    assert_int_equal(greeter_open(&greeter, listener, &secret), STATUS_OK);
    return greeter;
}

struct caller {
    const struct follow_secret *secret;
    struct session *session;
    enum status status;
    _Atomic bool done;
};
static void caller_run(void *context)
{
    struct caller *caller = context;
    const int fd = session_dial(address, CALL_MS);
    caller->session = calloc(1, sizeof *caller->session);
    caller->status = session_call(caller->session, fd, caller->secret, CALL_MS);
    atomic_store(&caller->done, true);
}

/* The server's end of a call; NULL: it was refused. */
static struct session *call(struct greeter *greeter, struct caller *caller)
{
    struct thread thread;
    struct session *served = NULL;
    assert_int_equal(thread_start(&thread, "caller", caller_run, caller), STATUS_OK);
    while (served == NULL && !atomic_load(&caller->done))
        served = greeter_next(greeter, 10);
    thread_join(&thread);
    return served;
}

static void both_free(struct session *served, struct caller *caller)
{
    if (served != NULL)
        session_end(served);
    session_end(caller->session);
    free(served);
    free(caller->session);
}

static int stranger(void)
{
    const int fd = session_dial(address, CALL_MS);
    assert_true(fd >= 0);
    return fd;
}

static void who_knows_the_secret_is_let_in_and_no_other(void **state)
{
    (void)state;
    struct greeter *greeter = greeter_make();
    struct caller good = { .secret = &secret }, bad = { .secret = &other };
    struct session *served = call(greeter, &good);
    assert_non_null(served);
    assert_int_equal(good.status, STATUS_OK);
    assert_int_equal(greeter_refused(greeter), 0);
    both_free(served, &good);
    served = call(greeter, &bad);
    assert_null(served);
    assert_int_equal(bad.status, STATUS_BAD_INPUT);
    assert_int_equal(greeter_refused(greeter), 1);
    both_free(served, &bad);
    greeter_close(greeter);
}

/* Nothing that depends on the secret leaves before the caller has proved it: 32 random bytes, and the end. */
static void a_stranger_gets_nothing_to_guess_the_secret_from(void **state)
{
    (void)state;
    uint8_t greeting[WIRE_GREETING_BYTES], caller[WIRE_NONCE_BYTES] = { 7 }, got[256];
    size_t size = 0;
    ssize_t n = -1;
    struct greeter *greeter = greeter_make();
    const int fd = stranger();
    wire_greeting_put(greeting, caller);
    assert_int_equal(send(fd, greeting, sizeof greeting, 0), sizeof greeting);
    for (int turn = 0; turn < 20; turn++)
        assert_null(greeter_next(greeter, 5));
    assert_int_equal(send(fd, caller, sizeof caller, 0), sizeof caller);
    for (int turn = 0; turn < 100 && n != 0; turn++) {
        assert_null(greeter_next(greeter, 5));
        n = recv(fd, got + size, sizeof got - size, MSG_DONTWAIT);
        size += n > 0 ? (size_t)n : 0;
    }
    assert_int_equal(n, 0);
    assert_int_equal(size, WIRE_NONCE_BYTES);
    close(fd);
    greeter_close(greeter);
}

/* A byte now and then keeps nobody here for longer than the whole greeting may take. */
static void a_stranger_who_is_slow_holds_up_nobody_and_is_gone_in_time(void **state)
{
    (void)state;
    struct greeter *greeter = greeter_make();
    struct caller good = { .secret = &secret };
    const int slow = stranger();
    const uint64_t since_ms = clock_monotonic_ms();
    assert_null(greeter_next(greeter, 100));
    struct session *served = call(greeter, &good);
    assert_non_null(served);
    assert_true(clock_monotonic_ms() - since_ms < GREETER_MS);
    while (greeter_refused(greeter) == 0 && clock_monotonic_ms() - since_ms < 10 * GREETER_MS) {
        (void)!send(slow, "S", 1, MSG_NOSIGNAL);
        poll(NULL, 0, 200); /* forty of these take four times as long as a greeting may */
        assert_null(greeter_next(greeter, 1));
    }
    assert_true(clock_monotonic_ms() - since_ms >= GREETER_MS);
    assert_true(clock_monotonic_ms() - since_ms < 3 * GREETER_MS);
    close(slow);
    both_free(served, &good);
    greeter_close(greeter);
}

static void many_strangers_leave_a_place_for_one_who_knows_the_secret(void **state)
{
    (void)state;
    int fds[3 * GREETER_GUESTS];
    struct greeter *greeter = greeter_make();
    struct caller good = { .secret = &secret };
    for (int i = 0; i < 3 * GREETER_GUESTS; i++) {
        fds[i] = stranger();
        assert_null(greeter_next(greeter, 100));
    }
    assert_true(greeter_refused(greeter) >= 2 * GREETER_GUESTS);
    struct session *served = call(greeter, &good);
    assert_non_null(served);
    for (int i = 0; i < 3 * GREETER_GUESTS; i++)
        close(fds[i]);
    both_free(served, &good);
    greeter_close(greeter);
}

/* ---- records ---- */

static struct session *pair_make(struct caller *caller)
{
    struct greeter *greeter = greeter_make();
    caller->secret = &secret;
    struct session *served = call(greeter, caller);
    greeter_close(greeter);
    assert_non_null(served);
    return served;
}

/* What the caller sends, as bytes; they do not go to the server. */
static size_t record_catch(struct session *from, const char *text, uint8_t *out, size_t most)
{
    int ends[2];
    const int fd = from->fd;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    from->fd = ends[0];
    assert_int_equal(session_send(from, text, strlen(text)), STATUS_OK);
    from->fd = fd;
    const ssize_t got = recv(ends[1], out, most, 0);
    assert_true(got > 0);
    close(ends[0]);
    close(ends[1]);
    return (size_t)got;
}

static void records_that_were_changed_repeated_swapped_or_reflected_are_refused(void **state)
{
    (void)state;
    for (int way = 0; way < 5; way++) {
        struct caller caller = { 0 };
        struct span record;
        uint8_t first[256], second[256];
        struct session *served = pair_make(&caller);
        const size_t one = record_catch(caller.session, "one", first, sizeof first);
        const size_t two = record_catch(caller.session, "two", second, sizeof second);
        assert_int_equal(send(caller.session->fd, first, one, 0), one);
        if (way != 2) {
            assert_int_equal(session_receive(served, &record), STATUS_OK);
            assert_true(span_equal(record, SPAN("one")));
        }
        if (way == 0)
            second[5] ^= 1; /* changed */
        if (way == 2) {     /* the second in front of the first */
            assert_int_equal(session_receive(served, &record), STATUS_OK);
            (void)record_catch(caller.session, "three", second, sizeof second);
        }
        if (way == 3)
            bytes_put_u32(second, SESSION_SEALED_MAX + 1); /* longer than any */
        const uint8_t *next = way == 1 ? first : second;
        if (way == 4) { /* sent back to whoever sent it */
            assert_int_equal(send(served->fd, second, two, 0), two);
            assert_int_equal(session_receive(caller.session, &record), STATUS_BAD_INPUT);
        } else {
            assert_int_equal(send(caller.session->fd, next,
                                 way == 1       ? one
                                     : way == 2 ? two + 2
                                                : two,
                                 0),
                way == 1       ? one
                    : way == 2 ? two + 2
                               : two);
            assert_int_equal(session_receive(served, &record), STATUS_BAD_INPUT);
        }
        both_free(served, &caller);
    }
}

static void a_record_that_is_cut_or_comes_byte_by_byte_ends_the_session_in_time(void **state)
{
    (void)state;
    struct caller caller = { 0 };
    struct span record;
    uint8_t bytes[256];
    struct session *served = pair_make(&caller);
    const size_t size = record_catch(caller.session, "a record", bytes, sizeof bytes);
    session_patience(served, 300);
    assert_int_equal(send(caller.session->fd, bytes, size - 1, 0), size - 1);
    const uint64_t since_ms = clock_monotonic_ms();
    assert_int_equal(session_receive(served, &record), STATUS_AWAY);
    assert_true(clock_monotonic_ms() - since_ms >= 250 && clock_monotonic_ms() - since_ms < 5000);
    close(caller.session->fd); /* the end of the connection is no end of a record */
    caller.session->fd = -1;
    assert_int_equal(session_receive(served, &record), STATUS_AWAY);
    both_free(served, &caller);
}

struct dripper {
    int fd;
    _Atomic bool ends;
};
static void dripper_run(void *context)
{
    struct dripper *dripper = context;
    while (!atomic_load(&dripper->ends)) {
        (void)!send(dripper->fd, "\0", 1, MSG_NOSIGNAL);
        poll(NULL, 0, 50);
    }
}

static void a_peer_that_sends_a_byte_at_a_time_gets_the_time_of_one_record(void **state)
{
    (void)state;
    struct caller caller = { 0 };
    struct span record;
    struct thread thread;
    struct session *served = pair_make(&caller);
    uint8_t size[4];
    bytes_put_u32(size, 4096);
    assert_int_equal(send(caller.session->fd, size, sizeof size, 0), sizeof size);
    struct dripper dripper = { .fd = caller.session->fd };
    assert_int_equal(thread_start(&thread, "dripper", dripper_run, &dripper), STATUS_OK);
    session_patience(served, 300);
    const uint64_t since_ms = clock_monotonic_ms();
    assert_int_equal(session_receive(served, &record), STATUS_AWAY);
    assert_true(clock_monotonic_ms() - since_ms < 5000);
    atomic_store(&dripper.ends, true);
    thread_join(&thread);
    both_free(served, &caller);
}

static void no_two_connections_have_the_same_keys(void **state)
{
    (void)state;
    struct caller first = { 0 }, second = { 0 };
    struct session *a = pair_make(&first), *b = pair_make(&second);
    assert_memory_not_equal(a->send_key, b->send_key, WIRE_KEY_BYTES);
    assert_memory_not_equal(a->receive_key, b->receive_key, WIRE_KEY_BYTES);
    assert_memory_not_equal(a->send_key, a->receive_key, WIRE_KEY_BYTES);
    assert_memory_equal(a->send_key, first.session->receive_key, WIRE_KEY_BYTES);
    both_free(a, &first);
    both_free(b, &second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_knows_the_secret_is_let_in_and_no_other),
        cmocka_unit_test(a_stranger_gets_nothing_to_guess_the_secret_from),
        cmocka_unit_test(a_stranger_who_is_slow_holds_up_nobody_and_is_gone_in_time),
        cmocka_unit_test(many_strangers_leave_a_place_for_one_who_knows_the_secret),
        cmocka_unit_test(records_that_were_changed_repeated_swapped_or_reflected_are_refused),
        cmocka_unit_test(a_record_that_is_cut_or_comes_byte_by_byte_ends_the_session_in_time),
        cmocka_unit_test(a_peer_that_sends_a_byte_at_a_time_gets_the_time_of_one_record),
        cmocka_unit_test(no_two_connections_have_the_same_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
