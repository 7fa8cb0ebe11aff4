/* SPDX-License-Identifier: Apache-2.0 */
#pragma GCC optimize("O3") /* they compute a lot, in all builds */
#include "tests/support/picture_solvers.h"

#include "funnel/human/picture_parts.h"
#include "tests/support/png_read.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH_MAX = 320, HEIGHT_MAX = 200, PIXELS_MAX = WIDTH_MAX * HEIGHT_MAX };

struct ink {
    int width, height;
    float at[PIXELS_MAX]; /* 0 paper … 1 ink */
};

/* How dark each pixel is between the lightest and the darkest of the picture. */
static void ink_read(const struct picture *picture, struct ink *ink)
{
    static uint8_t points[PIXELS_MAX][3];
    uint32_t width, height;
    float least = 1e9f, most = -1e9f;
    png_read(picture->png, picture->size, &width, &height, &points[0][0], sizeof points);
    ink->width = (int)width;
    ink->height = (int)height;
    for (int i = 0; i < ink->width * ink->height; i++) {
        ink->at[i] = (float)(points[i][0] + points[i][1] + points[i][2]);
        least = ink->at[i] < least ? ink->at[i] : least;
        most = ink->at[i] > most ? ink->at[i] : most;
    }
    for (int i = 0; i < ink->width * ink->height; i++)
        ink->at[i] = (most - ink->at[i]) / (most - least + 1);
}

static void ink_blur(struct ink *ink, int times)
{
    static float row[PIXELS_MAX];
    const int width = ink->width, height = ink->height;
    for (int round = 0; round < times; round++) {
        for (int i = 0; i < width * height; i++) {
            const int x = i % width, y = i / width;
            const float left = x > 0 ? ink->at[i - 1] : 0, right = x + 1 < width ? ink->at[i + 1] : 0;
            const float above = y > 0 ? ink->at[i - width] : 0;
            const float below = y + 1 < height ? ink->at[i + width] : 0;
            row[i] = (2 * ink->at[i] + left + right + above + below) / 6;
        }
        memcpy(ink->at, row, sizeof(float) * (size_t)(width * height));
    }
}

uint32_t solver_overlay(const struct picture *whole, const struct picture *piece)
{
    static struct ink field, part;
    double best = -1;
    uint32_t best_x = 0;
    ink_read(whole, &field);
    ink_read(piece, &part);
    ink_blur(&field, 4);
    ink_blur(&part, 4);
    double part_sum = 0, part_squares = 0;
    const int count = part.width * part.height;
    for (int i = 0; i < count; i++) {
        part_sum += part.at[i];
        part_squares += part.at[i] * part.at[i];
    }
    for (int top = -part.height / 4; top < field.height - part.height * 3 / 4; top += 2) {
        for (int left = -part.width / 4; left < field.width - part.width * 3 / 4; left += 2) {
            double sum = 0, squares = 0, product = 0;
            for (int y = 0; y < part.height; y += 2) {
                for (int x = 0; x < part.width; x += 2) {
                    const int fx = left + x, fy = top + y;
                    const float here = fx < 0 || fy < 0 || fx >= field.width || fy >= field.height
                        ? 0
                        : field.at[fy * field.width + fx];
                    sum += here;
                    squares += here * here;
                    product += here * part.at[y * part.width + x];
                }
            }
            const double n = count / 4.0;
            const double correlation = (product - sum * part_sum / 4 / n)
                / sqrt((squares - sum * sum / n) * (part_squares / 4 - part_sum * part_sum / 16 / n)
                    + 1e-9);
            if (correlation > best) {
                best = correlation;
                best_x = (uint32_t)(left + part.width / 2);
            }
        }
    }
    return best_x;
}

/* ---- by edges */

enum { DIRECTIONS = 8, REACH = 5, POINTS_MAX = 900, TURNS = 13, SIZES = 4, DOTS_ENOUGH = 100 };
#define TURN \
    0.24f /* radians; TURNS of them are what the generator may turn a figure by, against the piece */

/* The direction of the stroke at a pixel, 0…pi, from the gradients around it. */
static float direction_at(const struct ink *ink, int x, int y)
{
    double xx = 0, yy = 0, xy = 0;
    for (int dy = -2; dy <= 2; dy++) {
        for (int dx = -2; dx <= 2; dx++) {
            const int px = x + dx, py = y + dy;
            if (px < 1 || py < 1 || px + 1 >= ink->width || py + 1 >= ink->height)
                continue;
            const float *at = &ink->at[py * ink->width + px];
            const double gx = at[1] - at[-1], gy = at[ink->width] - at[-ink->width];
            xx += gx * gx;
            yy += gy * gy;
            xy += gx * gy;
        }
    }
    double angle = 0.5 * atan2(2 * xy, xx - yy) + M_PI / 2; /* along, not across */
    while (angle < 0)
        angle += M_PI;
    while (angle >= M_PI)
        angle -= M_PI;
    return (float)angle;
}

