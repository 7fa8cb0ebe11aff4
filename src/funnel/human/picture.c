/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. A letter is drawn small with libgd's font, then carried over point by point through a map of
 * its own: turned, stretched, bent by two waves. Letters touch and overlap, stand at uneven distances and
 * heights, and have one ink, which a line as thick as their strokes has too; another line cuts
 * through them in the colour of the paper. So neither colour nor gaps tell where a letter ends. */
#include "funnel/human/picture_parts.h"

#include <gdfontg.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

const char picture_letters[] = "ACDEFHJKLMNPQRTUVWXY34679";

enum {
    LETTER_STEP_LEAST = 31, /* pixels from one letter to the next */
    LETTER_STEP_MOST = 40,
    LETTER_REACH = 42,
    LETTER_SCALE_PERCENT = 370,
    INK_LINES = 1,
    PAPER_LINES = 1,
};

/* [least, most] */
int picture_between(struct random *random, int least, int most)
{
    return least + (int)random_below(random, (uint64_t)most - (uint64_t)least + 1);
}

int picture_colour(struct random *random, int least, int most)
{
    return gdTrueColor(picture_between(random, least, most), picture_between(random, least, most),
        picture_between(random, least, most));
}

enum status picture_png(gdImagePtr image, struct picture *out)
{
    int size = 0;
    void *bytes = gdImagePngPtrEx(image, &size, 6);
    const bool fits = bytes != NULL && size > 0 && size <= PICTURE_BYTES_MAX;
    out->size = 0;
    if (fits) {
        memcpy(out->png, bytes, (size_t)size);
        out->size = (uint32_t)size;
    }
    gdFree(bytes);
    return fits ? STATUS_OK : STATUS_FULL;
}

/* ---- codes */

struct bend {
    double turn_sin, turn_cos, scale_x, scale_y, wave, phase, length;
};

static struct bend bend_make(struct random *random)
{
    const double angle = picture_between(random, -33, 33) * M_PI / 180;
    return (struct bend){ .turn_sin = sin(angle),
        .turn_cos = cos(angle),
        .scale_x = LETTER_SCALE_PERCENT * picture_between(random, 72, 122) / 10000.0,
        .scale_y = LETTER_SCALE_PERCENT * picture_between(random, 80, 122) / 10000.0,
        .wave = picture_between(random, 10, 20) / 10.0,
        .phase = picture_between(random, 0, 628) / 100.0,
        .length = picture_between(random, 22, 36) };
}

static double font_ink(const gdFont *font, char letter, int x, int y)
{
    if (x < 0 || y < 0 || x >= font->w || y >= font->h)
        return 0;
    return font->data[(letter - font->offset) * font->w * font->h + y * font->w + x] != 0;
}

/* How much ink of the letter is at this distance from the middle of its place, 0 to 1? Between the points
 * of the font it fades, so that edges are smooth. */
static double letter_ink(const gdFont *font, char letter, const struct bend *bend, double dx, double dy)
{
    dx += bend->wave * sin(dy / bend->length * 2 * M_PI + bend->phase);
    dy += bend->wave * sin(dx / bend->length * 2 * M_PI + bend->phase);
    const double x = (dx * bend->turn_cos + dy * bend->turn_sin) / bend->scale_x + font->w / 2.0 - 0.5;
    const double y = (dy * bend->turn_cos - dx * bend->turn_sin) / bend->scale_y + font->h / 2.0 - 0.5;
    const int left = (int)floor(x), top = (int)floor(y);
    const double right_part = x - left, lower_part = y - top;
    const double above = font_ink(font, letter, left, top) * (1 - right_part)
        + font_ink(font, letter, left + 1, top) * right_part;
    const double below = font_ink(font, letter, left, top + 1) * (1 - right_part)
        + font_ink(font, letter, left + 1, top + 1) * right_part;
    const double ink = (above * (1 - lower_part) + below * lower_part - 0.28) / 0.2;
    return ink < 0 ? 0 : ink > 1 ? 1 : ink;
}

static void letter_draw(gdImagePtr image, struct random *random, char letter, int middle_x, int ink)
{
    const struct bend bend = bend_make(random);
    gdFont *font = gdFontGetGiant();
    const int middle_y = PICTURE_CODE_HEIGHT / 2 + picture_between(random, -9, 9);
    for (int y = 0; y < PICTURE_CODE_HEIGHT; y++) {
        for (int x = middle_x - LETTER_REACH; x < middle_x + LETTER_REACH; x++) {
            const double much = letter_ink(font, letter, &bend, x - middle_x, y - middle_y);
            if (x >= 0 && x < PICTURE_CODE_WIDTH && much > 0)
                gdImageSetPixel(image, x, y, ink | (int)((1 - much) * gdAlphaMax) << 24);
        }
    }
}

/* A wave from edge to edge. */
static void line_draw(gdImagePtr image, struct random *random, int thick, int ink)
{
    const int from = picture_between(random, 14, PICTURE_CODE_HEIGHT - 14);
    const int to = picture_between(random, 14, PICTURE_CODE_HEIGHT - 14);
    const double high = picture_between(random, 6, 14), length = picture_between(random, 70, 130);
    const double phase = picture_between(random, 0, 628) / 100.0;
    int last_x = 0, last_y = from;
    gdImageSetThickness(image, thick);
    for (int x = 0; x < PICTURE_CODE_WIDTH + 4; x += 4) {
        const int y = (int)(from + (to - from) * x / (double)PICTURE_CODE_WIDTH
            + high * sin(x / length * 2 * M_PI + phase));
        if (x > 0)
            gdImageLine(image, last_x, last_y, x, y, ink);
        last_x = x;
        last_y = y;
    }
}

enum status picture_code(struct random *random, const char *code, struct picture *out)
{
    enum { LETTERS_MAX = 8 };
    int places[LETTERS_MAX] = { 0 };
    const int letters = (int)strlen(code);
    invariant(letters > 0 && letters <= LETTERS_MAX);
    gdImagePtr image = gdImageCreateTrueColor(PICTURE_CODE_WIDTH, PICTURE_CODE_HEIGHT);
    if (image == NULL)
        return STATUS_FULL;
    const int paper = picture_colour(random, 215, 250), ink = picture_colour(random, 10, 100);
    gdImageFilledRectangle(image, 0, 0, PICTURE_CODE_WIDTH, PICTURE_CODE_HEIGHT, paper);
    for (int i = 1; i < letters; i++)
        places[i] = places[i - 1] + picture_between(random, LETTER_STEP_LEAST, LETTER_STEP_MOST);
    const int first = 24 + picture_between(random, 0, PICTURE_CODE_WIDTH - 48 - places[letters - 1]);
    for (int i = 0; i < letters; i++)
        letter_draw(image, random, code[i], first + places[i], ink);
    for (int i = 0; i < PAPER_LINES; i++)
        line_draw(image, random, 2, paper);
    for (int i = 0; i < INK_LINES; i++)
        line_draw(image, random, 4, ink);
    gdImageTrueColorToPalette(image, 0, 8);
    const enum status status = picture_png(image, out);
    gdImageDestroy(image);
    return status;
}
