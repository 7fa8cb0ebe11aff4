/* SPDX-License-Identifier: Apache-2.0 */
/* admin/items.c: products on sale, as an administrator puts them there and reads them. */
#include "admin/admin.h"
#include "api/catalog.h"
#include "api/json_fields.h"
#include "contract/inventory.h"
#include "contract/limit_uses.h"
#include "funnel/door.h"
#include "policy/limit_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_ROWS = 50 };
enum { PAY_WINDOW_STANDARD_MS = 15 * 60 * 1000, PAY_WINDOW_MAX_MS = 7 * 24 * 3600 * 1000 };
static const int64_t CHANNEL_RETURN_MAX_MS = 366ll * 24 * 3600 * 1000;

static void item_json(const struct admin *admin, const struct item *item, struct text *out)
{
    text_format(out,
        "{\"id\":%u,\"sale\":%u,\"product\":%u,\"flash_price\":%llu,\"limit_per_user\":%u,\"pay_"
        "window_ms\":%u,"
        "\"total\":%u,\"locked\":%u,\"taken\":%u,\"safety\":%u,\"preheated\":%s,\"version\":%llu,"
        "\"deduct_on_payment\":%s,\"channel_return_ms\":%llu",
        item->id, item->sale, item->product, (unsigned long long)item->flash_price,
        item->limit_per_user, item->pay_window_ms, item->total, item->locked, item->sold,
        item->safety, item->preheated ? "true" : "false", (unsigned long long)item->version,
        item->deduct_on_payment ? "true" : "false", (unsigned long long)item->channel_return_ms);
    currency_members(item->currency, out);
    admin_channels_member(admin, item->channel_units, out);
    admin_sold_out_members(item, out);
    json_bool(out, "pooled", item->pooled);
    json_u64(out, "period_limit", item->limits.period_limit);
    json_u64(out, "payer_limit", item->limits.payer_limit);
    json_u64(out, "period_days", item->limits.period_days);
    json_u64(out, "period_group", item->limits.period_group);
    text_literal(out, "}");
}

/* Limits over a period, as fields of an item. */
#define LIMIT_FIELDS(item) \
    { "period_limit", FIELD_U32, &(item)->limits.period_limit, 0, UNITS_MAX, false, NULL }, \
        { "payer_limit", FIELD_U32, &(item)->limits.payer_limit, 0, UNITS_MAX, false, NULL }, \
        { "period_days", FIELD_U32, &(item)->limits.period_days, 0, PERIOD_DAYS_MAX, false, NULL }, \
    { \
        "period_group", FIELD_U32, &(item)->limits.period_group, 0, PERIOD_GROUP_MAX, false, NULL \
    }

void admin_items_list(struct admin *admin, struct job *job, uint32_t id)
{
    struct item rows[PAGE_ROWS];
    uint64_t after = 0, sale = 0;
    uint32_t count = 0;
    (void)id;
    struct order_store *store = admin->store;
    if (!job_query_u64(job, "after", UINT32_MAX, &after) || !job_query_u64(job, "sale", UINT32_MAX, &sale)
        || !job_ok(job, store->ops->items(store, (sale_id)sale, (item_id)after, rows, PAGE_ROWS, &count)))
        return;
    struct page page = page_begin(job, "items");
    for (uint32_t i = 0; i < count; i++)
        item_json(admin, &rows[i], page_row(&page, rows[i].id));
    page_end(job, &page, page_next(&page, PAGE_ROWS));
}

/* {"web":10,"app":5}: what is not said is zero; nothing at all means: everything on the web. */
static const char *channels_take(const struct admin *admin, json_t *channels, struct item *item)
{
    const int64_t sellable = (int64_t)item->total - item->locked - item->safety;
    const char *name;
    json_t *units;
    if (sellable < 0)
        return "locked plus safety must not exceed total.";
    if (channels == NULL) {
        item->channel_units[0] = (uint32_t)sellable;
        return NULL;
    }
    if (!json_is_object(channels))
        return "channels must be an object of channel names with numbers of units.";
    int64_t sum = 0;
    json_object_foreach(channels, name, units)
    {
        channel_index channel;
        if (!door_channel_find(admin->lent->channels, span_from_string(name), &channel))
            return "channels names a channel that is not configured.";
        const json_int_t value = json_integer_value(units);
        if (!json_is_integer(units) || value < 0 || value > UNITS_MAX)
            return "channels must have whole numbers of units.";
        item->channel_units[channel] = (uint32_t)value;
        sum += value;
    }
    return sum == sellable ? NULL : "channels must add up to total - locked - safety.";
}

