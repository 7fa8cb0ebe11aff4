/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures for tests, written by each format's own library: the left half red, the right half blue. */
#ifndef STAMPEDE_TESTS_PICTURES_H
#define STAMPEDE_TESTS_PICTURES_H

#include "media/picture_format.h"

struct made {
    char *bytes; /* free() it */
    size_t size;
};
struct made picture_draw(enum picture_format format, int width, int height);
/* A JPEG with one scan for each bit of a coefficient: 757 of them. */
struct made picture_draw_scans(void);
/* A JPEG of four inks: cyan on the left, black on the right; `adobe`: stored the other way around. */
struct made picture_draw_inks(bool adobe);
/* A PNG whose left half is red and opaque, and whose right half can't be seen. */
struct made picture_draw_glass(int width, int height);
/* The same with `more` put in behind the first `at` bytes. */
struct made picture_with(struct made picture, size_t at, struct span more); /* frees `picture` */
static inline struct span made_span(struct made made)
{
    return span_of(made.bytes, made.size);
}
/* An APP1 segment that says which way up. */
struct made exif_segment(uint32_t orientation, bool big_endian);
struct shade {
    int red, green, blue, alpha;
};
struct shade picture_shade(struct span bytes, int x_percent, int y_percent);
/* Whether the point of the picture, in percent of its sides, is mostly red. */
bool picture_is_red(struct span bytes, int x_percent, int y_percent);
/* A folder and the files in it. */
int picture_folder_remove(const char *path);

#endif
