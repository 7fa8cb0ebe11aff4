/* wiring/admin_catalog.c: products, sales and items as an administrator makes and reads them. */
#include "wiring/admin_api.h"
#include "wiring/admin_json.h"
#include "wiring/catalog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_ROWS = 50, PRODUCT_ROWS = 16 };
static const int64_t PRICE_MAX = 1000LL * 1000 * 1000 * 1000;
static const int64_t TIME_MAX = 253402300799999; /* the end of year 9999 */
enum { PACE_MAX_PER_S = 1000 * 1000 };
enum { PAY_WINDOW_STANDARD_MS = 15 * 60 * 1000, PAY_WINDOW_MAX_MS = 7 * 24 * 3600 * 1000 };

static void product_json(const struct product *product, struct text *out)
{
    text_format(out, "{\"id\":%u,\"name\":", product->id);
    text_json(out, span_from_string(product->name));
    text_literal(out, ",\"description\":");
    text_json(out, span_from_string(product->description));
    text_literal(out, ",\"images\":");
    text_string(out, product->images[0] == 0 ? "[]" : product->images);
    text_literal(out, ",\"currency\":");
    text_json(out, span_from_string(product->currency));
    text_format(out, ",\"list_price\":%llu}", (unsigned long long)product->list_price);
}

static void sale_json(const struct sale *sale, struct text *out)
{
    static const char *const gates[] = { "scheduled", "open", "paused", "ended" };
    text_format(out, "{\"id\":%u,\"title\":", sale->id);
    text_json(out, span_from_string(sale->title));
    text_format(out,
        ",\"start_ms\":%llu,\"end_ms\":%llu,\"limit_per_user\":%u,\"eligible_only\":%s,"
        "\"published\":%s,"
        "\"gate\":\"%s\",\"preheat_at_ms\":%llu,\"one_open_order\":%s,\"details_required\":%s,"
        "\"human_check\":\"%s\",\"waiting_room\":%s,\"pass_once\":%s,\"drop_percent\":%u,"
        "\"pace_per_s\":%u",
        (unsigned long long)sale->start_ms, (unsigned long long)sale->end_ms, sale->limit_per_user,
        sale->eligible_only ? "true" : "false", sale->published ? "true" : "false",
        gates[sale->gate & 3], (unsigned long long)sale->preheat_at_ms,
        sale->one_open_order ? "true" : "false", sale->details_required ? "true" : "false",
        human_check_name(sale->human_check), sale->waiting_room ? "true" : "false",
        sale->pass_once ? "true" : "false", sale->drop_percent, sale->pace_per_s);
    admin_beacon_members(sale, out);
    text_literal(out, "}");
}

static void item_json(const struct desk *desk, const struct item *item, struct text *out)
{
    text_format(out,
        "{\"id\":%u,\"sale\":%u,\"product\":%u,\"flash_price\":%llu,\"limit_per_user\":%u,\"pay_"
        "window_ms\":%u,"
        "\"total\":%u,\"locked\":%u,\"sold\":%u,\"safety\":%u,\"preheated\":%s,\"version\":%llu,"
        "\"deduct_on_payment\":%s,\"channels\":{",
        item->id, item->sale, item->product, (unsigned long long)item->flash_price,
        item->limit_per_user, item->pay_window_ms, item->total, item->locked, item->sold,
        item->safety, item->preheated ? "true" : "false", (unsigned long long)item->version,
        item->deduct_on_payment ? "true" : "false");
    for (uint32_t channel = 0; channel < desk->config.channels->count; channel++) {
        char name[CHANNEL_NAME_MAX + 1];
        text_format(out, "%s\"%s\":%u", channel == 0 ? "" : ",",
            channel_name(desk, (channel_index)channel, name), item->channel_units[channel]);
    }
    text_literal(out, "}}");
}

