/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. An outline is laid on the paper by a map of its own: turned, stretched, slanted, then bent
 * by two waves, and its points are shaken. So no two drawings of one outline fit onto each other. */
#include "funnel/human/picture_parts.h"

#include <math.h>
#include <stdbool.h>

enum { SHAKE = 5 };

int picture_between(struct random *random, int least, int most)
{
    return least + (int)random_below(random, (uint64_t)most - (uint64_t)least + 1);
}

void picture_colours(struct random *random, int ink_most, struct paper_colours *colours)
{
    for (int i = 0; i < 3; i++)
        colours->paper[i] = (uint8_t)picture_between(random, 215, 250);
    for (int i = 0; i < 3; i++)
        colours->ink[i] = (uint8_t)picture_between(random, 10, ink_most);
}

struct hand hand_make(struct random *random, const struct hand_habits *habits, struct spot middle)
{
    const double turn = picture_between(random, -habits->turn_most, habits->turn_most) * M_PI / 180;
    const double unit = habits->size / 200.0 / 100;
    const double wide = unit * picture_between(random, habits->wide_least, habits->wide_most);
    const double high = unit * picture_between(random, habits->high_least, habits->high_most);
    const double slant = picture_between(random, -habits->slant_most, habits->slant_most) / 100.0;
    return (struct hand){ .a = wide * cos(turn),
        .b = high * (slant * cos(turn) - sin(turn)),
        .c = wide * sin(turn),
        .d = high * (slant * sin(turn) + cos(turn)),
        .middle = middle,
        .wave = picture_between(random, habits->wave_least, habits->wave_most) / 10.0,
        .phase_x = picture_between(random, 0, 628) / 100.0,
        .phase_y = picture_between(random, 0, 628) / 100.0,
        .length = picture_between(random, habits->length_least, habits->length_most),
        .thick = habits->thick };
}

static struct spot hand_place(const struct hand *hand, double x, double y)
{
    const double turned_x = hand->a * x + hand->b * y, turned_y = hand->c * x + hand->d * y;
    const double bend = 2 * M_PI / hand->length;
    return (struct spot){ hand->middle.x + turned_x + hand->wave * sin(turned_y * bend + hand->phase_x),
        hand->middle.y + turned_y + hand->wave * sin(turned_x * bend + hand->phase_y) };
}

/* A stroke between two points of the outline, in short steps so that it bends. */
static void stroke_draw(
    struct paper *paper, const struct hand *hand, struct figure_point from, struct figure_point to)
{
    enum { STEPS = 8 };
    struct spot last = hand_place(hand, from.x, from.y);
    for (int i = 1; i <= STEPS; i++) {
        const struct spot next = hand_place(hand, from.x + (to.x - from.x) * i / (double)STEPS,
            from.y + (to.y - from.y) * i / (double)STEPS);
        paper_ink_line(paper, last, next, hand->thick);
        last = next;
    }
}

/* An unsteady hand: each point lies a little off, but where an outline closes it stays closed. */
static void shaken(struct random *random, const struct figure_outline *figure, struct figure_point *points)
{
    for (int i = 0; i < figure->count; i++) {
        points[i] = figure->points[i];
        for (int before = 0; before < i; before++) {
            if (figure->points[before].x == points[i].x && figure->points[before].y == points[i].y) {
                points[i] = points[before];
                break;
            }
            if (before == i - 1 && points[i].x != FIGURE_LIFT) {
                points[i].x = (int8_t)(points[i].x + picture_between(random, -SHAKE, SHAKE));
                points[i].y = (int8_t)(points[i].y + picture_between(random, -SHAKE, SHAKE));
            }
        }
    }
}

void hand_draw(struct paper *paper, struct random *random, const struct figure_outline *outline,
    const struct hand *hand, int side, double line)
{
    struct figure_point points[FIGURE_POINTS_MAX];
    shaken(random, outline, points);
    for (int i = 1; i < outline->count; i++) {
        const struct figure_point from = points[i - 1], to = points[i];
        if (from.x == FIGURE_LIFT || to.x == FIGURE_LIFT)
            continue;
        const double across = (from.x + to.x) * cos(line) + (from.y + to.y) * sin(line);
        if (side == 0 || (side > 0) == (across > 0))
            stroke_draw(paper, hand, from, to);
    }
}
