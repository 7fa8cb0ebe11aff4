/* SPDX-License-Identifier: Apache-2.0 */
/* Few clients that send half of something do not keep the others out. */
#include "tests/unit/edge/edge_harness.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { HOSTILE_MAX = 300, BODY = 60000 };

static struct harness harness;
static char text[HARNESS_REPLY_MAX];
static char body[BODY];

static int end(void **state)
{
    (void)state;
    harness_stop(&harness);
    return 0;
}

static int connect_from(const char *source)
{
    struct sockaddr_in from = { .sin_family = AF_INET };
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(edge_port(harness.edge)) };
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    inet_pton(AF_INET, source, &from.sin_addr);
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof from), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

/* A request that is all there, its body in two pieces with a pause between them: its status. */
static int body_in_pieces(const char *source, size_t bytes)
{
    char head[128];
    const int fd = connect_from(source);
    snprintf(head, sizeof head, "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: %zu\r\n\r\n", bytes);
    client_send(fd, head);
    client_send_bytes(fd, body, bytes / 2);
    test_sleep_ms(30);
    client_send_bytes(fd, body, bytes - bytes / 2);
    const int status = client_read(fd, text, sizeof text, false);
    close(fd);
    return status;
}

/* A half is left alone while it is young, by the clock of a thread that may have started late. */
static bool gets_in_within(const char *source, uint32_t patience_ms)
{
    for (uint32_t waited_ms = 0; waited_ms < patience_ms; waited_ms += 100) {
        const int fd = connect_from(source);
        client_send(fd, "GET /now HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
        const int status = client_read(fd, text, sizeof text, false);
        close(fd);
        if (status == 200)
            return true;
        test_sleep_ms(100);
    }
    return false;
}

static void parts_send(int *fds, int count, const char *source, size_t bytes)
{
    for (int i = 0; i < count; i++) {
        fds[i] = connect_from(source);
        client_send(fds[i], "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 60000\r\n\r\n");
        client_send_bytes(fds[i], body, bytes);
    }
}

static void all_close(const int *fds, int count)
{
    for (int i = 0; i < count; i++)
        close(fds[i]);
}

static void an_announced_body_reserves_nothing(void **state)
{
    (void)state;
    int fds[HOSTILE_MAX];
    harness_start(&harness, (struct edge_config){ .connections_max = 1000 });
    parts_send(fds, HOSTILE_MAX, "127.0.0.2", 1);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(body_in_pieces("127.0.0.3", 4000), 200);
        assert_int_equal(body_in_pieces("127.0.0.3", BODY), 200);
    }
    for (int i = 0; i < HOSTILE_MAX; i += 50) { /* nobody had to give way */
        client_send_bytes(fds[i], body, BODY - 1);
        assert_int_equal(client_read(fds[i], text, sizeof text, false), 200);
    }
    all_close(fds, HOSTILE_MAX);
}

static void an_address_that_holds_many_halves_gives_way_to_others(void **state)
{
    (void)state;
    int fds[HOSTILE_MAX];
    harness_start(&harness, (struct edge_config){ .connections_max = 1000 });
    parts_send(fds, HOSTILE_MAX, "127.0.0.2", 20000);
    for (int i = 0; i < 4; i++)
        assert_int_equal(body_in_pieces("127.0.0.3", BODY), 200);
    all_close(fds, HOSTILE_MAX);
}

static void many_addresses_with_a_half_each_give_way_to_who_sends(void **state)
{
    (void)state;
    int fds[HOSTILE_MAX];
    char source[32];
    harness_start(&harness, (struct edge_config){ .connections_max = 1000 });
    for (int i = 0; i < HOSTILE_MAX; i++) {
        snprintf(source, sizeof source, "127.0.%d.%d", 10 + i / 200, 1 + i % 200);
        parts_send(&fds[i], 1, source, 20000);
    }
    for (int i = 0; i < 4; i++)
        assert_int_equal(body_in_pieces("127.0.0.3", BODY), 200);
    all_close(fds, HOSTILE_MAX);
}

static void half_heads_give_way_when_places_run_out(void **state)
{
    (void)state;
    enum { PLACES = 20 };
    int fds[PLACES], used;
    harness_start(&harness,
        (struct edge_config){
            .connections_max = PLACES, .head_timeout_ms = 60000, .idle_timeout_ms = 60000 });
    used = connect_from("127.0.0.3");
    for (int i = 0; i < PLACES - 1; i++) {
        fds[i] = connect_from("127.0.0.2");
        client_send(fds[i], "GET / HTTP/1.1\r\nX:");
    }
    for (int i = 0; i < 10; i++)
        assert_true(gets_in_within("127.0.0.4", 30000)); /* half the time that a head may take */
    client_send(used, "GET /now HTTP/1.1\r\nHost: t\r\n\r\n"); /* idle for as long, and still there */
    assert_int_equal(client_read(used, text, sizeof text, false), 200);
    close(used);
    all_close(fds, PLACES - 1);
}

