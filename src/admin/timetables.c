/* SPDX-License-Identifier: Apache-2.0 */
/* admin/timetables.c: sessions of the day: timetables, and the days of their calendar
 * (contract/timetable.h). */
#include "admin/admin.h"
#include "api/json_fields.h"
#include "policy/timetable_rules.h"

#include <string.h>

enum { CALENDAR_BEFORE = 7, CALENDAR_AFTER = 21, CALENDAR_ROWS = 512 };
static const char *const state_names[] = { "planned", "made", "skipped", "missed" };
static_assert(sizeof state_names / sizeof *state_names == DAY_STATES, "a name for each");

static const struct timetable_store_ops *tables(const struct admin *admin)
{
    return admin->store->ops->timetables;
}

static void timetable_members(const struct timetable *table, struct text *out)
{
    char start[MINUTE_TEXT_BYTES];
    minute_format(table->start_minute, start);
    json_u64(out, "id", table->id);
    json_u64(out, "model", table->model);
    json_text(out, "title", table->title);
    json_text(out, "start", start);
    json_u64(out, "duration_s", table->duration_s);
    json_list_begin(out, "weekdays");
    for (uint32_t day = 0; day < 7; day++)
        if ((table->weekdays >> day & 1) != 0)
            json_u64(out, NULL, day + 1);
    json_list_end(out);
    json_i64(out, "offset_min", table->offset_min);
    json_u64(out, "ahead_s", table->ahead_s);
    json_bool(out, "active", table->active);
    json_u64(out, "since_ms", table->since_ms);
}

static void day_json(const struct timetable *table, const struct timetable_day *day, struct text *out)
{
    const struct session_times times = timetable_times(table, day);
    char text[DAY_TEXT_BYTES];
    day_format(day->day, text);
    json_object_begin(out, NULL);
    json_text(out, "day", text);
    json_text(out, "state", state_names[day->state]);
    json_u64(out, "start_ms", times.start_ms);
    json_u64(out, "end_ms", times.end_ms);
    json_bool(out, "edited", day->start_minute < DAY_MINUTES || day->duration_s != 0);
    if (day->state == DAY_MADE)
        json_u64(out, "sale", day->sale);
    json_object_end(out);
}

/* A week back and three ahead: what was decided, and what the timetable plans. False: answered. */
static bool calendar_json(
    struct admin *admin, struct job *job, const struct timetable *table, struct text *out)
{
    struct timetable_day rows[CALENDAR_BEFORE + CALENDAR_AFTER + 1];
    const uint32_t today = timetable_day_at(table, admin->now_ms);
    const uint32_t from = today < CALENDAR_BEFORE ? 0 : today - CALENDAR_BEFORE;
    uint32_t count = 0, at = 0;
    if (!job_ok(job,
            tables(admin)->days(admin->store, table->id, from, rows, sizeof rows / sizeof *rows, &count)))
        return false;
    json_list_begin(out, "days");
    for (uint32_t number = from; number <= today + CALENDAR_AFTER; number++) {
        while (at < count && rows[at].day < number)
            at++;
        const bool known = at < count && rows[at].day == number;
        const struct timetable_day day = known ? rows[at] : timetable_day_plain(table, number);
        const enum session_step step = timetable_step(table, &day, admin->now_ms);
        if (known || ((step == SESSION_WAIT || step == SESSION_MAKE) && table->active))
            day_json(table, &day, out);
    }
    json_list_end(out);
    return true;
}

static void timetable_reply(struct admin *admin, struct job *job, int status, const struct timetable *table)
{
    struct text body = job_body(job);
    json_object_begin(&body, NULL);
    timetable_members(table, &body);
    if (!calendar_json(admin, job, table, &body))
        return;
    json_object_end(&body);
    job_reply_json(job, status, &body);
}

/* [1,2,5]: Monday, Tuesday and Friday. NULL: taken; else what is wrong. */
static const char *weekdays_take(json_t *list, struct timetable *table)
{
    static const char wrong[] =
        "weekdays must be a list of numbers from 1 (Monday) to 7 (Sunday), at least one.";
    size_t index;
    json_t *day;
    if (list == NULL)
        return NULL;
    if (!json_is_array(list) || json_array_size(list) == 0 || json_array_size(list) > 7)
        return wrong;
    table->weekdays = 0;
    json_array_foreach(list, index, day)
    {
        const json_int_t number = json_integer_value(day);
        if (!json_is_integer(day) || number < 1 || number > 7)
            return wrong;
        table->weekdays |= 1u << (number - 1);
    }
    return NULL;
}

