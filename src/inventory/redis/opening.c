/* SPDX-License-Identifier: Apache-2.0 */
/* The steps are small scripts by EVAL, which compare the epoch and write in one go. The fields `open`,
 * `shut`, `doubt` and `replid` of the first hash are theirs; purchases do not look at them. */
#include "inventory/redis/opening.h"

#include "inventory/redis/image.h"
#include "redis/caller.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS_PER_CALL = 100, VALUE_BYTES_MAX = 1024, NUMBER_BYTES = 12 };

static const char shut_text[] =
    "if redis.call('hget', KEYS[1], 'epoch') == ARGV[1] then "
    "redis.call('hset', KEYS[1], 'epoch', '0', 'shut', ARGV[1]) end return 1";
static const char begin_text[] =
    "local open = tonumber(redis.call('hget', KEYS[1], 'open') or '0') "
    "if open >= tonumber(ARGV[1]) then return redis.error_reply('FENCED epoch ' .. open) end "
    "redis.call('hset', KEYS[1], 'open', ARGV[1], 'epoch', '0') return 1";
#define ONLY_IF_OPEN \
    "if redis.call('hget', KEYS[1], 'open') ~= ARGV[1] then " \
    "return redis.error_reply('FENCED another epoch') end "
static const char clear_text[] =
    ONLY_IF_OPEN "redis.call('unlink', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]) "
                 "redis.call('hset', KEYS[1], 'open', ARGV[1], 'epoch', '0') return 1";
/* ARGV[2] … are fields and values for KEYS[2]. */
static const char put_text[] =
    ONLY_IF_OPEN "local pairs = {} for i = 2, #ARGV do pairs[i - 1] = ARGV[i] end "
                 "redis.call('hset', KEYS[2], unpack(pairs)) return 1";
const char partition_doubt_text[] =
    "if redis.call('hget', KEYS[1], 'doubt') == ARGV[1] then return 1 end "
    "if redis.call('hget', KEYS[1], 'epoch') ~= ARGV[1] then "
    "return redis.error_reply('FENCED another epoch') end "
    "redis.call('hset', KEYS[1], 'epoch', '0', 'shut', ARGV[1], 'doubt', ARGV[1]) return 1";
/* KEYS[6] is the mark of a partition at rest, ARGV[2] its last record, ARGV[3] the time (ms) that is left. */
const char partition_rest_text[] =
    "if redis.call('hget', KEYS[1], 'epoch') ~= ARGV[1] then "
    "return redis.error_reply('FENCED another epoch') end "
    "if string.match(redis.call('hget', KEYS[1], 'head'), '^%d+') ~= ARGV[2] then return 0 end "
    "redis.call('hset', KEYS[1], 'epoch', '0', 'shut', ARGV[1]) "
    "for i = 1, 5 do redis.call('pexpire', KEYS[i], ARGV[3]) end "
    "redis.call('hset', KEYS[6], 'rest', ARGV[1] .. ' ' .. ARGV[2]) return 1";
static const char admit_text[] =
    ONLY_IF_OPEN "for i = 1, 5 do redis.call('persist', KEYS[i]) end redis.call('unlink', KEYS[6]) "
                 "redis.call('hdel', KEYS[1], 'shut') "
                 "redis.call('hset', KEYS[1], 'epoch', ARGV[1], 'replid', ARGV[2]) return 1";

static struct span number_text(uint32_t number, char out[NUMBER_BYTES])
{
    snprintf(out, NUMBER_BYTES, "%u", number);
    return span_from_string(out);
}

static struct span part_key(const struct opening *opening)
{
    return opening->keys->names[SCRIPT_KEY_PART];
}

/* A step that has the first hash and the epoch. */
static enum redis_answer step(const struct opening *opening, const char *script, uint32_t epoch)
{
    char number[NUMBER_BYTES];
    return redis_call(opening->caller, part_key(opening),
        REDIS_WORDS(SPAN("EVAL"), span_from_string(script), SPAN("1"), part_key(opening),
            number_text(epoch, number)),
        opening->timeout_ms, NULL, NULL);
}

enum redis_answer partition_shut(const struct opening *opening, uint32_t epoch)
{
    return step(opening, shut_text, epoch);
}

enum redis_answer partition_begin(const struct opening *opening, uint32_t epoch)
{
    return step(opening, begin_text, epoch);
}

/* ---- looking ---- */

static uint64_t first_number(const struct redis_value *value)
{
    struct span text = value->kind == REDIS_KIND_TEXT ? value->text : SPAN_NONE, word = SPAN_NONE;
    uint64_t number = 0;
    if (!span_take_until(&text, ' ', &word) || span_to_u64(word, &number) != STATUS_OK)
        return 0;
    return number;
}

void partition_rest_read(const struct redis_value *value, struct partition_rest *rest)
{
    const bool is_one = value->kind == REDIS_KIND_LIST && value->count == 1;
    struct span text = is_one && value->list[0].kind == REDIS_KIND_TEXT ? value->list[0].text : SPAN_NONE;
    struct span epoch = SPAN_NONE;
    *rest = (struct partition_rest){ 0 };
    if (!span_take_until(&text, ' ', &epoch) || span_to_u32(epoch, &rest->epoch) != STATUS_OK
        || span_to_u64(text, &rest->seq) != STATUS_OK)
        *rest = (struct partition_rest){ 0 };
}

static void rest_take(void *context, const struct redis_value *value)
{
    partition_rest_read(value, context);
}

enum redis_answer partition_rest_look(const struct opening *opening, struct partition_rest *rest)
{
    *rest = (struct partition_rest){ 0 };
    return redis_call(opening->caller, part_key(opening), PARTITION_REST_WORDS(opening->keys),
        opening->timeout_ms, rest_take, rest);
}

