/* SPDX-License-Identifier: Apache-2.0 */
#include "outgoing/courier.h"

#include "base/clock.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/outgoing/tiny_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct place {
    struct tiny_server *server;
    struct courier *courier;
    struct wake wake;
    struct thread thread;
};

static int place_open(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    assert_non_null(place);
    clock_start(0);
    place->server = tiny_server_start();
    assert_int_equal(wake_open(&place->wake), STATUS_OK);
    assert_int_equal(courier_open(&place->courier, COURIER_CALLS_MAX, &place->wake), STATUS_OK);
    assert_int_equal(thread_start(&place->thread, "courier", courier_run, place->courier), STATUS_OK);
    *state = place;
    return 0;
}

static int place_close(void **state)
{
    struct place *place = *state;
    courier_stop(place->courier);
    thread_join(&place->thread);
    courier_close(place->courier);
    tiny_server_stop(place->server);
    wake_close(&place->wake);
    free(place);
    return 0;
}

static struct outgoing_call *call_to(struct place *place, const char *method, const char *path)
{
    struct outgoing_call *call = courier_take(place->courier);
    assert_non_null(call);
    snprintf(call->method, sizeof call->method, "%s", method);
    snprintf(call->url, sizeof call->url, "http://127.0.0.1:%u%s", place->server->port, path);
    call->allow_private = true;
    return call;
}

static struct outgoing_call *answer_wait(struct place *place)
{
    for (;;) {
        struct outgoing_call *call = courier_collect(place->courier);
        if (call != NULL)
            return call;
        wake_wait(&place->wake, 60000);
    }
}

/* Sends it and waits for its answer. */
static struct outgoing_call *call_ask(struct place *place, struct outgoing_call *call)
{
    courier_send(place->courier, call);
    struct outgoing_call *answered = answer_wait(place);
    assert_ptr_equal(answered, call);
    return call;
}

static void a_request_goes_out_as_written_and_its_answer_comes_back(void **state)
{
    struct place *place = *state;
    struct outgoing_call *call = call_to(place, "POST", "/echo?a=b");
    call->tag = 7;
    call->detail = 8;
    assert_true(outgoing_header_add(call, "Content-Type", SPAN("application/json")));
    assert_true(outgoing_header_add(call, "X-Own", SPAN("mine")));
    memcpy(call->body, "{\0}", 3);
    call->body_size = 3;
    call_ask(place, call);
    assert_int_equal(call->result, OUTGOING_ANSWERED);
    assert_int_equal(call->status, 200);
    assert_true(call->tag == 7 && call->detail == 8);
    assert_true(span_equal(outgoing_header(call, "x-echo"), SPAN("1")));
    assert_non_null(strstr(call->reply, "POST /echo?a=b HTTP/1.1\r\n"));
    assert_non_null(strstr(call->reply, "\r\nX-Own: mine\r\n"));
    assert_non_null(strstr(call->reply, "\r\nContent-Type: application/json\r\n"));
    assert_null(strstr(call->reply, "Expect"));
    assert_memory_equal(call->reply + call->reply_size - 3, "{\0}", 3);
    courier_give(place->courier, call);
    /* Nothing of the last call is left in the next one. */
    call = call_ask(place, call_to(place, "GET", "/echo"));
    assert_non_null(strstr(call->reply, "GET /echo HTTP/1.1\r\n"));
    assert_null(strstr(call->reply, "X-Own"));
    courier_give(place->courier, call);
    call = courier_take(place->courier);
    assert_int_equal(call->body_size, 0);
    courier_give(place->courier, call);
}

static void headers_of_an_interim_answer_are_not_those_of_the_answer(void **state)
{
    struct place *place = *state;
    struct outgoing_call *call = call_ask(place, call_to(place, "GET", "/early"));
    assert_int_equal(call->status, 200);
    assert_true(span_equal(outgoing_header(call, "x-echo"), SPAN("1")));
    courier_give(place->courier, call);
}

static void any_status_is_an_answer_and_a_redirect_is_not_followed(void **state)
{
    struct place *place = *state;
    static const int statuses[] = { 204, 302, 404, 410, 500 };
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        char path[32];
        snprintf(path, sizeof path, "/status/%d", statuses[i]);
        struct outgoing_call *call = call_ask(place, call_to(place, "GET", path));
        assert_int_equal(call->result, OUTGOING_ANSWERED);
        assert_int_equal(call->status, statuses[i]);
        courier_give(place->courier, call);
    }
    assert_int_equal(atomic_load(&place->server->requests), 5);
}

