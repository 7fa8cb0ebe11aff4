/* SPDX-License-Identifier: Apache-2.0 */
/* A server that says what the test writes: for what a real one can't be made to do. Time stands still unless
 * the test moves it. What real servers do: tests/seam/client_redis_test.c. */
#include "redis/connection.h"

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { ANSWERS_MAX = 512, WAIT_MS = 20 * 1000, QUIET_MS = 20 };

struct bench {
    struct redis_connection *connection;
    int epoll_fd, listener, peer;
    uint64_t now_ms;
    uint32_t answers, informed, left, notes;
    struct {
        uint64_t tag;
        enum redis_answer answer;
        char text[64];
        struct redis_request request;
    } told[ANSWERS_MAX];
    struct redis_info info;
    char heard[64 * 1024]; /* by the server */
    size_t heard_bytes;
    struct redis_connection *pass_to; /* answers are passed on to it */
};

static const char greeting[] =
    "redis_version:7.0.15\r\nprocess_id:1\r\nrun_id:0123456789012345678901234567890123456789"
    "\r\nmaxmemory_policy:noeviction\r\nrole:master\r\nmaster_replid:"
    "aaaaaaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbbbbb\r\ncluster_enabled:0\r\n";
static const char role[] =
    "role:master\r\nmaster_replid:ccccccccccccccccccccbbbbbbbbbbbbbbbbbbbb\r\n";

static void answered(void *self, const struct redis_request *request, enum redis_answer answer,
    const struct redis_value *value)
{
    struct bench *bench = self;
    assert_true(bench->answers < ANSWERS_MAX);
    bench->told[bench->answers].tag = request->tag;
    bench->told[bench->answers].answer = answer;
    bench->told[bench->answers].request = *request;
    if (value != NULL && value->kind != REDIS_KIND_NUMBER)
        snprintf(bench->told[bench->answers].text, sizeof bench->told[0].text, "%.*s",
            (int)value->text.size, value->text.data);
    bench->answers++;
    if (bench->pass_to != NULL)
        assert_int_equal(redis_connection_pass(bench->pass_to, request, true), STATUS_OK);
}

static void informed(void *self, const struct redis_info *info)
{
    struct bench *bench = self;
    bench->informed++;
    bench->info = *info;
}

static void left(void *self)
{
    ((struct bench *)self)->left++;
}

static void noted(void *self, const struct redis_value *value)
{
    struct bench *bench = self;
    (void)value;
    bench->notes++;
}

/* One turn, after events or wait_ms. */
static void turn(struct bench *bench, int wait_ms)
{
    struct epoll_event events[4];
    const int count = epoll_wait(bench->epoll_fd, events, 4, wait_ms);
    if (wait_ms == WAIT_MS && count <= 0)
        fail_msg("nothing happens any more");
    for (int i = 0; i < count; i++)
        redis_connection_ready(events[i].data.ptr, events[i].events);
    redis_connection_turn(bench->connection, bench->now_ms);
    redis_connection_flush(bench->connection);
}

/* Turns until nothing happens any more. */
static void settle(struct bench *bench)
{
    for (int i = 0; i < 3; i++)
        turn(bench, QUIET_MS);
}

static void accepted(struct bench *bench)
{
    struct pollfd waiting = { .fd = bench->listener, .events = POLLIN };
    turn(bench, 0);
    assert_int_equal(poll(&waiting, 1, WAIT_MS), 1);
    bench->peer = accept(bench->listener, NULL, NULL);
    assert_true(bench->peer >= 0);
}

/* Until the server has heard so many requests that begin with "*". */
static void hear(struct bench *bench, const char *last)
{
    bench->heard_bytes = 0;
    for (;;) {
        struct pollfd waiting = { .fd = bench->peer, .events = POLLIN };
        turn(bench, 0);
        assert_int_equal(poll(&waiting, 1, WAIT_MS), 1);
        const ssize_t n = recv(bench->peer, bench->heard + bench->heard_bytes,
            sizeof bench->heard - 1 - bench->heard_bytes, 0);
        assert_true(n > 0);
        bench->heard_bytes += (size_t)n;
        bench->heard[bench->heard_bytes] = 0;
        if (strstr(bench->heard, last) != NULL)
            return;
    }
}

