/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/primary.h"

#include "base/clock.h"
#include "base/disk.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/thread.h"
#include "config/fence.h"
#include "follow/peer.h"
#include "follow/sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    GREETING_MS = 2000, /* for each step of a greeting */
    PEER_EVERY_MS = 5000,
    FILES_EVERY_MS = 200, /* small files are looked at */
    QUIET_MS = 500,       /* without changes an empty record is sent */
    WATCH_MS = 100,
    FAULT_WAIT_MS = 1000,
};

struct primary {
    struct primary_config config;
    const struct config *settings;
    struct follow_secret secret;
    struct peer self; /* constant after open */
    struct stream *stream;
    struct sweep *sweep;
    int door;
    struct wake link;
    struct thread door_thread, link_thread, files_thread;
    _Atomic bool stopping, files_end, fenced;
    /* A follower that was greeted, for the link's thread. */
    pthread_mutex_t lock;
    struct session *waiting; /* NULL: none */
    struct wire_word waiting_word;
    bool serving;
    uint8_t chunk[WIRE_RECORD_MAX]; /* the link's */
};

GAUGE(connected_gauge, "stampede_follow_connected", "1: a follower is connected.");
GAUGE(current_gauge, "stampede_follow_current",
    "1: the follower's copy is whole and nearly as new as this machine's.");
GAUGE(lag_gauge, "stampede_follow_lag_bytes", "Changes that the follower has not acknowledged, in bytes.");
COUNTER(bases_counter, "stampede_follow_bases_total", "Whole copies that a follower asked for.");

/* ---- the fence ---- */

/* Another machine has a newer generation: nothing is told from here on. */
static void fence_self(struct primary *primary, uint64_t generation)
{
    if (atomic_exchange(&primary->fenced, true))
        return;
    stream_stop(primary->stream);
    const enum status status = fenced_write(primary->config.root, generation);
    log_error("follow",
        "another machine has taken over this shop (generation %" PRIu64 ", ours is %" PRIu64
        "): this folder is sealed%s",
        generation, primary->self.generation,
        status == STATUS_OK ? "" : ", but the file fenced can't be written");
}

/* ---- the door ---- */

static struct wire_word refusal(const struct primary *primary, enum wire_reason reason)
{
    struct wire_word word = peer_word(&primary->self, WIRE_REFUSED);
    word.reason = reason;
    return word;
}

/* Whether the session goes to the link's thread. */
static bool follower_take(struct primary *primary, struct session *session,
    const struct wire_word *word, struct wire_word *answer)
{
    if (word->data_id != 0 && word->data_id != primary->self.data_id) {
        *answer = refusal(primary, WIRE_REASON_OTHER_SHOP);
        return false;
    }
    pthread_mutex_lock(&primary->lock);
    const bool taken = primary->serving || primary->waiting != NULL;
    if (!taken) {
        primary->waiting = session;
        primary->waiting_word = *word;
    }
    pthread_mutex_unlock(&primary->lock);
    *answer = refusal(primary, WIRE_REASON_TAKEN);
    if (!taken)
        wake_signal(&primary->link);
    return !taken;
}

/* What a caller says after the greeting. True: the session is kept. */
static bool word_answer(struct primary *primary, struct session *session, const struct wire_word *word)
{
    struct wire_word answer = peer_word(&primary->self, WIRE_ANSWER);
    const bool fences = peer_is_newer(&primary->self, word)
        && (word->kind == WIRE_ASK || word->kind == WIRE_FENCE || word->kind == WIRE_FOLLOW);
    if (fences) {
        fence_self(primary, word->generation);
        answer.kind = WIRE_FENCED;
    } else if (word->kind == WIRE_FOLLOW) {
        if (follower_take(primary, session, word, &answer))
            return true;
    } else if (word->kind == WIRE_FENCE) {
        answer = refusal(primary,
            word->data_id == primary->self.data_id ? WIRE_REASON_OLD : WIRE_REASON_OTHER_SHOP);
    } else if (word->kind != WIRE_ASK) {
        return false;
    }
    if (session_word_send(session, &answer) != STATUS_OK)
        log_warn("follow", "a caller was gone before it heard our answer");
    if (fences)
        primary->config.fenced(word->generation);
    return false;
}

