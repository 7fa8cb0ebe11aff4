/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/waiting_room.c: the waiting room, as users see it: enter, look, and check the draw. Entering
 * waits for the inventory's durable answer; everything else is read from shared tables. */
#include "gateway/waiting_room.h"

#include "api/catalog.h"
#include "api/handover.h"
#include "api/query.h"
#include "config/config.h"
#include "funnel/room/room.h"
#include "funnel/room/rooms.h"
#include "gateway/anomaly_notes.h"
#include "gateway/asks.h"
#include "gateway/exchange.h"
#include "gateway/reply.h"
#include "gateway/routes_state.h"
#include "gateway/sessions.h"

enum {
    ARRIVALS_PAGE = ROOM_MARKS_MAX, /* marks in one answer */
    ARRIVALS_BYTES = ARRIVALS_PAGE * 16 + 512,
    BEACON_TEXT_MAX = 2 * BEACON_NAME_CHARACTERS_MAX + BEACON_NAME_BYTES_MAX, /* as JSON */
    MESSAGE_TEXT_MAX = 2 * ROOM_MESSAGE_CHARACTERS_MAX + ROOM_MESSAGE_BYTES_MAX,
    ROOM_BODY_BYTES = 512 + BEACON_TEXT_MAX + MESSAGE_TEXT_MAX,
    DRAW_BODY_BYTES = ROOM_BODY_BYTES + 512 + 2 * BEACON_VALUE_BYTES_MAX,
};
static_assert((int)ROOM_BODY_BYTES <= (int)COMPLETE_BODY_MAX, "where somebody stands fits an answer");

static const char again_text[] =
    "The server has just started and is recomputing the places. You keep your place. Try "
    "again shortly.";

/* A sale that is public and has a room; NULL: refused, and told so. */
static const struct catalog_sale *room_sale(struct exchange *exchange, sale_id id)
{
    const struct catalog *catalog = handover_get(exchange->routes->shared.catalog);
    const struct catalog_sale *sale = catalog == NULL ? NULL : catalog_sale_find(catalog, id);
    if (sale != NULL && sale->waiting_room)
        return sale;
    reply_problem(exchange,
        catalog == NULL    ? PROBLEM_UNAVAILABLE
            : sale == NULL ? PROBLEM_UNKNOWN_SALE
                           : PROBLEM_NO_ROOM,
        NULL);
    return NULL;
}

static void beacon_name_member(const struct catalog_sale *sale, struct text *out)
{
    if (sale == NULL || sale->beacon_name.size == 0)
        return;
    text_literal(out, ",\"beacon_name\":");
    text_add(out, sale->beacon_name);
}

/* What the operator tells those who wait. */
static void message_member(const struct catalog_sale *sale, struct text *out)
{
    if (sale == NULL || sale->message.size == 0)
        return;
    text_literal(out, ",\"message\":");
    text_add(out, sale->message);
}

static void members(struct routes *routes, sale_id id, uint64_t start_ms,
    const struct room_standing *standing, struct text *out)
{
    const struct catalog *catalog = handover_get(routes->shared.catalog);
    const uint64_t wait_ms = room_wait_ms(standing, start_ms, edge_now_ms(routes->edge));
    text_format(out, "\"sale\":%u,\"start_ms\":%llu,", id, (unsigned long long)start_ms);
    room_members(standing, wait_ms, random_next(&routes->random), out);
    if (standing->state == ROOM_ADMITTED)
        text_format(out, ",\"turn_ms\":%llu", (unsigned long long)routes->shared.config->room_turn_ms);
    const struct catalog_sale *sale = catalog == NULL ? NULL : catalog_sale_find(catalog, id);
    beacon_name_member(sale, out);
    message_member(sale, out);
}

void room_standing_members(struct routes *routes, const struct catalog_sale *sale,
    const struct room_standing *standing, struct text *out)
{
    members(routes, sale->id, sale->start_ms, standing, out);
}

static enum edge_verdict standing_reply(struct exchange *exchange, const struct catalog_sale *sale,
    const struct room_standing *standing, int status)
{
    char bytes[ROOM_BODY_BYTES];
    struct text body = text_in(bytes, sizeof bytes);
    text_literal(&body, "{");
    room_standing_members(exchange->routes, sale, standing, &body);
    text_literal(&body, "}");
    return reply_json(exchange, status, &body, false);
}

static enum edge_verdict room_not_open(struct exchange *exchange, uint64_t opens_ms)
{
    char bytes[64];
    struct text more = text_in(bytes, sizeof bytes);
    text_format(&more, ",\"opens_ms\":%llu", (unsigned long long)opens_ms);
    return reply_refusal(exchange,
        &(struct problem_answer){ .problem = PROBLEM_ROOM_NOT_OPEN, .members = text_span(&more) });
}

static enum problem entry_problem(enum answer answer)
{
    return answer == ANSWER_UNKNOWN_SALE ? PROBLEM_ROOM_NOT_OPEN
        : answer == ANSWER_ENDED         ? PROBLEM_ENDED
                                         : PROBLEM_UNAVAILABLE;
}

