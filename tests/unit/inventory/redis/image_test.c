/* SPDX-License-Identifier: Apache-2.0 */
/* That script and engine agree about each field is what tests/differential tries; here: what they are. */
#include "inventory/redis/image.h"

#include "base/text.h"
#include "tests/unit/inventory/engine_kit.h"

#include <stdio.h>

static struct kit kit;
static char all[16 * 1024];
static struct text seen;

static void note(void *context, enum script_key key, struct span field, struct span value)
{
    assert_ptr_equal(context, &seen);
    text_string(&seen, script_key_names[key]);
    text_literal(&seen, " ");
    text_add(&seen, field);
    text_literal(&seen, "=");
    text_add(&seen, value);
    text_literal(&seen, "\n");
}

static void expect(const char *line)
{
    char whole[512];
    snprintf(whole, sizeof whole, "\n%s\n", line);
    if (memmem(all, seen.size, whole, strlen(whole)) == NULL)
        fail_msg("no %s in %.*s", line, (int)seen.size, all);
}

static uint32_t image_lines(void)
{
    const struct image_head head = {
        .epoch = 3, .seq = 9, .done = 8, .told = 1, .time_ms = SALE_NOW, .lag_max = 50
    };
    uint32_t lines = 0;
    seen = text_in(all, sizeof all);
    text_literal(&seen, "\n");
    image_write(&kit.engine, &head, note, &seen);
    assert_false(seen.overflow);
    for (size_t i = 1; i < seen.size; i++)
        lines += all[i] == '\n';
    return lines;
}

static void an_empty_engine_has_its_head_only(void **state)
{
    (void)state;
    kit_start(&kit, 40);
    assert_int_equal(image_lines(), 5);
    expect(":m epoch=3");
    expect(":m head=9 1500 0 0 8 1");
    expect(":m places=0");
    expect(":m keys=0");
    kit_stop(&kit);
}

static void a_win_is_in_all_hashes(void **state)
{
    (void)state;
    kit_ready(&kit, 2, 3);
    assert_int_equal(kit_buy(&kit, ANNA, 0xabc, 2), ANSWER_WON);
    image_lines();
    expect(":m s1=1000 2000 3 1 0 0 0 0 0 0 0 0 0000000000000000 0");
    expect(":m i1=1 2 499 300 20 4 15 2 0 3 0 0 8 2 0 0 0 0 0 0");
    expect(":u 1:0000000000000007=2 1");
    expect(":u s1:0000000000000007=2 1");
    expect(":t 1=0000000000000007 0000000000000abc 1 2 0 0 1800");
    expect(":k 0000000000000abc=1");
    expect(":m head=9 1500 1 2 8 1");
    kit_stop(&kit);
}

static void a_return_leaves_its_marks(void **state)
{
    (void)state;
    struct command terms = { .type = COMMAND_SALE, .sale = { .sale = 1, .start_ms = SALE_START } };
    const struct command back = { .type = COMMAND_SETTLE,
        .settle = { .ticket = 1, .step = SETTLE_RETURN, .let_go = true } };
    kit_ready(&kit, 0, 0);
    terms.sale.end_ms = SALE_END;
    terms.sale.cooldown_s = 30;
    terms.sale.return_draw_ms = 100;
    assert_int_equal(kit_do(&kit, terms, SALE_NOW), ANSWER_DONE);
    assert_int_equal(kit_buy(&kit, ANNA, 0, 10), ANSWER_WON);
    assert_int_equal(kit_do(&kit, back, SALE_NOW), ANSWER_DONE);
    image_lines();
    expect(":u 1:0000000000000007=0 1 1 32");
    expect(":t 1=0000000000000007 0 1 10 0 2 1800");
    expect(":m i1=1 0 499 300 20 4 15 0 0 3 0 1600 10 2 0 0 0 0 0 0");
    assert_non_null(memmem(all, seen.size, "\n:m d1=1600 ", 12));
    kit_stop(&kit);
}

/* A shop with something in each table. */
static void shop_fill(void)
{
    const struct command users = { .type = COMMAND_USERS,
        .users = { .sale = 1, .count = 1, .users = { BERT } } };
    const struct command arrive = { .type = COMMAND_ARRIVE, .arrive = { .sale = 1, .user = CLEO } };
    const struct command adjust = { .type = COMMAND_ADJUST,
        .adjust = { .item = 1, .delta = -4 },
        .origin = { .key = 0xfe, .request = 0xaa } };
    kit_ready(&kit, 0, 0);
    assert_int_equal(kit_do(&kit, users, SALE_NOW), ANSWER_DONE);
    assert_int_equal(kit_do(&kit, arrive, SALE_NOW), ANSWER_DONE);
    assert_int_equal(kit_do(&kit, adjust, SALE_NOW), ANSWER_DONE);
}

static void lists_rooms_and_operators_keys_are_there(void **state)
{
    (void)state;
    shop_fill();
    image_lines();
    expect(":u e1:0000000000000008=1");
    expect(":u p1:0000000000000009=0");
    expect(":m w1=1 0 0 1");
    expect(":k a00000000000000fe=00000000000000aa 18 r1 a-4");
    expect(":k o0=00000000000000fe");
    expect(":m keys=1");
    kit_stop(&kit);
}

