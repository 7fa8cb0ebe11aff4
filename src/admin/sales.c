/* SPDX-License-Identifier: Apache-2.0 */
/* admin/sales.c: sales as an administrator makes and changes them. */
#include "admin/admin.h"
#include "api/catalog.h"
#include "api/json_fields.h"
#include "api/texts.h"
#include "config/cluster_secret.h"
#include "contract/cluster_store.h"
#include "contract/ticket_number.h"

#include <stdio.h>
#include <string.h>

static const int64_t TIME_MAX = 253402300799999; /* the end of year 9999 */
enum { PACE_MAX_PER_S = 1000 * 1000 };

enum { SALE_FIELDS = 18, HUMAN_NAME_MAX = 15, AUDIT_VALUES_MAX = 440 };
/* Of a new sale that does not say otherwise. */
enum { COOLDOWN_STANDARD_S = 60, RETURN_DRAW_STANDARD_MS = 5000, START_DRAW_STANDARD_MS = 3000 };

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
        { "cooldown_s", FIELD_U32, &sale->cooldown_s, 0, COOLDOWN_MAX_S, false, NULL },
        { "return_draw_ms", FIELD_U32, &sale->return_draw_ms, 0, DRAW_MAX_MS, false, NULL },
        { "start_draw_ms", FIELD_U32, &sale->start_draw_ms, 0, DRAW_MAX_MS, false, NULL },
        { "shards", FIELD_U32, &sale->shards, 1, SHARDS_MAX, false, NULL },
        { "beacon_name", FIELD_TEXT, sale->beacon_name, 0, BEACON_NAME_BYTES_MAX, false, NULL },
    };
    memcpy(fields, list, sizeof list);
}

static void value_json(const struct field *field, struct text *out)
{
    if (field->kind == FIELD_TEXT)
        text_json(out, span_from_string(field->into));
    else if (field->kind == FIELD_FLAG)
        text_string(out, *(const bool *)field->into ? "true" : "false");
    else
        text_u64(out,
            field->kind == FIELD_U32 ? *(const uint32_t *)field->into : *(const uint64_t *)field->into);
}

/* All that a body may say, and what became of the sale. */
void admin_sale_json(const struct admin *admin, const struct sale *sale, struct text *out)
{
    struct field fields[SALE_FIELDS];
    struct sale copy = *sale;
    char human[HUMAN_NAME_MAX + 1];
    sale_fields(&copy, human, false, fields);
    json_object_begin(out, NULL);
    json_u64(out, "id", sale->id);
    for (uint32_t i = 0; i < SALE_FIELDS; i++) {
        json_value(out, fields[i].name);
        value_json(&fields[i], out);
    }
    json_text(out, "gate", admin_sale_gate(admin, sale));
    json_bool(out, "published", sale->published);
    json_bool(out, "archived", sale->archived);
    admin_beacon_members(sale, out);
    json_text(out, "room_message", sale->room_message);
    texts_json(sale->texts, out);
    json_object_end(out);
}

void admin_sale_reply(const struct admin *admin, struct job *job, int status, const struct sale *sale)
{
    struct text body = job_body(job);
    admin_sale_json(admin, sale, &body);
    job_reply_json(job, status, &body);
}

/* False: answered. */
static bool sale_body_read(struct job *job, struct sale *sale, bool required)
{
    struct field fields[SALE_FIELDS + 1];
    char human[HUMAN_NAME_MAX + 1], error[FIELD_ERROR];
    json_t *texts = NULL, *object = job_body_object(job);
    if (object == NULL)
        return false;
    sale_fields(sale, human, required, fields);
    fields[SALE_FIELDS] = (struct field){ "texts", FIELD_JSON, &texts, 0, 0, false, NULL };
    const bool good = admin_fields_read(object, fields, SALE_FIELDS + 1, error)
        && texts_take(texts, texts_of_sales, sale->texts, SALE_TEXTS_BYTES_MAX, error);
    if (!job_body_end(job, object, good ? NULL : error))
        return false;
    for (int check = HUMAN_NONE; check < HUMAN_CHECKS; check++) {
        if (strcmp(human, human_check_name((uint8_t)check)) == 0) {
            sale->human_check = (uint8_t)check;
            return true;
        }
    }
    job_reply_problem(
        job, PROBLEM_BAD_VALUE, "human_check must be one of:" HUMAN_CHECK_NAMES ".", SPAN_NONE);
    return false;
}

