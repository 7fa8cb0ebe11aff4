/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/stream.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/histogram.h"
#include "base/random.h"
#include "base/thread.h"
#include "follow/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    LOOK_MS = 20,                /* how often a waiter looks at the clock */
    ROOM_WAIT_MS = 1000,         /* a writer waits so long for a slow follower, then it is cut */
    CURRENT_BYTES = 1024 * 1024, /* behind by less: it counts as being there */
    WAKE_BYTES = 128 * 1024,     /* what is not synced is sent in pieces of about this size */
};

struct stream {
    struct mirror mirror; /* first: a struct mirror * from us is a struct stream * */
    struct stream_config config;
    pthread_mutex_t parts[MIRROR_PARTS];
    pthread_mutex_t lock; /* of everything below */
    pthread_cond_t moved; /* acked, sent, connected or stopping has changed */
    uint8_t *ring;
    uint64_t epoch, head, sent, acked;
    uint64_t base_number, base_begin, base_end; /* base_end 0: not yet known */
    bool armed, stopping, connected, overrun;
    bool whole; /* the copy of the follower that was attached last */
    bool current;
    uint64_t missing_since_ms; /* while it is not current */
    uint64_t mark, mark_ms;    /* how far it must have got away_ms after mark_ms */
    uint64_t waits;
    uint8_t scratch[WIRE_CHANGE_MAX];
};

static HISTOGRAM(wait_times, "stampede_follow_wait_seconds",
    "Time that a synced change waited for the follower after it was on this machine's disk.");

static struct stream *stream_of(struct mirror *mirror)
{
    return (struct stream *)mirror;
}

/* Not there; or there, and slower than away_ms with what it was to get: one whose disk is full connects again
 * and again, and one that acknowledges a byte now and then holds answers as if it were not there. */
static bool is_away(const struct stream *stream)
{
    const uint64_t now_ms = clock_monotonic_ms(), away_ms = stream->config.away_ms;
    return (!stream->current && now_ms - stream->missing_since_ms >= away_ms)
        || (stream->acked < stream->mark && now_ms - stream->mark_ms >= away_ms);
}

/* The last mark was reached: everything that is there now is the next one. */
static void mark_renew(struct stream *stream)
{
    if (stream->acked < stream->mark)
        return;
    stream->mark = stream->head;
    stream->mark_ms = clock_monotonic_ms();
}

/* Waits with the lock held; a lost wake-up costs LOOK_MS. */
static void moved_wait(struct stream *stream)
{
    const uint64_t until_ns = clock_monotonic_ns() + LOOK_MS * UINT64_C(1000000);
    const struct timespec until = { .tv_sec = (time_t)(until_ns / 1000000000),
        .tv_nsec = (long)(until_ns % 1000000000) };
    (void)pthread_cond_timedwait(&stream->moved, &stream->lock, &until);
}

static void ring_copy_in(struct stream *stream, const uint8_t *data, uint32_t bytes)
{
    const size_t mask = stream->config.ring_bytes - 1, at = stream->head & mask;
    const size_t first = stream->config.ring_bytes - at < bytes ? stream->config.ring_bytes - at : bytes;
    memcpy(stream->ring + at, data, first);
    memcpy(stream->ring, data + first, bytes - first);
    stream->head += bytes;
}

/* With the lock held. */
static uint64_t note_locked(struct stream *stream, const struct mirror_change *change)
{
    const uint32_t bytes = wire_change_put(stream->scratch, change);
    ring_copy_in(stream, stream->scratch, bytes);
    mark_renew(stream);
    if (stream->head - stream->sent > stream->config.ring_bytes)
        stream->overrun = true;
    const bool small = change->kind == MIRROR_WRITE || change->kind == MIRROR_ZEROS;
    if (!small || stream->head - stream->sent > WAKE_BYTES)
        wake_signal(stream->config.link);
    return stream->head;
}

static bool has_room(const struct stream *stream, uint64_t most)
{
    return stream->head + WIRE_CHANGE_MAX - stream->sent <= most;
}

static uint64_t piece_note(struct stream *stream, const struct mirror_change *change)
{
    pthread_mutex_lock(&stream->lock);
    uint64_t position = 0;
    if (stream->armed) {
        const uint64_t since_ms = clock_monotonic_ms();
        while (stream->config.sync && stream->connected && !stream->stopping && !stream->overrun
            && !has_room(stream, stream->config.ring_bytes)
            && clock_monotonic_ms() - since_ms < ROOM_WAIT_MS)
            moved_wait(stream);
        position = note_locked(stream, change);
    }
    pthread_mutex_unlock(&stream->lock);
    return position;
}

static bool all_zero(const uint8_t *data, size_t bytes)
{
    return bytes > 8 && bytes_get_u64(data) == 0 && memcmp(data, data + 8, bytes - 8) == 0;
}

