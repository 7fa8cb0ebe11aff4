/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/cluster/sim_redis.c: two servers, what one writes and the other hears of it. */
#include "tests/simulation/cluster/sim_redis_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the master wrote and the replica has not got yet. Writes of one script go together. */
struct write {
    struct write *next;
    uint64_t script;
    uint32_t count;
    struct span words[];
};
static struct write *first, **end = &first;
static uint64_t script_now;

static void writes_forget(void)
{
    for (struct write *next; first != NULL; first = next) {
        next = first->next;
        free(first);
    }
    end = &first;
}

static void write_keep(struct redis_words words)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < words.count; i++)
        bytes += words.list[i].size;
    struct write *write = malloc(sizeof *write + words.count * sizeof *write->words + bytes);
    invariant(write != NULL);
    *write = (struct write){ .script = script_now, .count = words.count };
    char *at = (char *)&write->words[words.count];
    for (uint32_t i = 0; i < words.count; i++) {
        if (words.list[i].size > 0)
            memcpy(at, words.list[i].data, words.list[i].size);
        write->words[i] = span_of(at, words.list[i].size);
        at += words.list[i].size;
    }
    *end = write;
    end = &write->next;
}

bool sim_server_write(struct sim_redis *redis, uint8_t server, struct redis_words words,
    int64_t *number, const char **error)
{
    if (!sim_data_write(&redis->servers[server].data, words, number, error))
        return false;
    if (server == redis->master && redis->synced)
        write_keep(words);
    return true;
}

static uint8_t other(const struct sim_redis *redis)
{
    return (uint8_t)(1 - redis->master);
}

void sim_redis_replicate(struct sim_redis *redis, uint32_t writes)
{
    struct sim_server *replica = &redis->servers[other(redis)];
    int64_t number;
    const char *error;
    if (!replica->alive || replica->master)
        return;
    if (!redis->synced) {
        sim_data_copy(&replica->data, &redis->servers[redis->master].data);
        memcpy(replica->replid, redis->servers[redis->master].replid, sizeof replica->replid);
        redis->synced = true;
        writes_forget();
        return;
    }
    while (first != NULL && writes-- > 0) {
        const uint64_t script = first->script;
        while (first != NULL && first->script == script) {
            struct write *write = first;
            (void)sim_data_write(&replica->data, (struct redis_words){ write->words, write->count },
                &number, &error);
            first = write->next;
            free(write);
        }
    }
    if (first == NULL)
        end = &first;
}

/* ---- what happens to servers ---- */

static void replid_change(struct sim_redis *redis, struct sim_server *server)
{
    snprintf(server->replid, sizeof server->replid, "%040x", ++redis->changes);
}

static void process_start(struct sim_redis *redis, struct sim_server *server)
{
    sim_data_clear(&server->data);
    server->script_count = 0;
    server->process++;
    server->alive = true;
    replid_change(redis, server);
}

void sim_redis_start(struct sim_redis *redis, struct random *random)
{
    *redis = (struct sim_redis){ .random = random };
    for (uint32_t i = 0; i < SIM_SERVERS; i++)
        process_start(redis, &redis->servers[i]);
    redis->servers[0].master = true;
    writes_forget();
    sim_redis_replicate(redis, 0);
}

void sim_redis_stop(struct sim_redis *redis)
{
    writes_forget();
    for (uint32_t i = 0; i < SIM_SERVERS; i++)
        sim_data_clear(&redis->servers[i].data);
}

static void promote(struct sim_redis *redis)
{
    redis->master = other(redis);
    redis->servers[redis->master].master = true;
    replid_change(redis, &redis->servers[redis->master]);
    redis->synced = false;
    writes_forget();
}

bool sim_redis_promote(struct sim_redis *redis, bool kill)
{
    const struct sim_server *replica = &redis->servers[other(redis)];
    struct sim_server *old = &redis->servers[redis->master];
    if (!replica->alive || replica->master || !redis->synced)
        return false;
    if (kill)
        old->alive = old->master = false;
    promote(redis);
    return true;
}

bool sim_redis_hand_over(struct sim_redis *redis)
{
    const struct sim_server *replica = &redis->servers[other(redis)];
    struct sim_server *old = &redis->servers[redis->master];
    if (!replica->alive || replica->master || !redis->synced)
        return false;
    sim_redis_replicate(redis, UINT32_MAX);
    old->master = false;
    promote(redis);
    return true;
}

void sim_redis_restart(struct sim_redis *redis)
{
    process_start(redis, &redis->servers[redis->master]);
    redis->synced = false;
    writes_forget();
}

