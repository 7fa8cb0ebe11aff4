/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/crowd.h"

#include "base/clock.h"
#include "rehearse/due.h"
#include "rehearse/visit.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS_MAX = 512, ANSWER_BYTES = 16384, IDLE_WAIT_MS = 20, NOBODY = UINT32_MAX };

struct connection {
    int fd; /* -1: closed; opened when there is something to ask */
    uint32_t visitor;
    size_t out_bytes, out_sent, in_bytes;
    size_t rest; /* of a long body: still to come, passed over */
    bool closes;
    char out[REQUEST_BYTES_MAX];
    char in[ANSWER_BYTES];
};

struct crowd {
    const struct crowd_options *options;
    const struct sale_facts *facts;
    struct visitor *visitors;
    uint32_t count;
    struct tally *tally;
    int epoll;
    bool failed;
    struct connection *connections;
    uint32_t *idle, idle_count, in_flight;
    uint32_t *waiting, waiting_head, waiting_count; /* a ring of visitors without a connection */
    struct due due;
    bool *came;
};

static uint64_t now_of(const struct crowd *crowd)
{
    const uint64_t now_ns = clock_monotonic_ns();
    return now_ns > crowd->options->begin_ns ? now_ns - crowd->options->begin_ns : 0;
}

static void visitor_over(struct crowd *crowd, struct visitor *visitor)
{
    visitor->over = true;
    crowd->tally->over++;
    crowd->tally->ended[visitor->kind][visitor->last]++;
}

static void win_note(struct crowd *crowd, struct visitor *visitor, const struct heard *heard)
{
    char ticket[ID_CHARS];
    if (visitor->step != STEP_BUY || (heard->word != WORD_WON && heard->word != WORD_DECIDING)
        || !heard_take(heard, "\"ticket\":", ticket, sizeof ticket)
        || memcmp(ticket, visitor->ticket, sizeof ticket) == 0)
        return;
    memcpy(visitor->ticket, ticket, sizeof ticket);
    crowd->tally->wins[tally_who(visitor)]++;
    tally_now(crowd->tally)->wins++;
}

static void answer_take(struct crowd *crowd, uint32_t number, const struct heard *heard)
{
    struct visitor *visitor = &crowd->visitors[number];
    const uint64_t now_ns = now_of(crowd);
    tally_answer(crowd->tally, visitor, heard->word,
        now_ns > visitor->due_ns ? now_ns - visitor->due_ns : 0);
    win_note(crowd, visitor, heard);
    visit_answered(crowd->facts, crowd->options->seed, visitor, heard, now_ns);
    if (visitor->over)
        visitor_over(crowd, visitor);
    else
        due_put(&crowd->due, visitor->due_ns, number);
}

static void connection_close(struct connection *connection)
{
    if (connection->fd >= 0)
        close(connection->fd);
    connection->fd = -1;
    connection->in_bytes = connection->rest = 0;
    connection->closes = false;
}

static void connection_idle(struct crowd *crowd, struct connection *connection)
{
    connection->visitor = NOBODY;
    connection->in_bytes = 0;
    crowd->in_flight--;
    crowd->idle[crowd->idle_count++] = (uint32_t)(connection - crowd->connections);
    if (connection->closes)
        connection_close(connection);
}

static void connection_broken(struct crowd *crowd, struct connection *connection)
{
    static const struct heard nothing = { .word = WORD_NO_ANSWER };
    const uint32_t visitor = connection->visitor;
    const bool told = connection->rest > 0; /* the rest of a long answer does not come */
    connection_close(connection);
    if (visitor == NOBODY)
        return; /* an idle one that the server closed */
    connection_idle(crowd, connection);
    if (!told)
        answer_take(crowd, visitor, &nothing);
}

static bool connection_open(struct crowd *crowd, struct connection *connection)
{
    const int yes = 1;
    struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
        .data.u32 = (uint32_t)(connection - crowd->connections) };
    connection->fd =
        socket(crowd->options->server.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (connection->fd < 0)
        return false;
    (void)setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return epoll_ctl(crowd->epoll, EPOLL_CTL_ADD, connection->fd, &event) == 0
        && (connect(connection->fd, (const struct sockaddr *)&crowd->options->server,
                crowd->options->server_bytes)
                == 0
            || errno == EINPROGRESS);
}