/* Reads the body over what `table` is already. False: answered. */
static bool timetable_body_read(struct job *job, struct timetable *table, bool required)
{
    char error[FIELD_ERROR], start[MINUTE_TEXT_BYTES] = "";
    int32_t offset_min = table->offset_min;
    json_t *weekdays = NULL;
    const struct field fields[] = {
        { "model", FIELD_U32, &table->model, 1, UINT32_MAX, required, NULL },
        { "title", FIELD_TEXT, table->title, 1, NAME_BYTES_MAX, required, NULL },
        { "start", FIELD_TEXT, start, 5, 5, required, NULL },
        { "duration_s", FIELD_U32, &table->duration_s, TIMETABLE_DURATION_MIN_S,
            TIMETABLE_DURATION_MAX_S, required, NULL },
        { "weekdays", FIELD_JSON, &weekdays, 0, 0, false, NULL },
        { "offset_min", FIELD_I32, &offset_min, -TIMETABLE_OFFSET_MAX_MIN, TIMETABLE_OFFSET_MAX_MIN,
            required, NULL },
        { "ahead_s", FIELD_U32, &table->ahead_s, TIMETABLE_AHEAD_MIN_S, TIMETABLE_AHEAD_MAX_S, false, NULL },
        { "active", FIELD_FLAG, &table->active, 0, 1, false, NULL },
    };
    json_t *object = job_body_object(job);
    if (object == NULL)
        return false;
    const bool good = admin_fields_read(object, fields, sizeof fields / sizeof *fields, error);
    const char *wrong = good ? weekdays_take(weekdays, table) : error;
    if (wrong == NULL && start[0] != 0 && !minute_parse(span_from_string(start), &table->start_minute))
        wrong = "start must be a time of day like 20:30.";
    table->offset_min = offset_min;
    return job_body_end(job, object, wrong);
}

/* The model is a sale with items. False: answered. */
static bool model_check(struct admin *admin, struct job *job, sale_id model)
{
    struct sale sale;
    struct item item;
    uint32_t count = 0;
    if (!admin_sale_read(admin, job, model, &sale)
        || !job_ok(job, admin->store->ops->items(admin->store, model, 0, &item, 1, &count)))
        return false;
    if (count == 0)
        job_reply_problem(job, PROBLEM_CONFLICT,
            "The model has no items: add some before a timetable makes sales from it.", SPAN_NONE);
    return count > 0;
}

static bool timetable_read(struct admin *admin, struct job *job, uint32_t id, struct timetable *table)
{
    return job_found(job, tables(admin)->get(admin->store, id, table), PROBLEM_NOT_FOUND,
        "This timetable does not exist.");
}

void admin_timetables_list(struct admin *admin, struct job *job, uint32_t id)
{
    struct timetable rows[TIMETABLES_MAX];
    uint32_t count = 0;
    (void)id;
    if (!job_ok(job, tables(admin)->list(admin->store, rows, TIMETABLES_MAX, &count)))
        return;
    struct page page = page_begin(job, "timetables");
    for (uint32_t i = 0; i < count; i++) {
        struct text *row = page_row(&page, rows[i].id);
        json_object_begin(row, NULL);
        timetable_members(&rows[i], row);
        json_object_end(row);
    }
    page_end(job, &page, 0);
}

void admin_timetable_create(struct admin *admin, struct job *job, uint32_t id)
{
    struct timetable rows[TIMETABLES_MAX],
        table = { .weekdays = TIMETABLE_EVERY_DAY,
            .ahead_s = TIMETABLE_AHEAD_STANDARD_S,
            .active = true,
            .since_ms = admin->now_ms };
    uint32_t count = 0;
    (void)id;
    if (!timetable_body_read(job, &table, true) || !model_check(admin, job, table.model)
        || !job_ok(job, tables(admin)->list(admin->store, rows, TIMETABLES_MAX, &count)))
        return;
    if (count == TIMETABLES_MAX) {
        job_reply_problem(job, PROBLEM_CONFLICT,
            "There are 64 timetables, and no more are possible. Change one that is not needed.",
            SPAN_NONE);
        return;
    }
    if (!job_ok(job, tables(admin)->insert(admin->store, &table)))
        return;
    timetable_reply(admin, job, 201, &table);
    admin_audit_write(admin, job, "timetable.create", "timetable %u model sale %u %.200s", table.id,
        table.model, table.title);
}