static void the_longest_answer_comes_whole_and_one_byte_more_is_a_failure(void **state)
{
    struct place *place = *state;
    char path[32];
    snprintf(path, sizeof path, "/long/%d", OUTGOING_REPLY_MAX);
    struct outgoing_call *call = call_ask(place, call_to(place, "GET", path));
    assert_int_equal(call->result, OUTGOING_ANSWERED);
    assert_int_equal(call->reply_size, OUTGOING_REPLY_MAX);
    assert_int_equal(strlen(call->reply), OUTGOING_REPLY_MAX);
    courier_give(place->courier, call);
    snprintf(path, sizeof path, "/long/%d", OUTGOING_REPLY_MAX + 1);
    call = call_ask(place, call_to(place, "GET", path));
    assert_int_equal(call->result, OUTGOING_FAILED);
    assert_string_equal(call->error, "the answer is too long");
    courier_give(place->courier, call);
    snprintf(path, sizeof path, "/head/%d", OUTGOING_REPLY_HEADERS_MAX + 1);
    call = call_ask(place, call_to(place, "GET", path));
    assert_int_equal(call->result, OUTGOING_FAILED);
    courier_give(place->courier, call);
}

static void what_is_not_a_whole_answer_is_a_failure_with_a_reason(void **state)
{
    struct place *place = *state;
    static const char *const paths[] = { "/half", "/cut", "/slow" };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct outgoing_call *call = call_to(place, "POST", paths[i]);
        call->timeout_ms = 200;
        call_ask(place, call);
        assert_int_equal(call->result, OUTGOING_FAILED);
        assert_true(call->error[0] != '\0');
        courier_give(place->courier, call);
    }
}

/* A port that nobody listens on: bound, not listening. */
static void a_refused_connection_is_a_failure(void **state)
{
    struct place *place = *state;
    struct sockaddr_in address = { .sin_family = AF_INET };
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    const int bound = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(bound, (struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(bound, (struct sockaddr *)&address, &size), 0);
    struct outgoing_call *call = call_to(place, "GET", "/echo");
    snprintf(call->url, sizeof call->url, "http://127.0.0.1:%u/", ntohs(address.sin_port));
    call_ask(place, call);
    assert_int_equal(call->result, OUTGOING_FAILED);
    courier_give(place->courier, call);
    close(bound);
}

/* Also after a call that was allowed to: its connection must not be there for this one. */
static void a_private_address_is_refused_unless_the_call_allows_it(void **state)
{
    struct place *place = *state;
    static const char *const hosts[] = { "127.0.0.1", "localhost", "127.1", "0x7f000001", "0.0.0.0",
        "[::1]", "[::ffff:127.0.0.1]", "2130706433" };
    courier_give(place->courier, call_ask(place, call_to(place, "GET", "/echo")));
    const uint32_t before = atomic_load(&place->server->requests);
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        struct outgoing_call *call = call_to(place, "POST", "/echo");
        snprintf(call->url, sizeof call->url, "http://%s:%u/echo", hosts[i], place->server->port);
        call->allow_private = false;
        call_ask(place, call);
        if (call->result != OUTGOING_ADDRESS_REFUSED)
            fail_msg("%s: result %d, %s", hosts[i], (int)call->result, call->error);
        courier_give(place->courier, call);
    }
    assert_int_equal(atomic_load(&place->server->requests), before);
}

static void other_schemes_proxies_and_names_in_the_url_are_not_used(void **state)
{
    struct place *place = *state;
    static const char *const urls[] = { "file:///etc/passwd", "ftp://127.0.0.1/x",
        "gopher://127.0.0.1/x", "http://name:word@127.0.0.1/", "", "nonsense://x" };
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        struct outgoing_call *call = call_to(place, "GET", "/");
        snprintf(call->url, sizeof call->url, "%s", urls[i]);
        call_ask(place, call);
        assert_int_equal(call->result, OUTGOING_FAILED);
        assert_int_equal(call->reply_size, 0);
        courier_give(place->courier, call);
    }
    assert_int_equal(setenv("http_proxy", "http://127.0.0.1:1/", 1), 0);
    struct outgoing_call *call = call_ask(place, call_to(place, "GET", "/echo"));
    assert_int_equal(call->result, OUTGOING_ANSWERED);
    courier_give(place->courier, call);
    unsetenv("http_proxy");
}