/* False: answered. */
static bool shards_may_be(
    struct admin *admin, struct job *job, const struct sale *before, const struct sale *sale)
{
    if (sale->shards == 1 || sale->shards == before->shards || cluster_is_set(admin->lent->config))
        return true;
    job_reply_problem(job, PROBLEM_BAD_VALUE,
        "More than one shard needs several machines: inventory.kind = redis.", SPAN_NONE);
    return false;
}

/* With how many shards the partitions of the sale were made; 0: they were not. False: answered. */
static bool shards_made(struct admin *admin, struct job *job, sale_id sale, uint32_t *shards)
{
    struct part_state state;
    enum status status = admin->store->ops->cluster->part(admin->store, part_of_sale(sale, 0), &state);
    *shards = state.shards;
    if (status == STATUS_OK && state.shards == 0) { /* one that was moved to many machines? */
        status = admin->store->ops->cluster->part(admin->store, PART_EMBEDDED, &state);
        *shards = sale <= state.sales ? state.shards : 0;
    }
    return job_ok(job, status);
}

static void shards_refuse(struct job *job, uint32_t made)
{
    char detail[96];
    snprintf(detail, sizeof detail, "The sale was prepared with %u shard%s; that can't change.",
        made, made == 1 ? "" : "s");
    job_reply_problem(job, PROBLEM_CONFLICT, detail, SPAN_NONE);
}

void admin_sale_create(struct admin *admin, struct job *job, uint32_t id)
{
    const struct sale before = { 0 };
    struct sale sale = { .cooldown_s = COOLDOWN_STANDARD_S,
        .return_draw_ms = RETURN_DRAW_STANDARD_MS,
        .start_draw_ms = START_DRAW_STANDARD_MS,
        .shards = 1 };
    (void)id;
    if (!sale_body_read(job, &sale, true) || !admin_beacon_may_be(admin, job, &before, &sale)
        || !shards_may_be(admin, job, &before, &sale))
        return;
    if (sale.end_ms <= sale.start_ms || sale.end_ms <= admin->now_ms) {
        job_reply_problem(
            job, PROBLEM_BAD_VALUE, "end_ms must be after start_ms and in the future.", SPAN_NONE);
        return;
    }
    const enum status status = admin->store->ops->sale_insert(admin->store, &sale);
    if (!job_ok(job, status))
        return;
    admin_sale_reply(admin, job, 201, &sale);
    admin_audit_write(admin, job, "sale.create", "sale %u %.200s", sale.id, sale.title);
    if (sale.beacon_name[0] != 0)
        admin_audit_write(admin, job, "sale.create", "sale %u beacon \"%s\"", sale.id, sale.beacon_name);
}

void admin_sale_show(struct admin *admin, struct job *job, uint32_t id)
{
    struct sale sale;
    if (admin_sale_read(admin, job, id, &sale))
        admin_sale_reply(admin, job, 200, &sale);
}

/* A row for each member that has another value now. */
static void sale_change_audit(
    struct admin *admin, struct job *job, const struct sale *before, const struct sale *after)
{
    struct field was[SALE_FIELDS], is[SALE_FIELDS];
    struct sale old = *before, new = *after;
    char old_human[HUMAN_NAME_MAX + 1], new_human[HUMAN_NAME_MAX + 1];
    char bytes[2][6 * BEACON_NAME_BYTES_MAX + 2]; /* every character escaped, and the quotes */
    sale_fields(&old, old_human, false, was);
    sale_fields(&new, new_human, false, is);
    for (uint32_t i = 0; i < SALE_FIELDS; i++) {
        struct text from = text_in(bytes[0], sizeof bytes[0]), to = text_in(bytes[1], sizeof bytes[1]);
        value_json(&was[i], &from);
        value_json(&is[i], &to);
        if (span_equal(text_span(&from), text_span(&to)))
            continue;
        const bool both = from.size + to.size <= AUDIT_VALUES_MAX;
        admin_audit_write(admin, job, "sale.change", "sale %u %s: %.*s%s%.*s", after->id, is[i].name,
            both ? (int)from.size : 0, from.data, both ? " \u2192 " : "now ", (int)to.size, to.data);
    }
    if (strcmp(before->texts, after->texts) != 0)
        admin_audit_write(admin, job, "sale.change", "sale %u texts: now %zu bytes", after->id,
            strlen(after->texts));
}

