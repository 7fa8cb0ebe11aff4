/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. A peer is a server that we know. It is wanted while it is in the map, or while it is a seed
 * and no peer of the map is connected: so a client that has lost everybody begins again with its seeds.
 * A peer that is not wanted goes as soon as nothing waits for its answers.
 *
 * The map is asked for when somebody doubts it (MOVED, READONLY, a lost connection, …), but not more
 * often than each MAP_REST_MS; again and again while it is not whole; and now and then. Whoever is
 * connected is asked, one after the other, since the one that is wrong about the map may be the one
 * that was asked. */
#include "redis/client.h"

#include "base/arena.h"
#include "base/log.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    PEERS_MAX = REDIS_NODES_MAX + REDIS_SEEDS_MAX,
    HOPS_MAX = 3,
    MAP_REST_MS = 100,
    MAP_RETRY_MS = 500, /* after an error */
    MAP_LACKS_MS = 100, /* while a master is missing: a replica may have taken over */
    MAP_EVERY_MS = 10 * 1000,
    PASSED_KEEP_MS = 10 * 1000, /* a server that has no slot yet, after something was passed on to it */
    EVENTS_MAX = 64,
    LOOK_AGAIN_MS = 1000, /* there was no room to ask */
};
enum mark { MARK_OWNERS, MARK_MAP, MARK_MEMORY, MARK_TIME };

struct peer {
    struct redis_client *client;
    struct redis_node node;
    struct redis_connection *connection; /* NULL: the place is free */
    bool seed, mapped;
    uint64_t kept_until_ms;
    struct redis_look look;
    uint64_t look_due_ms, time_asked_ms; /* the latter by the owner's clock */
};

struct redis_client {
    struct arena arena; /* first: arena_object */
    struct redis_client_config config;
    struct redis_client_owner owner;
    int epoll_fd;
    struct peer peers[PEERS_MAX];
    struct redis_slots slots, read; /* the map, and the one being read */
    struct peer *peer_of[REDIS_NODES_MAX];
    bool plain; /* a server without cluster has all slots */
    bool map_asked;
    uint64_t now_ms, map_due_ms, map_last_ms;
    uint32_t asked_last; /* which peer */
    uint32_t in_flight;
    uint32_t in_flight_max;
};

/* ---- peers ---- */

static void peer_answered(void *self, const struct redis_request *request, enum redis_answer answer,
    const struct redis_value *value);
static void peer_informed(void *self, const struct redis_info *info);
static void peer_left(void *self);

static bool peer_is_up(const struct peer *peer)
{
    return peer != NULL && peer->connection != NULL && redis_connection_info(peer->connection) != NULL;
}

/* NULL: there are too many, or there is no memory. */
static struct peer *peer_find(struct redis_client *client, const struct redis_node *node)
{
    struct peer *spare = NULL;
    for (uint32_t i = 0; i < PEERS_MAX; i++) {
        struct peer *peer = &client->peers[i];
        if (peer->connection == NULL)
            spare = spare == NULL ? peer : spare;
        else if (redis_node_equal(&peer->node, node))
            return peer;
    }
    if (spare == NULL)
        return NULL;
    *spare = (struct peer){ .client = client, .node = *node };
    const struct redis_connection_owner owner = {
        .self = spare, .answered = peer_answered, .informed = peer_informed, .left = peer_left
    };
    if (redis_connection_open(&spare->connection, node, &client->config.login,
            &client->config.limits, &owner, client->epoll_fd)
        != STATUS_OK)
        return NULL;
    return spare;
}

/* After the map has changed. */
static void peers_match(struct redis_client *client)
{
    for (uint32_t i = 0; i < PEERS_MAX; i++)
        client->peers[i].mapped = false;
    for (uint32_t i = 0; i < client->slots.count; i++) {
        client->peer_of[i] = peer_find(client, &client->slots.nodes[i]);
        if (client->peer_of[i] != NULL)
            client->peer_of[i]->mapped = true;
    }
}

static void peers_tend(struct redis_client *client)
{
    bool usable = false;
    for (uint32_t i = 0; i < client->slots.count; i++)
        usable = usable || peer_is_up(client->peer_of[i]);
    for (uint32_t i = 0; !usable && i < client->config.seed_count; i++) {
        struct peer *peer = peer_find(client, &client->config.seeds[i]);
        if (peer != NULL)
            peer->seed = true;
    }
    for (uint32_t i = 0; i < PEERS_MAX; i++) {
        struct peer *peer = &client->peers[i];
        const bool wanted =
            peer->mapped || (peer->seed && !usable) || client->now_ms < peer->kept_until_ms;
        if (peer->connection == NULL || wanted || redis_connection_in_flight(peer->connection) > 0)
            continue;
        redis_connection_close(peer->connection);
        peer->connection = NULL;
    }
}

