/* SPDX-License-Identifier: Apache-2.0 */
/* admin/switches.c: the degrade switches (funnel/switches.h) as an operator reads and turns
 * them. A request changes all that it names or nothing; each change is an entry of its own in the
 * audit chain. */
#include "admin/switches.h"

#include "admin/admin.h"
#include "contract/cluster_store.h"
#include "funnel/switches.h"
#include "worker/leadership.h"
#include "worker/shared_switches.h"

#include <stdio.h>

enum { SOLD_OUT_LIST_MAX = 200 };

struct switch_wish {
    uint32_t numbers[SWITCHES];
    bool flags[SWITCHES];
    bool items_given;
    uint32_t item_count;
    item_id sold_out[SOLD_OUT_LIST_MAX];
};

static bool is_flag(unsigned name)
{
    return switch_kinds[name].most == 1;
}

void switches_start(struct switches *switches, const struct config *config)
{
    const uint64_t values[SWITCHES] = {
        [SWITCH_POW_BOOST] = config->switch_pow_boost,
        [SWITCH_ADMISSION_PER_S] = config->admission_per_s,
        [SWITCH_ADDRESS_RATE] = config->address_per_s,
        [SWITCH_ROOM_RATE] = config->room_rate_max,
        [SWITCH_REFUSE_NEW] = config->switch_refuse_new,
        [SWITCH_BYPASS_ADDRESS_LIMIT] = config->switch_bypass_address_limit,
        [SWITCH_BYPASS_USER_LIMIT] = config->switch_bypass_user_limit,
        [SWITCH_BYPASS_HUMAN_CHECK] = config->switch_bypass_human_check,
        [SWITCH_BYPASS_WAITING_ROOM] = config->switch_bypass_waiting_room,
    };
    for (unsigned name = 0; name < SWITCHES; name++)
        switch_set(switches, (enum switch_name)name, (uint32_t)values[name]);
}

static void switches_reply(const struct admin *admin, struct job *job)
{
    const struct switches *switches = admin->lent->switches;
    struct text body = job_body(job);
    text_literal(&body, "{");
    for (unsigned name = 0; name < SWITCHES; name++) {
        const uint32_t value = switch_value(switches, (enum switch_name)name);
        text_format(&body, "%s\"%s\":", name == 0 ? "" : ",", switch_kinds[name].name);
        if (is_flag(name))
            text_string(&body, value != 0 ? "true" : "false");
        else
            text_u64(&body, value);
    }
    text_literal(&body, ",\"sold_out_items\":[");
    const char *comma = "";
    for (item_id item = 1; item < ITEMS_LIMIT; item++) {
        if (!switch_sold_out(switches, item))
            continue;
        text_format(&body, "%s%u", comma, item);
        comma = ",";
    }
    text_literal(&body, "]}");
    job_reply_json(job, 200, &body);
}

void admin_switches(struct admin *admin, struct job *job, uint32_t id)
{
    (void)id;
    switches_reply(admin, job);
}

/* NULL: the list is one of items that are there. */
static const char *items_take(struct admin *admin, const json_t *list, struct switch_wish *wish)
{
    static const char wrong[] = "sold_out_items must be a list of at most 200 item numbers.";
    size_t index;
    json_t *number;
    if (!wish->items_given)
        return NULL;
    if (!json_is_array(list) || json_array_size(list) > SOLD_OUT_LIST_MAX)
        return wrong;
    json_array_foreach(list, index, number)
    {
        struct item item;
        const json_int_t value = json_integer_value(number);
        if (!json_is_integer(number) || value < 1 || value >= ITEMS_LIMIT)
            return wrong;
        if (admin->store->ops->item_get(admin->store, (item_id)value, &item) != STATUS_OK)
            return "sold_out_items names an item that does not exist.";
        wish->sold_out[wish->item_count++] = (item_id)value;
    }
    return NULL;
}

