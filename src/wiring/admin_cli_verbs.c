/* wiring/admin_cli_verbs.c: the table of verbs, and how a command line becomes a request. The table
 * is the reference: parsing, help and requests all follow from it. */
#include "base/span.h"
#include "base/text.h"
#include "wiring/admin_cli_parts.h"
#include "wiring/time_text.h"

#include <string.h>

#define NUMBER_OF(what) \
    { \
        "N", NULL, OPTION_PATH, true, "number of the " what \
    }
#define ORDER_ID \
    { \
        "ORDER", NULL, OPTION_ID, true, "the order's id" \
    }
#define SALE_COLUMNS \
    "id title gate start_ms end_ms limit_per_user eligible_only one_open_order details_required " \
    "published" \
    " preheat_at_ms human_check waiting_room pass_once drop_percent pace_per_s"
#define ITEM_COLUMNS \
    "id sale product flash_price limit_per_user pay_window_ms deduct_on_payment total locked sold" \
    " safety preheated"
#define PREHEAT_COLUMNS "item result sellable detail"

/* What a sale asks of its visitors; `flag`: how create and change say yes. */
#define SALE_FUNNEL(flag) \
    { "--human-check", "human_check", OPTION_TEXT, false, "none, pow, image or slider" }, \
        { "--waiting-room", "waiting_room", flag, false, "passes are given in turn" }, \
        { "--pass-once", "pass_once", flag, false, "a pass is good for one request" }, \
        { "--drop", "drop_percent", OPTION_NUMBER, false, "percent of users to turn away; 0: none" }, \
    { \
        "--pace", "pace_per_s", OPTION_NUMBER, false, "purchases of an item in a second; 0: all" \
    }

#define GATE(word, what) \
    { \
        .name = "sale " word, .method = "POST", .path = "/admin/v1/sales/%/" word, .help = (what), \
        .options = { \
            NUMBER_OF("sale") \
        } \
    }

