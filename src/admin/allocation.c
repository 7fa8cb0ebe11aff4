/* SPDX-License-Identifier: Apache-2.0 */
/* admin/allocation.c: the units of an item shared out among its channels (policy/allocation.h).
 *
 * The preview reads 30 days of orders, on a thread that only reads. Whoever applies it sends the shares that
 * it told: the operator gets what was seen, the worker reads no orders, and the same request again leads to
 * the same units. A channel takes part when it has sold here or somebody has told its figures; web always
 * does. The others keep what they have. */
#include "policy/allocation.h"
#include "admin/admin.h"
#include "config/config.h"
#include "contract/board.h"
#include "contract/channels.h"
#include "contract/inventory.h"
#include "funnel/door.h"

#include <stdio.h>
#include <string.h>

enum { FIGURES_ROWS = 64 };

struct allocated {
    uint32_t count;                      /* channels that take part */
    channel_index channel[CHANNELS_MAX]; /* which */
    struct sales_figures figures[CHANNELS_MAX];
    bool told[CHANNELS_MAX]; /* else counted from orders */
    uint32_t share[CHANNELS_MAX], now[CHANNELS_MAX], wanted[CHANNELS_MAX];
};

static uint64_t at_most(uint64_t value, uint64_t most)
{
    return value < most ? value : most;
}

/* What the shop's own orders say, or what was told. Where web has orders, only its visits are told. */
static enum status figures_read(struct admin *admin, const char *currency, struct allocated *out)
{
    struct order_store *store = admin->store;
    const struct channel_store_ops *ops = store->ops->channels;
    const struct door_channels *channels = admin->lent->channels;
    struct channel_figures rows[FIGURES_ROWS];
    struct sales_figures sold[CHANNELS_MAX];
    bool told[CHANNELS_MAX] = { false };
    uint32_t count = 0;
    channel_index channel;
    const uint64_t from_ms = admin->now_ms > FIGURES_SPAN_MS ? admin->now_ms - FIGURES_SPAN_MS : 0;
    enum status status = ops->sales(store, from_ms, currency, sold);
    if (status == STATUS_OK)
        status = ops->figures(store, rows, FIGURES_ROWS, &count);
    for (uint32_t i = 0; status == STATUS_OK && i < count; i++) {
        if (!door_channel_find(channels, span_from_string(rows[i].channel), &channel))
            continue;
        if (channel == 0 && sold[0].orders > 0) {
            sold[0].visits = rows[i].figures.visits;
        } else {
            sold[channel] = rows[i].figures;
            told[channel] = true;
        }
    }
    for (uint32_t i = 0; i < channels->count; i++) {
        if (i != 0 && !told[i] && sold[i].orders == 0)
            continue;
        const uint32_t at = out->count++;
        out->channel[at] = (channel_index)i;
        out->told[at] = told[i];
        out->figures[at] = (struct sales_figures){ .units = at_most(sold[i].units, FIGURE_MAX),
            .orders = at_most(sold[i].orders, FIGURE_MAX),
            .visits = at_most(sold[i].visits, FIGURE_MAX),
            .value = at_most(sold[i].value, FIGURE_VALUE_MAX) };
    }
    return status;
}

/* The units that each channel has: in the inventory, or as they will be preheated. */
static bool units_now(const struct admin *admin, const struct item *item, uint32_t units[CHANNELS_MAX])
{
    struct board_update view;
    const bool known = board_read(admin->lent->inventory->board, item->id, &view);
    memcpy(units, known ? view.counts.channel_free : item->channel_units, sizeof view.counts.channel_free);
    if (known)
        return true;
    int64_t web = (int64_t)item->total - item->locked - item->sold - item->safety;
    for (uint32_t channel = 1; channel < CHANNELS_MAX; channel++)
        web -= units[channel];
    units[0] = web < 0 ? 0 : (uint32_t)web;
    return false;
}

static uint32_t units_share_out(struct allocated *out, const uint32_t units[CHANNELS_MAX])
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < out->count; i++) {
        out->now[i] = units[out->channel[i]];
        sum += out->now[i];
    }
    allocation_units(sum, out->share, out->count, out->wanted);
    return sum;
}

