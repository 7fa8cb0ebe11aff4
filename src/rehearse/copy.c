/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/copy.h"

#include <stdarg.h>
#include <string.h>

enum { EXAMPLE_UNITS = 1000, EXAMPLE_PACE = 1000, EXAMPLE_DROP = 90 };

__attribute__((format(printf, 2, 3))) static void note(struct copy *copy, const char *format, ...)
{
    if (copy->note_count == COPY_NOTES_MAX)
        return;
    va_list values;
    va_start(values, format);
    vsnprintf(copy->notes[copy->note_count++], COPY_NOTE_BYTES, format, values);
    va_end(values);
}

bool copy_example(struct copy *copy)
{
    *copy = (struct copy){ 0 };
    copy->sale = json_pack("{s:s, s:i, s:s, s:i, s:i, s:i}", "title", "1,000 units, 100,000 users",
        "limit_per_user", 0, "human_check", "pow", "drop_percent", EXAMPLE_DROP, "pace_per_s",
        EXAMPLE_PACE, "start_draw_ms", 3000);
    copy->items = json_pack("[{s:s, s:s, s:i, s:i, s:i, s:i}]", "product", "Rehearsal", "currency", "CNY",
        "flash_price", 99900, "limit_per_user", 1, "pay_window_ms", 900000, "total", EXAMPLE_UNITS);
    return copy->sale != NULL && copy->items != NULL;
}

/* The members of `from` that are named, in an object of their own. */
static json_t *members_take(const json_t *from, const char *const *names)
{
    json_t *out = json_object();
    for (; *names != NULL; names++)
        if (json_object_get(from, *names) != NULL
            && json_object_set(out, *names, json_object_get(from, *names)) != 0)
            return out;
    return out;
}

static bool is_true(const json_t *object, const char *name)
{
    return json_is_true(json_object_get(object, name));
}

static void item_take(struct copy *copy, const json_t *row)
{
    static const char *const names[] = { "currency", "flash_price", "limit_per_user",
        "pay_window_ms", "total", "locked", "safety", "period_limit", "payer_limit", "period_days",
        "period_group", NULL };
    char product[32];
    json_t *item = members_take(row, names);
    snprintf(product, sizeof product, "Product %" JSON_INTEGER_FORMAT,
        json_integer_value(json_object_get(row, "product")));
    (void)json_object_set_new(item, "product", json_string(product));
    (void)json_array_append_new(copy->items, item);
    if (is_true(row, "deduct_on_payment"))
        note(copy, "units are taken on purchase, not on payment");
    if (json_object_size(json_object_get(row, "channels")) > 1)
        note(copy, "all units are in the channel web");
}

bool copy_read(struct copy *copy, struct admin_session *shop, uint32_t sale)
{
    static const char *const names[] = { "title", "limit_per_user", "one_open_order",
        "details_required", "human_check", "waiting_room", "pass_once", "drop_percent",
        "pace_per_s", "cooldown_s", "return_draw_ms", "start_draw_ms", NULL };
    char path[96];
    struct admin_answer answer;
    *copy = (struct copy){ .items = json_array() };
    snprintf(path, sizeof path, "/admin/v1/sales/%u", sale);
    if (admin_session_call(shop, "GET", path, NULL, &answer) != ADMIN_CLI_DONE)
        return false;
    copy->sale = members_take(answer.json, names);
    if (is_true(answer.json, "eligible_only"))
        note(copy, "everybody may buy: the list of users is not copied");
    admin_answer_free(&answer);
    json_int_t after = 0;
    do {
        snprintf(path, sizeof path, "/admin/v1/items?sale=%u&after=%" JSON_INTEGER_FORMAT, sale, after);
        if (admin_session_call(shop, "GET", path, NULL, &answer) != ADMIN_CLI_DONE)
            return false;
        const json_t *row;
        size_t i;
        json_array_foreach(json_object_get(answer.json, "items"), i, row)
        {
            if (json_array_size(copy->items) < PLAN_ITEMS_MAX)
                item_take(copy, row);
        }
        after = json_integer_value(json_object_get(answer.json, "next"));
        admin_answer_free(&answer);
    } while (after > 0 && json_array_size(copy->items) < PLAN_ITEMS_MAX);
    if (json_array_size(copy->items) > 0)
        return true;
    fprintf(shop->errors, "stampede rehearse: sale %u has no items\n", sale);
    return false;
}