void admin_products_list(struct desk *desk, struct job *job, uint32_t id)
{
    uint64_t after = 0;
    uint32_t count = 0;
    struct text body = job_body(job);
    (void)id;
    if (!admin_query_u64(job, "after", UINT32_MAX, &after))
        return;
    struct product *rows = malloc(PRODUCT_ROWS * sizeof *rows);
    invariant(rows != NULL);
    const enum status status = desk->config.store->ops->products(
        desk->config.store, (uint32_t)after, rows, PRODUCT_ROWS, &count);
    text_literal(&body, "{\"products\":[");
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        text_string(&body, i == 0 ? "" : ",");
        product_json(&rows[i], &body);
    }
    text_literal(&body, "]");
    if (count == PRODUCT_ROWS)
        text_format(&body, ",\"next\":%u", rows[count - 1].id);
    text_literal(&body, "}");
    free(rows);
    if (status == STATUS_OK)
        job_reply_json(job, 200, &body);
    else
        job_reply_status(job, status);
}

/* An array of addresses, kept as the JSON it is. */
static const char *images_take(json_t *images, char out[IMAGES_BYTES_MAX + 1])
{
    size_t index;
    json_t *image;
    if (images == NULL)
        return NULL;
    if (!json_is_array(images))
        return "images must be a list of addresses.";
    json_array_foreach(images, index, image)
    {
        const char *address = json_string_value(image);
        const bool good = address != NULL
            && (address[0] == '/' || strncmp(address, "https://", 8) == 0
                || strncmp(address, "http://", 7) == 0);
        if (!good)
            return "images must be addresses that begin with /, https:// or http://.";
    }
    char *text = json_dumps(images, JSON_COMPACT);
    const bool fits = text != NULL && strlen(text) <= IMAGES_BYTES_MAX;
    if (fits)
        memcpy(out, text, strlen(text) + 1);
    free(text);
    return fits ? NULL : "images are too long.";
}

void admin_product_create(struct desk *desk, struct job *job, uint32_t id)
{
    struct product *product = calloc(1, sizeof *product);
    char error[FIELD_ERROR];
    json_t *images = NULL;
    (void)id;
    invariant(product != NULL);
    memcpy(product->currency, "CNY", 4);
    const struct field fields[] = {
        { "name", FIELD_TEXT, product->name, 1, NAME_BYTES_MAX, true, NULL },
        { "description", FIELD_TEXT, product->description, 0, DESCRIPTION_BYTES_MAX, false, NULL },
        { "images", FIELD_JSON, &images, 0, 0, false, NULL },
        { "list_price", FIELD_U64, &product->list_price, 0, PRICE_MAX, true, NULL },
        { "currency", FIELD_TEXT, product->currency, 3, 3, false, NULL },
    };
    json_t *object = admin_body_parse(job->body, error);
    if (object == NULL) {
        job_reply_problem(job, PROBLEM_BAD_BODY, error, SPAN_NONE);
        free(product);
        return;
    }
    const bool good = admin_fields_read(object, fields, sizeof fields / sizeof *fields, error);
    const char *wrong = good ? images_take(images, product->images) : error;
    json_decref(object);
    if (wrong != NULL) {
        job_reply_problem(job, PROBLEM_BAD_VALUE, wrong, SPAN_NONE);
        free(product);
        return;
    }
    const enum status status = desk->config.store->ops->product_insert(desk->config.store, product);
    if (status == STATUS_OK) {
        struct text body = job_body(job);
        product_json(product, &body);
        job_reply_json(job, 201, &body);
        admin_audit_write(desk, job, "product.create", "product %u %.200s", product->id, product->name);
    } else {
        job_reply_status(job, status);
    }
    free(product);
}

