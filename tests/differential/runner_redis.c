/* SPDX-License-Identifier: Apache-2.0 */
/* tests/differential/runner_redis.c: the script in a real server: loaded once, then called by EVALSHA. */
#include "tests/differential/runner.h"

#include <assert.h>
#include <hiredis.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { CONNECT_S = 10 };

struct redis_runner {
    struct runner runner; /* first: the one is the other */
    redisContext *context;
    char sha[SCRIPT_SHA_DIGITS + 1];
    char keys[SCRIPT_KEYS][SCRIPT_PREFIX_MAX + 8];
    struct map hashes[SCRIPT_HASHES]; /* as they were when they were asked for */
    redisReply *last;                 /* texts of the reply before live here */
    uint32_t puts;                    /* sent, not answered yet */
    char plain_sha[SCRIPT_SHA_DIGITS + 1];
};

/* A server that is gone is no difference: it ends the test. */
static redisReply *answered(struct redis_runner *runner, redisReply *reply)
{
    if (reply != NULL)
        return reply;
    fprintf(stderr, "differential: Redis: %s\n", runner->context->errstr);
    exit(1);
}

static redisReply *must(struct redis_runner *runner, redisReply *reply, int type)
{
    answered(runner, reply);
    if (reply->type == type)
        return reply;
    fprintf(stderr, "differential: Redis answers with type %d instead of %d: %s\n", reply->type,
        type, reply->str == NULL ? "" : reply->str);
    exit(1);
}

static void puts_flush(struct redis_runner *runner)
{
    for (; runner->puts > 0; runner->puts--) {
        void *reply = NULL;
        redisGetReply(runner->context, &reply);
        freeReplyObject(must(runner, reply, REDIS_REPLY_INTEGER));
    }
}

static void redis_put(struct runner *base, enum script_key key, struct span field, struct span value)
{
    struct redis_runner *runner = (struct redis_runner *)base;
    const char *words[] = { "HSET", runner->keys[key], field.data, value.data };
    const size_t sizes[] = { 4, strlen(runner->keys[key]), field.size, value.size };
    redisAppendCommandArgv(runner->context, 4, words, sizes);
    runner->puts++;
}

/* Those of the door; to be freed. */
static redisReply *door_names(struct redis_runner *runner)
{
    puts_flush(runner);
    return must(runner, redisCommand(runner->context, "KEYS %s:[sw]:*", RUNNER_PREFIX), REDIS_REPLY_ARRAY);
}

static uint64_t redis_door_keys(struct runner *base)
{
    redisReply *names = door_names((struct redis_runner *)base);
    const uint64_t count = names->elements;
    freeReplyObject(names);
    return count;
}

static void redis_clear(struct runner *base)
{
    struct redis_runner *runner = (struct redis_runner *)base;
    const char *words[SCRIPT_KEYS + 1] = { "DEL" };
    for (uint32_t key = 0; key < SCRIPT_KEYS; key++)
        words[key + 1] = runner->keys[key];
    puts_flush(runner);
    freeReplyObject(must(runner, redisCommandArgv(runner->context, SCRIPT_KEYS + 1, words, NULL),
        REDIS_REPLY_INTEGER));
    redisReply *names = door_names(runner);
    for (size_t i = 0; i < names->elements; i++)
        freeReplyObject(must(runner,
            redisCommand(runner->context, "DEL %s", names->element[i]->str), REDIS_REPLY_INTEGER));
    freeReplyObject(names);
}

static void wrong(struct reply *reply, const char *what)
{
    snprintf(reply->wrong, sizeof reply->wrong, "%s", what);
}

