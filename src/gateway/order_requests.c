/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/order_requests.c: requests that go to the inventory for a look or to the worker for the
 * database, and wait. An order view asks the inventory first whose ticket it is: only then, and
 * only for its owner, the worker reads the order. */
#include "api/link.h"
#include "api/public_routes.h"
#include "api/refusals.h"
#include "contract/inventory.h"
#include "edge/http_reply.h"
#include "funnel/token.h"
#include "gateway/gateway_parts.h"

#include <string.h>

void orders_create(struct routes *routes)
{
    for (uint32_t i = 0; i < ASKS_MAX; i++)
        routes->asks[i].next_free = (uint16_t)(i + 1 < ASKS_MAX ? i + 2 : 0);
    routes->ask_free = 1;
    routes->waits = arena_take(&routes->arena, WAITS_MAX, sizeof *routes->waits);
    job_shares_create(&routes->jobs, &routes->arena);
}

struct job *job_take(struct routes *routes, const struct job_wish *wish)
{
    struct job *job = job_shares_take(&routes->jobs, wish->share, wish->user);
    if (job == NULL)
        return NULL;
    job->kind = wish->kind;
    job->to = wish->to;
    return job;
}

struct job *exchange_job(struct exchange *exchange, enum job_kind kind, enum job_share share, user_id user)
{
    struct routes *routes = exchange->routes;
    const struct job_wish wish = {
        .kind = kind, .share = share, .user = user, .to = exchange_reply_to(exchange)
    };
    struct job *job = job_take(routes, &wish);
    if (job == NULL && job_shares_user_full(&routes->jobs, share, user))
        reply_too_fast(exchange, TOO_MANY_JOBS_WAIT_MS);
    else if (job == NULL)
        reply_problem(exchange, PROBLEM_TOO_POPULAR, NULL);
    return job;
}

void job_hand_in(struct routes *routes, struct job *job)
{
    link_hand_in(routes->shared.link, routes->index, job);
}

void complete_problem(struct routes *routes, const struct reply_to *to, enum problem problem)
{
    char bytes[2048], origin[ORIGIN_BYTES_MAX + 64], lines[ORIGIN_BYTES_MAX + 128];
    struct text out = text_in(bytes, sizeof bytes);
    struct text head = text_in(lines, sizeof lines);
    if (problem_texts[problem].status == 503)
        text_format(&head, "Retry-After: %u\r\n", retry_after_s(routes));
    text_add(&head, cors_headers(routes, to->cors, origin));
    problem_reply(&out, problem, to->chinese ? problem_chinese(problem) : NULL, SPAN_NONE,
        text_span(&head), to->closing);
    edge_complete_bytes(routes->edge, to->token, text_span(&out));
}

void complete_json(struct routes *routes, const struct reply_to *to, int status, const struct text *body)
{
    char bytes[COMPLETE_BODY_MAX + JOB_HEAD_BYTES], origin[ORIGIN_BYTES_MAX + 64];
    char lines[ORIGIN_BYTES_MAX + 128];
    struct text out = text_in(bytes, sizeof bytes), head = text_in(lines, sizeof lines);
    text_literal(&head, "Cache-Control: no-store\r\n");
    text_add(&head, cors_headers(routes, to->cors, origin));
    http_reply(&out, status, SPAN("application/json"), text_span(&head), text_span(body), to->closing);
    invariant(!body->overflow && !out.overflow);
    edge_complete_bytes(routes->edge, to->token, text_span(&out));
}

struct ask *ask_put(struct routes *routes, const struct reply_to *to, const struct command *command)
{
    struct inventory_request *slot =
        routes->ask_free == 0 ? NULL : routes->port->ops->reserve(routes->port);
    if (slot == NULL)
        return NULL;
    const uint32_t index = routes->ask_free - 1u;
    struct ask *ask = &routes->asks[index];
    routes->ask_free = ask->next_free;
    *ask = (struct ask){ .to = *to };
    *slot = (struct inventory_request){ .tag = TAG_ASK | index, .command = *command };
    routes->port->ops->commit(routes->port);
    return ask;
}

struct ask *ask_send(struct exchange *exchange, const struct command *command)
{
    const struct reply_to to = exchange_reply_to(exchange);
    struct ask *ask = ask_put(exchange->routes, &to, command);
    if (ask == NULL)
        reply_problem(exchange, PROBLEM_TOO_POPULAR, NULL);
    return ask;
}

enum edge_verdict orders_mine(struct exchange *exchange, item_id item)
{
    const user_id user = session_user(exchange);
    if (user == 0)
        return EDGE_REPLIED;
    const struct command command = { .type = COMMAND_ASK_MINE, .ask = { .user = user, .item = item } };
    struct ask *ask = ask_send(exchange, &command);
    if (ask == NULL)
        return EDGE_REPLIED;
    ask->mine = true;
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
    const struct command command = { .type = COMMAND_ASK_TICKET,
        .ask = { .ticket = by_ticket ? funnel_ticket_number(keys, outside)
                                     : funnel_order_number(keys, outside) } };
    struct ask *ask = ask_send(exchange, &command);
    if (ask == NULL)
        return EDGE_REPLIED;
    ask->user = user;
    ask->wait_until_ms = until_ms;
    ask->version_seen = version;
    return EDGE_DEFERRED;
}