/* ---- open and close ---- */

enum status redis_client_open(struct redis_client **opened,
    const struct redis_client_config *config, const struct redis_client_owner *owner)
{
    *opened = NULL;
    if (config->seed_count == 0 || config->seed_count > REDIS_SEEDS_MAX)
        return STATUS_BAD_INPUT;
    struct redis_client *client = arena_object(sizeof *client, 0);
    if (client == NULL)
        return STATUS_FULL;
    client->config = *config;
    client->owner = *owner;
    client->in_flight_max =
        config->limits.in_flight_max == 0 ? REDIS_IN_FLIGHT_DEFAULT : config->limits.in_flight_max;
    redis_slots_clear(&client->slots);
    client->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (client->epoll_fd < 0) {
        redis_client_close(client);
        return STATUS_IO;
    }
    peers_tend(client);
    *opened = client;
    return STATUS_OK;
}

void redis_client_close(struct redis_client *client)
{
    if (client == NULL)
        return;
    for (uint32_t i = 0; i < PEERS_MAX; i++)
        redis_connection_close(client->peers[i].connection);
    if (client->epoll_fd >= 0)
        close(client->epoll_fd);
    explicit_bzero(&client->config.login, sizeof client->config.login);
    arena_object_free(client);
}

int redis_client_fd(const struct redis_client *client)
{
    return client->epoll_fd;
}

const struct redis_client_config *redis_client_configured(const struct redis_client *client)
{
    return &client->config;
}

/* ---- the map ---- */

static struct peer *master_of(const struct redis_client *client, uint16_t slot)
{
    const uint8_t node = client->slots.node_of[slot];
    return node == REDIS_NODE_NONE ? NULL : client->peer_of[node];
}

const struct redis_node *redis_client_master(const struct redis_client *client, uint16_t slot)
{
    const uint8_t node = client->slots.node_of[slot];
    return node == REDIS_NODE_NONE ? NULL : &client->slots.nodes[node];
}

const struct redis_info *redis_client_info(const struct redis_client *client, uint16_t slot)
{
    const struct peer *peer = master_of(client, slot);
    return peer_is_up(peer) ? redis_connection_info(peer->connection) : NULL;
}

bool redis_client_is_whole(const struct redis_client *client)
{
    for (uint32_t i = 0; i < client->slots.count; i++) {
        if (!peer_is_up(client->peer_of[i]))
            return false;
    }
    return memchr(client->slots.node_of, REDIS_NODE_NONE, sizeof client->slots.node_of) == NULL;
}

void redis_client_trouble(const struct redis_client *client, struct text *out)
{
    for (uint32_t i = 0; i < PEERS_MAX; i++) {
        const struct peer *peer = &client->peers[i];
        if (peer->connection == NULL || redis_connection_error(peer->connection)[0] == 0)
            continue;
        text_literal(out, "Redis at ");
        redis_node_text(out, &peer->node);
        text_literal(out, ": ");
        text_string(out, redis_connection_error(peer->connection));
        return;
    }
    for (uint32_t slot = 0; slot < REDIS_SLOTS; slot++) {
        if (client->slots.node_of[slot] != REDIS_NODE_NONE)
            continue;
        text_format(out, "no master of Redis has slot %u", slot);
        return;
    }
}

void redis_client_doubt(struct redis_client *client)
{
    const uint64_t soonest = client->map_last_ms + MAP_REST_MS;
    const uint64_t due = soonest > client->now_ms ? soonest : client->now_ms;
    if (due < client->map_due_ms)
        client->map_due_ms = due;
}

void redis_client_moved(struct redis_client *client, const struct redis_node *asked, struct span error)
{
    struct redis_node node;
    uint16_t slot;
    redis_client_doubt(client);
    if (redis_moved_read(error, asked, &slot, &node) != STATUS_OK || client->plain)
        return;
    const uint8_t index = redis_slots_node(&client->slots, &node);
    if (client->slots.node_of[slot] == index)
        return; /* many requests in flight are told the same */
    client->slots.node_of[slot] = index;
    peers_match(client);
}

static void map_due_by(struct redis_client *client, uint32_t in_ms)
{
    if (client->now_ms + in_ms < client->map_due_ms)
        client->map_due_ms = client->now_ms + in_ms;
}