static void say(struct bench *bench, const char *text)
{
    assert_int_equal(send(bench->peer, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

static void say_text(struct bench *bench, const char *text)
{
    char head[32];
    snprintf(head, sizeof head, "$%zu\r\n", strlen(text));
    say(bench, head);
    say(bench, text);
    say(bench, "\r\n");
}

static void until(struct bench *bench, const uint32_t *count, uint32_t least)
{
    while (*count < least)
        turn(bench, WAIT_MS);
    assert_int_equal(*count, least);
}

static void greet(struct bench *bench)
{
    const uint32_t before = bench->informed;
    accepted(bench);
    hear(bench, "INFO\r\n");
    say_text(bench, greeting);
    until(bench, &bench->informed, before + 1);
}

static struct redis_node node_of(const struct bench *bench)
{
    struct sockaddr_in own = { 0 };
    socklen_t size = sizeof own;
    assert_int_equal(getsockname(bench->listener, (struct sockaddr *)&own, &size), 0);
    return (struct redis_node){ .address = address_from_v4(&own.sin_addr), .port = ntohs(own.sin_port) };
}

static struct redis_limits limits(void)
{
    return (struct redis_limits){ .in_flight_max = 8,
        .request_bytes = 512,
        .reply_bytes = 1024,
        .reply_values = 16,
        .connect_ms = 1000,
        .ask_ms = 1000,
        .answer_ms = 500,
        .again_ms_first = 100,
        .again_ms_most = 300 };
}

static void bench_open(struct bench *bench, const struct redis_login *login, bool notes)
{
    const struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    *bench = (struct bench){ .now_ms = 1000000, .peer = -1 };
    bench->epoll_fd = epoll_create1(0);
    bench->listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(bench->listener, (const struct sockaddr *)&any, sizeof any), 0);
    assert_int_equal(listen(bench->listener, 4), 0);
    const struct redis_node node = node_of(bench);
    const struct redis_limits its = limits();
    const struct redis_connection_owner owner = {
        .self = bench, .answered = answered, .informed = informed, .left = left, .noted = notes ? noted : NULL
    };
    assert_int_equal(
        redis_connection_open(&bench->connection, &node, login, &its, &owner, bench->epoll_fd), STATUS_OK);
}

static void bench_close(struct bench *bench)
{
    redis_connection_close(bench->connection);
    if (bench->peer >= 0)
        close(bench->peer);
    if (bench->listener >= 0)
        close(bench->listener);
    close(bench->epoll_fd);
}

static enum status request(struct bench *bench, uint64_t tag, uint64_t due_ms, const char *word)
{
    const struct redis_request its = { .tag = tag, .due_ms = due_ms, .mark = 3 };
    return redis_connection_send(bench->connection, &its, REDIS_WORDS(span_from_string(word)));
}

static void assert_told(const struct bench *bench, uint32_t index, uint64_t tag, enum redis_answer answer)
{
    assert_int_equal(bench->told[index].tag, tag);
    assert_int_equal(bench->told[index].answer, answer);
}

static const struct redis_login nobody;

static void it_logs_in_asks_what_the_server_is_and_then_takes_requests(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench,
        &(struct redis_login){ .user = "shop", .password = "pw", .password_bytes = 2 }, false);
    assert_int_equal(request(&bench, 1, UINT64_MAX, "PING"), STATUS_AWAY);
    accepted(&bench);
    hear(&bench, "INFO\r\n");
    assert_string_equal(bench.heard, "*3\r\n$4\r\nAUTH\r\n$4\r\nshop\r\n$2\r\npw\r\n*1\r\n$4\r\nINFO\r\n");
    say(&bench, "+OK\r\n");
    settle(&bench);
    assert_null(redis_connection_info(bench.connection));
    assert_int_equal(request(&bench, 1, UINT64_MAX, "PING"), STATUS_AWAY);
    say_text(&bench, greeting);
    until(&bench, &bench.informed, 1);
    assert_string_equal(bench.info.replid, "aaaaaaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbbbbb");
    assert_int_equal(bench.info.asked_ms, bench.now_ms);
    assert_non_null(redis_connection_info(bench.connection));
    assert_int_equal(request(&bench, 7, bench.now_ms + 100, "PING"), STATUS_OK);
    assert_int_equal(request(&bench, 8, bench.now_ms + 100, "ECHO"), STATUS_OK);
    hear(&bench, "ECHO\r\n");
    for (const char *byte = "+PONG\r\n-NOSCRIPT no\r\n"; *byte != 0; byte++) {
        assert_int_equal(send(bench.peer, byte, 1, 0), 1);
        turn(&bench, QUIET_MS); /* in as many pieces as it has bytes */
    }
    until(&bench, &bench.answers, 2);
    assert_told(&bench, 0, 7, REDIS_ANSWER_OK);
    assert_string_equal(bench.told[0].text, "PONG");
    assert_int_equal(bench.told[0].request.mark, 3);
    assert_told(&bench, 1, 8, REDIS_ANSWER_NOSCRIPT);
    assert_int_equal(redis_connection_in_flight(bench.connection), 0);
    bench_close(&bench);
}

static void a_wrong_password_is_told_and_tried_again_with_growing_pauses(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, &(struct redis_login){ .password = "pw", .password_bytes = 2 }, false);
    uint64_t pause_most = 100;
    for (int i = 0; i < 4; i++) {
        accepted(&bench);
        hear(&bench, "INFO\r\n");
        assert_string_equal(bench.heard, "*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n*1\r\n$4\r\nINFO\r\n");
        say(&bench, "-WRONGPASS invalid username-password pair\r\n");
        while (redis_connection_error(bench.connection)[0] == 0
            || redis_connection_next_due(bench.connection) > bench.now_ms + limits().again_ms_most)
            turn(&bench, WAIT_MS);
        assert_string_equal(redis_connection_error(bench.connection),
            "login: WRONGPASS invalid username-password pair");
        const uint64_t due = redis_connection_next_due(bench.connection);
        assert_true(due >= bench.now_ms + pause_most / 2 && due <= bench.now_ms + pause_most);
        pause_most = pause_most * 2 < limits().again_ms_most ? pause_most * 2 : limits().again_ms_most;
        close(bench.peer);
        bench.now_ms = due - 1;
        settle(&bench);
        struct pollfd nothing = { .fd = bench.listener, .events = POLLIN };
        assert_int_equal(poll(&nothing, 1, 0), 0);
        bench.now_ms = due;
    }
    assert_int_equal(bench.left, 0);
    bench.peer = -1;
    bench_close(&bench);
}