static uint64_t stream_note(struct mirror *mirror, const struct mirror_change *change)
{
    struct stream *stream = stream_of(mirror);
    uint64_t position = 0;
    uint32_t done = 0;
    if (change->kind != MIRROR_WRITE)
        return piece_note(stream, change);
    while (done < change->bytes) {
        struct mirror_change piece = *change;
        uint8_t zeros[8];
        piece.data = (const uint8_t *)change->data + done;
        piece.offset = change->offset + done;
        piece.bytes = change->bytes - done < WIRE_DATA_MAX ? change->bytes - done : WIRE_DATA_MAX;
        done += piece.bytes;
        if (all_zero(piece.data, piece.bytes)) {
            bytes_put_u64(zeros, piece.bytes);
            piece.kind = MIRROR_ZEROS;
            piece.data = zeros;
            piece.bytes = sizeof zeros;
        }
        position = piece_note(stream, &piece);
    }
    return position;
}

static void stream_enter(struct mirror *mirror, enum mirror_part part)
{
    pthread_mutex_lock(&stream_of(mirror)->parts[part]);
}

static void stream_leave(struct mirror *mirror, enum mirror_part part)
{
    pthread_mutex_unlock(&stream_of(mirror)->parts[part]);
}

static enum status wait_locked(struct stream *stream, uint64_t position, bool endless)
{
    for (;;) {
        if (stream->whole && stream->acked >= position)
            return STATUS_OK;
        if (stream->stopping)
            return STATUS_IO;
        if (is_away(stream) && stream->config.sells_alone)
            return STATUS_OK;
        if (is_away(stream) && !endless)
            return STATUS_AWAY;
        moved_wait(stream);
    }
}

static enum status stream_wait(struct mirror *mirror, uint64_t position, bool endless)
{
    struct stream *stream = stream_of(mirror);
    if (position == 0 || !stream->config.sync)
        return STATUS_OK;
    const uint64_t since_ns = clock_monotonic_ns();
    pthread_mutex_lock(&stream->lock);
    stream->waits++;
    const enum status status = wait_locked(stream, position, endless);
    stream->waits--;
    pthread_mutex_unlock(&stream->lock);
    histogram_note(&wait_times, (clock_monotonic_ns() - since_ns) / 1000);
    return status;
}

static const struct mirror_ops stream_ops = {
    .enter = stream_enter,
    .leave = stream_leave,
    .note = stream_note,
    .wait = stream_wait,
};

enum status stream_open(struct stream **opened, const struct stream_config *config)
{
    pthread_condattr_t monotonic;
    struct stream *stream = calloc(1, sizeof *stream);
    *opened = NULL;
    if (stream == NULL)
        return STATUS_FULL;
    stream->mirror.ops = &stream_ops;
    stream->config = *config;
    stream->ring = malloc(config->ring_bytes);
    if (stream->ring == NULL) {
        free(stream);
        return STATUS_FULL;
    }
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&stream->moved, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&stream->lock, NULL);
    for (int part = 0; part < MIRROR_PARTS; part++)
        pthread_mutex_init(&stream->parts[part], NULL);
    random_secret(&stream->epoch, sizeof stream->epoch);
    stream->epoch |= 1; /* 0 is none */
    stream->missing_since_ms = clock_monotonic_ms();
    *opened = stream;
    return STATUS_OK;
}

void stream_close(struct stream *stream)
{
    if (stream == NULL)
        return;
    pthread_cond_destroy(&stream->moved);
    pthread_mutex_destroy(&stream->lock);
    for (int part = 0; part < MIRROR_PARTS; part++)
        pthread_mutex_destroy(&stream->parts[part]);
    free(stream->ring);
    free(stream);
}

struct mirror *stream_mirror(struct stream *stream)
{
    return &stream->mirror;
}

void stream_arm(struct stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    stream->armed = true;
    stream->missing_since_ms = clock_monotonic_ms();
    pthread_mutex_unlock(&stream->lock);
}

void stream_stop(struct stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    stream->stopping = true;
    pthread_cond_broadcast(&stream->moved);
    pthread_mutex_unlock(&stream->lock);
}

/* ---- the thread of the connection ---- */

static bool resumes_locked(const struct stream *stream, uint64_t epoch, uint64_t position, bool whole)
{
    const bool kept = epoch == stream->epoch && position <= stream->head
        && stream->head - position <= stream->config.ring_bytes;
    /* A base that was cut goes on only if it is the one that is being made. A whole copy does not go through
     * a base, which may speak of blocks of somebody's old copy. */
    const bool after = whole ? stream->base_end > 0 && position >= stream->base_end
                             : stream->base_number > 0 && position >= stream->base_begin;
    return kept && after;
}

