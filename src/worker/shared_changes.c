/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/shared_changes.h"

#include "api/catalog.h"
#include "base/arena.h"
#include "contract/cluster_store.h"
#include "worker/ban_list.h"
#include "worker/catalog_updates.h"
#include "worker/shared_switches.h"
#include "worker/task.h"

#include <string.h>

enum { ROWS_MAX = 64 }; /* of one look; more: everything is read again */

struct shared_changes {
    struct shared_changes_config config;
    uint64_t seen; /* the last row */
    bool begun;    /* it was looked for */
    bool switches_due;
};

static bool begins_with(const char *action, const char *word)
{
    return strncmp(action, word, strlen(word)) == 0;
}

static void switches_follow(struct shared_changes *changes)
{
    const struct shared_changes_config *config = &changes->config;
    bool changed = false;
    changes->switches_due = shared_switches_read(config->store, config->switches, &changed) != STATUS_OK;
    if (changed)
        config->switched(config->switched_context);
}

/* What such a row is about, and its number, stand at the beginning of its detail. */
static bool part_take(struct catalog_updates *catalog, const struct audit_entry *entry)
{
    static const struct {
        const char *action, *subject;
        enum catalog_part part;
    } parts[] = {
        { "sale.", "sale ", CATALOG_SALE },
        { "item.", "item ", CATALOG_ITEM },
        { "product.", "product ", CATALOG_PRODUCT },
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        uint32_t id = 0;
        if (!begins_with(entry->action, parts[i].action) || !begins_with(entry->detail, parts[i].subject))
            continue;
        struct span rest = span_from_string(entry->detail + strlen(parts[i].subject));
        if (!span_take_u32(&rest, &id) || (rest.size > 0 && rest.data[0] != ' '))
            return false;
        catalog_updates_part(catalog, &(struct catalog_change){ parts[i].part, id });
        return true;
    }
    return false;
}

/* What buyers are told in other ways, or not at all. */
static bool is_not_of_catalog(const struct audit_entry *entry)
{
    static const char *const words[] = { "order.", "channel.", "safety.", "case.", "webhook.",
        "key.", "statement.", "customer." };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (begins_with(entry->action, words[i]))
            return true;
    return false;
}

static void change_take(struct shared_changes *changes, const struct audit_entry *entry)
{
    if (begins_with(entry->action, "ban."))
        ban_list_changed(changes->config.bans);
    else if (begins_with(entry->action, "switch."))
        changes->switches_due = true;
    else if (!is_not_of_catalog(entry) && !part_take(changes->config.catalog, entry))
        catalog_updates_all(changes->config.catalog);
}

static void all_take(struct shared_changes *changes)
{
    ban_list_changed(changes->config.bans);
    catalog_updates_all(changes->config.catalog);
    changes->switches_due = true;
}

static void changes_take(struct shared_changes *changes, uint64_t last)
{
    struct order_store *store = changes->config.store;
    struct audit_entry rows[ROWS_MAX];
    uint32_t count = 0;
    const enum status status = store->ops->audit_list(store, changes->seen, rows, ROWS_MAX, &count);
    if (status != STATUS_OK)
        return;
    for (uint32_t i = 0; i < count; i++)
        change_take(changes, &rows[i]);
    if (count == ROWS_MAX)
        all_take(changes);
    changes->seen = last;
}

static uint64_t changes_turn(void *self, uint64_t now_ms)
{
    struct shared_changes *changes = self;
    struct order_store *store = changes->config.store;
    uint64_t last = 0;
    if (!changes->config.on)
        return TASK_IDLE;
    if (store->ops->cluster->audit_last(store, &last) != STATUS_OK)
        return now_ms + CHANGES_LOOK_MS;
    if (!changes->begun) { /* what was read at the start may be older than this row */
        changes->begun = true;
        changes->seen = last;
        all_take(changes);
    } else if (last != changes->seen) {
        changes_take(changes, last);
    }
    if (changes->switches_due)
        switches_follow(changes);
    return now_ms + CHANGES_LOOK_MS;
}

void shared_changes_open(
    struct arena *arena, const struct shared_changes_config *config, struct task *task)
{
    struct shared_changes *changes = arena_take(arena, 1, sizeof *changes);
    changes->config = *config;
    if (config->on)
        switches_follow(changes); /* before the first request; if it fails, soon after */
    *task = (struct task){ .name = "shared changes", .self = changes, .turn = changes_turn };
}
