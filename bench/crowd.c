/* SPDX-License-Identifier: Apache-2.0 */
/* The crowd: many users who want the same thing, over many connections, impatient and with bad networks.
 *
 * DESIGN
 * One thread, one epoll loop, one request in flight per connection; any connection that is free takes
 * the next request, so the requests of one user come from everywhere and overtake each other. A
 * request may have a twin (the same once more, at once, from another connection), and may lose its
 * answer (the connection is closed right after sending, or a millisecond later with the answer
 * unread). Every purchase is asked for, with the same key, until a final answer came: won, already
 * bought, sold out, limit reached. A server that goes away is waited for: one connection tries
 * until it is back. So every request that a server may have seen is in the log, with what it told.
 *
 * Log: a line per request, tab separated:
 *   user  number  quantity  keyed(0/1)  kind  start_ns  end_ns  status  what  ticket  order
 * user: line of the passes, from 0; number: of this user's purchases. kind: f first, t twin, r retry,
 * l later, a again. Times: CLOCK_MONOTONIC. what: the outcome or the problem's name; "lost": closed by
 * us, "broken": closed by the server; both may have been decided, and their status is 0. A ticket or
 * order that was not told is "-". Requests of which no byte was sent are not in the log.
 * One line of JSON goes to standard output in the end. Connects to 127.0.0.1 only; every run is
 * bounded. Status: 0 everything has its final answer, 3 not in time. */
#include "crowd_options.h"
#include "crowd_plan.h"
#include "reply.h"
#include "source.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

enum {
    EVENTS_MAX = 512,
    REQUEST_BYTES = 512,
    REPLY_BYTES = 4096,
    WORD_BYTES = 32,
    PASS_BYTES = 48,
    WAIT_MS_MAX = 5,
    PENDING_MAX = 200, /* requests of one purchase that wait or are in flight */
};
#define NS_PER_MS UINT64_C(1000000)
static const uint64_t DEAF_NS = NS_PER_MS; /* an answer is left unread for so long, then closed */
static const uint64_t RETRY_NS = 20 * NS_PER_MS;  /* at most, before a request is repeated */
static const uint64_t IN_PROGRESS_NS = NS_PER_MS; /* the same while another purchase is written */
static const uint64_t PERSIST_NS = 400 * NS_PER_MS;
static const uint64_t LATER_NS = 2000 * NS_PER_MS;
static const uint64_t REST_NS = 100 * NS_PER_MS; /* for requests that nobody waits for, before asking again */
static const uint64_t AWAY_NS = 2 * NS_PER_MS; /* between two attempts to reach a server that is away */

struct connection {
    int fd;       /* -1: closed; opened when there is something to ask */
    bool busy;    /* `ask` is in flight */
    bool deaf;    /* in `deaf`: its answer is lost */
    bool dropped; /* is to be deaf or closed once sent */
    struct ask ask;
    uint64_t start_ns;
    size_t out_bytes, out_sent, in_bytes;
    char out[REQUEST_BYTES];
    char in[REPLY_BYTES];
};

struct deaf {
    uint32_t connection;
    uint64_t close_ns;
};

struct crowd {
    struct crowd_options options;
    struct plan plan;
    struct random random;
    const char *passes;
    uint32_t users;
    FILE *log;
    int epoll;
    struct connection *connections;
    uint32_t *idle;
    uint32_t idle_count;
    struct deaf *deaf; /* a ring, first to be closed first */
    uint32_t deaf_head, deaf_count;

    bool away; /* the server is: one connection at a time until it answers */
    uint64_t away_until_ns;
    uint64_t start_ns;
    uint64_t rest_ns; /* when every purchase had its final answer */
    uint64_t requests, told, won, sold_out, lost, broken, unexpected, aways;
};

static volatile sig_atomic_t term_seen;

static void on_term(int signal_number)
{
    (void)signal_number;
    term_seen = 1;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 * NS_PER_MS + (uint64_t)now.tv_nsec;
}

static bool chance(struct crowd *crowd, uint32_t percent)
{
    return percent > 0 && random_below(&crowd->random, 100) < percent;
}

/* -- what an answer means ---------------------------------------------------------------------- */