const struct admin_verb admin_verbs[] = {
    { .name = "product create",
        .method = "POST",
        .path = "/admin/v1/products",
        .help = "a new product",
        .options = { { "--name", "name", OPTION_TEXT, true, "what it is called" },
            { "--description", "description", OPTION_TEXT, false, "a longer text" },
            { "--image", "images", OPTION_TEXTS, false, "address of a picture; may be repeated" },
            { "--list-price", "list_price", OPTION_NUMBER, true, "in the currency's smallest unit" },
            { "--currency", "currency", OPTION_TEXT, true, "three letters, like CNY" } } },
    { .name = "product list",
        .pages = true,
        .method = "GET",
        .path = "/admin/v1/products",
        .columns = "id name list_price currency",
        .help = "all products" },
    { .name = "sale create",
        .method = "POST",
        .path = "/admin/v1/sales",
        .help = "a new sale, not visible before it is published",
        .options = { { "--title", "title", OPTION_TEXT, true, "what it is called" },
            { "--start", "start_ms", OPTION_TIME, true, "when it opens" },
            { "--end", "end_ms", OPTION_TIME, true, "when it ends" },
            { "--limit", "limit_per_user", OPTION_NUMBER, false, "units per user over all items; 0: none" },
            { "--eligible-only", "eligible_only", OPTION_FLAG, false, "only users loaded by `sale users`" },
            { "--one-open-order", "one_open_order", OPTION_FLAG, false,
                "who has an unpaid order can't buy another one yet" },
            { "--details-required", "details_required", OPTION_FLAG, false, "address before payment" },
            { "--preheat-at", "preheat_at_ms", OPTION_TIME, false, "preheat by timer" },
            SALE_FUNNEL(OPTION_FLAG) } },
    { .name = "sale list",
        .pages = true,
        .method = "GET",
        .path = "/admin/v1/sales",
        .columns = SALE_COLUMNS,
        .help = "all sales, drafts too" },
    { .name = "sale show",
        .method = "GET",
        .path = "/admin/v1/sales/%",
        .help = "one sale with its items",
        .options = { NUMBER_OF("sale") } },
    { .name = "sale schedule",
        .method = "PATCH",
        .path = "/admin/v1/sales/%",
        .help = "move a sale that has not opened",
        .options = { NUMBER_OF("sale"), { "--start", "start_ms", OPTION_TIME, false, "when it opens" },
            { "--end", "end_ms", OPTION_TIME, false, "when it ends" } } },
    { .name = "sale change",
        .method = "PATCH",
        .path = "/admin/v1/sales/%",
        .help = "change what is given; what visitors must do may change while it runs",
        .options = { NUMBER_OF("sale"), { "--title", "title", OPTION_TEXT, false, "what it is called" },
            { "--limit", "limit_per_user", OPTION_NUMBER, false, "units per user over all items; 0: none" },
            { "--eligible-only", "eligible_only", OPTION_YES_NO, false, "only users loaded by `sale users`" },
            { "--one-open-order", "one_open_order", OPTION_YES_NO, false,
                "who has an unpaid order can't buy another one yet" },
            { "--details-required", "details_required", OPTION_YES_NO, false, "address before payment" },
            SALE_FUNNEL(OPTION_YES_NO) } },
    { .name = "sale preheat",
        .method = "POST",
        .path = "/admin/v1/sales/%/preheat",
        .columns = PREHEAT_COLUMNS,
        .help = "load the units of all its items; again changes nothing",
        .options = { NUMBER_OF("sale") } },
    GATE("publish", "preheat it and make it visible"),
    GATE("open", "open now, before its start"),
    GATE("pause", "stop selling for a while"),
    GATE("resume", "go on selling"),
    GATE("end", "end it for good"),
    { .name = "sale users",
        .method = "POST",
        .path = "/admin/v1/sales/%/users",
        .help = "load the users who may buy, one subject per line",
        .options = { NUMBER_OF("sale"),
            { "FILE", "users", OPTION_FILE, true, "subjects; - for standard input" } } },
    { .name = "item create",
        .method = "POST",
        .path = "/admin/v1/items",
        .help = "put a product on sale",
        .options = { { "--sale", "sale", OPTION_NUMBER, true, "number of the sale" },
            { "--product", "product", OPTION_NUMBER, true, "number of the product" },
            { "--price", "flash_price", OPTION_NUMBER, true, "in the currency's smallest unit" },
            { "--total", "total", OPTION_NUMBER, true, "units" },
            { "--limit", "limit_per_user", OPTION_NUMBER, false, "units per user; 0: none; 1 if not given" },
            { "--pay-window-ms", "pay_window_ms", OPTION_NUMBER, false, "time to pay; 900000 if not given" },
            { "--deduct-on-payment", "deduct_on_payment", OPTION_FLAG, false,
                "take the unit when payment starts, not when the order is placed" },
            { "--locked", "locked", OPTION_NUMBER, false, "units of the total that are not for sale" },
            { "--safety", "safety", OPTION_NUMBER, false, "units kept back" },
            { "--channel", "channels", OPTION_UNITS, false,
                "web=N; may be repeated; all to web if not given" } } },
    { .name = "item list",
        .pages = true,
        .method = "GET",
        .path = "/admin/v1/items",
        .columns = ITEM_COLUMNS,
        .help = "all items, or those of one sale",
        .options = { { "--sale", "sale", OPTION_NUMBER, false, "number of the sale" } } },
    { .name = "item preheat",
        .method = "POST",
        .path = "/admin/v1/items/%/preheat",
        .columns = PREHEAT_COLUMNS,
        .help = "load its units; again changes nothing",
        .options = { NUMBER_OF("item") } },
    { .name = "item adjust",
        .method = "POST",
        .path = "/admin/v1/items/%/adjust",
        .help = "add units, or take away what is free",
        .options = { NUMBER_OF("item"), { "DELTA", "delta", OPTION_SIGNED, true, "units, like 50 or -5" },
            { "--channel", "channel", OPTION_TEXT, false, "web if not given; safety is a place too" } } },
    { .name = "item move",
        .method = "POST",
        .path = "/admin/v1/items/%/move",
        .help = "units between channels and safety stock",
        .options = { NUMBER_OF("item"), { "--from", "from", OPTION_TEXT, true, "channel or safety" },
            { "--to", "to", OPTION_TEXT, true, "channel or safety" },
            { "--quantity", "quantity", OPTION_NUMBER, true, "units" } } },
    { .name = "item counts",
        .method = "GET",
        .path = "/admin/v1/items/%/counts",
        .help = "its units, per channel",
        .options = { NUMBER_OF("item") } },
    { .name = "waitlist",
        .pages = true,
        .method = "GET",
        .path = "/admin/v1/items/%/waitlist",
        .columns = "id user quantity joined_ms",
        .help = "who waits for an item, in order",
        .options = { NUMBER_OF("item") } },
    { .name = "orders",
        .method = "GET",
        .path = "/admin/v1/orders",
        .columns = "number user view.order view.ticket view.item view.quantity view.amount "
                   "view.currency view.state view.reason "
                   "view.created_ms view.pay_by_ms",
        .help = "orders, newest first",
        .options = { { "--item", "item", OPTION_NUMBER, false, "only of this item" },
            { "--user", "user", OPTION_TEXT, false, "only of this user: 16 hex digits" },
            { "--before", "before", OPTION_NUMBER, false, "only numbers below this one" },
            { "--limit", "limit", OPTION_NUMBER, false, "at most so many" } } },
    { .name = "order paid",
        .method = "POST",
        .path = "/admin/v1/orders/@/paid",
        .help = "money has come; again with the same reference changes nothing",
        .options = { ORDER_ID,
            { "--amount", "amount", OPTION_NUMBER, true, "exactly the order's, in the smallest unit" },
            { "--currency", "currency", OPTION_TEXT, true, "exactly the order's, like CNY" },
            { "--reference", "reference", OPTION_TEXT, true, "the payment's name, 1 to 64 bytes" } } },
    { .name = "order cancel",
        .method = "POST",
        .path = "/admin/v1/orders/@/cancel",
        .help = "close an order that is not paid; its units return",
        .options = { ORDER_ID } },
    { .name = "order refund",
        .method = "POST",
        .path = "/admin/v1/orders/@/refund",
        .help = "give a paid order back",
        .options = { ORDER_ID, { "--to", "to", OPTION_TEXT, true, "stock, safety or write-off" } } },
    { .name = "order details",
        .method = "GET",
        .path = "/admin/v1/orders/@/details",
        .help = "where an order goes",
        .options = { ORDER_ID } },
    { .name = "payment list",
        .method = "GET",
        .path = "/admin/v1/orders/@/payments",
        .columns =
            "id provider reference provider_id state use amount captured currency created_ms "
            "captured_ms tries",
        .help = "payments of an order, newest first",
        .options = { ORDER_ID } },
    { .name = "payment totals",
        .method = "GET",
        .path = "/admin/v1/payments/totals",
        .help = "where the money is; at rest captured - refunded = paid" },
    { .name = "refund list",
        .pages = true,
        .method = "GET",
        .path = "/admin/v1/refunds",
        .columns = "id order provider key state why amount currency created_ms done_ms tries error",
        .help = "money that goes back",
        .options = { { "--open", "open", OPTION_FLAG, false, "only what is not done, or stuck" } } },
    { .name = "sandbox show",
        .method = "GET",
        .path = "/admin/v1/sandbox",
        .help = "how badly the sandbox behaves, and its books" },
    { .name = "sandbox set",
        .method = "PATCH",
        .path = "/admin/v1/sandbox",
        .help = "how badly the sandbox behaves until the next start",
        .options = { { "--lost", "lost", OPTION_NUMBER, false, "percent of callbacks" },
            { "--doubled", "doubled", OPTION_NUMBER, false, "percent of callbacks" },
            { "--reordered", "reordered", OPTION_NUMBER, false, "percent of callbacks" },
            { "--wrong-amount", "wrong_amount", OPTION_NUMBER, false, "percent of callbacks" },
            { "--unreached", "unreached", OPTION_NUMBER, false, "percent of requests: never looked at" },
            { "--unanswered", "unanswered", OPTION_NUMBER, false, "percent of requests: done, not answered" },
            { "--short-paid", "short_paid", OPTION_NUMBER, false, "percent of payments: one too little" },
            { "--delay-ms", "delay_ms", OPTION_NUMBER, false, "each callback waits up to so long" } } },
    { .name = "dead-letter list",
        .pages = true,
        .method = "GET",
        .path = "/admin/v1/dead-letters",
        .columns = "id type number time_ms state reason",
        .help = "records that could not become orders: a person must decide",
        .options = { { "--state", "state", OPTION_TEXT, false,
            "open, retried, returned or dismissed; any if not given" } } },
    { .name = "dead-letter show",
        .method = "GET",
        .path = "/admin/v1/dead-letters/%",
        .help = "one of them, with its record",
        .options = { NUMBER_OF("dead letter") } },
    { .name = "dead-letter retry",
        .method = "POST",
        .path = "/admin/v1/dead-letters/%/retry",
        .help = "apply it, when the cause is gone",
        .options = { NUMBER_OF("dead letter") } },
    { .name = "dead-letter return",
        .method = "POST",
        .path = "/admin/v1/dead-letters/%/return",
        .help = "a ticket: reject the order, its units go back",
        .options = { NUMBER_OF("dead letter") } },
    { .name = "dead-letter dismiss",
        .method = "POST",
        .path = "/admin/v1/dead-letters/%/dismiss",
        .help = "nothing is to be done",
        .options = { NUMBER_OF("dead letter"),
            { "--note", "note", OPTION_TEXT, true, "why, up to 200 bytes" } } },
    { .name = "reconcile",
        .method = "POST",
        .path = "/admin/v1/reconcile",
        .help = "compare database and inventory; exit 1: something is left",
        .options = { { "--repair", "repair", OPTION_FLAG, false, "mend what is beyond doubt" } } },
    { .name = "report",
        .method = "GET",
        .path = "/admin/v1/sales/%/report",
        .help = "the final report of a sale: who came, who won, what became of it",
        .options = { NUMBER_OF("sale") } },
    { .name = "alarms",
        .method = "GET",
        .path = "/admin/v1/alarms",
        .columns = "name up since_ms detail",
        .help = "what a person must look at" },
    { .name = "audit",
        .pages = true,
        .method = "GET",
        .path = "/admin/v1/audit",
        .columns = "id time_ms actor action detail",
        .help = "who did what" },
    { .name = "webhook list",
        .pages = true,
        .method = "GET",
        .path = "/admin/v1/webhooks",
        .columns = "id event type order version time_ms state tries next_ms http_status error",
        .help = "what the shop was told, or is to be told",
        .options = { { "--state", "state", OPTION_TEXT, false, "waiting, delivered or failed" } } },
    { .name = "webhook replay",
        .method = "POST",
        .path = "/admin/v1/webhooks/%/replay",
        .help = "tell it again, now",
        .options = { NUMBER_OF("webhook") } },
    { .name = "webhook replay-from",
        .method = "POST",
        .path = "/admin/v1/webhooks/replay",
        .help = "tell everything again that happened since then",
        .options = { { "TIME", "from_ms", OPTION_TIME, true, "since when" } } },
};
const uint32_t admin_verb_count = sizeof admin_verbs / sizeof *admin_verbs;

