/* SPDX-License-Identifier: Apache-2.0 */
/* media/picture_pixels.h: a decoded picture, how it is turned and made smaller, and the decoders and
 * encoders of the three formats. A decoder is told the size that the header promised
 * (picture_format.h) and refuses a picture that has another one, so what it allocates is known before.
 * Thread: any; keeps nothing. */
#ifndef STAMPEDE_MEDIA_PICTURE_PIXELS_H
#define STAMPEDE_MEDIA_PICTURE_PIXELS_H

#include "base/span.h"
#include "base/status.h"

#include <stdbool.h>

enum { PIXEL_BYTES = 4 }; /* red, green, blue, alpha (255: opaque) */

struct pixels {
    uint32_t width, height;
    bool alpha;  /* false: all of it is opaque */
    uint8_t *at; /* row by row, without gaps; pixels_free */
};

/* STATUS_FULL: no memory. */
MUST_CHECK enum status pixels_make(struct pixels *pixels, uint32_t width, uint32_t height);
void pixels_free(struct pixels *pixels); /* accepts what was never made */
/* EXIF's eight ways, 1 … 8: mirrored where the number says so, then turned. STATUS_FULL: no memory. */
MUST_CHECK enum status pixels_upright(struct pixels *pixels, uint32_t orientation);
/* Each new pixel is the mean of those that it covers. STATUS_FULL: no memory. */
MUST_CHECK enum status pixels_shrink(struct pixels *pixels, uint32_t side_max);

/* `pixels` has its size already (pixels_make). STATUS_BAD_INPUT: damaged, or of another size. */
MUST_CHECK enum status jpeg_decode(struct span bytes, struct pixels *pixels);
MUST_CHECK enum status png_decode(struct span bytes, struct pixels *pixels);
MUST_CHECK enum status webp_decode(struct span bytes, struct pixels *pixels);

/* Uses the pixels up; free() *out. STATUS_FULL: no memory. STATUS_BAD_INPUT: the format can't hold it. */
MUST_CHECK enum status jpeg_encode(struct pixels *pixels, void **out, size_t *size);
MUST_CHECK enum status png_encode(struct pixels *pixels, void **out, size_t *size);
MUST_CHECK enum status webp_encode(struct pixels *pixels, void **out, size_t *size);

#endif