/* False: answered. */
static bool times_may_be(
    const struct admin *admin, struct job *job, const struct sale *before, const struct sale *sale)
{
    const char *wrong = NULL;
    if (sale->end_ms <= sale->start_ms)
        wrong = "end_ms must be after start_ms.";
    else if (sale->end_ms != before->end_ms && sale->end_ms <= admin->now_ms)
        wrong = "end_ms must be in the future. To end the sale now, use POST "
                "/admin/v1/sales/{sale}/end.";
    if (wrong != NULL)
        job_reply_problem(job, PROBLEM_BAD_VALUE, wrong, SPAN_NONE);
    return wrong == NULL;
}

/* A sale that the inventory knows changes there first: if it refuses, nothing has changed anywhere. On many
 * machines it knows none without partitions, and a change makes none, so that the shards of a draft stay
 * open: *told is false then. False: answered. */
static bool inventory_change(
    struct admin *admin, struct job *job, const struct sale *before, struct sale *sale, bool *told)
{
    struct outcome outcome = { .answer = ANSWER_DONE };
    uint32_t made;
    bool known;
    if (!shards_made(admin, job, sale->id, &made))
        return false;
    if (made != 0 && sale->shards != before->shards && sale->shards != made) {
        shards_refuse(job, made);
        return false;
    }
    *told = made != 0 || !cluster_is_set(admin->lent->config);
    if (!*told)
        return true;
    enum status status = sale_define(admin->errands, sale, &outcome);
    if (status == STATUS_OK && outcome.answer != ANSWER_DONE && outcome.answer != ANSWER_UNCHANGED) {
        job_reply_refused(job, &outcome);
        return false;
    }
    sale->terms_lsn = outcome.lsn;
    if (status == STATUS_OK && outcome.repeated) /* done before; somebody may have changed them since */
        status = sale_terms(admin->errands, sale, &known);
    return job_ok(job, status);
}

/* The row is locked until the transaction ends, and nobody makes partitions while it is. Those that were made
 * since inventory_change looked may have other terms: 503 takes everything back. False: answered. */
static bool row_change(struct admin *admin, struct job *job, const struct sale *sale, bool told)
{
    uint32_t made;
    const enum status status = admin->store->ops->sale_update(admin->store, sale);
    if (status != STATUS_CONFLICT && (!job_ok(job, status) || told))
        return status == STATUS_OK;
    if (!shards_made(admin, job, sale->id, &made))
        return false;
    if (status == STATUS_CONFLICT)
        shards_refuse(job, made);
    else if (made != 0)
        job_reply_problem(job, PROBLEM_UNAVAILABLE,
            "The sale is just being prepared. Try again shortly.", SPAN_NONE);
    return status == STATUS_OK && made == 0;
}

void admin_sale_change(struct admin *admin, struct job *job, uint32_t id)
{
    struct sale before, sale;
    bool known, told = false;
    if (!admin_sale_read(admin, job, id, &before) || !admin_sale_in_use(job, &before))
        return;
    if (sale_terms(admin->errands, &before, &known) != STATUS_OK) {
        job_reply_problem(job, PROBLEM_UNAVAILABLE, "The inventory does not answer.", SPAN_NONE);
        return;
    }
    sale = before;
    if (!sale_body_read(job, &sale, false) || !admin_beacon_may_be(admin, job, &before, &sale)
        || !shards_may_be(admin, job, &before, &sale) || !times_may_be(admin, job, &before, &sale)
        || !inventory_change(admin, job, &before, &sale, &told) || !row_change(admin, job, &sale, told))
        return;
    worker_sale_changed(admin->worker, sale.id);
    admin_sale_reply(admin, job, 200, &sale);
    sale_change_audit(admin, job, &before, &sale);
}
