/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/push_items.h"

#include "tests/unit/base/unit.h"

enum { ITEMS = PUSH_ITEMS_MAX + 10, START_MS = 1000, END_MS = 9000 };

static struct arena arena;
static struct board board;
static struct push_items items;

static void shown(item_id item, enum gate gate, uint32_t free)
{
    struct board_update update = { .item = item,
        .sale = 1,
        .start_ms = START_MS,
        .end_ms = END_MS,
        .gate = gate,
        .counts = { .given = 10, .channel_free = { free } } };
    board_publish(&board, &update);
}

static int setup(void **state)
{
    (void)state;
    items = (struct push_items){ .used = 0 };
    if (arena_open(&arena, board_bytes(ITEMS, 10) + 4096) != STATUS_OK)
        return 1;
    board_create(&board, &arena, ITEMS, 10);
    for (item_id item = 1; item < ITEMS - 1; item++)
        shown(item, GATE_SCHEDULED, 5);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_close(&arena);
    return 0;
}

static void looks(enum push_item_state wanted, bool news, uint64_t now_ms)
{
    const uint64_t version = items.items[0].version;
    assert_int_equal(push_items_look(&items, &board, now_ms), news);
    assert_int_equal(items.items[0].state, wanted);
    if (news)
        assert_true(items.items[0].version > version);
    else
        assert_int_equal(items.items[0].version, version);
}

static void every_change_has_a_state_and_a_larger_version(void **state)
{
    (void)state;
    assert_int_equal(push_items_watch(&items, &board, 3, 0, 500), 0);
    assert_int_equal(items.items[0].state, PUSH_ITEM_SCHEDULED);
    looks(PUSH_ITEM_SCHEDULED, false, 999);
    looks(PUSH_ITEM_AVAILABLE, true, 1000);
    shown(3, GATE_SCHEDULED, 0);
    looks(PUSH_ITEM_SOLD_OUT, true, 1000); /* in the same millisecond */
    shown(3, GATE_SCHEDULED, 1);
    looks(PUSH_ITEM_AVAILABLE, true, 1000);
    shown(3, GATE_PAUSED, 1);
    looks(PUSH_ITEM_PAUSED, true, 2000);
    shown(3, GATE_ENDED, 1);
    looks(PUSH_ITEM_ENDED, true, 2001);
    shown(3, GATE_OPENED, 1);
    looks(PUSH_ITEM_AVAILABLE, true, 2002);
    looks(PUSH_ITEM_ENDED, true, END_MS);
    assert_int_equal(items.changes, 7);
    assert_int_equal(items.items[0].changed_at, 7);
}

static void each_channel_of_an_item_has_a_state_of_its_own(void **state)
{
    (void)state;
    const int web = push_items_watch(&items, &board, 3, 0, START_MS);
    const int app = push_items_watch(&items, &board, 3, 1, START_MS);
    assert_int_not_equal(web, app);
    assert_int_equal(items.items[web].state, PUSH_ITEM_AVAILABLE);
    assert_int_equal(items.items[app].state, PUSH_ITEM_SOLD_OUT); /* all units are the web's */
    assert_int_equal(push_items_watch(&items, &board, 3, 1, START_MS), app);
}

static void the_frame_is_what_watchers_get(void **state)
{
    char json[128];
    struct text out = text_in(json, sizeof json - 1);
    (void)state;
    assert_int_equal(push_items_watch(&items, &board, 3, 0, 1500), 0);
    push_item_json(&items.items[0], &out);
    json[out.size] = 0;
    assert_string_equal(json, "{\"item\":3,\"state\":\"available\",\"free\":5,\"version\":1500}");
    const char frame[] = "\x81\x44{\"type\":\"item\",\"item\":3,\"state\":\"available\",\"free\":5,"
                         "\"version\":1500}";
    assert_int_equal(items.items[0].frame_bytes, sizeof frame - 1);
    assert_memory_equal(items.items[0].frame, frame, sizeof frame - 1);
}

static void places_are_shared_given_back_and_bounded(void **state)
{
    (void)state;
    assert_int_equal(push_items_watch(&items, &board, ITEMS - 1, 0, 1), -1); /* never published */
    assert_int_equal(push_items_watch(&items, &board, ITEMS, 0, 1), -1);
    assert_int_equal(push_items_watch(&items, &board, 0, 0, 1), -1);
    for (item_id item = 1; item <= PUSH_ITEMS_MAX; item++)
        assert_int_equal(push_items_watch(&items, &board, item, 0, 1), (int)item - 1);
    assert_int_equal(push_items_watch(&items, &board, PUSH_ITEMS_MAX + 1, 0, 1), -1);
    assert_int_equal(push_items_watch(&items, &board, 5, 0, 1), 4);
    push_items_unwatch(&items, 4);
    assert_int_equal(push_items_watch(&items, &board, PUSH_ITEMS_MAX + 1, 0, 1), -1); /* one still looks */
    push_items_unwatch(&items, 4);
    assert_int_equal(push_items_watch(&items, &board, PUSH_ITEMS_MAX + 1, 0, 1), 4);
}

static void a_return_tells_how_many_came_back(void **state)
{
    char json[128];
    struct text out = text_in(json, sizeof json - 1);
    (void)state;
    shown(3, GATE_OPENED, 0);
    assert_int_equal(push_items_watch(&items, &board, 3, 0, 1500), 0);
    shown(3, GATE_OPENED, 4);
    looks(PUSH_ITEM_AVAILABLE, true, 1600);
    push_item_json(&items.items[0], &out);
    json[out.size] = 0;
    assert_string_equal(json, "{\"item\":3,\"state\":\"available\",\"free\":4,\"version\":1600}");
}

static void the_longest_frame_fits(void **state)
{
    (void)state;
    shown(ITEMS - 2, GATE_OPENED, UINT32_MAX);
    assert_int_equal(push_items_watch(&items, &board, ITEMS - 2, 0, UINT64_MAX / 2), 0);
    assert_true(items.items[0].frame_bytes > 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_channel_of_an_item_has_a_state_of_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(every_change_has_a_state_and_a_larger_version, setup, teardown),
        cmocka_unit_test_setup_teardown(the_frame_is_what_watchers_get, setup, teardown),
        cmocka_unit_test_setup_teardown(a_return_tells_how_many_came_back, setup, teardown),
        cmocka_unit_test_setup_teardown(the_longest_frame_fits, setup, teardown),
        cmocka_unit_test_setup_teardown(places_are_shared_given_back_and_bounded, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
