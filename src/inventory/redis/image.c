/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/redis/image.h"

enum { FIELD_MAX = 64, VALUE_MAX = 512 };

/* One field being made. */
struct image {
    image_field *put;
    void *context;
    struct text field, value;
    char field_bytes[FIELD_MAX], value_bytes[VALUE_MAX];
};

static void image_begin(struct image *image, const char *name)
{
    image->field = text_in(image->field_bytes, sizeof image->field_bytes);
    image->value = text_in(image->value_bytes, sizeof image->value_bytes);
    text_string(&image->field, name);
}

static void image_end(struct image *image, enum script_key key)
{
    invariant(!image->field.overflow && !image->value.overflow);
    image->put(image->context, key, text_span(&image->field), text_span(&image->value));
}

static void value_number(struct image *image, uint64_t number)
{
    if (image->value.size > 0)
        text_literal(&image->value, " ");
    text_u64(&image->value, number);
}

static void numbers_add(struct image *image, const uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        value_number(image, numbers[i]);
}
#define VALUE_NUMBERS(image, ...) \
    numbers_add(image, (const uint64_t[]){ __VA_ARGS__ }, \
        sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void value_hex(struct image *image, uint64_t value)
{
    if (image->value.size > 0)
        text_literal(&image->value, " ");
    text_hex64(&image->value, value);
}

static void value_key(struct image *image, uint64_t key)
{
    if (key == 0)
        value_number(image, 0);
    else
        value_hex(image, key);
}

static void number_put(struct image *image, const char *name, uint64_t number)
{
    image_begin(image, name);
    value_number(image, number);
    image_end(image, SCRIPT_KEY_PART);
}

static void head_put(struct image *image, const struct engine *engine, const struct image_head *head)
{
    const struct tickets *tickets = &engine->tickets;
    const struct buyers *buyers = &engine->buyers;
    const struct {
        const char *name;
        uint64_t number;
    } numbers[] = { { "epoch", head->epoch }, { "places", engine->places.count },
        { "keys", engine->keys.count } };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        number_put(image, numbers[i].name, numbers[i].number);
    const uint64_t forgotten = tickets->last - tickets_used(tickets);
    image_begin(image, IMAGE_SEQ_FIELD);
    VALUE_NUMBERS(image, head->seq, head->time_ms, tickets->last,
        buyers->rows_end - buyers->free_count, head->done, head->told);
    image_end(image, SCRIPT_KEY_PART);
    image_begin(image, "bounds");
    VALUE_NUMBERS(image, tickets->capacity, buyers->capacity, engine->places.capacity,
        engine->config.items_max, engine->config.sales_max, head->lag_max, forgotten);
    image_end(image, SCRIPT_KEY_PART);
}

static void sale_put(struct image *image, const struct engine_sale *sale, sale_id id)
{
    image_begin(image, "s");
    text_u64(&image->field, id);
    VALUE_NUMBERS(image, sale->start_ms, sale->end_ms, sale->limit_per_user, sale->items,
        sale->eligible_only, sale->one_open_order, sale->opened, sale->paused, sale->ended,
        sale->cooldown_s, sale->return_draw_ms, sale->start_draw_ms);
    value_hex(image, sale->draw_seed);
    value_number(image, sale->opened_ms);
    image_end(image, SCRIPT_KEY_PART);
    if (sale->arrived == 0 && !sale->draw_done)
        return;
    image_begin(image, "w");
    text_u64(&image->field, id);
    VALUE_NUMBERS(image, sale->arrived, sale->drawn, sale->head, sale->draw_done);
    image_end(image, SCRIPT_KEY_PART);
}

static void item_put(struct image *image, const struct engine_item *item, item_id id)
{
    uint64_t draws_until_ms = 0;
    for (uint32_t channel = 0; channel < CHANNELS_MAX; channel++)
        if (item->draw_until_ms[channel] > draws_until_ms)
            draws_until_ms = item->draw_until_ms[channel];
    image_begin(image, "i");
    text_u64(&image->field, id);
    VALUE_NUMBERS(image, item->sale, item->limit_per_user, item->unit_price, item->pay_window_ms,
        item->total, item->locked, item->given, item->held, item->sold, item->safety,
        item->written_off, draws_until_ms);
    for (uint32_t channel = 0; channel < CHANNELS_MAX; channel++)
        value_number(image, item->free[channel]);
    image_end(image, SCRIPT_KEY_PART);
    if (draws_until_ms == 0)
        return;
    image_begin(image, "d");
    text_u64(&image->field, id);
    for (uint32_t channel = 0; channel < CHANNELS_MAX; channel++) {
        value_number(image, item->draw_until_ms[channel]);
        value_hex(image, item->draw_seed[channel]);
    }
    image_end(image, SCRIPT_KEY_PART);
}

static void transfers_put(struct image *image, const struct engine_transfers *transfers)
{
    for (uint32_t shard = 0; shard < SHARDS_MAX; shard++) {
        if (transfers->given[shard] == 0 && transfers->taken[shard] == 0)
            continue;
        image_begin(image, "x");
        text_u64(&image->field, shard);
        VALUE_NUMBERS(image, transfers->given[shard], transfers->taken[shard]);
        image_end(image, SCRIPT_KEY_PART);
    }
}

/* "<letter><id>:<user>" */
static void user_begin(struct image *image, const char *letter, uint32_t id, user_id user)
{
    image_begin(image, letter);
    text_u64(&image->field, id);
    text_literal(&image->field, ":");
    if (user == 0)
        text_literal(&image->field, "0");
    else
        text_hex64(&image->field, user);
}

static void buyer_put(struct image *image, const struct buyers *buyers, const struct buyer_row *row)
{
    const uint32_t id = row->scope & 0xffff;
    if (row->scope == buyers_scope_eligible(id)) {
        user_begin(image, "e", id, row->user);
        value_number(image, row->used);
    } else {
        user_begin(image, row->scope == buyers_scope_sale(id) ? "s" : "", id, row->user);
        value_number(image, row->used);
        value_number(image, row->last);
        if (row->returns > 0) {
            value_number(image, row->returns);
            value_number(image, buyers_cool_until_s(buyers, row));
        }
    }
    image_end(image, SCRIPT_KEY_USERS);
}

static void ticket_put(struct image *image, const struct ticket_row *row, ticket_number number)
{
    image_begin(image, "");
    text_u64(&image->field, number);
    value_key(image, row->user);
    value_key(image, row->key);
    VALUE_NUMBERS(image, row->item, row->quantity, row->channel, row->state, row->pay_by_ms);
    image_end(image, SCRIPT_KEY_TICKETS);
    if (row->key == 0)
        return;
    image_begin(image, "");
    text_hex64(&image->field, row->key);
    value_number(image, number);
    image_end(image, SCRIPT_KEY_KEYS);
}

/* What became of an administrator's command; it reads like the script's answer to its repetition. */
static void command_key_put(struct image *image, const struct engine_key *row, uint64_t slot)
{
    image_begin(image, "a");
    text_hex64(&image->field, row->key);
    value_key(image, row->request);
    value_number(image, row->answer);
    text_literal(&image->value, " r1");
    if (row->applied != 0) {
        text_literal(&image->value, " a");
        text_i64(&image->value, row->applied);
    }
    image_end(image, SCRIPT_KEY_KEYS);
    image_begin(image, "o");
    text_u64(&image->field, slot);
    value_hex(image, row->key);
    image_end(image, SCRIPT_KEY_KEYS);
}

void image_write(const struct engine *engine, const struct image_head *head, image_field *put, void *context)
{
    struct image image = { .put = put, .context = context };
    head_put(&image, engine, head);
    for (sale_id id = 1; id < engine->config.sales_max; id++)
        if (engine->sales[id].defined)
            sale_put(&image, &engine->sales[id], id);
    for (item_id id = 1; id < engine->config.items_max; id++)
        if (engine->items[id].sale != 0)
            item_put(&image, &engine->items[id], id);
    transfers_put(&image, &engine->transfers);
    for (uint64_t i = 0; i < engine->buyers.rows_end; i++)
        if (engine->buyers.rows[i].scope != 0)
            buyer_put(&image, &engine->buyers, &engine->buyers.rows[i]);
    for (uint64_t i = 0; i < engine->tickets.rows_end; i++)
        if (engine->tickets.rows[i].used)
            ticket_put(&image, &engine->tickets.rows[i],
                tickets_number(&engine->tickets, &engine->tickets.rows[i]));
    for (uint64_t i = 0; i < engine->places.count; i++) {
        const struct place_row *row = &engine->places.rows[i];
        user_begin(&image, "p", row->sale, row->user);
        value_number(&image, row->number);
        image_end(&image, SCRIPT_KEY_USERS);
    }
    for (uint64_t slot = 0; slot < engine_keys_kept(engine->keys.count); slot++)
        command_key_put(&image, &engine->keys.rows[slot], slot);
}
