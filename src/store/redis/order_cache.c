/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/order_cache.h"

#include "base/clock.h"
#include "base/metrics.h"
#include "redis/caller.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_MAX = 64, NUMBER_MAX = 24, FIELDS = 5 };

struct redis_cache {
    struct order_cache base;
    struct redis_caller *caller;
    uint64_t data_id;
    uint64_t rest_until_ms; /* monotonic: it did not answer */
    uint64_t turn_ms;       /* monotonic: the last turn */
    bool unsent;            /* something waits for the next one */
    ticket_number asked;    /* the last get; 0: there was no answer */
    char mark[NUMBER_MAX];  /* what that one saw; "": none */
    bool found;
    struct order_cached cached;
    char json[ORDER_CACHE_JSON_MAX];
};
struct name {
    char bytes[KEY_MAX];
};

COUNTER(drops_lost, "stampede_order_views_drops_lost_total",
    "Order views in Redis that could not be dropped when their order changed.");

/* KEYS: the order's. ARGV: the mark that the reader saw, version, time, user, view, expiry. */
static const char put_script[] =
    "local m, v, a = unpack(redis.call('HMGET', KEYS[1], 'm', 'v', 'a')) "
    "if (m or '') ~= ARGV[1] then return 0 end "
    "if v and (tonumber(v) > tonumber(ARGV[2]) or v == ARGV[2] and tonumber(a) > "
    "tonumber(ARGV[3])) then return 0 end "
    "redis.call('HSET', KEYS[1], 'v', ARGV[2], 'a', ARGV[3], 'u', ARGV[4], 'j', ARGV[5]) "
    "redis.call('PEXPIRE', KEYS[1], ARGV[6]) return 1";
static const char drop_script[] =
    "local t = redis.call('TIME') "
    "redis.call('HDEL', KEYS[1], 'v', 'a', 'u', 'j') "
    "redis.call('HSET', KEYS[1], 'm', t[1] .. string.format('%06d', t[2])) "
    "redis.call('PEXPIRE', KEYS[1], ARGV[1]) return 1";

static struct redis_cache *of(struct order_cache *cache)
{
    return (struct redis_cache *)cache;
}

static struct span name_make(const struct redis_cache *cache, ticket_number ticket, struct name *name)
{
    snprintf(name->bytes, sizeof name->bytes, "st:%016" PRIx64 ":order:{%016" PRIx64 "}",
        cache->data_id, (uint64_t)ticket);
    return span_from_string(name->bytes);
}

static struct span number_write(char bytes[NUMBER_MAX], uint64_t number)
{
    struct text text = text_in(bytes, NUMBER_MAX);
    text_u64(&text, number);
    return text_span(&text);
}

/* A field of our own writing: anything else, and the view counts as not there. */
static bool view_read(struct order_cached *cached, const struct redis_value *fields)
{
    return span_to_u64(fields[1].text, &cached->version) == STATUS_OK
        && span_to_u64(fields[2].text, &cached->read_ms) == STATUS_OK
        && span_to_hex64(fields[3].text, &cached->user) == STATUS_OK && fields[4].text.size > 0
        && fields[4].text.size <= ORDER_CACHE_JSON_MAX;
}

static void taken(void *context, const struct redis_value *value)
{
    struct redis_cache *cache = context;
    bool texts = value->kind == REDIS_KIND_LIST && value->count == FIELDS;
    if (!texts)
        return;
    const struct redis_value *fields = value->list;
    if (fields[0].kind == REDIS_KIND_TEXT && fields[0].text.size < NUMBER_MAX) {
        memcpy(cache->mark, fields[0].text.data, fields[0].text.size);
        cache->mark[fields[0].text.size] = 0;
    }
    for (uint32_t i = 1; i < FIELDS; i++)
        texts = texts && fields[i].kind == REDIS_KIND_TEXT;
    if (!texts || !view_read(&cache->cached, fields))
        return;
    memcpy(cache->json, fields[4].text.data, fields[4].text.size);
    cache->cached.json = span_of(cache->json, fields[4].text.size);
    cache->found = true;
}

