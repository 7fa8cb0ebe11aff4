/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/opener.h"

#include "base/metrics.h"
#include "contract/cluster_store.h"
#include "inventory/engine.h"
#include "inventory/redis/image.h"
#include "inventory/redis/opening.h"
#include "orders/order_writer.h"
#include "queue/broker.h"
#include "queue/stream_queue.h"
#include "redis/caller.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

COUNTER(epochs_raised, "stampede_partition_epochs_total", "Epochs that this process has raised.");

void opener_init(struct opener *opener, const struct opener_config *config)
{
    *opener = (struct opener){ .config = *config };
    partition_keys_make(&opener->keys, config->data_id, config->part);
    opener->slot = redis_slot(opener->keys.prefix);
}

void opener_close(struct opener *opener)
{
    if (opener->queue != NULL)
        opener->queue->ops->close(opener->queue);
    opener->queue = NULL;
    opener->writer = NULL;
    arena_close(&opener->arena);
}

const struct redis_info *opener_server(const struct opener *opener)
{
    return redis_client_info(redis_caller_client(opener->config.caller), opener->slot);
}

enum closing opener_refuse(struct opener *opener, enum closing closing, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(opener->what, sizeof opener->what, format, arguments);
    va_end(arguments);
    return closing;
}

static enum closing store_refused(struct opener *opener, enum status status, const char *what)
{
    const bool differs =
        status == STATUS_CORRUPT || status == STATUS_CONFLICT || status == STATUS_NOT_FOUND;
    return opener_refuse(opener, differs ? CLOSING_STORE_DIFFERS : CLOSING_STORE_AWAY, "%s (%s)",
        what, status_name(status));
}

static enum closing step_refused(struct opener *opener, const char *step, enum redis_answer answer)
{
    static const struct {
        enum redis_answer answer;
        enum closing closing;
        const char *what;
    } rows[] = {
        { REDIS_ANSWER_FENCED, CLOSING_FENCED, "a later epoch has claimed the partition" },
        { REDIS_ANSWER_AGAIN, CLOSING_REDIS_AWAY, "Redis is not ready" },
        { REDIS_ANSWER_AWAY, CLOSING_REDIS_AWAY, "Redis can't be reached" },
        { REDIS_ANSWER_UNKNOWN, CLOSING_REDIS_AWAY, "Redis does not answer" },
        { REDIS_ANSWER_FULL, CLOSING_NOT_OPENED, "Redis has no memory left" },
        { REDIS_ANSWER_DENIED, CLOSING_NOT_OPENED, "the user may not do this in Redis" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].answer == answer)
            return opener_refuse(opener, rows[i].closing, "%s: %s", step, rows[i].what);
    return opener_refuse(opener, CLOSING_NOT_OPENED, "%s: Redis answers with an error", step);
}

static struct opening opening_of(const struct opener *opener)
{
    return (struct opening){ .caller = opener->config.caller,
        .keys = &opener->keys,
        .timeout_ms = opener->config.timeout_ms };
}

/* ---- before the old epoch is drained ---- */

static enum closing queue_make(struct opener *opener)
{
    const struct opener_config *config = &opener->config;
    const struct stream_queue_config queue = { .caller = config->caller,
        .store = config->store,
        .partition = { .part = config->part, .data_id = config->data_id, .engine = config->engine },
        .timeout_ms = config->timeout_ms,
        .broker = config->broker };
    char what[200];
    const enum status status = stream_queue_open(&opener->queue, &queue, what, sizeof what);
    return status == STATUS_OK ? CLOSING_NONE : store_refused(opener, status, what);
}

static enum closing writer_make(struct opener *opener)
{
    const struct opener_config *config = &opener->config;
    if (arena_open(&opener->arena, order_writer_bytes(0)) != STATUS_OK)
        return opener_refuse(opener, CLOSING_NOT_OPENED, "no memory");
    opener->writer = order_writer_create(&opener->arena,
        &(struct order_writer_config){ .queue = opener->queue,
            .store = config->store,
            .changed = config->changed,
            .wrote = config->wrote,
            .changed_context = config->context });
    const enum status status = order_writer_start(opener->writer);
    order_writer_hurry(opener->writer, true); /* nobody hears of a win before it is written */
    return status == STATUS_OK
        ? CLOSING_NONE
        : store_refused(opener, status, "the position of the partition is not where its log ends");
}