/* at[d][pixel]: 1 on a stroke of direction d, falling to 0 at REACH pixels. */
struct near {
    int width, height;
    float at[DIRECTIONS][PIXELS_MAX];
};

static void near_mark(struct near *near, int x, int y, int direction, float weight)
{
    for (int dy = -REACH; dy <= REACH; dy++) {
        for (int dx = -REACH; dx <= REACH; dx++) {
            const int px = x + dx, py = y + dy;
            const float far = sqrtf((float)(dx * dx + dy * dy)) / REACH;
            if (px < 0 || py < 0 || px >= near->width || py >= near->height || far >= 1)
                continue;
            float *at = &near->at[direction][py * near->width + px];
            const float value = weight * (1 - far);
            *at = value > *at ? value : *at;
        }
    }
}

static void near_make(const struct ink *ink, struct near *near)
{
    near->width = ink->width;
    near->height = ink->height;
    for (int d = 0; d < DIRECTIONS; d++)
        memset(near->at[d], 0, sizeof(float) * (size_t)(ink->width * ink->height));
    for (int i = 0; i < ink->width * ink->height; i++) {
        const int x = i % ink->width, y = i / ink->width;
        if (ink->at[i] < 0.5f)
            continue;
        const int direction = (int)(direction_at(ink, x, y) / M_PI * DIRECTIONS) % DIRECTIONS;
        near_mark(near, x, y, direction, 1);
        near_mark(near, x, y, (direction + 1) % DIRECTIONS, 0.7f);
        near_mark(near, x, y, (direction + DIRECTIONS - 1) % DIRECTIONS, 0.7f);
    }
}

struct dot {
    float x, y, direction;
};

static int dots_read(const struct ink *part, struct dot *dots)
{
    int count = 0;
    for (int i = 0; i < part->width * part->height && count < POINTS_MAX; i++) {
        const int x = i % part->width, y = i / part->width;
        if (part->at[i] > 0.5f && (x + y) % 2 == 0)
            dots[count++] = (struct dot){ (float)x - (float)part->width / 2,
                (float)y - (float)part->height / 2, direction_at(part, x, y) };
    }
    return count;
}

static int layer_of(float direction)
{
    return (int)(direction / (float)M_PI * DIRECTIONS) % DIRECTIONS;
}

/* How well the dots lie on strokes, 0…1, with their middle there. */
static float dots_worth(const struct near *near, const struct dot *dots, int count, int x, int y)
{
    float sum = 0;
    for (int i = 0; i < count; i++) {
        const int px = x + (int)lrintf(dots[i].x), py = y + (int)lrintf(dots[i].y);
        if (px >= 0 && py >= 0 && px < near->width && py < near->height)
            sum += near->at[layer_of(dots[i].direction)][py * near->width + px];
    }
    return sum / (float)count;
}

static void dots_lay(const struct dot *dots, int count, float angle, float size, struct dot *laid)
{
    const float c = cosf(angle), s = sinf(angle);
    for (int i = 0; i < count; i++) {
        float direction = dots[i].direction + angle;
        while (direction >= (float)M_PI)
            direction -= (float)M_PI;
        while (direction < 0)
            direction += (float)M_PI;
        laid[i] = (struct dot){ size * (c * dots[i].x - s * dots[i].y),
            size * (s * dots[i].x + c * dots[i].y), direction };
    }
}

static const float sizes[SIZES] = { 0.8f, 0.93f, 1.07f, 1.22f };

/* Everywhere, turned and in all sizes; answers the best worth, and where. */
static float dots_search(const struct near *near, struct dot *dots, int count, uint32_t *best_x)
{
    static struct dot laid[POINTS_MAX];
    static int offsets[POINTS_MAX];
    static const float *layers[POINTS_MAX];
    float best = -1;
    int few = 0;
    for (int i = 0; i < count; i += 1 + count / DOTS_ENOUGH)
        dots[few++] = dots[i];
    for (int turn = 0; turn < TURNS * SIZES; turn++) {
        const int step = turn / SIZES;
        dots_lay(dots, few, ((float)step - (TURNS - 1) / 2.0f) * TURN, sizes[turn % SIZES], laid);
        for (int i = 0; i < few; i++) {
            offsets[i] = (int)lrintf(laid[i].y) * near->width + (int)lrintf(laid[i].x);
            layers[i] = near->at[layer_of(laid[i].direction)];
        }
        for (int y = 16; y < near->height - 16; y += 3) {
            for (int x = 16; x < near->width - 16; x += 3) {
                const bool inside = x > 40 && y > 40 && x < near->width - 40 && y < near->height - 40;
                float worth = 0;
                for (int i = 0; inside && i < few; i++)
                    worth += layers[i][y * near->width + x + offsets[i]];
                worth = inside ? worth / (float)few : dots_worth(near, laid, few, x, y);
                if (worth > best) {
                    best = worth;
                    *best_x = (uint32_t)x;
                }
            }
        }
    }
    return best;
}

