/* SPDX-License-Identifier: Apache-2.0 */
#pragma GCC optimize("O3") /* they compute a lot, in all builds */
#include "tests/support/code_solvers.h"

#include "funnel/human/picture_parts.h"
#include "tests/support/png_read.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = PICTURE_CODE_WIDTH,
    HEIGHT = PICTURE_CODE_HEIGHT,
    GRID_X = 16, /* a letter, whatever its size, as so many points */
    GRID_Y = 20,
    TURNS = 9,
    INKS_MAX = 64,
};

#define LETTER_WIDE 0.97f /* as the generator draws them on average */
#define LETTER_HIGH 1.01f

/* Each pixel's colour; 0: paper. */
struct page {
    int ink[HEIGHT][WIDTH];
};

static int far_apart(const uint8_t a[3], const uint8_t b[3])
{
    return abs(a[0] - b[0]) + abs(a[1] - b[1]) + abs(a[2] - b[2]);
}

static void page_read(const struct picture *picture, struct page *page)
{
    static uint8_t points[HEIGHT][WIDTH][3];
    uint32_t width, height;
    png_read(picture->png, picture->size, &width, &height, &points[0][0][0], sizeof points);
    if (width != WIDTH || height != HEIGHT)
        abort();
    const uint8_t *paper = points[HEIGHT - 1][0];
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            const uint8_t *at = points[y][x];
            page->ink[y][x] = far_apart(at, paper) > 150 ? 1 + (at[0] << 16 | at[1] << 8 | at[2]) : 0;
        }
    }
}

/* ---- what a letter may look like */

struct shape {
    float at[GRID_Y][GRID_X];
};
static struct shape shapes[25 * TURNS];
static bool shapes_made;

/* The ink between the edges of what there is, as a grid, with mean 0 and length 1. */
static bool shape_of(const unsigned char *ink, int width, int height, struct shape *shape)
{
    int left = width, right = -1, top = height, bottom = -1;
    for (int i = 0; i < width * height; i++) {
        if (ink[i] == 0)
            continue;
        const int x = i % width, y = i / width;
        left = x < left ? x : left;
        right = x > right ? x : right;
        top = y < top ? y : top;
        bottom = y > bottom ? y : bottom;
    }
    if (right < left + 4 || bottom < top + 4)
        return false;
    float sum = 0, squares = 0;
    for (int i = 0; i < GRID_X * GRID_Y; i++) {
        const int gx = i % GRID_X, gy = i / GRID_X;
        const int x0 = left + (right + 1 - left) * gx / GRID_X,
                  x1 = left + (right + 1 - left) * (gx + 1) / GRID_X;
        const int y0 = top + (bottom + 1 - top) * gy / GRID_Y,
                  y1 = top + (bottom + 1 - top) * (gy + 1) / GRID_Y;
        int some = 0, all = 0;
        for (int y = y0; y < (y1 > y0 ? y1 : y0 + 1); y++)
            for (int x = x0; x < (x1 > x0 ? x1 : x0 + 1); x++, all++)
                some += ink[y * width + x] != 0;
        shape->at[gy][gx] = (float)some / (float)all;
        sum += shape->at[gy][gx];
    }
    for (int i = 0; i < GRID_X * GRID_Y; i++) {
        shape->at[i / GRID_X][i % GRID_X] -= sum / (GRID_X * GRID_Y);
        squares += shape->at[i / GRID_X][i % GRID_X] * shape->at[i / GRID_X][i % GRID_X];
    }
    for (int i = 0; i < GRID_X * GRID_Y; i++)
        shape->at[i / GRID_X][i % GRID_X] /= sqrtf(squares) + 1e-6f;
    return true;
}

/* A letter as the generator draws it on average, turned, without waves: its own pen and its own outlines. */
static void letter_ink(char letter, float angle, float wide, float high, unsigned char *ink, int side)
{
    static struct paper paper;
    const struct figure_outline *outline =
        &letter_outlines[strchr(picture_letters, letter) - picture_letters];
    const float unit = PICTURE_LETTER_SIZE / 200.0f, middle = (float)side / 2;
    const float c = cosf(angle), s = sinf(angle);
    paper_clear(&paper, side, side);
    for (int i = 1; i < outline->count; i++) {
        struct spot ends[2];
        for (int end = 0; end < 2; end++) {
            const float x = (float)outline->points[i - 1 + end].x * unit * wide;
            const float y = (float)outline->points[i - 1 + end].y * unit * high;
            ends[end] = (struct spot){ middle + c * x - s * y, middle + s * x + c * y };
        }
        if (outline->points[i - 1].x != FIGURE_LIFT && outline->points[i].x != FIGURE_LIFT)
            paper_ink_line(&paper, ends[0], ends[1], PICTURE_LETTER_THICK);
    }
    for (int i = 0; i < side * side; i++)
        ink[i] = paper.ink[i] > PAPER_INK_MOST / 2;
}

