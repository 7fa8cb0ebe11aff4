/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/human/picture.h: draws what a person is asked to read or to move: a distorted code, or a
 * picture with many figures and two pieces that show two of them again. PNG; the letters are outlines
 * of our own, so no font is needed. Thread: any, never an edge: drawing takes about a millisecond, 70
 * KiB of the stack, and zlib allocates. Memory: the caller's buffers; zlib gives back what it
 * allocates. Errors: STATUS_FULL when the picture does not fit the buffer or zlib has no memory. */
#ifndef STAMPEDE_FUNNEL_HUMAN_PICTURE_H
#define STAMPEDE_FUNNEL_HUMAN_PICTURE_H

#include "base/random.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum {
    PICTURE_CODE_WIDTH = 240,
    PICTURE_CODE_HEIGHT = 80,
    PICTURE_LETTER_SIZE = 40,
    PICTURE_LETTER_THICK = 6,
    PICTURE_SLIDER_WIDTH = 300,
    PICTURE_SLIDER_HEIGHT = 156,
    PICTURE_SLIDER_PLACES = 18, /* where figures stand */
    PICTURE_FIGURES = 13,
    PICTURE_FIGURE_SIZE = 46,
    PICTURE_PIECES = 2,
    PICTURE_PIECE_SIZE = 56,
    PICTURE_BYTES_MAX = 12 * 1024,
};

struct picture {
    uint32_t size;
    uint8_t png[PICTURE_BYTES_MAX];
};

/* The letters of codes: no two look alike. */
extern const char picture_letters[];

MUST_CHECK enum status picture_code(struct random *random, const char *code, struct picture *out);
/* Which figures the pieces show, and where these stand in the picture: all four are different and secret,
 * so the caller draws them from a better source than `random`. */
struct picture_slider_plan {
    uint8_t figure[PICTURE_PIECES]; /* below PICTURE_FIGURES */
    uint8_t way[PICTURE_PIECES]; /* 0 or 1: how the piece draws it; the picture does it the other way */
    uint8_t place[PICTURE_PIECES]; /* below PICTURE_SLIDER_PLACES */
};
/* x: where the middle of each wanted figure is. */
MUST_CHECK enum status picture_slider(struct random *random, const struct picture_slider_plan *plan,
    uint32_t x[PICTURE_PIECES], struct picture *whole, struct picture pieces[PICTURE_PIECES]);

#endif
