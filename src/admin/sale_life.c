/* SPDX-License-Identifier: Apache-2.0 */
/* admin/sale_life.c: what becomes of whole sales: the list of them, hiding one from the
 * public, putting one away that is over, and making a new one after the model of an old one. */
#include "admin/admin.h"
#include "api/catalog.h"
#include "api/json_fields.h"
#include "config/config.h"
#include "contract/inventory.h"
#include "policy/sale_copy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_ROWS = 50, READ_ROWS = 32 };
static const int64_t TIME_MAX = 253402300799999; /* the end of year 9999 */

/* Sales that are in use, or those that were put away (?archived=1). */
void admin_sales_list(struct admin *admin, struct job *job, uint32_t id)
{
    struct sale rows[READ_ROWS];
    uint64_t after = 0, archived = 0;
    uint32_t count = READ_ROWS;
    (void)id;
    if (!job_query_u64(job, "after", UINT32_MAX, &after) || !job_query_u64(job, "archived", 1, &archived))
        return;
    struct page page = page_begin(job, "sales");
    while (count == READ_ROWS && page.rows < PAGE_ROWS) {
        const enum status status =
            admin->store->ops->sales(admin->store, (sale_id)after, rows, READ_ROWS, &count);
        if (!job_ok(job, status))
            return;
        for (uint32_t i = 0; i < count && page.rows < PAGE_ROWS; i++) {
            after = rows[i].id;
            if (rows[i].archived == (archived == 1))
                admin_sale_json(admin, &rows[i], page_row(&page, after));
        }
    }
    page_end(job, &page, page_next(&page, PAGE_ROWS));
}

/* What the inventory knows of a sale: gate and schedule as they are there, and how many units of it
 * somebody has. */
struct sale_standing {
    bool preheated;
    uint8_t gate;
    uint64_t start_ms, end_ms;
    uint64_t held, sold;
    uint32_t arrived; /* people in its waiting room */
};

/* False: answered. */
static bool standing_read(
    struct admin *admin, struct job *job, const struct sale *sale, struct sale_standing *standing)
{
    const struct board *board = admin->lent->inventory->board;
    struct item items[READ_ROWS];
    struct board_room_update room;
    uint32_t count = READ_ROWS;
    *standing =
        (struct sale_standing){ .gate = sale->gate, .start_ms = sale->start_ms, .end_ms = sale->end_ms };
    if (board_read_room(board, sale->id, &room))
        standing->arrived = room.arrived;
    for (item_id after = 0; count == READ_ROWS;) {
        const enum status status =
            admin->store->ops->items(admin->store, sale->id, after, items, READ_ROWS, &count);
        if (!job_ok(job, status))
            return false;
        for (uint32_t i = 0; i < count; i++) {
            struct board_update view;
            after = items[i].id;
            if (!board_read(board, items[i].id, &view))
                continue;
            standing->preheated = true;
            standing->gate = (uint8_t)view.gate;
            standing->start_ms = view.start_ms;
            standing->end_ms = view.end_ms;
            standing->held += view.counts.held;
            standing->sold += view.counts.sold;
        }
    }
    return true;
}

static bool is_over(const struct admin *admin, const struct sale_standing *standing)
{
    return standing->gate == GATE_ENDED || admin->now_ms >= standing->end_ms;
}

/* Passes may be in people's hands, so units may be sold at any moment. */
static bool may_sell(const struct admin *admin, const struct sale_standing *standing)
{
    if (!standing->preheated || is_over(admin, standing) || standing->gate == GATE_PAUSED)
        return false;
    return standing->gate == GATE_OPENED
        || admin->now_ms + admin->lent->config->pass_early_ms >= standing->start_ms;
}

/* Writes the row, answers with it, and leaves an audit entry. */
static void sale_write(struct admin *admin, struct job *job, const struct sale *sale, const char *action)
{
    const enum status status = admin->store->ops->sale_update(admin->store, sale);
    if (!job_ok(job, status))
        return;
    worker_sale_changed(admin->worker, sale->id);
    admin_sale_reply(admin, job, 200, sale);
    admin_audit_write(admin, job, action, "sale %u", sale->id);
}

/* False: answered with why the sale can't be hidden now. */
static bool may_unpublish(struct admin *admin, struct job *job, const struct sale *sale, bool force)
{
    struct sale_standing standing;
    char detail[200];
    if (!standing_read(admin, job, sale, &standing))
        return false;
    if (may_sell(admin, &standing)) {
        job_reply_problem(job, PROBLEM_CONFLICT,
            "The sale is open or about to open. Pause or end it first.", SPAN_NONE);
        return false;
    }
    if (force || (standing.held == 0 && standing.sold == 0 && standing.arrived == 0))
        return true;
    snprintf(detail, sizeof detail,
        "%llu units are held, %llu are sold, and %u people are in the waiting room. They "
        "could not find the sale any more. To hide it anyway, send \"force\": true.",
        (unsigned long long)standing.held, (unsigned long long)standing.sold, standing.arrived);
    job_reply_problem(job, PROBLEM_CONFLICT, detail, SPAN_NONE);
    return false;
}

void admin_sale_unpublish(struct admin *admin, struct job *job, uint32_t id)
{
    struct sale sale;
    bool force = false;
    const struct field fields[] = { { "force", FIELD_FLAG, &force, 0, 1, false, NULL } };
    if (!admin_sale_read(admin, job, id, &sale)
        || (job->body.size > 0 && !job_fields_read(job, fields, 1)))
        return;
    if (!sale.published) {
        admin_sale_reply(admin, job, 200, &sale); /* nothing is to be changed */
        return;
    }
    if (!may_unpublish(admin, job, &sale, force))
        return;
    sale.published = false;
    sale_write(admin, job, &sale, force ? "sale.unpublish.force" : "sale.unpublish");
}

