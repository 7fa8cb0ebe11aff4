/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/feed.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/thread.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

enum {
    QUIET_MS = 500, /* without changes an empty record is sent */
    WATCH_MS = 100,
};

struct feed {
    struct feed_config config;
    _Atomic bool stopping;
    struct thread thread;
    pthread_mutex_t lock;    /* of everything up to had_number */
    struct session *waiting; /* a follower that was greeted; NULL: none */
    struct wire_word waiting_word;
    bool serving;
    int fd; /* of the session that is served; -1: none */
    /* For whoever makes the base of this number: what its follower has; NULL: nothing is known. */
    struct block_set *had;
    uint64_t had_number;
    uint8_t chunk[WIRE_RECORD_MAX]; /* the thread's */
};

COUNTER(bases_counter, "stampede_follow_bases_total", "Whole copies that a follower asked for.");

bool feed_take(struct feed *feed, struct session *session, const struct wire_word *word)
{
    pthread_mutex_lock(&feed->lock);
    const bool taken = feed->serving || feed->waiting != NULL;
    if (!taken) {
        feed->waiting = session;
        feed->waiting_word = *word;
    }
    pthread_mutex_unlock(&feed->lock);
    if (!taken)
        wake_signal(feed->config.wake);
    return !taken;
}

static struct session *waiting_take(struct feed *feed, struct wire_word *word)
{
    pthread_mutex_lock(&feed->lock);
    struct session *session = feed->waiting;
    feed->waiting = NULL;
    feed->serving = session != NULL;
    *word = feed->waiting_word;
    pthread_mutex_unlock(&feed->lock);
    return session;
}

static enum status feed_hear(struct feed *feed, struct session *session, uint64_t *heard_ms)
{
    struct wire_word word;
    enum status status = session_word_receive(session, &word);
    *heard_ms = clock_monotonic_ms();
    if (status == STATUS_OK)
        status = word.kind == WIRE_ACK ? stream_acknowledge(feed->config.stream, word.position)
                                       : STATUS_BAD_INPUT;
    return status;
}

/* Sends what there is; hears acknowledgements in between. */
static enum status feed_send(
    struct feed *feed, struct session *session, uint64_t *sent_ms, uint64_t *heard_ms)
{
    size_t bytes = 1;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && bytes > 0) {
        status = stream_take(feed->config.stream, feed->chunk, sizeof feed->chunk, &bytes);
        if (status == STATUS_OK && bytes > 0) {
            status = session_send(session, feed->chunk, bytes);
            *sent_ms = clock_monotonic_ms();
        }
        if (status == STATUS_OK && bytes > 0 && session_has_bytes(session, 0))
            status = feed_hear(feed, session, heard_ms);
    }
    if (status == STATUS_OK && clock_monotonic_ms() - *sent_ms >= QUIET_MS) {
        status = session_send(session, feed->chunk, 0);
        *sent_ms = clock_monotonic_ms();
    }
    return status;
}

static const char *feed_trouble(enum status status)
{
    return status == STATUS_FULL     ? "it was too slow, and needs a new base"
        : status == STATUS_BAD_INPUT ? "it does not keep to the protocol"
                                     : "the connection is gone";
}

static enum status feed_serve(struct feed *feed, struct session *session)
{
    uint64_t sent_ms = clock_monotonic_ms(), heard_ms = sent_ms;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && !atomic_load(&feed->stopping)) {
        struct pollfd look[] = { { .fd = session->fd, .events = POLLIN },
            { .fd = feed->config.wake->fd, .events = POLLIN } };
        (void)poll(look, 2, WATCH_MS);
        wake_clear(feed->config.wake);
        status = feed_send(feed, session, &sent_ms, &heard_ms);
        while (status == STATUS_OK && session_has_bytes(session, 0))
            status = feed_hear(feed, session, &heard_ms);
        if (clock_monotonic_ms() - heard_ms > feed->config.away_ms)
            status = STATUS_AWAY;
    }
    return status;
}

/* The names of the blocks that the follower has, before the base that it needs begins: until then it does not
 * count as being there, and nothing waits in the ring for it. What finds no room is sent. */
static enum status had_hear(struct feed *feed, struct session *session, struct block_set **had)
{
    const struct wire_word question = peer_word(feed->config.self, WIRE_COMPARE);
    enum status status = block_set_open(had);
    bool more = true, fits = true;
    if (status == STATUS_OK)
        status = session_word_send(session, &question);
    while (status == STATUS_OK && more) {
        struct span record, names = { 0 };
        status = session_receive(session, &record);
        if (status == STATUS_OK)
            status = wire_names_read(record, &names, &more);
        if (status == STATUS_OK && fits)
            fits = block_set_add(*had, names) == STATUS_OK;
    }
    if (status == STATUS_OK)
        block_set_sort(*had);
    return status;
}