void copy_settings_read(struct copy *copy, struct admin_session *shop, struct text *out)
{
    struct admin_answer answer;
    FILE *errors = shop->errors, *silence = fopen("/dev/null", "we");
    if (silence != NULL)
        shop->errors = silence; /* a key that may not read them is no fault */
    const enum admin_cli_result result =
        admin_session_call(shop, "GET", "/admin/v1/settings", NULL, &answer);
    shop->errors = errors;
    if (silence != NULL)
        fclose(silence);
    if (result != ADMIN_CLI_DONE) {
        note(copy, "the server's settings are the standard ones: only an admin's key may read the shop's");
        return;
    }
    const json_t *row;
    size_t i;
    json_array_foreach(json_object_get(answer.json, "settings"), i, row)
    {
        const char *name = json_string_value(json_object_get(row, "name"));
        const char *value = json_string_value(json_object_get(row, "value"));
        if (name == NULL || value == NULL || strpbrk(value, "\r\n") != NULL)
            continue;
        text_string(out, name);
        text_literal(out, "=");
        text_string(out, value);
        text_literal(out, "\n");
    }
    admin_answer_free(&answer);
}

/* The id of what was made; 0: refused. */
static uint32_t thing_make(struct admin_session *server, const char *path, json_t *body)
{
    struct admin_answer answer;
    uint32_t id = 0;
    if (body != NULL && admin_session_call(server, "POST", path, body, &answer) == ADMIN_CLI_DONE) {
        id = (uint32_t)json_integer_value(json_object_get(answer.json, "id"));
        admin_answer_free(&answer);
    }
    json_decref(body);
    return id;
}

static bool item_make(struct admin_session *server, const json_t *from, struct sale_facts *facts)
{
    const char *currency = json_string_value(json_object_get(from, "currency"));
    json_t *item = json_deep_copy(from);
    const uint32_t product = thing_make(server, "/admin/v1/products",
        json_pack("{s:s, s:O, s:s}", "name", json_string_value(json_object_get(from, "product")),
            "list_price", json_object_get(from, "flash_price"), "currency",
            currency != NULL ? currency : "CNY"));
    if (product == 0 || item == NULL) {
        json_decref(item);
        return false;
    }
    (void)json_object_del(item, "currency");
    (void)json_object_set_new(item, "product", json_integer(product));
    (void)json_object_set_new(item, "sale", json_integer(facts->sale));
    const json_int_t sellable = json_integer_value(json_object_get(from, "total"))
        - json_integer_value(json_object_get(from, "locked"))
        - json_integer_value(json_object_get(from, "safety"));
    const uint32_t id = thing_make(server, "/admin/v1/items", item);
    facts->items[facts->item_count] = id;
    facts->units[facts->item_count++] = sellable > 0 ? (uint32_t)sellable : 0;
    return id != 0;
}

bool copy_make(const struct copy *copy, struct admin_session *server, uint64_t now_ms,
    uint64_t lead_ms, uint64_t length_ms, struct sale_facts *facts)
{
    struct admin_answer answer;
    char path[96];
    json_t *sale = json_deep_copy(copy->sale);
    const json_int_t start_ms = (json_int_t)now_ms + (json_int_t)lead_ms;
    (void)json_object_set_new(sale, "start_ms", json_integer(start_ms));
    (void)json_object_set_new(sale, "end_ms", json_integer(start_ms + (json_int_t)length_ms));
    facts->item_count = 0;
    facts->sale = thing_make(server, "/admin/v1/sales", sale);
    if (facts->sale == 0)
        return false;
    const json_t *item;
    size_t i;
    json_array_foreach(copy->items, i, item)
    {
        if (!item_make(server, item, facts))
            return false;
    }
    snprintf(path, sizeof path, "/admin/v1/sales/%u/publish", facts->sale);
    if (admin_session_call(server, "POST", path, NULL, &answer) != ADMIN_CLI_DONE)
        return false;
    admin_answer_free(&answer);
    facts->human_check = strcmp(copy_text(copy, "human_check"), "none") != 0
        && copy_text(copy, "human_check")[0] != 0;
    facts->waiting_room = copy_flag(copy, "waiting_room");
    facts->details_required = copy_flag(copy, "details_required");
    return true;
}

void copy_free(struct copy *copy)
{
    json_decref(copy->sale);
    json_decref(copy->items);
    copy->sale = copy->items = NULL;
}

uint32_t copy_number(const struct copy *copy, const char *member)
{
    return (uint32_t)json_integer_value(json_object_get(copy->sale, member));
}

bool copy_flag(const struct copy *copy, const char *member)
{
    return is_true(copy->sale, member);
}

const char *copy_text(const struct copy *copy, const char *member)
{
    const char *text = json_string_value(json_object_get(copy->sale, member));
    return text != NULL ? text : "";
}
