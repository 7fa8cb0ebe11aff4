/* SPDX-License-Identifier: Apache-2.0 */
/* tests/differential/lua_host.h: Lua 5.1 as Redis 7 runs its scripts: redis.call, redis.error_reply, KEYS,
 * ARGV
 * and the library bit (Debian's lua-bitop, the same source that Redis has); a global that is not there is an
 * error. Which commands redis.call knows, its owner says. Stricter than Redis: arguments of commands must be
 * texts, so that nothing depends on how Redis turns numbers into texts. */
#ifndef STAMPEDE_TESTS_DIFFERENTIAL_LUA_HOST_H
#define STAMPEDE_TESTS_DIFFERENTIAL_LUA_HOST_H

#include "base/span.h"

#include <lauxlib.h>
#include <lua.h>

/* A command of redis.call: its words are 1 … count of the stack. It pushes one value. */
struct lua_host_command {
    const char *name; /* NULL: the last one */
    int (*run)(lua_State *lua, int count);
};

/* Stops the program where there is no Lua or no bit library. */
lua_State *lua_host_open(const struct lua_host_command *commands, void *self);
void *lua_host_self(lua_State *lua);
struct span lua_host_argument(lua_State *lua, int index); /* an error of the script if it is no text */

/* The place of a script in the registry; it stops the program if the text is no Lua. */
int lua_host_load(lua_State *lua, struct span script);
void lua_host_array(lua_State *lua, const char *name, const struct span *texts, uint32_t count);
/* KEYS and ARGV are set. False: an error was thrown. What it says, or the reply, is then the whole stack. */
bool lua_host_run(lua_State *lua, int script);

#endif
