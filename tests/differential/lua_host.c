/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/differential/lua_host.h"

#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>

static void *registered(lua_State *lua, const char *name)
{
    lua_getfield(lua, LUA_REGISTRYINDEX, name);
    void *found = lua_touserdata(lua, -1);
    lua_pop(lua, 1);
    return found;
}

void *lua_host_self(lua_State *lua)
{
    return registered(lua, "self");
}

struct span lua_host_argument(lua_State *lua, int index)
{
    if (lua_type(lua, index) != LUA_TSTRING)
        luaL_error(
            lua, "argument %d of redis.call is a %s, not a text", index, luaL_typename(lua, index));
    size_t size = 0;
    const char *data = lua_tolstring(lua, index, &size);
    return span_of(data, size);
}

static int redis_call(lua_State *lua)
{
    const struct lua_host_command *command = registered(lua, "commands");
    const struct span name = lua_host_argument(lua, 1);
    for (; command->name != NULL; command++)
        if (span_equal(name, span_from_string(command->name)))
            return command->run(lua, lua_gettop(lua));
    return luaL_error(lua, "redis.call: the test does not know %s", name.data);
}

static int redis_error_reply(lua_State *lua)
{
    lua_createtable(lua, 0, 1);
    lua_pushvalue(lua, 1);
    lua_setfield(lua, -2, "err");
    return 1;
}

static int global_missing(lua_State *lua)
{
    return luaL_error(lua, "the script uses a global variable: %s", lua_tostring(lua, 2));
}

static void globals_guard(lua_State *lua)
{
    lua_createtable(lua, 0, 2);
    lua_pushcfunction(lua, global_missing);
    lua_setfield(lua, -2, "__index");
    lua_pushcfunction(lua, global_missing);
    lua_setfield(lua, -2, "__newindex");
    lua_setmetatable(lua, LUA_GLOBALSINDEX);
}

static void libraries_open(lua_State *lua)
{
    luaL_openlibs(lua);
    if (luaL_dostring(lua, "require 'bit'") != 0) {
        fprintf(stderr, "Lua: %s (Debian: lua-bitop)\n", lua_tostring(lua, -1));
        exit(1);
    }
    lua_createtable(lua, 0, 2);
    lua_pushcfunction(lua, redis_call);
    lua_setfield(lua, -2, "call");
    lua_pushcfunction(lua, redis_error_reply);
    lua_setfield(lua, -2, "error_reply");
    lua_setglobal(lua, "redis");
}

lua_State *lua_host_open(const struct lua_host_command *commands, void *self)
{
    lua_State *lua = luaL_newstate();
    invariant(lua != NULL);
    libraries_open(lua);
    lua_pushlightuserdata(lua, self);
    lua_setfield(lua, LUA_REGISTRYINDEX, "self");
    lua_pushlightuserdata(lua, (void *)(uintptr_t)commands);
    lua_setfield(lua, LUA_REGISTRYINDEX, "commands");
    globals_guard(lua);
    return lua;
}

int lua_host_load(lua_State *lua, struct span script)
{
    if (luaL_loadbuffer(lua, script.data, script.size, "=script") != 0) {
        fprintf(stderr, "Lua: %s\n", lua_tostring(lua, -1));
        exit(1);
    }
    return luaL_ref(lua, LUA_REGISTRYINDEX);
}

void lua_host_array(lua_State *lua, const char *name, const struct span *texts, uint32_t count)
{
    lua_createtable(lua, (int)count, 0);
    for (uint32_t i = 0; i < count; i++) {
        lua_pushlstring(lua, texts[i].data, texts[i].size);
        lua_rawseti(lua, -2, (int)i + 1);
    }
    lua_pushstring(lua, name);
    lua_insert(lua, -2);
    lua_rawset(lua, LUA_GLOBALSINDEX);
}

bool lua_host_run(lua_State *lua, int script)
{
    lua_settop(lua, 0);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, script);
    return lua_pcall(lua, 0, 1, 0) == 0;
}
