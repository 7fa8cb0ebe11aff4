/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/human/puzzle.h"

#include "tests/unit/base/unit.h"

#include <string.h>

#define NOW_MS (UINT64_C(1700000000) * 1000)
enum { NOW_S = 1700000000 };
static struct funnel_keys keys;

static int make_keys(void **state)
{
    (void)state;
    static const char master[FUNNEL_MASTER_BYTES] = "another master secret, 32 bytes";
    assert_int_equal(funnel_keys_derive(&keys, master, sizeof master), STATUS_OK);
    return 0;
}

static const struct puzzle a_puzzle = {
    .kind = HUMAN_SLIDER, .item = 7, .user = 42, .expires_s = NOW_S + 60, .nonce = 3, .answer = 5
};

static void a_puzzle_comes_back_as_it_was_issued(void **state)
{
    (void)state;
    char token[PUZZLE_CHARS];
    struct puzzle read;
    puzzle_issue(&keys, &a_puzzle, token);
    assert_int_equal(puzzle_read(&keys, span_of(token, sizeof token), 7, 42, NOW_MS, &read), PUZZLE_GOOD);
    assert_true(read.kind == HUMAN_SLIDER && read.item == 7 && read.user == 42 && read.nonce == 3);
    assert_true(read.answer == 5 && read.expires_s == NOW_S + 60);
}

static void every_changed_character_and_size_is_refused(void **state)
{
    (void)state;
    char token[PUZZLE_CHARS + 1] = { 0 };
    struct puzzle read;
    puzzle_issue(&keys, &a_puzzle, token);
    for (size_t i = 0; i < PUZZLE_CHARS; i++) {
        const char was = token[i];
        token[i] = was == 'A' ? 'B' : 'A';
        assert_int_not_equal(
            puzzle_read(&keys, span_of(token, PUZZLE_CHARS), 7, 42, NOW_MS, &read), PUZZLE_GOOD);
        token[i] = was;
    }
    for (size_t size = 0; size <= PUZZLE_CHARS + 1; size++)
        if (size != PUZZLE_CHARS)
            assert_int_equal(
                puzzle_read(&keys, span_of(token, size), 7, 42, NOW_MS, &read), PUZZLE_MALFORMED);
}

static void another_time_item_or_user_is_told_apart(void **state)
{
    (void)state;
    char token[PUZZLE_CHARS];
    struct puzzle read;
    puzzle_issue(&keys, &a_puzzle, token);
    const struct span text = span_of(token, sizeof token);
    assert_int_equal(puzzle_read(&keys, text, 7, 42, NOW_MS + 60 * 1000 - 1, &read), PUZZLE_GOOD);
    assert_int_equal(puzzle_read(&keys, text, 7, 42, NOW_MS + 60 * 1000, &read), PUZZLE_EXPIRED);
    assert_int_equal(puzzle_read(&keys, text, 8, 42, NOW_MS, &read), PUZZLE_FOREIGN);
    assert_int_equal(puzzle_read(&keys, text, 7, 43, NOW_MS, &read), PUZZLE_FOREIGN);
}

static void the_answer_of_one_puzzle_is_none_of_another(void **state)
{
    (void)state;
    struct puzzle puzzle = { .kind = HUMAN_IMAGE, .nonce = 1 };
    puzzle.answer = puzzle_code_hash(&keys, puzzle.nonce, SPAN("ACDEF"));
    assert_true(puzzle_code_fits(&keys, &puzzle, SPAN("acdEF")));
    assert_false(puzzle_code_fits(&keys, &puzzle, SPAN("ACDEH")));
    assert_false(puzzle_code_fits(&keys, &puzzle, SPAN("ACDEFF")));
    assert_false(puzzle_code_fits(&keys, &puzzle, SPAN_NONE));
    puzzle.nonce = 2;
    assert_false(puzzle_code_fits(&keys, &puzzle, SPAN("ACDEF")));
    assert_false(puzzle_slider_fits(&keys, &puzzle, (const uint32_t[]){ 0, 0 }));
}

static void both_pieces_must_fit_each_in_its_own_place(void **state)
{
    (void)state;
    struct puzzle puzzle = { .kind = HUMAN_SLIDER, .nonce = 9 };
    enum { ONE = 3, TWO = 200, OFF = PUZZLE_TOLERANCE };
    puzzle.answer = puzzle_slider_hash(&keys, puzzle.nonce, (const uint32_t[]){ ONE, TWO });
    static const struct {
        uint32_t x[PUZZLE_PIECES];
        bool fits;
    } cases[] = { { { ONE, TWO }, true }, { { ONE + OFF, TWO - OFF }, true },
        { { 0, TWO + OFF }, true }, { { ONE + OFF + 1, TWO }, false },
        { { ONE, TWO + OFF + 1 }, false }, { { ONE, TWO - OFF - 1 }, false }, { { TWO, ONE }, false },
        { { ONE, ONE }, false }, { { UINT32_MAX, TWO }, false }, { { ONE, UINT32_MAX }, false } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (puzzle_slider_fits(&keys, &puzzle, cases[i].x) != cases[i].fits)
            fail_msg("case %zu", i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_puzzle_comes_back_as_it_was_issued),
        cmocka_unit_test(every_changed_character_and_size_is_refused),
        cmocka_unit_test(another_time_item_or_user_is_told_apart),
        cmocka_unit_test(the_answer_of_one_puzzle_is_none_of_another),
        cmocka_unit_test(both_pieces_must_fit_each_in_its_own_place),
    };
    return cmocka_run_group_tests(tests, make_keys, NULL);
}
