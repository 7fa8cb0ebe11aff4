/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/order_requests.c: requests that go to the inventory for a look or to the worker for the
 * database, and wait. An order view asks the inventory first whose ticket it is: only then, and
 * only for its owner, the worker reads the order. While the ticket is being decided, the view waits
 * and the inventory is asked again. */
#include "gateway/order_requests.h"

#include "api/public_routes.h"
#include "api/query.h"
#include "api/refusals.h"
#include "funnel/token.h"
#include "gateway/anomaly_notes.h"
#include "gateway/asks.h"
#include "gateway/exchange.h"
#include "gateway/jobs.h"
#include "gateway/reply.h"
#include "gateway/routes_state.h"
#include "gateway/sessions.h"
#include "gateway/waits.h"

#include <string.h>

static void mine_answered(struct routes *routes, const struct ask *ask, const struct outcome *outcome)
{
    char bytes[160];
    struct text body = text_in(bytes, sizeof bytes);
    if (outcome->answer != ANSWER_FOUND) {
        complete_problem(routes, &ask->to, PROBLEM_UNKNOWN_ITEM);
        return;
    }
    text_format(&body, "{\"item\":%u,\"bought\":%s,\"quantity\":%u", ask->item,
        outcome->quantity > 0 ? "true" : "false", outcome->quantity);
    if (outcome->ticket != 0) {
        text_literal(&body, ",\"ticket\":\"");
        text_hex64(&body, funnel_ticket_id(&routes->keys, outcome->ticket));
        text_literal(&body, "\"");
    }
    if (outcome->again_ms != 0)
        refusal_again_members(outcome->again_ms, &body);
    text_literal(&body, "}");
    complete_json(routes, &ask->to, 200, &body);
}

/* A ticket without an order: being decided, or void. Nobody knows whose it is, because nothing is kept; so
 * each signed-in user who has the id is told the state, and nothing else.
 *
 * What made-up ids tell: an id is a number under a keyed permutation of 64 bits, so who makes one up draws
 * a number at random. To be told "deciding" it must have four zero bits, a partition that is there (of
 * 2^20) and its present epoch (of 2^12): with 256 partitions one id in 2^28, which takes an address that
 * may ask 100 times a second a month. Whoever hits one learns that its number is not kept, which is true of
 * most numbers, whether they were proposed or not. It does not tell how many are kept, because neighbouring
 * numbers have unrelated ids; once somebody gets the number, the answer is that of an unknown order. "void"
 * tells as little: that an epoch ended before this number. */
static void state_tell(struct routes *routes, const struct ask *ask, const char *state)
{
    char bytes[96];
    struct text body = text_in(bytes, sizeof bytes);
    const ticket_number ticket = ask->view.ticket;
    text_string(&body, ask->view.by_ticket ? "{\"ticket\":\"" : "{\"order\":\"");
    text_hex64(&body,
        ask->view.by_ticket ? funnel_ticket_id(&routes->keys, ticket)
                            : funnel_order_id(&routes->keys, ticket));
    text_format(&body, "\",\"state\":\"%s\"}", state);
    complete_json(routes, &ask->to, 200, &body);
}

static void view_answered(struct routes *routes, const struct ask *ask, const struct outcome *outcome)
{
    struct wait wait = ask->view;
    if (outcome->answer == ANSWER_DECIDING && wait_deciding(routes, &wait, ask->news_seen))
        return;
    if (outcome->answer == ANSWER_DECIDING || outcome->answer == ANSWER_VOID) {
        state_tell(routes, ask, outcome->answer == ANSWER_VOID ? "void" : "deciding");
        return;
    }
    /* Of a ticket that the inventory has forgotten the database knows the order, and whose it is. It is
     * over: there is nothing to wait for. */
    const bool forgotten = outcome->answer == ANSWER_FORGOTTEN;
    if (!forgotten && (outcome->answer != ANSWER_FOUND || outcome->user != wait.user)) {
        complete_problem(routes, &ask->to, PROBLEM_UNKNOWN_ORDER);
        return;
    }
    if (forgotten)
        wait.until_ms = 0;
    wait.ticket = outcome->ticket;
    wait.item = outcome->item;
    wait.quantity = outcome->quantity;
    wait_start(routes, &wait);
}

bool order_view_ask(struct routes *routes, const struct wait *wait, bool may_wait)
{
    const struct command command = { .type = COMMAND_ASK_TICKET, .ask = { .ticket = wait->ticket } };
    struct ask *ask = ask_put(routes, &wait->to, &command, view_answered);
    if (ask == NULL)
        return false;
    ask->view = *wait;
    if (!may_wait)
        ask->view.until_ms = 0;
    ask->news_seen = waits_news_count(routes);
    return true;
}

enum edge_verdict orders_mine(struct exchange *exchange, item_id item)
{
    const user_id user = session_user(exchange);
    if (user == 0)
        return EDGE_REPLIED;
    const struct command command = { .type = COMMAND_ASK_MINE, .ask = { .user = user, .item = item } };
    struct ask *ask = ask_send(exchange, &command, mine_answered);
    if (ask == NULL)
        return EDGE_REPLIED;
    ask->user = user;
    ask->item = item;
    return EDGE_DEFERRED;
}

