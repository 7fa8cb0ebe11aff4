/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. A sheet has two colours, so a point is only how much ink it has: as much of it as the line
 * covers, which is how far its middle lies inside the edge. The PNG has a palette of ten mixtures,
 * four bits a point, no filter: chunks IHDR, PLTE, IDAT, IEND, each with its length before and its CRC
 * after it. */
#include "funnel/human/picture_paper.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

void paper_clear(struct paper *paper, int width, int height)
{
    invariant(width > 0 && height > 0 && width % 2 == 0 && width * height <= PAPER_POINTS_MAX);
    paper->width = width;
    paper->height = height;
    memset(paper->ink, 0, (size_t)width * (size_t)height);
}

/* ---- lines */

static int clamped(double value, int most)
{
    return value < 0 ? 0 : value > most ? most : (int)value;
}

/* How far is the point from the line, in squares? */
static double line_far(struct spot from, double dx, double dy, double length_squared, double x, double y)
{
    const double along = (x - from.x) * dx + (y - from.y) * dy;
    const double part = along <= 0 ? 0 : along >= length_squared ? 1 : along / length_squared;
    const double far_x = x - from.x - part * dx, far_y = y - from.y - part * dy;
    return far_x * far_x + far_y * far_y;
}

static int ink_of(double far_squared, double half)
{
    const double covered = half + 0.5 - sqrt(far_squared);
    return (int)lrint(PAPER_INK_MOST * (covered > 1 ? 1 : covered));
}

static void line_draw(struct paper *paper, struct spot from, struct spot to, double thick, bool erase)
{
    const double half = thick / 2, reach = half + 0.5, dx = to.x - from.x, dy = to.y - from.y;
    const double length_squared = dx * dx + dy * dy;
    const int left = clamped(fmin(from.x, to.x) - reach, paper->width);
    const int right = clamped(fmax(from.x, to.x) + reach + 1, paper->width);
    const int top = clamped(fmin(from.y, to.y) - reach, paper->height);
    const int bottom = clamped(fmax(from.y, to.y) + reach + 1, paper->height);
    for (int y = top; y < bottom; y++) {
        for (int x = left; x < right; x++) {
            const double far = line_far(from, dx, dy, length_squared, x + 0.5, y + 0.5);
            if (far >= reach * reach)
                continue;
            uint8_t *at = &paper->ink[y * paper->width + x];
            const int ink = ink_of(far, half);
            if (erase && *at > PAPER_INK_MOST - ink)
                *at = (uint8_t)(PAPER_INK_MOST - ink);
            else if (!erase && *at < ink)
                *at = (uint8_t)ink;
        }
    }
}

void paper_ink_line(struct paper *paper, struct spot from, struct spot to, double thick)
{
    line_draw(paper, from, to, thick, false);
}

void paper_erase_line(struct paper *paper, struct spot from, struct spot to, double thick)
{
    line_draw(paper, from, to, thick, true);
}

/* ---- PNG */

enum {
    PNG_CHUNK_EXTRA = 12, /* length, name, CRC */
    PNG_LEVEL = 6,
    PNG_ROWS_MAX = PAPER_POINTS_MAX / 2 + PICTURE_SLIDER_HEIGHT,
};
static_assert(PAPER_INK_MOST < 16, "four bits a point");
static_assert((int)PICTURE_CODE_HEIGHT <= (int)PICTURE_SLIDER_HEIGHT
        && (int)PICTURE_PIECE_SIZE <= (int)PICTURE_SLIDER_HEIGHT,
    "PNG_ROWS_MAX holds each of them");

static void big32_put(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* The content already lies eight bytes after the end of what is written. */
static void chunk_close(struct picture *out, const char name[4], uint32_t size)
{
    uint8_t *chunk = out->png + out->size;
    big32_put(chunk, size);
    memcpy(chunk + 4, name, 4);
    big32_put(chunk + 8 + size, (uint32_t)crc32(0, chunk + 4, size + 4));
    out->size += size + PNG_CHUNK_EXTRA;
}

static void palette_put(const struct paper_colours *colours, uint8_t *at)
{
    for (int ink = 0; ink <= PAPER_INK_MOST; ink++)
        for (int i = 0; i < 3; i++)
            *at++ = (uint8_t)(colours->paper[i]
                + (colours->ink[i] - colours->paper[i]) * ink / PAPER_INK_MOST);
}

/* Two points a byte, before each row a 0: no filter. */
static size_t rows_pack(const struct paper *paper, uint8_t *rows)
{
    uint8_t *at = rows;
    for (int y = 0; y < paper->height; y++) {
        const uint8_t *ink = &paper->ink[y * paper->width];
        *at++ = 0;
        for (int x = 0; x < paper->width; x += 2)
            *at++ = (uint8_t)(ink[x] << 4 | ink[x + 1]);
    }
    return (size_t)(at - rows);
}

enum status paper_png(const struct paper *paper, const struct paper_colours *colours, struct picture *out)
{
    static const uint8_t magic[8] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };
    static const uint8_t kind[5] = { 4, 3, 0, 0, 0 }; /* four bits, a palette; nothing else */
    uint8_t rows[PNG_ROWS_MAX];
    const size_t rows_bytes = rows_pack(paper, rows);
    memcpy(out->png, magic, sizeof magic);
    out->size = sizeof magic;
    uint8_t *content = out->png + out->size + 8;
    big32_put(content, (uint32_t)paper->width);
    big32_put(content + 4, (uint32_t)paper->height);
    memcpy(content + 8, kind, sizeof kind);
    chunk_close(out, "IHDR", 13);
    palette_put(colours, out->png + out->size + 8);
    chunk_close(out, "PLTE", 3 * (PAPER_INK_MOST + 1));
    uLongf packed = PICTURE_BYTES_MAX - out->size - 2 * PNG_CHUNK_EXTRA;
    if (compress2(out->png + out->size + 8, &packed, rows, rows_bytes, PNG_LEVEL) != Z_OK) {
        out->size = 0;
        return STATUS_FULL;
    }
    chunk_close(out, "IDAT", (uint32_t)packed);
    chunk_close(out, "IEND", 0);
    return STATUS_OK;
}