static void silence_makes_all_that_was_sent_unknown(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, &nobody, false);
    greet(&bench);
    assert_int_equal(request(&bench, 1, bench.now_ms + 300, "ONE"), STATUS_OK);
    assert_int_equal(request(&bench, 2, bench.now_ms + 100, "TWO"), STATUS_OK); /* earlier than the first */
    assert_int_equal(request(&bench, 3, bench.now_ms + 300, "THREE"), STATUS_OK);
    hear(&bench, "THREE\r\n");
    say(&bench, "+ok\r\n$10\r\nhalf"); /* the first, and half of the second */
    until(&bench, &bench.answers, 1);
    assert_told(&bench, 0, 1, REDIS_ANSWER_OK);
    bench.now_ms += 99;
    settle(&bench);
    assert_int_equal(bench.answers, 1);
    assert_true(redis_connection_next_due(bench.connection) <= bench.now_ms + 1);
    bench.now_ms += 1;
    assert_int_equal(request(&bench, 4, bench.now_ms + 300, "FOUR"), STATUS_OK); /* not sent */
    turn(&bench, 0);
    assert_int_equal(bench.answers, 4);
    assert_told(&bench, 1, 2, REDIS_ANSWER_UNKNOWN);
    assert_told(&bench, 2, 3, REDIS_ANSWER_UNKNOWN);
    assert_told(&bench, 3, 4, REDIS_ANSWER_AWAY);
    assert_int_equal(bench.left, 1);
    assert_null(redis_connection_info(bench.connection));
    /* Nothing of the old connection is mixed into the new one. */
    say(&bench, "-text");
    close(bench.peer);
    bench.now_ms += 100;
    greet(&bench);
    assert_int_equal(request(&bench, 5, bench.now_ms + 300, "FIVE"), STATUS_OK);
    hear(&bench, "FIVE\r\n");
    say(&bench, "+five\r\n");
    until(&bench, &bench.answers, 5);
    assert_string_equal(bench.told[4].text, "five");
    bench_close(&bench);
}