/* The epoch that runs is stopped. Is there something of the store's epoch in the stream? */
static enum closing old_shut(struct opener *opener, bool *drains)
{
    const struct opening opening = opening_of(opener);
    struct partition_found found;
    enum redis_answer answer = partition_look(&opening, &found);
    if (answer != REDIS_ANSWER_OK)
        return step_refused(opener, "look", answer);
    if (found.open > opener->epoch)
        return opener_refuse(opener, CLOSING_FENCED,
            "Redis was opened with epoch %u, and the database knows only epoch %u: "
            "is it an older copy?",
            found.open, opener->epoch);
    if (found.epoch != 0)
        answer = partition_shut(&opening, found.epoch);
    if (answer != REDIS_ANSWER_OK)
        return step_refused(opener, "shut", answer);
    const bool is_old = found.epoch == opener->epoch || found.shut == opener->epoch;
    *drains = is_old && opener->epoch != 0 && opener->epoch != opener->void_epoch;
    *drains |= stream_queue_reads_back(opener->queue);
    return CLOSING_NONE;
}

static enum closing broker_refused(struct opener *opener)
{
    const char *wrong = opener->config.broker->ops->wrong(opener->config.broker);
    return opener_refuse(opener, CLOSING_BROKER_AWAY, "%s",
        wrong != NULL ? wrong : "the broker does not answer in time");
}

/* The broker may have records of the store's epoch that Redis has lost. It is asked before anything is
 * stopped: without it the epoch that runs goes on. */
static enum closing broker_ask(struct opener *opener)
{
    if (opener->config.broker == NULL || opener->epoch == 0 || opener->epoch == opener->void_epoch)
        return CLOSING_NONE;
    return stream_queue_back(opener->queue, opener->epoch) == STATUS_OK ? CLOSING_NONE
                                                                        : broker_refused(opener);
}

enum closing opener_start(struct opener *opener, bool *drains)
{
    const struct opener_config *config = &opener->config;
    struct part_state state;
    *drains = false;
    invariant(opener->queue == NULL);
    if (config->broker != NULL && config->broker->ops->wrong(config->broker) != NULL)
        return broker_refused(opener);
    enum closing closing = queue_make(opener);
    if (closing == CLOSING_NONE)
        closing = writer_make(opener);
    if (closing != CLOSING_NONE)
        return closing;
    const enum status status = config->store->ops->cluster->part(config->store, config->part, &state);
    if (status != STATUS_OK)
        return store_refused(opener, status, "the epoch can't be read");
    opener->epoch = state.epoch;
    closing = broker_ask(opener);
    return closing == CLOSING_NONE ? old_shut(opener, drains) : closing;
}

/* ---- after that ---- */

/* Not tried again when its answer is lost: the epoch may be another's. */
static enum closing epoch_raise(struct opener *opener)
{
    const struct opener_config *config = &opener->config;
    const enum status status =
        config->store->ops->cluster->epoch_raise(config->store, config->part, opener->epoch);
    if (status == STATUS_CONFLICT)
        return opener_refuse(
            opener, CLOSING_FENCED, "somebody else has raised the epoch from %u", opener->epoch);
    if (status == STATUS_BAD_INPUT)
        return opener_refuse(opener, CLOSING_NOT_OPENED, "no epoch is left after %u", opener->epoch);
    if (status != STATUS_OK)
        return opener_refuse(
            opener, CLOSING_STORE_AWAY, "the epoch can't be raised (%s)", status_name(status));
    metric_add(&epochs_raised, 1);
    opener->raised = ++opener->epoch;
    return CLOSING_NONE;
}

/* Under the old epoch a worker that was left behind could still write, from now on nobody: the engine must
 * have all of it. */
static enum closing end_check(struct opener *opener)
{
    const struct opener_config *config = &opener->config;
    const uint64_t seq = confirm_seq(stream_queue_confirm(opener->queue));
    struct part_state state;
    const enum status status = config->store->ops->cluster->part(config->store, config->part, &state);
    if (status != STATUS_OK)
        return store_refused(opener, status, "the position can't be read");
    if (state.epoch != opener->epoch)
        return opener_refuse(opener, CLOSING_FENCED,
            "the database is at epoch %u, this is epoch %u", state.epoch, opener->epoch);
    if (state.seq != seq)
        return opener_refuse(opener, CLOSING_STORE_DIFFERS,
            "the database is at position %llu, and the engine at %llu",
            (unsigned long long)state.seq, (unsigned long long)seq);
    return CLOSING_NONE;
}

