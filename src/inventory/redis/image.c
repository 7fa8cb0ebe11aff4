/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/redis/image.h"

enum { FIELD_MAX = 64, VALUE_MAX = 512 };

/* One field being made. */
struct image {
    const struct engine *engine;
    const struct image_head *head;
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
    } numbers[] = { { "epoch", head->epoch },
        { "places", engine->places.count - engine->places.begin }, { "keys", engine->keys.count } };
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

static bool sale_has_room(const struct engine_sale *sale)
{
    return sale->arrived != 0 || sale->draw_done;
}

/* When the last return draw is over; 0: there was none. */
static uint64_t draws_end_ms(const struct engine_item *item)
{
    uint64_t end_ms = 0;
    for (uint32_t channel = 0; channel < CHANNELS_MAX; channel++)
        if (item->draw_until_ms[channel] > end_ms)
            end_ms = item->draw_until_ms[channel];
    return end_ms;
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
    if (!sale_has_room(sale))
        return;
    image_begin(image, "w");
    text_u64(&image->field, id);
    VALUE_NUMBERS(image, sale->arrived, sale->drawn, sale->head, sale->draw_done);
    image_end(image, SCRIPT_KEY_PART);
}

static void item_put(struct image *image, const struct engine_item *item, item_id id)
{
    const uint64_t draws_until_ms = draws_end_ms(item);
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
    const uint32_t id = buyers_scope_id(row->scope);
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

/* ---- the tables: a row with something in it puts its fields ---- */

static bool head_row(struct image *image, uint64_t row)
{
    (void)row;
    head_put(image, image->engine, image->head);
    transfers_put(image, &image->engine->transfers);
    return true;
}

static bool sale_row(struct image *image, uint64_t row)
{
    const struct engine_sale *sale = &image->engine->sales[row];
    if (sale->defined)
        sale_put(image, sale, (sale_id)row);
    return sale->defined;
}

static bool item_row(struct image *image, uint64_t row)
{
    const struct engine_item *item = &image->engine->items[row];
    if (item->sale != 0)
        item_put(image, item, (item_id)row);
    return item->sale != 0;
}

static bool buyer_row(struct image *image, uint64_t row)
{
    const struct buyers *buyers = &image->engine->buyers;
    if (buyers->rows[row].scope != 0)
        buyer_put(image, buyers, &buyers->rows[row]);
    return buyers->rows[row].scope != 0;
}

static bool place_row(struct image *image, uint64_t row)
{
    const struct places *places = &image->engine->places;
    const struct place_row *place = places_at(places, places->begin + row);
    if (place->sale == 0)
        return false;
    user_begin(image, "p", place->sale, place->user);
    value_number(image, place->number);
    image_end(image, SCRIPT_KEY_USERS);
    return true;
}

static bool command_row(struct image *image, uint64_t row)
{
    command_key_put(image, &image->engine->keys.rows[row], row);
    return true;
}

static bool ticket_row(struct image *image, uint64_t row)
{
    const struct tickets *tickets = &image->engine->tickets;
    const struct ticket_row *ticket = &tickets->rows[row];
    if (ticket->used)
        ticket_put(image, ticket, tickets_number(tickets, ticket));
    return ticket->used;
}

static uint64_t table_end(const struct engine *engine, uint32_t table)
{
    const uint64_t ends[IMAGE_TABLES] = { [IMAGE_HEAD] = 1,
        [IMAGE_SALES] = engine->config.sales_max,
        [IMAGE_ITEMS] = engine->config.items_max,
        [IMAGE_BUYERS] = engine->buyers.rows_end,
        [IMAGE_PLACES] = engine->places.count - engine->places.begin,
        [IMAGE_COMMANDS] = engine_keys_kept(engine->keys.count),
        [IMAGE_TICKETS] = engine->tickets.rows_end };
    return ends[table];
}

static bool row_write(struct image *image, uint32_t table, uint64_t row)
{
    static bool (*const puts[IMAGE_TABLES])(struct image *, uint64_t) = { head_row, sale_row,
        item_row, buyer_row, place_row, command_row, ticket_row };
    return puts[table](image, row);
}

bool image_walk_on(const struct engine *engine, const struct image_head *head,
    struct image_walk *walk, uint32_t rows, image_field *put, void *context)
{
    struct image image = { .engine = engine, .head = head, .put = put, .context = context };
    while (walk->table < IMAGE_TABLES && walk->row >= table_end(engine, walk->table)) {
        walk->reached[walk->table++] = walk->row;
        walk->row = walk->table < IMAGE_TABLES ? walk->from[walk->table] : 0;
    }
    if (walk->table == IMAGE_TABLES)
        return false;
    const uint64_t left = table_end(engine, walk->table) - walk->row;
    const uint64_t end = walk->row + (left < IMAGE_SCAN_MAX ? left : IMAGE_SCAN_MAX);
    walk->last = (struct image_rows){ .table = walk->table, .from = walk->row };
    for (uint32_t used = 0; used < rows && walk->row < end; walk->row++)
        used += row_write(&image, walk->table, walk->row);
    walk->last.to = walk->row;
    return true;
}

void image_rows_write(const struct engine *engine, const struct image_head *head,
    const struct image_rows *rows, image_field *put, void *context)
{
    struct image image = { .engine = engine, .head = head, .put = put, .context = context };
    for (uint64_t row = rows->from; row < rows->to; row++)
        row_write(&image, rows->table, row);
}

void image_write(const struct engine *engine, const struct image_head *head, image_field *put, void *context)
{
    struct image_walk walk = { 0 };
    while (image_walk_on(engine, head, &walk, IMAGE_SCAN_MAX, put, context))
        ;
}

/* ---- is it there? ---- */

static bool part_has(const struct engine *engine, struct span field)
{
    static const char *const names[] = { "epoch", "places", "keys", IMAGE_SEQ_FIELD, "bounds" };
    uint64_t id = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (span_equal(field, span_from_string(names[i])))
            return true;
    if (field.size < 2 || span_to_u64(span_of(field.data + 1, field.size - 1), &id) != STATUS_OK)
        return false;
    const struct engine_sale *sale = id < engine->config.sales_max ? &engine->sales[id] : NULL;
    const struct engine_item *item = id < engine->config.items_max ? &engine->items[id] : NULL;
    const struct engine_transfers *transfers = &engine->transfers;
    switch (field.data[0]) {
    case 'x':
        return id < SHARDS_MAX && (transfers->given[id] | transfers->taken[id]) != 0;
    case 's':
        return sale != NULL && sale->defined;
    case 'w':
        return sale != NULL && sale->defined && sale_has_room(sale);
    case 'i':
        return item != NULL && item->sale != 0;
    case 'd':
        return item != NULL && item->sale != 0 && draws_end_ms(item) != 0;
    default:
        return false;
    }
}

static bool user_has(const struct engine *engine, struct span field)
{
    const char letter = field.size > 0 && field.data[0] > '9' ? field.data[0] : ' ';
    struct span id_text = SPAN_NONE;
    uint32_t id = 0;
    user_id user = 0;
    if (letter != ' ')
        field = span_of(field.data + 1, field.size - 1);
    if (!span_take_until(&field, ':', &id_text) || span_to_u32(id_text, &id) != STATUS_OK || id >= ITEMS_LIMIT
        || (!span_equal(field, SPAN("0")) && span_to_hex64(field, &user) != STATUS_OK))
        return false;
    switch (letter) {
    case ' ':
        return buyers_find(&engine->buyers, buyers_scope_item(id), user) != NULL;
    case 's':
        return buyers_find(&engine->buyers, buyers_scope_sale(id), user) != NULL;
    case 'e':
        return buyers_find(&engine->buyers, buyers_scope_eligible(id), user) != NULL;
    case 'p':
        return places_find(&engine->places, id, user) < engine->places.count;
    default:
        return false;
    }
}

/* "<key>" of a purchase, "a<key>" or "o<slot>" of an operator's command. */
static bool key_has(const struct engine *engine, struct span field)
{
    const uint64_t kept = engine_keys_kept(engine->keys.count);
    const struct span rest = field.size == 0 ? field : span_of(field.data + 1, field.size - 1);
    uint64_t number = 0;
    if (span_to_hex64(field, &number) == STATUS_OK)
        return number != 0 && tickets_find_key(&engine->tickets, number) != 0;
    if (field.size > 0 && field.data[0] == 'o')
        return span_to_u64(rest, &number) == STATUS_OK && number < kept;
    if (field.size == 0 || field.data[0] != 'a' || span_to_hex64(rest, &number) != STATUS_OK)
        return false;
    for (uint64_t slot = 0; slot < kept; slot++)
        if (engine->keys.rows[slot].key == number)
            return true;
    return false;
}

bool image_has(const struct engine *engine, enum script_key key, struct span field)
{
    uint64_t number = 0;
    switch (key) {
    case SCRIPT_KEY_PART:
        return part_has(engine, field);
    case SCRIPT_KEY_USERS:
        return user_has(engine, field);
    case SCRIPT_KEY_TICKETS:
        return span_to_u64(field, &number) == STATUS_OK && tickets_get(&engine->tickets, number) != NULL;
    case SCRIPT_KEY_KEYS:
        return key_has(engine, field);
    case SCRIPT_KEY_LOG:
    case SCRIPT_KEYS:
        break;
    }
    return false;
}

/* ---- how many ---- */

static void part_field_count(void *context, enum script_key key, struct span field, struct span value)
{
    uint64_t *counts = context;
    (void)field;
    (void)value;
    counts[key]++;
}

void image_count(const struct engine *engine, uint64_t counts[SCRIPT_HASHES])
{
    static const struct image_head no_head;
    struct image image = { .engine = engine, .head = &no_head, .put = part_field_count, .context = counts };
    const struct buyers *buyers = &engine->buyers;
    const struct tickets *tickets = &engine->tickets;
    counts[SCRIPT_KEY_PART] = 0;
    head_row(&image, 0);
    for (uint64_t id = 0; id < engine->config.sales_max; id++)
        sale_row(&image, id);
    for (uint64_t id = 0; id < engine->config.items_max; id++)
        item_row(&image, id);
    counts[SCRIPT_KEY_USERS] = buyers->rows_end - buyers->free_count + places_taken(&engine->places);
    counts[SCRIPT_KEY_TICKETS] = tickets_used(tickets);
    counts[SCRIPT_KEY_KEYS] = tickets->keyed + 2 * engine_keys_kept(engine->keys.count);
}
