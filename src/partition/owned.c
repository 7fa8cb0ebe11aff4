/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/owned.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "contract/cluster_store.h"
#include "orders/order_writer.h"
#include "queue/broker.h"
#include "queue/stream_queue.h"
#include "redis/caller.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>

COUNTER(records_confirmed, "stampede_partition_records_total",
    "Records that the engine has confirmed and the database has.");
static struct metric closings[] = {
#define CLOSING_ROW(name, label) \
    [CLOSING_##name] = METRIC_ROW(METRIC_COUNTER, "stampede_partition_closed_total", \
        "reason=\"" label "\"", "Partitions that were closed or could not be opened, by reason."),
    CLOSING_LIST(CLOSING_ROW)
#undef CLOSING_ROW
};
static_assert(sizeof closings / sizeof *closings == CLOSINGS, "one for each");
METRIC_TABLE(closings);

static const char *const closing_labels[] = { "",
#define CLOSING_LABEL(name, label) label,
    CLOSING_LIST(CLOSING_LABEL)
#undef CLOSING_LABEL
};
static_assert(sizeof closing_labels / sizeof *closing_labels == CLOSINGS, "one for each");

void owned_init(
    struct owned *owned, const struct opener_config *config, owned_alarm *alarm, uint32_t *alarmed)
{
    *owned = (struct owned){ .alarm = alarm };
    owned->alarmed = alarmed;
    opener_init(&owned->opener, config);
}

bool owned_is_to_open(const struct owned *owned, uint64_t now_ms)
{
    return owned->phase == OWNED_CLOSED && owned->due_ms <= now_ms
        && opener_server(&owned->opener) != NULL;
}

bool owned_reads_back(const struct owned *owned)
{
    return owned->phase == OWNED_DRAINING && stream_queue_reads_back(owned->opener.queue);
}

/* ---- trouble ---- */

static void alarm_tell(struct owned *owned, const char *what)
{
    const struct opener_config *config = &owned->opener.config;
    const bool was_alarmed = owned->is_alarmed;
    owned->is_alarmed = what != NULL;
    *owned->alarmed += (uint32_t)owned->is_alarmed - (uint32_t)was_alarmed;
    if (owned->alarm != NULL && (what != NULL || *owned->alarmed == 0))
        owned->alarm(config->context, config->part, what);
}

static void forget(struct owned *owned)
{
    opener_close(&owned->opener);
    owned->phase = OWNED_CLOSED;
    owned->due_ms = owned->lag = owned->seen_seq = owned->backlog = owned->backlog_ms = 0;
    owned->is_redis_away = false;
}

void owned_let_go(struct owned *owned)
{
    forget(owned);
    if (owned->is_alarmed) /* it is another worker's matter now */
        alarm_tell(owned, NULL);
}

/* A server that is away may be replaced at any moment, and a try that does not reach it costs no epoch. What
 * reconciliation asks for is no trouble that comes back by itself. */
static uint32_t pause_next(const struct owned *owned, enum closing closing, uint64_t now_ms)
{
    const bool was_calm = owned->phase == OWNED_OPEN && now_ms - owned->opened_ms > OWNED_CALM_MS;
    const uint32_t most = owned->opener.epoch >= OWNED_EPOCHS_LATE        ? OWNED_PAUSE_MS_LATE
        : closing == CLOSING_REDIS_AWAY || closing == CLOSING_BROKER_AWAY ? OWNED_PAUSE_MS_AWAY
                                                                          : OWNED_PAUSE_MS_MAX;
    if (owned->pause_ms == 0 || was_calm || closing == CLOSING_STATE_DIFFERS)
        return OWNED_PAUSE_MS_MIN;
    return owned->pause_ms < most / 2 ? 2 * owned->pause_ms : most;
}