static enum redis_answer state_load(struct opener *opener, const struct opening *opening)
{
    const struct confirm *confirm = stream_queue_confirm(opener->queue);
    const struct engine *engine = confirm_engine(confirm);
    const struct image_head head = { .epoch = opener->epoch,
        .seq = confirm_seq(confirm),
        .done = confirm_seq(confirm),
        .told = engine->tickets.last,
        .time_ms = confirm_time_ms(confirm),
        .lag_max = opener->config.lag_max };
    (void)!redis_call_wait(opener->config.caller); /* notes before it: their loss is no matter */
    return partition_load(opening, engine, &head);
}

/* Redis has exactly what the engine has, and is the very server that was opened with it. */
static bool state_is_there(const struct opener *opener, const struct partition_found *found)
{
    const uint32_t old = opener->epoch;
    return old != 0 && old != opener->void_epoch && found->shut == old && found->doubt != old
        && found->has_state && found->seq == confirm_seq(stream_queue_confirm(opener->queue))
        && strcmp(found->replid, opener->replid) == 0;
}

static enum closing script_admit(struct opener *opener, const struct opening *opening)
{
    char sha[SCRIPT_SHA_DIGITS + 1];
    const enum redis_answer answer = partition_admit(opening, opener->epoch, opener->replid, sha);
    if (answer == REDIS_ANSWER_OK || answer == REDIS_ANSWER_UNKNOWN || answer == REDIS_ANSWER_FENCED)
        opener->raised = 0; /* something may have been sold under it */
    if (answer != REDIS_ANSWER_OK)
        return step_refused(opener, "admit", answer);
    stream_queue_script(opener->queue, sha);
    return CLOSING_NONE;
}

bool opener_is_at_rest(struct opener *opener, struct part_state *state)
{
    const struct opener_config *config = &opener->config;
    const struct opening opening = opening_of(opener);
    struct partition_rest rest;
    return partition_rest_look(&opening, &rest) == REDIS_ANSWER_OK && rest.epoch != 0
        && config->store->ops->cluster->part(config->store, config->part, state) == STATUS_OK
        && state->epoch == rest.epoch && state->seq == rest.seq;
}

bool opener_has_no_rest(struct opener *opener)
{
    const struct opening opening = opening_of(opener);
    struct partition_rest rest;
    return partition_rest_look(&opening, &rest) == REDIS_ANSWER_OK && rest.epoch == 0;
}

enum closing opener_fenced(struct opener *opener)
{
    const struct opening opening = opening_of(opener);
    struct partition_found found;
    struct partition_rest rest;
    if (partition_rest_look(&opening, &rest) == REDIS_ANSWER_OK && rest.epoch == opener->epoch)
        return opener_refuse(opener, CLOSING_AT_REST, "its sale is over");
    if (partition_look(&opening, &found) == REDIS_ANSWER_OK && found.doubt == opener->epoch)
        return opener_refuse(opener, CLOSING_STATE_DIFFERS,
            "reconciliation found another state in Redis than the log has: it is loaded anew");
    return opener_refuse(opener, CLOSING_STATE_LOST, "Redis has another epoch or no state");
}

enum closing opener_finish(struct opener *opener)
{
    const struct opening opening = opening_of(opener);
    const struct redis_info *server = opener_server(opener);
    struct partition_found found;
    if (server == NULL)
        return step_refused(opener, "finish", REDIS_ANSWER_AWAY);
    memcpy(opener->replid, server->replid, sizeof opener->replid);
    enum redis_answer answer = partition_look(&opening, &found);
    if (answer != REDIS_ANSWER_OK)
        return step_refused(opener, "look", answer);
    const bool is_there = state_is_there(opener, &found);
    enum closing closing = CLOSING_NONE;
    if (opener->raised == 0 || opener->raised != opener->epoch)
        closing = epoch_raise(opener);
    if (closing == CLOSING_NONE)
        closing = end_check(opener);
    if (closing != CLOSING_NONE)
        return closing;
    if (found.open != opener->epoch)
        answer = partition_begin(&opening, opener->epoch);
    if (answer != REDIS_ANSWER_OK)
        return step_refused(opener, "begin", answer);
    if (!is_there)
        answer = state_load(opener, &opening);
    if (answer == REDIS_ANSWER_UNKNOWN || answer == REDIS_ANSWER_AGAIN)
        opener->raised = 0; /* pieces may still arrive: under this epoch they would go into the next state */
    if (answer != REDIS_ANSWER_OK)
        return step_refused(opener, "load", answer);
    server = opener_server(opener); /* a step may have gone to a server that was promoted meanwhile */
    if (server == NULL || strcmp(server->replid, opener->replid) != 0)
        return opener_refuse(opener, CLOSING_OTHER_SERVER, "another master since the opening began");
    return script_admit(opener, &opening);
}