static void shapes_make(void)
{
    static unsigned char ink[80 * 80];
    for (int i = 0; i < 25 * TURNS && !shapes_made; i++) {
        const int turn = i % TURNS - TURNS / 2;
        letter_ink(picture_letters[i / TURNS], (float)turn * 0.12f, LETTER_WIDE, LETTER_HIGH, ink, 80);
        if (!shape_of(ink, 80, 80, &shapes[i]))
            abort();
    }
    shapes_made = true;
}

static char shape_name(const unsigned char *ink, int width, int height)
{
    struct shape shape;
    float best = -2;
    char name = 'A';
    if (!shape_of(ink, width, height, &shape))
        return name;
    for (int i = 0; i < 25 * TURNS; i++) {
        float product = 0;
        for (int at = 0; at < GRID_X * GRID_Y; at++)
            product += shape.at[at / GRID_X][at % GRID_X] * shapes[i].at[at / GRID_X][at % GRID_X];
        if (product > best) {
            best = product;
            name = picture_letters[i / TURNS];
        }
    }
    return name;
}

/* ---- cutting */

struct layer {
    int colour, count, middle; /* middle: the sum of x */
    int left, right;
};

static int layer_order(const void *a, const void *b)
{
    const struct layer *one = a, *other = b;
    return one->middle / one->count - other->middle / other->count;
}

/* Five colours that are each about as large as a letter and keep to a place: letters. */
static bool layers_find(const struct page *page, struct layer layers[SOLVER_LETTERS])
{
    struct layer all[INKS_MAX];
    int count = 0, found = 0;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        const int x = i % WIDTH, colour = page->ink[i / WIDTH][x];
        int at = 0;
        if (colour == 0)
            continue;
        while (at < count && all[at].colour != colour)
            at++;
        if (at == INKS_MAX)
            continue;
        if (at == count)
            all[count++] = (struct layer){ .colour = colour, .left = x, .right = x };
        all[at].count++;
        all[at].middle += x;
        all[at].left = x < all[at].left ? x : all[at].left;
        all[at].right = x > all[at].right ? x : all[at].right;
    }
    for (int i = 0; i < count; i++) {
        if (all[i].count > 120 && all[i].right - all[i].left < 60) {
            if (found == SOLVER_LETTERS)
                return false;
            layers[found++] = all[i];
        }
    }
    qsort(layers, (size_t)found, sizeof *layers, layer_order);
    return found == SOLVER_LETTERS;
}

/* Where the four cuts go through the least ink; letters are 18 to 48 wide. */
static void cuts_find(const struct page *page, int cuts[SOLVER_LETTERS + 1])
{
    static int cost[SOLVER_LETTERS + 1][WIDTH + 1], from[SOLVER_LETTERS + 1][WIDTH + 1];
    int column[WIDTH + 1] = { 0 }, left = 0, right = WIDTH;
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        column[i % WIDTH] += page->ink[i / WIDTH][i % WIDTH] != 0;
    while (left < WIDTH / 2 && column[left] < 11) /* more than lines have */
        left++;
    while (right > WIDTH / 2 && column[right - 1] < 11)
        right--;
    for (int k = 0; k <= SOLVER_LETTERS; k++)
        for (int x = 0; x <= WIDTH; x++)
            cost[k][x] = k == 0 && x == left ? 0 : 1 << 20;
    for (int k = 1; k <= SOLVER_LETTERS; k++) {
        for (int x = left; x <= right; x++) {
            for (int before = left; before < x; before++) {
                const int width = x - before, odd = width < 20 || width > 54 ? 100 : 0;
                const int sum = cost[k - 1][before] + odd + (k < SOLVER_LETTERS ? column[x] * 4 : 0)
                    + abs(width - (right - left) / SOLVER_LETTERS);
                if (sum < cost[k][x]) {
                    cost[k][x] = sum;
                    from[k][x] = before;
                }
            }
        }
    }
    cuts[SOLVER_LETTERS] = right;
    for (int k = SOLVER_LETTERS; k > 0; k--)
        cuts[k - 1] = cost[k][cuts[k]] < 1 << 20 ? from[k][cuts[k]] : left;
}

/* Takes lines away: ink that is less than `least` pixels high and not part of something thicker. */
static void lines_remove(struct page *page)
{
    static unsigned char keep[HEIGHT][WIDTH];
    memset(keep, 0, sizeof keep);
    for (int y = 0; y + 3 < HEIGHT; y++) {
        for (int x = 0; x + 3 < WIDTH; x++) {
            int ink = 0;
            for (int i = 0; i < 16; i++)
                ink += page->ink[y + i / 4][x + i % 4] != 0;
            for (int i = 0; ink == 16 && i < 16; i++)
                keep[y + i / 4][x + i % 4] = 1;
        }
    }
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        if (keep[i / WIDTH][i % WIDTH] == 0)
            page->ink[i / WIDTH][i % WIDTH] = 0;
}

