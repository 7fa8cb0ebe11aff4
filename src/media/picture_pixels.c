/* SPDX-License-Identifier: Apache-2.0 */
#include "media/picture_pixels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum status pixels_make(struct pixels *pixels, uint32_t width, uint32_t height)
{
    invariant(width > 0 && height > 0);
    *pixels = (struct pixels){ .width = width, .height = height };
    pixels->at = calloc((size_t)width * height, PIXEL_BYTES);
    return pixels->at != NULL ? STATUS_OK : STATUS_FULL;
}

void pixels_free(struct pixels *pixels)
{
    free(pixels->at);
    *pixels = (struct pixels){ 0 };
}

static void pixels_replace(struct pixels *pixels, struct pixels *fresh)
{
    fresh->alpha = pixels->alpha;
    pixels_free(pixels);
    *pixels = *fresh;
}

/* ---- upright */

/* Where the new picture's pixel (x, y) lies in the old one. */
struct turning {
    bool swapped, from_right, from_bottom; /* rows become columns; the old x, y count from there */
};

enum status pixels_upright(struct pixels *pixels, uint32_t orientation)
{
    static const struct turning turnings[] = { { 0 }, { 0 }, { .from_right = true },
        { .from_right = true, .from_bottom = true }, { .from_bottom = true }, { .swapped = true },
        { .swapped = true, .from_bottom = true },
        { .swapped = true, .from_right = true, .from_bottom = true },
        { .swapped = true, .from_right = true } };
    invariant(orientation < sizeof turnings / sizeof *turnings);
    const struct turning *turning = &turnings[orientation];
    struct pixels fresh;
    if (orientation <= 1)
        return STATUS_OK;
    const enum status status = pixels_make(&fresh, turning->swapped ? pixels->height : pixels->width,
        turning->swapped ? pixels->width : pixels->height);
    if (status != STATUS_OK)
        return status;
    uint8_t *to = fresh.at;
    for (uint32_t y = 0; y < fresh.height; y++) {
        for (uint32_t x = 0; x < fresh.width; x++, to += PIXEL_BYTES) {
            uint32_t old_x = turning->swapped ? y : x, old_y = turning->swapped ? x : y;
            old_x = turning->from_right ? pixels->width - 1 - old_x : old_x;
            old_y = turning->from_bottom ? pixels->height - 1 - old_y : old_y;
            memcpy(to, pixels->at + ((size_t)old_y * pixels->width + old_x) * PIXEL_BYTES, PIXEL_BYTES);
        }
    }
    pixels_replace(pixels, &fresh);
    return STATUS_OK;
}

/* ---- shrink: columns of a row first, then rows */

/* One row, each pixel as wide as `step` old ones; colours count as much as they can be seen. */
static void row_shrink(const uint8_t *from, uint32_t width, float *to, uint32_t new_width)
{
    const double step = (double)width / new_width;
    for (uint32_t x = 0; x < new_width; x++, to += PIXEL_BYTES) {
        const double left = x * step, right = fmin((x + 1) * step, width);
        double sum[PIXEL_BYTES] = { 0 };
        for (uint32_t at = (uint32_t)left; at < right; at++) {
            const uint8_t *pixel = from + (size_t)at * PIXEL_BYTES;
            const double part = (fmin(at + 1, right) - fmax(at, left)) / step * pixel[3];
            for (int i = 0; i < 3; i++)
                sum[i] += part * pixel[i];
            sum[3] += part;
        }
        for (int i = 0; i < PIXEL_BYTES; i++)
            to[i] = (float)sum[i];
    }
}

static void row_add(float *sum, const float *row, uint32_t width, float part)
{
    for (size_t i = 0; i < (size_t)width * PIXEL_BYTES; i++)
        sum[i] += row[i] * part;
}

static void row_put(const float *sum, uint32_t width, uint8_t *to)
{
    for (uint32_t x = 0; x < width; x++, sum += PIXEL_BYTES, to += PIXEL_BYTES) {
        for (int i = 0; i < 3 && sum[3] > 0; i++)
            to[i] = (uint8_t)lrintf(fminf(sum[i] / sum[3], 255));
        to[3] = (uint8_t)lrintf(fminf(sum[3], 255));
    }
}

/* `rows`: room for two rows of the new width. */
static void pixels_shrink_into(const struct pixels *pixels, struct pixels *fresh, float *rows)
{
    const double step = (double)pixels->height / fresh->height;
    const size_t numbers = (size_t)fresh->width * PIXEL_BYTES;
    float *sum = rows, *row = rows + numbers;
    uint32_t in_row = UINT32_MAX; /* the old row that `row` is made of */
    for (uint32_t y = 0; y < fresh->height; y++) {
        const double top = y * step, bottom = fmin((y + 1) * step, pixels->height);
        memset(sum, 0, numbers * sizeof *sum);
        for (uint32_t at = (uint32_t)top; at < bottom; at++) {
            if (at != in_row)
                row_shrink(pixels->at + (size_t)at * pixels->width * PIXEL_BYTES, pixels->width,
                    row, fresh->width);
            in_row = at;
            row_add(sum, row, fresh->width, (float)((fmin(at + 1, bottom) - fmax(at, top)) / step));
        }
        row_put(sum, fresh->width, fresh->at + (size_t)y * numbers);
    }
}

enum status pixels_shrink(struct pixels *pixels, uint32_t side_max)
{
    const uint32_t longest = pixels->width > pixels->height ? pixels->width : pixels->height;
    struct pixels fresh;
    if (longest <= side_max)
        return STATUS_OK;
    const uint32_t width = (uint32_t)((uint64_t)pixels->width * side_max / longest);
    const uint32_t height = (uint32_t)((uint64_t)pixels->height * side_max / longest);
    const enum status status = pixels_make(&fresh, width < 1 ? 1 : width, height < 1 ? 1 : height);
    if (status != STATUS_OK)
        return status;
    float *rows = calloc(2 * (size_t)fresh.width * PIXEL_BYTES, sizeof *rows);
    if (rows == NULL) {
        pixels_free(&fresh);
        return STATUS_FULL;
    }
    pixels_shrink_into(pixels, &fresh, rows);
    free(rows);
    pixels_replace(pixels, &fresh);
    return STATUS_OK;
}
