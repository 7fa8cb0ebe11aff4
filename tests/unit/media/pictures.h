/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures for tests, drawn by libgd: the left half red, the right half blue. */
#ifndef STAMPEDE_TESTS_PICTURES_H
#define STAMPEDE_TESTS_PICTURES_H

#include "media/picture_format.h"

struct made {
    char *bytes; /* free() it */
    size_t size;
};
struct made picture_draw(enum picture_format format, int width, int height);
/* The same with `more` put in behind the first `at` bytes. */
struct made picture_with(struct made picture, size_t at, struct span more); /* frees `picture` */
static inline struct span made_span(struct made made)
{
    return span_of(made.bytes, made.size);
}
/* An APP1 segment that says which way up. */
struct made exif_segment(uint32_t orientation, bool big_endian);
/* Whether the point of the picture, in percent of its sides, is mostly red. */
bool picture_is_red(struct span bytes, int x_percent, int y_percent);
/* A folder and the files in it. */
int picture_folder_remove(const char *path);

#endif
