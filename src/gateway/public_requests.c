/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/public_requests.c: what the public may read, and how one gets in: time, sales, items,
 * session, pass. */
#include "gateway/public_requests.h"

#include "api/catalog.h"
#include "api/customers.h"
#include "api/handover.h"
#include "api/link.h"
#include "api/query.h"
#include "base/metrics.h"
#include "config/config.h"
#include "contract/inventory.h"
#include "funnel/jwt.h"
#include "funnel/room/rooms.h"
#include "funnel/spent.h"
#include "funnel/switches.h"
#include "funnel/token.h"
#include "gateway/anomaly_notes.h"
#include "gateway/asks.h"
#include "gateway/exchange.h"
#include "gateway/human_check.h"
#include "gateway/human_shared.h"
#include "gateway/reply.h"
#include "gateway/routes_state.h"
#include "gateway/sale_series.h"
#include "gateway/sessions.h"
#include "gateway/settings.h"
#include "gateway/waiting_room.h"

enum { PAGE_BYTES = 48 * 1024, BODY_BYTES = PAGE_BYTES + 32 * 1024, METRICS_BYTES = 256 * 1024 };

/* One buffer per edge thread for bodies that are too long for the stack. */
static _Thread_local char page[METRICS_BYTES];

enum edge_verdict public_time(struct exchange *exchange)
{
    struct text body = text_in(page, BODY_BYTES);
    text_literal(&body, "{\"now_ms\":");
    text_u64(&body, edge_now_ms(exchange->routes->edge));
    if (exchange->routes->test_mode)
        text_literal(&body, ",\"test\":true");
    text_literal(&body, "}");
    return reply_json(exchange, 200, &body, false);
}

enum edge_verdict public_shop(struct exchange *exchange)
{
    const struct config *config = exchange->routes->shared.config;
    struct text body = text_in(page, BODY_BYTES);
    text_format(&body, "{\"guests\":%s,\"pass_early_ms\":%llu,\"challenge_ms\":%llu",
        exchange->routes->settings->guests ? "true" : "false", (unsigned long long)config->pass_early_ms,
        (unsigned long long)config->human_challenge_s * 1000);
    if (config->login_url[0] != 0)
        text_format(&body, ",\"login_url\":\"%s\"", config->login_url);
    text_literal(&body, "}");
    return reply_json(exchange, 200, &body, true);
}

/* ?after=N: where the page before ended. False: answered with what is wrong. */
static bool query_after(struct exchange *exchange, uint32_t *after)
{
    const struct span value = query_value(exchange->request->query, "after");
    *after = 0;
    if (value.data == NULL || span_to_u32(value, after) == STATUS_OK)
        return true;
    reply_problem(exchange, PROBLEM_BAD_QUERY, "after must be a whole number.");
    return false;
}

/* ?ended=1&after=TIME.NUMBER. False: answered with what is wrong. */
static bool query_sales(struct exchange *exchange, struct catalog_wish *wish)
{
    const struct span ended = query_value(exchange->request->query, "ended");
    struct span after = query_value(exchange->request->query, "after"), time;
    *wish = (struct catalog_wish){ .ended = span_equal(ended, SPAN("1")) };
    if (ended.data != NULL && !wish->ended && !span_equal(ended, SPAN("0"))) {
        reply_problem(exchange, PROBLEM_BAD_QUERY, "ended must be 0 or 1.");
        return false;
    }
    if (after.data == NULL
        || (span_take_until(&after, '.', &time) && span_to_u64(time, &wish->after_ms) == STATUS_OK
            && span_to_u32(after, &wish->after) == STATUS_OK))
        return true;
    reply_problem(exchange, PROBLEM_BAD_QUERY, "after must be the next of the previous page.");
    return false;
}

enum edge_verdict public_sales(struct exchange *exchange)
{
    struct routes *routes = exchange->routes;
    const struct catalog *catalog = handover_get(routes->shared.catalog);
    struct text body = text_in(page, BODY_BYTES);
    struct catalog_wish wish;
    if (!query_sales(exchange, &wish))
        return EDGE_REPLIED;
    if (catalog == NULL)
        return reply_problem(
            exchange, PROBLEM_UNAVAILABLE, "The catalog is being read. Try again shortly.");
    catalog_render_sales(catalog, routes->door.board, exchange_channel(exchange), &wish,
        edge_now_ms(routes->edge), PAGE_BYTES, &body);
    return reply_json(exchange, 200, &body, true);
}

