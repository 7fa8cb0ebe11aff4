/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/redis/comparison.h"

#include <stdio.h>
#include <string.h>

/* Both answer the epoch and the head first. Epoch and fields are of one moment: a script is one. */
#define MOMENT \
    "local out = { redis.call('hget', KEYS[1], 'epoch'), redis.call('hget', KEYS[1], 'head') } "
/* ARGV: how many fields of each hash; then these. Answers length and values of each. */
static const char walk_text[] = MOMENT
    "local at = #KEYS + 1 "
    "for i = 1, #KEYS do local n = tonumber(ARGV[i]) "
    "out[2 * i + 1] = redis.call('hlen', KEYS[i]) "
    "out[2 * i + 2] = n > 0 and redis.call('hmget', KEYS[i], unpack(ARGV, at, at + n - 1)) or {} "
    "at = at + n end return out";
/* KEYS[2]: the hash, ARGV[1]: the cursor. Answers the next cursor, names and values. */
static const char scan_text[] =
    MOMENT "local page = redis.call('hscan', KEYS[2], ARGV[1], 'count', 100) "
           "out[3], out[4] = page[1], page[2] return out";
enum { WALK_VALUES = 2 + 2 * SCRIPT_HASHES, SCAN_VALUES = 4 };

/* Fields of the first hash that an opening writes (opening.c), beside those of the image. */
static const char *const opening_fields[] = { "open", "replid" };
enum { OPENING_FIELDS = sizeof opening_fields / sizeof *opening_fields };

void comparison_begin(
    struct comparison *comparison, const struct partition_keys *keys, const struct image_walk *from)
{
    *comparison = (struct comparison){ .keys = keys, .cursor = "0" };
    for (uint32_t table = IMAGE_BUYERS; from != NULL && table < IMAGE_TABLES; table++)
        comparison->walk.from[table] = from->reached[table];
}

/* ---- asking ---- */

static struct span kept(char *out, uint32_t *size, uint32_t max, struct span text)
{
    *size = text.size < max ? (uint32_t)text.size : max;
    memcpy(out, text.data, *size);
    return span_of(out, *size);
}

static void field_add(void *context, enum script_key key, struct span field, struct span value)
{
    struct comparison *comparison = context;
    (void)value; /* as it is when the reply is judged */
    invariant(comparison->field_count < COMPARISON_FIELDS && field.size <= COMPARISON_NAME_MAX);
    struct compared_field *added = &comparison->fields[comparison->field_count++];
    *added = (struct compared_field){ .key = (uint8_t)key };
    kept(added->name, &added->name_size, COMPARISON_NAME_MAX, field);
}

static struct span name_of(const struct compared_field *field)
{
    return span_of(field->name, field->name_size);
}

static struct redis_words walk_words(struct comparison *comparison)
{
    struct span *words = comparison->words;
    uint32_t at = 0;
    words[at++] = SPAN("EVAL");
    words[at++] = SPAN(walk_text);
    static_assert(SCRIPT_HASHES == 4, "as many keys");
    words[at++] = SPAN("4");
    for (uint32_t key = 0; key < SCRIPT_HASHES; key++)
        words[at++] = comparison->keys->names[key];
    uint32_t rest = at + SCRIPT_HASHES;
    for (uint32_t key = 0; key < SCRIPT_HASHES; key++) {
        const uint32_t before = rest;
        for (uint32_t i = 0; i < comparison->field_count; i++)
            if (comparison->fields[i].key == key)
                words[rest++] = name_of(&comparison->fields[i]);
        snprintf(comparison->numbers[key], sizeof comparison->numbers[key], "%u", rest - before);
        words[at + key] = span_from_string(comparison->numbers[key]);
    }
    return (struct redis_words){ words, rest };
}

static struct redis_words scan_words(struct comparison *comparison)
{
    const struct span *names = comparison->keys->names;
    const struct span words[] = { SPAN("EVAL"), SPAN(scan_text), SPAN("2"), names[SCRIPT_KEY_PART],
        names[comparison->key], span_from_string(comparison->cursor) };
    memcpy(comparison->words, words, sizeof words);
    return (struct redis_words){ comparison->words, sizeof words / sizeof *words };
}

struct redis_words comparison_ask(
    struct comparison *comparison, const struct engine *engine, const struct image_head *head)
{
    bool is_more = comparison->step == COMPARISON_WALK;
    comparison->field_count = 0;
    comparison->next = comparison->walk;
    while (is_more && comparison->field_count == 0)
        is_more = image_walk_on(engine, head, &comparison->next, COMPARISON_ROWS, field_add, comparison);
    if (comparison->step == COMPARISON_WALK && comparison->field_count == 0) {
        comparison->step = COMPARISON_COUNTS;
        comparison->walk = comparison->next; /* at its end */
    }
    return comparison->step == COMPARISON_SCAN ? scan_words(comparison) : walk_words(comparison);
}

/* ---- the reply ---- */

static uint64_t first_number(const struct redis_value *value)
{
    struct span text = value->kind == REDIS_KIND_TEXT ? value->text : SPAN_NONE, word = SPAN_NONE;
    uint64_t number = 0;
    return span_take_until(&text, ' ', &word) && span_to_u64(word, &number) == STATUS_OK ? number : 0;
}