void sim_redis_flush_all(struct sim_redis *redis)
{
    const struct span word = SPAN("flushall");
    int64_t number;
    const char *error;
    script_now++;
    (void)sim_server_write(redis, redis->master, (struct redis_words){ &word, 1 }, &number, &error);
}

void sim_redis_flush_scripts(struct sim_redis *redis)
{
    redis->servers[redis->master].script_count = 0;
}

void sim_redis_forget_script(struct sim_redis *redis, struct span text)
{
    struct sim_server *server = &redis->servers[redis->master];
    const int script = sim_script_load(text);
    for (uint32_t i = 0; i < server->script_count; i++)
        if (server->scripts[i] == script)
            server->scripts[i--] = server->scripts[--server->script_count];
}

/* The last word of an item's field but seven is what is free in the first channel: one more, or one fewer. */
bool sim_redis_tamper(struct sim_redis *redis, struct span key, struct span field)
{
    const struct map *map = sim_redis_hash(redis, key);
    struct span value;
    char text[256];
    unsigned long long numbers[20];
    int64_t number;
    const char *error;
    if (map == NULL || !map_get(map, field, &value) || value.size >= sizeof text)
        return false;
    memcpy(text, value.data, value.size);
    text[value.size] = '\0';
    char *at = text;
    for (uint32_t i = 0; i < 20; i++)
        numbers[i] = strtoull(at, &at, 10);
    const bool more = numbers[12] == 0 || random_below(redis->random, 2) == 0;
    numbers[12] = more ? numbers[12] + 1 : numbers[12] - 1;
    size_t used = 0;
    for (uint32_t i = 0; i < 20; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, i == 0 ? "%llu" : " %llu", numbers[i]);
    const struct span words[] = { SPAN("hset"), key, field, span_of(text, used) };
    script_now++;
    return sim_server_write(redis, redis->master, (struct redis_words){ words, 4 }, &number, &error);
}

void sim_redis_rejoin(struct sim_redis *redis)
{
    struct sim_server *replica = &redis->servers[other(redis)];
    if (!replica->alive)
        process_start(redis, replica);
    if (!replica->master)
        return;
    replica->master = false; /* what it wrote alone is forgotten with the next copy */
    redis->synced = false;
}

const struct map *sim_redis_hash(const struct sim_redis *redis, struct span name)
{
    const struct sim_key *key = sim_data_key(&redis->servers[redis->master].data, name);
    return key == NULL ? NULL : &key->hash;
}

/* ---- replies ---- */

static void *piece(struct sim_reply *reply, size_t bytes)
{
    invariant(reply->count < SIM_REPLY_PIECES);
    void *made = calloc(1, bytes + 1);
    invariant(made != NULL);
    reply->pieces[reply->count++] = made;
    return made;
}

struct span sim_reply_text(struct sim_reply *reply, struct span text)
{
    char *copy = piece(reply, text.size);
    if (text.size > 0)
        memcpy(copy, text.data, text.size);
    return span_of(copy, text.size);
}

struct redis_value *sim_reply_list(struct sim_reply *reply, uint32_t count)
{
    return piece(reply, count * sizeof(struct redis_value));
}

void sim_reply_error(struct sim_reply *reply, const char *text)
{
    reply->value = (struct redis_value){ .kind = REDIS_KIND_ERROR };
    reply->value.text = sim_reply_text(reply, span_from_string(text));
}

void sim_reply_free(struct sim_reply *reply)
{
    while (reply->count > 0)
        free(reply->pieces[--reply->count]);
}

/* ---- requests ---- */

static void do_hmget(const struct sim_server *server, struct redis_words words, struct sim_reply *reply)
{
    const struct sim_key *key = sim_data_key(&server->data, words.list[1]);
    const uint32_t count = words.count - 2;
    struct redis_value *list = sim_reply_list(reply, count);
    for (uint32_t i = 0; i < count; i++) {
        struct span value;
        if (key == NULL || !map_get(&key->hash, words.list[i + 2], &value))
            continue; /* nil */
        list[i].kind = REDIS_KIND_TEXT;
        list[i].text = sim_reply_text(reply, value);
    }
    reply->value = (struct redis_value){ .kind = REDIS_KIND_LIST, .count = count, .list = list };
}

