/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/cluster/sim_redis_data.c: the keys of a server, and the commands that change them. */
#include "tests/simulation/cluster/sim_redis_parts.h"

#include <stdlib.h>
#include <string.h>

struct sim_key *sim_data_key(const struct sim_data *data, struct span name)
{
    for (uint32_t i = 0; i < data->count; i++)
        if (span_equal(span_from_string(data->keys[i]->name), name))
            return data->keys[i];
    return NULL;
}

static struct sim_key *key_make(struct sim_data *data, struct span name)
{
    struct sim_key *key = sim_data_key(data, name);
    if (key != NULL)
        return key;
    key = calloc(1, sizeof *key);
    invariant(key != NULL && data->count < SIM_KEYS_MAX && name.size < sizeof key->name);
    memcpy(key->name, name.data, name.size);
    data->keys[data->count++] = key;
    return key;
}

static void entries_cut(struct sim_key *key, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(key->entries[i].bytes);
    key->entry_count -= count;
    if (key->entry_count > 0)
        memmove(key->entries, key->entries + count, key->entry_count * sizeof *key->entries);
}

static void key_free(struct sim_key *key)
{
    entries_cut(key, key->entry_count);
    map_clear(&key->hash);
    free(key->entries);
    free(key);
}

static int64_t key_remove(struct sim_data *data, struct span name)
{
    for (uint32_t i = 0; i < data->count; i++) {
        if (!span_equal(span_from_string(data->keys[i]->name), name))
            continue;
        key_free(data->keys[i]);
        data->keys[i] = data->keys[--data->count];
        return 1;
    }
    return 0;
}

void sim_data_clear(struct sim_data *data)
{
    while (data->count > 0)
        key_free(data->keys[--data->count]);
}

static void entry_add(struct sim_key *key, uint64_t seq, const struct span texts[3])
{
    if (key->entry_count == key->entry_room) {
        key->entry_room = key->entry_room == 0 ? 16 : 2 * key->entry_room;
        key->entries = realloc(key->entries, key->entry_room * sizeof *key->entries);
        invariant(key->entries != NULL);
    }
    char *bytes = malloc(texts[0].size + texts[1].size + texts[2].size + 3), *at = bytes;
    invariant(bytes != NULL);
    for (uint32_t i = 0; i < 3; i++) {
        memcpy(at, texts[i].data, texts[i].size);
        at += texts[i].size;
        *at++ = '\0';
    }
    key->entries[key->entry_count++] = (struct sim_stream_entry){ seq, bytes };
    key->last_seq = seq;
}

void sim_data_copy(struct sim_data *to, const struct sim_data *from)
{
    sim_data_clear(to);
    for (uint32_t i = 0; i < from->count; i++) {
        const struct sim_key *key = from->keys[i];
        struct sim_key *made = key_make(to, span_from_string(key->name));
        struct span field, value;
        for (size_t at = 0; map_next(&key->hash, &at, &field, &value);)
            map_put(&made->hash, field, value);
        for (uint32_t n = 0; n < key->entry_count; n++) {
            const char *bytes = key->entries[n].bytes;
            const struct span epoch = span_from_string(bytes);
            const struct span time = span_from_string(bytes + epoch.size + 1);
            const struct span lines = span_from_string(bytes + epoch.size + time.size + 2);
            entry_add(made, key->entries[n].seq, (const struct span[]){ epoch, time, lines });
        }
        made->last_seq = key->last_seq;
    }
}

/* ---- commands ---- */

static bool id_read(struct span id, uint64_t *seq)
{
    struct span number = SPAN_NONE;
    return span_take_until(&id, '-', &number) && span_equal(id, SPAN("0"))
        && span_to_u64(number, seq) == STATUS_OK;
}

static bool hset(struct sim_data *data, struct redis_words words, int64_t *number)
{
    struct map *map = &key_make(data, words.list[1])->hash;
    const size_t before = map->count;
    for (uint32_t i = 2; i + 1 < words.count; i += 2)
        map_put(map, words.list[i], words.list[i + 1]);
    *number = (int64_t)(map->count - before);
    return true;
}

static bool hdel(struct sim_data *data, struct redis_words words, int64_t *number)
{
    struct sim_key *key = sim_data_key(data, words.list[1]);
    *number = key != NULL && map_remove(&key->hash, words.list[2]);
    return true;
}

/* XADD key id e EPOCH t TIME r LINES. An id that is not above the last one is an error, as in Redis. */
static bool xadd(struct sim_data *data, struct redis_words words, const char **error)
{
    uint64_t seq = 0;
    struct sim_key *key = key_make(data, words.list[1]);
    invariant(words.count == 9 && id_read(words.list[2], &seq));
    *error = "ERR The ID specified in XADD is equal or smaller than the target stream top item";
    if (seq <= key->last_seq)
        return false;
    entry_add(key, seq, (const struct span[]){ words.list[4], words.list[6], words.list[8] });
    return true;
}

/* XTRIM key MINID = id */
static bool xtrim(struct sim_data *data, struct redis_words words, int64_t *number)
{
    struct sim_key *key = sim_data_key(data, words.list[1]);
    uint64_t least = 0;
    uint32_t old = 0;
    invariant(words.count == 5 && id_read(words.list[4], &least));
    while (key != NULL && old < key->entry_count && key->entries[old].seq < least)
        old++;
    if (old > 0)
        entries_cut(key, old);
    *number = old;
    return true;
}

bool sim_data_write(struct sim_data *data, struct redis_words words, int64_t *number, const char **error)
{
    const struct span name = words.list[0];
    *number = 0;
    if (span_equal(name, SPAN("hset")))
        return hset(data, words, number);
    if (span_equal(name, SPAN("hdel")))
        return hdel(data, words, number);
    if (span_equal(name, SPAN("xadd")))
        return xadd(data, words, error);
    if (span_equal(name, SPAN("xtrim")))
        return xtrim(data, words, number);
    if (span_equal(name, SPAN("persist")))
        return true; /* nothing expires here */
    if (span_equal(name, SPAN("flushall"))) {
        sim_data_clear(data);
        return true;
    }
    invariant(span_equal(name, SPAN("unlink")));
    for (uint32_t i = 1; i < words.count; i++)
        *number += key_remove(data, words.list[i]);
    return true;
}
