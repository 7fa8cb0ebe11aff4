/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. down ─► connecting ─► greeting (AUTH, INFO) ─► up; any fault leads back to down and a pause.
 * Our own questions go through the same queue as the owner's requests, since answers have no names. */
#include "redis/connection.h"

#include "base/arena.h"
#include "base/random.h"
#include "redis/pipeline.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    REQUEST_BYTES_DEFAULT = 4 * 1024 * 1024,
    REPLY_BYTES_DEFAULT = 1024 * 1024,
    REPLY_VALUES_DEFAULT = 64 * 1024,
    CONNECT_MS_DEFAULT = 1000,
    ASK_MS_DEFAULT = 1000,
    AGAIN_MS_FIRST_DEFAULT = 50,
    AGAIN_MS_MOST_DEFAULT = 2000,

    OWN_MAX = 8,             /* room in the queue for our own questions */
    PIECE_BYTES = 16 * 1024, /* received at once */
    PIECES_PER_TURN = 2,     /* then the others */
    ROOM_AGAIN_MS = 20,      /* there was no room for a question of our own */
    ERROR_MAX = 256,
};

enum state { STATE_DOWN, STATE_CONNECTING, STATE_GREETING, STATE_UP };
enum question { QUESTION_OWNERS, QUESTION_AUTH, QUESTION_INFO, QUESTION_ROLE, QUESTION_ASKING };

struct redis_connection {
    struct arena arena; /* first: arena_object */
    struct redis_node node;
    struct redis_login login;
    struct redis_limits limits;
    struct redis_connection_owner owner;
    struct redis_info info;
    struct redis_reader *reader;
    struct random random;
    int epoll_fd, fd;
    enum state state;
    bool readable, writable;
    uint64_t now_ms;
    uint64_t connect_due_ms, again_ms, ask_due_ms, heard_ms;
    uint32_t pause_ms;

    struct redis_pipeline pipeline;
    uint32_t owners_count; /* of the requests in it */
    char *piece;
    char error[ERROR_MAX];
};

/* ---- open and close ---- */

static uint32_t or_default(uint32_t value, uint32_t otherwise)
{
    return value == 0 ? otherwise : value;
}

static struct redis_limits limits_complete(const struct redis_limits *given)
{
    return (struct redis_limits){
        .in_flight_max = or_default(given->in_flight_max, REDIS_IN_FLIGHT_DEFAULT),
        .request_bytes = or_default(given->request_bytes, REQUEST_BYTES_DEFAULT),
        .reply_bytes = or_default(given->reply_bytes, REPLY_BYTES_DEFAULT),
        .reply_values = or_default(given->reply_values, REPLY_VALUES_DEFAULT),
        .connect_ms = or_default(given->connect_ms, CONNECT_MS_DEFAULT),
        .ask_ms = or_default(given->ask_ms, ASK_MS_DEFAULT),
        .answer_ms = or_default(given->answer_ms, REDIS_ANSWER_MS_DEFAULT),
        .again_ms_first = or_default(given->again_ms_first, AGAIN_MS_FIRST_DEFAULT),
        .again_ms_most = or_default(given->again_ms_most, AGAIN_MS_MOST_DEFAULT),
    };
}

enum status redis_connection_open(struct redis_connection **opened, const struct redis_node *node,
    const struct redis_login *login, const struct redis_limits *given,
    const struct redis_connection_owner *owner, int epoll_fd)
{
    *opened = NULL;
    const struct redis_limits limits = limits_complete(given);
    const uint32_t slots = limits.in_flight_max + OWN_MAX;
    struct redis_connection *connection = arena_object(
        sizeof *connection, redis_pipeline_arena_bytes(slots, limits.request_bytes) + PIECE_BYTES);
    if (connection == NULL)
        return STATUS_FULL;
    connection->fd = -1;
    connection->node = *node;
    connection->login = *login;
    connection->limits = limits;
    connection->owner = *owner;
    connection->epoll_fd = epoll_fd;
    redis_pipeline_create(&connection->pipeline, &connection->arena, slots, limits.request_bytes);
    connection->piece = arena_take(&connection->arena, 1, PIECE_BYTES);
    random_start(&connection->random);
    const enum status status =
        redis_reader_open(&connection->reader, limits.reply_bytes, limits.reply_values);
    if (status != STATUS_OK)
        redis_connection_close(connection);
    *opened = status == STATUS_OK ? connection : NULL;
    return status;
}

void redis_connection_close(struct redis_connection *connection)
{
    if (connection == NULL)
        return;
    if (connection->fd >= 0)
        close(connection->fd);
    redis_reader_close(connection->reader);
    explicit_bzero(&connection->login, sizeof connection->login);
    arena_object_free(connection);
}

const struct redis_info *redis_connection_info(const struct redis_connection *connection)
{
    return connection->state == STATE_UP ? &connection->info : NULL;
}

