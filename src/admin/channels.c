/* SPDX-License-Identifier: Apache-2.0 */
/* admin/channels.c: the figures of channels, as operators tell them, and the sales that channels have
 * reported. */
#include "contract/channels.h"
#include "admin/admin.h"
#include "api/query.h"
#include "funnel/door.h"

#include <stdio.h>
#include <string.h>

enum { PAGE_ROWS = 100, FIGURES_ROWS = 64 };

bool admin_figures_read(struct job *job, struct channel_figures *told, bool named)
{
    struct sales_figures *figures = &told->figures;
    const struct field fields[] = {
        { "units", FIELD_U64, &figures->units, 0, (int64_t)FIGURE_MAX, true, NULL },
        { "orders", FIELD_U64, &figures->orders, 0, (int64_t)FIGURE_MAX, true, NULL },
        { "visits", FIELD_U64, &figures->visits, 0, (int64_t)FIGURE_MAX, false, NULL },
        { "value", FIELD_U64, &figures->value, 0, (int64_t)FIGURE_VALUE_MAX, true, NULL },
        { "channel", FIELD_TEXT, told->channel, 1, CHANNEL_NAME_MAX, true, NULL },
    };
    return job_fields_read(job, fields, sizeof fields / sizeof *fields - (named ? 0 : 1));
}

static void figures_members(const struct channel_figures *told, struct text *out)
{
    json_text(out, "channel", told->channel);
    json_u64(out, "units", told->figures.units);
    json_u64(out, "orders", told->figures.orders);
    json_u64(out, "visits", told->figures.visits);
    json_u64(out, "value", told->figures.value);
    json_u64(out, "time_ms", told->time_ms);
    json_text(out, "by", told->by);
}

void admin_figures_keep(struct admin *admin, struct job *job, struct channel_figures *told)
{
    told->time_ms = admin->now_ms;
    snprintf(told->by, sizeof told->by, "%s", job->actor);
    if (!job_ok(job, admin->store->ops->channels->figures_put(admin->store, told)))
        return;
    struct text body = job_body(job);
    json_object_begin(&body, NULL);
    figures_members(told, &body);
    json_object_end(&body);
    job_reply_json(job, 200, &body);
    admin_audit_write(admin, job, "channel.figures",
        "%s: units %llu orders %llu visits %llu value %llu", told->channel,
        (unsigned long long)told->figures.units, (unsigned long long)told->figures.orders,
        (unsigned long long)told->figures.visits, (unsigned long long)told->figures.value);
}

void admin_channel_figures_set(struct admin *admin, struct job *job, uint32_t id)
{
    struct channel_figures told = { .channel = "" };
    channel_index channel;
    (void)id;
    if (!admin_figures_read(job, &told, true))
        return;
    if (door_channel_find(admin->lent->channels, span_from_string(told.channel), &channel))
        admin_figures_keep(admin, job, &told);
    else
        job_reply_problem(job, PROBLEM_BAD_CHANNEL, NULL, SPAN_NONE);
}

void admin_channels_list(struct admin *admin, struct job *job, uint32_t id)
{
    const struct door_channels *channels = admin->lent->channels;
    struct channel_figures rows[FIGURES_ROWS];
    uint32_t count = 0;
    (void)id;
    if (!job_ok(job, admin->store->ops->channels->figures(admin->store, rows, FIGURES_ROWS, &count)))
        return;
    struct text body = job_body(job);
    json_object_begin(&body, NULL);
    json_list_begin(&body, "channels");
    for (uint32_t i = 0; i < channels->count; i++) {
        struct channel_figures told = { .time_ms = 0 };
        channel_name(channels, (channel_index)i, told.channel);
        for (uint32_t row = 0; row < count; row++)
            if (strcmp(rows[row].channel, told.channel) == 0)
                told = rows[row];
        json_object_begin(&body, NULL);
        figures_members(&told, &body);
        json_object_end(&body);
    }
    job_reply_list(job, &body);
}

void admin_report_json(const struct channel_report *report, struct text *out)
{
    json_u64(out, "item", report->item);
    json_text(out, "channel", report->channel);
    json_text(out, "reference", report->reference);
    json_u64(out, "reported", report->reported);
    json_u64(out, "taken", report->taken);
    json_u64(out, "missing", report->missing);
    json_u64(out, "time_ms", report->time_ms);
}

void admin_channel_reports(struct admin *admin, struct job *job, uint32_t id)
{
    struct channel_report rows[PAGE_ROWS];
    struct channel_report_filter filter = { 0 };
    uint64_t after = 0, item = 0, missing = 0;
    uint32_t count = 0;
    const struct span channel = query_value(job->query, "channel");
    (void)id;
    if (!job_query_u64(job, "after", INT64_MAX, &after) || !job_query_u64(job, "item", UINT32_MAX, &item)
        || !job_query_u64(job, "missing", 1, &missing))
        return;
    if (channel.data != NULL && !query_text(channel, filter.channel, CHANNEL_NAME_MAX)) {
        job_reply_problem(job, PROBLEM_BAD_CHANNEL, NULL, SPAN_NONE);
        return;
    }
    filter.item = (item_id)item;
    filter.missing = missing != 0;
    struct order_store *store = admin->store;
    if (!job_ok(job, store->ops->channels->reports(store, after, &filter, rows, PAGE_ROWS, &count)))
        return;
    struct page page = page_begin(job, "reports");
    for (uint32_t i = 0; i < count; i++)
        admin_report_json(&rows[i], page_object(&page, rows[i].id));
    page_end(job, &page, page_next(&page, PAGE_ROWS));
}