static void two_hundred_calls_at_once_are_each_answered_once(void **state)
{
    struct place *place = *state;
    enum { CALLS = 200 };
    uint32_t answers[CALLS] = { 0 };
    for (uint32_t i = 0; i < CALLS; i++) {
        char path[32];
        snprintf(path, sizeof path, "/echo/%u.", i);
        struct outgoing_call *call = call_to(place, "POST", path);
        call->tag = i;
        courier_send(place->courier, call);
    }
    for (uint32_t i = 0; i < CALLS; i++) {
        struct outgoing_call *call = answer_wait(place);
        char path[32];
        snprintf(path, sizeof path, "/echo/%u.", (unsigned)call->tag);
        assert_int_equal(call->result, OUTGOING_ANSWERED);
        assert_non_null(strstr(call->reply, path));
        answers[call->tag]++;
        courier_give(place->courier, call);
    }
    for (uint32_t i = 0; i < CALLS; i++)
        assert_int_equal(answers[i], 1);
    assert_null(courier_collect(place->courier));
    assert_int_equal(atomic_load(&place->server->requests), CALLS);
}

static void all_calls_in_use_means_no_call(void **state)
{
    struct place *place = *state;
    struct outgoing_call *taken[COURIER_CALLS_MAX];
    for (uint32_t i = 0; i < COURIER_CALLS_MAX; i++) {
        taken[i] = courier_take(place->courier);
        assert_non_null(taken[i]);
    }
    assert_null(courier_take(place->courier));
    courier_give(place->courier, taken[0]);
    assert_ptr_equal(courier_take(place->courier), taken[0]);
    for (uint32_t i = 0; i < COURIER_CALLS_MAX; i++)
        courier_give(place->courier, taken[i]);
}

static void a_call_is_held_back_until_its_time_and_lets_others_pass(void **state)
{
    struct place *place = *state;
    const uint64_t now_ms = clock_now_ms();
    struct outgoing_call *later = call_to(place, "GET", "/echo/later");
    struct outgoing_call *soon = call_to(place, "GET", "/echo/soon");
    struct outgoing_call *now = call_to(place, "GET", "/echo/now");
    later->not_before_ms = now_ms + 400;
    soon->not_before_ms = now_ms + 200;
    courier_send(place->courier, later);
    courier_send(place->courier, soon);
    courier_send(place->courier, now);
    assert_ptr_equal(answer_wait(place), now);
    assert_ptr_equal(answer_wait(place), soon);
    assert_true(clock_now_ms() >= now_ms + 200);
    assert_ptr_equal(answer_wait(place), later);
    assert_true(clock_now_ms() >= now_ms + 400);
    courier_give(place->courier, later);
    courier_give(place->courier, soon);
    courier_give(place->courier, now);
}

static void stop_breaks_off_calls_under_way_waiting_and_held_back(void **state)
{
    struct place *place = *state;
    enum { CALLS = COURIER_FLIGHT_MAX + 20 };
    for (uint32_t i = 0; i < CALLS; i++) {
        struct outgoing_call *call = call_to(place, "GET", "/slow");
        call->timeout_ms = 600000;
        if (i % 3 == 0)
            call->not_before_ms = clock_now_ms() + 600000;
        courier_send(place->courier, call);
    }
    while (atomic_load(&place->server->requests) == 0)
        usleep(1000);
    courier_stop(place->courier);
    thread_join(&place->thread);
    for (uint32_t i = 0; i < CALLS; i++) {
        struct outgoing_call *call = courier_collect(place->courier);
        assert_non_null(call);
        assert_int_equal(call->result, OUTGOING_FAILED);
        assert_non_null(strstr(call->error, "the program stops"));
        courier_give(place->courier, call);
    }
    assert_null(courier_collect(place->courier));
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, place_open, place_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(a_request_goes_out_as_written_and_its_answer_comes_back),
        IN_PLACE(headers_of_an_interim_answer_are_not_those_of_the_answer),
        IN_PLACE(any_status_is_an_answer_and_a_redirect_is_not_followed),
        IN_PLACE(the_longest_answer_comes_whole_and_one_byte_more_is_a_failure),
        IN_PLACE(what_is_not_a_whole_answer_is_a_failure_with_a_reason),
        IN_PLACE(a_refused_connection_is_a_failure),
        IN_PLACE(a_private_address_is_refused_unless_the_call_allows_it),
        IN_PLACE(other_schemes_proxies_and_names_in_the_url_are_not_used),
        IN_PLACE(two_hundred_calls_at_once_are_each_answered_once),
        IN_PLACE(all_calls_in_use_means_no_call),
        IN_PLACE(a_call_is_held_back_until_its_time_and_lets_others_pass),
        IN_PLACE(stop_breaks_off_calls_under_way_waiting_and_held_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
