/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/ban_list.h"

#include "api/handover.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/metrics.h"
#include "contract/bans.h"
#include "edge/forwarded.h"
#include "funnel/bans.h"
#include "worker/task.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    READ_ROWS = 64,
    TRY_AGAIN_MS = 1000,
    TIDY_MS = 1000, /* what is over holds nobody: putting it away can wait, and reads all bans */
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
    bool stale;
    uint64_t next_ms; /* when the first ban is over */
};

/* All that are in force, or ended sessions that could still be shown; grows as they are read. The
 * caller frees. */
static enum status bans_read(
    struct order_store *store, uint64_t now_ms, struct ban_entry **entries, uint32_t *count)
{
    struct ban rows[READ_ROWS];
    uint32_t got = READ_ROWS, room = 0;
    *entries = NULL;
    *count = 0;
    for (uint64_t after = 0; got == READ_ROWS && *count < BANS_MAX;) {
        const enum status status =
            store->ops->bans->in_effect(store, after, now_ms, rows, READ_ROWS, &got);
        if (status != STATUS_OK)
            return status;
        if (*count + got > room) {
            room = room == 0 ? 4 * READ_ROWS : 2 * room;
            struct ban_entry *more = realloc(*entries, room * sizeof *more);
            if (more == NULL)
                return STATUS_FULL;
            *entries = more;
        }
        for (uint32_t i = 0; i < got && *count < BANS_MAX; i++)
            (*entries)[(*count)++] = ban_entry_of(&rows[i]);
        after = got == 0 ? after : rows[got - 1].id;
    }
    return STATUS_OK;
}

static void bans_count(const struct ban_entry *entries, uint32_t count, uint64_t now_ms)
{
    uint64_t kinds[BAN_KINDS] = { 0 };
    for (uint32_t i = 0; i < count; i++)
        kinds[entries[i].kind] += entries[i].until_ms > now_ms;
    metric_set(&in_force[BAN_ADDRESS], kinds[BAN_ADDRESS]);
    metric_set(&in_force[BAN_USER], kinds[BAN_USER]);
}

static void list_make(struct ban_list *list, uint64_t now_ms)
{
    struct ban_entry *entries = NULL;
    struct ban_set *set = NULL;
    uint32_t count = 0;
    uint64_t next_ms = UINT64_MAX;
    enum status status = bans_read(list->config.store, now_ms, &entries, &count);
    if (status == STATUS_OK)
        status = ban_set_build(&set, entries, count, now_ms, &next_ms);
    if (status == STATUS_OK) {
        bans_count(entries, count, now_ms);
        handover_put(list->config.shown, list->config.turns, set);
        list->next_ms = next_ms < now_ms + TIDY_MS ? now_ms + TIDY_MS : next_ms;
    } else {
        log_warn("worker", "bans can't be read now (%s); the previous ones stay in force",
            status_name(status));
        list->next_ms = now_ms + TRY_AGAIN_MS;
    }
    list->stale = false;
    free(entries);
}

void ban_list_show(struct ban_list *list, uint64_t now_ms)
{
    if (list->stale)
        list_make(list, now_ms);
}

/* Sets that were replaced are freed when no edge reads them any more: looked at in each round. */
static uint64_t list_turn(void *self, uint64_t now_ms)
{
    struct ban_list *list = self;
    handover_collect(list->config.shown, list->config.turns);
    if (list->stale || now_ms >= list->next_ms)
        list_make(list, now_ms);
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

void ban_list_changed(struct ban_list *list)
{
    list->stale = true;
    task_wake(list->task);
}

enum status ban_list_put(struct ban_list *list, struct ban *ban)
{
    struct order_store *store = list->config.store;
    const enum status status = store->ops->bans->insert(store, ban);
    if (status == STATUS_OK)
        ban_list_changed(list);
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
