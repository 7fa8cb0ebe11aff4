/* SPDX-License-Identifier: Apache-2.0 */
/* What the script decides is tested by tests/differential; here: how its text is made. */
#include "inventory/redis/script.h"

#include "tests/unit/base/unit.h"

static char bytes[SCRIPT_BYTES_MAX];

static struct span script(struct span prefix, uint32_t epoch)
{
    struct text text = text_in(bytes, sizeof bytes);
    assert_int_equal(script_write(&text, prefix, epoch), STATUS_OK);
    return text_span(&text);
}

static bool contains(struct span text, const char *part)
{
    return memmem(text.data, text.size, part, strlen(part)) != NULL;
}

static void the_text_has_partition_epoch_and_numbers(void **state)
{
    (void)state;
    const struct span text = script(SPAN("st:00ff:{7}"), 4711);
    assert_true(contains(text, "if KEYS[1] ~= 'st:00ff:{7}:m' then"));
    assert_true(contains(text, "if part[1] ~= '4711' then"));
    assert_true(contains(text, "if quantity < 1 or quantity > 1000 then"));
    assert_true(contains(text, "return '18 c1'")); /* ANSWER_DONE */
    assert_true(contains(text, "local argv = ARGV\n"));
    assert_false(contains(text, "ANSWER_"));
    assert_false(contains(text, "CONFLICT_"));
    assert_false(contains(text, "_MAX"));
}

static void neither_comments_nor_indents_take_room_in_redis(void **state)
{
    (void)state;
    const struct span text = script(SPAN("a"), 1);
    assert_false(contains(text, "\n "));
    assert_false(contains(text, "\n--"));
}

static void another_epoch_or_partition_is_another_script(void **state)
{
    (void)state;
    char sha[4][SCRIPT_SHA_DIGITS + 1];
    script_sha(script(SPAN("st:1:{7}"), 1), sha[0]);
    script_sha(script(SPAN("st:1:{7}"), 2), sha[1]);
    script_sha(script(SPAN("st:1:{8}"), 1), sha[2]);
    script_sha(script(SPAN("st:1:{7}"), 1), sha[3]);
    assert_string_not_equal(sha[0], sha[1]);
    assert_string_not_equal(sha[0], sha[2]);
    assert_string_not_equal(sha[1], sha[2]);
    assert_string_equal(sha[0], sha[3]);
}

static void the_sha_is_the_one_that_redis_computes(void **state)
{
    (void)state;
    char sha[SCRIPT_SHA_DIGITS + 1];
    script_sha(SPAN("return 1"), sha); /* SCRIPT LOAD "return 1" */
    assert_string_equal(sha, "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
}

static void a_prefix_that_could_end_its_quotes_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = { "", "a'b", "a b", "A", "a\nb", "a\\", "ä",
        "12345678901234567890123456789012345678901234567890123456789012345" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct text text = text_in(bytes, sizeof bytes);
        assert_int_equal(script_write(&text, span_from_string(bad[i]), 1), STATUS_BAD_INPUT);
        assert_int_equal(text.size, 0);
    }
    script(SPAN("1234567890123456789012345678901234567890123456789012345678901234"), UINT32_MAX);
}

static void a_text_without_room_is_a_fault(void **state)
{
    (void)state;
    struct text text = text_in(bytes, 1000);
    assert_int_equal(script_write(&text, SPAN("a"), 1), STATUS_FULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_has_partition_epoch_and_numbers),
        cmocka_unit_test(neither_comments_nor_indents_take_room_in_redis),
        cmocka_unit_test(another_epoch_or_partition_is_another_script),
        cmocka_unit_test(the_sha_is_the_one_that_redis_computes),
        cmocka_unit_test(a_prefix_that_could_end_its_quotes_is_refused),
        cmocka_unit_test(a_text_without_room_is_a_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
