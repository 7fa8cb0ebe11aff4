/* SPDX-License-Identifier: Apache-2.0 */
/* tests/differential/runner_lua.c: the script in Lua 5.1 (lua_host.h). Keys with an expiry stay: the script
 * decides by their value. The parts of a reply must be texts, as arguments must. */
#include "tests/differential/lua_host.h"
#include "tests/differential/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct lua_runner {
    struct runner runner; /* first: the one is the other */
    lua_State *lua;
    int script; /* its place in the registry */
    struct map hashes[SCRIPT_HASHES];
    struct map door; /* what gateways ask together, by key */
    struct entry entry;
    uint64_t last_seq;
};

static struct lua_runner *runner_of(lua_State *lua)
{
    return lua_host_self(lua);
}

static void key_name(char *name, size_t room, uint32_t key)
{
    snprintf(name, room, "%s%s", RUNNER_PREFIX, script_key_names[key]);
}

/* Which of the keys the second argument names. */
static uint32_t key_of(lua_State *lua)
{
    const struct span name = lua_host_argument(lua, 2);
    for (uint32_t key = 0; key < SCRIPT_KEYS; key++) {
        char expected[SCRIPT_PREFIX_MAX + 8];
        key_name(expected, sizeof expected, key);
        if (span_equal(name, span_from_string(expected)))
            return key;
    }
    luaL_error(lua, "a key that was not declared");
    return SCRIPT_KEYS;
}

static struct map *hash_of(lua_State *lua)
{
    const uint32_t key = key_of(lua);
    if (key >= SCRIPT_HASHES)
        luaL_error(lua, "WRONGTYPE the log is no hash");
    return &runner_of(lua)->hashes[key % SCRIPT_HASHES];
}

static void push_field(lua_State *lua, const struct map *map, struct span field)
{
    struct span value;
    if (map_get(map, field, &value))
        lua_pushlstring(lua, value.data, value.size);
    else
        lua_pushboolean(lua, 0);
}

static int call_hget(lua_State *lua, int count)
{
    if (count != 3)
        return luaL_error(lua, "hget: wrong number of arguments");
    push_field(lua, hash_of(lua), lua_host_argument(lua, 3));
    return 1;
}

static int call_hmget(lua_State *lua, int count)
{
    const struct map *map = hash_of(lua);
    if (count < 3)
        return luaL_error(lua, "hmget: wrong number of arguments");
    lua_createtable(lua, count - 2, 0);
    for (int i = 3; i <= count; i++) {
        push_field(lua, map, lua_host_argument(lua, i));
        lua_rawseti(lua, -2, i - 2);
    }
    return 1;
}

static int call_hset(lua_State *lua, int count)
{
    struct map *map = hash_of(lua);
    const size_t before = map->count;
    if (count < 4 || count % 2 != 0)
        return luaL_error(lua, "hset: wrong number of arguments");
    for (int i = 3; i < count; i += 2)
        map_put(map, lua_host_argument(lua, i), lua_host_argument(lua, i + 1));
    lua_pushnumber(lua, (lua_Number)(map->count - before));
    return 1;
}

static int call_hdel(lua_State *lua, int count)
{
    struct map *map = hash_of(lua);
    if (count != 3)
        return luaL_error(lua, "hdel: wrong number of arguments");
    lua_pushnumber(lua, map_remove(map, lua_host_argument(lua, 3)));
    return 1;
}

static void copy(lua_State *lua, char *out, size_t room, struct span text)
{
    if (text.size >= room)
        luaL_error(lua, "xadd: longer than the test has room for");
    memcpy(out, text.data, text.size);
    out[text.size] = 0;
}

static int call_xadd(lua_State *lua, int count)
{
    struct lua_runner *runner = runner_of(lua);
    struct entry *entry = &runner->entry;
    if (key_of(lua) != SCRIPT_KEY_LOG)
        return luaL_error(lua, "WRONGTYPE that key is no stream");
    const struct span id = lua_host_argument(lua, 3);
    char *end = NULL;
    const uint64_t seq = strtoull(id.data, &end, 10);
    if (strcmp(end, "-0") != 0 || seq <= runner->last_seq)
        return luaL_error(lua, "xadd: the id is not above the last one");
    if (count != 9 || strcmp(lua_tostring(lua, 4), "e") != 0
        || strcmp(lua_tostring(lua, 6), "t") != 0 || strcmp(lua_tostring(lua, 8), "r") != 0)
        return luaL_error(lua, "xadd: other fields than e, t, r");
    runner->last_seq = seq;
    entry->entries++;
    copy(lua, entry->id, sizeof entry->id, id);
    copy(lua, entry->epoch, sizeof entry->epoch, lua_host_argument(lua, 5));
    copy(lua, entry->time, sizeof entry->time, lua_host_argument(lua, 7));
    copy(lua, entry->lines, sizeof entry->lines, lua_host_argument(lua, 9));
    lua_pushlstring(lua, id.data, id.size);
    return 1;
}

/* The keys of the door; they are not declared. */
static struct span door_key(lua_State *lua, int index)
{
    static const struct span beginnings[] = { SPAN(RUNNER_PREFIX ":s:"), SPAN(RUNNER_PREFIX ":w:") };
    const struct span name = lua_host_argument(lua, index);
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (name.size > beginnings[i].size && name.size < RUNNER_KEY_MAX
            && memcmp(name.data, beginnings[i].data, beginnings[i].size) == 0)
            return name;
    luaL_error(lua, "a key that is not of this partition: %s", name.data);
    return SPAN_NONE;
}