bool stream_resumes(struct stream *stream, uint64_t epoch, uint64_t position, bool whole)
{
    pthread_mutex_lock(&stream->lock);
    const bool resumes = resumes_locked(stream, epoch, position, whole);
    pthread_mutex_unlock(&stream->lock);
    return resumes;
}

bool stream_attach(struct stream *stream, uint64_t epoch, uint64_t position, bool whole, uint64_t *from)
{
    pthread_mutex_lock(&stream->lock);
    const bool resumes = resumes_locked(stream, epoch, position, whole);
    if (!resumes) {
        stream->base_number++;
        stream->base_begin = position = stream->head;
        stream->base_end = 0;
    }
    stream->whole = resumes && whole;
    stream->acked = position;
    stream->sent = position;
    stream->overrun = false;
    stream->connected = true;
    *from = position;
    pthread_cond_broadcast(&stream->moved);
    pthread_mutex_unlock(&stream->lock);
    return resumes;
}

void stream_detach(struct stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    if (stream->current)
        stream->missing_since_ms = clock_monotonic_ms();
    stream->connected = false;
    stream->current = false;
    pthread_cond_broadcast(&stream->moved);
    pthread_mutex_unlock(&stream->lock);
}

enum status stream_take(struct stream *stream, uint8_t *out, size_t most, size_t *bytes)
{
    const size_t mask = stream->config.ring_bytes - 1;
    pthread_mutex_lock(&stream->lock);
    const uint64_t waiting = stream->head - stream->sent;
    const bool lost = stream->overrun || waiting > stream->config.ring_bytes;
    *bytes = lost ? 0 : waiting < most ? waiting : most;
    const size_t at = stream->sent & mask;
    const size_t first =
        stream->config.ring_bytes - at < *bytes ? stream->config.ring_bytes - at : *bytes;
    memcpy(out, stream->ring + at, first);
    memcpy(out + first, stream->ring, *bytes - first);
    stream->sent += *bytes;
    if (*bytes > 0)
        pthread_cond_broadcast(&stream->moved);
    pthread_mutex_unlock(&stream->lock);
    return lost ? STATUS_FULL : STATUS_OK;
}

enum status stream_acknowledge(struct stream *stream, uint64_t position)
{
    pthread_mutex_lock(&stream->lock);
    const bool good = position >= stream->acked && position <= stream->sent;
    if (good) {
        stream->acked = position;
        mark_renew(stream);
        stream->whole = stream->whole || (stream->base_end != 0 && position >= stream->base_end);
        stream->current = stream->current
            || (stream->whole && stream->connected && stream->head - position <= CURRENT_BYTES);
        pthread_cond_broadcast(&stream->moved);
    }
    pthread_mutex_unlock(&stream->lock);
    return good ? STATUS_OK : STATUS_BAD_INPUT;
}

/* ---- the thread that copies files ---- */

bool stream_base_wanted(struct stream *stream, uint64_t *number)
{
    pthread_mutex_lock(&stream->lock);
    *number = stream->base_number;
    const bool wanted = stream->armed && stream->base_number > 0 && stream->base_end == 0;
    pthread_mutex_unlock(&stream->lock);
    return wanted;
}

static bool base_goes_on(const struct stream *stream, uint64_t number)
{
    return !stream->stopping && stream->base_number == number;
}

bool stream_room_wait(struct stream *stream, uint64_t number)
{
    pthread_mutex_lock(&stream->lock);
    while (base_goes_on(stream, number) && !has_room(stream, stream->config.ring_bytes / 2))
        moved_wait(stream);
    const bool goes_on = base_goes_on(stream, number);
    pthread_mutex_unlock(&stream->lock);
    return goes_on;
}

bool stream_note_base(struct stream *stream, uint64_t number, const struct mirror_change *change)
{
    pthread_mutex_lock(&stream->lock);
    const bool goes_on = base_goes_on(stream, number);
    if (goes_on) {
        const uint64_t position = note_locked(stream, change);
        if (change->kind == MIRROR_BASE_END)
            stream->base_end = position;
    }
    pthread_mutex_unlock(&stream->lock);
    return goes_on;
}

/* ---- what people want to know ---- */

void stream_look(struct stream *stream, struct stream_state *state)
{
    pthread_mutex_lock(&stream->lock);
    *state = (struct stream_state){ .epoch = stream->epoch,
        .head = stream->head,
        .sent = stream->sent,
        .acked = stream->acked,
        .connected = stream->connected,
        .current = stream->current,
        .away = is_away(stream),
        .waits = stream->waits };
    pthread_mutex_unlock(&stream->lock);
}

bool stream_is_idle(struct stream *stream)
{
    struct stream_state state;
    stream_look(stream, &state);
    return state.current && state.acked == state.head;
}
