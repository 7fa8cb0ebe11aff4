/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/shared_switches.h"

#include "contract/cluster_store.h"
#include "funnel/switches.h"

#include <string.h>

static bool name_find(const char *name, enum switch_name *found)
{
    for (unsigned i = 0; i < SWITCHES; i++) {
        *found = (enum switch_name)i;
        if (strcmp(switch_kinds[i].name, name) == 0)
            return true;
    }
    return false;
}

static bool value_follow(struct switches *switches, const struct switch_row *row)
{
    enum switch_name name;
    if (!name_find(row->name, &name)) /* of another version of this program */
        return false;
    const uint32_t most = switch_kinds[name].most, value = row->value < most ? row->value : most;
    if (switch_value(switches, name) == value)
        return false;
    switch_set(switches, name, value);
    return true;
}

static bool is_sold_out(const struct switch_row *row)
{
    return row->item != 0 && strcmp(row->name, SWITCH_SOLD_OUT) == 0;
}

/* The rows are in the order of their items. */
static bool items_follow(struct switches *switches, const struct switch_row *rows, uint32_t count)
{
    uint32_t at = 0;
    bool changed = false;
    for (item_id item = 1; item < ITEMS_LIMIT; item++) {
        while (at < count && (!is_sold_out(&rows[at]) || rows[at].item < item))
            at++;
        const bool wanted = at < count && rows[at].item == item && rows[at].value != 0;
        if (switch_sold_out(switches, item) == wanted)
            continue;
        switch_sold_out_set(switches, item, wanted);
        changed = true;
    }
    return changed;
}

enum status shared_switches_read(struct order_store *store, struct switches *switches, bool *changed)
{
    struct switch_row rows[SWITCH_ROWS_MAX];
    uint32_t count = 0;
    *changed = false;
    const enum status status = store->ops->cluster->switch_list(store, rows, SWITCH_ROWS_MAX, &count);
    if (status != STATUS_OK)
        return status;
    for (uint32_t i = 0; i < count; i++)
        *changed |= rows[i].item == 0 && value_follow(switches, &rows[i]);
    *changed |= items_follow(switches, rows, count);
    return STATUS_OK;
}