/* ?wait=S&version=N. False: answered with what is wrong. */
static bool wait_read(struct exchange *exchange, uint64_t *until_ms, uint64_t *version)
{
    const struct span wait = query_value(exchange->request->query, "wait");
    const struct span seen = query_value(exchange->request->query, "version");
    uint32_t seconds = 0;
    *version = 0;
    const bool good =
        (wait.data == NULL || (span_to_u32(wait, &seconds) == STATUS_OK && seconds <= WAIT_MAX_S))
        && (seen.data == NULL || span_to_u64(seen, version) == STATUS_OK);
    *until_ms = seconds == 0 ? 0 : edge_now_ms(exchange->routes->edge) + seconds * 1000ull;
    if (!good)
        reply_problem(exchange, PROBLEM_BAD_QUERY,
            "wait must be 0 to 30 seconds, and version a whole number.");
    return good;
}

enum edge_verdict orders_view(struct exchange *exchange, struct span id, bool by_ticket)
{
    const struct funnel_keys *keys = &exchange->routes->keys;
    uint64_t outside, until_ms, version;
    const user_id user = session_user(exchange);
    if (user == 0)
        return EDGE_REPLIED;
    if (span_to_hex64(id, &outside) != STATUS_OK)
        return reply_problem(exchange, PROBLEM_UNKNOWN_ORDER, NULL);
    if (!wait_read(exchange, &until_ms, &version))
        return EDGE_REPLIED;
    const struct wait wait = { .kind = JOB_ORDER,
        .to = exchange->to,
        .by_ticket = by_ticket,
        .user = user,
        .ticket = by_ticket ? funnel_ticket_number(keys, outside) : funnel_order_number(keys, outside),
        .version_seen = version,
        .until_ms = until_ms };
    return order_view_ask(exchange->routes, &wait, true)
        ? EDGE_DEFERRED
        : reply_problem(exchange, PROBLEM_TOO_POPULAR, NULL);
}

enum edge_verdict orders_list(struct exchange *exchange)
{
    const user_id user = session_user(exchange);
    if (user == 0)
        return EDGE_REPLIED;
    struct job *job = exchange_job(exchange, JOB_ORDERS, SHARE_VIEW, user);
    if (job == NULL)
        return EDGE_REPLIED;
    job_hand_in(exchange->routes, job);
    return EDGE_DEFERRED;
}

/* A pass of this user for this item, as at the door. False: answered with what is wrong with it. */
static bool pass_shown(struct exchange *exchange, item_id item, user_id user)
{
    static const enum problem problems[] = {
        [TOKEN_OK] = PROBLEM_PASS_FOREIGN,
        [TOKEN_MALFORMED] = PROBLEM_PASS_INVALID,
        [TOKEN_FORGED] = PROBLEM_PASS_INVALID,
        [TOKEN_EXPIRED] = PROBLEM_PASS_EXPIRED,
    };
    const struct routes *routes = exchange->routes;
    const struct span shown = exchange->request->pass;
    struct pass pass;
    if (shown.data == NULL) {
        reply_problem(exchange, PROBLEM_PASS_REQUIRED, NULL);
        return false;
    }
    const enum token_answer answer = pass_verify(&routes->keys, shown, edge_now_ms(routes->edge), &pass);
    if (answer == TOKEN_OK && pass.user == user && pass.item == item)
        return true;
    routes_watch_failed(exchange);
    reply_problem(exchange, problems[answer], NULL);
    return false;
}

enum edge_verdict orders_public(struct exchange *exchange, struct span path)
{
    struct routes *routes = exchange->routes;
    const struct http_request *request = exchange->request;
    const struct public_found route = public_route_find(request->method, path);
    if (route.known != PUBLIC_KNOWN)
        return reply_problem(
            exchange, route.known == PUBLIC_UNKNOWN ? PROBLEM_NOT_FOUND : PROBLEM_METHOD, NULL);
    const user_id user = session_user(exchange);
    if (user == 0 || (route.needs != NEEDS_NOTHING && routes_banned(exchange, user))
        || (route.needs == NEEDS_A_PASS && !pass_shown(exchange, route.id, user)))
        return EDGE_REPLIED;
    if (request->body.size > 0 && !content_is_json(request->content_type))
        return reply_problem(exchange, PROBLEM_MEDIA_TYPE, NULL);
    struct job *job = exchange_job(exchange, JOB_PUBLIC, route.pays ? SHARE_PAY : SHARE_VIEW, user);
    if (job == NULL)
        return EDGE_REPLIED;
    job->may_wait = waits_have_room(routes, user);
    job->client = *request->client;
    job->route = (uint8_t)route.route;
    job->path_id = route.id;
    job->ticket = route.order == 0 ? 0 : funnel_order_number(&routes->keys, route.order);
    (void)job_fill(job, request, path);
    job_hand_in(routes, job);
    return EDGE_DEFERRED;
}

bool orders_callback(void *self, const struct http_request *request)
{
    (void)self;
    return span_starts_with(request->path, SPAN("/v1/payments/"))
        && span_ends_with(request->path, SPAN("/callback"));
}

/* Callbacks and the sandbox: their signature is all they have, and the worker checks it. */
enum edge_verdict orders_outside(struct exchange *exchange, bool callback)
{
    struct routes *routes = exchange->routes;
    const struct http_request *request = exchange->request;
    struct job *job = exchange_job(exchange, JOB_OUTSIDE, callback ? SHARE_CALLBACK : SHARE_SANDBOX, 0);
    if (job == NULL)
        return EDGE_REPLIED;
    size_t used = job_fill(job, request, request->path);
    job->head = job_copy(job, &used, http_header_lines(request));
    job_hand_in(routes, job);
    return EDGE_DEFERRED;
}
