/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/ban_list.h"

#include "api/handover.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/metrics.h"
#include "contract/admin_store.h"
#include "contract/bans.h"
#include "edge/forwarded.h"
#include "funnel/bans.h"
#include "worker/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ENTRIES_FIRST = 256,
    CHANGED_MAX = 64,
    TRY_AGAIN_MS = 1000,
    TIDY_MS = 1000, /* what is over holds nobody: counting it can wait */
};

#define IN_FORCE(kind_name) \
    { \
        .name = "stampede_bans", .labels = "kind=\"" kind_name "\"", .help = "Bans in force.", \
        .kind = METRIC_GAUGE \
    }
static struct metric in_force[BAN_KINDS] = {
    [BAN_ADDRESS] = IN_FORCE("address"),
    [BAN_USER] = IN_FORCE("user"),
};
METRIC_TABLE(in_force);

struct ban_list {
    struct ban_list_config config;
    struct task *task;
    bool stale; /* all are to be read */
    uint64_t next_ms;
    uint64_t count[BAN_KINDS]; /* those in force at count_ms */
    uint64_t count_ms;
    /* What the database may have changed, when the transaction is over. */
    struct {
        uint64_t id;
        bool lifted;
    } changed[CHANGED_MAX];
    uint32_t changed_count;
};

uint64_t ban_list_count(const struct ban_list *list)
{
    return list->count[BAN_ADDRESS] + list->count[BAN_USER];
}

static void count_show(const struct ban_list *list)
{
    metric_set(&in_force[BAN_ADDRESS], list->count[BAN_ADDRESS]);
    metric_set(&in_force[BAN_USER], list->count[BAN_USER]);
}

static void again_later(struct ban_list *list, uint64_t now_ms, enum status status)
{
    log_warn("worker", "bans can't be read now (%s); the previous ones stay in force",
        status_name(status));
    list->stale = true;
    list->next_ms = now_ms + TRY_AGAIN_MS;
}

/* ---- all of them ---- */

struct entries {
    struct ban_entry *list;
    uint32_t count, room;
    bool no_memory;
};

static bool entry_take(void *context, const struct ban *ban)
{
    struct entries *entries = context;
    if (entries->count == entries->room) {
        const uint32_t room = entries->room == 0 ? ENTRIES_FIRST : 2 * entries->room;
        struct ban_entry *more = realloc(entries->list, room * sizeof *more);
        entries->no_memory = more == NULL;
        if (more == NULL)
            return false;
        entries->list = more;
        entries->room = room;
    }
    entries->list[entries->count++] = ban_entry_of(ban);
    return true;
}

static void count_all(struct ban_list *list, const struct entries *entries, uint64_t now_ms)
{
    memset(list->count, 0, sizeof list->count);
    for (uint32_t i = 0; i < entries->count; i++)
        list->count[entries->list[i].kind] += entries->list[i].until_ms > now_ms;
    list->count_ms = now_ms;
    count_show(list);
}

static void list_read(struct ban_list *list, uint64_t now_ms)
{
    struct order_store *store = list->config.store;
    struct entries entries = { .list = NULL };
    struct ban_set *set = NULL;
    enum status status = store->ops->bans->in_effect(store, now_ms, entry_take, &entries);
    if (status == STATUS_OK)
        status = entries.no_memory ? STATUS_FULL
                                   : ban_set_build(&set, entries.list, entries.count, now_ms);
    if (status == STATUS_OK) {
        count_all(list, &entries, now_ms);
        handover_put(list->config.shown, list->config.turns, set);
        list->stale = false;
        list->changed_count = 0;
        list->next_ms = now_ms + TIDY_MS;
    } else {
        again_later(list, now_ms, status);
    }
    free(entries.list);
}

/* ---- one that came or went ---- */

/* A set that is full is replaced by one with room for as many again. */
static enum status entry_show(struct ban_list *list, const struct ban_entry *entry, uint64_t now_ms)
{
    struct ban_set *set = handover_get(list->config.shown);
    if (set != NULL && ban_set_put(set, entry))
        return STATUS_OK;
    struct ban_set *grown = ban_set_grown(set, now_ms);
    if (grown == NULL)
        return STATUS_FULL;
    const bool put = ban_set_put(grown, entry);
    invariant(put);
    handover_put(list->config.shown, list->config.turns, grown);
    return STATUS_OK;
}

static enum status change_show(struct ban_list *list, uint64_t id, bool lifted, uint64_t now_ms)
{
    struct order_store *store = list->config.store;
    struct ban ban;
    struct ban_entry entry;
    enum status status = store->ops->bans->get(store, id, &ban);
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && (ban.lifted_ms != 0) != lifted))
        return STATUS_OK; /* the transaction was rolled back */
    if (status == STATUS_OK)
        status = store->ops->bans->effect(store, &ban, now_ms, &entry);
    if (status == STATUS_OK)
        status = entry_show(list, &entry, now_ms);
    if (status == STATUS_OK && ban.until_ms > list->count_ms) {
        list->count[ban.kind] += lifted ? -UINT64_C(1) : 1;
        count_show(list);
    }
    if (ban.until_ms < list->next_ms)
        list->next_ms = ban.until_ms;
    return status;
}