const struct admin_verb *admin_verb_find(int argc, char **argv, int *words)
{
    char two[64] = "";
    if (argc >= 2)
        snprintf(two, sizeof two, "%.30s %.30s", argv[0], argv[1]);
    for (uint32_t i = 0; argc >= 1 && i < admin_verb_count; i++) {
        *words = strchr(admin_verbs[i].name, ' ') != NULL ? 2 : 1;
        if (strcmp(admin_verbs[i].name, *words == 2 ? two : argv[0]) == 0)
            return &admin_verbs[i];
    }
    return NULL;
}

/* "web=30" */
static bool units_add(json_t *object, const char *value)
{
    struct span rest = span_from_string(value), name;
    uint32_t units;
    if (!span_take_until(&rest, '=', &name) || name.size == 0 || span_to_u32(rest, &units) != STATUS_OK)
        return false;
    return json_object_setn_new(object, name.data, name.size, json_integer(units)) == 0;
}

static bool text_ends(const char *member, json_t *body, const char *value, bool units)
{
    json_t *all = json_object_get(body, member);
    if (all == NULL) {
        all = units ? json_object() : json_array();
        if (json_object_set_new(body, member, all) != 0)
            return false;
    }
    return units ? units_add(all, value) : json_array_append_new(all, json_string(value)) == 0;
}