/* What is surely odd but may be meant. */
enum { WARNINGS_BYTES = 1024 };

static bool product_is_in_sale(struct admin *admin, const struct item *item, enum status *status)
{
    struct item rows[PAGE_ROWS];
    uint32_t count = PAGE_ROWS;
    for (item_id after = 0; *status == STATUS_OK && count == PAGE_ROWS;) {
        *status = admin->store->ops->items(admin->store, item->sale, after, rows, PAGE_ROWS, &count);
        for (uint32_t i = 0; i < count && *status == STATUS_OK; i++) {
            after = rows[i].id;
            if (rows[i].product == item->product && rows[i].id != item->id)
                return true;
        }
    }
    return false;
}

static void warning_add(struct text *warnings, const char *words)
{
    text_string(warnings, warnings->size == 0 ? "" : ",");
    text_json(warnings, span_from_string(words));
}

static void item_warnings(
    const struct item *item, const struct product *product, bool twice, struct text *warnings)
{
    if (item->total == 0)
        warning_add(warnings, "total is 0: nothing is on sale until units are added");
    if (item->flash_price > product->list_price)
        warning_add(warnings, "flash_price is above the product's list_price");
    if (item->flash_price == 0)
        warning_add(warnings, "flash_price is 0: the item is given away");
    if (twice)
        warning_add(warnings, "another item of this sale sells the same product");
}

static void item_reply(const struct admin *admin, struct job *job, int status,
    const struct item *item, const struct text *warnings)
{
    struct text body = job_body(job);
    item_json(admin, item, &body);
    if (warnings->size > 0 && body.size > 0) {
        body.size--; /* the brace */
        text_literal(&body, ",\"warnings\":[");
        text_add(&body, text_span(warnings));
        text_literal(&body, "]}");
    }
    job_reply_json(job, status, &body);
}

/* False: answered. The sale and the product are there, and the sale is not over. */
static bool item_place_check(
    struct admin *admin, struct job *job, struct item *item, struct product *product)
{
    struct sale sale;
    if (!admin_sale_read(admin, job, item->sale, &sale))
        return false;
    if (strcmp(admin_sale_gate(admin, &sale), "ended") == 0) {
        job_reply_problem(
            job, PROBLEM_CONFLICT, "The sale has ended: it can't be changed any more.", SPAN_NONE);
        return false;
    }
    const enum status status = admin->store->ops->product_get(admin->store, item->product, product);
    if (!job_found(job, status, PROBLEM_BAD_VALUE, "This product does not exist."))
        return false;
    memcpy(item->currency, product->currency, sizeof item->currency);
    return true;
}

/* False: answered. */
static bool item_body_read(
    struct admin *admin, struct job *job, struct item *item, struct asked_price *price)
{
    char error[FIELD_ERROR];
    json_t *channels = NULL;
    const struct field fields[] = {
        { "sale", FIELD_U32, &item->sale, 1, UINT32_MAX, true, NULL },
        { "product", FIELD_U32, &item->product, 1, UINT32_MAX, true, NULL },
        { "flash_price", FIELD_PRICE, price, 0, PRICE_MAX, true, NULL },
        { "limit_per_user", FIELD_U32, &item->limit_per_user, 0, UNITS_MAX, false, NULL },
        { "pay_window_ms", FIELD_U32, &item->pay_window_ms, 1000, PAY_WINDOW_MAX_MS, false, NULL },
        LIMIT_FIELDS(item),
        { "total", FIELD_U32, &item->total, 0, UNITS_MAX, true, NULL },
        { "locked", FIELD_U32, &item->locked, 0, UNITS_MAX, false, NULL },
        { "safety", FIELD_U32, &item->safety, 0, UNITS_MAX, false, NULL },
        { "deduct_on_payment", FIELD_FLAG, &item->deduct_on_payment, 0, 1, false, NULL },
        { "channel_return_ms", FIELD_U64, &item->channel_return_ms, 0, CHANNEL_RETURN_MAX_MS, false, NULL },
        { "channels", FIELD_JSON, &channels, 0, 0, false, NULL },
    };
    json_t *object = job_body_object(job);
    if (object == NULL)
        return false;
    const bool good = admin_fields_read(object, fields, sizeof fields / sizeof *fields, error);
    const char *wrong = good ? channels_take(admin, channels, item) : error;
    if (wrong == NULL)
        wrong = limit_rules_wrong(&item->limits);
    return job_body_end(job, object, wrong);
}