enum edge_verdict public_today(struct exchange *exchange)
{
    struct routes *routes = exchange->routes;
    const struct catalog *catalog = handover_get(routes->shared.catalog);
    struct text body = text_in(page, METRICS_BYTES);
    if (catalog == NULL)
        return reply_problem(exchange, PROBLEM_UNAVAILABLE, NULL);
    catalog_render_sessions(catalog, routes->door.board, edge_now_ms(routes->edge), &body);
    return reply_json(exchange, 200, &body, true);
}

/* The catalog does not list it, or there is no catalog yet. */
static enum edge_verdict not_listed(
    struct exchange *exchange, const struct catalog *catalog, enum problem problem)
{
    return reply_problem(exchange, catalog == NULL ? PROBLEM_UNAVAILABLE : problem, NULL);
}

enum edge_verdict public_sale(struct exchange *exchange, sale_id id)
{
    struct routes *routes = exchange->routes;
    const struct catalog *catalog = handover_get(routes->shared.catalog);
    struct text body = text_in(page, BODY_BYTES);
    uint32_t after;
    if (!query_after(exchange, &after))
        return EDGE_REPLIED;
    const struct catalog_sale *sale = catalog == NULL ? NULL : catalog_sale_find(catalog, id);
    if (sale == NULL)
        return not_listed(exchange, catalog, PROBLEM_UNKNOWN_SALE);
    catalog_render_sale(catalog, routes->door.board, exchange_channel(exchange), sale, after,
        edge_now_ms(routes->edge), PAGE_BYTES, &body);
    return reply_json(exchange, 200, &body, true);
}

enum edge_verdict public_item(struct exchange *exchange, item_id id)
{
    struct routes *routes = exchange->routes;
    const struct catalog *catalog = handover_get(routes->shared.catalog);
    struct text body = text_in(page, BODY_BYTES);
    const struct catalog_item *item = catalog == NULL ? NULL : catalog_item_find(catalog, id);
    if (item == NULL)
        return not_listed(exchange, catalog, PROBLEM_UNKNOWN_ITEM);
    catalog_render_item(catalog, routes->door.board, exchange_channel(exchange), item, true,
        edge_now_ms(routes->edge), &body);
    return reply_json(exchange, 200, &body, true);
}

/* Rounded up: nothing lives shorter than it was set to. */
static uint32_t expiry_s(uint64_t now_ms, uint64_t life_s)
{
    return (uint32_t)((now_ms + life_s * 1000 + 999) / 1000);
}

enum { TOKEN_DETAIL_BYTES = 96 };
static const char *token_detail(enum jwt_answer answer, char detail[TOKEN_DETAIL_BYTES])
{
    struct text text = text_in(detail, TOKEN_DETAIL_BYTES - 1);
    text_literal(&text, "The shop's token was refused: ");
    text_string(&text, jwt_answer_name(answer));
    text_literal(&text, ".");
    detail[text.size] = 0;
    return detail;
}

static bool token_refuse(struct exchange *exchange, enum jwt_answer answer)
{
    char detail[TOKEN_DETAIL_BYTES];
    routes_watch_failed(exchange);
    reply_problem(exchange, PROBLEM_TOKEN_INVALID, token_detail(answer, detail));
    return false;
}

/* A token with a jti opens one session. */
struct token_mark {
    uint64_t mark; /* 0: it has none */
    uint32_t over_s;
};
/* False: refused, and told so. */
static bool token_mark_make(
    struct exchange *exchange, const struct jwt_claims *claims, struct token_mark *mark)
{
    const struct routes *routes = exchange->routes;
    const uint64_t now_s = edge_now_ms(routes->edge) / 1000;
    const uint64_t over_s = claims->expires_ms / 1000 + 1 + routes->settings->rules.leeway_s;
    const struct hash_key key = routes->keys.spent;
    *mark = (struct token_mark){ 0 };
    if (claims->id_bytes == 0)
        return true;
    if (over_s > now_s + SPENT_LIFE_MAX_S)
        return token_refuse(exchange, JWT_TOO_LONG);
    mark->mark =
        hash_siphash_pair(key, claims->key_mark, hash_siphash(key, claims->id, claims->id_bytes));
    mark->mark += mark->mark == 0;
    mark->over_s = (uint32_t)over_s;
    return true;
}

