/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/human/solution.h"

#include "funnel/json_cursor.h"

/* [x, x]: one for each piece. */
static void places_read(struct json_cursor *in, uint32_t x[PUZZLE_PIECES])
{
    unsigned count = 0;
    while (cursor_element(in, &count)) {
        if (count > PUZZLE_PIECES) {
            cursor_fail(in);
            return;
        }
        cursor_u32(in, &x[count - 1]);
    }
    if (count != PUZZLE_PIECES)
        cursor_fail(in);
}

static void seen_mark(struct json_cursor *in, struct solution *solution, unsigned field)
{
    if ((solution->seen & field) != 0)
        cursor_fail(in);
    solution->seen |= field;
}

static void puzzle_fields(struct json_cursor *in, struct solution *solution)
{
    struct span name;
    for (unsigned count = 0; cursor_field(in, &count, &name);) {
        if (span_equal(name, SPAN("token"))) {
            seen_mark(in, solution, SOLUTION_TOKEN);
            cursor_string(in, &solution->token);
        } else if (span_equal(name, SPAN("answer"))) {
            seen_mark(in, solution, SOLUTION_ANSWER);
            cursor_string(in, &solution->answer);
        } else if (span_equal(name, SPAN("response"))) {
            seen_mark(in, solution, SOLUTION_RESPONSE);
            cursor_string(in, &solution->response);
        } else if (span_equal(name, SPAN("x"))) {
            seen_mark(in, solution, SOLUTION_X);
            places_read(in, solution->x);
        } else {
            cursor_fail(in);
        }
    }
}

enum human_answer solution_read(struct span body, struct solution *solution)
{
    struct json_cursor in = json_cursor_of(body);
    struct span name;
    unsigned count = 0;
    solution->pow = solution->token = solution->answer = solution->response = SPAN_NONE;
    solution->x[0] = solution->x[1] = 0;
    solution->seen = 0;
    if (body.size == 0)
        return HUMAN_ABSENT;
    if (body.size > HUMAN_BODY_BYTES_MAX)
        return HUMAN_MALFORMED;
    while (cursor_field(&in, &count, &name)) {
        if (count > 1 || !span_equal(name, SPAN("solution")))
            cursor_fail(&in);
        else if (cursor_is_string(&in))
            cursor_string(&in, &solution->pow);
        else
            puzzle_fields(&in, solution);
    }
    if (!cursor_done(&in))
        return HUMAN_MALFORMED;
    if (count == 0)
        return HUMAN_ABSENT;
    const unsigned seen = solution->seen;
    return solution->pow.data != NULL || seen == (SOLUTION_TOKEN | SOLUTION_ANSWER)
            || seen == (SOLUTION_TOKEN | SOLUTION_X) || seen == (SOLUTION_TOKEN | SOLUTION_RESPONSE)
        ? HUMAN_PASSED
        : HUMAN_MALFORMED;
}