static void whoever_has_one_half_keeps_it_while_another_address_has_many(void **state)
{
    (void)state;
    enum { PLACES = 20, HONEST = 3, MANY = PLACES - HONEST - 1, OLD_MS = 1100 };
    int honest[HONEST], fds[MANY];
    char source[32];
    harness_start(&harness,
        (struct edge_config){
            .connections_max = PLACES, .head_timeout_ms = 600000, .idle_timeout_ms = 600000 });
    for (int i = 0; i < HONEST; i++) { /* the oldest of all, each of an address of its own */
        snprintf(source, sizeof source, "127.0.0.%d", 5 + i);
        honest[i] = connect_from(source);
        client_send(honest[i], "GET /now HTTP/1.1\r\nX:");
    }
    for (int i = 0; i < MANY; i++) {
        fds[i] = connect_from("127.0.0.2");
        client_send(fds[i], "GET /now HTTP/1.1\r\nX:");
    }
    const int whole = connect_from("127.0.0.3"); /* answered when all halves before it are read */
    client_send(whole, "GET /now HTTP/1.1\r\nHost: t\r\n\r\n");
    assert_int_equal(client_read(whole, text, sizeof text, false), 200);
    test_sleep_ms(OLD_MS); /* none of them is left alone for its youth */
    for (int i = 0; i < 10; i++)
        assert_true(gets_in_within("127.0.0.4", 30000));
    for (int i = 0; i < HONEST; i++) {
        client_send(honest[i], " y\r\nHost: t\r\n\r\n");
        assert_int_equal(client_read(honest[i], text, sizeof text, false), 200);
    }
    close(whole);
    all_close(honest, HONEST);
    all_close(fds, MANY);
}

static void whoever_waits_for_an_answer_does_not_give_way(void **state)
{
    (void)state;
    enum { PLACES = 20, MANY = PLACES - 1 };
    int fds[MANY];
    harness_start(&harness,
        (struct edge_config){
            .connections_max = PLACES, .head_timeout_ms = 600000, .idle_timeout_ms = 600000 });
    const int waits = connect_from("127.0.0.2"); /* the oldest, of the address that has most */
    client_send(waits, "GET /hold HTTP/1.1\r\nHost: t\r\n\r\nGET /now HTTP/1.1\r\nX:");
    while (atomic_load(&harness.waiting) == 0)
        test_sleep_ms(10);
    test_sleep_ms(100); /* the oldest by the edge's clock too */
    for (int i = 0; i < MANY; i++) {
        fds[i] = connect_from("127.0.0.2");
        client_send(fds[i], "GET /now HTTP/1.1\r\nX:");
    }
    for (int i = 0; i < 5; i++)
        assert_true(gets_in_within("127.0.0.4", 30000));
    harness_release(&harness);
    assert_int_equal(client_read(waits, text, sizeof text, false), 200);
    close(waits);
    all_close(fds, MANY);
}

static void heads_have_less_time_in_a_full_table(void **state)
{
    (void)state;
    enum { PLACES = 20, FEW = PLACES / 2 };
    int fds[PLACES];
    harness_start(&harness, (struct edge_config){ .connections_max = PLACES, .head_timeout_ms = 20000 });
    for (int i = 0; i < FEW; i++) {
        fds[i] = connect_from("127.0.0.2");
        client_send(fds[i], "GET / HTTP/1.1\r\nX:");
    }
    assert_false(client_is_closed(fds[0], 2600)); /* a tenth of the time, and more, in a table with space */
    for (int i = FEW; i < PLACES - 1; i++) {
        fds[i] = connect_from("127.0.0.2");
        client_send(fds[i], "GET / HTTP/1.1\r\nX:");
    }
    for (int i = 0; i < FEW; i++)
        assert_true(client_is_closed(fds[i], 5000));
    all_close(fds, PLACES - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(an_announced_body_reserves_nothing, end),
        cmocka_unit_test_teardown(an_address_that_holds_many_halves_gives_way_to_others, end),
        cmocka_unit_test_teardown(many_addresses_with_a_half_each_give_way_to_who_sends, end),
        cmocka_unit_test_teardown(half_heads_give_way_when_places_run_out, end),
        cmocka_unit_test_teardown(whoever_has_one_half_keeps_it_while_another_address_has_many, end),
        cmocka_unit_test_teardown(whoever_waits_for_an_answer_does_not_give_way, end),
        cmocka_unit_test_teardown(heads_have_less_time_in_a_full_table, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