/* False: answered. */
static bool wish_read(struct admin *admin, struct job *job, struct switch_wish *wish)
{
    struct field fields[SWITCHES + 1];
    char error[FIELD_ERROR];
    json_t *items = NULL;
    for (unsigned name = 0; name < SWITCHES; name++) {
        wish->numbers[name] = switch_value(admin->lent->switches, (enum switch_name)name);
        wish->flags[name] = wish->numbers[name] != 0;
        fields[name] = (struct field){ switch_kinds[name].name, is_flag(name) ? FIELD_FLAG : FIELD_U32,
            is_flag(name) ? (void *)&wish->flags[name] : (void *)&wish->numbers[name], 0,
            switch_kinds[name].most, false, NULL };
    }
    fields[SWITCHES] =
        (struct field){ "sold_out_items", FIELD_JSON, &items, 0, 0, false, &wish->items_given };
    json_t *object = job_body_object(job);
    if (object == NULL)
        return false;
    const char *wrong =
        admin_fields_read(object, fields, SWITCHES + 1, error) ? items_take(admin, items, wish) : error;
    return job_body_end(job, object, wrong);
}

static bool wants_sold_out(const struct switch_wish *wish, item_id item)
{
    for (uint32_t i = 0; i < wish->item_count; i++)
        if (wish->sold_out[i] == item)
            return true;
    return false;
}

/* On many machines a switch is kept where all processes see it, in the transaction of its audit row. */
static_assert(SOLD_OUT_LIST_MAX + SWITCHES <= SWITCH_ROWS_MAX, "all rows are read");
static bool is_shared(const struct admin *admin)
{
    return admin->lent->leads != LEADS_ALWAYS;
}

static void row_keep(struct admin *admin, struct job *job, const char *name, item_id item, uint32_t value)
{
    struct switch_row row = { .item = item, .value = value };
    if (!is_shared(admin) || job->audited != STATUS_OK)
        return;
    snprintf(row.name, sizeof row.name, "%s", name);
    job->audited = admin->store->ops->cluster->switch_set(admin->store, &row);
}

static void sold_out_change(struct admin *admin, struct job *job, const struct switch_wish *wish, bool set)
{
    for (item_id item = 1; item < ITEMS_LIMIT; item++) {
        const bool is = switch_sold_out(admin->lent->switches, item);
        const bool wanted = (is || wish->item_count > 0) && wants_sold_out(wish, item);
        if (is == wanted)
            continue;
        if (set) {
            switch_sold_out_set(admin->lent->switches, item, wanted);
            continue;
        }
        admin_audit_write(admin, job, "switch.set", "sold_out_items: item %u %s", item,
            wanted ? "answers sold out without a check" : "is sold again");
        row_keep(admin, job, SWITCH_SOLD_OUT, item, wanted);
    }
}

/* First all audit rows; when they are kept, the switches (`set`), which are in memory. */
static void wish_pass(struct admin *admin, struct job *job, const struct switch_wish *wish, bool set)
{
    for (unsigned name = 0; name < SWITCHES; name++) {
        const uint32_t is = switch_value(admin->lent->switches, (enum switch_name)name);
        const uint32_t wanted = is_flag(name) ? wish->flags[name] : wish->numbers[name];
        if (is == wanted)
            continue;
        if (set) {
            switch_set(admin->lent->switches, (enum switch_name)name, wanted);
            continue;
        }
        admin_audit_write(
            admin, job, "switch.set", "%s: %u, was %u", switch_kinds[name].name, wanted, is);
        row_keep(admin, job, switch_kinds[name].name, 0, wanted);
    }
    if (wish->items_given)
        sold_out_change(admin, job, wish, set);
}

void admin_switches_change(struct admin *admin, struct job *job, uint32_t id)
{
    struct switch_wish wish = { .items_given = false };
    bool changed = false;
    (void)id;
    /* Another process may have turned one a moment ago. */
    if (is_shared(admin)
        && !job_ok(job, shared_switches_read(admin->store, admin->lent->switches, &changed)))
        return;
    if (changed)
        admin->lent->switched(admin->lent->switched_context);
    if (!wish_read(admin, job, &wish))
        return;
    wish_pass(admin, job, &wish, false);
    if (!admin_audit_keep(admin, job))
        return;
    wish_pass(admin, job, &wish, true);
    admin->lent->switched(admin->lent->switched_context);
    switches_reply(admin, job);
}