/* False: refused, and told so. With other gateways the inventory is asked later (session_ask). */
static bool token_spend(struct exchange *exchange, const struct token_mark *mark)
{
    const struct routes *routes = exchange->routes;
    if (mark->mark == 0 || routes->shared.inventory_shared)
        return true;
    switch (spent_take(routes->shared.human->tokens, mark->mark, mark->over_s,
        (uint32_t)(edge_now_ms(routes->edge) / 1000))) {
    case SPENT_FRESH:
        return true;
    case SPENT_AGAIN:
        return token_refuse(exchange, JWT_USED);
    case SPENT_FULL:
        break;
    }
    reply_problem(exchange, PROBLEM_TOO_POPULAR, NULL);
    return false;
}

/* The session of the user that the shop's token names. It lives no longer than the token, but long enough to
 * buy and pay. False: refused, and told so. */
static bool session_of_token(struct exchange *exchange, struct session *session, struct token_mark *mark)
{
    const struct config *config = exchange->routes->shared.config;
    const struct settings *settings = exchange->routes->settings;
    const uint64_t now_ms = edge_now_ms(exchange->routes->edge);
    struct jwt_claims claims;
    struct span token;
    if (settings->jwt == NULL || !token_bearer(exchange->request->authorization, &token)) {
        routes_watch_failed(exchange);
        reply_problem(exchange, PROBLEM_TOKEN_INVALID, NULL);
        return false;
    }
    const enum jwt_answer answer = jwt_verify(settings->jwt, &settings->rules, token, now_ms, &claims);
    if (answer != JWT_OK)
        return token_refuse(exchange, answer);
    if (claims.channel_bytes > 0
        && !door_channel_find(exchange->routes->shared.channels,
            span_of(claims.channel, claims.channel_bytes), &session->channel))
        return token_refuse(exchange, JWT_BAD_CHANNEL);
    session->user =
        funnel_user_id(&exchange->routes->keys, span_of(claims.subject, claims.subject_bytes));
    if (routes_banned(exchange, session->user) || !token_mark_make(exchange, &claims, mark)
        || !token_spend(exchange, mark))
        return false;
    if (!customers_note(exchange->routes->shared.customers, exchange->routes->index, session->user,
            span_of(claims.subject, claims.subject_bytes))) {
        reply_problem(exchange, PROBLEM_TOO_POPULAR, NULL);
        return false;
    }
    const uint32_t least_s = expiry_s(now_ms, config->session_life_min_s);
    const uint64_t token_s = claims.expires_ms / 1000;
    const uint64_t wanted_s = token_s > least_s ? token_s : least_s;
    if (wanted_s < session->expires_s)
        session->expires_s = (uint32_t)wanted_s;
    session->key_mark = claims.key_mark;
    return true;
}

/* False: refused, and told so. */
static bool session_of_guest(struct exchange *exchange, struct session *session)
{
    uint64_t name[2];
    if (!exchange->routes->settings->guests) {
        reply_problem(
            exchange, PROBLEM_SESSION_REQUIRED, "Send the shop's token as Authorization: Bearer.");
        return false;
    }
    random_secret(name, sizeof name);
    session->user = funnel_user_id(&exchange->routes->keys, span_of(name, sizeof name));
    session->guest = true;
    return true;
}

enum { SESSION_BODY_BYTES = TOKEN_CHARS + CHANNEL_NAME_MAX + 160 };
static void session_write(const struct routes *routes, const struct session *session, struct text *body)
{
    char token[TOKEN_CHARS];
    session_issue(&routes->keys, session, token);
    text_literal(body, "{\"session\":\"");
    text_add(body, span_of(token, sizeof token));
    text_literal(body, "\",\"user\":\"");
    text_hex64(body, session->user);
    text_format(body, "\",\"expires_ms\":%llu,\"guest\":%s,\"channel\":\"",
        (unsigned long long)session->expires_s * 1000, session->guest ? "true" : "false");
    text_add(body, door_channel_name(routes->shared.channels, session->channel));
    text_literal(body, "\"}");
}

