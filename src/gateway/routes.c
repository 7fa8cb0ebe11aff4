/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/routes.h"

#include "api/handover.h"
#include "api/key_ring.h"
#include "api/public_routes.h"
#include "api/sale_meters.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "config/test_mode.h"
#include "contract/inventory.h"
#include "edge/static_files.h"
#include "funnel/anomaly/watch.h"
#include "funnel/item_rules.h"
#include "funnel/limits.h"
#include "gateway/admin_gate.h"
#include "gateway/anomaly_notes.h"
#include "gateway/answers.h"
#include "gateway/asks.h"
#include "gateway/channel_gate.h"
#include "gateway/console_gate.h"
#include "gateway/console_password.h"
#include "gateway/exchange.h"
#include "gateway/human_check.h"
#include "gateway/human_shared.h"
#include "gateway/intents.h"
#include "gateway/item_page.h"
#include "gateway/job_shares.h"
#include "gateway/jobs.h"
#include "gateway/media_upload.h"
#include "gateway/order_requests.h"
#include "gateway/password_checks.h"
#include "gateway/period_limits.h"
#include "gateway/public_requests.h"
#include "gateway/purchase_trace.h"
#include "gateway/push.h"
#include "gateway/repeat.h"
#include "gateway/reply.h"
#include "gateway/request_shape.h"
#include "gateway/request_times.h"
#include "gateway/routes_state.h"
#include "gateway/settings.h"
#include "gateway/waiting_room.h"
#include "gateway/waits.h"

#include <string.h>

/* Marks in the spare bits of a token while it travels as the inventory's tag. */
static_assert((int)ORIGINS_MAX == (int)ANSWER_ORIGIN, "an origin fits its flags");
static_assert((ANSWER_ORIGIN | ANSWER_CHINESE) == 0x1f, "flags fit below TAG_ASK");

#define ANSWER_METRIC(answer, label, problem) \
    [ANSWER_##answer] = { .name = sizeof(label) > 1 ? "stampede_purchases_total" : NULL, \
        .labels = "answer=\"" label "\"", \
        .help = "Purchases that reached the inventory, by its answer.", \
        .kind = METRIC_COUNTER },
static struct metric answer_metrics[ANSWERS] = { ANSWER_LIST(ANSWER_METRIC) };
METRIC_TABLE(answer_metrics);

void answer_count(struct routes *routes, item_id item, enum answer answer)
{
    if (answer_metrics[answer].name != NULL)
        metric_add(&answer_metrics[answer], 1);
    sale_meter_count(routes->meters, routes->index, item, DOOR_REASONS + answer);
}

/* "/v1/items/12/buy" → 12, on the hot path. Numbers that can't be an item's are left to the
 * others to refuse. */
static inline bool purchase_path(struct span path, uint32_t *item)
{
    static const char prefix[10] = "/v1/items/";
    const size_t frame = sizeof prefix + 4, digits_max = 7;
    if (path.size <= frame || path.size > frame + digits_max
        || memcmp(path.data, prefix, sizeof prefix) != 0
        || memcmp(path.data + path.size - 4, "/buy", 4) != 0 || path.data[sizeof prefix] == '0')
        return false;
    uint32_t number = 0;
    for (size_t at = sizeof prefix; at < path.size - 4; at++) {
        const unsigned digit = (unsigned)(unsigned char)path.data[at] - '0';
        if (digit > 9)
            return false;
        number = number * 10 + digit;
    }
    *item = number;
    return true;
}

static bool routes_overlaps(void *self, const struct http_request *request)
{
    uint32_t item;
    (void)self;
    return request->method == HTTP_POST && purchase_path(request->path, &item);
}