static void steps_of_a_walk_make_the_same_image(void **state)
{
    static char whole[sizeof all];
    static const char first_ticket[] =
        ":t 1=0000000000000007 0000000000000abc 1 2 0 0 1800\n:k 0000000000000abc=1\n";
    const struct image_head head = {
        .epoch = 3, .seq = 9, .done = 8, .told = 1, .time_ms = SALE_NOW, .lag_max = 50
    };
    (void)state;
    shop_fill();
    assert_int_equal(kit_buy(&kit, ANNA, 0xabc, 2), ANSWER_WON);
    assert_int_equal(kit_buy(&kit, BERT, 0, 1), ANSWER_WON);
    image_lines();
    const size_t size = seen.size;
    memcpy(whole, all, size);
    for (uint32_t rows = 1; rows <= 3; rows++) {
        struct image_walk walk = { 0 };
        seen = text_in(all, sizeof all);
        text_literal(&seen, "\n");
        while (image_walk_on(&kit.engine, &head, &walk, rows, note, &seen)) {
            const size_t before = seen.size;
            assert_true(walk.last.to > walk.last.from);
            image_rows_write(&kit.engine, &head, &walk.last, note, &seen); /* what the step has put */
            seen.size = before;
        }
        assert_int_equal(seen.size, size);
        assert_memory_equal(all, whole, size);
        assert_int_equal(walk.reached[IMAGE_TICKETS], 2);
        assert_int_equal(walk.reached[IMAGE_PLACES], 1);
        walk = (struct image_walk){ .from = { [IMAGE_TICKETS] = 1 } };
        seen.size = 1;
        while (image_walk_on(&kit.engine, &head, &walk, rows, note, &seen))
            ;
        assert_int_equal(seen.size, size - strlen(first_ticket));
    }
    kit_stop(&kit);
}

static uint64_t found[SCRIPT_HASHES];

static void field_find(void *context, enum script_key key, struct span field, struct span value)
{
    (void)context;
    (void)value;
    if (!image_has(&kit.engine, key, field))
        fail_msg("%.*s of %s is not found", (int)field.size, field.data, script_key_names[key]);
    found[key]++;
}

static void each_field_of_the_image_is_found_and_counted_and_no_other_one(void **state)
{
    static const struct {
        enum script_key key;
        const char *field;
    } strange[] = { { SCRIPT_KEY_PART, "" }, { SCRIPT_KEY_PART, "s" }, { SCRIPT_KEY_PART, "s2" },
        { SCRIPT_KEY_PART, "s99999" }, { SCRIPT_KEY_PART, "i2" }, { SCRIPT_KEY_PART, "d1" },
        { SCRIPT_KEY_PART, "w2" }, { SCRIPT_KEY_PART, "i01" }, { SCRIPT_KEY_PART, "x1" },
        { SCRIPT_KEY_USERS, "" }, { SCRIPT_KEY_USERS, "1" }, { SCRIPT_KEY_USERS, "1:7" },
        { SCRIPT_KEY_USERS, "2:0000000000000007" }, { SCRIPT_KEY_USERS, "65537:0000000000000007" },
        { SCRIPT_KEY_USERS, "s2:0000000000000007" }, { SCRIPT_KEY_USERS, "e1:0000000000000007" },
        { SCRIPT_KEY_USERS, "p1:0000000000000007" }, { SCRIPT_KEY_USERS, "x1:0000000000000007" },
        { SCRIPT_KEY_USERS, "1:0" }, { SCRIPT_KEY_TICKETS, "0" }, { SCRIPT_KEY_TICKETS, "3" },
        { SCRIPT_KEY_TICKETS, "x" }, { SCRIPT_KEY_TICKETS, "" }, { SCRIPT_KEY_KEYS, "" },
        { SCRIPT_KEY_KEYS, "0000000000000abd" }, { SCRIPT_KEY_KEYS, "0000000000000000" },
        { SCRIPT_KEY_KEYS, "a00000000000000ff" }, { SCRIPT_KEY_KEYS, "a" },
        { SCRIPT_KEY_KEYS, "o1" }, { SCRIPT_KEY_KEYS, "o" }, { SCRIPT_KEY_LOG, "1" } };
    const struct image_head head = { .epoch = 3, .seq = 9 };
    uint64_t counts[SCRIPT_HASHES];
    (void)state;
    shop_fill();
    assert_int_equal(kit_buy(&kit, ANNA, 0xabc, 2), ANSWER_WON);
    assert_int_equal(kit_buy(&kit, BERT, 0, 1), ANSWER_WON);
    memset(found, 0, sizeof found);
    image_write(&kit.engine, &head, field_find, NULL);
    image_count(&kit.engine, counts);
    assert_memory_equal(counts, found, sizeof counts);
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++)
        if (image_has(&kit.engine, strange[i].key, span_from_string(strange[i].field)))
            fail_msg("%s is found", strange[i].field);
    kit_stop(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_engine_has_its_head_only),
        cmocka_unit_test(a_win_is_in_all_hashes),
        cmocka_unit_test(a_return_leaves_its_marks),
        cmocka_unit_test(lists_rooms_and_operators_keys_are_there),
        cmocka_unit_test(steps_of_a_walk_make_the_same_image),
        cmocka_unit_test(each_field_of_the_image_is_found_and_counted_and_no_other_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