static void mine_complete(struct routes *routes, const struct ask *ask, const struct outcome *outcome)
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

void orders_ask_answered(struct routes *routes, uint32_t index, const struct outcome *outcome)
{
    invariant(index < ASKS_MAX);
    const struct ask ask = routes->asks[index];
    routes->asks[index].next_free = routes->ask_free;
    routes->ask_free = (uint16_t)(index + 1);
    if (!edge_token_alive(routes->edge, ask.to.token))
        return;
    if (ask.repeat) {
        repeat_answered(routes, &ask, outcome);
        return;
    }
    if (ask.room != 0) {
        room_entered(routes, &ask, outcome);
        return;
    }
    if (ask.mine) {
        mine_complete(routes, &ask, outcome);
        return;
    }
    /* Of a ticket that the inventory has forgotten the database knows the order, and whose it is. It is
     * over: there is nothing to wait for. */
    const bool forgotten = outcome->answer == ANSWER_FORGOTTEN;
    if (!forgotten && (outcome->answer != ANSWER_FOUND || outcome->user != ask.user)) {
        complete_problem(routes, &ask.to, PROBLEM_UNKNOWN_ORDER);
        return;
    }
    const struct wait wait = { .kind = JOB_ORDER,
        .to = ask.to,
        .user = ask.user,
        .ticket = outcome->ticket,
        .version_seen = ask.version_seen,
        .until_ms = forgotten ? 0 : ask.wait_until_ms,
        .item = outcome->item,
        .quantity = outcome->quantity };
    wait_start(routes, &wait);
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

struct span job_copy(struct job *job, size_t *used, struct span bytes)
{
    if (bytes.size == 0)
        return SPAN_NONE;
    invariant(*used + bytes.size <= job->request_bytes);
    memcpy(job->request + *used, bytes.data, bytes.size);
    const struct span copy = span_of(job->request + *used, bytes.size);
    *used += bytes.size;
    return copy;
}

bool content_is_json(struct span type)
{
    static const struct span json = SPAN("application/json");
    if (type.size < json.size || !span_equal_ignoring_case(span_of(type.data, json.size), json))
        return false;
    return type.size == json.size || type.data[json.size] == ';' || type.data[json.size] == ' ';
}

size_t job_fill(struct job *job, const struct http_request *request, struct span path)
{
    size_t used = 0;
    job->method = request->method;
    job->path = job_copy(job, &used, path);
    job->query = job_copy(job, &used, request->query);
    job->body = job_copy(job, &used, request->body);
    return used;
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

static_assert(JOB_HEADERS_BYTES + ORIGIN_BYTES_MAX + 64 + 512 <= JOB_HEAD_BYTES,
    "a head has room for the lines of worker and origin, and for what every head has");

/* The head goes right in front of the body, in the space that is kept for it. */
static void job_complete(struct routes *routes, const struct job *job)
{
    char bytes[JOB_HEAD_BYTES], origin[ORIGIN_BYTES_MAX + 64],
        lines[JOB_HEADERS_BYTES + ORIGIN_BYTES_MAX + 64];
    struct text head = text_in(bytes, sizeof bytes), more = text_in(lines, sizeof lines);
    text_add(&more, span_of(job->headers, job->headers_size));
    text_add(&more, cors_headers(routes, job->to.cors, origin));
    http_reply_head(&head, job->status, job->type == NULL ? SPAN_NONE : span_from_string(job->type),
        text_span(&more), job->body_size, job->to.closing);
    invariant(!more.overflow && !head.overflow);
    char *start = job->response + JOB_HEAD_BYTES - head.size;
    memcpy(start, bytes, head.size);
    edge_complete_bytes(routes->edge, job->to.token, span_of(start, head.size + job->body_size));
}

static void job_returned(struct routes *routes, struct job *job)
{
    if (job->check_failed)
        routes_watch_failed_of(routes, &job->client);
    if (job->kind == JOB_PUSH)
        push_job_returned(routes, job);
    else if (job->result == JOB_NOT_YET)
        wait_add(routes, job);
    else
        job_complete(routes, job);
    job_shares_give(&routes->jobs, job);
}

void orders_turn(struct routes *routes, uint64_t now_ms)
{
    struct link_note note;
    while (link_take_back(routes->shared.link, routes->index, &note)) {
        if (note.job != NULL) {
            job_returned(routes, note.job);
            continue;
        }
        push_note(routes, note.ticket, note.user);
        waits_news(routes, note.ticket, now_ms);
    }
    waits_turn(routes, now_ms);
}