/* opener.what has the words. */
static void close_for(struct owned *owned, enum closing closing, uint64_t now_ms)
{
    const struct opener *opener = &owned->opener;
    char what[320];
    metric_add(&closings[closing], 1);
    if (closing == CLOSING_SCRIPT_DIFFERS)
        snprintf(what, sizeof what, "script-differs: epoch %u: %s", opener->epoch, opener->what);
    else
        snprintf(what, sizeof what, "partition-closed: %s: epoch %u: %s", closing_labels[closing],
            opener->epoch, opener->what);
    log_error("partition", "closed, it will be opened again part=%u reason=\"%s\"",
        opener->config.part, what);
    if (closing != CLOSING_STORE_AWAY && closing != CLOSING_BROKER_AWAY) /* not about this partition */
        alarm_tell(owned, what);
    owned->pause_ms = pause_next(owned, closing, now_ms);
    forget(owned);
    owned->is_redis_away = closing == CLOSING_REDIS_AWAY;
    owned->due_ms = now_ms + owned->pause_ms;
}

/* The order writer goes no further: the queue has a fault, or the store refuses for good. */
static enum closing stop_judge(struct owned *owned, const char *trouble)
{
    struct opener *opener = &owned->opener;
    struct order_store *store = opener->config.store;
    const enum status fault = stream_queue_fault(opener->queue);
    struct part_state state;
    if (fault != STATUS_OK) {
        if (owned->phase == OWNED_DRAINING) /* what came before it is written */
            opener->void_epoch = opener->epoch;
        return opener_refuse(opener,
            fault == STATUS_CONFLICT ? CLOSING_SCRIPT_DIFFERS : CLOSING_STREAM_DAMAGED, "%s",
            stream_queue_trouble(opener->queue));
    }
    const bool is_known = store->ops->cluster->part(store, opener->config.part, &state) == STATUS_OK;
    return opener_refuse(opener,
        is_known && state.epoch != opener->epoch ? CLOSING_FENCED : CLOSING_STORE_DIFFERS, "%s",
        trouble == NULL ? "the store refuses the records" : trouble);
}

/* ---- writing ---- */

static void note_publish(const struct opener *opener, uint64_t seq)
{
    char text[40];
    snprintf(text, sizeof text, "%u %" PRIu64, opener->config.part, seq);
    redis_call_later(opener->config.caller, opener->keys.notes,
        REDIS_WORDS(SPAN("SPUBLISH"), opener->keys.notes, span_from_string(text)),
        opener->config.timeout_ms);
}

/* How long has the oldest proposal been waiting? One is remembered, and when it is written the next. */
static void wait_note(struct owned *owned, const struct order_writer_progress *progress, uint64_t now_ms)
{
    owned->lag = progress->lag;
    if (owned->seen_seq != 0 && progress->position.seq < owned->seen_seq)
        return;
    owned->seen_seq = progress->lag == 0 ? 0 : progress->position.seq + progress->lag;
    owned->seen_ms = now_ms;
}

/* False: the partition was closed. */
static bool writer_turn(struct owned *owned, uint64_t now_ms, struct order_writer_progress *progress)
{
    (void)!order_writer_turn(owned->opener.writer, now_ms, progress);
    wait_note(owned, progress, now_ms);
    owned->backlog = stream_queue_backlog(owned->opener.queue, &owned->backlog_ms);
    if (progress->records > 0) {
        metric_add(&records_confirmed, progress->records);
        note_publish(&owned->opener, progress->position.seq);
    }
    if (progress->state != ORDER_WRITER_STOPPED)
        return true;
    close_for(owned, stop_judge(owned, progress->trouble), now_ms);
    return false;
}

/* ---- opening ---- */

static void open_finish(struct owned *owned, uint64_t now_ms)
{
    const enum closing closing = opener_finish(&owned->opener);
    if (closing != CLOSING_NONE) {
        close_for(owned, closing, now_ms);
        return;
    }
    owned->phase = OWNED_OPEN;
    owned->opened_ms = now_ms;
    owned->tell_ms = 0; /* at once: the old epoch may have got further */
    owned->idle_ms = 0;
    owned->due_ms = now_ms;
    log_info("partition", "open part=%u epoch=%u seq=%" PRIu64, owned->opener.config.part,
        owned->opener.epoch, confirm_seq(stream_queue_confirm(owned->opener.queue)));
    if (owned->is_alarmed)
        alarm_tell(owned, NULL);
}

