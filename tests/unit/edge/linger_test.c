/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/edge/linger_test.c: the last answer arrives though its reader goes on sending, and nobody can
 * send for ever. */
#include "tests/unit/edge/edge_harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define LAST "GET /now HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n"
enum { PIECE = 64 * 1024, PIECES_MAX = 1024, PATIENCE_MS = 30 * 1000 };

static struct harness harness;
static char text[HARNESS_REPLY_MAX], rubbish[PIECE];

static int start(void **state)
{
    (void)state;
    harness_start(&harness, (struct edge_config){ .body_max = 4096 });
    return 0;
}

static int stop(void **state)
{
    (void)state;
    harness_stop(&harness);
    return 0;
}

static void what_is_sent_behind_the_last_request_does_not_cost_its_answer(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        int fd = client_connect(&harness);
        client_send(fd, LAST);
        assert_int_equal(send(fd, rubbish, PIECE, MSG_NOSIGNAL), PIECE);
        assert_int_equal(client_read(fd, text, sizeof text, false), 200);
        assert_true(client_is_closed(fd, PATIENCE_MS));
        close(fd);
    }
}

static void who_sends_very_much_after_the_last_answer_is_cut(void **state)
{
    (void)state;
    int fd = client_connect(&harness), pieces = 0;
    client_send(fd, LAST "more");
    assert_int_equal(client_read(fd, text, sizeof text, false), 200);
    while (pieces < PIECES_MAX && send(fd, rubbish, PIECE, MSG_NOSIGNAL) > 0)
        pieces++;
    assert_true(pieces < PIECES_MAX);
    close(fd);
}

static void who_sends_a_little_for_ever_is_cut_at_the_deadline(void **state)
{
    (void)state;
    int fd = client_connect(&harness);
    client_send(fd, LAST "more");
    assert_int_equal(client_read(fd, text, sizeof text, false), 200);
    const uint64_t begun = test_now_ms();
    while (send(fd, rubbish, 1, MSG_NOSIGNAL) > 0) {
        assert_true(test_now_ms() - begun < PATIENCE_MS);
        test_sleep_ms(20);
    }
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_sent_behind_the_last_request_does_not_cost_its_answer),
        cmocka_unit_test(who_sends_very_much_after_the_last_answer_is_cut),
        cmocka_unit_test(who_sends_a_little_for_ever_is_cut_at_the_deadline),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
