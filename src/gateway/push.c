/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/push.h"

#include "api/catalog.h"
#include "api/handover.h"
#include "base/metrics.h"
#include "config/config.h"
#include "edge/websocket.h"
#include "funnel/room/room.h"
#include "funnel/room/rooms.h"
#include "funnel/session_rules.h"
#include "funnel/token.h"
#include "gateway/exchange.h"
#include "gateway/job_shares.h"
#include "gateway/jobs.h"
#include "gateway/push_items.h"
#include "gateway/push_subscription.h"
#include "gateway/push_table.h"
#include "gateway/reply.h"
#include "gateway/routes_state.h"
#include "gateway/settings.h"
#include "gateway/waiting_room.h"

enum {
    VISITS_BUSY = 128, /* sockets a turn while there is something to tell them: 1 to 2 ms */
    VISITS_IDLE = 64,  /* and otherwise, to see which sessions are over */
    AWAY_PAUSE_MS = 1000,
    ROOM_MS = 500, /* between two looks at where people in waiting rooms stand */
    FRAME_BYTES = JOB_RESPONSE_BYTES + 4096,
};

struct push {
    struct push_table table;
    struct push_items items;
    uint32_t sockets_max;    /* the rest of the connections is for buying */
    uint32_t hand;           /* the slot to visit next */
    uint32_t visits_left;    /* until all have heard of the last change */
    uint8_t round;           /* of telling everybody everything */
    uint64_t tick_ms;        /* next look at items and sessions */
    uint64_t pause_until_ms; /* the database is away */
    uint64_t room_ms;        /* next look at waiting rooms */
    uint32_t room_sockets;   /* that follow one */
};

GAUGE(metric_sockets, "stampede_push_sockets", "Push connections that are open.");
COUNTER(metric_messages, "stampede_push_messages_total", "Messages sent on push connections.");
enum cut { CUT_SLOW, CUT_SILENT, CUT_BAD_MESSAGE, CUT_SESSION, CUT_TOO_MANY, CUTS };
#define CUT_METRIC(cut, text) \
    [cut] = METRIC_ROW(METRIC_COUNTER, "stampede_push_cut_total", "reason=\"" text "\"", \
        "Push connections that were ended here, by reason.")
static struct metric metric_cut[CUTS] = {
    CUT_METRIC(CUT_SLOW, "slow"),
    CUT_METRIC(CUT_SILENT, "silent"),
    CUT_METRIC(CUT_BAD_MESSAGE, "bad-message"),
    CUT_METRIC(CUT_SESSION, "session"),
    CUT_METRIC(CUT_TOO_MANY, "too-many"),
};
METRIC_TABLE(metric_cut);

static uint32_t slots_of(uint64_t connections)
{
    return (uint32_t)connections + EDGE_TURNED_AWAY_SLOTS;
}

size_t push_bytes(uint64_t connections)
{
    return sizeof(struct push) + push_table_bytes(slots_of(connections));
}

struct push *push_create(struct arena *arena, uint64_t connections)
{
    struct push *push = arena_take(arena, 1, sizeof *push);
    push_table_create(&push->table, arena, slots_of(connections));
    push->sockets_max = (uint32_t)(connections - connections / 4);
    return push;
}

/* ---- sockets come and go ---- */

static void watched_drop(struct push *push, struct push_socket *socket)
{
    for (uint32_t i = 0; i < socket->watched_count; i++)
        push_items_unwatch(&push->items, socket->watched[i]);
    socket->watched_count = 0;
}

static void socket_drop(struct push *push, struct push_socket *socket)
{
    watched_drop(push, socket);
    push->room_sockets -= socket->room != 0;
    push_table_remove(&push->table, socket);
    metric_add(&metric_sockets, UINT64_MAX); /* one less: cells of a gauge may go below zero */
}