static void rest_begin(struct owned *owned, uint64_t now_ms)
{
    log_info("partition", "at rest part=%u epoch=%u seq=%" PRIu64, owned->opener.config.part,
        owned->rest.epoch, owned->rest.seq);
    owned->phase = OWNED_RESTING;
    owned->pause_ms = 0;
    owned->due_ms = now_ms + OWNED_REST_MS;
    if (owned->is_alarmed)
        alarm_tell(owned, NULL);
}

static void open_start(struct owned *owned, uint64_t now_ms)
{
    bool drains;
    if (opener_is_at_rest(&owned->opener, &owned->rest)) {
        rest_begin(owned, now_ms);
        return;
    }
    const enum closing closing = opener_start(&owned->opener, &drains);
    if (closing != CLOSING_NONE) {
        close_for(owned, closing, now_ms);
        return;
    }
    owned->phase = OWNED_DRAINING;
    owned->due_ms = now_ms;
    if (!drains)
        open_finish(owned, now_ms);
}

static void drain(struct owned *owned, uint64_t now_ms)
{
    struct order_writer_progress progress;
    if (!writer_turn(owned, now_ms, &progress))
        return;
    owned->due_ms = now_ms + (progress.state == ORDER_WRITER_IDLE ? 0 : progress.wait_ms);
    if (progress.records > 0 || stream_queue_reads_back(owned->opener.queue))
        return;
    if (progress.state == ORDER_WRITER_IDLE)
        open_finish(owned, now_ms);
    else if (owned->backlog > 0)
        owned->due_ms = now_ms + OWNED_BROKER_MS;
}

/* ---- following ---- */

/* Is it still open in Redis, as far as the last answers show? */
static enum closing redis_judge(struct owned *owned)
{
    struct opener *opener = &owned->opener;
    const struct redis_info *server = opener_server(opener);
    const enum redis_answer told = stream_queue_told(opener->queue);
    owned->is_redis_away = server == NULL || told != REDIS_ANSWER_OK;
    if (server != NULL && strcmp(server->replid, opener->replid) != 0)
        return opener_refuse(opener, CLOSING_OTHER_SERVER,
            "the master has replication id %s, the one that was opened had %s", server->replid,
            opener->replid);
    if (told == REDIS_ANSWER_NOSCRIPT)
        return opener_refuse(opener, CLOSING_SCRIPT_LOST, "Redis does not have the script any more");
    if (told == REDIS_ANSWER_FENCED)
        return opener_fenced(opener);
    if (told == REDIS_ANSWER_REFUSED)
        return opener_refuse(opener, CLOSING_STATE_LOST, "Redis has fewer records than the database");
    return CLOSING_NONE;
}

/* Wins wait to be told: after some were written the stream is read again at once. */
static uint64_t wait_next(struct owned *owned, const struct order_writer_progress *progress)
{
    if (owned->backlog > 0 && progress->records == 0) {
        owned->idle_ms = OWNED_BROKER_MS; /* its acknowledgement wakes the keeper */
        return owned->idle_ms;
    }
    if (progress->state != ORDER_WRITER_IDLE || progress->records > 0) {
        owned->idle_ms = 0;
        return progress->state == ORDER_WRITER_IDLE ? 0 : progress->wait_ms;
    }
    owned->idle_ms = owned->idle_ms == 0 ? 5 : 2 * owned->idle_ms;
    if (owned->idle_ms > OWNED_IDLE_MS_MAX)
        owned->idle_ms = OWNED_IDLE_MS_MAX;
    return owned->idle_ms;
}

void owned_relay(struct owned *owned, uint64_t now_ms)
{
    if (owned->phase != OWNED_OPEN || owned->opener.config.broker == NULL || now_ms < owned->due_ms)
        return;
    stream_queue_relay(owned->opener.queue);
    owned->backlog = stream_queue_backlog(owned->opener.queue, &owned->backlog_ms);
    owned->due_ms = now_ms + OWNED_BROKER_MS;
}