static void map_answered(struct redis_client *client, const struct peer *peer,
    enum redis_answer answer, const struct redis_value *value)
{
    client->map_asked = false;
    if (answer != REDIS_ANSWER_OK) {
        map_due_by(client, MAP_RETRY_MS);
        const struct span error = value == NULL ? SPAN("no answer") : value->text;
        log_warn("redis", "CLUSTER SLOTS: %.*s", (int)error.size, error.data);
        return;
    }
    if (redis_slots_read(&client->read, value, &peer->node) != STATUS_OK) {
        log_warn("redis", "the map of slots can't be read");
        map_due_by(client, MAP_RETRY_MS);
        return;
    }
    if (client->read.count > 0) { /* else: a node that has not met its cluster */
        client->slots = client->read;
        peers_match(client);
    }
    if (!redis_client_is_whole(client))
        map_due_by(client, MAP_LACKS_MS);
}

/* A question of our own. */
static struct redis_request question_of(const struct redis_client *client, enum mark mark)
{
    const uint32_t its_ms = client->config.limits.answer_ms;
    return (struct redis_request){ .mark = (uint8_t)mark,
        .due_ms = client->now_ms + (its_ms == 0 ? REDIS_ANSWER_MS_DEFAULT : its_ms) };
}

static void map_ask(struct redis_client *client)
{
    const struct redis_request request = question_of(client, MARK_MAP);
    if (client->plain || client->map_asked || client->now_ms < client->map_due_ms)
        return;
    for (uint32_t i = 1; i <= PEERS_MAX; i++) {
        const uint32_t at = (client->asked_last + i) % PEERS_MAX;
        if (!peer_is_up(&client->peers[at]) || !redis_connection_info(client->peers[at].connection)->cluster
            || redis_connection_send(client->peers[at].connection, &request,
                   REDIS_WORDS(SPAN("CLUSTER"), SPAN("SLOTS")))
                != STATUS_OK)
            continue;
        client->asked_last = at;
        client->map_asked = true;
        client->map_last_ms = client->now_ms;
        client->map_due_ms = client->now_ms + MAP_EVERY_MS;
        return;
    }
    client->map_due_ms = client->now_ms + MAP_REST_MS; /* nobody is there to ask */
}

/* ---- clock and memory of each master ---- */

/* TIME comes last, so that one is in flight at most. */
static void look_ask(struct redis_client *client, struct peer *peer)
{
    if (client->owner.clock_ms == NULL || !peer->mapped || client->now_ms < peer->look_due_ms
        || !peer_is_up(peer))
        return;
    const struct redis_request memory = question_of(client, MARK_MEMORY),
                               time = question_of(client, MARK_TIME);
    peer->look_due_ms = client->now_ms + LOOK_AGAIN_MS;
    if (redis_connection_send(peer->connection, &memory, REDIS_WORDS(SPAN("INFO"), SPAN("memory")))
        != STATUS_OK)
        return;
    peer->time_asked_ms = client->owner.clock_ms();
    if (redis_connection_send(peer->connection, &time, REDIS_WORDS(SPAN("TIME"))) == STATUS_OK)
        peer->look_due_ms = client->now_ms + REDIS_LOOK_MS;
}

static void look_answered(
    struct peer *peer, enum mark mark, enum redis_answer answer, const struct redis_value *value)
{
    const struct redis_client *client = peer->client;
    enum status status = STATUS_BAD_INPUT;
    if (value == NULL)
        return; /* the connection was lost: it is asked again */
    if (answer == REDIS_ANSWER_OK)
        status = mark == MARK_MEMORY
            ? redis_look_memory(&peer->look, value)
            : redis_look_time(&peer->look, value, peer->time_asked_ms, client->owner.clock_ms());
    if (status != STATUS_OK) {
        const struct span error =
            value->kind == REDIS_KIND_ERROR ? value->text : SPAN("a strange answer");
        log_warn("redis", "%s: %.*s", mark == MARK_MEMORY ? "INFO memory" : "TIME", (int)error.size,
            error.data);
    } else if (client->owner.informed != NULL && peer_is_up(peer)) {
        client->owner.informed(client->owner.self, &peer->node, redis_connection_info(peer->connection));
    }
}

void redis_client_each(const struct redis_client *client, redis_client_see *see, void *context)
{
    for (uint32_t i = 0; i < client->slots.count; i++) {
        const struct peer *peer = client->peer_of[i];
        if (peer_is_up(peer))
            see(context, &peer->node, redis_connection_info(peer->connection), &peer->look);
    }
}

/* ---- what peers tell ---- */

static void peer_left(void *self)
{
    struct peer *peer = self;
    peer->look = (struct redis_look){ 0 };
    peer->look_due_ms = 0;
    redis_client_doubt(peer->client);
}

