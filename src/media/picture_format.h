/* SPDX-License-Identifier: Apache-2.0 */
/* media/picture_format.h: what a picture says of itself in its first bytes: format, size, which way
 * up. Reads headers only, so it is cheap and safe before anything is decoded; the bytes may be
 * anything. Thread: any; keeps nothing. */
#ifndef STAMPEDE_MEDIA_PICTURE_FORMAT_H
#define STAMPEDE_MEDIA_PICTURE_FORMAT_H

#include "base/span.h"

enum picture_format { PICTURE_UNKNOWN, PICTURE_JPEG, PICTURE_PNG, PICTURE_WEBP, PICTURE_FORMATS };

enum {
    PICTURE_SIDE_MAX = 16384, /* pixels */
    PICTURE_PIXELS_MAX = 24 * 1000 * 1000,
};

/* "jpg", "png", "webp"; "" for PICTURE_UNKNOWN. */
const char *picture_extension(enum picture_format format);
struct span picture_type(enum picture_format format); /* "image/jpeg", … */

enum picture_format picture_format_of(struct span bytes);
/* STATUS_BAD_INPUT: no size is found, or it is 0. Large sizes are told, not judged. */
MUST_CHECK enum status picture_size_of(struct span bytes, uint32_t *width, uint32_t *height);
/* 1 … 8 as EXIF counts them; 1 (upright) where nothing sensible is said. */
uint32_t picture_orientation_of(struct span bytes);
/* Of a JPEG with four inks: whether it says how much ink is left away, as Adobe's programs do. */
bool picture_inks_inverted(struct span bytes);
/* NULL: it may be decoded; else a sentence that says why not. */
const char *picture_wrong(struct span bytes);

#endif