static void redis_call_script(
    struct runner *base, const struct span *texts, uint32_t count, struct reply *reply)
{
    struct redis_runner *runner = (struct redis_runner *)base;
    enum { BEFORE = 3 + SCRIPT_KEYS };
    const char *words[BEFORE + RUNNER_WORDS_MAX] = { "EVALSHA", runner->sha, "5" };
    size_t sizes[BEFORE + RUNNER_WORDS_MAX] = { 7, SCRIPT_SHA_DIGITS, 1 };
    static_assert(SCRIPT_KEYS == 5, "the third word says how many keys follow");
    for (uint32_t key = 0; key < SCRIPT_KEYS; key++) {
        words[3 + key] = runner->keys[key];
        sizes[3 + key] = strlen(runner->keys[key]);
    }
    invariant(count <= RUNNER_WORDS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        words[BEFORE + i] = texts[i].data;
        sizes[BEFORE + i] = texts[i].size;
    }
    puts_flush(runner);
    if (runner->last != NULL)
        freeReplyObject(runner->last);
    runner->last =
        answered(runner, redisCommandArgv(runner->context, (int)(BEFORE + count), words, sizes));
    *reply = (struct reply){ .count = (uint32_t)runner->last->elements };
    if (runner->last->type != REDIS_REPLY_ARRAY || runner->last->elements > RUNNER_LINES_MAX) {
        wrong(reply,
            runner->last->type == REDIS_REPLY_ERROR ? runner->last->str : "the reply is no array");
        return;
    }
    for (size_t i = 0; i < runner->last->elements; i++) {
        const redisReply *part = runner->last->element[i];
        if (part->type != REDIS_REPLY_STRING)
            wrong(reply, "a part of the reply is no text");
        reply->lines[i] = span_of(part->str, part->len);
    }
}

static const struct map *redis_hash(struct runner *base, enum script_key key)
{
    struct redis_runner *runner = (struct redis_runner *)base;
    struct map *map = &runner->hashes[key];
    puts_flush(runner);
    map_clear(map);
    redisReply *all = must(
        runner, redisCommand(runner->context, "HGETALL %s", runner->keys[key]), REDIS_REPLY_ARRAY);
    for (size_t i = 0; i + 1 < all->elements; i += 2)
        map_put(map, span_of(all->element[i]->str, all->element[i]->len),
            span_of(all->element[i + 1]->str, all->element[i + 1]->len));
    freeReplyObject(all);
    return map;
}

static void text_copy(char *out, size_t room, const redisReply *reply)
{
    snprintf(out, room, "%s", reply->str);
}

static void redis_entry(struct runner *base, struct entry *entry)
{
    struct redis_runner *runner = (struct redis_runner *)base;
    const char *log = runner->keys[SCRIPT_KEY_LOG];
    puts_flush(runner);
    redisReply *length =
        must(runner, redisCommand(runner->context, "XLEN %s", log), REDIS_REPLY_INTEGER);
    entry->entries = (uint64_t)length->integer;
    entry->lines[0] = 0;
    freeReplyObject(length);
    redisReply *last = must(
        runner, redisCommand(runner->context, "XREVRANGE %s + - COUNT 1", log), REDIS_REPLY_ARRAY);
    if (last->elements == 1 && last->element[0]->element[1]->elements == 6) {
        redisReply *const *fields = last->element[0]->element[1]->element;
        text_copy(entry->id, sizeof entry->id, last->element[0]->element[0]);
        text_copy(entry->epoch, sizeof entry->epoch, fields[1]);
        text_copy(entry->time, sizeof entry->time, fields[3]);
        text_copy(entry->lines, sizeof entry->lines, fields[5]);
    }
    freeReplyObject(last);
}

static void redis_end(struct runner *base)
{
    struct redis_runner *runner = (struct redis_runner *)base;
    for (uint32_t key = 0; key < SCRIPT_HASHES; key++)
        map_clear(&runner->hashes[key]);
    if (runner->last != NULL)
        freeReplyObject(runner->last);
    redisFree(runner->context);
    free(runner);
}

/* What the server's processor has done so far. */
static double redis_cpu_us(struct runner *base)
{
    struct redis_runner *runner = (struct redis_runner *)base;
    static const char *const names[] = { "used_cpu_sys:", "used_cpu_user:" };
    double seconds = 0;
    redisReply *info = must(runner, redisCommand(runner->context, "INFO cpu"), REDIS_REPLY_STRING);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *at = strstr(info->str, names[i]);
        seconds += at == NULL ? 0 : strtod(at + strlen(names[i]), NULL);
    }
    freeReplyObject(info);
    return seconds * 1e6;
}

