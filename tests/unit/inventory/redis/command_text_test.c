/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/redis/command_text.h"

#include "tests/unit/base/unit.h"

static struct command command;

/* Reads it, and writes it again to the same bytes. */
static void same_again(const char *text)
{
    char bytes[COMMAND_TEXT_MAX];
    struct text out = text_in(bytes, sizeof bytes);
    if (command_text_read(span_from_string(text), &command) != STATUS_OK)
        fail_msg("can't read %s", text);
    assert_int_equal(command_text_write(&out, &command), STATUS_OK);
    assert_int_equal(out.size, strlen(text));
    assert_memory_equal(out.data, text, out.size);
}

static void each_kind_is_read_as_it_is_written(void **state)
{
    (void)state;
    same_again("reserve ffffffffffffffff 0 5 2 1 3 60000");
    assert_true(command.type == COMMAND_RESERVE && command.reserve.user == UINT64_MAX);
    assert_true(command.reserve.key == 0 && command.reserve.item == 5 && command.reserve.quantity == 2);
    assert_true(command.reserve.channel == 1 && command.reserve.flags == 3);
    assert_true(command.reserve.window_ms == 60000 && command.reserve.pending_from == UINT64_MAX);
    same_again("sale 1 3 1000 281474976710655 1 0 700 501 30 by 00000000000000ff 0 anna");
    assert_true(command.sale.end_ms == COMMAND_TEXT_TIME_MAX && command.sale.eligible_only);
    assert_true(command.sale.start_draw_ms == 700 && command.sale.return_draw_ms == 501);
    assert_string_equal(command.origin.actor, "anna");
    same_again("preheat 5 1 18446744073709551615 1 60000 19 1 2 3 10 2 0 0 0 0 0 1 CNY 0");
    assert_true(command.preheat.unit_price == UINT64_MAX && command.preheat.channel_units[7] == 1);
    same_again("preheat 5 1 0 1 60000 0 0 0 0 0 0 0 0 0 0 0 0 - 1 by 0 0 =");
    assert_true(command.preheat.change && command.preheat.currency[0] == 0);
    same_again("gate 1 4");
    same_again("users 1 1 2 0000000000000001 ffffffffffffffff");
    assert_true(command.users.remove && command.users.users[1] == UINT64_MAX);
    same_again("users 1 0 0 by 0000000000000001 0");
    same_again("adjust 5 255 -2147483648 1");
    assert_true(command.adjust.gone);
    assert_int_equal(command.adjust.delta, INT32_MIN);
    same_again("move 5 255 0 4294967295");
    same_again("settle 7 1 0 1 60000 2 0000000000000001 0 1 0 00000000000000aa 1000");
    assert_true(command.settle.waiters[1].user == 0 && command.settle.waiters[1].key == 0xaa);
    same_again("settle 18446744073709551615 255 255 0 0 0");
    same_again("arrive 1 0000000000000001");
    same_again("admit 1 4294967295");
    same_again("give 5 255 4294967295 31 1");
    assert_true(command.transfer.quantity == UINT32_MAX && command.transfer.shard == 31);
    same_again("take 5 0 1 255 4294967295");
    assert_true(command.transfer.item == 5 && command.transfer.number == UINT32_MAX);
    same_again("ask-mine 5 0000000000000001");
    same_again("ask-ticket 7");
    same_again("ask-counts 5");
    same_again("ask-sale 1");
}

