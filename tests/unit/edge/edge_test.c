/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlines, bounds, drain: what an edge does with connections rather than with requests. */
#include "tests/unit/edge/edge_harness.h"

#include "base/clock.h"
#include "edge/listener.h"

#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define GET(path) "GET " path " HTTP/1.1\r\nHost: t\r\n\r\n"

static struct harness harness;
static char text[HARNESS_REPLY_MAX];

static int end(void **state)
{
    (void)state;
    harness_stop(&harness);
    return 0;
}

static void start(struct edge_config config)
{
    harness_start(&harness, config);
}

static void expect_now(int fd)
{
    client_send(fd, GET("/now"));
    assert_int_equal(client_read(fd, text, sizeof(text), false), 200);
}

/* Every byte is progress, and none of it counts. */
static void trickle_until_answered(int fd, const char *piece)
{
    for (int i = 0; i < 500; i++) {
        struct pollfd readable = { .fd = fd, .events = POLLIN };
        if (poll(&readable, 1, 20) > 0)
            return;
        client_send(fd, piece);
    }
    fail_msg("single bytes keep a connection for ever");
}

static void a_head_that_trickles_in_is_cut_at_its_deadline(void **state)
{
    (void)state;
    start((struct edge_config){ .head_timeout_ms = 300 });
    uint64_t begun = test_now_ms();
    int fd = client_connect(&harness);
    client_send(fd, "GET /now HTTP/1.1\r\nHost: t\r\n");
    trickle_until_answered(fd, "A");
    assert_int_equal(client_read(fd, text, sizeof(text), false), 408);
    assert_true(client_is_closed(fd, 1000));
    assert_in_range(test_now_ms() - begun, 250, 1200);
    close(fd);
}

static void a_body_that_does_not_come_is_cut_at_its_deadline(void **state)
{
    (void)state;
    start((struct edge_config){ .body_timeout_ms = 200 });
    int fd = client_connect(&harness);
    client_send(fd, "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\nabc");
    assert_int_equal(client_read(fd, text, sizeof(text), false), 408);
    assert_true(client_is_closed(fd, 1000));
    close(fd);
}

static void a_body_that_trickles_in_is_cut_at_its_deadline(void **state)
{
    (void)state;
    start((struct edge_config){ .body_timeout_ms = 200 });
    int fd = client_connect(&harness);
    client_send(fd, "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 1000\r\n\r\nabc");
    trickle_until_answered(fd, "A");
    assert_int_equal(client_read(fd, text, sizeof(text), false), 408);
    close(fd);
    fd = client_connect(&harness);
    client_send(fd, "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n");
    trickle_until_answered(fd, "1\r\nA\r\n");
    assert_int_equal(client_read(fd, text, sizeof(text), false), 408);
    close(fd);
}

static void an_idle_connection_is_closed_without_a_word(void **state)
{
    (void)state;
    start((struct edge_config){ .idle_timeout_ms = 200 });
    int silent = client_connect(&harness);
    int used = client_connect(&harness);
    expect_now(used);
    assert_int_equal(client_read(used, text, sizeof(text), false), 0);
    assert_int_equal(client_read(silent, text, sizeof(text), false), 0);
    close(silent);
    close(used);
}

static void a_request_that_nobody_answers_ends_at_its_deadline(void **state)
{
    (void)state;
    start((struct edge_config){ .request_timeout_ms = 200 });
    int fd = client_connect(&harness);
    client_send(fd, GET("/never") GET("/now"));
    assert_int_equal(client_read(fd, text, sizeof(text), false), 504);
    assert_true(client_is_closed(fd, 1000));
    close(fd);
}

/* Bytes that the edge has sent and the peer has not taken, by the kernel's table; -1: not there. */
static long unsent_bytes(int fd)
{
    struct sockaddr_in mine = { .sin_family = AF_INET };
    socklen_t size = sizeof mine;
    assert_int_equal(getsockname(fd, (struct sockaddr *)&mine, &size), 0);
    FILE *table = fopen("/proc/net/tcp", "r");
    assert_non_null(table);
    char line[256];
    long found = -1;
    while (found < 0 && fgets(line, sizeof line, table) != NULL) {
        unsigned long port = 0, peer_port = 0, unsent = 0;
        // NOLINTNEXTLINE(cert-err34-c): what is out of range is no port of ours
        const int fields = sscanf(line, " %*d: %*x:%lx %*x:%lx %*x %lx:", &port, &peer_port, &unsent);
        if (fields == 3 && port == edge_port(harness.edge) && peer_port == ntohs(mine.sin_port))
            found = (long)unsent;
    }
    fclose(table);
    return found;
}