uint32_t solver_edges(const struct picture *whole, const struct picture *piece)
{
    static struct ink field, part;
    static struct near near;
    static struct dot dots[POINTS_MAX];
    uint32_t x = 0;
    ink_read(whole, &field);
    ink_read(piece, &part);
    near_make(&field, &near);
    dots_search(&near, dots, dots_read(&part, dots), &x);
    return x;
}

/* ---- by edges, with the outlines of src/funnel/human/picture_outlines.c copied into the program */

enum { DRAWN = 64 };

/* The outline without any distortion, as the generator's middle size. */
static void outline_draw(const struct figure_outline *outline, float angle, float size, struct ink *ink)
{
    const float c = cosf(angle) * size, s = sinf(angle) * size;
    *ink = (struct ink){ .width = DRAWN, .height = DRAWN };
    for (int i = 1; i < outline->count; i++) {
        const struct figure_point from = outline->points[i - 1], to = outline->points[i];
        if (from.x == FIGURE_LIFT || to.x == FIGURE_LIFT)
            continue;
        for (int step = 0; step <= 60; step++) {
            const float x = (float)from.x + (float)(to.x - from.x) * (float)step / 60;
            const float y = (float)from.y + (float)(to.y - from.y) * (float)step / 60;
            const float scale = PICTURE_FIGURE_SIZE / 200.0f;
            const int px = (int)(DRAWN / 2.0f + scale * (c * x - s * y));
            const int py = (int)(DRAWN / 2.0f + scale * (s * x + c * y));
            for (int near_y = py; near_y <= py + 1; near_y++)
                for (int near_x = px; near_x <= px + 1; near_x++)
                    if (near_x >= 0 && near_y >= 0 && near_x < DRAWN && near_y < DRAWN)
                        ink->at[near_y * DRAWN + near_x] = 1;
        }
    }
}

/* How well two drawings explain each other. */
static float outline_worth(const struct figure_outline *outline, const struct near *part,
    const struct dot *part_dots, int part_count)
{
    static struct ink ink;
    static struct near near;
    static struct dot dots[POINTS_MAX];
    float best = 0;
    for (int turn = -3; turn <= 3; turn++) {
        for (int size = 0; size < SIZES; size++) {
            outline_draw(outline, (float)turn * 0.15f, sizes[size], &ink);
            near_make(&ink, &near);
            const int count = dots_read(&ink, dots);
            for (int at = 0; at < 25; at++) {
                const int dx = (at % 5 - 2) * 2, dy = (at / 5 - 2) * 2;
                const float worth =
                    dots_worth(part, dots, count, part->width / 2 + dx, part->height / 2 + dy)
                    + dots_worth(&near, part_dots, part_count, DRAWN / 2 - dx, DRAWN / 2 - dy);
                best = worth > best ? worth : best;
            }
        }
    }
    return best;
}

int solver_piece(const struct picture *piece, int *way)
{
    static struct ink part;
    static struct near near;
    static struct dot dots[POINTS_MAX];
    float best = -1;
    int found = 0;
    ink_read(piece, &part);
    near_make(&part, &near);
    const int count = dots_read(&part, dots);
    for (int i = 0; i < PICTURE_FIGURES * FIGURE_WAYS; i++) {
        const float worth =
            outline_worth(&figure_outlines[i / FIGURE_WAYS][i % FIGURE_WAYS], &near, dots, count);
        if (worth > best) {
            best = worth;
            found = i;
        }
    }
    *way = found % FIGURE_WAYS;
    return found / FIGURE_WAYS;
}

uint32_t solver_outlines(const struct picture *whole, const struct picture *piece)
{
    static struct ink field, ink;
    static struct near near;
    static struct dot dots[POINTS_MAX];
    uint32_t x = 0;
    int way;
    const int figure = solver_piece(piece, &way);
    ink_read(whole, &field);
    near_make(&field, &near);
    outline_draw(&figure_outlines[figure][1 - way], 0, 1, &ink);
    dots_search(&near, dots, dots_read(&ink, dots), &x);
    return x;
}