static void connection_flush(struct crowd *crowd, struct connection *connection)
{
    if (connection->visitor == NOBODY || connection->out_sent == connection->out_bytes)
        return;
    const ssize_t bytes = send(connection->fd, connection->out + connection->out_sent,
        connection->out_bytes - connection->out_sent, MSG_NOSIGNAL);
    if (bytes < 0 && (errno == EAGAIN || errno == ENOTCONN))
        return;
    if (bytes < 0) {
        connection_broken(crowd, connection);
        return;
    }
    crowd->tally->sent += connection->out_sent == 0;
    connection->out_sent += (size_t)bytes;
}

static void connection_ask(struct crowd *crowd, struct connection *connection, uint32_t number)
{
    struct text out = text_in(connection->out, sizeof connection->out);
    connection->visitor = number;
    crowd->in_flight++;
    if (!request_write(&crowd->options->place, crowd->facts, crowd->visitors, number, &out)
        || (connection->fd < 0 && !connection_open(crowd, connection))) {
        crowd->failed |= !out.overflow && errno == EMFILE;
        connection_broken(crowd, connection);
        return;
    }
    connection->out_bytes = out.size;
    connection->out_sent = 0;
    connection_flush(crowd, connection);
}

/* A body that was longer than the buffer. */
static bool rest_pass(struct connection *connection)
{
    const size_t step = connection->rest < connection->in_bytes ? connection->rest : connection->in_bytes;
    connection->rest -= step;
    connection->in_bytes -= step;
    return connection->rest == 0;
}

/* True: there may be more to read. */
static bool bytes_take(struct crowd *crowd, struct connection *connection)
{
    struct heard heard;
    if (connection->rest > 0) {
        if (rest_pass(connection))
            connection_idle(crowd, connection);
        return true;
    }
    const enum heard_state state =
        heard_parse(span_of(connection->in, connection->in_bytes), sizeof connection->in, &heard);
    if (state == HEARD_MORE)
        return true;
    if (state == HEARD_BROKEN || connection->visitor == NOBODY) {
        connection_broken(crowd, connection);
        return false;
    }
    const uint32_t number = connection->visitor;
    const size_t there = connection->in_bytes - heard.head_bytes;
    connection->closes = heard.closes;
    answer_take(crowd, number, &heard);
    if (there < heard.body_bytes) {
        connection->rest = heard.body_bytes - there;
        connection->in_bytes = 0;
        return true;
    }
    connection_idle(crowd, connection);
    return connection->fd >= 0;
}

static void connection_read(struct crowd *crowd, struct connection *connection)
{
    while (connection->fd >= 0) {
        const ssize_t bytes = recv(connection->fd, connection->in + connection->in_bytes,
            sizeof connection->in - connection->in_bytes, 0);
        if (bytes < 0 && errno == EAGAIN)
            return;
        if (bytes <= 0) {
            connection_broken(crowd, connection);
            return;
        }
        connection->in_bytes += (size_t)bytes;
        if (!bytes_take(crowd, connection))
            return;
    }
}

static void visitors_send(struct crowd *crowd, uint64_t now_ns)
{
    struct due_entry entry;
    while (now_ns < crowd->options->length_ns && due_take(&crowd->due, now_ns, &entry)) {
        crowd->tally->came += !crowd->came[entry.visitor];
        crowd->came[entry.visitor] = true;
        crowd->waiting[(crowd->waiting_head + crowd->waiting_count++) % crowd->count] = entry.visitor;
    }
    while (crowd->waiting_count > 0 && crowd->idle_count > 0 && !crowd->failed) {
        const uint32_t number = crowd->waiting[crowd->waiting_head];
        crowd->waiting_head = (crowd->waiting_head + 1) % crowd->count;
        crowd->waiting_count--;
        connection_ask(crowd, &crowd->connections[crowd->idle[--crowd->idle_count]], number);
    }
}