/* False: the value is not of the option's kind. */
static bool value_take(struct admin_request *request, const struct admin_option *option,
    const char *value, uint64_t now_ms)
{
    const struct span text = span_from_string(value);
    uint64_t number = 0;
    int64_t with_sign = 0;
    json_t *json = NULL;
    switch (option->kind) {
    case OPTION_PATH:
        return span_to_u64(text, &request->id) == STATUS_OK && request->id > 0;
    case OPTION_ID:
        request->order = value;
        return text.size == 16 && span_to_hex64(text, &number) == STATUS_OK;
    case OPTION_FILE:
        request->file = value;
        return true;
    case OPTION_TEXT:
        json = json_string(value);
        break;
    case OPTION_NUMBER:
        if (span_to_u64(text, &number) == STATUS_OK && number <= INT64_MAX)
            json = json_integer((json_int_t)number);
        break;
    case OPTION_SIGNED:
        if (span_to_i64(text, &with_sign) == STATUS_OK)
            json = json_integer(with_sign);
        break;
    case OPTION_TIME:
        if (time_text_parse(text, now_ms, &number) == STATUS_OK)
            json = json_integer((json_int_t)number);
        break;
    case OPTION_FLAG:
        json = json_true();
        break;
    case OPTION_YES_NO:
        if (strcmp(value, "yes") == 0 || strcmp(value, "no") == 0)
            json = json_boolean(value[0] == 'y');
        break;
    case OPTION_TEXTS:
    case OPTION_UNITS:
        return text_ends(option->member, request->body, value, option->kind == OPTION_UNITS);
    }
    return json != NULL && json_object_set_new(request->body, option->member, json) == 0;
}

