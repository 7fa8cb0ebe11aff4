/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/orders/fake_store.h"

#include <stdio.h>
#include <string.h>

static enum status queue_poll(
    struct ticket_queue *handle, struct queue_record *records, uint32_t max, uint32_t *count)
{
    struct fake_queue *queue = (struct fake_queue *)handle;
    *count = 0;
    if (queue->poll_answer != STATUS_OK)
        return queue->poll_answer;
    invariant(queue->end < FAKE_RECORDS_MAX);
    while (*count < max && queue->at < queue->end) {
        const lsn_t lsn = ++queue->at;
        records[(*count)++] = (struct queue_record){ .at = { FAKE_PART, lsn },
            .command = { .type = COMMAND_RESERVE, .reserve = { .user = lsn, .item = 1, .quantity = 1 } },
            .outcome = { .answer = ANSWER_WON, .ticket = 1000 + lsn, .changed = true } };
        if (queue->of_users) {
            records[*count - 1].command = (struct command){ .type = COMMAND_USERS,
                .users = { .sale = 1, .count = USERS_PER_COMMAND } };
            records[*count - 1].outcome = (struct outcome){ .answer = ANSWER_DONE, .changed = true };
        }
    }
    return STATUS_OK;
}

static enum status queue_seek(struct ticket_queue *handle, struct position after)
{
    struct fake_queue *queue = (struct fake_queue *)handle;
    invariant(after.part == FAKE_PART);
    if (after.seq < queue->kept_after)
        return STATUS_NOT_FOUND;
    queue->at = after.seq;
    return STATUS_OK;
}

static enum status queue_commit(struct ticket_queue *handle, struct position position)
{
    struct fake_queue *queue = (struct fake_queue *)handle;
    invariant(position.part == FAKE_PART && position.seq >= queue->committed);
    queue->committed = position.seq;
    return queue->commit_answer;
}

static struct position queue_end(struct ticket_queue *handle)
{
    return (struct position){ FAKE_PART, ((struct fake_queue *)handle)->end };
}

void fake_queue_open(struct fake_queue *queue, lsn_t end)
{
    static const struct ticket_queue_ops ops = {
        .poll = queue_poll, .seek = queue_seek, .commit = queue_commit, .end = queue_end
    };
    invariant(end < FAKE_RECORDS_MAX);
    *queue = (struct fake_queue){ .queue = { &ops, FAKE_PART }, .end = end };
}

static enum status store_applied(struct order_store *handle, uint32_t part, struct position *position)
{
    invariant(part == FAKE_PART);
    *position = (struct position){ part, ((struct fake_store *)handle)->position };
    return STATUS_OK;
}

static bool is_refused(
    const struct fake_store *store, const struct queue_record *record, uint8_t disposition)
{
    if (record->at.seq != store->bad)
        return false;
    return disposition == DISPOSE_APPLY || (disposition == DISPOSE_REJECT && store->refuses_rejected)
        || (disposition == DISPOSE_DEAD && store->refuses_dead);
}

static enum status store_refuse(struct fake_store *store, uint32_t index, struct refusal *refusal)
{
    if (store->bad_times > 0 && --store->bad_times == 0)
        store->bad = 0;
    *refusal = (struct refusal){ .index = store->bad_is_silent ? UINT32_MAX : index,
        .kind = store->bad_kind };
    snprintf(refusal->text, sizeof refusal->text, "bad apple");
    return STATUS_REFUSED;
}

static enum status store_apply(struct order_store *handle, const struct queue_record *records,
    const uint8_t *dispositions, uint32_t count, struct refusal *refusal)
{
    struct fake_store *store = (struct fake_store *)handle;
    store->applies++;
    store->largest = count > store->largest ? count : store->largest;
    if (store->answer != STATUS_OK) {
        snprintf(refusal->text, sizeof refusal->text, "told to fail");
        return store->answer;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (is_refused(store, &records[i], dispositions[i]))
            return store_refuse(store, i, refusal);
    }
    for (uint32_t i = 0; i < count; i++) {
        invariant(records[i].at.part == FAKE_PART);
        invariant(records[i].at.seq == store->position + 1 || records[i].at.seq <= store->position);
        if (records[i].at.seq <= store->position)
            continue;
        store->position = records[i].at.seq;
        store->fate[records[i].at.seq] = (uint8_t)(1 + dispositions[i]);
        if (dispositions[i] == DISPOSE_DEAD)
            snprintf(store->dead_reason, sizeof store->dead_reason, "%s", refusal->text);
    }
    return STATUS_OK;
}

static enum status store_events(struct order_store *handle, uint64_t after,
    struct stock_event *events, uint32_t max, uint32_t *count)
{
    const struct fake_store *store = (struct fake_store *)handle;
    *count = 0;
    for (uint32_t i = 0; i < store->event_count && *count < max; i++)
        if (store->events[i].id > after)
            events[(*count)++] = store->events[i];
    return store->events_answer;
}

void fake_store_open(struct fake_store *store)
{
    static const struct order_store_ops ops = {
        .applied = store_applied, .apply = store_apply, .stock_events = store_events
    };
    memset(store, 0, sizeof *store);
    store->store.ops = &ops;
}
