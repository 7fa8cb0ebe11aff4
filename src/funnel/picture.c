/* DESIGN. A letter is drawn small with libgd's font, then carried over point by point through a map of
 * its own: turned, stretched, bent by two waves. Lines of the letters' colours cross them. A slider
 * picture is a soft field of colour with many overlapping shapes, so that the gap's edge is one of
 * many; the piece is cut out before the gap is shaded. */
#include "funnel/picture.h"

#include <gd.h>
#include <gdfontg.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

const char picture_letters[] = "ACDEFHJKLMNPQRTUVWXY34679";

enum {
    LETTER_PLACE = 36, /* pixels from one letter to the next */
    LETTER_SCALE_PERCENT = 290,
    CODE_LINES = 5,
    CODE_DOTS = 240,
    SLIDER_SHAPES = 60,
    FALSE_GAPS = 2,
    SIDE = PICTURE_PIECE_SIZE,
    NOTCH = SIDE / 6,
    GAP_SHADE = 70, /* of gdAlphaMax: how much of the picture is still seen in the gap */
};

/* [least, most] */
static int between(struct random *random, int least, int most)
{
    return least + (int)random_below(random, (uint64_t)most - (uint64_t)least + 1);
}

static int colour(struct random *random, int least, int most)
{
    return gdTrueColor(
        between(random, least, most), between(random, least, most), between(random, least, most));
}

static enum status png_write(gdImagePtr image, struct picture *out)
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
    const double angle = between(random, -28, 28) * M_PI / 180;
    return (struct bend){ .turn_sin = sin(angle),
        .turn_cos = cos(angle),
        .scale_x = LETTER_SCALE_PERCENT * between(random, 85, 115) / 10000.0,
        .scale_y = LETTER_SCALE_PERCENT * between(random, 90, 120) / 10000.0,
        .wave = between(random, 6, 15) / 10.0,
        .phase = between(random, 0, 628) / 100.0,
        .length = between(random, 20, 34) };
}

/* Is there ink of the letter at this distance from the middle of its place? */
static bool letter_ink(const gdFont *font, char letter, const struct bend *bend, double dx, double dy)
{
    dx += bend->wave * sin(dy / bend->length * 2 * M_PI + bend->phase);
    dy += bend->wave * sin(dx / bend->length * 2 * M_PI + bend->phase);
    const double x = (dx * bend->turn_cos + dy * bend->turn_sin) / bend->scale_x + font->w / 2.0;
    const double y = (dy * bend->turn_cos - dx * bend->turn_sin) / bend->scale_y + font->h / 2.0;
    if (x < 0 || y < 0 || x >= font->w || y >= font->h)
        return false;
    const int index = (letter - font->offset) * font->w * font->h + (int)y * font->w + (int)x;
    return font->data[index] != 0;
}

static void letter_draw(gdImagePtr image, struct random *random, char letter, int middle_x)
{
    const struct bend bend = bend_make(random);
    gdFont *font = gdFontGetGiant();
    const int middle_y = PICTURE_CODE_HEIGHT / 2 + between(random, -7, 7);
    const int ink = colour(random, 10, 110);
    for (int y = 0; y < PICTURE_CODE_HEIGHT; y++)
        for (int x = middle_x - LETTER_PLACE; x < middle_x + LETTER_PLACE; x++)
            if (x >= 0 && x < PICTURE_CODE_WIDTH
                && letter_ink(font, letter, &bend, x - middle_x, y - middle_y))
                gdImageSetPixel(image, x, y, ink);
}

static void code_noise(gdImagePtr image, struct random *random)
{
    for (int i = 0; i < CODE_DOTS; i++)
        gdImageSetPixel(image, between(random, 0, PICTURE_CODE_WIDTH - 1),
            between(random, 0, PICTURE_CODE_HEIGHT - 1), colour(random, 20, 180));
    gdImageSetThickness(image, 2);
    for (int i = 0; i < CODE_LINES; i++)
        gdImageArc(image, between(random, 0, PICTURE_CODE_WIDTH),
            between(random, 0, PICTURE_CODE_HEIGHT), between(random, 80, 260), between(random, 30, 120),
            between(random, 0, 180), between(random, 181, 360), colour(random, 20, 130));
}

enum status picture_code(struct random *random, const char *code, struct picture *out)
{
    gdImagePtr image = gdImageCreateTrueColor(PICTURE_CODE_WIDTH, PICTURE_CODE_HEIGHT);
    if (image == NULL)
        return STATUS_FULL;
    gdImageFilledRectangle(
        image, 0, 0, PICTURE_CODE_WIDTH, PICTURE_CODE_HEIGHT, colour(random, 215, 245));
    const int letters = (int)strlen(code);
    const int first = PICTURE_CODE_WIDTH / 2 - (letters - 1) * LETTER_PLACE / 2;
    for (int i = 0; i < letters; i++)
        letter_draw(image, random, code[i], first + i * LETTER_PLACE + between(random, -3, 3));
    code_noise(image, random);
    gdImageTrueColorToPalette(image, 0, 64);
    const enum status status = png_write(image, out);
    gdImageDestroy(image);
    return status;
}

