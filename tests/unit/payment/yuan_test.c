/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/payment/yuan_test.c: yuan outside are fen inside, to the last one. */
#include "payment/yuan.h"

#include "tests/unit/base/unit.h"

static void fen_are_written_as_yuan_with_two_decimals(void **state)
{
    static const struct {
        uint64_t fen;
        const char *text;
    } cases[] = { { 0, "\"0.00\"" }, { 5, "\"0.05\"" }, { 123405, "\"1234.05\"" },
        { UINT64_MAX, "\"184467440737095516.15\"" } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char room[64];
        struct text text = text_in(room, sizeof room);
        yuan_write(&text, cases[i].fen);
        assert_true(span_equal(text_span(&text), span_from_string(cases[i].text)));
    }
}

static void yuan_are_read_with_up_to_two_decimals(void **state)
{
    static const struct {
        const char *text;
        uint64_t fen;
    } good[] = { { "0", 0 }, { "88", 8800 }, { "88.8", 8880 }, { "88.88", 8888 }, { "0.01", 1 },
        { "184467440737095516.15", UINT64_MAX } };
    static const char *const bad[] = { "", ".5", "1.", "1.234", "1,5", "-1", "1.-1", "1 ", "1e3",
        "184467440737095516.16", "184467440737095517" };
    uint64_t fen;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(yuan_read(span_from_string(good[i].text), &fen));
        assert_int_equal(fen, good[i].fen);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (yuan_read(span_from_string(bad[i]), &fen))
            fail_msg("\"%s\" was read", bad[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fen_are_written_as_yuan_with_two_decimals),
        cmocka_unit_test(yuan_are_read_with_up_to_two_decimals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
