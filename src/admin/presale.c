/* SPDX-License-Identifier: Apache-2.0 */
/* admin/presale.c: what an item offers when it is sold out; bookings, the purchase list, and units that
 * arrive. */
#include "admin/admin.h"
#include "api/json_fields.h"
#include "contract/booking.h"
#include "funnel/door.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_ROWS = 100, PURCHASE_ROWS = 100, BALANCE_MIN_MS = 1000 };
static const int64_t BALANCE_MAX_MS = 30LL * 24 * 3600 * 1000;
static_assert(30LL * 24 * 3600 * 1000 <= UINT32_MAX, "it fits");

static const char *const kind_names[] = { "end", "waitlist", "substitutes", "presale" };
static_assert(sizeof kind_names / sizeof *kind_names == SOLD_OUT_OFFERS, "a name for each");

void admin_sold_out_members(const struct item *item, struct text *out)
{
    const struct sold_out_offer *offer = &item->offer;
    json_text(out, "when_sold_out",
        kind_names[offer->kind < SOLD_OUT_OFFERS ? offer->kind : SOLD_OUT_END]);
    json_list_begin(out, "substitutes");
    text_string(out, offer->substitutes);
    json_list_end(out);
    json_u64(out, "presale_item", offer->presale_item);
    json_u64(out, "presale_cap", offer->presale_cap);
    json_u64(out, "deposit_item", offer->deposit_item);
    json_u64(out, "balance_ms", offer->balance_ms);
    json_text(out, "deposit_kept", deposit_kept_name(offer->deposit_kept));
}

/* False: there is no such item, or it is this one. */
static bool other_item(struct admin *admin, item_id self, item_id other)
{
    struct item item;
    return other != self && admin->store->ops->item_get(admin->store, other, &item) == STATUS_OK;
}

/* NULL: taken; else what is wrong. */
static const char *substitutes_take(
    struct admin *admin, item_id self, json_t *list, struct sold_out_offer *offer)
{
    struct text text = text_in(offer->substitutes, sizeof offer->substitutes - 1);
    size_t index;
    json_t *number;
    if (list == NULL)
        return NULL;
    if (!json_is_array(list) || json_array_size(list) > SUBSTITUTES_MAX)
        return "substitutes must be a list of up to 6 numbers of items.";
    json_array_foreach(list, index, number)
    {
        const json_int_t value = json_integer_value(number);
        if (!json_is_integer(number) || value < 1 || value >= ITEMS_LIMIT
            || !other_item(admin, self, (item_id)value))
            return "substitutes must name other items that exist.";
        text_format(&text, "%s%u", index == 0 ? "" : ",", (uint32_t)value);
    }
    invariant(!text.overflow);
    offer->substitutes[text.size] = 0;
    return NULL;
}

/* Nobody gets a pass for an item of a sale that is not published; a booking buys it all the same. */
static bool deposit_may_be(struct admin *admin, item_id self, item_id id)
{
    struct item item;
    struct sale sale;
    return id != self && admin->store->ops->item_get(admin->store, id, &item) == STATUS_OK
        && admin->store->ops->sale_get(admin->store, item.sale, &sale) == STATUS_OK && !sale.published;
}

static const char *offer_wrong(struct admin *admin, item_id self, const struct sold_out_offer *offer)
{
    struct item other;
    if (offer->kind == SOLD_OUT_SUBSTITUTES && offer->substitutes[0] == 0)
        return "substitutes must name at least one item.";
    if (offer->kind != SOLD_OUT_PRESALE
        && (offer->presale_item != 0 || offer->deposit_item != 0 || offer->presale_cap != 0))
        return "presale_item, presale_cap and deposit_item need when_sold_out = presale.";
    if (offer->presale_item != 0 && (offer->deposit_item != 0 || offer->presale_cap != 0))
        return "presale_cap and deposit_item are those of presale_item.";
    if (offer->presale_item != 0
        && (offer->presale_item == self
            || admin->store->ops->item_get(admin->store, offer->presale_item, &other) != STATUS_OK
            || other.offer.kind != SOLD_OUT_PRESALE || other.offer.presale_item != 0))
        return "presale_item must be another item that takes bookings itself.";
    if (offer->deposit_item != 0 && !deposit_may_be(admin, self, offer->deposit_item))
        return "deposit_item must be another item, of a sale that is not published: else it could "
               "be bought "
               "without a booking.";
    if (offer->deposit_kept != DEPOSIT_KEPT_NEVER && offer->deposit_item == 0)
        return "deposit_kept needs a deposit_item.";
    if (offer->balance_ms != 0 && offer->balance_ms < BALANCE_MIN_MS)
        return "balance_ms must be 0 or at least 1000.";
    return NULL;
}