/* What the inventory says of a token that opens one session. */
static void token_spent(struct routes *routes, const struct ask *ask, const struct outcome *outcome)
{
    char bytes[SESSION_BODY_BYTES], detail[TOKEN_DETAIL_BYTES];
    struct text body = text_in(bytes, sizeof bytes);
    if (outcome->answer == ANSWER_DONE) {
        session_write(routes, &ask->session, &body);
        complete_json(routes, &ask->to, 201, &body);
    } else if (outcome->answer == ANSWER_UNCHANGED) {
        routes_watch_failed_of(routes, &ask->client);
        complete_refusal(routes, &ask->to,
            &(struct problem_answer){
                .problem = PROBLEM_TOKEN_INVALID, .detail = token_detail(JWT_USED, detail) });
    } else {
        complete_problem(routes, &ask->to, PROBLEM_UNAVAILABLE);
    }
}

static enum edge_verdict session_ask(
    struct exchange *exchange, const struct session *session, const struct token_mark *mark)
{
    const struct command command = { .type = COMMAND_ASK_SPEND,
        .spend = { .mark = mark->mark, .until_ms = mark->over_s * 1000ull } };
    struct ask *ask = ask_send(exchange, &command, token_spent);
    if (ask == NULL)
        return EDGE_REPLIED;
    ask->session = *session;
    ask->client = *exchange->request->client;
    return EDGE_DEFERRED;
}

enum edge_verdict public_session(struct exchange *exchange)
{
    struct routes *routes = exchange->routes;
    char bytes[SESSION_BODY_BYTES];
    struct text body = text_in(bytes, sizeof bytes);
    const uint64_t now_ms = edge_now_ms(routes->edge);
    struct token_mark mark = { 0 };
    struct session session = { .issued_s = (uint32_t)(now_ms / 1000),
        .expires_s = expiry_s(now_ms, routes->shared.config->session_life_s) };
    if (sessions_refuse_new(routes)) /* before the expensive signature check */
        return reply_problem(exchange, PROBLEM_TOO_POPULAR, NULL);
    if (exchange->request->authorization.data == NULL ? !session_of_guest(exchange, &session)
                                                      : !session_of_token(exchange, &session, &mark))
        return EDGE_REPLIED;
    if (mark.mark != 0 && routes->shared.inventory_shared)
        return session_ask(exchange, &session, &mark);
    session_write(routes, &session, &body);
    return reply_json(exchange, 201, &body, false);
}

enum { PASS_BODY_BYTES = TOKEN_CHARS + 64 };
static void pass_write(const struct routes *routes, const struct pass *pass, struct text *body)
{
    char token[TOKEN_CHARS];
    pass_issue(&routes->keys, pass, token);
    text_literal(body, "{\"pass\":\"");
    text_add(body, span_of(token, sizeof token));
    text_format(body, "\",\"expires_ms\":%llu}", (unsigned long long)pass->expires_s * 1000);
}

enum edge_verdict pass_reply(struct exchange *exchange, const struct pass *pass)
{
    char bytes[PASS_BODY_BYTES];
    struct text body = text_in(bytes, sizeof bytes);
    routes_watch_seen(exchange->routes, exchange->request->client, pass->user);
    pass_write(exchange->routes, pass, &body);
    return reply_json(exchange, 201, &body, false);
}

void pass_complete(struct routes *routes, const struct reply_to *to, const struct address *client,
    const struct pass *pass)
{
    char bytes[PASS_BODY_BYTES];
    struct text body = text_in(bytes, sizeof bytes);
    routes_watch_seen(routes, client, pass->user);
    pass_write(routes, pass, &body);
    complete_json(routes, to, 201, &body);
}

/* A pass is given to every session that meets what the sale asks, from shortly before the start on. A user
 * who has bought needs one too, to get the answer again. */