uint32_t redis_connection_in_flight(const struct redis_connection *connection)
{
    return connection->owners_count;
}

const struct redis_node *redis_connection_node(const struct redis_connection *connection)
{
    return &connection->node;
}

const char *redis_connection_error(const struct redis_connection *connection)
{
    return connection->error;
}

static struct redis_waiting waiting_take(struct redis_connection *connection)
{
    const struct redis_waiting oldest = redis_pipeline_take(&connection->pipeline);
    if (oldest.kind == QUESTION_OWNERS)
        connection->owners_count--;
    return oldest;
}

static void owners_told(struct redis_connection *connection, const struct redis_waiting *waiting,
    enum redis_answer answer, const struct redis_value *value)
{
    const struct redis_request request = { .tag = waiting->tag,
        .due_ms = waiting->due_ms,
        .mark = waiting->mark,
        .hops = waiting->hops,
        .bytes = redis_pipeline_bytes(&connection->pipeline, waiting) };
    connection->owner.answered(connection->owner.self, &request, answer, value);
}

/* ---- faults ---- */

/* Half of the pause is chance: many clients of a server that comes back do not come at once. */
static void pause_begin(struct redis_connection *connection)
{
    const struct redis_limits *limits = &connection->limits;
    uint32_t pause = connection->pause_ms == 0 ? limits->again_ms_first : connection->pause_ms * 2;
    if (pause > limits->again_ms_most)
        pause = limits->again_ms_most;
    connection->pause_ms = pause;
    connection->again_ms =
        connection->now_ms + pause - random_below(&connection->random, pause / 2 + 1);
}

__attribute__((format(printf, 2, 3))) static void give_up(
    struct redis_connection *connection, const char *format, ...)
{
    const bool was_up = connection->state == STATE_UP;
    const uint64_t sent = connection->pipeline.sent;
    va_list list;
    va_start(list, format);
    vsnprintf(connection->error, sizeof connection->error, format, list);
    va_end(list);
    if (connection->fd >= 0)
        close(connection->fd); /* takes it out of the epoll set */
    connection->fd = -1;
    connection->state = STATE_DOWN;
    connection->readable = connection->writable = false;
    pause_begin(connection);
    /* Nobody can send while it is down: the queue does not grow under our hands. */
    while (connection->pipeline.count > 0) {
        const struct redis_waiting waiting = waiting_take(connection);
        if (waiting.kind == QUESTION_OWNERS)
            owners_told(connection, &waiting,
                waiting.place < sent ? REDIS_ANSWER_UNKNOWN : REDIS_ANSWER_AWAY, NULL);
    }
    redis_pipeline_reset(&connection->pipeline);
    if (was_up && connection->owner.left != NULL)
        connection->owner.left(connection->owner.self);
}

/* ---- sending ---- */

/* False: there is no room. */
static bool question_put(struct redis_connection *connection, enum question question,
    uint64_t due_ms, struct redis_words words)
{
    if (!redis_pipeline_fits(&connection->pipeline, 1, redis_request_bytes(words)))
        return false;
    redis_pipeline_put(&connection->pipeline,
        &(struct redis_waiting){ .due_ms = due_ms, .kind = (uint8_t)question }, words);
    return true;
}

static enum status may_send(struct redis_connection *connection, uint32_t requests, size_t bytes)
{
    if (bytes > connection->limits.request_bytes / 2)
        return STATUS_BAD_INPUT;
    if (connection->state != STATE_UP)
        return STATUS_AWAY;
    return connection->owners_count < connection->limits.in_flight_max
            && redis_pipeline_fits(&connection->pipeline, requests, bytes)
        ? STATUS_OK
        : STATUS_FULL;
}

static struct redis_waiting waiting_of(const struct redis_request *request)
{
    return (struct redis_waiting){ .tag = request->tag,
        .due_ms = request->due_ms,
        .kind = QUESTION_OWNERS,
        .mark = request->mark,
        .hops = request->hops };
}

enum status redis_connection_send(struct redis_connection *connection,
    const struct redis_request *request, struct redis_words words)
{
    invariant(connection->owner.noted == NULL);
    const enum status status = may_send(connection, 1, redis_request_bytes(words));
    if (status != STATUS_OK)
        return status;
    const struct redis_waiting waiting = waiting_of(request);
    redis_pipeline_put(&connection->pipeline, &waiting, words);
    connection->owners_count++;
    return STATUS_OK;
}