void admin_sales_list(struct desk *desk, struct job *job, uint32_t id)
{
    struct sale rows[PAGE_ROWS];
    uint64_t after = 0;
    uint32_t count = 0;
    struct text body = job_body(job);
    (void)id;
    if (!admin_query_u64(job, "after", UINT32_MAX, &after))
        return;
    const enum status status =
        desk->config.store->ops->sales(desk->config.store, (sale_id)after, rows, PAGE_ROWS, &count);
    if (status != STATUS_OK) {
        job_reply_status(job, status);
        return;
    }
    text_literal(&body, "{\"sales\":[");
    for (uint32_t i = 0; i < count; i++) {
        text_string(&body, i == 0 ? "" : ",");
        sale_json(&rows[i], &body);
    }
    text_literal(&body, "]");
    if (count == PAGE_ROWS)
        text_format(&body, ",\"next\":%u", rows[count - 1].id);
    text_literal(&body, "}");
    job_reply_json(job, 200, &body);
}

enum { SALE_FIELDS = 14, HUMAN_NAME_MAX = 15 };

/* What a body may say of a sale, and `human`, the name that is not a number yet. */
static void sale_fields(struct sale *sale, char human[HUMAN_NAME_MAX + 1], bool required,
    struct field fields[SALE_FIELDS])
{
    snprintf(human, HUMAN_NAME_MAX + 1, "%s", human_check_name(sale->human_check));
    const struct field list[SALE_FIELDS] = {
        { "title", FIELD_TEXT, sale->title, 1, NAME_BYTES_MAX, required, NULL },
        { "start_ms", FIELD_U64, &sale->start_ms, 1, TIME_MAX, required, NULL },
        { "end_ms", FIELD_U64, &sale->end_ms, 1, TIME_MAX, required, NULL },
        { "limit_per_user", FIELD_U32, &sale->limit_per_user, 0, UNITS_MAX, false, NULL },
        { "eligible_only", FIELD_FLAG, &sale->eligible_only, 0, 1, false, NULL },
        { "preheat_at_ms", FIELD_U64, &sale->preheat_at_ms, 0, TIME_MAX, false, NULL },
        { "one_open_order", FIELD_FLAG, &sale->one_open_order, 0, 1, false, NULL },
        { "details_required", FIELD_FLAG, &sale->details_required, 0, 1, false, NULL },
        { "human_check", FIELD_TEXT, human, 1, HUMAN_NAME_MAX, false, NULL },
        { "waiting_room", FIELD_FLAG, &sale->waiting_room, 0, 1, false, NULL },
        { "pass_once", FIELD_FLAG, &sale->pass_once, 0, 1, false, NULL },
        { "drop_percent", FIELD_U32, &sale->drop_percent, 0, 100, false, NULL },
        { "pace_per_s", FIELD_U32, &sale->pace_per_s, 0, PACE_MAX_PER_S, false, NULL },
        { "beacon_name", FIELD_TEXT, sale->beacon_name, 0, BEACON_NAME_BYTES_MAX, false, NULL },
    };
    memcpy(fields, list, sizeof list);
}

/* False: answered. */
static bool sale_body_read(struct job *job, struct sale *sale, bool required)
{
    struct field fields[SALE_FIELDS];
    char human[HUMAN_NAME_MAX + 1];
    sale_fields(sale, human, required, fields);
    if (!admin_body_read(job, fields, SALE_FIELDS))
        return false;
    for (int check = HUMAN_NONE; check < HUMAN_CHECKS; check++) {
        if (strcmp(human, human_check_name((uint8_t)check)) == 0) {
            sale->human_check = (uint8_t)check;
            return true;
        }
    }
    job_reply_problem(
        job, PROBLEM_BAD_VALUE, "human_check must be none, pow, image or slider.", SPAN_NONE);
    return false;
}