/* Tells the client why, counts it, and removes the socket. */
static void socket_end(
    struct routes *routes, struct push_socket *socket, enum cut cut, int code, const char *reason)
{
    edge_socket_close(routes->edge, socket->socket, code, reason);
    metric_add(&metric_cut[cut], 1);
    socket_drop(routes->push, socket);
}

static void watch_set(struct routes *routes, struct push_socket *socket, const struct push_watch *watch)
{
    struct push *push = routes->push;
    const struct catalog *catalog = handover_get(routes->shared.catalog);
    watched_drop(push, socket);
    for (uint32_t i = 0; i < watch->count; i++) {
        if (catalog == NULL || catalog_item_find(catalog, watch->items[i]) == NULL)
            continue; /* a draft may be preheated, but it is nobody's business */
        const int place = push_items_watch(&push->items, routes->door.board, watch->items[i],
            socket->channel, edge_now_ms(routes->edge));
        if (place >= 0)
            socket->watched[socket->watched_count++] = (uint8_t)place;
    }
    socket->items_seen = push->items.changes;
}

bool push_is_full(const struct routes *routes)
{
    return routes->push->table.count >= routes->push->sockets_max;
}

void push_add(struct exchange *exchange, const struct session *session,
    const struct push_watch *watch, sale_id room)
{
    struct routes *routes = exchange->routes;
    struct push *push = routes->push;
    struct push_socket *oldest = push_table_excess(&push->table, session->user);
    if (oldest != NULL)
        socket_end(routes, oldest, CUT_TOO_MANY, WEBSOCKET_POLICY, "too many connections of one user");
    const uint64_t id = edge_socket(exchange->to.token);
    struct push_socket *socket = push_table_add(&push->table, edge_socket_slot(id), id, session->user);
    socket->expires_s = session->expires_s;
    socket->channel = session->channel;
    socket->issued_s = session->issued_s;
    socket->key_mark = session->key_mark;
    socket->round = push->round;
    socket->room = room;
    push->room_sockets += room != 0;
    watch_set(routes, socket, watch);
    push_table_want(&push->table, socket, PUSH_STATE, 0);
    metric_add(&metric_sockets, 1);
}

void push_gone(struct routes *routes, uint64_t id, enum edge_socket_end end)
{
    struct push *push = routes->push;
    struct push_socket *socket = push_table_find(&push->table, edge_socket_slot(id), id);
    if (socket == NULL)
        return;
    if (end == EDGE_SOCKET_SLOW)
        metric_add(&metric_cut[CUT_SLOW], 1);
    else if (end == EDGE_SOCKET_SILENT)
        metric_add(&metric_cut[CUT_SILENT], 1);
    else if (end == EDGE_SOCKET_BAD_FRAME)
        metric_add(&metric_cut[CUT_BAD_MESSAGE], 1);
    socket_drop(push, socket);
}

/* ---- messages out ---- */

/* Space for a payload, with space for the head in front of it; the head is written last. */
static struct text frame_begin(void)
{
    static _Thread_local char bytes[FRAME_BYTES];
    return text_in(bytes + WEBSOCKET_HEAD_MAX, sizeof bytes - WEBSOCKET_HEAD_MAX);
}

static void frame_send(struct routes *routes, const struct push_socket *socket, const struct text *payload)
{
    char head[WEBSOCKET_HEAD_MAX];
    invariant(!payload->overflow);
    const size_t size = websocket_head(head, WEBSOCKET_TEXT, payload->size);
    char *frame = payload->data - size;
    memcpy(frame, head, size);
    if (edge_socket_send(routes->edge, socket->socket, span_of(frame, size + payload->size)))
        metric_add(&metric_messages, 1);
}

static void items_member(const struct push *push, const struct push_socket *socket, struct text *out)
{
    text_literal(out, "\"items\":[");
    for (uint32_t i = 0; i < socket->watched_count; i++) {
        text_string(out, i == 0 ? "" : ",");
        push_item_json(&push->items.items[socket->watched[i]], out);
    }
    text_literal(out, "]}");
}