static bool option_is_place(const struct admin_option *option)
{
    return option->name[0] != '-';
}

/* The option called `name`; for a place on the line: the next one that is still empty. */
static const struct admin_option *option_find(
    const struct admin_verb *verb, const char *name, uint32_t places)
{
    const bool named = strncmp(name, "--", 2) == 0;
    uint32_t place = 0;
    for (const struct admin_option *option = verb->options; option->name != NULL; option++) {
        if (named && strcmp(option->name, name) == 0)
            return option;
        if (!named && option_is_place(option) && place++ == places)
            return option;
    }
    return NULL;
}

static const char *kind_wants(enum admin_option_kind kind)
{
    static const char *const wants[] = {
        [OPTION_PATH] = "a number from 1",
        [OPTION_ID] = "16 hex digits",
        [OPTION_FILE] = "a file",
        [OPTION_TEXT] = "UTF-8 text",
        [OPTION_NUMBER] = "a whole number",
        [OPTION_SIGNED] = "a whole number, like 50 or -5",
        [OPTION_TIME] = "a time: ms since 1970, 2026-11-11T12:00:00Z, or +30s, +10m",
        [OPTION_FLAG] = "nothing",
        [OPTION_YES_NO] = "yes or no",
        [OPTION_TEXTS] = "UTF-8 text",
        [OPTION_UNITS] = "name=N, like web=500",
    };
    return wants[kind];
}

static void query_add(struct text *path, const char *member, const json_t *value, bool first)
{
    const char *string = json_string_value(value);
    text_string(path, first ? "?" : "&");
    text_string(path, member);
    text_literal(path, "=");
    if (string == NULL) {
        text_i64(path, json_is_true(value) ? 1 : json_integer_value(value));
        return;
    }
    for (const char *at = string; *at != 0; at++) {
        const bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z')
            || (*at >= '0' && *at <= '9') || strchr("-._~", *at) != NULL;
        if (plain)
            text_add(path, span_of(at, 1));
        else
            text_format(path, "%%%02X", (unsigned)(unsigned char)*at);
    }
}