/* The base whose number was given out last may begin. */
static void had_offer(struct feed *feed, struct block_set *had)
{
    uint64_t number;
    (void)stream_base_wanted(feed->config.stream, &number);
    pthread_mutex_lock(&feed->lock);
    block_set_close(feed->had);
    feed->had = had;
    feed->had_number = number;
    pthread_mutex_unlock(&feed->lock);
}

/* The welcome, when the stream has a place for the follower. *attached: it must be detached. */
static enum status feed_attach(
    struct feed *feed, struct session *session, const struct wire_word *word, bool *attached)
{
    struct stream_state state;
    struct block_set *had = NULL;
    struct wire_word welcome = peer_word(feed->config.self, WIRE_WELCOME);
    const bool known = word->data_id != 0 && word->generation == feed->config.self->generation;
    const uint64_t epoch = known ? word->epoch : 0;
    enum status status = STATUS_OK;
    if (word->data_id != 0 && !stream_resumes(feed->config.stream, epoch, word->position, word->whole))
        status = had_hear(feed, session, &had);
    if (status != STATUS_OK) {
        block_set_close(had);
        return status;
    }
    welcome.resumes =
        stream_attach(feed->config.stream, epoch, word->position, word->whole, &welcome.position);
    *attached = true;
    welcome.whole = welcome.resumes && word->whole;
    stream_look(feed->config.stream, &state);
    welcome.epoch = state.epoch;
    welcome.head = state.head;
    if (welcome.resumes) {
        log_info("follow", "the follower is connected: it goes on where it was");
        block_set_close(had);
    } else {
        log_info("follow",
            "the follower is connected: it gets a whole copy first; it has %u blocks of one",
            had == NULL ? 0 : block_set_count(had));
        metric_add(&bases_counter, 1);
        had_offer(feed, had);
    }
    return session_word_send(session, &welcome);
}

/* A session that is ended by feed_stop, however long its peer would keep us waiting. */
static void served_set(struct feed *feed, int fd)
{
    pthread_mutex_lock(&feed->lock);
    feed->fd = fd;
    if (fd >= 0 && atomic_load(&feed->stopping))
        (void)shutdown(fd, SHUT_RDWR);
    pthread_mutex_unlock(&feed->lock);
}

static void feed_session(struct feed *feed, struct session *session, const struct wire_word *word)
{
    bool attached = false;
    session_patience(session, (uint32_t)feed->config.away_ms);
    enum status status = feed_attach(feed, session, word, &attached);
    if (status == STATUS_OK)
        status = feed_serve(feed, session);
    if (attached)
        stream_detach(feed->config.stream);
    if (status != STATUS_OK && !atomic_load(&feed->stopping))
        log_warn("follow", "the follower is away: %s", feed_trouble(status));
}

static void feed_run(void *context)
{
    struct feed *feed = context;
    struct wire_word word;
    metrics_thread_enter();
    while (!atomic_load(&feed->stopping)) {
        struct session *session = waiting_take(feed, &word);
        if (session == NULL) {
            wake_wait(feed->config.wake, WATCH_MS);
            continue;
        }
        served_set(feed, session->fd);
        feed_session(feed, session, &word);
        served_set(feed, -1);
        session_end(session);
        free(session);
    }
}

bool feed_had(struct feed *feed, uint64_t number, struct block_set **had, uint64_t *had_number)
{
    pthread_mutex_lock(&feed->lock);
    if (*had_number != number && feed->had_number == number) {
        block_set_close(*had);
        *had = feed->had;
        *had_number = number;
        feed->had = NULL;
    }
    pthread_mutex_unlock(&feed->lock);
    return *had_number == number;
}

/* ---- all of it ---- */

enum status feed_open(struct feed **opened, const struct feed_config *config)
{
    struct feed *feed = calloc(1, sizeof *feed);
    *opened = feed;
    if (feed == NULL)
        return STATUS_FULL;
    feed->config = *config;
    feed->fd = -1;
    pthread_mutex_init(&feed->lock, NULL);
    return STATUS_OK;
}

enum status feed_start(struct feed *feed)
{
    return thread_start(&feed->thread, "follow-link", feed_run, feed);
}

void feed_stop(struct feed *feed)
{
    if (feed == NULL)
        return;
    pthread_mutex_lock(&feed->lock);
    atomic_store(&feed->stopping, true);
    if (feed->fd >= 0)
        (void)shutdown(feed->fd, SHUT_RDWR);
    pthread_mutex_unlock(&feed->lock);
    thread_join(&feed->thread);
}

void feed_close(struct feed *feed)
{
    if (feed == NULL)
        return;
    if (feed->waiting != NULL) {
        session_end(feed->waiting);
        free(feed->waiting);
    }
    block_set_close(feed->had);
    pthread_mutex_destroy(&feed->lock);
    free(feed);
}