static int call_mget(lua_State *lua, int count)
{
    lua_createtable(lua, count - 1, 0);
    for (int i = 2; i <= count; i++) {
        push_field(lua, &runner_of(lua)->door, door_key(lua, i));
        lua_rawseti(lua, -2, i - 1);
    }
    return 1;
}

static int call_set(lua_State *lua, int count)
{
    uint64_t life_ms = 0;
    if (count != 5 || strcmp(lua_tostring(lua, 4), "px") != 0
        || span_to_u64(lua_host_argument(lua, 5), &life_ms) != STATUS_OK || life_ms == 0)
        return luaL_error(lua, "set: no expiry");
    map_put(&runner_of(lua)->door, door_key(lua, 2), lua_host_argument(lua, 3));
    lua_pushstring(lua, "OK");
    return 1;
}

/* The tests give the time; whoever asks for the server's hears one that no test uses. */
static int call_time(lua_State *lua, int count)
{
    (void)count;
    lua_createtable(lua, 2, 0);
    lua_pushstring(lua, "1");
    lua_rawseti(lua, -2, 1);
    lua_pushstring(lua, "999999");
    lua_rawseti(lua, -2, 2);
    return 1;
}

static const struct lua_host_command commands[] = { { "hget", call_hget }, { "hmget", call_hmget },
    { "hset", call_hset }, { "hdel", call_hdel }, { "xadd", call_xadd }, { "time", call_time },
    { "mget", call_mget }, { "set", call_set }, { NULL, NULL } };

static void wrong(struct reply *reply, const char *what)
{
    snprintf(reply->wrong, sizeof reply->wrong, "%s", what == NULL ? "?" : what);
}

/* The table on top of the stack stays there until the next call: its texts live so long. */
static void reply_read(lua_State *lua, struct reply *reply)
{
    if (!lua_istable(lua, -1)) {
        wrong(reply, "the reply is no table");
        return;
    }
    lua_getfield(lua, -1, "err");
    if (!lua_isnil(lua, -1))
        wrong(reply, lua_tostring(lua, -1));
    lua_pop(lua, 1);
    const size_t count = lua_objlen(lua, -1);
    for (size_t i = 0; i < count && i < RUNNER_LINES_MAX && reply->wrong[0] == 0; i++) {
        lua_rawgeti(lua, -1, (int)i + 1);
        size_t size = 0;
        const char *text = lua_type(lua, -1) == LUA_TSTRING ? lua_tolstring(lua, -1, &size) : NULL;
        if (text == NULL)
            wrong(reply, "a part of the reply is no text");
        reply->lines[i] = span_of(text, size);
        lua_pop(lua, 1);
    }
    reply->count = (uint32_t)count;
}

static void lua_call_script(
    struct runner *base, const struct span *words, uint32_t count, struct reply *reply)
{
    struct lua_runner *runner = (struct lua_runner *)base;
    *reply = (struct reply){ 0 };
    lua_host_array(runner->lua, "ARGV", words, count);
    if (!lua_host_run(runner->lua, runner->script))
        wrong(reply, lua_tostring(runner->lua, -1));
    else
        reply_read(runner->lua, reply);
}

static void lua_clear(struct runner *base)
{
    struct lua_runner *runner = (struct lua_runner *)base;
    for (uint32_t key = 0; key < SCRIPT_HASHES; key++)
        map_clear(&runner->hashes[key]);
    map_clear(&runner->door);
    runner->entry = (struct entry){ 0 };
    runner->last_seq = 0;
}

static void lua_put(struct runner *base, enum script_key key, struct span field, struct span value)
{
    map_put(&((struct lua_runner *)base)->hashes[key], field, value);
}

static const struct map *lua_hash(struct runner *base, enum script_key key)
{
    return &((struct lua_runner *)base)->hashes[key];
}

static void lua_entry(struct runner *base, struct entry *entry)
{
    const struct entry *last = &((struct lua_runner *)base)->entry;
    memcpy(entry, last, offsetof(struct entry, lines));
    memcpy(entry->lines, last->lines, strlen(last->lines) + 1);
}

static uint64_t lua_door_keys(struct runner *base)
{
    return ((struct lua_runner *)base)->door.count;
}

static double lua_cpu_us(struct runner *base)
{
    (void)base;
    return (double)clock() * 1e6 / CLOCKS_PER_SEC;
}

static void lua_end(struct runner *base)
{
    lua_clear(base);
    lua_close(((struct lua_runner *)base)->lua);
    free(base);
}

static void keys_set(lua_State *lua)
{
    char names[SCRIPT_KEYS][SCRIPT_PREFIX_MAX + 8];
    struct span keys[SCRIPT_KEYS];
    for (uint32_t key = 0; key < SCRIPT_KEYS; key++) {
        key_name(names[key], sizeof names[key], key);
        keys[key] = span_from_string(names[key]);
    }
    lua_host_array(lua, "KEYS", keys, SCRIPT_KEYS);
}

struct runner *runner_lua_open(struct span script)
{
    struct lua_runner *runner = calloc(1, sizeof *runner);
    invariant(runner != NULL);
    runner->runner = (struct runner){ lua_clear, lua_put, lua_call_script, lua_hash, lua_entry,
        lua_door_keys, lua_cpu_us, NULL, NULL, lua_end };
    runner->lua = lua_host_open(commands, runner);
    keys_set(runner->lua);
    runner->script = lua_host_load(runner->lua, script);
    return &runner->runner;
}