/* The JSON text after `name` up to its quote; "-" when there is none. */
static void word_find(const struct reply *reply, const char *name, char word[WORD_BYTES])
{
    const char *start = memmem(reply->body, reply->body_bytes, name, strlen(name));
    const char *end = NULL;
    memcpy(word, "-", 2);
    if (start == NULL)
        return;
    start += strlen(name);
    end = memchr(start, '"', (size_t)(reply->body + reply->body_bytes - start));
    if (end == NULL || end == start || end - start >= WORD_BYTES)
        return;
    memcpy(word, start, (size_t)(end - start));
    word[end - start] = 0;
}

static void log_write(struct crowd *crowd, const struct connection *connection, uint64_t end_ns,
    uint32_t status, const char *what, const char *ticket, const char *order)
{
    const struct purchase *purchase = &crowd->plan.purchases[connection->ask.purchase];
    fprintf(crowd->log, "%u\t%u\t%u\t%d\t%c\t%" PRIu64 "\t%" PRIu64 "\t%u\t%s\t%s\t%s\n",
        purchase->user, purchase->number, purchase->quantity, purchase->keyed,
        ask_letters[connection->ask.kind], connection->start_ns, end_ns, status, what, ticket, order);
    crowd->requests++;
}

static void purchase_final(struct crowd *crowd, struct purchase *purchase)
{
    if (!purchase->final)
        crowd->plan.open--;
    purchase->final = true;
}

/* Once more, unless another request for it is on its way. */
static void purchase_retry(struct crowd *crowd, uint32_t number, uint64_t now, uint64_t within_ns)
{
    const struct purchase *purchase = &crowd->plan.purchases[number];
    if (purchase->final || purchase->pending > 0)
        return;
    plan_ask(&crowd->plan, number, ASK_RETRY, now + random_below(&crowd->random, within_ns));
}

static void purchase_won(struct crowd *crowd, uint32_t number, uint64_t now)
{
    struct purchase *purchase = &crowd->plan.purchases[number];
    crowd->won += !purchase->won;
    purchase->won = true;
    purchase_final(crowd, purchase);
    if (purchase->later_asked || crowd->rest_ns != 0 || !chance(crowd, crowd->options.later_percent))
        return;
    purchase->later_asked = true;
    plan_ask(&crowd->plan, number, ASK_LATER, now + random_below(&crowd->random, LATER_NS));
}

static void purchase_sold_out(struct crowd *crowd, uint32_t number, uint64_t now)
{
    struct purchase *purchase = &crowd->plan.purchases[number];
    crowd->sold_out++;
    if (purchase->persists == crowd->options.persist_max || term_seen) {
        purchase_final(crowd, purchase);
        return;
    }
    purchase->persists++;
    purchase_retry(crowd, number, now, PERSIST_NS);
}

static void answer_take(struct crowd *crowd, struct connection *connection, const struct reply *reply)
{
    const uint64_t now = now_ns();
    const uint32_t number = connection->ask.purchase;
    struct purchase *purchase = &crowd->plan.purchases[number];
    char what[WORD_BYTES], ticket[WORD_BYTES], order[WORD_BYTES];
    word_find(reply, reply->status == 202 ? "\"outcome\":\"" : "\"/problems/", what);
    word_find(reply, "\"ticket\":\"", ticket);
    word_find(reply, "\"order\":\"", order);
    log_write(crowd, connection, now, reply->status, what, ticket, order);
    crowd->told++;
    crowd->away = false;
    purchase->pending--;
    if (reply->status == 202 || strcmp(what, "already-bought") == 0)
        purchase_won(crowd, number, now);
    else if (strcmp(what, "sold-out") == 0)
        purchase_sold_out(crowd, number, now);
    else if (strcmp(what, "limit-reached") == 0)
        purchase_final(crowd, purchase);
    else if (strcmp(what, "in-progress") == 0)
        purchase_retry(crowd, number, now, IN_PROGRESS_NS);
    else if (reply->status == 503)
        purchase_retry(crowd, number, now, RETRY_NS);
    else {
        if (crowd->unexpected++ < 5)
            fprintf(stderr, "crowd: unexpected %u %.*s\n", reply->status,
                (int)(reply->body_bytes < 300 ? reply->body_bytes : 300), reply->body);
        purchase_final(crowd, purchase);
    }
}

/* -- connections ------------------------------------------------------------------------------- */

static void connection_close(struct connection *connection)
{
    if (connection->fd >= 0)
        close(connection->fd);
    connection->fd = -1;
    connection->in_bytes = 0;
    connection->deaf = false;
}