static void a_reader_that_does_not_read_is_cut(void **state)
{
    (void)state;
    start((struct edge_config){ .send_timeout_ms = 200 });
    int fd = client_connect(&harness);
    for (int i = 0; i < 3; i++)
        client_send(fd, GET("/big"));
    test_sleep_ms(600);
    static char big[HARNESS_BIG_BYTES + 4096];
    assert_int_equal(client_read(fd, big, sizeof(big), false), -1);
    for (int i = 0; i < 500 && unsent_bytes(fd) >= 0; i++)
        test_sleep_ms(10);
    assert_int_equal(unsent_bytes(fd), -1); /* the kernel keeps nothing for it either */
    close(fd);
    fd = client_connect(&harness);
    expect_now(fd);
    close(fd);
}

static void a_reader_that_does_not_read_costs_the_kernel_little(void **state)
{
    (void)state;
    enum { LITTLE = 256 * 1024 }; /* the kernel by itself would keep some megabytes */
    start((struct edge_config){ .send_timeout_ms = 60000 });
    int fd = client_connect(&harness), small = 4096;
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
    for (int i = 0; i < 8; i++)
        client_send(fd, GET("/big"));
    for (int i = 0; i < 100 && unsent_bytes(fd) <= 0; i++)
        test_sleep_ms(10);
    test_sleep_ms(50);
    assert_in_range(unsent_bytes(fd), 1, LITTLE);
    close(fd);
}

static void a_reader_that_is_slow_but_reads_gets_it_all(void **state)
{
    (void)state;
    start((struct edge_config){ .send_timeout_ms = 400 });
    int fd = client_connect(&harness);
    client_send(fd, GET("/big"));
    static char part[256 * 1024];
    size_t total = 0;
    uint64_t begun = test_now_ms();
    while (total < HARNESS_BIG_BYTES) {
        ssize_t got = recv(fd, part, sizeof(part), 0);
        assert_true(got > 0);
        total += (size_t)got;
        test_sleep_ms(20);
    }
    assert_true(test_now_ms() - begun > 400);
    close(fd);
}

static int drain_end(void **state)
{
    (void)state;
    harness_join(&harness);
    return 0;
}

static void wait_for_waiting(uint32_t count)
{
    for (int i = 0; i < 1000 && atomic_load(&harness.waiting) < count; i++)
        test_sleep_ms(2);
    assert_int_equal(atomic_load(&harness.waiting), count);
}

static void drain_answers_what_is_in_flight_and_closes_the_idle(void **state)
{
    (void)state;
    start((struct edge_config){ .port = 0 });
    int idle = client_connect(&harness), busy = client_connect(&harness),
        half = client_connect(&harness);
    expect_now(idle);
    client_send(half, "GET /now HTTP/1.1\r\nHo");
    client_send(busy, GET("/hold?1") GET("/hold?2"));
    wait_for_waiting(2);
    edge_drain(harness.edge, 5000);
    assert_int_equal(client_read(idle, text, sizeof(text), false), 0);
    client_send(half, "st: t\r\n\r\n");
    assert_int_equal(client_read(half, text, sizeof(text), false), 200);
    assert_non_null(strstr(text, "Connection: close"));
    assert_int_equal(client_read(half, text, sizeof(text), false), 0);
    harness_release(&harness);
    assert_int_equal(client_read(busy, text, sizeof(text), false), 200);
    assert_null(strstr(text, "Connection: close"));
    assert_int_equal(client_read(busy, text, sizeof(text), false), 200);
    assert_non_null(strstr(text, "Connection: close"));
    assert_int_equal(client_read(busy, text, sizeof(text), false), 0);
    close(idle);
    close(busy);
    close(half);
}

static void drain_ends_at_its_deadline(void **state)
{
    (void)state;
    start((struct edge_config){ .port = 0 });
    int fd = client_connect(&harness);
    client_send(fd, GET("/hold"));
    wait_for_waiting(1);
    uint64_t begun = test_now_ms();
    edge_drain(harness.edge, 200);
    assert_int_equal(client_read(fd, text, sizeof(text), false), 0);
    assert_in_range(test_now_ms() - begun, 150, 1500);
    close(fd);
}

static void a_given_listener_is_used_and_left_open(void **state)
{
    (void)state;
    int fd = -1;
    assert_int_equal(listener_open("127.0.0.1", 0, &fd), STATUS_OK);
    start((struct edge_config){ .listen_fd = fd });
    assert_int_equal(edge_port(harness.edge), listener_port(fd));
    int client = client_connect(&harness);
    expect_now(client);
    close(client);
    edge_drain(harness.edge, 1000);
    harness_join(&harness);
    assert_true(listener_port(fd) > 0);
    close(fd);
}