/* One place asks the door, so that it is built into this function. */
static inline enum edge_verdict purchase(struct routes *routes, const struct http_request *request,
    uint64_t token, bool closing, uint8_t flags, item_id item, bool intent, struct text *out,
    struct edge_reply *reply)
{
    struct door_result result;
    /* Member by member: the compiler keeps them in registers then, instead of copying pairs. */
    const struct door_request asked = { .now_ms = edge_now_ms(routes->edge),
        .item = item,
        .client = request->client,
        .authorization = { request->authorization.data, request->authorization.size },
        .pass = { request->pass.data, request->pass.size },
        .idempotency_key = { request->idempotency_key.data, request->idempotency_key.size },
        .body = { request->body.data, request->body.size } };
    const enum door_reason reason = funnel_door(&routes->door, &asked, &result);
    sale_meter_count(routes->meters, routes->index, item, reason);
    routes_watch(routes, request, &result, item);
    if (reason != DOOR_GO) {
        reply->answer = answer_from_door(&result);
        reply->answer.flags = flags;
        routes->refused = true;
        if (reason == DOOR_SOLD_OUT && item_rule_of(routes->shared.rules, item).offers)
            reply->answer.b = item;
        if (__builtin_expect(result.repeat && !intent, 0))
            return repeat_ask(routes, token, item, &result, reply);
        return EDGE_ANSWERED;
    }
    if (__builtin_expect(intent || result.deduct_on_payment, 0)) {
        struct exchange exchange = { .routes = routes,
            .request = request,
            .to = { token, flags & ANSWER_ORIGIN, closing, (flags & ANSWER_CHINESE) != 0 },
            .out = out,
            .reply = reply };
        return purchase_on_payment(&exchange, &result, item, intent);
    }
    if (__builtin_expect(board_limit_group(routes->door.board, item) != 0, 0)
        && period_limit_concerns(routes, item, result.user))
        return period_limit_ask(routes, token, flags, item, &result, reply);
    struct inventory_request *slot = routes->port->ops->reserve(routes->port);
    if (slot == NULL) {
        door_give_back(&routes->door, &result);
        answer_count(routes, item, ANSWER_TOO_POPULAR);
        reply->answer = (struct edge_answer){ .kind = PROBLEM_TOO_POPULAR, .flags = flags };
        return EDGE_ANSWERED;
    }
    slot->tag = purchase_tag(token, flags);
    slot->command.type = COMMAND_RESERVE;
    struct command_reserve *wish = &slot->command.reserve;
    wish->user = result.user; /* member by member: the door's questions are left out, as a rule */
    wish->key = result.key;
    wish->pending_from = 0;
    wish->item = item;
    wish->quantity = result.quantity;
    wish->channel = result.channel;
    wish->flags = 0;
    wish->asks_door =
        __builtin_expect(routes->door.shared, 0) && door_asks(&routes->door, &result, &wish->door);
    wish->window_ms = 0;
    purchase_probe_begin(&routes->probe, slot->tag);
    if (__builtin_expect(routes->shared.traces != NULL, 0))
        purchase_trace_begin(routes, request, wish, slot->tag);
    routes->port->ops->commit(routes->port);
    return EDGE_DEFERRED;
}

static enum edge_verdict route_item(struct exchange *exchange, struct span rest)
{
    uint32_t item;
    const enum http_method method = exchange->request->method;
    if (!span_take_u32(&rest, &item))
        return reply_problem(exchange, PROBLEM_UNKNOWN_ITEM, NULL);
    if (rest.size == 0)
        return method == HTTP_GET ? public_item(exchange, item)
                                  : reply_problem(exchange, PROBLEM_METHOD, NULL);
    if (span_equal(rest, SPAN("/pass")))
        return method == HTTP_POST ? public_pass(exchange, item)
                                   : reply_problem(exchange, PROBLEM_METHOD, NULL);
    if (span_equal(rest, SPAN("/challenge")))
        return method == HTTP_GET ? public_challenge(exchange, item)
                                  : reply_problem(exchange, PROBLEM_METHOD, NULL);
    if (span_equal(rest, SPAN("/mine")))
        return method == HTTP_GET ? orders_mine(exchange, item)
                                  : reply_problem(exchange, PROBLEM_METHOD, NULL);
    if (span_equal(rest, SPAN("/buy")) || span_equal(rest, SPAN("/intent")))
        return reply_problem(exchange, method == HTTP_POST ? PROBLEM_UNKNOWN_ITEM : PROBLEM_METHOD, NULL);
    return reply_problem(exchange, PROBLEM_NOT_FOUND, NULL);
}

