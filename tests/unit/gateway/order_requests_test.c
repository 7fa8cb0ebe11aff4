/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/gateway/order_requests_test.c: views of tickets whose win is not kept yet. The inventory behind
 * the port, the reader of orders and the edge are the test's own. */
#include "gateway/order_requests.h"

#include "api/job_reply.h"
#include "api/link.h"
#include "base/clock.h"
#include "config/config.h"
#include "contract/inventory.h"
#include "funnel/token.h"
#include "gateway/asks.h"
#include "gateway/exchange.h"
#include "gateway/jobs.h"
#include "gateway/period_limits.h"
#include "gateway/push.h"
#include "gateway/routes_state.h"
#include "gateway/settings.h"
#include "gateway/waits.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <string.h>

enum { TICKET = 77, ITEM = 4, QUANTITY = 2, SLOTS = 8, NOW_S = 1800000000 };
static const user_id buyer = 5, stranger = 6;

/* ---- the edge ---- */

static struct {
    uint64_t now_ms, token;
    bool gone; /* whoever asked has left */
    uint32_t completed;
    char text[4096];
} played; /* the edge */

uint64_t edge_now_ms(const struct edge *edge)
{
    (void)edge;
    return played.now_ms;
}

bool edge_token_alive(const struct edge *edge, uint64_t token)
{
    (void)edge;
    return !played.gone && token == played.token;
}

void edge_complete_bytes(struct edge *edge, uint64_t token, struct span response)
{
    (void)edge;
    assert_int_equal(token, played.token);
    played.completed++;
    snprintf(played.text, sizeof played.text, "%.*s", (int)response.size, response.data);
}

void edge_complete(struct edge *edge, uint64_t token, const struct edge_answer *answer)
{
    (void)edge, (void)token, (void)answer;
    fail();
}

bool edge_socket_send(struct edge *edge, uint64_t socket, struct span frame)
{
    (void)edge, (void)socket, (void)frame;
    return false;
}

void edge_socket_close(struct edge *edge, uint64_t socket, int code, const char *reason)
{
    (void)edge, (void)socket, (void)code, (void)reason;
}

struct wake *edge_wake(struct edge *edge)
{
    (void)edge;
    return NULL;
}

/* ---- purchases: none here ---- */

void period_limit_answered(struct routes *routes, const struct job *job)
{
    (void)routes, (void)job;
    fail();
}

/* ---- the inventory ---- */

static struct inventory_request asked[SLOTS];
static uint32_t asked_count;
static bool port_full;

static struct inventory_request *port_reserve(struct inventory_port *port)
{
    (void)port;
    return port_full || asked_count == SLOTS ? NULL : &asked[asked_count];
}

static void port_commit(struct inventory_port *port)
{
    (void)port;
    asked_count++;
}

static void port_flush(struct inventory_port *port)
{
    (void)port;
}

static const struct inventory_answer *port_collect(struct inventory_port *port)
{
    (void)port;
    return NULL;
}

static const struct inventory_port_ops port_ops = { port_reserve, port_commit, port_flush, port_collect };
static struct inventory_port port = { &port_ops };

/* ---- the gateway ---- */

static struct routes *routes;
static struct config config;
static struct settings settings;
static struct link *to_worker;
static struct wake wakes[3];
static _Atomic bool draining;

static int start(void **state)
{
    (void)state;
    played.now_ms = NOW_S * 1000ull;
    config_defaults(&config);
    config.connections_max = 16;
    routes = arena_object(sizeof *routes,
        asks_bytes() + waits_bytes() + job_shares_bytes() + push_bytes(config.connections_max));
    if (routes == NULL || link_open(&to_worker, 1, 1) != STATUS_OK)
        return -1;
    for (uint32_t i = 0; i < 3; i++)
        if (wake_open(&wakes[i]) != STATUS_OK)
            return -1;
    link_worker_wake(to_worker, &wakes[0]);
    link_edge_wake(to_worker, 0, &wakes[1]);
    link_view_wake(to_worker, 0, &wakes[2]);
    static const char secret[32] = "only a test";
    if (funnel_keys_derive(&routes->keys, secret, sizeof secret) != STATUS_OK)
        return -1;
    funnel_keys_turn(&routes->keys, NOW_S * 1000ull);
    routes->shared =
        (struct routes_shared){ .config = &config, .link = to_worker, .draining = &draining };
    routes->port = &port;
    routes->settings = &settings;
    routes->asks = asks_create(&routes->arena);
    routes->waits = waits_create(&routes->arena);
    routes->push = push_create(&routes->arena, config.connections_max);
    job_shares_create(&routes->jobs, &routes->arena);
    return 0;
}

static int end(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        wake_close(&wakes[i]);
    link_close(to_worker);
    arena_object_free(routes);
    return 0;
}

