/* funnel/picture.h: draws what a person is asked to read or to move: a distorted code, or a picture
 * with a gap and the piece that fits it. PNG, by libgd, with its built-in font: no font file is needed.
 * Thread: any, never an edge: drawing takes about a millisecond and allocates. Memory: the caller's
 * buffers; what libgd allocates it gives back before returning.
 * Errors: STATUS_FULL when the picture does not fit the buffer or libgd has no memory. */
#ifndef STAMPEDE_FUNNEL_PICTURE_H
#define STAMPEDE_FUNNEL_PICTURE_H

#include "base/random.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum {
    PICTURE_CODE_WIDTH = 200,
    PICTURE_CODE_HEIGHT = 72,
    PICTURE_SLIDER_WIDTH = 300,
    PICTURE_SLIDER_HEIGHT = 150,
    PICTURE_PIECE_SIZE = 48,
    PICTURE_GAP_MIN = PICTURE_PIECE_SIZE + 24, /* the gap is never where the piece starts */
    PICTURE_GAP_MAX = PICTURE_SLIDER_WIDTH - PICTURE_PIECE_SIZE - 4,
    PICTURE_BYTES_MAX = 12 * 1024,
};

struct picture {
    uint32_t size;
    uint8_t png[PICTURE_BYTES_MAX];
};

/* The letters of codes: no two look alike. */
extern const char picture_letters[];

MUST_CHECK enum status picture_code(struct random *random, const char *code, struct picture *out);
/* The piece lies at height *y of the whole; x: where the gap's left edge is. */
MUST_CHECK enum status picture_slider(
    struct random *random, uint32_t x, uint32_t *y, struct picture *whole, struct picture *piece);

#endif