void admin_timetable_show(struct admin *admin, struct job *job, uint32_t id)
{
    struct timetable table;
    if (timetable_read(admin, job, id, &table))
        timetable_reply(admin, job, 200, &table);
}

/* Sessions that start before the change are not made by it: otherwise an earlier time of day, or a pause that
 * ends, would be a session that was missed. */
void admin_timetable_change(struct admin *admin, struct job *job, uint32_t id)
{
    struct timetable table;
    if (!timetable_read(admin, job, id, &table) || !timetable_body_read(job, &table, false)
        || !model_check(admin, job, table.model))
        return;
    table.since_ms = admin->now_ms;
    if (!job_ok(job, tables(admin)->update(admin->store, &table)))
        return;
    timetable_reply(admin, job, 200, &table);
    admin_audit_write(admin, job, "timetable.change",
        "timetable %u model sale %u minute %u duration %u s weekdays %u offset %d active %u %.120s",
        table.id, table.model, table.start_minute, table.duration_s, table.weekdays,
        table.offset_min, table.active, table.title);
}

struct day_wish {
    char day[DAY_TEXT_BYTES], start[MINUTE_TEXT_BYTES];
    uint32_t duration_s;
    bool skip, skip_given, edits;
};

/* NULL: *day is as it is wished; else what is wrong. */
static const char *day_take(const struct day_wish *wish, struct timetable_day *day)
{
    if (wish->start[0] != 0 && !minute_parse(span_from_string(wish->start), &day->start_minute))
        return "start must be a time of day like 20:30.";
    if (wish->duration_s != 0)
        day->duration_s = wish->duration_s;
    if (wish->skip && wish->edits)
        return "A day is skipped or has a start of its own, not both.";
    if (!wish->skip_given && !wish->edits)
        return "Say what becomes of the day: skip, start or duration_s.";
    day->state = wish->skip ? DAY_SKIPPED : DAY_PLANNED;
    return NULL;
}

/* False: answered. */
static bool day_read(struct admin *admin, struct job *job, const struct timetable *table,
    const struct day_wish *wish, struct timetable_day *day)
{
    uint32_t number, count = 0;
    if (!day_parse(span_from_string(wish->day), &number)) {
        job_reply_problem(job, PROBLEM_BAD_VALUE, "day must be a date like 2026-11-11.", SPAN_NONE);
        return false;
    }
    if (!job_ok(job, tables(admin)->days(admin->store, table->id, number, day, 1, &count)))
        return false;
    if (count == 0 || day->day != number)
        *day = timetable_day_plain(table, number);
    const char *wrong = day_take(wish, day);
    if (wrong == NULL && timetable_times(table, day).end_ms <= admin->now_ms)
        wrong = "The session of this day is over.";
    if (wrong != NULL)
        job_reply_problem(job, PROBLEM_BAD_VALUE, wrong, SPAN_NONE);
    return wrong == NULL;
}

void admin_timetable_day(struct admin *admin, struct job *job, uint32_t id)
{
    struct timetable table;
    struct timetable_day day;
    struct day_wish wish = { 0 };
    bool start = false, duration = false;
    const struct field fields[] = {
        { "day", FIELD_TEXT, wish.day, 10, 10, true, NULL },
        { "skip", FIELD_FLAG, &wish.skip, 0, 1, false, &wish.skip_given },
        { "start", FIELD_TEXT, wish.start, 5, 5, false, &start },
        { "duration_s", FIELD_U32, &wish.duration_s, TIMETABLE_DURATION_MIN_S,
            TIMETABLE_DURATION_MAX_S, false, &duration },
    };
    if (!timetable_read(admin, job, id, &table)
        || !job_fields_read(job, fields, sizeof fields / sizeof *fields))
        return;
    wish.edits = start || duration;
    if (!day_read(admin, job, &table, &wish, &day))
        return;
    const enum status status = tables(admin)->day_put(admin->store, &day);
    if (status == STATUS_CONFLICT) {
        job_reply_problem(job, PROBLEM_CONFLICT,
            "The sale of this day is made: change, unpublish or end that sale instead.", SPAN_NONE);
        return;
    }
    if (!job_ok(job, status))
        return;
    timetable_reply(admin, job, 200, &table);
    admin_audit_write(admin, job, wish.skip ? "session.skip" : "session.edit",
        "timetable %u day %s", table.id, wish.day);
}