static void what_is_not_redis_ends_the_connection(void **state)
{
    (void)state;
    const struct {
        const char *said, *error;
    } cases[] = {
        { "HTTP/1.1 400 Bad Request\r\n\r\n", "what it says is not the protocol of Redis" },
        { "*17\r\n", "an answer is longer than 1024 bytes or 16 values" },
        { "+1\r\n+2\r\n", "it answered what nobody had asked" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bench bench;
        bench_open(&bench, &nobody, false);
        greet(&bench);
        assert_int_equal(request(&bench, 1, bench.now_ms + 300, "ONE"), STATUS_OK);
        hear(&bench, "ONE\r\n");
        say(&bench, cases[i].said);
        until(&bench, &bench.left, 1);
        assert_string_equal(redis_connection_error(bench.connection), cases[i].error);
        assert_int_equal(bench.answers, 1);
        assert_told(&bench, 0, 1, i == 2 ? REDIS_ANSWER_OK : REDIS_ANSWER_UNKNOWN);
        bench_close(&bench);
    }
}

static void a_server_that_greets_strangely_or_not_at_all_is_not_used(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, &nobody, false);
    accepted(&bench);
    hear(&bench, "INFO\r\n");
    bench.now_ms += 999;
    settle(&bench);
    assert_string_equal(redis_connection_error(bench.connection), "");
    bench.now_ms += 1;
    settle(&bench);
    assert_string_equal(redis_connection_error(bench.connection), "it does not answer");
    close(bench.peer);
    bench.now_ms += 100;
    accepted(&bench);
    hear(&bench, "INFO\r\n");
    say(&bench, "-NOPERM this user has no permissions to run the 'info' command\r\n");
    while (strstr(redis_connection_error(bench.connection), "NOPERM") == NULL)
        turn(&bench, WAIT_MS);
    assert_string_equal(redis_connection_error(bench.connection),
        "INFO: NOPERM this user has no permissions to run the 'info' command");
    assert_int_equal(bench.informed, 0);
    bench_close(&bench);
}

static void the_role_is_asked_for_each_second_and_must_be_answered(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, &nobody, false);
    greet(&bench);
    bench.now_ms += 999;
    settle(&bench);
    assert_int_equal(redis_connection_next_due(bench.connection), bench.now_ms + 1);
    bench.now_ms += 1;
    hear(&bench, "replication\r\n");
    assert_string_equal(bench.heard, "*2\r\n$4\r\nINFO\r\n$11\r\nreplication\r\n");
    say_text(&bench, role);
    until(&bench, &bench.informed, 2);
    assert_string_equal(bench.info.replid, "ccccccccccccccccccccbbbbbbbbbbbbbbbbbbbb");
    assert_int_equal(bench.info.asked_ms, bench.now_ms);
    bench.now_ms += 1000;
    hear(&bench, "replication\r\n");
    bench.now_ms += 499;
    settle(&bench);
    assert_int_equal(bench.left, 0);
    bench.now_ms += 1;
    settle(&bench);
    assert_int_equal(bench.left, 1);
    bench_close(&bench);
}