void admin_item_create(struct admin *admin, struct job *job, uint32_t id)
{
    struct item item = { .limit_per_user = 1, .pay_window_ms = PAY_WINDOW_STANDARD_MS };
    struct asked_price price = { 0 };
    struct product *product = malloc(sizeof *product);
    char error[FIELD_ERROR], told[WARNINGS_BYTES];
    struct text warnings = text_in(told, sizeof told);
    enum status status = STATUS_OK;
    (void)id;
    invariant(product != NULL);
    if (!item_body_read(admin, job, &item, &price) || !item_place_check(admin, job, &item, product))
        goto done;
    if (!admin_price_take(
            "flash_price", &price, item.currency, (uint64_t)PRICE_MAX, &item.flash_price, error)) {
        job_reply_problem(job, PROBLEM_BAD_VALUE, error, SPAN_NONE);
        goto done;
    }
    const bool twice = product_is_in_sale(admin, &item, &status);
    if (status == STATUS_OK)
        status = admin->store->ops->item_insert(admin->store, &item);
    if (status != STATUS_OK) {
        job_reply_status(job, status);
        goto done;
    }
    worker_item_changed(admin->worker, item.id);
    item_warnings(&item, product, twice, &warnings);
    item_reply(admin, job, 201, &item, &warnings);
    admin_audit_write(admin, job, "item.create", "item %u sale %u product %u total %u price %llu",
        item.id, item.sale, item.product, item.total, (unsigned long long)item.flash_price);
done:
    free(product);
}

/* Whether the inventory has it; the row hears of that later. */
static bool item_is_preheated(const struct admin *admin, const struct item *item)
{
    struct board_update view;
    return item->preheated || board_read(admin->lent->inventory->board, item->id, &view);
}

struct item_change {
    struct item before, after;
    bool stock; /* units are named */
};

/* False: answered. */
static bool change_read(struct admin *admin, struct job *job, struct item_change *change)
{
    struct item *item = &change->after;
    struct asked_price price = { .minor = item->flash_price };
    char error[FIELD_ERROR];
    json_t *channels = NULL;
    bool total = false, locked = false, safety = false;
    const struct field fields[] = {
        { "flash_price", FIELD_PRICE, &price, 0, PRICE_MAX, false, NULL },
        { "limit_per_user", FIELD_U32, &item->limit_per_user, 0, UNITS_MAX, false, NULL },
        { "pay_window_ms", FIELD_U32, &item->pay_window_ms, 1000, PAY_WINDOW_MAX_MS, false, NULL },
        { "deduct_on_payment", FIELD_FLAG, &item->deduct_on_payment, 0, 1, false, NULL },
        { "channel_return_ms", FIELD_U64, &item->channel_return_ms, 0, CHANNEL_RETURN_MAX_MS, false, NULL },
        { "total", FIELD_U32, &item->total, 0, UNITS_MAX, false, &total },
        { "locked", FIELD_U32, &item->locked, 0, UNITS_MAX, false, &locked },
        { "safety", FIELD_U32, &item->safety, 0, UNITS_MAX, false, &safety },
        { "channels", FIELD_JSON, &channels, 0, 0, false, NULL },
        LIMIT_FIELDS(item),
    };
    json_t *object = job_body_object(job);
    if (object == NULL)
        return false;
    const char *wrong = NULL;
    if (!admin_fields_read(object, fields, sizeof fields / sizeof *fields, error)
        || !admin_price_take(
            "flash_price", &price, item->currency, (uint64_t)PRICE_MAX, &item->flash_price, error))
        wrong = error;
    change->stock = total || locked || safety || channels != NULL;
    if (wrong == NULL && change->stock) {
        memset(item->channel_units, 0, sizeof item->channel_units);
        wrong = channels_take(admin, channels, item);
    }
    if (wrong == NULL)
        wrong = limit_rules_wrong(&item->limits);
    return job_body_end(job, object, wrong);
}

static bool limits_differ(const struct item *was, const struct item *is)
{
    return memcmp(&was->limits, &is->limits, sizeof is->limits) != 0;
}

/* What people have bought stays as they bought it. False: answered. */
static bool change_may_be(struct admin *admin, struct job *job, const struct item_change *change)
{
    const struct item *was = &change->before, *is = &change->after;
    uint64_t orders = 0, units = 0;
    if (change->stock && item_is_preheated(admin, was)) {
        job_reply_problem(job, PROBLEM_CONFLICT,
            "The item is preheated: use adjust to add or remove units, and move to move them "
            "between channels.",
            SPAN_NONE);
        return false;
    }
    const enum status status = admin->store->ops->order_totals(admin->store, was->id, &orders, &units);
    if (!job_ok(job, status))
        return false;
    if (orders > 0
        && (is->flash_price != was->flash_price || is->limit_per_user != was->limit_per_user
            || is->deduct_on_payment != was->deduct_on_payment || limits_differ(was, is))) {
        job_reply_problem(job, PROBLEM_CONFLICT,
            "Units were already sold: price, limits and deduct_on_payment can't be changed any "
            "more.",
            SPAN_NONE);
        return false;
    }
    return true;
}

