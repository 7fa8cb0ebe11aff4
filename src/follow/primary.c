/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/primary.h"

#include "base/clock.h"
#include "base/disk.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/thread.h"
#include "config/fence.h"
#include "follow/feed.h"
#include "follow/greeter.h"
#include "follow/sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PEER_EVERY_MS = 5000,
    FILES_EVERY_MS = 200, /* small files are looked at */
    WATCH_MS = 100,
    FAULT_WAIT_MS = 1000,
    REFUSALS_TELL_MS = 60000,
};

struct primary {
    struct primary_config config;
    const struct config *settings;
    struct follow_secret secret;
    struct peer self; /* constant after open */
    struct stream *stream;
    struct sweep *sweep;
    struct greeter *greeter;
    struct wake wake; /* the feed's */
    struct feed *feed;
    struct thread door_thread, files_thread;
    _Atomic bool stopping, files_end, fenced;
};

GAUGE(connected_gauge, "stampede_follow_connected", "1: a follower is connected.");
GAUGE(current_gauge, "stampede_follow_current",
    "1: the follower's copy is whole and nearly as new as this machine's.");
GAUGE(lag_gauge, "stampede_follow_lag_bytes", "Changes that the follower has not acknowledged, in bytes.");
COUNTER(base_bytes_counter, "stampede_follow_base_bytes_total",
    "Bytes of files that were sent for whole copies, without what the follower had already.");

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

/* Whether the session goes to the feed's thread. */
static bool follower_take(struct primary *primary, struct session *session,
    const struct wire_word *word, struct wire_word *answer)
{
    if (word->data_id != 0 && word->data_id != primary->self.data_id) {
        *answer = refusal(primary, WIRE_REASON_OTHER_SHOP);
        return false;
    }
    *answer = refusal(primary, WIRE_REASON_TAKEN);
    return feed_take(primary->feed, session, word);
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

static void caller_hear(struct primary *primary, struct session *session)
{
    struct wire_word word;
    const enum status status = session_word_receive(session, &word);
    if (status == STATUS_OK && word_answer(primary, session, &word))
        return;
    if (status == STATUS_CONFLICT) {
        const struct wire_word answer = refusal(primary, WIRE_REASON_VERSION);
        log_error("follow",
            "a caller speaks version %u of the protocol, this program version %d: run the same "
            "program on both machines",
            word.version, WIRE_VERSION);
        if (session_word_send(session, &answer) != STATUS_OK)
            log_warn("follow", "a caller was gone before it heard our answer");
    }
    session_end(session);
    free(session);
}

/* Anybody can knock, so that is told once a minute at most. */
static void refusals_tell(struct primary *primary, uint64_t *told, uint64_t *told_ms)
{
    const uint64_t refused = greeter_refused(primary->greeter), now_ms = clock_monotonic_ms();
    if (refused == *told || (*told_ms != 0 && now_ms - *told_ms < REFUSALS_TELL_MS))
        return;
    log_warn("follow", "%" PRIu64 " callers did not know the secret, or did not speak our language",
        refused - *told);
    *told = refused;
    *told_ms = now_ms;
}

static void door_run(void *context)
{
    struct primary *primary = context;
    uint64_t told = 0, told_ms = 0;
    metrics_thread_enter();
    while (!atomic_load(&primary->stopping)) {
        struct session *session = greeter_next(primary->greeter, WATCH_MS);
        if (session != NULL)
            caller_hear(primary, session);
        refusals_tell(primary, &told, &told_ms);
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

static enum status base_send(struct primary *primary, uint64_t number, const struct block_set *had)
{
    bool done = false;
    const enum status status = sweep_base(primary->sweep, number, had, &done);
    const uint64_t bytes = sweep_sent_bytes(primary->sweep);
    metric_add(&base_bytes_counter, bytes);
    if (done)
        log_info("follow",
            "the whole copy is sent, %" PRIu64
            " MiB that the follower had not; it is whole when it says so",
            bytes >> 20);
    return status;
}

static void files_run(void *context)
{
    struct primary *primary = context;
    uint64_t asked_ms = clock_monotonic_ms(), number = 0, had_number = 0;
    struct block_set *had = NULL;
    metrics_thread_enter();
    thread_rank_set(THREAD_BACKGROUND);
    while (!atomic_load(&primary->stopping) && !atomic_load(&primary->files_end)) {
        enum status status = STATUS_OK;
        if (stream_base_wanted(primary->stream, &number)) {
            if (feed_had(primary->feed, number, &had, &had_number))
                status = base_send(primary, number, had);
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
    block_set_close(had);
}

/* ---- all of it ---- */

static enum status port_open(struct primary *primary, char error[CONFIG_ERROR])
{
    uint16_t port = 0;
    const int listener = session_listen(primary->settings->follow_listen, &port);
    if (listener < 0) {
        snprintf(error, CONFIG_ERROR, "can't listen on follow.listen %.100s: %s",
            primary->settings->follow_listen, strerrordesc_np(errno));
        return STATUS_IO;
    }
    log_info("follow", "listening for a follower on port %u, mode %s, alone %s", port,
        primary->settings->follow_mode, primary->settings->follow_alone);
    const enum status status = greeter_open(&primary->greeter, listener, &primary->secret);
    if (status != STATUS_OK)
        close(listener);
    return status;
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
        .link = &primary->wake };
    const enum status status = stream_open(&primary->stream, &config);
    if (status != STATUS_OK)
        return status;
    const struct feed_config feed = { .stream = primary->stream,
        .self = &primary->self,
        .wake = &primary->wake,
        .away_ms = settings->follow_away_ms };
    return feed_open(&primary->feed, &feed);
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
    enum status status = wake_open(&primary->wake);
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
        status = port_open(primary, error);
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
        status = feed_start(primary->feed);
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
    feed_stop(primary->feed);
    thread_join(&primary->files_thread);
    feed_close(primary->feed);
    greeter_close(primary->greeter);
    sweep_close(primary->sweep);
    stream_close(primary->stream);
    wake_close(&primary->wake);
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