static void what_is_in_flight_is_bounded_by_number_and_bytes(void **state)
{
    (void)state;
    struct bench bench;
    char word[256];
    bench_open(&bench, &nobody, false);
    greet(&bench);
    for (uint64_t i = 0; i < 8; i++)
        assert_int_equal(request(&bench, i, bench.now_ms + 300, "A"), STATUS_OK);
    assert_int_equal(request(&bench, 8, bench.now_ms + 300, "A"), STATUS_FULL);
    hear(&bench,
        "A\r\n*1\r\n$1\r\nA\r\n*1\r\n$1\r\nA\r\n*1\r\n$1\r\nA\r\n*1\r\n$1\r\nA\r\n*1\r\n$"
        "1\r\nA\r\n*1\r\n$1\r\nA\r\n"
        "*1\r\n$1\r\nA\r\n");
    say(&bench, "+1\r\n");
    until(&bench, &bench.answers, 1);
    assert_int_equal(request(&bench, 8, bench.now_ms + 300, "A"), STATUS_OK);
    assert_int_equal(request(&bench, 9, bench.now_ms + 300, "A"), STATUS_FULL);
    say(&bench, "+1\r\n+1\r\n+1\r\n+1\r\n+1\r\n+1\r\n+1\r\n");
    until(&bench, &bench.answers, 8);
    hear(&bench, "A\r\n");
    say(&bench, "+1\r\n");
    until(&bench, &bench.answers, 9);
    /* "*1\r\n$245\r\n" and the end of the line: half of the room, which is the longest. */
    memset(word, 'x', sizeof word);
    word[245] = 0;
    assert_int_equal(request(&bench, 20, bench.now_ms + 300, word), STATUS_BAD_INPUT);
    word[244] = 0;
    assert_int_equal(request(&bench, 20, bench.now_ms + 300, word), STATUS_OK);
    assert_int_equal(request(&bench, 21, bench.now_ms + 300, word), STATUS_OK);
    assert_int_equal(request(&bench, 22, bench.now_ms + 300, "A"), STATUS_FULL);
    assert_int_equal(bench.answers, 9);
    bench_close(&bench);
}

/* Room is used again and again, while something is always in flight. */
static void requests_stay_in_order_as_their_room_is_used_again(void **state)
{
    (void)state;
    struct bench bench;
    char word[64];
    bench_open(&bench, &nobody, false);
    greet(&bench);
    snprintf(word, sizeof word, "request-%04u-%020u", 0u, 0u);
    assert_int_equal(request(&bench, 0, bench.now_ms + 300, word), STATUS_OK);
    for (uint32_t i = 1; i < 300; i++) {
        snprintf(word, sizeof word, "request-%04u-%020u", i, i);
        assert_int_equal(request(&bench, i, bench.now_ms + 300, word), STATUS_OK);
        hear(&bench, word);
        say(&bench, "+1\r\n"); /* the one before */
        until(&bench, &bench.answers, i);
        assert_int_equal(bench.told[i - 1].tag, i - 1);
    }
    bench_close(&bench);
}

static void a_request_is_passed_on_as_it_is_after_asking(void **state)
{
    (void)state;
    struct bench first, second;
    bench_open(&first, &nobody, false);
    bench_open(&second, &nobody, false);
    greet(&first);
    greet(&second);
    first.pass_to = second.connection;
    assert_int_equal(request(&first, 5, first.now_ms + 300, "HELLO"), STATUS_OK);
    hear(&first, "HELLO\r\n");
    say(&first, "-ASK 1 127.0.0.1:1\r\n");
    until(&first, &first.answers, 1);
    assert_told(&first, 0, 5, REDIS_ANSWER_ASK);
    hear(&second, "HELLO\r\n");
    assert_string_equal(second.heard, "*1\r\n$6\r\nASKING\r\n*1\r\n$5\r\nHELLO\r\n");
    say(&second, "+OK\r\n+hi\r\n");
    until(&second, &second.answers, 1);
    assert_told(&second, 0, 5, REDIS_ANSWER_OK);
    assert_string_equal(second.told[0].text, "hi");
    assert_int_equal(second.told[0].request.hops, 1);
    assert_int_equal(second.told[0].request.mark, 3);
    bench_close(&first);
    bench_close(&second);
}