/* Each case is a request of its own. */
static int begin(void **state)
{
    (void)state;
    played.now_ms += 60000; /* time does not go back */
    played.token++;
    played.gone = false;
    played.completed = 0;
    played.text[0] = 0;
    asked_count = 0;
    port_full = false;
    atomic_store(&draining, false);
    return 0;
}

static enum edge_verdict view_by(user_id user, const char *query, bool by_ticket)
{
    static char bytes[4096];
    char id[17], token[TOKEN_CHARS], bearer[TOKEN_CHARS + 16];
    struct text out = text_in(bytes, sizeof bytes), hex = text_in(id, sizeof id);
    struct edge_reply reply = { 0 };
    const struct session session = {
        .user = user != 0 ? user : buyer, .issued_s = NOW_S, .expires_s = NOW_S + 3600
    };
    session_issue(&routes->keys, &session, token);
    snprintf(bearer, sizeof bearer, "Bearer %.*s", (int)sizeof token, token);
    text_hex64(&hex,
        by_ticket ? funnel_ticket_id(&routes->keys, TICKET) : funnel_order_id(&routes->keys, TICKET));
    const struct http_request request = { .method = HTTP_GET,
        .query = span_from_string(query),
        .authorization = user == 0 ? SPAN_NONE : span_from_string(bearer) };
    struct exchange exchange = {
        .routes = routes, .request = &request, .to = { .token = played.token }, .out = &out, .reply = &reply
    };
    const enum edge_verdict verdict = orders_view(&exchange, text_span(&hex), by_ticket);
    if (verdict == EDGE_REPLIED)
        snprintf(played.text, sizeof played.text, "%.*s", (int)out.size, out.data);
    return verdict;
}

static void view(const char *query)
{
    assert_int_equal(view_by(buyer, query, true), EDGE_DEFERRED);
}

/* The inventory answers the one question that it was asked. */
static void inventory_says(enum answer answer)
{
    struct outcome outcome = { .answer = (uint8_t)answer, .ticket = TICKET };
    assert_int_equal(asked_count, 1);
    assert_int_equal(asked[0].command.type, COMMAND_ASK_TICKET);
    assert_int_equal(asked[0].command.ask.ticket, TICKET);
    if (answer == ANSWER_FOUND) {
        outcome.user = buyer;
        outcome.item = ITEM;
        outcome.quantity = QUANTITY;
    }
    asked_count = 0;
    asks_answered(routes, (uint32_t)asked[0].tag, &outcome);
}

static void time_passes(uint64_t ms)
{
    played.now_ms += ms;
    jobs_turn(routes, played.now_ms);
}

static void news(ticket_number ticket)
{
    link_order_changed(to_worker, ticket, buyer);
    jobs_turn(routes, played.now_ms);
}

/* The reader has the order, and the answer is on its way. */
static void order_is_read(void)
{
    struct job *job = link_view_next(to_worker, 0, 0);
    assert_non_null(job);
    assert_int_equal(job->kind, JOB_ORDER);
    assert_int_equal(job->ticket, TICKET);
    assert_int_equal(job->item, ITEM);
    assert_int_equal(job->quantity, QUANTITY);
    struct text body = job_body(job);
    text_literal(&body, "{\"state\":\"pending\"}");
    job_reply_json(job, 200, &body);
    link_view_return(to_worker, 0, job);
    jobs_turn(routes, played.now_ms);
}

static void told(const char *words)
{
    assert_int_equal(played.completed, 1);
    if (strstr(played.text, words) == NULL)
        fail_msg("\"%s\" is not in: %s", words, played.text);
}

static void told_state(const char *state)
{
    char body[128];
    struct text out = text_in(body, sizeof body);
    text_literal(&out, "\r\n\r\n{\"ticket\":\"");
    text_hex64(&out, funnel_ticket_id(&routes->keys, TICKET));
    text_format(&out, "\",\"state\":\"%s\"}", state);
    body[out.size] = 0;
    told("HTTP/1.1 200 ");
    told(body);
    assert_string_equal(strstr(played.text, "\r\n\r\n"), body); /* and nothing else */
}

static void a_ticket_that_is_decided_or_void_is_told_to_who_has_its_id(void **state)
{
    (void)state;
    view("");
    inventory_says(ANSWER_DECIDING);
    told_state("deciding");
    begin(NULL);
    view("wait=20");
    inventory_says(ANSWER_VOID);
    told_state("void");
    begin(NULL);
    assert_int_equal(view_by(stranger, "wait=0", true), EDGE_DEFERRED);
    inventory_says(ANSWER_DECIDING);
    told_state("deciding");
    begin(NULL);
    assert_int_equal(view_by(0, "", true), EDGE_REPLIED);
    assert_int_equal(asked_count, 0);
    assert_non_null(strstr(played.text, "HTTP/1.1 401 "));
}