/* One byte more than any value of ours: what was cut is never equal to one. */
static void value_keep(struct compared_field *field, const struct redis_value *value)
{
    field->is_there = value->kind == REDIS_KIND_TEXT;
    if (field->is_there)
        kept(field->value, &field->value_size, sizeof field->value, value->text);
}

static bool values_take(struct comparison *comparison, uint32_t key, const struct redis_value *list)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < comparison->field_count; i++) {
        struct compared_field *field = &comparison->fields[i];
        if (field->key != key)
            continue;
        if (list->kind != REDIS_KIND_LIST || taken == list->count)
            return false;
        value_keep(field, &list->list[taken++]);
    }
    return true;
}

static bool walk_take(struct comparison *comparison, const struct redis_value *reply)
{
    for (uint32_t key = 0; key < SCRIPT_HASHES; key++) {
        const struct redis_value *length = &reply->list[2 + 2 * key];
        if (length->kind != REDIS_KIND_NUMBER || !values_take(comparison, key, length + 1))
            return false;
        comparison->lengths[key] = (uint64_t)length->number;
    }
    return true;
}

static bool is_of_opening(uint32_t key, struct span field)
{
    for (uint32_t i = 0; key == SCRIPT_KEY_PART && i < OPENING_FIELDS; i++)
        if (span_equal(field, span_from_string(opening_fields[i])))
            return true;
    return false;
}

/* What the engine does not have now it may have at record H: those are kept. */
static bool scan_take(
    struct comparison *comparison, const struct engine *engine, const struct redis_value *reply)
{
    const struct redis_value *cursor = &reply->list[2], *page = &reply->list[3];
    comparison->field_count = 0;
    if (cursor->kind != REDIS_KIND_TEXT || cursor->text.size >= sizeof comparison->cursor_next
        || page->kind != REDIS_KIND_LIST)
        return false;
    snprintf(comparison->cursor_next, sizeof comparison->cursor_next, "%.*s",
        (int)cursor->text.size, cursor->text.data);
    for (uint32_t i = 0; i + 1 < page->count && comparison->field_count < COMPARISON_FIELDS; i += 2) {
        if (page->list[i].kind != REDIS_KIND_TEXT)
            return false;
        const struct span name = page->list[i].text;
        if (image_has(engine, (enum script_key)comparison->key, name)
            || is_of_opening(comparison->key, name))
            continue;
        struct compared_field *field = &comparison->fields[comparison->field_count++];
        *field = (struct compared_field){ .key = (uint8_t)comparison->key };
        kept(field->name, &field->name_size, COMPARISON_NAME_MAX, name);
        value_keep(field, &page->list[i + 1]);
    }
    return true;
}

bool comparison_take(
    struct comparison *comparison, const struct engine *engine, const struct redis_value *reply)
{
    const bool scans = comparison->step == COMPARISON_SCAN;
    if (reply == NULL || reply->kind != REDIS_KIND_LIST
        || reply->count != (uint32_t)(scans ? SCAN_VALUES : WALK_VALUES))
        return false;
    comparison->epoch = (uint32_t)first_number(&reply->list[0]);
    comparison->seq = first_number(&reply->list[1]);
    return scans ? scan_take(comparison, engine, reply) : walk_take(comparison, reply);
}

/* ---- judging ---- */

struct judge {
    struct comparison *comparison;
    comparison_differs *differs;
    void *context;
    uint32_t at; /* fields before are judged */
};

/* For people: what can't be printed is a point, and a long text is cut. */
static void shown(struct text *out, struct span text)
{
    enum { SHOWN_MAX = 48 };
    for (size_t i = 0; i < text.size && i < SHOWN_MAX; i++) {
        const char letter = text.data[i] >= ' ' && text.data[i] <= '~' ? text.data[i] : '.';
        text_add(out, span_of(&letter, 1));
    }
    text_string(out, text.size > SHOWN_MAX ? "…" : "");
}

/* From the word on in which they differ, if that is far behind. */
static size_t shown_from(struct span a, struct span b)
{
    enum { NEAR = 16 };
    size_t word = 0;
    for (size_t i = 0; i < a.size && i < b.size && a.data[i] == b.data[i]; i++)
        if (a.data[i] == ' ')
            word = i + 1;
    return word > NEAR ? word : 0;
}

static void value_shown(struct text *out, bool is_there, struct span value, size_t from)
{
    if (!is_there) {
        text_literal(out, "nothing");
        return;
    }
    text_string(out, from > 0 ? "\"… " : "\"");
    shown(out, span_of(value.data + from, value.size - from));
    text_literal(out, "\"");
}