static void state_send(struct routes *routes, struct push_socket *socket, struct span orders)
{
    struct text payload = frame_begin();
    text_format(&payload, "{\"type\":\"state\",\"now_ms\":%llu,",
        (unsigned long long)edge_now_ms(routes->edge));
    text_add(&payload, orders);
    text_literal(&payload, ",");
    items_member(routes->push, socket, &payload);
    socket->items_seen = routes->push->items.changes;
    frame_send(routes, socket, &payload);
}

static void order_send(struct routes *routes, struct push_socket *socket, const struct job *job)
{
    struct text payload = frame_begin();
    text_add(&payload, job_response_body(job));
    socket->told = job->ticket;
    socket->told_seen = job->version_seen;
    frame_send(routes, socket, &payload);
}

/* Sends the newest state of each item that has changed since the last message to this socket. */
static void changes_send(struct routes *routes, struct push_socket *socket)
{
    const struct push_items *items = &routes->push->items;
    for (uint32_t i = 0; i < socket->watched_count; i++) {
        const struct push_item *item = &items->items[socket->watched[i]];
        if ((int32_t)(item->changed_at - socket->items_seen) > 0
            && edge_socket_send(routes->edge, socket->socket, span_of(item->frame, item->frame_bytes)))
            metric_add(&metric_messages, 1);
    }
    socket->items_seen = items->changes;
}

/* Sends the place of its user in the waiting room and the operator's message, if one has changed. */
static void room_send(struct routes *routes, struct push_socket *socket)
{
    const struct catalog *catalog = handover_get(routes->shared.catalog);
    const struct catalog_sale *sale = catalog == NULL ? NULL : catalog_sale_find(catalog, socket->room);
    struct room_standing standing;
    if (sale == NULL || !sale->waiting_room)
        return;
    rooms_look(routes->shared.rooms, socket->room, socket->user, &standing);
    const uint64_t place = (uint64_t)(standing.beacon_until_ms != 0) << 48
        | (uint64_t)standing.state << 40 | (uint64_t)room_odds(&standing.view, standing.ahead) << 32
        | standing.ahead;
    const uint64_t now = place ^ (uint64_t)sale->message_mark << 24;
    if (standing.state <= ROOM_AGAIN || now == socket->room_told)
        return;
    socket->room_told = now;
    struct text payload = frame_begin();
    text_literal(&payload, "{\"type\":\"room\",");
    room_standing_members(routes, sale, &standing, &payload);
    text_literal(&payload, "}");
    frame_send(routes, socket, &payload);
}

/* ---- messages in ---- */

void push_message(struct routes *routes, uint64_t id, struct span text)
{
    struct push *push = routes->push;
    struct push_socket *socket = push_table_find(&push->table, edge_socket_slot(id), id);
    struct push_watch watch;
    if (socket == NULL)
        return;
    if (!push_watch_message(text, &watch)) {
        socket_end(routes, socket, CUT_BAD_MESSAGE, WEBSOCKET_POLICY,
            "only {\"watch\":[1 to 8 items]} is allowed");
        return;
    }
    watch_set(routes, socket, &watch);
    struct text payload = frame_begin();
    text_literal(&payload, "{\"type\":\"items\",");
    items_member(push, socket, &payload);
    frame_send(routes, socket, &payload);
}

/* ---- news ---- */

void push_note(struct routes *routes, ticket_number ticket, user_id user)
{
    struct push *push = routes->push;
    if (push->table.count == 0)
        return;
    if (ticket == 0) { /* it is not known which orders changed: every socket gets all of its state */
        push->round++;
        push->visits_left = push->table.used;
        return;
    }
    struct push_socket *socket = user == 0 ? NULL : push_table_newest(&push->table, user);
    for (; socket != NULL; socket = push_table_older(&push->table, socket))
        push_table_want(&push->table, socket, PUSH_ORDER, ticket);
}