static enum edge_verdict route_get(struct exchange *exchange, struct span path)
{
    uint32_t number;
    if (span_equal(path, SPAN("/time")))
        return public_time(exchange);
    if (span_equal(path, SPAN("/shop")))
        return public_shop(exchange);
    if (span_equal(path, SPAN("/sales")))
        return public_sales(exchange);
    if (span_equal(path, SPAN("/orders")))
        return orders_list(exchange);
    if (span_equal(path, SPAN("/push")))
        return push_request(exchange);
    if (span_starts_with(path, SPAN("/sales/"))) {
        struct span rest = span_of(path.data + 7, path.size - 7);
        if (!span_take_u32(&rest, &number))
            return reply_problem(exchange, PROBLEM_UNKNOWN_SALE, NULL);
        if (span_equal(rest, SPAN("/draw")) || span_equal(rest, SPAN("/draw/arrivals")))
            return room_draw_request(exchange, number, rest.size > 5);
        if (rest.size > 0)
            return reply_problem(exchange, PROBLEM_UNKNOWN_SALE, NULL);
        return public_sale(exchange, number);
    }
    if (span_equal(path, SPAN("/sessions")))
        return public_today(exchange);
    if (span_starts_with(path, SPAN("/tickets/")))
        return orders_view(exchange, span_of(path.data + 9, path.size - 9), true);
    if (span_starts_with(path, SPAN("/orders/")))
        return orders_view(exchange, span_of(path.data + 8, path.size - 8), false);
    return reply_problem(exchange, PROBLEM_NOT_FOUND, NULL);
}

/* "/sales/12/room" → 12 */
static bool room_path(struct span path, sale_id *sale)
{
    static const struct span prefix = SPAN("/sales/");
    if (!span_starts_with(path, prefix))
        return false;
    path = span_of(path.data + prefix.size, path.size - prefix.size);
    return span_take_u32(&path, sale) && span_equal(path, SPAN("/room"));
}

static enum edge_verdict route_public(struct exchange *exchange, struct span path)
{
    const enum http_method method = exchange->request->method;
    sale_id sale;
    if (method == HTTP_GET && !routes_query_taken(exchange, path))
        return EDGE_REPLIED;
    if (public_route_find(method, path).known != PUBLIC_UNKNOWN)
        return orders_public(exchange, path);
    if (span_starts_with(path, SPAN("/items/")))
        return route_item(exchange, span_of(path.data + 7, path.size - 7));
    if (room_path(path, &sale))
        return room_request(exchange, sale);
    if (span_equal(path, SPAN("/session")))
        return method == HTTP_POST ? public_session(exchange)
                                   : reply_problem(exchange, PROBLEM_METHOD, NULL);
    if (method != HTTP_GET)
        return reply_problem(exchange, PROBLEM_METHOD, NULL);
    return route_get(exchange, path);
}

static enum edge_verdict route_static(struct exchange *exchange)
{
    switch (static_files_find(exchange->routes->shared.files, exchange->request,
        edge_is_secure(exchange->routes->edge), exchange->to.closing, exchange->out, exchange->reply)) {
    case STATIC_REPLIED:
        return EDGE_REPLIED;
    case STATIC_WRONG_METHOD:
        return reply_problem(exchange, PROBLEM_METHOD, NULL);
    case STATIC_NOT_FOUND:
        break;
    }
    return reply_problem(exchange, PROBLEM_NOT_FOUND, NULL);
}

static enum edge_verdict route_page(struct exchange *exchange, struct span path)
{
    enum edge_verdict verdict;
    if (item_page_request(exchange, path, &verdict))
        return verdict;
    if (span_equal(path, SPAN("/pages.txt")) && exchange->request->method == HTTP_GET)
        return pages_list(exchange);
    return route_static(exchange);
}

/* A request counts against the rate of its address as a purchase does; a page counts less. False: refused. */
static bool address_let_in(struct exchange *exchange, bool page)
{
    struct routes *routes = exchange->routes;
    const struct address *client = exchange->request->client;
    const uint64_t now_ms = edge_now_ms(routes->edge);
    const uint32_t wait_ms = page ? limits_page(routes->shared.limits, client, now_ms)
                                  : limits_address(routes->shared.limits, client, now_ms);
    if (wait_ms == 0)
        return true;
    routes_watch_too_fast(exchange);
    reply_too_fast(exchange, wait_ms);
    return false;
}