static void differ(const struct judge *judge, const struct compared_field *field, bool is_logged,
    struct span logged)
{
    const struct span has = span_of(field->value, field->value_size);
    const size_t from = field->is_there && is_logged ? shown_from(has, logged) : 0;
    char bytes[4 * COMPARISON_TEXT_MAX];
    struct text text = text_in(bytes, sizeof bytes - 1);
    judge->comparison->is_wrong[field->key] = true;
    text_literal(&text, "field ");
    shown(&text, name_of(field));
    text_format(&text, " of %s: Redis has ", script_key_names[field->key]);
    value_shown(&text, field->is_there, has, from);
    text_literal(&text, ", the log has ");
    value_shown(&text, is_logged, logged, from);
    invariant(!text.overflow);
    bytes[text.size] = '\0';
    judge->differs(judge->context, bytes);
}

/* The first words of both; the rest of the head says how far the database is. */
static bool head_fits(struct span redis, struct span log)
{
    enum { WORDS = 4 };
    for (uint32_t i = 0; i < WORDS; i++) {
        struct span a = SPAN_NONE, b = SPAN_NONE;
        if (!span_take_until(&redis, ' ', &a) || !span_take_until(&log, ' ', &b) || !span_equal(a, b))
            return false;
    }
    return true;
}

static void field_judge(void *context, enum script_key key, struct span name, struct span value)
{
    struct judge *judge = context;
    struct comparison *comparison = judge->comparison;
    uint32_t at = judge->at;
    while (at < comparison->field_count
        && (comparison->fields[at].key != key || !span_equal(name_of(&comparison->fields[at]), name)))
        at++;
    if (at == comparison->field_count)
        return; /* it came after the question */
    struct compared_field *field = &comparison->fields[at];
    const struct span has = span_of(field->value, field->value_size);
    const bool is_head = key == SCRIPT_KEY_PART && span_equal(name, SPAN(IMAGE_SEQ_FIELD));
    judge->at = at + 1;
    field->is_judged = true;
    if (!field->is_there || !(is_head ? head_fits(has, value) : span_equal(has, value)))
        differ(judge, field, true, value);
}

static void rows_judge(struct judge *judge, const struct engine *engine, const struct image_head *head)
{
    struct comparison *comparison = judge->comparison;
    image_rows_write(engine, head, &comparison->next.last, field_judge, judge);
    for (uint32_t i = 0; i < comparison->field_count; i++) { /* what the engine had and has no more */
        const struct compared_field *field = &comparison->fields[i];
        if (!field->is_judged && field->is_there)
            differ(judge, field, false, SPAN_NONE);
    }
    comparison->walk = comparison->next;
}

static void strange_judge(struct judge *judge, const struct engine *engine)
{
    const struct comparison *comparison = judge->comparison;
    for (uint32_t i = 0; i < comparison->field_count; i++) {
        const struct compared_field *field = &comparison->fields[i];
        if (!image_has(engine, (enum script_key)field->key, name_of(field)))
            differ(judge, field, false, SPAN_NONE);
    }
}

/* One that is missing and one that is strange do not change the number: after a finding all is walked. */
static void counts_judge(struct comparison *comparison, const struct engine *engine)
{
    image_count(engine, comparison->counts);
    comparison->counts[SCRIPT_KEY_PART] += OPENING_FIELDS;
    for (uint32_t key = 0; key < SCRIPT_HASHES; key++)
        comparison->is_odd[key] =
            comparison->is_wrong[key] || comparison->lengths[key] != comparison->counts[key];
}

/* The next hash whose fields are to be walked. */
static void scan_next(struct judge *judge, uint32_t from)
{
    struct comparison *comparison = judge->comparison;
    for (comparison->key = from; comparison->key < SCRIPT_HASHES; comparison->key++)
        if (comparison->is_odd[comparison->key])
            break;
    comparison->step = comparison->key == SCRIPT_HASHES ? COMPARISON_OVER : COMPARISON_SCAN;
    snprintf(comparison->cursor, sizeof comparison->cursor, "0");
}

/* The hash was walked. Too few fields, and the ones that are missing were not looked at. */
static void scan_end(struct judge *judge)
{
    struct comparison *comparison = judge->comparison;
    const uint32_t key = comparison->key;
    char text[COMPARISON_TEXT_MAX];
    if (!comparison->is_wrong[key]) {
        comparison->is_wrong[key] = true;
        snprintf(text, sizeof text, "%s: Redis has %llu fields, the log makes %llu",
            script_key_names[key], (unsigned long long)comparison->lengths[key],
            (unsigned long long)comparison->counts[key]);
        judge->differs(judge->context, text);
    }
    scan_next(judge, key + 1);
}

void comparison_judge(struct comparison *comparison, const struct engine *engine,
    const struct image_head *head, comparison_differs *differs, void *context)
{
    struct judge judge = { .comparison = comparison, .differs = differs, .context = context };
    invariant(head->seq == comparison->seq);
    switch (comparison->step) {
    case COMPARISON_WALK:
        rows_judge(&judge, engine, head);
        break;
    case COMPARISON_COUNTS:
        counts_judge(comparison, engine);
        scan_next(&judge, 0);
        break;
    case COMPARISON_SCAN:
        strange_judge(&judge, engine);
        memcpy(comparison->cursor, comparison->cursor_next, sizeof comparison->cursor);
        if (strcmp(comparison->cursor, "0") == 0)
            scan_end(&judge);
        break;
    case COMPARISON_OVER:
        break;
    }
}