/* An item that the inventory has changes there first: if it refuses, nothing has changed anywhere. The
 * worker writes all orders, so none can have come and gone since it looked for some. */
static bool terms_tell(struct admin *admin, struct job *job, struct item *item)
{
    struct outcome outcome = { 0 };
    struct command command = preheat_command(item);
    if (!item_is_preheated(admin, item))
        return true;
    command.preheat.change = true;
    if (!admin_ask(admin, job, &command, &outcome))
        return false;
    item->terms_lsn = outcome.lsn;
    return true;
}

static void change_audit(
    struct admin *admin, struct job *job, const struct item *was, const struct item *is)
{
    const struct {
        const char *name;
        uint64_t was, is;
    } numbers[] = { { "flash_price", was->flash_price, is->flash_price },
        { "limit_per_user", was->limit_per_user, is->limit_per_user },
        { "pay_window_ms", was->pay_window_ms, is->pay_window_ms },
        { "deduct_on_payment", was->deduct_on_payment, is->deduct_on_payment },
        { "channel_return_ms", was->channel_return_ms, is->channel_return_ms },
        { "period_limit", was->limits.period_limit, is->limits.period_limit },
        { "payer_limit", was->limits.payer_limit, is->limits.payer_limit },
        { "period_days", was->limits.period_days, is->limits.period_days },
        { "period_group", was->limits.period_group, is->limits.period_group },
        { "total", was->total, is->total }, { "locked", was->locked, is->locked },
        { "safety", was->safety, is->safety } };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].was != numbers[i].is)
            admin_audit_write(admin, job, "item.change", "item %u %s: %llu \u2192 %llu", is->id,
                numbers[i].name, (unsigned long long)numbers[i].was, (unsigned long long)numbers[i].is);
}

void admin_item_change(struct admin *admin, struct job *job, uint32_t id)
{
    struct item_change change;
    struct product *product = malloc(sizeof *product);
    char told[WARNINGS_BYTES];
    struct text warnings = text_in(told, sizeof told);
    struct item *item = &change.after;
    invariant(product != NULL);
    if (!admin_item_read(admin, job, id, &change.before))
        goto done;
    *item = change.before;
    if (!item_place_check(admin, job, item, product) || !change_read(admin, job, &change)
        || !change_may_be(admin, job, &change) || !terms_tell(admin, job, item))
        goto done;
    enum status status = admin->store->ops->item_update(admin->store, item, change.stock);
    if (status == STATUS_OK && limits_differ(&change.before, item))
        status = admin->store->ops->item_limits(admin->store, item->id, &item->limits);
    if (status != STATUS_OK) {
        job_reply_status(job, status);
        goto done;
    }
    worker_item_changed(admin->worker, id);
    item_warnings(item, product, false, &warnings);
    item_reply(admin, job, 200, item, &warnings);
    change_audit(admin, job, &change.before, item);
done:
    free(product);
}

void admin_item_show(struct admin *admin, struct job *job, uint32_t id)
{
    struct item item;
    struct text body = job_body(job);
    if (!admin_item_read(admin, job, id, &item))
        return;
    item_json(admin, &item, &body);
    job_reply_json(job, 200, &body);
}

void admin_item_remove(struct admin *admin, struct job *job, uint32_t id)
{
    struct item item;
    struct text body = job_body(job);
    if (!admin_item_read(admin, job, id, &item))
        return;
    const enum status status = item_is_preheated(admin, &item)
        ? STATUS_CONFLICT
        : admin->store->ops->item_remove(admin->store, id);
    if (status == STATUS_CONFLICT) {
        job_reply_problem(job, PROBLEM_CONFLICT,
            "The item is preheated and can't be removed. To stop selling it, remove its units "
            "with adjust.",
            SPAN_NONE);
        return;
    }
    if (!job_ok(job, status))
        return;
    worker_item_changed(admin->worker, id);
    text_format(&body, "{\"item\":%u,\"removed\":true}", id);
    job_reply_json(job, 200, &body);
    admin_audit_write(
        admin, job, "item.remove", "item %u of sale %u product %u", id, item.sale, item.product);
}