/* ---- sliders */

/* The outline of the piece: a square with a round notch cut out on the left and above. */
static bool piece_has(int x, int y)
{
    const int middle = SIDE / 2;
    const int left = x * x + (y - middle) * (y - middle);
    const int above = (x - middle) * (x - middle) + y * y;
    return x >= 0 && y >= 0 && x < SIDE && y < SIDE && left > NOTCH * NOTCH && above > NOTCH * NOTCH;
}

static bool piece_edge(int x, int y)
{
    return piece_has(x, y)
        && (!piece_has(x - 1, y) || !piece_has(x + 1, y) || !piece_has(x, y - 1) || !piece_has(x, y + 1));
}

static void field_draw(gdImagePtr image, struct random *random)
{
    const int from[3] = { between(random, 40, 200), between(random, 40, 200), between(random, 40, 200) };
    const int to[3] = { between(random, 60, 220), between(random, 60, 220), between(random, 60, 220) };
    for (int x = 0; x < PICTURE_SLIDER_WIDTH; x++) {
        int mixed[3];
        for (int c = 0; c < 3; c++)
            mixed[c] = from[c] + (to[c] - from[c]) * x / PICTURE_SLIDER_WIDTH;
        gdImageLine(image, x, 0, x, PICTURE_SLIDER_HEIGHT, gdTrueColor(mixed[0], mixed[1], mixed[2]));
    }
    for (int i = 0; i < SLIDER_SHAPES; i++) {
        const int ink = gdTrueColorAlpha(between(random, 20, 235), between(random, 20, 235),
            between(random, 20, 235), between(random, 30, 90));
        const int x = between(random, 0, PICTURE_SLIDER_WIDTH),
                  y = between(random, 0, PICTURE_SLIDER_HEIGHT);
        const int width = between(random, 12, 80), height = between(random, 12, 70);
        if (i % 2 == 0)
            gdImageFilledEllipse(image, x, y, width, height, ink);
        else
            gdImageFilledRectangle(image, x, y, x + width, y + height, ink);
    }
}

static void piece_cut(gdImagePtr whole, gdImagePtr piece, int left, int top)
{
    gdImageAlphaBlending(piece, 0);
    gdImageSaveAlpha(piece, 1);
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            const int ink = piece_edge(x, y) ? gdTrueColor(255, 255, 255)
                : piece_has(x, y)            ? gdImageGetPixel(whole, left + x, top + y)
                                             : gdTrueColorAlpha(0, 0, 0, gdAlphaTransparent);
            gdImageSetPixel(piece, x, y, ink);
        }
    }
}

static void gap_shade(gdImagePtr whole, int left, int top, int alpha)
{
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            if (piece_has(x, y))
                gdImageSetPixel(whole, left + x, top + y,
                    piece_edge(x, y) ? gdTrueColorAlpha(255, 255, 255, 60)
                                     : gdTrueColorAlpha(0, 0, 0, alpha));
}

/* Fainter gaps off the real one's line: a search for "something dark" finds several. */
static void false_gaps(gdImagePtr whole, struct random *random, int top)
{
    for (int i = 0; i < FALSE_GAPS; i++) {
        int y = between(random, 4, PICTURE_SLIDER_HEIGHT - SIDE - 4);
        if (y > top - SIDE / 2 && y < top + SIDE / 2) /* never on the piece's own line */
            y = top > PICTURE_SLIDER_HEIGHT / 2 - SIDE / 2 ? 4 : PICTURE_SLIDER_HEIGHT - SIDE - 4;
        gap_shade(whole, between(random, SIDE, PICTURE_GAP_MAX), y, 95);
    }
}

enum status picture_slider(
    struct random *random, uint32_t x, uint32_t *y, struct picture *whole, struct picture *piece)
{
    gdImagePtr field = gdImageCreateTrueColor(PICTURE_SLIDER_WIDTH, PICTURE_SLIDER_HEIGHT);
    gdImagePtr cut = gdImageCreateTrueColor(SIDE, SIDE);
    enum status status = STATUS_FULL;
    const int top = between(random, 8, PICTURE_SLIDER_HEIGHT - SIDE - 8);
    *y = (uint32_t)top;
    if (field != NULL && cut != NULL) {
        field_draw(field, random);
        piece_cut(field, cut, (int)x, top);
        false_gaps(field, random, top);
        gap_shade(field, (int)x, top, GAP_SHADE);
        gdImageTrueColorToPalette(field, 0, 128);
        status = png_write(field, whole);
        if (status == STATUS_OK)
            status = png_write(cut, piece);
    }
    if (field != NULL)
        gdImageDestroy(field);
    if (cut != NULL)
        gdImageDestroy(cut);
    return status;
}