void solver_segments(const struct picture *picture, char code[SOLVER_LETTERS + 1])
{
    static struct page page;
    static unsigned char ink[WIDTH * HEIGHT];
    struct layer layers[SOLVER_LETTERS];
    int cuts[SOLVER_LETTERS + 1];
    shapes_make();
    page_read(picture, &page);
    const bool coloured = layers_find(&page, layers);
    if (!coloured) {
        lines_remove(&page);
        cuts_find(&page, cuts);
    }
    for (int k = 0; k < SOLVER_LETTERS; k++) {
        for (int i = 0; i < WIDTH * HEIGHT; i++) {
            const int x = i % WIDTH, colour = page.ink[i / WIDTH][x];
            ink[i] = coloured ? colour == layers[k].colour
                              : colour != 0 && x >= cuts[k] && x < cuts[k + 1];
        }
        code[k] = shape_name(ink, WIDTH, HEIGHT);
    }
    code[SOLVER_LETTERS] = 0;
}

/* ---- without cutting */

enum { SIDE = 76, SIZES = 2, LOOKS = 5, STEP = 2 };

/* A letter as the places of its ink, for comparing it quickly. */
struct letter {
    int count, inner; /* inner: how many of them are in the middle of its place */
    struct {
        int8_t x, y;
    } at[SIDE * SIDE];
};
enum { INNER_X = 14, INNER_Y = 22 };

static void letter_make(char name, float angle, float wide, float high, struct letter *letter)
{
    static unsigned char ink[SIDE * SIDE];
    letter_ink(name, angle, wide, high, ink, SIDE);
    letter->count = letter->inner = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        const int x = i % SIDE - SIDE / 2, y = i / SIDE - SIDE / 2;
        if (ink[i] == 0)
            continue;
        letter->at[letter->count].x = (int8_t)x;
        letter->at[letter->count++].y = (int8_t)y;
        letter->inner += abs(x) < INNER_X && abs(y) < INNER_Y;
    }
}

/* page_sum[y][x]: how much ink is above and to the left. */
static int page_sum[HEIGHT + 1][WIDTH + 1];

static void page_sum_make(const struct page *page)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            page_sum[y + 1][x + 1] =
                page_sum[y][x + 1] + page_sum[y + 1][x] - page_sum[y][x] + (page->ink[y][x] != 0);
}

/* The best fit of a letter with its middle in a column: ink where it has ink, and no ink nearby that
 * it can't explain. */
static float letter_fit(const struct page *page, const struct letter *letter, int x)
{
    float best = -FLT_MAX;
    for (int y = HEIGHT / 2 - 10; y <= HEIGHT / 2 + 10; y += STEP) {
        int met = 0;
        for (int i = 0; i < letter->count; i++) {
            const int px = x + letter->at[i].x, py = y + letter->at[i].y;
            met += px >= 0 && py >= 0 && px < WIDTH && py < HEIGHT && page->ink[py][px] != 0;
        }
        const int left = x - INNER_X, right = x + INNER_X, top = y < INNER_Y ? 0 : y - INNER_Y;
        const int bottom = y + INNER_Y > HEIGHT ? HEIGHT : y + INNER_Y;
        const int ink = page_sum[bottom][right] - page_sum[top][right] - page_sum[bottom][left]
            + page_sum[top][left];
        const int explained = met * letter->inner / letter->count;
        const float worth = (float)met / (float)letter->count
            - 0.5f * (float)(ink - explained) / (float)letter->count;
        best = worth > best ? worth : best;
    }
    return best;
}

void solver_letters(const struct picture *picture, char code[SOLVER_LETTERS + 1])
{
    static struct page page;
    static struct letter letter;
    static float worth[WIDTH], sum[SOLVER_LETTERS][WIDTH];
    static char name[WIDTH];
    static int from[SOLVER_LETTERS][WIDTH];
    page_read(picture, &page);
    page_sum_make(&page);
    for (int x = 0; x < WIDTH; x++)
        worth[x] = -FLT_MAX;
    for (int look = 0; look < 25 * LOOKS * SIZES; look++) {
        const char known = picture_letters[look / (LOOKS * SIZES)];
        const float wide = look % SIZES == 0 ? LETTER_WIDE * 0.9f : LETTER_WIDE * 1.1f;
        const int turn = look / SIZES % LOOKS - LOOKS / 2;
        letter_make(known, (float)turn * 0.2f, wide, LETTER_HIGH, &letter);
        for (int x = 16; x < WIDTH - 16; x += STEP) {
            const float fit = letter_fit(&page, &letter, x);
            if (fit > worth[x]) {
                worth[x] = fit;
                name[x] = known;
            }
        }
    }
    int end = 16;
    for (int k = 0; k < SOLVER_LETTERS; k++) {
        for (int x = 16; x < WIDTH - 16; x += STEP) {
            sum[k][x] = k == 0 ? worth[x] : -FLT_MAX;
            for (int before = x - 44; k > 0 && before <= x - 28; before += STEP)
                if (before >= 16 && sum[k - 1][before] + worth[x] > sum[k][x]) {
                    sum[k][x] = sum[k - 1][before] + worth[x];
                    from[k][x] = before;
                }
        }
    }
    for (int x = 16; x < WIDTH - 16; x += STEP)
        end = sum[SOLVER_LETTERS - 1][x] > sum[SOLVER_LETTERS - 1][end] ? x : end;
    for (int k = SOLVER_LETTERS - 1; k >= 0; k--) {
        code[k] = name[end];
        end = from[k][end];
    }
    code[SOLVER_LETTERS] = 0;
}