static void asked_by_the_order_it_names_the_order_only(void **state)
{
    char id[17] = "";
    struct text hex = text_in(id, sizeof id);
    (void)state;
    assert_int_equal(view_by(buyer, "", false), EDGE_DEFERRED);
    inventory_says(ANSWER_DECIDING);
    text_hex64(&hex, funnel_order_id(&routes->keys, TICKET));
    told(id);
    told("{\"order\":\"");
    assert_null(strstr(played.text, "ticket"));
}

static void a_long_poll_waits_for_news_and_then_asks_inventory_and_store(void **state)
{
    (void)state;
    view("wait=20");
    inventory_says(ANSWER_DECIDING);
    time_passes(100);
    news(TICKET + 1);
    assert_int_equal(asked_count + played.completed, 0);
    news(TICKET);
    inventory_says(ANSWER_FOUND);
    assert_int_equal(played.completed, 0);
    order_is_read();
    told("{\"state\":\"pending\"}");
}

static void found_by_another_user_it_is_an_unknown_order(void **state)
{
    (void)state;
    assert_int_equal(view_by(stranger, "wait=20", true), EDGE_DEFERRED);
    inventory_says(ANSWER_DECIDING);
    news(TICKET);
    inventory_says(ANSWER_FOUND);
    told("HTTP/1.1 404 ");
    assert_null(link_view_next(to_worker, 0, 0));
}

static void news_that_came_before_the_answer_is_not_missed(void **state)
{
    (void)state;
    view("wait=20");
    news(TICKET);
    inventory_says(ANSWER_DECIDING);
    time_passes(WAITS_LOOK_MS);
    inventory_says(ANSWER_FOUND);
    order_is_read();
    told("pending");
}

static void without_news_the_inventory_is_asked_again_after_a_while(void **state)
{
    (void)state;
    view("wait=20");
    inventory_says(ANSWER_DECIDING);
    time_passes(WAITS_DECIDING_MS - 1);
    assert_int_equal(asked_count, 0);
    time_passes(WAITS_LOOK_MS);
    inventory_says(ANSWER_DECIDING);
    assert_int_equal(played.completed, 0);
    time_passes(WAITS_DECIDING_MS);
    inventory_says(ANSWER_VOID);
    told_state("void");
}

static void when_the_time_is_up_or_the_server_stops_the_present_state_is_told(void **state)
{
    (void)state;
    view("wait=1");
    inventory_says(ANSWER_DECIDING);
    time_passes(1000);
    inventory_says(ANSWER_DECIDING);
    told_state("deciding");
    begin(NULL);
    view("wait=20");
    inventory_says(ANSWER_DECIDING);
    atomic_store(&draining, true);
    time_passes(WAITS_LOOK_MS + WAITS_DECIDING_MS);
    inventory_says(ANSWER_DECIDING);
    told_state("deciding");
}

static void a_question_without_a_place_is_asked_at_the_next_look(void **state)
{
    (void)state;
    view("wait=20");
    inventory_says(ANSWER_DECIDING);
    port_full = true;
    news(TICKET);
    assert_int_equal(asked_count + played.completed, 0);
    port_full = false;
    time_passes(WAITS_LOOK_MS);
    inventory_says(ANSWER_FOUND);
    order_is_read();
    told("pending");
}

static void nobody_is_asked_for_who_has_left(void **state)
{
    (void)state;
    view("wait=20");
    inventory_says(ANSWER_DECIDING);
    played.gone = true;
    time_passes(WAITS_DECIDING_MS);
    news(TICKET);
    assert_int_equal(asked_count + played.completed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_ticket_that_is_decided_or_void_is_told_to_who_has_its_id, begin),
        cmocka_unit_test_setup(asked_by_the_order_it_names_the_order_only, begin),
        cmocka_unit_test_setup(a_long_poll_waits_for_news_and_then_asks_inventory_and_store, begin),
        cmocka_unit_test_setup(found_by_another_user_it_is_an_unknown_order, begin),
        cmocka_unit_test_setup(news_that_came_before_the_answer_is_not_missed, begin),
        cmocka_unit_test_setup(without_news_the_inventory_is_asked_again_after_a_while, begin),
        cmocka_unit_test_setup(when_the_time_is_up_or_the_server_stops_the_present_state_is_told, begin),
        cmocka_unit_test_setup(a_question_without_a_place_is_asked_at_the_next_look, begin),
        cmocka_unit_test_setup(nobody_is_asked_for_who_has_left, begin),
    };
    return cmocka_run_group_tests(tests, start, end);
}