static void two_edges_share_one_port(void **state)
{
    (void)state;
    static struct harness other;
    start((struct edge_config){ .port = 0 });
    harness_start(&other, (struct edge_config){ .port = edge_port(harness.edge) });
    for (int i = 0; i < 64; i++) {
        int fd = client_connect(&harness);
        expect_now(fd);
        close(fd);
    }
    assert_int_equal(atomic_load(&harness.handled) + atomic_load(&other.handled), 64);
    assert_true(atomic_load(&harness.handled) > 0 && atomic_load(&other.handled) > 0);
    harness_stop(&other);
}

static void bad_configurations_are_named(void **state)
{
    (void)state;
    struct edge *edge;
    const struct edge_handler handler = { .self = NULL };
    struct edge_config config = { .address = "not an address", .listen_fd = -1, .connections_max = 4 };
    assert_int_equal(edge_open(&edge, &config, &handler), STATUS_BAD_INPUT);
    assert_null(edge);
    config.address = "127.0.0.1";
    config.connections_max = 0;
    assert_int_equal(edge_open(&edge, &config, &handler), STATUS_BAD_INPUT);
    config.connections_max = 4;
    config.address = "203.0.113.1"; /* not ours */
    assert_int_equal(edge_open(&edge, &config, &handler), STATUS_IO);
    edge_close(NULL);
}

enum { ATTENDED_TURNS = 1000 };
struct attended {
    struct edge *edge;
    uint32_t turns;
    bool again;
};

static bool attended_turn(void *self, uint64_t now_ms)
{
    struct attended *attended = self;
    (void)now_ms;
    if (++attended->turns == ATTENDED_TURNS)
        edge_stop(attended->edge);
    return attended->again;
}

static void a_descriptor_that_can_be_read_gives_turns_without_a_pause(void **state)
{
    (void)state;
    struct attended attended = { 0 };
    const struct edge_handler handler = { .self = &attended, .turn = attended_turn };
    const struct edge_config config = {
        .address = "127.0.0.1", .listen_fd = -1, .connections_max = 4, .cpu = -1
    };
    const int fd = eventfd(1, 0);
    assert_true(fd >= 0);
    assert_int_equal(edge_open(&attended.edge, &config, &handler), STATUS_OK);
    assert_int_equal(edge_attend(attended.edge, -1), STATUS_IO);
    assert_int_equal(edge_attend(attended.edge, fd), STATUS_OK);
    const uint64_t start_ns = clock_monotonic_ns();
    edge_run(attended.edge);
    /* By ticks alone it would take ATTENDED_TURNS * EDGE_TICK_MS, which is 50 s. */
    assert_true(clock_monotonic_ns() - start_ns < (uint64_t)ATTENDED_TURNS * EDGE_TICK_MS * 1000000 / 2);
    edge_close(attended.edge);
    close(fd);
}

static void a_handler_that_has_more_to_do_gets_turns_without_a_pause(void **state)
{
    (void)state;
    struct attended busy = { .again = true };
    const struct edge_handler handler = { .self = &busy, .turn = attended_turn };
    const struct edge_config config = {
        .address = "127.0.0.1", .listen_fd = -1, .connections_max = 4, .cpu = -1
    };
    assert_int_equal(edge_open(&busy.edge, &config, &handler), STATUS_OK);
    const uint64_t start_ns = clock_monotonic_ns();
    edge_run(busy.edge);
    assert_true(clock_monotonic_ns() - start_ns < (uint64_t)ATTENDED_TURNS * EDGE_TICK_MS * 1000000 / 2);
    edge_close(busy.edge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_head_that_trickles_in_is_cut_at_its_deadline, end),
        cmocka_unit_test_teardown(a_body_that_does_not_come_is_cut_at_its_deadline, end),
        cmocka_unit_test_teardown(a_body_that_trickles_in_is_cut_at_its_deadline, end),
        cmocka_unit_test_teardown(an_idle_connection_is_closed_without_a_word, end),
        cmocka_unit_test_teardown(a_request_that_nobody_answers_ends_at_its_deadline, end),
        cmocka_unit_test_teardown(a_reader_that_does_not_read_is_cut, end),
        cmocka_unit_test_teardown(a_reader_that_does_not_read_costs_the_kernel_little, end),
        cmocka_unit_test_teardown(a_reader_that_is_slow_but_reads_gets_it_all, end),
        cmocka_unit_test_teardown(drain_answers_what_is_in_flight_and_closes_the_idle, drain_end),
        cmocka_unit_test_teardown(drain_ends_at_its_deadline, drain_end),
        cmocka_unit_test(a_given_listener_is_used_and_left_open),
        cmocka_unit_test_teardown(two_edges_share_one_port, end),
        cmocka_unit_test(bad_configurations_are_named),
        cmocka_unit_test(a_descriptor_that_can_be_read_gives_turns_without_a_pause),
        cmocka_unit_test(a_handler_that_has_more_to_do_gets_turns_without_a_pause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