static void connection_free(struct crowd *crowd, struct connection *connection)
{
    connection->busy = false;
    crowd->idle[crowd->idle_count++] = (uint32_t)(connection - crowd->connections);
}

/* The server closed it, or could not be reached. */
static void connection_broken(struct crowd *crowd, struct connection *connection)
{
    const uint64_t now = now_ns();
    connection_close(connection);
    if (!connection->busy)
        return;
    const uint32_t number = connection->ask.purchase;
    crowd->plan.purchases[number].pending--;
    if (connection->out_sent > 0) {
        log_write(crowd, connection, now, 0, "broken", "-", "-");
        crowd->broken++;
        crowd->plan.purchases[number].doubtful = true;
        purchase_retry(crowd, number, now, RETRY_NS);
    } else { /* never asked */
        plan_ask(&crowd->plan, number, connection->ask.kind, now);
        crowd->aways += !crowd->away;
        crowd->away = true;
        crowd->away_until_ns = now + AWAY_NS;
    }
    connection_free(crowd, connection);
}

/* We go away without waiting for the answer. */
static void connection_lose(struct crowd *crowd, struct connection *connection)
{
    const uint64_t now = now_ns();
    connection_close(connection);
    log_write(crowd, connection, now, 0, "lost", "-", "-");
    crowd->lost++;
    crowd->plan.purchases[connection->ask.purchase].pending--;
    crowd->plan.purchases[connection->ask.purchase].doubtful = true;
    purchase_retry(crowd, connection->ask.purchase, now, RETRY_NS);
    connection_free(crowd, connection);
}

static void connection_sent(struct crowd *crowd, struct connection *connection)
{
    if (!connection->dropped)
        return;
    connection->dropped = false;
    if (chance(crowd, 50)) {
        connection_lose(crowd, connection);
        return;
    }
    connection->deaf = true;
    uint32_t at = (crowd->deaf_head + crowd->deaf_count++) % crowd->options.connections;
    crowd->deaf[at] = (struct deaf){ .connection = (uint32_t)(connection - crowd->connections),
        .close_ns = now_ns() + DEAF_NS };
}

static void connection_flush(struct crowd *crowd, struct connection *connection)
{
    ssize_t bytes = send(connection->fd, connection->out + connection->out_sent,
        connection->out_bytes - connection->out_sent, MSG_NOSIGNAL);
    if (bytes < 0 && errno == EAGAIN)
        return;
    if (bytes < 0) {
        connection_broken(crowd, connection);
        return;
    }
    connection->out_sent += (size_t)bytes;
    if (connection->out_sent == connection->out_bytes)
        connection_sent(crowd, connection);
}

static void connection_open(struct crowd *crowd, struct connection *connection)
{
    const int yes = 1;
    const struct sockaddr_in address = { .sin_family = AF_INET,
        .sin_port = htons(crowd->options.port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
        .data.u32 = (uint32_t)(connection - crowd->connections) };
    connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (connection->fd < 0 || setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)) != 0
        || epoll_ctl(crowd->epoll, EPOLL_CTL_ADD, connection->fd, &event) != 0) {
        fprintf(stderr, "crowd: no socket: %m\n");
        exit(2);
    }
    /* A refusal comes as an event, or with the first send. */
    (void)!connect(connection->fd, (const struct sockaddr *)&address, sizeof(address));
}

static size_t request_write(const struct crowd *crowd, const struct purchase *purchase, char *out)
{
    char key[64] = "", body[32] = "";
    int body_bytes = 0;
    if (purchase->keyed)
        snprintf(key, sizeof(key), "Idempotency-Key: crowd-%u-%u\r\n", purchase->user, purchase->number);
    if (purchase->quantity != 1)
        body_bytes = snprintf(body, sizeof(body), "{\"quantity\":%u}", purchase->quantity);
    int bytes = snprintf(out, REQUEST_BYTES,
        "POST /v1/items/%u/buy HTTP/1.1\r\nHost: 127.0.0.1\r\nStampede-Pass: %.*s\r\n%s%s"
        "Content-Length: %d\r\n\r\n%s",
        crowd->options.item, PASS_BYTES, crowd->passes + (size_t)purchase->user * (PASS_BYTES + 1),
        key, body_bytes > 0 ? "Content-Type: application/json\r\n" : "", body_bytes, body);
    if (bytes < 0 || bytes >= REQUEST_BYTES)
        crowd_wrong("a request does not fit");
    return (size_t)bytes;
}