static void entry_write(
    struct sim_reply *reply, const struct sim_stream_entry *entry, struct redis_value *value)
{
    static const struct span names[] = { SPAN("e"), SPAN("t"), SPAN("r") };
    struct redis_value *pair = sim_reply_list(reply, 2), *fields = sim_reply_list(reply, 6);
    const char *at = entry->bytes;
    char id[32];
    snprintf(id, sizeof id, "%" PRIu64 "-0", entry->seq);
    for (uint32_t i = 0; i < 3; i++) {
        fields[2 * i] = (struct redis_value){ .kind = REDIS_KIND_TEXT, .text = names[i] };
        fields[2 * i + 1].kind = REDIS_KIND_TEXT;
        fields[2 * i + 1].text = sim_reply_text(reply, span_from_string(at));
        at += strlen(at) + 1;
    }
    pair[0].kind = REDIS_KIND_TEXT;
    pair[0].text = sim_reply_text(reply, span_from_string(id));
    pair[1] = (struct redis_value){ .kind = REDIS_KIND_LIST, .count = 6, .list = fields };
    *value = (struct redis_value){ .kind = REDIS_KIND_LIST, .count = 2, .list = pair };
}

/* XRANGE key (id + COUNT n. As another queue would do it, entries may come again, and the last ones later. */
static void do_xrange(struct sim_redis *redis, const struct sim_server *server,
    struct redis_words words, struct sim_reply *reply)
{
    const struct sim_key *key = sim_data_key(&server->data, words.list[1]);
    const uint64_t after = strtoull(words.list[2].data + 1, NULL, 10);
    uint32_t from = 0, count = 0;
    while (key != NULL && from < key->entry_count && key->entries[from].seq <= after)
        from++;
    if (key != NULL)
        count = key->entry_count - from;
    if (redis->repeats && count > 1 && random_below(redis->random, 4) == 0)
        count = 1 + (uint32_t)random_below(redis->random, count);
    if (redis->repeats && from > 0 && random_below(redis->random, 4) == 0) {
        from--;
        count++;
    }
    if (count > 32)
        count = 32;
    struct redis_value *list = sim_reply_list(reply, count);
    for (uint32_t i = 0; i < count; i++)
        entry_write(reply, &key->entries[from + i], &list[i]);
    reply->value = (struct redis_value){ .kind = REDIS_KIND_LIST, .count = count, .list = list };
}

static bool script_is_there(const struct sim_server *server, int script)
{
    for (uint32_t i = 0; i < server->script_count; i++)
        if (server->scripts[i] == script)
            return true;
    return false;
}

static void script_put(struct sim_server *server, int script)
{
    if (script_is_there(server, script))
        return;
    invariant(server->script_count < SIM_SCRIPTS_MAX);
    server->scripts[server->script_count++] = script;
}

/* EVAL text n keys arguments, EVALSHA sha n keys arguments */
static void do_eval(struct sim_redis *redis, uint8_t at, struct redis_words words, struct sim_reply *reply)
{
    const bool by_sha = span_equal(words.list[0], SPAN("EVALSHA"));
    const int script = by_sha ? sim_script_find(words.list[1]) : sim_script_load(words.list[1]);
    uint64_t keys = 0;
    invariant(span_to_u64(words.list[2], &keys) == STATUS_OK && keys + 3 <= words.count);
    if (by_sha && (script < 0 || !script_is_there(&redis->servers[at], script))) {
        sim_reply_error(reply, "NOSCRIPT No matching script. Please use EVAL.");
        return;
    }
    script_now++;
    sim_script_run(redis, at, script, (struct redis_words){ words.list + 3, (uint32_t)keys },
        (struct redis_words){ words.list + 3 + keys, words.count - 3 - (uint32_t)keys }, reply);
}

void sim_redis_do(struct sim_redis *redis, uint8_t at, struct redis_words words, struct sim_reply *reply)
{
    struct sim_server *server = &redis->servers[at];
    const struct span name = words.list[0];
    invariant(server->alive);
    reply->value = (struct redis_value){ .kind = REDIS_KIND_NUMBER };
    if (!server->master) {
        sim_reply_error(reply, "READONLY You can't write against a read only replica.");
    } else if (span_equal(name, SPAN("EVAL")) || span_equal(name, SPAN("EVALSHA"))) {
        do_eval(redis, at, words, reply);
    } else if (span_equal(name, SPAN("HMGET"))) {
        do_hmget(server, words, reply);
    } else if (span_equal(name, SPAN("XRANGE"))) {
        do_xrange(redis, server, words, reply);
    } else if (span_equal(name, SPAN("XTRIM"))) {
        const char *error;
        struct span copy[8];
        invariant(words.count <= 8);
        memcpy(copy, words.list, words.count * sizeof *copy);
        copy[0] = SPAN("xtrim");
        script_now++;
        (void)sim_server_write(
            redis, at, (struct redis_words){ copy, words.count }, &reply->value.number, &error);
    } else if (span_equal(name, SPAN("SCRIPT"))) {
        script_put(server, sim_script_load(words.list[2]));
    } else {
        invariant(span_equal(name, SPAN("SPUBLISH"))); /* whoever sends it delivers it */
    }
}