static void plain_load(struct redis_runner *runner)
{
    char text[4096];
    FILE *file = fopen("bench/peers/deduct.lua", "re");
    const size_t size = file == NULL ? 0 : fread(text, 1, sizeof text, file);
    if (file != NULL)
        fclose(file);
    if (size == 0 || size == sizeof text) {
        fprintf(stderr,
            "differential: can't read bench/peers/deduct.lua; run it at the top of the sources\n");
        exit(1);
    }
    redisReply *sha =
        must(runner, redisCommand(runner->context, "SCRIPT LOAD %b", text, size), REDIS_REPLY_STRING);
    snprintf(runner->plain_sha, sizeof runner->plain_sha, "%s", sha->str);
    freeReplyObject(sha);
    freeReplyObject(must(runner,
        redisCommand(runner->context, "MSET plain:full 1000000000 plain:empty 0"), REDIS_REPLY_STATUS));
}

/* All are sent before the first answer is read, as our calls have all their purchases in one. */
static uint32_t redis_plain(struct runner *base, bool sold_out, uint64_t first_user, uint32_t count)
{
    struct redis_runner *runner = (struct redis_runner *)base;
    uint32_t won = 0;
    puts_flush(runner);
    if (runner->plain_sha[0] == 0)
        plain_load(runner);
    for (uint32_t i = 0; i < count; i++)
        redisAppendCommand(runner->context, "EVALSHA %s 2 %s plain:users %016" PRIx64,
            runner->plain_sha, sold_out ? "plain:empty" : "plain:full", first_user + i);
    for (uint32_t i = 0; i < count; i++) {
        void *answer = NULL;
        redisGetReply(runner->context, &answer);
        redisReply *reply = must(runner, answer, REDIS_REPLY_INTEGER);
        won += reply->integer == 1;
        freeReplyObject(reply);
    }
    return won;
}

static uint64_t redis_bytes(struct runner *base, enum script_key key)
{
    struct redis_runner *runner = (struct redis_runner *)base;
    redisReply *reply =
        must(runner, redisCommand(runner->context, "MEMORY USAGE %s SAMPLES 0", runner->keys[key]),
            REDIS_REPLY_INTEGER);
    const uint64_t bytes = (uint64_t)reply->integer;
    freeReplyObject(reply);
    return bytes;
}

static bool server_connect(struct redis_runner *runner, const char *address)
{
    char host[64] = "";
    uint32_t port = 0;
    struct span rest = span_from_string(address), name = SPAN_NONE;
    if (!span_take_until(&rest, ':', &name) || name.size >= sizeof host
        || span_to_u32(rest, &port) != STATUS_OK) {
        fprintf(stderr,
            "differential: STAMPEDE_TEST_REDIS must be HOST:PORT (tools/with-redis sets it)\n");
        return false;
    }
    memcpy(host, name.data, name.size);
    runner->context = redisConnectWithTimeout(host, (int)port, (struct timeval){ .tv_sec = CONNECT_S });
    if (runner->context != NULL && runner->context->err == 0)
        return true;
    fprintf(stderr, "differential: no Redis at %s\n", address);
    return false;
}

struct runner *runner_redis_open(const char *address, struct span script)
{
    struct redis_runner *runner = calloc(1, sizeof *runner);
    invariant(runner != NULL);
    runner->runner = (struct runner){ redis_clear, redis_put, redis_call_script, redis_hash,
        redis_entry, redis_door_keys, redis_cpu_us, redis_plain, redis_bytes, redis_end };
    if (!server_connect(runner, address)) {
        free(runner);
        return NULL;
    }
    for (uint32_t key = 0; key < SCRIPT_KEYS; key++)
        snprintf(runner->keys[key], sizeof runner->keys[key], "%s%s", RUNNER_PREFIX,
            script_key_names[key]);
    script_sha(script, runner->sha);
    redisReply *sha = must(runner,
        redisCommand(runner->context, "SCRIPT LOAD %b", script.data, script.size), REDIS_REPLY_STRING);
    if (strcmp(sha->str, runner->sha) != 0) {
        fprintf(stderr, "differential: Redis calls the script %s, we %s\n", sha->str, runner->sha);
        exit(1);
    }
    freeReplyObject(sha);
    return &runner->runner;
}