static void channel_json(const struct admin *admin, const struct allocated *out,
    const struct allocation *parts, uint32_t at, struct text *body)
{
    const struct sales_figures *figures = &out->figures[at];
    char name[CHANNEL_NAME_MAX + 1];
    json_object_begin(body, NULL);
    json_text(body, "channel", channel_name(admin->lent->channels, out->channel[at], name));
    json_text(body, "figures", out->told[at] ? "told" : "orders");
    json_u64(body, "sold", figures->units);
    json_u64(body, "orders", figures->orders);
    json_u64(body, "visits", figures->visits);
    json_u64(body, "value", figures->value);
    json_u64(body, "sales_share", parts->sales[at]);
    json_u64(body, "conversion_share", parts->conversion[at]);
    json_u64(body, "value_share", parts->value[at]);
    json_u64(body, "share", parts->share[at]);
    json_u64(body, "units", out->now[at]);
    json_u64(body, "proposed", out->wanted[at]);
    json_object_end(body);
}

void admin_item_allocation(struct admin *admin, struct job *job, uint32_t id)
{
    const struct config *config = admin->lent->config;
    const struct allocation_weights weights = { (uint32_t)config->weight_sales,
        (uint32_t)config->weight_conversion, (uint32_t)config->weight_value };
    struct item item;
    struct allocated out = { 0 };
    struct allocation parts;
    uint32_t units[CHANNELS_MAX];
    if (!admin_item_read(admin, job, id, &item) || !job_ok(job, figures_read(admin, item.currency, &out)))
        return;
    allocation_shares(out.figures, out.count, &weights, &parts);
    memcpy(out.share, parts.share, sizeof out.share);
    const bool preheated = units_now(admin, &item, units);
    const uint32_t sum = units_share_out(&out, units);
    struct text body = job_body(job);
    json_object_begin(&body, NULL);
    json_u64(&body, "item", id);
    json_bool(&body, "preheated", preheated);
    json_text(&body, "currency", item.currency);
    json_u64(&body, "units", sum);
    json_bool(&body, "conversion_known", parts.conversion_known);
    json_object_begin(&body, "weights");
    json_u64(&body, "sales", weights.sales);
    json_u64(&body, "conversion", weights.conversion);
    json_u64(&body, "value", weights.value);
    json_object_end(&body);
    json_list_begin(&body, "channels");
    for (uint32_t i = 0; i < out.count; i++)
        channel_json(admin, &out, &parts, i, &body);
    json_list_end(&body);
    json_object_end(&body);
    job_reply_json(job, 200, &body);
}

/* ---- applying shares ---- */

/* {"web":400000,"tmall":600000}. NULL: they are good. */
static const char *shares_take(const struct admin *admin, json_t *shares, struct allocated *out)
{
    const char *name;
    json_t *share;
    bool some = false;
    if (!json_is_object(shares))
        return "shares must be an object of channel names with shares in millionths.";
    json_object_foreach(shares, name, share)
    {
        channel_index channel;
        if (!door_channel_find(admin->lent->channels, span_from_string(name), &channel))
            return "shares names a channel that is not configured.";
        const json_int_t value = json_integer_value(share);
        if (!json_is_integer(share) || value < 0 || value > SHARE_ONE)
            return "shares must be whole numbers from 0 to 1000000.";
        out->channel[out->count] = channel;
        out->share[out->count++] = (uint32_t)value;
        some |= value > 0;
    }
    return some ? NULL : "shares must have one that is above 0.";
}

/* Equal remainders go to the lower channel, whatever the order of the request. */
static void allocated_sort(struct allocated *out)
{
    for (uint32_t i = 1; i < out->count; i++)
        for (uint32_t j = i; j > 0 && out->channel[j - 1] > out->channel[j]; j--) {
            const channel_index channel = out->channel[j];
            const uint32_t share = out->share[j];
            out->channel[j] = out->channel[j - 1];
            out->share[j] = out->share[j - 1];
            out->channel[j - 1] = channel;
            out->share[j - 1] = share;
        }
}