bool admin_sale_in_use(struct job *job, const struct sale *sale)
{
    if (sale->archived)
        job_reply_problem(job, PROBLEM_CONFLICT, "The sale is archived. Unarchive it first.", SPAN_NONE);
    return !sale->archived;
}

void admin_sale_archive(struct admin *admin, struct job *job, uint32_t id)
{
    struct sale sale;
    struct sale_standing standing;
    if (!admin_sale_read(admin, job, id, &sale) || !standing_read(admin, job, &sale, &standing))
        return;
    if (sale.archived) {
        admin_sale_reply(admin, job, 200, &sale); /* nothing is to be changed */
        return;
    }
    if (!is_over(admin, &standing)) {
        job_reply_problem(job, PROBLEM_CONFLICT, "The sale has not ended. End it first.", SPAN_NONE);
        return;
    }
    sale.archived = true;
    sale_write(admin, job, &sale, "sale.archive");
}

void admin_sale_unarchive(struct admin *admin, struct job *job, uint32_t id)
{
    struct sale sale;
    if (!admin_sale_read(admin, job, id, &sale))
        return;
    if (!sale.archived) {
        admin_sale_reply(admin, job, 200, &sale); /* nothing is to be changed */
        return;
    }
    sale.archived = false;
    sale_write(admin, job, &sale, "sale.unarchive");
}

/* All items of a sale; the caller frees. NULL: answered. */
static struct item *items_read(struct admin *admin, struct job *job, sale_id sale, uint32_t *count)
{
    struct item *items = NULL;
    uint32_t read = READ_ROWS;
    *count = 0;
    while (read == READ_ROWS) {
        struct item *larger = realloc(items, (*count + READ_ROWS) * sizeof *items);
        invariant(larger != NULL);
        items = larger;
        const enum status status = admin->store->ops->items(admin->store, sale,
            *count == 0 ? 0 : items[*count - 1].id, items + *count, READ_ROWS, &read);
        if (!job_ok(job, status)) {
            free(items);
            return NULL;
        }
        *count += read;
    }
    return items;
}

/* {"12":100}: item 12 of the old sale gets 100 units. NULL: taken; else what is wrong. */
static const char *totals_take(json_t *totals, struct item *items, uint32_t count)
{
    const char *name;
    json_t *units;
    if (totals == NULL)
        return NULL;
    if (!json_is_object(totals))
        return "totals must be an object of item numbers with numbers of units.";
    json_object_foreach(totals, name, units)
    {
        uint32_t number = 0, at = 0;
        if (span_to_u32(span_from_string(name), &number) != STATUS_OK)
            return "totals must be an object of item numbers with numbers of units.";
        while (at < count && items[at].id != number)
            at++;
        if (at == count)
            return "totals names an item that is not in this sale.";
        const json_int_t value = json_integer_value(units);
        if (!json_is_integer(units) || value < 1 || value > UNITS_MAX)
            return "totals must have whole numbers of units, 1 or more.";
        items[at].total = (uint32_t)value;
    }
    return NULL;
}

/* NULL: the sale and its items are ready to be inserted; else what is wrong. */
static const char *clone_prepare(
    struct admin *admin, json_t *totals, struct sale *sale, struct item *items, uint32_t count)
{
    if (sale->end_ms <= sale->start_ms || sale->end_ms <= admin->now_ms)
        return "end_ms must be after start_ms and in the future.";
    const char *wrong = totals_take(totals, items, count);
    if (wrong != NULL)
        return wrong;
    for (uint32_t i = 0; i < count; i++)
        if (!item_renew(&items[i]))
            return "totals must leave enough units for locked, safety and the other channels.";
    sale_renew(sale);
    return NULL;
}

static void clone_insert(struct admin *admin, struct job *job, sale_id from, struct sale *sale,
    struct item *items, uint32_t count)
{
    const enum status status =
        admin->store->ops->sale_insert_with_items(admin->store, sale, items, count);
    if (!job_ok(job, status))
        return;
    admin_sale_reply(admin, job, 201, sale);
    admin_audit_write(admin, job, "sale.clone", "sale %u of sale %u, %u items, %.200s", sale->id,
        from, count, sale->title);
}

void admin_sale_clone(struct admin *admin, struct job *job, uint32_t id)
{
    struct sale sale;
    char error[FIELD_ERROR];
    json_t *totals = NULL;
    uint32_t count = 0;
    if (!admin_sale_read(admin, job, id, &sale))
        return;
    char title[NAME_BYTES_MAX + 1];
    memcpy(title, sale.title, sizeof title);
    const struct field fields[] = {
        { "title", FIELD_TEXT, sale.title, 1, NAME_BYTES_MAX, false, NULL },
        { "start_ms", FIELD_U64, &sale.start_ms, 1, TIME_MAX, true, NULL },
        { "end_ms", FIELD_U64, &sale.end_ms, 1, TIME_MAX, true, NULL },
        { "totals", FIELD_JSON, &totals, 0, 0, false, NULL },
    };
    json_t *object = job_body_object(job);
    if (object == NULL)
        return;
    const bool good = admin_fields_read(object, fields, sizeof fields / sizeof *fields, error);
    struct item *items = good ? items_read(admin, job, id, &count) : NULL;
    const char *wrong = error;
    if (strcmp(title, sale.title) != 0) /* what other languages say is the old title's */
        sale.texts[0] = 0;
    if (items != NULL)
        wrong = clone_prepare(admin, totals, &sale, items, count);
    if (wrong == NULL)
        clone_insert(admin, job, id, &sale, items, count);
    else if (!good || items != NULL)
        job_reply_problem(job, PROBLEM_BAD_VALUE, wrong, SPAN_NONE);
    free(items);
    json_decref(object);
}