void ban_list_show(struct ban_list *list, uint64_t now_ms)
{
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < list->changed_count && !list->stale && status == STATUS_OK; i++)
        status = change_show(list, list->changed[i].id, list->changed[i].lifted, now_ms);
    list->changed_count = 0;
    if (status != STATUS_OK)
        again_later(list, now_ms, status);
    if (list->stale && now_ms >= list->next_ms)
        list_read(list, now_ms);
}

/* Those that have ended since the last look no longer count. */
static enum status ended_take(struct ban_list *list, uint64_t now_ms)
{
    struct order_store *store = list->config.store;
    struct bans_ended ended;
    if (now_ms <= list->count_ms)
        return STATUS_OK;
    const enum status status = store->ops->bans->ended(store, list->count_ms, now_ms, &ended);
    if (status != STATUS_OK)
        return status;
    list->count[BAN_ADDRESS] -= ended.count[BAN_ADDRESS];
    list->count[BAN_USER] -= ended.count[BAN_USER];
    list->count_ms = now_ms;
    count_show(list);
    list->next_ms = ended.next_ms == 0     ? TASK_IDLE
        : ended.next_ms < now_ms + TIDY_MS ? now_ms + TIDY_MS
                                           : ended.next_ms;
    return STATUS_OK;
}

/* Sets that were replaced are freed when no edge reads them any more: looked at in each round. */
static uint64_t list_turn(void *self, uint64_t now_ms)
{
    struct ban_list *list = self;
    handover_collect(list->config.shown, list->config.turns);
    ban_list_show(list, now_ms);
    if (!list->stale && now_ms >= list->next_ms && ended_take(list, now_ms) != STATUS_OK)
        list->next_ms = now_ms + TRY_AGAIN_MS;
    return list->next_ms;
}

struct ban_list *ban_list_open(
    struct arena *arena, const struct ban_list_config *config, struct task *task)
{
    struct ban_list *list = arena_take(arena, 1, sizeof *list);
    *list = (struct ban_list){ .config = *config, .task = task, .stale = true };
    *task = (struct task){ .name = "bans", .self = list, .turn = list_turn, .listens = true };
    return list;
}

/* An administrator's request may still be rolled back: what it changed is read when it is over. */
static void change_note(struct ban_list *list, uint64_t id, bool lifted, uint64_t now_ms)
{
    invariant(list->changed_count < CHANGED_MAX);
    list->changed[list->changed_count].id = id;
    list->changed[list->changed_count].lifted = lifted;
    list->changed_count++;
    if (!list->config.store->ops->admin->is_open(list->config.store))
        ban_list_show(list, now_ms);
    task_wake(list->task);
}

void ban_list_changed(struct ban_list *list)
{
    list->stale = true;
    list->next_ms = 0;
    task_wake(list->task);
}

void ban_list_lifted(struct ban_list *list, uint64_t id, uint64_t now_ms)
{
    change_note(list, id, true, now_ms);
}

enum status ban_list_put(struct ban_list *list, struct ban *ban)
{
    struct order_store *store = list->config.store;
    const uint64_t now_ms = ban->created_ms;
    if (list->stale)
        list_read(list, now_ms);
    enum status status = list->stale ? STATUS_AWAY : ended_take(list, now_ms);
    if (status == STATUS_OK && ban_list_count(list) >= BANS_MAX)
        status = STATUS_FULL;
    if (status == STATUS_OK)
        status = store->ops->bans->insert(store, ban);
    if (status == STATUS_OK)
        change_note(list, ban->id, false, now_ms);
    return status;
}

static bool blocks_meet(const struct address_block *a, const struct address_block *b)
{
    return address_in_block(&a->first, b) || address_in_block(&b->first, a);
}

bool ban_list_is_protected(const struct ban_list *list, const struct address_block *block)
{
    static const struct address_block loopback[] = {
        { { { [10] = 0xff, [11] = 0xff, [12] = 127 } }, ADDRESS_V4_BITS + 8 },
        { { { [15] = 1 } }, ADDRESS_BITS },
    };
    struct trusted proxies;
    struct span bad;
    const enum status status = trusted_parse(&proxies, span_from_string(list->config.proxies), &bad);
    invariant(status == STATUS_OK); /* the configuration was checked */
    bool meets = blocks_meet(block, &loopback[0]) || blocks_meet(block, &loopback[1]);
    for (uint32_t i = 0; i < proxies.count; i++)
        meets |= blocks_meet(block, &proxies.blocks[i]);
    return meets;
}

void ban_target(const struct ban *ban, char out[ADDRESS_BLOCK_CHARS_MAX + 8])
{
    struct text text = text_in(out, ADDRESS_BLOCK_CHARS_MAX + 7);
    if (ban->kind == BAN_USER) {
        text_literal(&text, "user ");
        text_hex64(&text, ban->user);
    } else {
        address_block_text(&text, &ban->block);
    }
    out[text.size] = 0;
}