static bool shares_read(struct admin *admin, struct job *job, struct allocated *out)
{
    char error[FIELD_ERROR];
    json_t *shares = NULL;
    const struct field fields[] = { { "shares", FIELD_JSON, &shares, 0, 0, true, NULL } };
    json_t *object = job_body_object(job);
    if (object == NULL)
        return false;
    const bool good = admin_fields_read(object, fields, 1, error);
    const bool read = job_body_end(job, object, good ? shares_take(admin, shares, out) : error);
    if (read)
        allocated_sort(out);
    return read;
}

/* Units that go to channels now would come back to web at once. False: answered. */
static bool channels_still_sell(struct admin *admin, struct job *job, const struct item *item)
{
    struct sale sale;
    if (item->channel_return_ms == 0)
        return true;
    if (!admin_sale_read(admin, job, item->sale, &sale))
        return false;
    const bool over = admin->now_ms >= sale.start_ms + item->channel_return_ms;
    if (over)
        job_reply_problem(job, PROBLEM_CONFLICT,
            "The time of the other channels is over: their units went back to web. Change "
            "channel_return_ms "
            "of the item first.",
            SPAN_NONE);
    return !over;
}

/* Each move takes what is still free. They carry the actor but no key: whoever repeats the request comes
 * to the same units, because it begins with those that there are then. */
static bool moves_ask(
    struct admin *admin, struct job *job, const struct allocated *out, item_id id, uint64_t *moved)
{
    struct allocation_move moves[CHANNELS_MAX];
    const uint32_t count = allocation_moves(out->now, out->wanted, out->count, moves);
    const struct command_origin origin = job->origin;
    bool good = true;
    *moved = 0;
    job->origin.key = job->origin.request = 0;
    for (uint32_t i = 0; i < count && good; i++) {
        struct outcome outcome = { 0 };
        const struct command command = { .type = COMMAND_MOVE,
            .move = { .item = id,
                .from = out->channel[moves[i].from],
                .to = out->channel[moves[i].to],
                .quantity = moves[i].quantity } };
        good = admin_ask(admin, job, &command, &outcome);
        *moved += good ? (uint64_t)outcome.applied : 0;
    }
    job->origin = origin;
    return good;
}

/* Before it is preheated the units are only a row. */
static bool row_write(struct admin *admin, struct job *job, const struct allocated *out,
    const uint32_t units[CHANNELS_MAX], struct item *item, uint64_t *moved)
{
    memcpy(item->channel_units, units, sizeof item->channel_units);
    for (uint32_t i = 0; i < out->count; i++) {
        *moved += out->wanted[i] > out->now[i] ? out->wanted[i] - out->now[i] : 0;
        item->channel_units[out->channel[i]] = out->wanted[i];
    }
    if (*moved == 0)
        return true;
    if (!job_ok(job, admin->store->ops->item_update(admin->store, item, true)))
        return false;
    worker_item_changed(admin->worker, item->id);
    return true;
}

void admin_item_allocate(struct admin *admin, struct job *job, uint32_t id)
{
    struct item item;
    struct allocated out = { 0 };
    uint32_t units[CHANNELS_MAX];
    uint64_t moved = 0;
    if (!admin_item_read(admin, job, id, &item) || !shares_read(admin, job, &out))
        return;
    const bool preheated = units_now(admin, &item, units);
    units_share_out(&out, units);
    if (preheated && !channels_still_sell(admin, job, &item))
        return;
    if (preheated ? !moves_ask(admin, job, &out, id, &moved)
                  : !row_write(admin, job, &out, units, &item, &moved))
        return;
    units_now(admin, &item, units);
    struct text body = job_body(job);
    json_object_begin(&body, NULL);
    json_u64(&body, "item", id);
    json_u64(&body, "moved", moved);
    admin_channels_member(admin, units, &body);
    json_object_end(&body);
    job_reply_json(job, 200, &body);
    admin_audit_write(admin, job, "item.allocate", "item %u: %llu units moved between %u channels",
        id, (unsigned long long)moved, out.count);
}