static bool path_make(struct admin_request *request)
{
    struct text path = text_in(request->path, sizeof request->path - 1);
    bool first = true;
    for (const char *at = request->verb->path; *at != 0; at++) {
        if (*at == '%')
            text_u64(&path, request->id);
        else if (*at == '@')
            text_string(&path, request->order);
        else
            text_add(&path, span_of(at, 1));
    }
    if (strcmp(request->verb->method, "GET") == 0) {
        const char *member;
        json_t *value;
        json_object_foreach(request->body, member, value)
        {
            query_add(&path, member, value, first);
            first = false;
        }
        json_decref(request->body);
        request->body = NULL;
    } else if (json_object_size(request->body) == 0) {
        json_decref(request->body); /* gates and preheats have none */
        request->body = NULL;
    }
    request->path[path.size] = 0;
    return !path.overflow;
}

enum status admin_request_parse(struct admin_request *request, const struct admin_verb *verb,
    int argc, char **argv, uint64_t now_ms, char error[ADMIN_ERROR_BYTES])
{
    bool given[ADMIN_OPTIONS_MAX] = { 0 };
    uint32_t places = 0;
    *request = (struct admin_request){ .verb = verb, .body = json_object() };
    invariant(request->body != NULL);
    for (int i = 0; i < argc; i++) {
        const struct admin_option *option = option_find(verb, argv[i], places);
        if (option == NULL) {
            snprintf(error, ADMIN_ERROR_BYTES, "%s takes no %.60s", verb->name, argv[i]);
            goto fail;
        }
        const bool place = option_is_place(option);
        const bool alone = place || option->kind == OPTION_FLAG;
        places += place;
        const char *value = alone ? argv[i] : i + 1 < argc ? argv[++i] : NULL;
        const bool again = given[option - verb->options] && option->kind != OPTION_TEXTS
            && option->kind != OPTION_UNITS;
        given[option - verb->options] = true;
        if (again || value == NULL || !value_take(request, option, value, now_ms)) {
            snprintf(error, ADMIN_ERROR_BYTES, again ? "%s is given twice" : "%s wants %s",
                option->name, kind_wants(option->kind));
            goto fail;
        }
    }
    for (uint32_t i = 0; i < ADMIN_OPTIONS_MAX && verb->options[i].name != NULL; i++) {
        if (!verb->options[i].required || given[i])
            continue;
        snprintf(error, ADMIN_ERROR_BYTES, "%s needs %s", verb->name, verb->options[i].name);
        goto fail;
    }
    if (path_make(request))
        return STATUS_OK;
    snprintf(error, ADMIN_ERROR_BYTES, "the arguments are too long");
fail:
    admin_request_free(request);
    return STATUS_BAD_INPUT;
}

void admin_request_free(struct admin_request *request)
{
    json_decref(request->body); /* accepts NULL */
    request->body = NULL;
}

void admin_verb_help(const struct admin_verb *verb, FILE *out)
{
    fprintf(out, "usage: stampede admin %s", verb->name);
    for (const struct admin_option *option = verb->options; option->name != NULL; option++) {
        const bool alone = option_is_place(option) || option->kind == OPTION_FLAG;
        fprintf(out, option->required ? " %s%s" : " [%s%s]", option->name, alone ? "" : " …");
    }
    fprintf(out, "\n  %s\n", verb->help);
    for (const struct admin_option *option = verb->options; option->name != NULL; option++)
        fprintf(out, "  %-16s %s (%s)\n", option->name, option->help,
            option->kind == OPTION_FLAG ? "a switch" : kind_wants(option->kind));
}

void admin_verbs_help(FILE *out)
{
    fprintf(out,
        "usage: stampede admin [--url URL] [--key-file FILE] [--json] VERB …\n"
        "  --url        the server; STAMPEDE_URL, or http://127.0.0.1:8080, if not given\n"
        "  --key-file   holds the admin key; STAMPEDE_ADMIN_KEY if not given\n"
        "  --json       the server's answer as it is\n"
        "  VERB --help  says what a verb takes\n"
        "  exit: 0 done, 1 refused by the server, 2 wrong arguments, 3 no server\n\n");
    for (uint32_t i = 0; i < admin_verb_count; i++)
        fprintf(out, "  %-16s %s\n", admin_verbs[i].name, admin_verbs[i].help);
}
