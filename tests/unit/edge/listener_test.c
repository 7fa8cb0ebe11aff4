/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/listener.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static void port_zero_gets_a_real_port_that_others_can_share(void **state)
{
    (void)state;
    int first = -1, second = -1;
    assert_int_equal(listener_open("127.0.0.1", 0, &first), STATUS_OK);
    uint16_t port = listener_port(first);
    assert_true(port > 0);
    assert_int_equal(listener_open("127.0.0.1", port, &second), STATUS_OK);
    assert_int_equal(listener_port(second), port);
    close(first);
    close(second);
}

static void it_does_not_block_and_passes_no_delay_on(void **state)
{
    (void)state;
    int fd = -1, on = 0;
    socklen_t bytes = sizeof(on);
    assert_int_equal(listener_open(NULL, 0, &fd), STATUS_OK);
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &bytes), 0);
    assert_true(on);
    close(fd);
}

static void addresses_that_are_none_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = { "", "localhost", "1.2.3", "1.2.3.4.5", "::g", "127.0.0.1:80" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int fd = 7;
        assert_int_equal(listener_open(bad[i], 0, &fd), STATUS_BAD_INPUT);
        assert_int_equal(fd, -1);
    }
    assert_int_equal(listener_port(-1), 0);
}

static void a_port_that_somebody_listens_on_is_taken(void **state)
{
    int fd;
    (void)state;
    assert_int_equal(listener_open("127.0.0.1", 0, &fd), STATUS_OK);
    uint16_t port = listener_port(fd);
    assert_true(listener_taken("127.0.0.1", port));
    close(fd);
    assert_false(listener_taken("127.0.0.1", port));
    assert_false(listener_taken("127.0.0.1", 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(port_zero_gets_a_real_port_that_others_can_share),
        cmocka_unit_test(it_does_not_block_and_passes_no_delay_on),
        cmocka_unit_test(addresses_that_are_none_are_refused),
        cmocka_unit_test(a_port_that_somebody_listens_on_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