static void nothing_else_is_read(void **state)
{
    (void)state;
    static const char *const bad[] = { "", " ", "gate", "gate 1", "gate 1 1 ", " gate 1 1",
        "gate 1 1 1", "gate  1 1", "gate 01 1", "gate -1 1", "gate 1 256", "gate 4294967296 1",
        "Gate 1 1", "close 1 1", "give 5 0 1 0", "give 5 0 1 0 1 by 0000000000000001 0",
        "reclaim 1 1 1", "gate 1 1 by 0 0", "gate 1 1 by 0000000000000001", "gate 1 1 by 0 0 a b",
        "gate 1 1 of 0000000000000001 0", "ask-sale 1 by 0000000000000001 0", "arrive 1 1",
        "arrive 1 0000000000000000", "arrive 1 000000000000000A",
        "sale 1 3 1 281474976710656 1 0 0 0 0", "sale 1 3 1 2 2 0 0 0 0", "users 1 0 1",
        "users 1 0 0 0000000000000001", "users 1 0 13 0 0 0 0 0 0 0 0 0 0 0 0 0",
        "settle 7 1 0 1 60000 1", "settle 7 1 0 1 0 5 0 0 1 0 0 1 0 0 1 0 0 1 0 0 1",
        "adjust 5 0 2147483648 0", "adjust 5 0 -0 0", "adjust 5 0 1 2", "adjust 5 0 1",
        "preheat 5 1 0 1 60000 0 0 0 0 0 0 0 0 0 0 0 0 cny 0",
        "preheat 5 1 0 1 60000 0 0 0 0 0 0 0 0 0 0 0 0 CNYX 0",
        "preheat 5 1 0 1 60000 0 0 0 0 0 0 0 0 0 0 0 CNY 0" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (command_text_read(span_from_string(bad[i]), &command) != STATUS_CORRUPT)
            fail_msg("was read: %s", bad[i]);
}

static void refused(struct command asked)
{
    char bytes[COMMAND_TEXT_MAX];
    struct text out = text_in(bytes, sizeof bytes);
    assert_int_equal(command_text_write(&out, &asked), STATUS_BAD_INPUT);
    assert_int_equal(out.size, 0);
}

static void what_the_script_can_not_take_is_not_written(void **state)
{
    (void)state;
    refused((struct command){ .type = COMMAND_RECLAIM });
    refused((struct command){ .type = COMMAND_NONE });
    refused((struct command){ .type = COMMAND_SALE, .sale = { .end_ms = COMMAND_TEXT_TIME_MAX + 1 } });
    refused((struct command){ .type = COMMAND_SALE, .sale = { .start_ms = COMMAND_TEXT_TIME_MAX + 1 } });
    refused((struct command){ .type = COMMAND_USERS, .users = { .count = USERS_PER_COMMAND + 1 } });
    refused((struct command){
        .type = COMMAND_SETTLE, .settle = { .waiter_count = WAITERS_PER_RETURN + 1 } });
    refused((struct command){ .type = COMMAND_GATE, .origin = { .actor = "two words" } });
    refused((struct command){ .type = COMMAND_GATE, .origin = { .actor = "line\n" } });
    refused((struct command){ .type = COMMAND_PREHEAT, .preheat = { .currency = "cn" } });
}

static void the_longest_command_fits_and_one_byte_less_is_a_fault(void **state)
{
    (void)state;
    char bytes[COMMAND_TEXT_MAX];
    struct text out = text_in(bytes, sizeof bytes);
    struct command longest = { .type = COMMAND_USERS,
        .users = { .sale = UINT32_MAX, .count = USERS_PER_COMMAND, .remove = true },
        .origin = { .key = UINT64_MAX, .request = UINT64_MAX } };
    memset(longest.users.users, 0xff, sizeof longest.users.users);
    memset(longest.origin.actor, 'x', ACTOR_BYTES_MAX);
    assert_int_equal(command_text_write(&out, &longest), STATUS_OK);
    const size_t size = out.size;
    out = text_in(bytes, size - 1);
    assert_int_equal(command_text_write(&out, &longest), STATUS_FULL);
    out = text_in(bytes, sizeof bytes);
    longest = (struct command){ .type = COMMAND_PREHEAT, .origin = longest.origin };
    memset(&longest.preheat, 0xff, sizeof longest.preheat);
    memcpy(longest.preheat.currency, "CNY", 4);
    longest.preheat.change = true;
    assert_int_equal(command_text_write(&out, &longest), STATUS_OK);
}

static void a_purchase_has_the_questions_of_the_door(void **state)
{
    (void)state;
    char bytes[COMMAND_TEXT_MAX];
    const struct command asked = { .type = COMMAND_RESERVE,
        .reserve = { .user = 1, .item = 5, .quantity = 2 } };
    struct purchase_door door = { .mark = 0xaa,
        .mark_until_ms = COMMAND_TEXT_TIME_MAX,
        .requests = SCRIPT_REQUESTS_MAX,
        .window_ms = 1000 };
    struct text out = text_in(bytes, sizeof bytes);
    struct span words[PURCHASE_WORDS];
    assert_int_equal(purchase_text_write(&out, &asked, NULL, words), STATUS_OK);
    assert_true(span_equal(words[0], SPAN("0000000000000001")) && span_equal(words[1], SPAN("0")));
    assert_true(span_equal(words[2], SPAN("5 2 0 0 0")));
    out = text_in(bytes, sizeof bytes);
    assert_int_equal(purchase_text_write(&out, &asked, &door, words), STATUS_OK);
    assert_true(span_equal(words[2], SPAN("5 2 0 0 0 door 00000000000000aa 281474976710655 60 1000")));
    assert_int_equal(command_text_read(text_span(&out), &command), STATUS_CORRUPT); /* no record has it */
    const size_t size = out.size;
    out = text_in(bytes, size - 1);
    assert_int_equal(purchase_text_write(&out, &asked, &door, words), STATUS_FULL);
    out = text_in(bytes, sizeof bytes);
    door.requests++;
    assert_int_equal(purchase_text_write(&out, &asked, &door, words), STATUS_BAD_INPUT);
    door.requests = 0;
    door.mark_until_ms++;
    assert_int_equal(purchase_text_write(&out, &asked, &door, words), STATUS_BAD_INPUT);
    const struct command gate = { .type = COMMAND_GATE };
    assert_int_equal(purchase_text_write(&out, &gate, NULL, words), STATUS_BAD_INPUT);
    assert_int_equal(out.size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_is_read_as_it_is_written),
        cmocka_unit_test(nothing_else_is_read),
        cmocka_unit_test(what_the_script_can_not_take_is_not_written),
        cmocka_unit_test(the_longest_command_fits_and_one_byte_less_is_a_fault),
        cmocka_unit_test(a_purchase_has_the_questions_of_the_door),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