static void caller_greet(struct primary *primary, int fd)
{
    struct session *session = calloc(1, sizeof *session);
    struct wire_word word;
    if (session == NULL) {
        close(fd);
        return;
    }
    enum status status = session_answer(session, fd, &primary->secret, GREETING_MS);
    if (status == STATUS_BAD_INPUT)
        log_warn("follow", "a caller does not know the secret, or does not speak our language");
    if (status == STATUS_OK) {
        status = session_word_receive(session, &word);
        if (status == STATUS_OK && word_answer(primary, session, &word))
            return;
        session_end(session);
    }
    free(session);
}

static void door_run(void *context)
{
    struct primary *primary = context;
    metrics_thread_enter();
    while (!atomic_load(&primary->stopping)) {
        struct pollfd look = { .fd = primary->door, .events = POLLIN };
        if (poll(&look, 1, WATCH_MS) <= 0)
            continue;
        const int fd = accept4(primary->door, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0)
            caller_greet(primary, fd);
    }
}

/* ---- the link ---- */

static struct session *waiting_take(struct primary *primary, struct wire_word *word)
{
    pthread_mutex_lock(&primary->lock);
    struct session *session = primary->waiting;
    primary->waiting = NULL;
    primary->serving = session != NULL;
    *word = primary->waiting_word;
    pthread_mutex_unlock(&primary->lock);
    return session;
}

static enum status link_hear(struct primary *primary, struct session *session, uint64_t *heard_ms)
{
    struct wire_word word;
    enum status status = session_word_receive(session, &word);
    *heard_ms = clock_monotonic_ms();
    if (status == STATUS_OK)
        status = word.kind == WIRE_ACK ? stream_acknowledge(primary->stream, word.position)
                                       : STATUS_BAD_INPUT;
    return status;
}

/* Sends what there is; hears acknowledgements in between. */
static enum status link_send(
    struct primary *primary, struct session *session, uint64_t *sent_ms, uint64_t *heard_ms)
{
    size_t bytes = 1;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && bytes > 0) {
        status = stream_take(primary->stream, primary->chunk, sizeof primary->chunk, &bytes);
        if (status == STATUS_OK && bytes > 0) {
            status = session_send(session, primary->chunk, bytes);
            *sent_ms = clock_monotonic_ms();
        }
        if (status == STATUS_OK && bytes > 0 && session_has_bytes(session, 0))
            status = link_hear(primary, session, heard_ms);
    }
    if (status == STATUS_OK && clock_monotonic_ms() - *sent_ms >= QUIET_MS) {
        status = session_send(session, primary->chunk, 0);
        *sent_ms = clock_monotonic_ms();
    }
    return status;
}

static const char *link_trouble(enum status status)
{
    return status == STATUS_FULL     ? "it was too slow, and needs a new base"
        : status == STATUS_BAD_INPUT ? "it does not keep to the protocol"
                                     : "the connection is gone";
}

static enum status link_serve(struct primary *primary, struct session *session)
{
    uint64_t sent_ms = clock_monotonic_ms(), heard_ms = sent_ms;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && !atomic_load(&primary->stopping)) {
        struct pollfd look[] = { { .fd = session->fd, .events = POLLIN },
            { .fd = primary->link.fd, .events = POLLIN } };
        (void)poll(look, 2, WATCH_MS);
        wake_clear(&primary->link);
        status = link_send(primary, session, &sent_ms, &heard_ms);
        while (status == STATUS_OK && session_has_bytes(session, 0))
            status = link_hear(primary, session, &heard_ms);
        if (clock_monotonic_ms() - heard_ms > primary->settings->follow_away_ms)
            status = STATUS_AWAY;
    }
    return status;
}