/* The order writer waits for the database; its time is its own matter. */
static void away_relay(struct owned *owned, uint64_t now_ms)
{
    if (owned->opener.config.broker == NULL)
        return;
    owned->due_ms = now_ms;
    owned_relay(owned, now_ms);
}

static void follow(struct owned *owned, uint64_t now_ms)
{
    struct order_writer_progress progress;
    if (!writer_turn(owned, now_ms, &progress))
        return;
    if (owned->tell_ms <= now_ms) {
        (void)stream_queue_tell(owned->opener.queue);
        owned->tell_ms = now_ms + OWNED_TELL_MS;
    }
    const enum closing closing = redis_judge(owned);
    if (closing == CLOSING_AT_REST) {
        metric_add(&closings[closing], 1);
        forget(owned); /* the next turn finds it so, if the database has not gone on */
    } else if (closing != CLOSING_NONE) {
        close_for(owned, closing, now_ms);
    } else {
        owned->due_ms = now_ms + wait_next(owned, &progress);
        if (progress.state == ORDER_WRITER_AWAY)
            away_relay(owned, now_ms);
    }
}

void owned_epoch(struct owned *owned, uint32_t epoch, uint64_t now_ms)
{
    if (owned->phase != OWNED_OPEN || epoch <= owned->opener.epoch)
        return;
    close_for(owned,
        opener_refuse(&owned->opener, CLOSING_FENCED, "the database is at epoch %u", epoch), now_ms);
}

void owned_listed(struct owned *owned, const struct part_state *state)
{
    if (owned->phase == OWNED_RESTING
        && (state->epoch != owned->rest.epoch || state->seq != owned->rest.seq))
        forget(owned);
}

void owned_rest_look(struct owned *owned, uint64_t now_ms)
{
    if (now_ms < owned->due_ms || opener_server(&owned->opener) == NULL)
        return;
    owned->due_ms = now_ms + OWNED_REST_MS;
    if (opener_has_no_rest(&owned->opener))
        forget(owned);
}

void owned_look(struct owned *owned)
{
    if (owned->phase == OWNED_DRAINING || (owned->phase == OWNED_OPEN && owned->idle_ms > 0))
        owned->due_ms = 0;
}

void owned_turn(struct owned *owned, uint64_t now_ms)
{
    if (now_ms < owned->due_ms || owned->phase == OWNED_RESTING)
        return;
    if (opener_server(&owned->opener) == NULL) {
        owned->is_redis_away = true;
        owned->due_ms = now_ms + OWNED_AWAY_MS;
        return;
    }
    static void (*const steps[])(struct owned *, uint64_t) = {
        [OWNED_CLOSED] = open_start,
        [OWNED_DRAINING] = drain,
        [OWNED_OPEN] = follow,
        [OWNED_RESTING] = NULL,
    };
    steps[owned->phase](owned, now_ms);
}

/* Records that wait for the broker: it is given a moment. False: it can't be used. */
static bool broker_wait(const struct owned *owned, uint64_t now_ms)
{
    struct broker *broker = owned->opener.config.broker;
    if (broker == NULL || owned->backlog == 0)
        return true;
    poll(NULL, 0, 1);
    broker->ops->turn(broker, now_ms);
    return broker->ops->wrong(broker) == NULL;
}

void owned_last(struct owned *owned, uint64_t until_ms)
{
    struct order_writer_progress progress;
    uint64_t now_ms = clock_monotonic_ns() / 1000000;
    if (owned->phase == OWNED_CLOSED || owned->phase == OWNED_RESTING
        || opener_server(&owned->opener) == NULL)
        return;
    order_writer_hurry(owned->opener.writer, true);
    do {
        if (!writer_turn(owned, now_ms, &progress) || !broker_wait(owned, now_ms))
            return;
        now_ms = clock_monotonic_ns() / 1000000;
    } while (progress.state != ORDER_WRITER_AWAY
        && (progress.records > 0 || progress.state == ORDER_WRITER_WORKING) && now_ms < until_ms);
}
