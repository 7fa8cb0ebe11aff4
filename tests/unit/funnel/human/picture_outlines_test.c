/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/human/picture_parts.h"

#include "tests/unit/base/unit.h"

#include <stdlib.h>
#include <string.h>

static void every_outline_fills_its_place_and_stays_within_it(void **state)
{
    (void)state;
    for (int i = 0; i < PICTURE_FIGURES * FIGURE_WAYS; i++) {
        const struct figure_outline *outline = &figure_outlines[i / FIGURE_WAYS][i % FIGURE_WAYS];
        int most_x = 0, most_y = 0, strokes = 0;
        assert_true(outline->count >= 6 && outline->count <= FIGURE_POINTS_MAX);
        for (int at = 0; at < outline->count; at++) {
            const struct figure_point point = outline->points[at];
            if (point.x == FIGURE_LIFT) {
                assert_true(at > 1 && at + 2 < outline->count); /* a stroke before and one after it */
                continue;
            }
            assert_true(abs(point.x) <= 100 && abs(point.y) <= 100);
            most_x = abs(point.x) > most_x ? abs(point.x) : most_x;
            most_y = abs(point.y) > most_y ? abs(point.y) : most_y;
            strokes++;
        }
        if (most_x < 40 || most_y < 40 || (most_x < 80 && most_y < 80) || strokes < 6)
            fail_msg("figure %d, way %d", i / FIGURE_WAYS, i % FIGURE_WAYS);
    }
}

static void no_two_outlines_are_alike(void **state)
{
    (void)state;
    enum { ALL = PICTURE_FIGURES * FIGURE_WAYS };
    const struct figure_outline *outlines = &figure_outlines[0][0];
    for (int i = 0; i < ALL; i++)
        for (int other = 0; other < i; other++)
            assert_true(memcmp(&outlines[i], &outlines[other], sizeof *outlines) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_outline_fills_its_place_and_stays_within_it),
        cmocka_unit_test(no_two_outlines_are_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