static void job_start(struct routes *routes, struct push_socket *socket)
{
    struct job *job = job_take(routes,
        &(struct job_wish){
            .kind = JOB_PUSH, .share = SHARE_PUSH, .user = socket->user, .to = { .token = socket->socket } });
    invariant(job != NULL && socket->need != PUSH_NOTHING);
    job->ticket = socket->need == PUSH_ORDER ? socket->ticket : 0;
    job->version_seen = job->ticket != 0 && job->ticket == socket->told ? socket->told_seen : 0;
    socket->need = PUSH_NOTHING;
    job_hand_in(routes, job);
}

static void jobs_start(struct routes *routes, uint64_t now_ms)
{
    struct push *push = routes->push;
    while (push->table.line_first != 0 && job_shares_free(&routes->jobs, SHARE_PUSH) > 0
        && now_ms >= push->pause_until_ms)
        job_start(routes, push_table_ask(&push->table));
}

void push_job_returned(struct routes *routes, const struct job *job)
{
    struct push *push = routes->push;
    struct push_socket *socket =
        push_table_find(&push->table, edge_socket_slot(job->to.token), job->to.token);
    if (socket == NULL)
        return;
    if (job->result == JOB_NOT_YET) {
        push->pause_until_ms = edge_now_ms(routes->edge) + AWAY_PAUSE_MS;
        push_table_want(&push->table, socket, job->ticket != 0 ? PUSH_ORDER : PUSH_STATE, job->ticket);
    } else if (job->body_size > 0) {
        if (job->ticket != 0)
            order_send(routes, socket, job);
        else
            state_send(routes, socket, job_response_body(job));
    }
    push_table_answered(&push->table, socket);
}

static void visit(struct routes *routes, struct push_socket *socket, uint64_t now_ms)
{
    struct push *push = routes->push;
    if (now_ms / 1000 >= socket->expires_s) {
        socket_end(routes, socket, CUT_SESSION, WEBSOCKET_POLICY, "the session has expired");
        return;
    }
    const struct session session = {
        .user = socket->user, .issued_s = socket->issued_s, .key_mark = socket->key_mark
    };
    if (!session_counts(&routes->settings->sessions, routes->door.bans, &session)) {
        socket_end(routes, socket, CUT_SESSION, WEBSOCKET_POLICY, "the session was ended");
        return;
    }
    if (socket->round != push->round) {
        socket->round = push->round;
        push_table_want(&push->table, socket, PUSH_STATE, 0);
    }
    if (socket->items_seen != push->items.changes)
        changes_send(routes, socket);
    if (socket->room != 0)
        room_send(routes, socket);
}

static void visits_make(struct routes *routes, uint32_t count, uint64_t now_ms)
{
    struct push *push = routes->push;
    for (uint32_t i = 0; i < count; i++) {
        push->hand = push->hand + 1 < push->table.used ? push->hand + 1 : 0;
        struct push_socket *socket = &push->table.sockets[push->hand];
        if (socket->socket != 0)
            visit(routes, socket, now_ms);
        push->visits_left -= push->visits_left > 0;
    }
}

static void tick(struct routes *routes, uint64_t now_ms)
{
    struct push *push = routes->push;
    push->tick_ms = now_ms + EDGE_TICK_MS;
    if (push_items_look(&push->items, routes->door.board, now_ms))
        push->visits_left = push->table.used;
    if (push->room_sockets > 0 && now_ms >= push->room_ms && push->visits_left == 0) {
        push->room_ms = now_ms + ROOM_MS;
        push->visits_left = push->table.used;
    }
    if (push->visits_left == 0)
        visits_make(routes, VISITS_IDLE, now_ms);
}

bool push_turn(struct routes *routes, uint64_t now_ms)
{
    struct push *push = routes->push;
    if (push->table.count == 0)
        return false;
    if (now_ms >= push->tick_ms)
        tick(routes, now_ms);
    if (push->visits_left > 0)
        visits_make(routes, push->visits_left < VISITS_BUSY ? push->visits_left : VISITS_BUSY, now_ms);
    jobs_start(routes, now_ms);
    return push->visits_left > 0;
}