enum status redis_connection_pass(
    struct redis_connection *connection, const struct redis_request *request, bool asking)
{
    const struct redis_words before = REDIS_WORDS(SPAN("ASKING"));
    const size_t before_bytes = asking ? redis_request_bytes(before) : 0;
    const enum status status = may_send(connection, asking ? 2 : 1, before_bytes + request->bytes.size);
    if (status != STATUS_OK)
        return status;
    if (asking)
        invariant(question_put(connection, QUESTION_ASKING, request->due_ms, before));
    struct redis_waiting waiting = waiting_of(request);
    waiting.hops++;
    redis_pipeline_put_bytes(&connection->pipeline, &waiting, request->bytes);
    connection->owners_count++;
    return STATUS_OK;
}

enum status redis_connection_say(struct redis_connection *connection, struct redis_words words)
{
    invariant(connection->owner.noted != NULL);
    const enum status status = may_send(connection, 0, redis_request_bytes(words));
    if (status == STATUS_OK)
        redis_pipeline_say(&connection->pipeline, words);
    return status;
}

void redis_connection_flush(struct redis_connection *connection)
{
    while (connection->state >= STATE_GREETING && connection->writable) {
        const struct span unsent = redis_pipeline_unsent(&connection->pipeline);
        if (unsent.size == 0)
            return;
        const ssize_t n = send(connection->fd, unsent.data, unsent.size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n >= 0)
            redis_pipeline_sent(&connection->pipeline, (size_t)n);
        else if (errno == EAGAIN)
            connection->writable = false;
        else if (errno != EINTR)
            give_up(connection, "sending failed: %m");
    }
}

/* ---- greeting ---- */

static bool watch(struct redis_connection *connection, int how)
{
    struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
        .data.ptr = connection };
    return epoll_ctl(connection->epoll_fd, how, connection->fd, &event) == 0;
}