static void link_session(struct primary *primary, struct session *session, const struct wire_word *word)
{
    struct stream_state state;
    struct wire_word welcome = peer_word(&primary->self, WIRE_WELCOME);
    const bool known = word->data_id != 0 && word->generation == primary->self.generation;
    welcome.resumes = stream_attach(
        primary->stream, known ? word->epoch : 0, word->position, word->whole, &welcome.position);
    welcome.whole = welcome.resumes && word->whole;
    stream_look(primary->stream, &state);
    welcome.epoch = state.epoch;
    welcome.head = state.head;
    log_info("follow", "the follower is connected: %s",
        welcome.resumes ? "it goes on where it was" : "it gets a whole copy first");
    if (!welcome.resumes)
        metric_add(&bases_counter, 1);
    session_patience(session, (uint32_t)primary->settings->follow_away_ms);
    enum status status = session_word_send(session, &welcome);
    if (status == STATUS_OK)
        status = link_serve(primary, session);
    stream_detach(primary->stream);
    if (status != STATUS_OK)
        log_warn("follow", "the follower is away: %s", link_trouble(status));
}

static void link_run(void *context)
{
    struct primary *primary = context;
    struct wire_word word;
    metrics_thread_enter();
    while (!atomic_load(&primary->stopping)) {
        struct session *session = waiting_take(primary, &word);
        if (session == NULL) {
            wake_wait(&primary->link, WATCH_MS);
            continue;
        }
        link_session(primary, session, &word);
        session_end(session);
        free(session);
    }
}

/* ---- files ---- */

static void peer_watch(struct primary *primary)
{
    struct wire_word answer;
    if (peer_ask(&primary->self, &answer) == STATUS_OK && peer_is_newer(&primary->self, &answer)) {
        fence_self(primary, answer.generation);
        primary->config.fenced(answer.generation);
    }
}

static void files_run(void *context)
{
    struct primary *primary = context;
    uint64_t asked_ms = clock_monotonic_ms(), number = 0;
    bool done = false;
    metrics_thread_enter();
    thread_rank_set(THREAD_BACKGROUND);
    while (!atomic_load(&primary->stopping) && !atomic_load(&primary->files_end)) {
        enum status status = STATUS_OK;
        if (stream_base_wanted(primary->stream, &number)) {
            status = sweep_base(primary->sweep, number, &done);
            if (done)
                log_info("follow", "the whole copy is sent; the follower has it when it says so");
        } else if (number > 0) {
            status = sweep_small_files(primary->sweep, number);
        }
        if (status != STATUS_OK)
            log_error("follow", "a file of the data folder can't be read for the follower: %s",
                strerrordesc_np(errno));
        if (primary->self.address[0] != 0 && clock_monotonic_ms() - asked_ms >= PEER_EVERY_MS) {
            peer_watch(primary);
            asked_ms = clock_monotonic_ms();
        }
        poll(NULL, 0, status == STATUS_OK ? FILES_EVERY_MS : FAULT_WAIT_MS);
    }
}

/* ---- all of it ---- */

static enum status door_open(struct primary *primary, char error[CONFIG_ERROR])
{
    uint16_t port = 0;
    primary->door = session_listen(primary->settings->follow_listen, &port);
    if (primary->door < 0) {
        snprintf(error, CONFIG_ERROR, "can't listen on follow.listen %.100s: %s",
            primary->settings->follow_listen, strerrordesc_np(errno));
        return STATUS_IO;
    }
    log_info("follow", "listening for a follower on port %u, mode %s, alone %s", port,
        primary->settings->follow_mode, primary->settings->follow_alone);
    return STATUS_OK;
}

static enum status stream_make(struct primary *primary)
{
    const struct config *settings = primary->settings;
    size_t ring = 1024 * 1024;
    while (ring < settings->follow_buffer_mib * 1024 * 1024)
        ring *= 2;
    const struct stream_config config = { .ring_bytes = ring,
        .sync = strcmp(settings->follow_mode, "sync") == 0,
        .sells_alone = strcmp(settings->follow_alone, "sell") == 0,
        .away_ms = settings->follow_away_ms,
        .link = &primary->link };
    return stream_open(&primary->stream, &config);
}