void admin_sale_create(struct desk *desk, struct job *job, uint32_t id)
{
    const struct sale before = { 0 };
    struct sale sale = { 0 };
    (void)id;
    if (!sale_body_read(job, &sale, true) || !admin_beacon_may_be(desk, job, &before, &sale))
        return;
    if (sale.end_ms <= sale.start_ms || sale.end_ms <= desk->now_ms) {
        job_reply_problem(
            job, PROBLEM_BAD_VALUE, "end_ms must be after start_ms and in the future.", SPAN_NONE);
        return;
    }
    const enum status status = desk->config.store->ops->sale_insert(desk->config.store, &sale);
    if (status != STATUS_OK) {
        job_reply_status(job, status);
        return;
    }
    struct text body = job_body(job);
    sale_json(&sale, &body);
    job_reply_json(job, 201, &body);
    admin_audit_write(desk, job, "sale.create", "sale %u %.200s", sale.id, sale.title);
    if (sale.beacon_name[0] != 0)
        admin_audit_write(desk, job, "sale.create", "sale %u beacon \"%s\"", sale.id, sale.beacon_name);
}

void admin_sale_show(struct desk *desk, struct job *job, uint32_t id)
{
    struct sale sale;
    struct text body = job_body(job);
    if (!admin_sale_read(desk, job, id, &sale))
        return;
    sale_json(&sale, &body);
    job_reply_json(job, 200, &body);
}

/* A sale that the inventory knows changes there first: if it refuses, nothing has changed
 * anywhere. */
void admin_sale_change(struct desk *desk, struct job *job, uint32_t id)
{
    struct sale before, sale;
    struct outcome outcome = { .answer = ANSWER_DONE };
    if (!admin_sale_read(desk, job, id, &before))
        return;
    sale = before;
    if (!sale_body_read(job, &sale, false) || !admin_beacon_may_be(desk, job, &before, &sale))
        return;
    if (sale.end_ms <= sale.start_ms) {
        job_reply_problem(job, PROBLEM_BAD_VALUE, "end_ms must be after start_ms.", SPAN_NONE);
        return;
    }
    enum status status = desk_sale_define(desk, &sale, &outcome);
    if (status == STATUS_OK && outcome.answer != ANSWER_DONE && outcome.answer != ANSWER_UNCHANGED) {
        admin_refuse(job, &outcome);
        return;
    }
    if (status == STATUS_OK)
        status = desk->config.store->ops->sale_update(desk->config.store, &sale);
    if (status != STATUS_OK) {
        job_reply_status(job, status);
        return;
    }
    desk->catalog_stale = true;
    struct text body = job_body(job);
    sale_json(&sale, &body);
    job_reply_json(job, 200, &body);
    admin_audit_write(desk, job, "sale.change",
        "sale %u start %llu end %llu limit %u human check %s waiting room %d pass once %d "
        "drop %u%% pace %u",
        sale.id, (unsigned long long)sale.start_ms, (unsigned long long)sale.end_ms,
        sale.limit_per_user, human_check_name(sale.human_check), sale.waiting_room, sale.pass_once,
        sale.drop_percent, sale.pace_per_s);
    if (strcmp(before.beacon_name, sale.beacon_name) != 0)
        admin_audit_write(desk, job, "sale.change", "sale %u beacon \"%s\"", sale.id, sale.beacon_name);
}

void admin_items_list(struct desk *desk, struct job *job, uint32_t id)
{
    struct item rows[PAGE_ROWS];
    uint64_t after = 0, sale = 0;
    uint32_t count = 0;
    struct text body = job_body(job);
    (void)id;
    if (!admin_query_u64(job, "after", UINT32_MAX, &after)
        || !admin_query_u64(job, "sale", UINT32_MAX, &sale))
        return;
    const enum status status = desk->config.store->ops->items(
        desk->config.store, (sale_id)sale, (item_id)after, rows, PAGE_ROWS, &count);
    if (status != STATUS_OK) {
        job_reply_status(job, status);
        return;
    }
    text_literal(&body, "{\"items\":[");
    for (uint32_t i = 0; i < count; i++) {
        text_string(&body, i == 0 ? "" : ",");
        item_json(desk, &rows[i], &body);
    }
    text_literal(&body, "]");
    if (count == PAGE_ROWS)
        text_format(&body, ",\"next\":%u", rows[count - 1].id);
    text_literal(&body, "}");
    job_reply_json(job, 200, &body);
}