static void connect_begin(struct redis_connection *connection)
{
    struct sockaddr_in6 to = { .sin6_family = AF_INET6, .sin6_port = htons(connection->node.port) };
    memcpy(&to.sin6_addr, connection->node.address.bytes, sizeof to.sin6_addr);
    connection->connect_due_ms = connection->now_ms + connection->limits.connect_ms;
    if (redis_reader_reset(connection->reader) != STATUS_OK) {
        give_up(connection, "no memory for a connection");
        return;
    }
    struct sockaddr_in to_v4 = { .sin_family = AF_INET, .sin_port = to.sin6_port };
    memcpy(&to_v4.sin_addr, connection->node.address.bytes + 12, sizeof to_v4.sin_addr);
    const bool v4 = address_is_v4(&connection->node.address);
    const struct sockaddr *peer = v4 ? (const struct sockaddr *)&to_v4 : (const struct sockaddr *)&to;
    const int one = 1;
    connection->fd = socket(peer->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (connection->fd < 0 || setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0
        || !watch(connection, EPOLL_CTL_ADD)
        || (connect(connection->fd, peer, v4 ? sizeof to_v4 : sizeof to) != 0 && errno != EINPROGRESS)) {
        give_up(connection, "it can't be reached: %m");
        return;
    }
    connection->state = STATE_CONNECTING;
}

static void greeting_begin(struct redis_connection *connection)
{
    const struct redis_login *login = &connection->login;
    const uint64_t due_ms = connection->connect_due_ms;
    const struct span user = span_from_string(login->user);
    const struct span password = span_of(login->password, login->password_bytes);
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(connection->fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) {
        errno = error == 0 ? errno : error;
        give_up(connection, "it can't be reached: %m");
        return;
    }
    connection->state = STATE_GREETING;
    bool put = true;
    if (password.size > 0 && user.size > 0)
        put = question_put(connection, QUESTION_AUTH, due_ms, REDIS_WORDS(SPAN("AUTH"), user, password));
    else if (password.size > 0)
        put = question_put(connection, QUESTION_AUTH, due_ms, REDIS_WORDS(SPAN("AUTH"), password));
    invariant(put && question_put(connection, QUESTION_INFO, due_ms, REDIS_WORDS(SPAN("INFO"))));
}

static void info_answered(struct redis_connection *connection, const struct redis_waiting *waiting,
    const struct redis_value *value)
{
    const bool greets = waiting->kind == QUESTION_INFO;
    if (value->kind != REDIS_KIND_TEXT
        || (greets ? redis_info_read(value->text, &connection->info)
                   : redis_info_read_again(value->text, &connection->info))
            != STATUS_OK) {
        const struct span text =
            value->kind == REDIS_KIND_ERROR ? value->text : SPAN("a strange answer");
        give_up(connection, "INFO: %.*s", (int)text.size, text.data);
        return;
    }
    connection->info.asked_ms = connection->now_ms;
    if (greets) {
        connection->state = STATE_UP;
        connection->pause_ms = 0;
        connection->error[0] = 0;
        connection->ask_due_ms = connection->now_ms + connection->limits.ask_ms;
    }
    if (connection->owner.informed != NULL)
        connection->owner.informed(connection->owner.self, &connection->info);
}

/* ---- answers ---- */

static void value_handle(struct redis_connection *connection, const struct redis_value *value)
{
    if (connection->owner.noted != NULL && connection->state == STATE_UP) {
        connection->owner.noted(connection->owner.self, value);
        return;
    }
    if (connection->pipeline.count == 0) {
        give_up(connection, "it answered what nobody had asked");
        return;
    }
    const struct redis_waiting waiting = waiting_take(connection);
    switch ((enum question)waiting.kind) {
    case QUESTION_OWNERS:
        owners_told(connection, &waiting, redis_answer_of(value), value);
        return;
    case QUESTION_AUTH:
        if (value->kind == REDIS_KIND_ERROR)
            give_up(connection, "login: %.*s", (int)value->text.size, value->text.data);
        return;
    case QUESTION_INFO:
    case QUESTION_ROLE:
        info_answered(connection, &waiting, value);
        return;
    case QUESTION_ASKING:
        return; /* the request after it tells */
    }
}

static void values_take(struct redis_connection *connection)
{
    const struct redis_value *value;
    enum status status = STATUS_OK;
    while (connection->state != STATE_DOWN
        && (status = redis_reader_next(connection->reader, &value)) == STATUS_OK)
        value_handle(connection, value);
    if (connection->state != STATE_DOWN && status == STATUS_FULL)
        give_up(connection, "an answer is longer than %u bytes or %u values",
            connection->limits.reply_bytes, connection->limits.reply_values);
    else if (connection->state != STATE_DOWN && status != STATUS_NOT_FOUND)
        give_up(connection, "what it says is not the protocol of Redis");
}

static void receive(struct redis_connection *connection)
{
    for (int i = 0; i < PIECES_PER_TURN && connection->state != STATE_DOWN && connection->readable; i++) {
        const ssize_t n = recv(connection->fd, connection->piece, PIECE_BYTES, MSG_DONTWAIT);
        if (n > 0) {
            connection->heard_ms = connection->now_ms;
            if (redis_reader_feed(connection->reader, span_of(connection->piece, (size_t)n)) == STATUS_OK)
                values_take(connection);
            else
                give_up(connection, "an answer is longer than %u bytes", connection->limits.reply_bytes);
        } else if (n == 0) {
            give_up(connection, "it has closed the connection");
        } else if (errno == EAGAIN) {
            connection->readable = false;
        } else if (errno != EINTR) {
            give_up(connection, "receiving failed: %m");
        }
    }
    /* There is more, and others in this loop have a turn first: the event comes once again. */
    if (connection->readable && !watch(connection, EPOLL_CTL_MOD))
        give_up(connection, "it can't be waited for: %m");
}

/* ---- the turn ---- */

void redis_connection_ready(struct redis_connection *connection, uint32_t events)
{
    if (events & (EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP))
        connection->readable = true;
    if (events & (EPOLLOUT | EPOLLERR | EPOLLHUP))
        connection->writable = true;
}

static void time_look(struct redis_connection *connection)
{
    const struct redis_limits *limits = &connection->limits;
    const uint64_t now_ms = connection->now_ms;
    if (connection->state != STATE_UP) {
        if (now_ms >= connection->connect_due_ms)
            give_up(connection, "it does not answer");
        return;
    }
    if (redis_pipeline_is_late(&connection->pipeline, now_ms)
        || (connection->owner.noted != NULL
            && now_ms >= connection->heard_ms + limits->ask_ms + limits->answer_ms)) {
        give_up(connection, "an answer did not come in time");
        return;
    }
    if (now_ms < connection->ask_due_ms)
        return;
    const bool asked = connection->owner.noted != NULL
        ? redis_connection_say(connection, REDIS_WORDS(SPAN("PING"))) == STATUS_OK
        : question_put(connection, QUESTION_ROLE, now_ms + limits->answer_ms,
            REDIS_WORDS(SPAN("INFO"), SPAN("replication")));
    connection->ask_due_ms = now_ms + (asked ? limits->ask_ms : ROOM_AGAIN_MS);
}

void redis_connection_turn(struct redis_connection *connection, uint64_t now_ms)
{
    connection->now_ms = now_ms;
    if (connection->state == STATE_DOWN && now_ms >= connection->again_ms)
        connect_begin(connection);
    if (connection->state == STATE_CONNECTING && connection->writable)
        greeting_begin(connection);
    if (connection->state >= STATE_GREETING)
        receive(connection);
    if (connection->state != STATE_DOWN)
        time_look(connection);
}

uint64_t redis_connection_next_due(const struct redis_connection *connection)
{
    if (connection->state == STATE_DOWN)
        return connection->again_ms;
    if (connection->state != STATE_UP)
        return connection->connect_due_ms;
    return connection->pipeline.due_floor < connection->ask_due_ms ? connection->pipeline.due_floor
                                                                   : connection->ask_due_ms;
}