enum edge_verdict public_pass(struct exchange *exchange, item_id item)
{
    struct routes *routes = exchange->routes;
    const struct catalog *catalog = handover_get(routes->shared.catalog);
    struct board_update view;
    struct session session;
    if (!session_of(exchange, &session) || routes_banned(exchange, session.user))
        return EDGE_REPLIED;
    const user_id user = session.user;
    /* A user who may have bought gets a pass all the same, but only to hear of it. */
    const bool bought = board_may_have_bought(routes->door.board, item, user);
    bool repeat_only = sessions_refuse_new(routes);
    if (repeat_only && !bought)
        return reply_problem(exchange, PROBLEM_TOO_POPULAR, NULL);
    if (catalog == NULL)
        return reply_problem(exchange, PROBLEM_UNAVAILABLE, NULL);
    /* A draft may be preheated, but it is not for sale. */
    const struct catalog_item *found = catalog_item_find(catalog, item);
    const struct catalog_sale *sale = found == NULL ? NULL : catalog_sale_of(catalog, found);
    if (sale == NULL || !board_read(routes->door.board, item, &view))
        return reply_problem(exchange, PROBLEM_UNKNOWN_ITEM, NULL);
    const uint64_t now_ms = edge_now_ms(routes->edge);
    if (view.gate == GATE_SCHEDULED && now_ms + routes->shared.config->pass_early_ms < view.start_ms)
        return reply_answer(
            exchange, (struct edge_answer){ .kind = PROBLEM_NOT_STARTED, .b = view.start_ms });
    if (sale->waiting_room && switch_value(routes->shared.switches, SWITCH_BYPASS_WAITING_ROOM) == 0) {
        if (!bought && !room_lets_in(exchange, sale, user))
            return EDGE_REPLIED;
        repeat_only = repeat_only || (bought && !room_has_admitted(routes, sale, user));
    }
    const struct pass pass = { .user = user,
        .item = item,
        .channel = session.channel,
        .expires_s = expiry_s(now_ms, routes->shared.config->pass_life_s),
        .nonce = (uint32_t)random_next(&routes->random) & PASS_NONCE_MAX,
        .once = sale->pass_once,
        .repeat_only = repeat_only };
    return human_pass(exchange, sale, &pass);
}

static bool rooms_are_ready(const struct rooms *rooms, const struct catalog *catalog, uint64_t now_ms)
{
    for (const struct catalog_sale *sale = catalog_sale_next(catalog, 0); sale != NULL;
         sale = catalog_sale_next(catalog, sale->id))
        if (sale->waiting_room && now_ms < sale->end_ms && !rooms_is_ready(rooms, sale->id))
            return false;
    return true;
}

enum edge_verdict public_ready(struct exchange *exchange)
{
    static const char *const stopped[] = { [WINS_RUNNING] = NULL,
        [WINS_NO_DISK] = "the disk is full: wins are stopped",
        [WINS_ORDERS_LAG] = "orders lag behind: wins are stopped",
        [WINS_FULL] = "data.tickets_max is reached: wins are stopped",
        [WINS_FAILED] = "the journal has failed",
        [WINS_NO_FOLLOWER] = "the follower is away: wins are stopped" };
    struct routes *routes = exchange->routes;
    const struct catalog *catalog = handover_get(routes->shared.catalog);
    struct worker_health health;
    link_health(routes->shared.link, edge_now_ms(routes->edge), &health);
    const char *reason =
        stopped[atomic_load_explicit(&routes->door.board->wins_stopped, memory_order_relaxed)];
    if (atomic_load(routes->shared.draining))
        reason = "draining";
    else if (inventory_failed(routes->shared.inventory))
        reason = stopped[WINS_FAILED];
    else if (health.stopped)
        reason = "the database is damaged";
    else if (reason == stopped[WINS_NO_FOLLOWER])
        (void)reason; /* commits wait for it, too: the database is there */
    else if (health.away)
        reason = "the database is unavailable";
    else if (health.reason != NULL)
        reason = health.reason;
    else if (catalog == NULL)
        reason = "starting";
    else if (!rooms_are_ready(routes->shared.rooms, catalog, edge_now_ms(routes->edge)))
        reason = "the draws of waiting rooms are being recomputed";
    if (reason == NULL)
        return reply_bytes(
            exchange, 200, SPAN("text/plain"), SPAN("Cache-Control: no-store\r\n"), SPAN("ok\n"));
    struct text body = text_in(page, BODY_BYTES);
    text_string(&body, reason);
    text_literal(&body, "\n");
    return reply_bytes(exchange, 503, SPAN("text/plain"),
        SPAN("Cache-Control: no-store\r\nRetry-After: 2\r\n"), text_span(&body));
}

enum edge_verdict public_metrics(struct exchange *exchange)
{
    struct text body = text_in(page, METRICS_BYTES);
    metrics_render(&body);
    sale_series_render(exchange->routes, &body);
    return reply_bytes(exchange, 200, SPAN("text/plain; version=0.0.4"),
        SPAN("Cache-Control: no-store\r\n"), text_span(&body));
}