static void events_wait(struct crowd *crowd, uint64_t now_ns)
{
    struct epoll_event events[EVENTS_MAX];
    uint64_t wait_ns = IDLE_WAIT_MS * NS_PER_MS, due_ns;
    if (due_next(&crowd->due, &due_ns) && due_ns < now_ns + wait_ns)
        wait_ns = due_ns > now_ns ? due_ns - now_ns : 0;
    const struct timespec wait = { .tv_nsec = (long)wait_ns };
    const int count = epoll_pwait2(crowd->epoll, events, EVENTS_MAX, &wait, NULL);
    for (int i = 0; i < count; i++) {
        struct connection *connection = &crowd->connections[events[i].data.u32];
        if ((events[i].events & EPOLLOUT) != 0 && connection->fd >= 0)
            connection_flush(crowd, connection);
        if ((events[i].events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0)
            connection_read(crowd, connection);
    }
}

static bool crowd_going(const struct crowd *crowd, uint64_t now_ns)
{
    const bool stopped = atomic_load(crowd->options->stop);
    const bool late = now_ns >= crowd->options->length_ns || stopped || crowd->failed;
    if (crowd->tally->over == crowd->count)
        return crowd->in_flight > 0 && !stopped;
    return !late
        || (crowd->in_flight > 0 && now_ns < crowd->options->length_ns + CROWD_GRACE_S * NS_PER_S);
}

/* Those who were still on their way when the time was up. */
static void crowd_end(struct crowd *crowd)
{
    for (uint32_t i = 0; i < crowd->options->connections; i++) {
        struct connection *connection = &crowd->connections[i];
        if (connection->visitor != NOBODY && connection->rest == 0)
            tally_answer(crowd->tally, &crowd->visitors[connection->visitor], WORD_NO_ANSWER, 0);
        connection_close(connection);
    }
    for (uint32_t i = 0; i < crowd->count; i++) {
        free(crowd->visitors[i].solution);
        crowd->visitors[i].solution = NULL;
        if (!crowd->visitors[i].over && crowd->came[i])
            crowd->tally->ended[crowd->visitors[i].kind][crowd->visitors[i].last]++;
    }
}

static void play(struct crowd *crowd)
{
    uint64_t now_ns = now_of(crowd), second_ns = NS_PER_S;
    while (crowd_going(crowd, now_ns)) {
        if (!atomic_load(crowd->options->stop))
            visitors_send(crowd, now_ns);
        events_wait(crowd, now_ns);
        now_ns = now_of(crowd);
        for (; second_ns <= now_ns; second_ns += NS_PER_S) {
            tally_second(crowd->tally, crowd->waiting_count);
            if (crowd->options->second != NULL)
                crowd->options->second(crowd->options->context, crowd->tally);
        }
    }
    tally_second(crowd->tally, crowd->waiting_count);
    crowd_end(crowd);
}

enum status crowd_play(const struct crowd_options *options, const struct sale_facts *facts,
    struct visitor *visitors, uint32_t count, struct tally *tally)
{
    struct crowd crowd = { .options = options,
        .facts = facts,
        .visitors = visitors,
        .count = count,
        .tally = tally,
        .epoll = epoll_create1(EPOLL_CLOEXEC) };
    enum status status = crowd.epoll >= 0 ? STATUS_OK : STATUS_IO;
    crowd.connections = calloc(options->connections, sizeof *crowd.connections);
    crowd.idle = calloc(options->connections, sizeof *crowd.idle);
    crowd.waiting = calloc(count, sizeof *crowd.waiting);
    crowd.came = calloc(count, sizeof *crowd.came);
    crowd.due = (struct due){ .entries = calloc(count, sizeof *crowd.due.entries), .capacity = count };
    if (status == STATUS_OK
        && (crowd.connections == NULL || crowd.idle == NULL || crowd.waiting == NULL
            || crowd.came == NULL || crowd.due.entries == NULL))
        status = STATUS_FULL;
    if (status == STATUS_OK) {
        for (uint32_t i = 0; i < options->connections; i++) {
            crowd.connections[i].fd = -1;
            crowd.connections[i].visitor = NOBODY;
            crowd.idle[crowd.idle_count++] = options->connections - 1 - i;
        }
        for (uint32_t i = 0; i < count; i++)
            due_put(&crowd.due, visitors[i].due_ns, i);
        play(&crowd);
        status = crowd.failed ? STATUS_IO : STATUS_OK;
    }
    free(crowd.connections);
    free(crowd.idle);
    free(crowd.waiting);
    free(crowd.came);
    free(crowd.due.entries);
    if (crowd.epoll >= 0)
        close(crowd.epoll);
    return status;
}