static void connection_ask(struct crowd *crowd, struct connection *connection, const struct ask *ask)
{
    const struct purchase *purchase = &crowd->plan.purchases[ask->purchase];
    connection->ask = *ask;
    connection->busy = true;
    connection->dropped = ask->kind != ASK_AGAIN && chance(crowd, crowd->options.lost_percent);
    connection->out_bytes = request_write(crowd, purchase, connection->out);
    connection->out_sent = 0;
    connection->start_ns = now_ns();
    if (purchase->pending < PENDING_MAX && (ask->kind == ASK_FIRST || ask->kind == ASK_RETRY)
        && chance(crowd, crowd->options.twin_percent))
        plan_ask(&crowd->plan, ask->purchase, ASK_TWIN, connection->start_ns);
    if (connection->fd < 0)
        connection_open(crowd, connection);
    connection_flush(crowd, connection);
}

static void connection_receive(struct crowd *crowd, struct connection *connection)
{
    struct reply reply;
    while (connection->fd >= 0) {
        size_t room = REPLY_BYTES - connection->in_bytes;
        ssize_t bytes = recv(connection->fd, connection->in + connection->in_bytes, room, 0);
        if (bytes < 0 && errno == EAGAIN)
            return;
        if (bytes <= 0) {
            connection_broken(crowd, connection);
            return;
        }
        connection->in_bytes += (size_t)bytes;
        enum reply_state state = reply_parse_http(connection->in, connection->in_bytes, &reply);
        if (state == REPLY_MORE && connection->in_bytes < REPLY_BYTES)
            continue;
        if (state != REPLY_WHOLE || !connection->busy || reply.bytes != connection->in_bytes) {
            fprintf(stderr, "crowd: not the reply to one request: %.*s\n",
                (int)(connection->in_bytes < 300 ? connection->in_bytes : 300), connection->in);
            exit(2);
        }
        connection->in_bytes = 0;
        answer_take(crowd, connection, &reply);
        connection_free(crowd, connection);
    }
}

/* -- the run ----------------------------------------------------------------------------------- */

static bool ask_next(struct crowd *crowd, uint64_t now, struct ask *ask)
{
    struct plan *plan = &crowd->plan;
    const struct crowd_options *options = &crowd->options;
    if (plan_due(plan, now, ask))
        return true;
    const bool beginning = !term_seen && plan->next < plan->count;
    if (beginning) {
        const double due = options->rate * (double)(now - crowd->start_ns) / 1e9;
        return (options->rate <= 0 || (double)plan->next < due) && plan_begin(plan, ask);
    }
    const bool rest = plan->open == 0 && plan->waiting_count == 0 && (!options->until_term || term_seen);
    if (rest && crowd->rest_ns == 0)
        crowd->rest_ns = now;
    return options->again && rest && now - crowd->rest_ns > REST_NS && plan_again(plan, ask);
}

static void asks_send(struct crowd *crowd, uint64_t now)
{
    struct ask ask;
    while (crowd->idle_count > 0) {
        const bool trying = crowd->idle_count < crowd->options.connections || now < crowd->away_until_ns;
        if ((crowd->away && trying) || !ask_next(crowd, now, &ask))
            return;
        uint32_t pick = (uint32_t)random_below(&crowd->random, crowd->idle_count);
        struct connection *connection = &crowd->connections[crowd->idle[pick]];
        crowd->idle[pick] = crowd->idle[--crowd->idle_count];
        connection_ask(crowd, connection, &ask);
    }
}

static void deaf_close(struct crowd *crowd, uint64_t now)
{
    while (crowd->deaf_count > 0 && crowd->deaf[crowd->deaf_head].close_ns <= now) {
        struct connection *connection = &crowd->connections[crowd->deaf[crowd->deaf_head].connection];
        crowd->deaf_head = (crowd->deaf_head + 1) % crowd->options.connections;
        crowd->deaf_count--;
        connection_lose(crowd, connection);
    }
}

