/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/edge/accept_test.c: who connects gets a place, or hears why there is none. */
#include "tests/unit/edge/edge_harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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

static void above_the_limit_an_idle_connection_gives_way_or_the_new_one_gets_503(void **state)
{
    (void)state;
    enum { LIMIT = 4 };
    int fds[LIMIT];
    start((struct edge_config){ .connections_max = LIMIT });
    for (int i = 0; i < LIMIT; i++) {
        fds[i] = client_connect(&harness);
        expect_now(fds[i]);
    }
    int late = client_connect(&harness); /* all were used just now */
    client_send(late, GET("/now"));
    assert_int_equal(client_read(late, text, sizeof(text), false), 503);
    assert_true(client_is_closed(late, 3000));
    close(late);
    test_sleep_ms(1100);
    for (int i = 1; i < LIMIT; i++)
        expect_now(fds[i]); /* the first is the longest idle now */
    late = client_connect(&harness);
    expect_now(late);
    assert_true(client_is_closed(fds[0], 1000));
    expect_now(fds[1]);
    close(late);
    for (int i = 0; i < LIMIT; i++)
        close(fds[i]);
}

static void slots_are_used_again_and_again(void **state)
{
    (void)state;
    start((struct edge_config){ .connections_max = 4 });
    for (int i = 0; i < 300; i++) {
        int fd = client_connect(&harness);
        client_send(fd,
            i % 20 == 0 ? "GET /defer?1 HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n"
                        : "GET /answer HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
        assert_int_equal(client_read(fd, text, sizeof(text), false), 200);
        assert_int_equal(client_read(fd, text, sizeof(text), false), 0);
        close(fd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(
            above_the_limit_an_idle_connection_gives_way_or_the_new_one_gets_503, end),
        cmocka_unit_test_teardown(slots_are_used_again_and_again, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