static void peer_informed(void *self, const struct redis_info *info)
{
    struct peer *peer = self;
    struct redis_client *client = peer->client;
    const bool none = client->slots.count == 0;
    if (client->plain && peer->mapped && (info->cluster || !info->master)) {
        client->plain = false; /* it is not what it was */
        redis_slots_clear(&client->slots);
        peers_match(client);
        redis_client_doubt(client);
    } else if (info->cluster && (none || (peer->mapped && !info->master))) {
        redis_client_doubt(client);
    } else if (!info->cluster && info->master
        && (none || (client->plain && !peer_is_up(client->peer_of[0])))) {
        client->plain = true;
        redis_slots_all(&client->slots, &peer->node);
        peers_match(client);
    }
    if (client->owner.informed != NULL)
        client->owner.informed(client->owner.self, &peer->node, info);
}

/* False: it can't be passed on now. */
static bool request_pass(
    struct peer *peer, const struct redis_request *request, struct span error, bool asking)
{
    struct redis_node node;
    uint16_t slot;
    if (request->hops >= HOPS_MAX || redis_moved_read(error, &peer->node, &slot, &node) != STATUS_OK)
        return false;
    struct peer *other = peer_find(peer->client, &node);
    if (other == NULL || other == peer)
        return false;
    other->kept_until_ms = peer->client->now_ms + PASSED_KEEP_MS;
    return redis_connection_pass(other->connection, request, asking) == STATUS_OK;
}

static void peer_answered(void *self, const struct redis_request *request, enum redis_answer answer,
    const struct redis_value *value)
{
    struct peer *peer = self;
    struct redis_client *client = peer->client;
    if (request->mark != MARK_OWNERS) {
        if (request->mark == MARK_MAP)
            map_answered(client, peer, answer, value);
        else
            look_answered(peer, (enum mark)request->mark, answer, value);
        return;
    }
    if (answer == REDIS_ANSWER_MOVED || answer == REDIS_ANSWER_ASK) {
        if (answer == REDIS_ANSWER_MOVED)
            redis_client_moved(client, &peer->node, value->text);
        if (request_pass(peer, request, value->text, answer == REDIS_ANSWER_ASK))
            return;
        answer = REDIS_ANSWER_AGAIN;
    }
    if (answer == REDIS_ANSWER_AWAY)
        redis_client_doubt(client);
    client->in_flight--;
    client->owner.answered(client->owner.self, request->tag, answer, value);
}

/* ---- requests and the turn ---- */

enum status redis_client_send(struct redis_client *client, struct span key, uint64_t tag,
    uint64_t due_ms, struct redis_words words)
{
    const struct peer *peer = master_of(client, redis_slot(key));
    const struct redis_request request = { .tag = tag, .due_ms = due_ms, .mark = MARK_OWNERS };
    if (client->in_flight >= client->in_flight_max)
        return STATUS_FULL;
    if (peer == NULL || peer->connection == NULL)
        return STATUS_AWAY;
    const enum status status = redis_connection_send(peer->connection, &request, words);
    client->in_flight += status == STATUS_OK;
    return status;
}

uint32_t redis_client_in_flight(const struct redis_client *client)
{
    return client->in_flight;
}

void redis_client_turn(struct redis_client *client, uint64_t now_ms)
{
    struct epoll_event events[EVENTS_MAX];
    client->now_ms = now_ms;
    const int count = epoll_wait(client->epoll_fd, events, EVENTS_MAX, 0);
    invariant(count >= 0 || errno == EINTR);
    for (int i = 0; i < count; i++)
        redis_connection_ready(events[i].data.ptr, events[i].events);
    for (uint32_t i = 0; i < PEERS_MAX; i++) {
        if (client->peers[i].connection != NULL)
            redis_connection_turn(client->peers[i].connection, now_ms);
    }
    peers_tend(client);
    map_ask(client);
    for (uint32_t i = 0; i < PEERS_MAX; i++) {
        look_ask(client, &client->peers[i]);
        if (client->peers[i].connection != NULL)
            redis_connection_flush(client->peers[i].connection);
    }
}

uint64_t redis_client_next_due(const struct redis_client *client)
{
    uint64_t due = client->plain || client->map_asked ? UINT64_MAX : client->map_due_ms;
    for (uint32_t i = 0; i < PEERS_MAX; i++) {
        if (client->peers[i].connection == NULL)
            continue;
        const uint64_t its = redis_connection_next_due(client->peers[i].connection);
        due = its < due ? its : due;
    }
    return due;
}
