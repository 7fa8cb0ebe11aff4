/* SPDX-License-Identifier: Apache-2.0 */
/* A door with one item that sells, and a request that goes through it: both to be changed by a test. Each
 * program that includes this has its own. */
#ifndef STAMPEDE_TESTS_DOOR_KIT_H
#define STAMPEDE_TESTS_DOOR_KIT_H

#include "funnel/door.h"

#include "base/arena.h"
#include "contract/board.h"
#include "funnel/bans.h"
#include "funnel/item_rules.h"
#include "funnel/limits.h"
#include "funnel/session_rules.h"
#include "funnel/spent.h"
#include "funnel/switches.h"

#include "funnel/token.h"
#include "tests/unit/base/unit.h"

#define NOW_MS (UINT64_C(1700000000) * 1000)
#define START_MS (NOW_MS - 1000)
#define END_MS (NOW_MS + 1000)
enum { NOW_S = 1700000000, ITEMS = 4, ITEM = 2, OTHER_ITEM = 3, USER = 77, OTHER_USER = 78 };

static struct arena arena;
static struct board board;
static struct funnel_keys keys;
static struct door_channels channels;
static struct switches switches;
static struct door door = { .board = &board, .keys = &keys, .channels = &channels, .switches = &switches };
static struct board_update item; /* what the board shows, to change and publish again */
static struct door_request in;   /* one that goes, to change */
static struct door_result out;
static char pass_text[TOKEN_CHARS];
static char session_text[7 + TOKEN_CHARS];

static struct span pass_for(user_id user, item_id for_item, uint32_t expires_s)
{
    pass_issue(&keys,
        &(struct pass){ .user = user, .item = for_item, .expires_s = expires_s, .nonce = 1 }, pass_text);
    return span_of(pass_text, sizeof pass_text);
}

static inline struct span pass_on(channel_index channel) /* a pass of the user for the item */
{
    const struct pass pass = {
        .user = USER, .item = ITEM, .expires_s = NOW_S + 60, .nonce = 1, .channel = channel
    };
    pass_issue(&keys, &pass, pass_text);
    return span_of(pass_text, sizeof pass_text);
}

static inline struct span session_for(user_id user, uint32_t expires_s)
{
    memcpy(session_text, "Bearer ", 7);
    session_issue(&keys, &(struct session){ .user = user, .expires_s = expires_s }, session_text + 7);
    return span_of(session_text, sizeof session_text);
}

static int open_door(void **state)
{
    (void)state;
    static const char master[FUNNEL_MASTER_BYTES] = "a door's master secret, 32 bytes";
    static const struct span names[] = { { "web", 3 }, { "app", 3 } };
    assert_int_equal(funnel_keys_derive(&keys, master, sizeof master), STATUS_OK);
    funnel_keys_turn(&keys, NOW_MS);
    assert_int_equal(door_channels_set(&channels, names, 2), STATUS_OK);
    assert_int_equal(arena_open(&arena, board_bytes(ITEMS, 1000)), STATUS_OK);
    board_create(&board, &arena, ITEMS, 1000);
    board.filter_key = keys.filter;
    item = (struct board_update){ .item = ITEM,
        .sale = 1,
        .start_ms = START_MS,
        .end_ms = END_MS,
        .gate = GATE_SCHEDULED,
        .limit_per_user = 1,
        .counts = { .free = 10, .channel_free = { 7, 3 } } };
    board_publish(&board, &item);
    in = (struct door_request){ .now_ms = NOW_MS, .item = ITEM, .pass = pass_for(USER, ITEM, NOW_S + 60) };
    return 0;
}

static int close_door(void **state)
{
    (void)state;
    arena_close(&arena);
    return 0;
}

static enum door_reason ask(void)
{
    memset(&out, 0xff, sizeof out);
    enum door_reason reason = funnel_door(&door, &in, &out);
    assert_int_equal(reason, out.reason);
    return reason;
}

/* Refused like everybody, but with the note that there may be an old answer; and not without it. */
static __attribute__((unused)) enum door_reason ask_again(void)
{
    const enum door_reason reason = ask();
    assert_true(reason != DOOR_GO && out.repeat && out.user != 0 && out.quantity > 0);
    assert_int_equal(out.pass_mark, 0);
    return reason;
}
static __attribute__((unused)) enum door_reason ask_plain(void)
{
    const enum door_reason reason = ask();
    assert_false(out.repeat);
    return reason;
}

#endif