/* False: answered. */
static bool offer_read(
    struct admin *admin, struct job *job, const struct item *item, struct sold_out_offer *offer)
{
    char error[FIELD_ERROR], kind[16] = "", kept[16] = "never";
    json_t *substitutes = NULL;
    const struct field fields[] = {
        { "when_sold_out", FIELD_TEXT, kind, 1, sizeof kind - 1, true, NULL },
        { "substitutes", FIELD_JSON, &substitutes, 0, 0, false, NULL },
        { "presale_item", FIELD_U32, &offer->presale_item, 0, ITEMS_LIMIT - 1, false, NULL },
        { "presale_cap", FIELD_U32, &offer->presale_cap, 0, UNITS_MAX, false, NULL },
        { "deposit_item", FIELD_U32, &offer->deposit_item, 0, ITEMS_LIMIT - 1, false, NULL },
        { "balance_ms", FIELD_U32, &offer->balance_ms, 0, BALANCE_MAX_MS, false, NULL },
        { "deposit_kept", FIELD_TEXT, kept, 1, sizeof kept - 1, false, NULL },
    };
    json_t *object = job_body_object(job);
    if (object == NULL)
        return false;
    const char *wrong = admin_fields_read(object, fields, sizeof fields / sizeof *fields, error)
        ? substitutes_take(admin, item->id, substitutes, offer)
        : error;
    for (offer->kind = 0; offer->kind < SOLD_OUT_OFFERS; offer->kind++)
        if (strcmp(kind, kind_names[offer->kind]) == 0)
            break;
    if (wrong == NULL && offer->kind == SOLD_OUT_OFFERS)
        wrong = "when_sold_out must be one of: end, waitlist, substitutes, presale.";
    for (offer->deposit_kept = 0; offer->deposit_kept < DEPOSIT_KEPT_TERMS; offer->deposit_kept++)
        if (strcmp(kept, deposit_kept_name(offer->deposit_kept)) == 0)
            break;
    if (wrong == NULL && offer->deposit_kept == DEPOSIT_KEPT_TERMS)
        wrong = "deposit_kept must be one of: never, unpaid, given-up.";
    if (wrong == NULL)
        wrong = offer_wrong(admin, item->id, offer);
    return job_body_end(job, object, wrong);
}

/* The whole offer: what the body leaves out is not offered. */
void admin_item_sold_out(struct admin *admin, struct job *job, uint32_t id)
{
    struct item item;
    struct sold_out_offer offer = { 0 };
    struct text body = job_body(job);
    if (!admin_item_read(admin, job, id, &item) || !offer_read(admin, job, &item, &offer)
        || !job_ok(job, admin->store->ops->item_offer(admin->store, id, &offer)))
        return;
    item.offer = offer;
    worker_item_changed(admin->worker, id);
    json_object_begin(&body, NULL);
    json_u64(&body, "item", id);
    admin_sold_out_members(&item, &body);
    json_object_end(&body);
    job_reply_json(job, 200, &body);
    admin_audit_write(admin, job, "item.sold_out",
        "item %u %s substitutes [%s] presale %u cap %u deposit %u kept %s", id,
        kind_names[offer.kind], offer.substitutes, offer.presale_item, offer.presale_cap,
        offer.deposit_item, deposit_kept_name(offer.deposit_kept));
}

void admin_item_presale(struct admin *admin, struct job *job, uint32_t id)
{
    static const char *const names[] = { "none", "deposit-due", "booked", "bought", "ended", "refunded" };
    static_assert(sizeof names / sizeof *names == BOOKING_STATES, "a name for each");
    uint64_t after = 0;
    uint32_t count = 0;
    struct item item;
    struct booking rows[PAGE_ROWS];
    struct order_store *store = admin->store;
    if (!job_query_u64(job, "after", INT64_MAX, &after) || !admin_item_read(admin, job, id, &item)
        || !job_ok(job, store->ops->bookings->list(store, id, false, after, rows, PAGE_ROWS, &count)))
        return;
    struct page page = page_begin(job, "bookings");
    for (uint32_t i = 0; i < count; i++) {
        struct text *row = page_object(&page, rows[i].id);
        json_hex(row, "user", rows[i].user);
        json_text(row, "state",
            booking_deposit_is_kept(&rows[i]) ? "deposit-kept" : names[rows[i].state]);
        json_u64(row, "quantity", rows[i].quantity);
        json_u64(row, "booked_ms", rows[i].booked_ms);
        json_bool(row, "deposit_paid", rows[i].deposit_state == ORDER_PAID);
        json_bool(row, "offered", rows[i].place_state == PLACE_OFFERED);
    }
    page_end(job, &page, page_next(&page, PAGE_ROWS));
}

/* A name in a CSV file: in quotes, which are doubled; one that a table program would take for a formula
 * begins with an apostrophe. */