static void a_connection_for_messages_gives_all_that_is_said(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, &nobody, true);
    greet(&bench);
    assert_int_equal(
        redis_connection_say(bench.connection, REDIS_WORDS(SPAN("SSUBSCRIBE"), SPAN("a"))), STATUS_OK);
    hear(&bench, "$1\r\na\r\n");
    say(&bench, "*3\r\n$10\r\nssubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$8\r\nsmessage\r\n$1\r\na\r\n$1\r\nx\r\n");
    until(&bench, &bench.notes, 2);
    bench.now_ms += 1000;
    hear(&bench, "PING\r\n");
    say(&bench, "*2\r\n$4\r\npong\r\n$0\r\n\r\n");
    until(&bench, &bench.notes, 3);
    bench.now_ms += 1000;
    hear(&bench, "PING\r\n");
    bench.now_ms += 499;
    settle(&bench);
    assert_int_equal(bench.left, 0);
    bench.now_ms += 1;
    settle(&bench);
    assert_int_equal(bench.left, 1); /* nobody is there any more */
    bench_close(&bench);
}

/* Only events give turns here: one that is left out is missed for ever. All of it fits into the buffers
 * of the kernel, and has arrived before the first turn. */
static void what_is_too_much_for_one_turn_comes_in_the_next_ones(void **state)
{
    (void)state;
    enum { MESSAGES = 100 };
    struct bench bench;
    char message[600];
    bench_open(&bench, &nobody, true);
    greet(&bench);
    settle(&bench);
    snprintf(message, sizeof message, "*1\r\n$500\r\n%0500d\r\n", 0);
    for (int i = 0; i < MESSAGES; i++)
        say(&bench, message);
    for (int unacknowledged = 1, i = 0; unacknowledged > 0 && i < WAIT_MS; i++) {
        assert_int_equal(ioctl(bench.peer, SIOCOUTQ, &unacknowledged), 0);
        poll(NULL, 0, 1);
    }
    turn(&bench, WAIT_MS);
    assert_true(bench.notes > 0 && bench.notes < MESSAGES);
    until(&bench, &bench.notes, MESSAGES);
    bench_close(&bench);
}

static void a_closed_connection_or_port_is_told_with_the_reason(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, &nobody, false);
    greet(&bench);
    assert_int_equal(request(&bench, 1, bench.now_ms + 300, "ONE"), STATUS_OK);
    hear(&bench, "ONE\r\n");
    close(bench.peer);
    close(bench.listener);
    bench.peer = bench.listener = -1;
    until(&bench, &bench.left, 1);
    assert_told(&bench, 0, 1, REDIS_ANSWER_UNKNOWN);
    bench.now_ms += 100;
    for (int i = 0; i < 1000 && strstr(redis_connection_error(bench.connection), "refused") == NULL; i++)
        turn(&bench, QUIET_MS);
    assert_string_equal(
        redis_connection_error(bench.connection), "it can't be reached: Connection refused");
    assert_int_equal(bench.left, 1);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_logs_in_asks_what_the_server_is_and_then_takes_requests),
        cmocka_unit_test(a_wrong_password_is_told_and_tried_again_with_growing_pauses),
        cmocka_unit_test(silence_makes_all_that_was_sent_unknown),
        cmocka_unit_test(what_is_not_redis_ends_the_connection),
        cmocka_unit_test(a_server_that_greets_strangely_or_not_at_all_is_not_used),
        cmocka_unit_test(the_role_is_asked_for_each_second_and_must_be_answered),
        cmocka_unit_test(what_is_in_flight_is_bounded_by_number_and_bytes),
        cmocka_unit_test(requests_stay_in_order_as_their_room_is_used_again),
        cmocka_unit_test(a_request_is_passed_on_as_it_is_after_asking),
        cmocka_unit_test(a_connection_for_messages_gives_all_that_is_said),
        cmocka_unit_test(what_is_too_much_for_one_turn_comes_in_the_next_ones),
        cmocka_unit_test(a_closed_connection_or_port_is_told_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
