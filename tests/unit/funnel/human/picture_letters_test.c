/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/human/picture_parts.h"
#include "tests/unit/base/unit.h"

#include <string.h>

static void each_letter_has_an_outline_of_its_own_that_can_be_drawn(void **state)
{
    (void)state;
    assert_int_equal(strlen(picture_letters), LETTERS);
    for (int i = 0; i < LETTERS; i++) {
        const struct figure_outline *outline = &letter_outlines[i];
        int top = 127, bottom = -127;
        assert_true(outline->count >= 2 && outline->count <= FIGURE_POINTS_MAX);
        for (int at = 0; at < outline->count; at++) {
            const struct figure_point point = outline->points[at];
            if (point.x == FIGURE_LIFT)
                continue;
            assert_true(point.x >= -100 && point.x <= 100);
            top = point.y < top ? point.y : top;
            bottom = point.y > bottom ? point.y : bottom;
        }
        assert_true(top >= -100 && top <= -98); /* all are about as high as each other */
        assert_in_range(bottom, 100, 110);
        for (int other = 0; other < i; other++)
            assert_true(memcmp(outline, &letter_outlines[other], sizeof *outline) != 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_letter_has_an_outline_of_its_own_that_can_be_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
