/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/cluster/sim_redis_lua.c: scripts. One Lua runs those of all servers, since a script keeps
 * nothing between two calls; a text is compiled once in a run of the program. */
#include "inventory/redis/script.h"
#include "tests/differential/lua_host.h"
#include "tests/simulation/cluster/sim_redis_parts.h"
#include "tests/simulation/cluster/tasks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXTS_MAX = 4096, WORDS_MAX = 512 };
static struct {
    char sha[SCRIPT_SHA_DIGITS + 1];
    int place;
} texts[TEXTS_MAX];
static uint32_t text_count;

static lua_State *lua;
static struct sim_redis *running; /* whose script runs, and where */
static uint8_t running_at;

static const struct map *hash_of(void)
{
    static const struct map none;
    const struct sim_key *key =
        sim_data_key(&running->servers[running_at].data, lua_host_argument(lua, 2));
    return key == NULL ? &none : &key->hash;
}

static void push_field(const struct map *map, struct span field)
{
    struct span value;
    if (map_get(map, field, &value))
        lua_pushlstring(lua, value.data, value.size);
    else
        lua_pushboolean(lua, 0);
}

static int call_hget(lua_State *state, int count)
{
    invariant(count == 3);
    push_field(hash_of(), lua_host_argument(state, 3));
    return 1;
}

static int call_hmget(lua_State *state, int count)
{
    const struct map *map = hash_of();
    lua_createtable(state, count - 2, 0);
    for (int i = 3; i <= count; i++) {
        push_field(map, lua_host_argument(state, i));
        lua_rawseti(state, -2, i - 2);
    }
    return 1;
}

static int call_write(lua_State *state, int count)
{
    struct span words[WORDS_MAX];
    const char *error = NULL;
    int64_t number;
    invariant(count <= WORDS_MAX);
    for (int i = 0; i < count; i++)
        words[i] = lua_host_argument(state, i + 1);
    if (!sim_server_write(
            running, running_at, (struct redis_words){ words, (uint32_t)count }, &number, &error))
        return luaL_error(state, "%s", error);
    lua_pushnumber(state, (lua_Number)number);
    return 1;
}

static int call_time(lua_State *state, int count)
{
    char text[24];
    (void)count;
    lua_createtable(state, 2, 0);
    snprintf(text, sizeof text, "%" PRIu64, sim_now_ms / 1000);
    lua_pushstring(state, text);
    lua_rawseti(state, -2, 1);
    snprintf(text, sizeof text, "%" PRIu64, sim_now_ms % 1000 * 1000);
    lua_pushstring(state, text);
    lua_rawseti(state, -2, 2);
    return 1;
}

static const struct lua_host_command commands[] = { { "hget", call_hget }, { "hmget", call_hmget },
    { "hset", call_write }, { "hdel", call_write }, { "xadd", call_write },
    { "unlink", call_write }, { "persist", call_write }, { "time", call_time }, { NULL, NULL } };

int sim_script_find(struct span sha)
{
    for (uint32_t i = 0; i < text_count; i++)
        if (span_equal(span_from_string(texts[i].sha), sha))
            return (int)i;
    return -1;
}

int sim_script_load(struct span text)
{
    char sha[SCRIPT_SHA_DIGITS + 1];
    script_sha(text, sha);
    const int known = sim_script_find(span_from_string(sha));
    if (known >= 0)
        return known;
    if (lua == NULL)
        lua = lua_host_open(commands, NULL);
    invariant(text_count < TEXTS_MAX);
    memcpy(texts[text_count].sha, sha, sizeof sha);
    texts[text_count].place = lua_host_load(lua, text);
    return (int)text_count++;
}

/* ---- replies ---- */

static struct span text_of(int index)
{
    size_t size = 0;
    const char *data = lua_tolstring(lua, index, &size);
    return span_of(data, size);
}

static void table_read(struct sim_reply *reply)
{
    lua_getfield(lua, 1, "err");
    if (!lua_isnil(lua, -1)) {
        reply->value = (struct redis_value){ .kind = REDIS_KIND_ERROR };
        reply->value.text = sim_reply_text(reply, text_of(-1));
        return;
    }
    lua_pop(lua, 1);
    const uint32_t count = (uint32_t)lua_objlen(lua, 1);
    struct redis_value *list = sim_reply_list(reply, count);
    for (uint32_t i = 0; i < count; i++) {
        lua_rawgeti(lua, 1, (int)i + 1);
        list[i].kind = REDIS_KIND_TEXT;
        list[i].text = sim_reply_text(reply, text_of(-1));
        lua_pop(lua, 1);
    }
    reply->value = (struct redis_value){ .kind = REDIS_KIND_LIST, .count = count, .list = list };
}

void sim_script_run(struct sim_redis *redis, uint8_t server, int script, struct redis_words keys,
    struct redis_words arguments, struct sim_reply *reply)
{
    running = redis;
    running_at = server;
    redis->scripts_run++;
    lua_host_array(lua, "KEYS", keys.list, keys.count);
    lua_host_array(lua, "ARGV", arguments.list, arguments.count);
    if (!lua_host_run(lua, texts[script].place)) {
        char what[200];
        snprintf(what, sizeof what, "ERR %s", lua_tostring(lua, -1));
        sim_reply_error(reply, what);
    } else if (lua_type(lua, 1) == LUA_TNUMBER) {
        reply->value = (struct redis_value){ .kind = REDIS_KIND_NUMBER };
        reply->value.number = (int64_t)lua_tonumber(lua, 1);
    } else {
        table_read(reply);
    }
}