/* {"web":10,"app":5}: what is not said is zero; nothing at all means: everything on the web. */
static const char *channels_take(const struct desk *desk, json_t *channels, struct item *item)
{
    const int64_t sellable = (int64_t)item->total - item->locked - item->safety;
    const char *name;
    json_t *units;
    if (sellable < 0)
        return "locked and safety are more than total.";
    if (channels == NULL) {
        item->channel_units[0] = (uint32_t)sellable;
        return NULL;
    }
    if (!json_is_object(channels))
        return "channels must be an object of channel names and units.";
    int64_t sum = 0;
    json_object_foreach(channels, name, units)
    {
        channel_index channel;
        if (!door_channel_find(desk->config.channels, span_from_string(name), &channel))
            return "channels names a channel that is not configured.";
        const json_int_t value = json_integer_value(units);
        if (!json_is_integer(units) || value < 0 || value > UNITS_MAX)
            return "channels must have whole numbers of units.";
        item->channel_units[channel] = (uint32_t)value;
        sum += value;
    }
    return sum == sellable ? NULL : "channels must add up to total - locked - safety.";
}

void admin_item_create(struct desk *desk, struct job *job, uint32_t id)
{
    struct item item = { .limit_per_user = 1, .pay_window_ms = PAY_WINDOW_STANDARD_MS };
    struct sale sale;
    char error[FIELD_ERROR];
    json_t *channels = NULL;
    (void)id;
    const struct field fields[] = {
        { "sale", FIELD_U32, &item.sale, 1, UINT32_MAX, true, NULL },
        { "product", FIELD_U32, &item.product, 1, UINT32_MAX, true, NULL },
        { "flash_price", FIELD_U64, &item.flash_price, 0, PRICE_MAX, true, NULL },
        { "limit_per_user", FIELD_U32, &item.limit_per_user, 0, UNITS_MAX, false, NULL },
        { "pay_window_ms", FIELD_U32, &item.pay_window_ms, 1000, PAY_WINDOW_MAX_MS, false, NULL },
        { "total", FIELD_U32, &item.total, 0, UNITS_MAX, true, NULL },
        { "locked", FIELD_U32, &item.locked, 0, UNITS_MAX, false, NULL },
        { "safety", FIELD_U32, &item.safety, 0, UNITS_MAX, false, NULL },
        { "deduct_on_payment", FIELD_FLAG, &item.deduct_on_payment, 0, 1, false, NULL },
        { "channels", FIELD_JSON, &channels, 0, 0, false, NULL },
    };
    json_t *object = admin_body_parse(job->body, error);
    if (object == NULL) {
        job_reply_problem(job, PROBLEM_BAD_BODY, error, SPAN_NONE);
        return;
    }
    const bool good = admin_fields_read(object, fields, sizeof fields / sizeof *fields, error);
    const char *wrong = good ? channels_take(desk, channels, &item) : error;
    json_decref(object);
    if (wrong != NULL) {
        job_reply_problem(job, PROBLEM_BAD_VALUE, wrong, SPAN_NONE);
        return;
    }
    if (!admin_sale_read(desk, job, item.sale, &sale))
        return;
    const enum status status = desk->config.store->ops->item_insert(desk->config.store, &item);
    if (status == STATUS_REFUSED) {
        job_reply_problem(job, PROBLEM_BAD_VALUE, "There is no such product.", SPAN_NONE);
        return;
    }
    if (status != STATUS_OK) {
        job_reply_status(job, status);
        return;
    }
    desk->catalog_stale = true;
    struct text body = job_body(job);
    item_json(desk, &item, &body);
    job_reply_json(job, 201, &body);
    admin_audit_write(desk, job, "item.create", "item %u sale %u product %u total %u price %llu",
        item.id, item.sale, item.product, item.total, (unsigned long long)item.flash_price);
}