static enum edge_verdict route_slow(struct exchange *exchange)
{
    const struct span path = exchange->request->path;
    if (exchange->request->method == HTTP_OPTIONS)
        return routes_options(exchange);
    const bool callback = orders_callback(NULL, exchange->request);
    if (callback || span_starts_with(path, SPAN("/sandbox/v1/")))
        return orders_outside(exchange, callback);
    if (span_starts_with(path, SPAN("/v1/")))
        return !routes_address_banned(exchange) && address_let_in(exchange, false)
            ? route_public(exchange, span_of(path.data + 3, path.size - 3))
            : EDGE_REPLIED;
    if (span_starts_with(path, SPAN("/admin/v1/")))
        return admin_request(exchange, span_of(path.data + 9, path.size - 9));
    if (span_starts_with(path, SPAN("/channel/v1/")))
        return channel_request(exchange, span_of(path.data + 11, path.size - 11));
    if (span_equal(path, SPAN("/console/session")))
        return console_session_request(exchange);
    if (span_starts_with(path, SPAN("/media/")))
        return address_let_in(exchange, true)
            ? media_request(exchange, span_of(path.data + 7, path.size - 7))
            : EDGE_REPLIED;
    const bool live = span_equal(path, SPAN("/livez"));
    const bool ready = span_equal(path, SPAN("/readyz"));
    const bool metrics = span_equal(path, SPAN("/metrics"));
    const bool page = !metrics && !span_equal(path, SPAN("/openapi.json")); /* these two are long */
    if (!live && !ready && !address_let_in(exchange, page))
        return EDGE_REPLIED;
    if (!live && !ready && !metrics)
        return route_page(exchange, path);
    if (exchange->request->method != HTTP_GET)
        return reply_problem(exchange, PROBLEM_METHOD, NULL);
    if (live)
        return reply_bytes(
            exchange, 200, SPAN("text/plain"), SPAN("Cache-Control: no-store\r\n"), SPAN("ok\n"));
    return ready ? public_ready(exchange) : public_metrics(exchange);
}

static uint32_t routes_body_max(void *self, const struct http_request *request)
{
    const struct span path = request->path;
    uint32_t item;
    if (span_starts_with(path, SPAN("/admin/v1/")) || orders_callback(self, request))
        return HTTP_BODY_MAX;
    if (purchase_path(path, &item) || intent_path(path, &item))
        return EDGE_BODY_ANY;
    if (!span_starts_with(path, SPAN("/v1/")))
        return JOB_BODY_SMALL;
    const struct public_found route =
        public_route_find(request->method, span_of(path.data + 3, path.size - 3));
    return route.body_max != 0 ? route.body_max : JOB_BODY_SMALL;
}

/* Out of line: a purchase does not pay for its stack. */
static __attribute__((noinline)) enum edge_verdict other_request(struct routes *routes,
    const struct http_request *request, const struct reply_to *to, struct text *out,
    struct edge_reply *reply)
{
    struct exchange exchange = { routes, request, *to, out, reply, false };
    struct http_request as_get;
    if (request->method == HTTP_HEAD) { /* as for GET; the edge cuts the body off */
        as_get = *request;
        as_get.method = HTTP_GET;
        exchange.request = &as_get;
        exchange.head_only = true;
    }
    const enum edge_verdict verdict = route_slow(&exchange);
    request_timed(routes, request, verdict, reply);
    return verdict;
}

static enum edge_verdict routes_request(void *self, const struct http_request *request,
    uint64_t token, bool closing, struct text *out, struct edge_reply *reply)
{
    struct routes *routes = self;
    uint32_t item;
    const uint8_t cors = __builtin_expect(request->origin.data == NULL, 1)
        ? 0
        : settings_origin(routes->settings, request->origin);
    const bool chinese = language_is_chinese(request->accept_language);
    bool intent = false;
    if (__builtin_expect(request->method == HTTP_POST
                && (purchase_path(request->path, &item) || (intent = intent_path(request->path, &item))),
            1))
        return purchase(routes, request, token, closing, chinese ? cors | ANSWER_CHINESE : cors,
            item, intent, out, reply);
    const struct reply_to to = { token, cors, closing, chinese };
    return other_request(routes, request, &to, out, reply);
}

static void routes_render(void *self, const struct edge_answer *answer, bool closing, struct text *out)
{
    struct routes *routes = self;
    if (__builtin_expect(answer->flags == 0 && !answer_has_offers(answer), 1))
        answer_render(answer, &routes->keys, SPAN_NONE, closing, out);
    else
        reply_render(routes, answer, closing, out);
}