static void csv_text(struct text *out, const char *name)
{
    text_literal(out, "\"");
    if (strchr("=+-@\t\r", name[0]) != NULL && name[0] != 0)
        text_literal(out, "'");
    for (const char *at = name; *at != 0; at++)
        text_add(out, *at == '"' ? SPAN("\"\"") : span_of(at, 1));
    text_literal(out, "\"");
}

static void purchases_csv(struct job *job, const struct purchase_line *lines, uint32_t count)
{
    struct text body = job_body(job);
    text_literal(&body,
        "item,product,name,bookings,units,deposits,deposits_amount,currency,deposits_due,"
        "bought,kept,kept_amount\r\n");
    for (uint32_t i = 0; i < count; i++) {
        const struct purchase_line *line = &lines[i];
        text_format(&body, "%u,%u,", line->item, line->product);
        csv_text(&body, line->name);
        text_format(&body, ",%llu,%llu,%llu,%llu,%s,%llu,%llu,%llu,%llu\r\n",
            (unsigned long long)line->bookings, (unsigned long long)line->units,
            (unsigned long long)line->deposits, (unsigned long long)line->deposits_amount,
            line->currency, (unsigned long long)line->due, (unsigned long long)line->bought,
            (unsigned long long)line->kept, (unsigned long long)line->kept_amount);
    }
    char *copy = malloc(body.size + 1);
    invariant(copy != NULL && !body.overflow);
    memcpy(copy, body.data, body.size);
    job_reply_bytes(job, 200, "text/csv; charset=utf-8",
        SPAN("Content-Disposition: attachment; filename=\"presale.csv\"\r\n"),
        span_of(copy, body.size));
    free(copy);
}

/* What procurement is to buy: a line for each item with bookings, as JSON or, with csv=1, as a table. */
void admin_purchases(struct admin *admin, struct job *job, uint32_t id)
{
    struct purchase_line lines[PURCHASE_ROWS];
    uint64_t after = 0, csv = 0;
    uint32_t count = 0;
    (void)id;
    if (!job_query_u64(job, "after", UINT32_MAX, &after) || !job_query_u64(job, "csv", 1, &csv)
        || !job_ok(job,
            admin->store->ops->bookings->purchases(
                admin->store, (item_id)after, lines, PURCHASE_ROWS, &count)))
        return;
    if (csv == 1) {
        purchases_csv(job, lines, count);
        return;
    }
    struct page page = page_begin(job, "purchases");
    for (uint32_t i = 0; i < count; i++) {
        struct text *row = page_row(&page, lines[i].item);
        json_object_begin(row, NULL);
        json_u64(row, "item", lines[i].item);
        json_u64(row, "product", lines[i].product);
        json_text(row, "name", lines[i].name);
        json_u64(row, "bookings", lines[i].bookings);
        json_u64(row, "units", lines[i].units);
        json_u64(row, "deposits", lines[i].deposits);
        json_u64(row, "deposits_amount", lines[i].deposits_amount);
        json_text(row, "currency", lines[i].currency);
        json_u64(row, "deposits_due", lines[i].due);
        json_u64(row, "bought", lines[i].bought);
        json_u64(row, "kept", lines[i].kept);
        json_u64(row, "kept_amount", lines[i].kept_amount);
        json_object_end(row);
    }
    page_end(job, &page, page_next(&page, PURCHASE_ROWS));
}

/* Units that arrive go to the line and to nobody else; what nobody waits for goes on to the web channel. */
void admin_item_arrive(struct admin *admin, struct job *job, uint32_t id)
{
    struct command command = { .type = COMMAND_ADJUST,
        .adjust = { .item = id, .channel = CHANNEL_LINE } };
    const struct field fields[] = {
        { "units", FIELD_I32, &command.adjust.delta, 1, UNITS_MAX, true, NULL },
    };
    struct item item;
    struct outcome outcome = { 0 };
    struct text body = job_body(job);
    if (!job_fields_read(job, fields, 1) || !admin_item_read(admin, job, id, &item))
        return;
    const char *wrong = item.offer.kind != SOLD_OUT_PRESALE || item.offer.presale_item != 0
        ? "This item takes no bookings: use adjust to add units."
        : item.pooled ? "The item took its units from the product's stock; it can't get more."
        : admin->lent->channels->count > CHANNEL_LINE
        ? "Presale needs a free channel: channels.names may name 7 channels at most."
        : NULL;
    if (wrong != NULL) {
        job_reply_problem(job, PROBLEM_CONFLICT, wrong, SPAN_NONE);
        return;
    }
    if (!admin_ask(admin, job, &command, &outcome))
        return;
    text_format(&body, "{\"item\":%u,\"arrived\":%d}", id, outcome.applied);
    job_reply_json(job, 200, &body);
}