static void room_entered(struct routes *routes, const struct ask *ask, const struct outcome *outcome)
{
    char bytes[ROOM_BODY_BYTES];
    struct text body = text_in(bytes, sizeof bytes);
    struct room_standing standing;
    if (outcome->answer != ANSWER_DONE && outcome->answer != ANSWER_UNCHANGED) {
        complete_problem(routes, &ask->to, entry_problem(outcome->answer));
        return;
    }
    rooms_look(routes->shared.rooms, ask->room, ask->user, &standing);
    invariant(standing.state != ROOM_ABSENT && standing.number == outcome->number);
    if (standing.state == ROOM_AGAIN) {
        complete_problem(routes, &ask->to, PROBLEM_UNAVAILABLE);
        return;
    }
    text_literal(&body, "{");
    members(routes, ask->room, ask->start_ms, &standing, &body);
    text_literal(&body, "}");
    complete_json(routes, &ask->to, 202, &body);
}

/* A place that is new, or was lost from sight: the inventory knows. */
static enum edge_verdict room_enter(
    struct exchange *exchange, const struct catalog_sale *sale, user_id user)
{
    const struct routes *routes = exchange->routes;
    const uint64_t opens_ms = room_opens_ms(sale->start_ms, routes->shared.config->room_open_ms);
    const uint64_t now_ms = edge_now_ms(routes->edge);
    if (sessions_refuse_new(routes))
        return reply_problem(exchange, PROBLEM_TOO_POPULAR, NULL);
    const bool opened = catalog_sale_opened(routes->shared.inventory->board, sale);
    if (!rooms_take_in(routes->shared.rooms, sale->id, opened, now_ms, opens_ms))
        return room_not_open(exchange, opens_ms);
    if (now_ms >= sale->end_ms)
        return reply_problem(exchange, PROBLEM_ENDED, NULL);
    const struct command command = { .type = COMMAND_ARRIVE,
        .arrive = { .sale = sale->id, .user = user } };
    struct ask *ask = ask_send(exchange, &command, room_entered);
    if (ask == NULL)
        return EDGE_REPLIED;
    ask->room = sale->id;
    ask->user = user;
    ask->start_ms = sale->start_ms;
    return EDGE_DEFERRED;
}

enum edge_verdict room_request(struct exchange *exchange, sale_id id)
{
    const enum http_method method = exchange->request->method;
    struct room_standing standing;
    if (method != HTTP_POST && method != HTTP_GET)
        return reply_problem(exchange, PROBLEM_METHOD, NULL);
    const user_id user = session_user(exchange);
    if (user == 0 || routes_banned(exchange, user))
        return EDGE_REPLIED;
    const struct catalog_sale *sale = room_sale(exchange, id);
    if (sale == NULL)
        return EDGE_REPLIED;
    if (method == HTTP_POST && exchange->request->body.size > 0)
        return reply_problem(exchange, PROBLEM_BAD_BODY, "This request takes no body.");
    rooms_look(exchange->routes->shared.rooms, id, user, &standing);
    if (standing.state == ROOM_AGAIN)
        return reply_problem(exchange, PROBLEM_UNAVAILABLE, again_text);
    if (standing.state != ROOM_ABSENT)
        return standing_reply(exchange, sale, &standing, method == HTTP_POST ? 202 : 200);
    return method == HTTP_POST ? room_enter(exchange, sale, user)
                               : reply_problem(exchange, PROBLEM_NOT_IN_ROOM, NULL);
}

bool room_has_admitted(struct routes *routes, const struct catalog_sale *sale, user_id user)
{
    struct room_standing standing;
    rooms_look(routes->shared.rooms, sale->id, user, &standing);
    return standing.state == ROOM_ADMITTED;
}

bool room_lets_in(struct exchange *exchange, const struct catalog_sale *sale, user_id user)
{
    struct routes *routes = exchange->routes;
    struct room_standing standing;
    char more_bytes[ROOM_BODY_BYTES], line[64];
    rooms_look(routes->shared.rooms, sale->id, user, &standing);
    if (standing.state == ROOM_ADMITTED)
        return true;
    if (standing.state <= ROOM_AGAIN) {
        const bool absent = standing.state == ROOM_ABSENT;
        reply_problem(exchange, absent ? PROBLEM_NOT_IN_ROOM : PROBLEM_UNAVAILABLE,
            absent ? NULL : again_text);
        return false;
    }
    struct text more = text_in(more_bytes, sizeof more_bytes);
    struct text head = text_in(line, sizeof line);
    const uint64_t wait_ms = room_wait_ms(&standing, sale->start_ms, edge_now_ms(routes->edge));
    const uint64_t random = random_next(&routes->random);
    text_literal(&more, ",");
    room_members(&standing, wait_ms, random, &more);
    text_format(&head, "Retry-After: %u\r\n", room_poll_after_ms(&standing, wait_ms, random) / 1000 + 1);
    reply_refusal(exchange,
        &(struct problem_answer){
            .problem = PROBLEM_NOT_YOUR_TURN, .members = text_span(&more), .headers = text_span(&head) });
    return false;
}