void routes_collect(struct routes *routes)
{
    const struct inventory_answer *answer;
    while ((answer = routes->port->ops->collect(routes->port)) != NULL) {
        if ((answer->tag & TAG_ASK) != 0) {
            asks_answered(routes, (uint32_t)answer->tag, &answer->outcome);
            continue;
        }
        answer_count(routes, answer->outcome.item, answer->outcome.answer);
        purchase_probe_end(&routes->probe, answer->tag);
        if (__builtin_expect(routes->shared.traces != NULL, 0))
            purchase_trace_answered(routes, answer);
        struct edge_answer told = answer_from_outcome(&answer->outcome);
        told.flags = (uint8_t)(answer->tag >> TAG_FLAGS_SHIFT);
        if (told.kind == PROBLEM_SOLD_OUT
            && item_rule_of(routes->shared.rules, answer->outcome.item).offers)
            told.b = answer->outcome.item;
        edge_complete(routes->edge, answer->tag & TAG_TOKEN, &told);
    }
}

bool routes_turn(struct routes *routes, uint64_t now_ms)
{
    /* The values of the last turn are not used any more: count the turn before loading new ones. */
    reader_turn_done(routes->shared.turns, routes->index);
    routes->settings = handover_get(routes->shared.settings);
    routes->admin = key_ring_now(routes->shared.key_ring);
    routes->door.sessions = &routes->settings->sessions;
    routes->door.bans = handover_get(routes->shared.bans);
    if (routes->watch != NULL)
        watch_turn(routes->watch);
    funnel_keys_turn(&routes->keys, now_ms);
    jobs_turn(routes, now_ms);
    console_passwords_turn(routes);
    const bool more = push_turn(routes, now_ms);
    routes->port->ops->flush(routes->port);
    if (routes->refused && --routes->sample_in == 0)
        purchase_sample(routes);
    routes->refused = false;
    return more;
}

static void routes_message(void *self, uint64_t socket, struct span text)
{
    push_message(self, socket, text);
}

static void routes_gone(void *self, uint64_t socket, enum edge_socket_end end)
{
    push_gone(self, socket, end);
}

struct edge_handler routes_handler(struct routes *routes)
{
    return (struct edge_handler){ .self = routes,
        .overlaps = routes_overlaps,
        .favours = orders_callback,
        .body_max = routes_body_max,
        .request = routes_request,
        .render = routes_render,
        .ready = reply_ready,
        .refuse = reply_refuse,
        .timed = request_time_note,
        .message = routes_message,
        .gone = routes_gone };
}

enum status routes_open(struct routes **out, const struct routes_shared *shared, uint32_t index,
    struct inventory_port *port)
{
    struct routes *routes = *out = arena_object(sizeof *routes,
        asks_bytes() + waits_bytes() + traced_bytes() + job_shares_bytes()
            + push_bytes(shared->config->connections_max));
    if (routes == NULL)
        return STATUS_FULL;
    routes->shared = *shared;
    routes->index = index;
    routes->port = port;
    routes->test_mode = test_mode_on(shared->config);
    routes->keys = *shared->keys;
    routes->door = (struct door){ .board = shared->inventory->board,
        .keys = &routes->keys,
        .channels = shared->channels,
        .switches = shared->switches,
        .limits = shared->limits,
        .rules = shared->rules,
        .spent = shared->human->spent,
        .shared = shared->inventory_shared };
    routes->human = human_shared_edge(shared->human, shared->config, &routes->keys, index);
    routes->settings = handover_get(shared->settings);
    routes->admin = key_ring_now(shared->key_ring);
    routes->watch = shared->watches[index];
    routes->meters = shared->meters;
    routes->sample_in = 1;
    funnel_keys_turn(&routes->keys, clock_now_ms());
    random_start(&routes->random);
    routes->asks = asks_create(&routes->arena);
    routes->waits = waits_create(&routes->arena);
    routes->traced = traced_create(&routes->arena);
    routes->push = push_create(&routes->arena, shared->config->connections_max);
    job_shares_create(&routes->jobs, &routes->arena);
    return STATUS_OK;
}

void routes_edge(struct routes *routes, struct edge *edge)
{
    routes->edge = edge;
    password_checks_wake(routes->shared.passwords, routes->index, edge_wake(edge));
}

void routes_close(struct routes *routes)
{
    if (routes == NULL)
        return;
    explicit_bzero(&routes->keys, sizeof routes->keys);
    arena_object_free(routes);
}