static bool get(struct order_cache *base, ticket_number ticket, struct order_cached *cached)
{
    struct redis_cache *cache = of(base);
    struct name name = { { 0 } };
    const struct span key = name_make(cache, ticket, &name);
    cache->asked = 0;
    cache->mark[0] = 0;
    cache->found = false;
    if (clock_monotonic_ms() < cache->rest_until_ms)
        return false;
    const enum redis_answer answer = redis_call(cache->caller, key,
        REDIS_WORDS(SPAN("HMGET"), key, SPAN("m"), SPAN("v"), SPAN("a"), SPAN("u"), SPAN("j")),
        ORDER_CACHE_ASK_MS, taken, cache);
    if (answer == REDIS_ANSWER_OK)
        cache->asked = ticket;
    else if (answer != REDIS_ANSWER_REFUSED) /* which is this key only: somebody else has written it */
        cache->rest_until_ms = clock_monotonic_ms() + ORDER_CACHE_REST_MS;
    if (cache->found)
        *cached = cache->cached;
    return cache->found;
}

static void put(struct order_cache *base, ticket_number ticket, const struct order_cached *cached)
{
    struct redis_cache *cache = of(base);
    struct name name = { { 0 } };
    char version[NUMBER_MAX], read[NUMBER_MAX], user[NUMBER_MAX], keep[NUMBER_MAX];
    struct text user_text = text_in(user, sizeof user);
    const struct span key = name_make(cache, ticket, &name);
    if (cache->asked != ticket || cached->json.size > ORDER_CACHE_JSON_MAX)
        return; /* it is not known under which mark it was read */
    text_hex64(&user_text, cached->user);
    (void)!redis_call_soon(cache->caller, key,
        REDIS_WORDS(SPAN("EVAL"), SPAN(put_script), SPAN("1"), key, span_from_string(cache->mark),
            number_write(version, cached->version), number_write(read, cached->read_ms),
            text_span(&user_text), cached->json, number_write(keep, ORDER_CACHE_KEEP_MS)),
        ORDER_CACHE_SENT_MS); /* lost: it is read from the database again */
    redis_caller_turn(cache->caller);
    cache->asked = 0;
}

static void drop(struct order_cache *base, ticket_number ticket)
{
    struct redis_cache *cache = of(base);
    struct name name = { { 0 } };
    char keep[NUMBER_MAX];
    const struct span key = name_make(cache, ticket, &name);
    enum status status = STATUS_NOT_FOUND;
    if (ticket != 0)
        status = redis_call_soon(cache->caller, key,
            REDIS_WORDS(SPAN("EVAL"), SPAN(drop_script), SPAN("1"), key,
                number_write(keep, ORDER_CACHE_KEEP_MS)),
            ORDER_CACHE_SENT_MS);
    cache->unsent = true;
    if (status != STATUS_OK)
        metric_add(&drops_lost, 1);
}

static void turn(struct order_cache *base)
{
    struct redis_cache *cache = of(base);
    const uint64_t now = clock_monotonic_ms();
    if (!cache->unsent && now < cache->turn_ms + ORDER_CACHE_TURN_MS)
        return;
    redis_caller_turn(cache->caller);
    cache->unsent = false;
    cache->turn_ms = now;
}

static void cache_close(struct order_cache *base)
{
    struct redis_cache *cache = of(base);
    redis_caller_close(cache->caller);
    free(cache);
}

enum status order_cache_open(
    struct order_cache **out, const struct redis_client_config *config, uint64_t data_id)
{
    static const struct order_cache_ops ops = {
        .get = get, .put = put, .drop = drop, .turn = turn, .close = cache_close
    };
    struct redis_cache *cache = calloc(1, sizeof *cache);
    invariant(cache != NULL);
    *out = &cache->base;
    cache->base.ops = &ops;
    cache->data_id = data_id;
    return redis_caller_open(&cache->caller, config);
}