/* ---- the draw, for everybody to check ---- */

/* The beacon that was announced, and its value once the draw has used it. */
static void beacon_members(
    const struct rooms *rooms, const struct catalog_sale *sale, bool drawn, struct text *out)
{
    const struct span value = rooms_beacon_value(rooms, sale->id);
    const uint64_t until_ms = drawn ? 0 : rooms_beacon_until_ms(rooms, sale->id);
    if (sale->beacon_name.size == 0)
        return;
    beacon_name_member(sale, out);
    text_format(out, ",\"beacon_state\":\"%s\"",
        drawn               ? value.size > 0 ? "used" : "missed"
            : until_ms != 0 ? "waiting"
                            : "announced");
    if (until_ms != 0)
        text_format(out, ",\"beacon_until_ms\":%llu", (unsigned long long)until_ms);
    text_literal(out, ",\"beacon_value\":");
    if (drawn && value.size > 0)
        text_json(out, value);
    else
        text_literal(out, "null");
}

static void draw_json(struct routes *routes, const struct catalog_sale *sale, struct text *out)
{
    uint8_t secret[ROOM_SECRET_BYTES], commitment[HASH_SHA256_BYTES];
    struct board_room_update room;
    struct room_draw draw;
    struct room_chain chain;
    room_secret(&routes->keys, sale->id, secret);
    room_commitment(sale->id, secret, commitment);
    const bool drawn = rooms_draw(routes->shared.rooms, sale->id, &draw, &chain);
    const bool known = board_read_room(routes->door.board, sale->id, &room);
    text_format(out,
        "{\"sale\":%u,\"version\":1,\"state\":\"%s\",\"start_ms\":%llu,\"arrived\":%u,", sale->id,
        drawn ? "drawn" : "open", (unsigned long long)sale->start_ms, known ? room.arrived : 0);
    text_literal(out, "\"commitment\":\"");
    text_hex(out, span_of(commitment, sizeof commitment));
    text_literal(out, "\"");
    if (drawn) {
        text_format(out, ",\"count\":%u,\"arrivals_hash\":\"", draw.count);
        text_hex(out, span_of(chain.hash, sizeof chain.hash));
        text_literal(out, "\",\"secret\":\"");
        text_hex(out, span_of(secret, sizeof secret));
        text_format(out, "\",\"beacon\":\"%s\",\"key\":\"", draw.beacon);
        text_hex(out, span_of(draw.key, sizeof draw.key));
        text_format(out, "\",\"head\":%u", room.head);
    }
    beacon_members(routes->shared.rooms, sale, drawn, out);
    text_literal(out, "}");
    explicit_bzero(secret, sizeof secret);
}

/* ?after=CURSOR: where the page before ended. */
static enum edge_verdict arrivals_reply(struct exchange *exchange, const struct catalog_sale *sale)
{
    static _Thread_local char bytes[ARRIVALS_BYTES], mark_bytes[ARRIVALS_PAGE * 16];
    struct routes *routes = exchange->routes;
    const struct span after = query_value(exchange->request->query, "after");
    uint8_t secret[ROOM_SECRET_BYTES];
    struct room_draw draw;
    struct room_chain chain;
    uint64_t cursor = 0;
    uint32_t first = 0;
    if (after.data != NULL && span_to_u64(after, &cursor) != STATUS_OK)
        return reply_problem(exchange, PROBLEM_BAD_QUERY, "after must be a whole number.");
    if (!rooms_draw(routes->shared.rooms, sale->id, &draw, &chain))
        return reply_problem(exchange, PROBLEM_NOT_STARTED, "The list is published after the draw.");
    struct text body = text_in(bytes, sizeof bytes), marks = text_in(mark_bytes, sizeof mark_bytes);
    room_secret(&routes->keys, sale->id, secret);
    const uint32_t count = rooms_marks(
        routes->shared.rooms, sale->id, secret, draw.count, &cursor, ARRIVALS_PAGE, &first, &marks);
    explicit_bzero(secret, sizeof secret);
    text_format(&body, "{\"sale\":%u,\"first\":%u,\"count\":%u,\"marks\":\"", sale->id, first, count);
    text_add(&body, text_span(&marks));
    text_literal(&body, "\"");
    if (cursor != UINT64_MAX)
        text_format(&body, ",\"next\":%llu", (unsigned long long)cursor);
    text_literal(&body, "}");
    return reply_json(exchange, 200, &body, true);
}

enum edge_verdict room_draw_request(struct exchange *exchange, sale_id id, bool arrivals)
{
    char bytes[DRAW_BODY_BYTES];
    struct text body = text_in(bytes, sizeof bytes);
    const struct catalog_sale *sale = room_sale(exchange, id);
    if (sale == NULL)
        return EDGE_REPLIED;
    if (arrivals)
        return arrivals_reply(exchange, sale);
    draw_json(exchange->routes, sale, &body);
    return reply_json(exchange, 200, &body, true);
}