static void events_handle(struct crowd *crowd, int timeout_ms)
{
    struct epoll_event events[EVENTS_MAX];
    int ready = epoll_wait(crowd->epoll, events, EVENTS_MAX, timeout_ms);
    for (int i = 0; i < ready; i++) {
        struct connection *connection = &crowd->connections[events[i].data.u32];
        if (connection->deaf || connection->fd < 0)
            continue;
        if (connection->busy && connection->out_sent < connection->out_bytes)
            connection_flush(crowd, connection);
        if (connection->fd >= 0 && !connection->deaf && (events[i].events & ~(uint32_t)EPOLLOUT) != 0)
            connection_receive(crowd, connection);
    }
}

static bool crowd_done(const struct crowd *crowd)
{
    const struct plan *plan = &crowd->plan;
    const bool begun = term_seen || (plan->next == plan->count && !crowd->options.until_term);
    return begun && plan->open == 0 && plan->waiting_count == 0
        && crowd->idle_count == crowd->options.connections
        && (!crowd->options.again || plan->again_next == plan->count);
}

/* True: everything has its final answer. */
static bool crowd_run(struct crowd *crowd)
{
    crowd->start_ns = now_ns();
    const uint64_t end_ns = crowd->start_ns + (uint64_t)(crowd->options.seconds_max * 1e9);
    for (uint64_t now = crowd->start_ns; now < end_ns; now = now_ns()) {
        deaf_close(crowd, now);
        asks_send(crowd, now);
        if (crowd_done(crowd))
            return true;
        const bool soon =
            crowd->deaf_count > 0 || crowd->plan.waiting_count > 0 || crowd->options.rate > 0;
        events_handle(crowd, soon ? 1 : WAIT_MS_MAX);
    }
    return false;
}

static void crowd_create(struct crowd *crowd, int argc, char **argv)
{
    size_t bytes;
    crowd_options_read(&crowd->options, argc, argv);
    const uint32_t count = crowd->options.connections;
    crowd->passes = source_map(crowd->options.passes_path, &bytes);
    if (crowd->passes == NULL || bytes % (PASS_BYTES + 1) != 0
        || bytes / (PASS_BYTES + 1) > UINT32_MAX / 32)
        crowd_wrong("the passes can't be read, or are not lines of 48 characters");
    crowd->users = (uint32_t)(bytes / (PASS_BYTES + 1));
    random_seed(&crowd->random, crowd->options.seed);
    plan_create(&crowd->plan, &crowd->options, crowd->users, &crowd->random);
    crowd->log = fopen(crowd->options.log_path, "we");
    crowd->epoll = epoll_create1(EPOLL_CLOEXEC);
    crowd->connections = calloc(count, sizeof(*crowd->connections));
    crowd->idle = calloc(count, sizeof(*crowd->idle));
    crowd->deaf = calloc(count, sizeof(*crowd->deaf));
    if (crowd->log == NULL || crowd->epoll < 0 || crowd->connections == NULL || crowd->idle == NULL
        || crowd->deaf == NULL)
        crowd_wrong("the log can't be written, or there is no memory");
    for (uint32_t i = 0; i < count; i++) {
        crowd->connections[i].fd = -1;
        crowd->idle[crowd->idle_count++] = i;
    }
}

static void crowd_close(struct crowd *crowd)
{
    for (uint32_t i = 0; i < crowd->options.connections; i++)
        connection_close(&crowd->connections[i]);
    close(crowd->epoll);
    plan_free(&crowd->plan);
    free(crowd->connections);
    free(crowd->idle);
    free(crowd->deaf);
    if (fclose(crowd->log) != 0)
        crowd_wrong("the log can't be written");
}

int main(int argc, char **argv)
{
    static struct crowd crowd;
    const struct sigaction stop = { .sa_handler = on_term };
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGINT, &stop, NULL);
    crowd_create(&crowd, argc, argv);
    const bool whole = crowd_run(&crowd);
    printf("{\"users\":%u,\"begun\":%u,\"open\":%u,\"requests\":%" PRIu64 ",\"told\":%" PRIu64
           ",\"won\":%" PRIu64 ",\"sold_out\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"broken\":%" PRIu64
           ",\"unexpected\":%" PRIu64 ",\"aways\":%" PRIu64 ",\"seconds\":%.2f}\n",
        crowd.users, crowd.plan.next, crowd.plan.open, crowd.requests, crowd.told, crowd.won,
        crowd.sold_out, crowd.lost, crowd.broken, crowd.unexpected, crowd.aways,
        (double)(now_ns() - crowd.start_ns) / 1e9);
    crowd_close(&crowd);
    return whole ? 0 : 3;
}