enum status primary_open(
    struct primary **opened, const struct primary_config *config, char error[CONFIG_ERROR])
{
    struct primary *primary = calloc(1, sizeof *primary);
    *opened = NULL;
    if (primary == NULL)
        return STATUS_FULL;
    primary->config = *config;
    primary->settings = config->config;
    primary->self = (struct peer){ .address = config->config->follow_peer,
        .secret = &primary->secret,
        .root = config->root,
        .data_id = config->data_id };
    primary->door = -1;
    pthread_mutex_init(&primary->lock, NULL);
    enum status status = wake_open(&primary->link);
    if (status == STATUS_OK) {
        status = follow_secret_read(primary->settings->follow_secret_file, &primary->secret);
        if (status != STATUS_OK)
            snprintf(error, CONFIG_ERROR,
                "follow.secret_file must be readable and hold %d to %d characters", WIRE_SECRET_MIN,
                WIRE_SECRET_MAX);
    }
    if (status == STATUS_OK)
        status = generation_read(config->root, &primary->self.generation);
    if (status == STATUS_OK)
        status = peer_check(&primary->self, error);
    if (status == STATUS_OK)
        status = stream_make(primary);
    if (status == STATUS_OK)
        status = door_open(primary, error);
    if (status != STATUS_OK) {
        primary_close(primary);
        return status;
    }
    *opened = primary;
    return STATUS_OK;
}

struct mirror *primary_mirror(struct primary *primary)
{
    return stream_mirror(primary->stream);
}

enum status primary_start(struct primary *primary)
{
    enum status status = sweep_open(&primary->sweep, primary->settings->folder, primary->stream);
    if (status != STATUS_OK)
        return status;
    stream_arm(primary->stream);
    status = thread_start(&primary->door_thread, "follow-door", door_run, primary);
    if (status == STATUS_OK)
        status = thread_start(&primary->link_thread, "follow-link", link_run, primary);
    if (status == STATUS_OK)
        status = thread_start(&primary->files_thread, "follow-files", files_run, primary);
    return status;
}

void primary_finish(struct primary *primary, uint64_t give_up_ms)
{
    struct stream_state state;
    uint64_t number = 0;
    stream_look(primary->stream, &state);
    if (state.current) { /* what was written last, once more */
        atomic_store(&primary->files_end, true);
        thread_join(&primary->files_thread);
        if (!stream_base_wanted(primary->stream, &number)
            && sweep_small_files(primary->sweep, number) != STATUS_OK)
            log_warn("follow", "small files can't be read for the follower: %s", strerrordesc_np(errno));
    }
    while (state.connected && !stream_is_idle(primary->stream) && clock_now_ms() < give_up_ms) {
        poll(NULL, 0, 10);
        stream_look(primary->stream, &state);
    }
}

void primary_release(struct primary *primary)
{
    stream_stop(primary->stream);
}

void primary_close(struct primary *primary)
{
    if (primary == NULL)
        return;
    atomic_store(&primary->stopping, true);
    if (primary->stream != NULL)
        stream_stop(primary->stream);
    thread_join(&primary->door_thread);
    thread_join(&primary->link_thread);
    thread_join(&primary->files_thread);
    if (primary->waiting != NULL) {
        session_end(primary->waiting);
        free(primary->waiting);
    }
    if (primary->door >= 0)
        close(primary->door);
    sweep_close(primary->sweep);
    stream_close(primary->stream);
    wake_close(&primary->link);
    pthread_mutex_destroy(&primary->lock);
    explicit_bzero(&primary->secret, sizeof primary->secret);
    free(primary);
}

void primary_look(struct primary *primary, struct primary_state *state)
{
    struct stream_state stream;
    stream_look(primary->stream, &stream);
    *state = (struct primary_state){ .connected = stream.connected,
        .current = stream.current,
        .away = stream.away,
        .wins_wait = stream.away && strcmp(primary->settings->follow_mode, "sync") == 0
            && strcmp(primary->settings->follow_alone, "refuse") == 0,
        .lag_bytes = stream.head - stream.acked };
    metric_set(&connected_gauge, state->connected);
    metric_set(&current_gauge, state->current);
    metric_set(&lag_gauge, state->connected ? state->lag_bytes : 0);
}