static void replid_take(const struct redis_value *value, char out[REDIS_ID_CHARS + 1])
{
    if (value->kind != REDIS_KIND_TEXT || value->text.size > REDIS_ID_CHARS)
        return;
    memcpy(out, value->text.data, value->text.size);
    out[value->text.size] = '\0';
}

static void found_take(void *context, const struct redis_value *value)
{
    struct partition_found *found = context;
    if (value->kind != REDIS_KIND_LIST || value->count != 6)
        return;
    *found = (struct partition_found){ .epoch = (uint32_t)first_number(&value->list[0]),
        .shut = (uint32_t)first_number(&value->list[1]),
        .open = (uint32_t)first_number(&value->list[2]),
        .has_state = value->list[3].kind == REDIS_KIND_TEXT,
        .seq = first_number(&value->list[3]),
        .doubt = (uint32_t)first_number(&value->list[5]) };
    replid_take(&value->list[4], found->replid);
}

enum redis_answer partition_look(const struct opening *opening, struct partition_found *found)
{
    *found = (struct partition_found){ 0 };
    return redis_call(opening->caller, part_key(opening),
        REDIS_WORDS(SPAN("HMGET"), part_key(opening), SPAN("epoch"), SPAN("shut"), SPAN("open"),
            SPAN(IMAGE_SEQ_FIELD), SPAN("replid"), SPAN("doubt")),
        opening->timeout_ms, found_take, found);
}

/* ---- loading ---- */

struct load {
    const struct opening *opening;
    char epoch[NUMBER_BYTES];
    enum script_key key; /* of the fields that wait */
    uint32_t fields;
    char bytes[2 * FIELDS_PER_CALL][VALUE_BYTES_MAX];
    struct span words[5 + 1 + 2 * FIELDS_PER_CALL]; /* EVAL, script, 2, keys, epoch, fields and values */
};

static void load_flush(struct load *load)
{
    const struct opening *opening = load->opening;
    if (load->fields == 0)
        return;
    load->words[4] = opening->keys->names[load->key];
    redis_call_later(opening->caller, part_key(opening),
        (struct redis_words){ load->words, 6 + 2 * load->fields }, opening->timeout_ms);
    load->fields = 0;
}

static struct span copied(struct load *load, uint32_t index, struct span text)
{
    invariant(text.size <= VALUE_BYTES_MAX);
    memcpy(load->bytes[index], text.data, text.size);
    return span_of(load->bytes[index], text.size);
}

/* The epoch that may run is none until the partition is admitted. */
static void field_put(void *context, enum script_key key, struct span field, struct span value)
{
    struct load *load = context;
    if (key == SCRIPT_KEY_PART && span_equal(field, SPAN("epoch")))
        value = SPAN("0");
    if (load->fields == FIELDS_PER_CALL || (load->fields > 0 && load->key != key))
        load_flush(load);
    const uint32_t at = 2 * load->fields++;
    load->key = key;
    load->words[6 + at] = copied(load, at, field);
    load->words[7 + at] = copied(load, at + 1, value);
}

static enum redis_answer clear(const struct opening *opening, struct span epoch)
{
    const struct span *names = opening->keys->names;
    static_assert(SCRIPT_KEYS == 5, "all of them are cleared");
    return redis_call(opening->caller, part_key(opening),
        REDIS_WORDS(SPAN("EVAL"), SPAN(clear_text), SPAN("5"), names[0], names[1], names[2],
            names[3], names[4], epoch),
        opening->timeout_ms, NULL, NULL);
}

static enum redis_answer image_load(
    struct load *load, const struct engine *engine, const struct image_head *head)
{
    const struct opening *opening = load->opening;
    load->words[0] = SPAN("EVAL");
    load->words[1] = SPAN(put_text);
    load->words[2] = SPAN("2");
    load->words[3] = part_key(opening);
    load->words[5] = number_text(head->epoch, load->epoch);
    const enum redis_answer answer = clear(opening, load->words[5]);
    if (answer != REDIS_ANSWER_OK)
        return answer;
    image_write(engine, head, field_put, load);
    load_flush(load);
    return redis_call_wait(opening->caller);
}

enum redis_answer partition_load(
    const struct opening *opening, const struct engine *engine, const struct image_head *head)
{
    struct load *load = calloc(1, sizeof *load); /* 200 kB */
    if (load == NULL)
        return REDIS_ANSWER_FULL;
    load->opening = opening;
    const enum redis_answer answer = image_load(load, engine, head);
    free(load);
    return answer;
}

/* ---- admitting ---- */

/* The script first: whoever finds the epoch finds the script, too. */
enum redis_answer partition_admit(const struct opening *opening, uint32_t epoch, const char *replid,
    char sha[SCRIPT_SHA_DIGITS + 1])
{
    static _Thread_local char bytes[SCRIPT_BYTES_MAX];
    struct text text = text_in(bytes, sizeof bytes);
    invariant(script_write(&text, opening->keys->prefix, epoch) == STATUS_OK);
    script_sha(text_span(&text), sha);
    const enum redis_answer answer = redis_call(opening->caller, part_key(opening),
        REDIS_WORDS(SPAN("SCRIPT"), SPAN("LOAD"), text_span(&text)), opening->timeout_ms, NULL, NULL);
    if (answer != REDIS_ANSWER_OK)
        return answer;
    const struct span *names = opening->keys->names;
    char number[NUMBER_BYTES];
    return redis_call(opening->caller, part_key(opening),
        REDIS_WORDS(SPAN("EVAL"), SPAN(admit_text), SPAN("6"), names[0], names[1], names[2], names[3],
            names[4], opening->keys->rest, number_text(epoch, number), span_from_string(replid)),
        opening->timeout_ms, NULL, NULL);
}
