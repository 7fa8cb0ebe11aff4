/* SPDX-License-Identifier: Apache-2.0 */
/* tests/support/png_read.h: the points of a PNG, by libpng, which the program's own pictures are not
 * written by. */
#ifndef STAMPEDE_TESTS_PNG_READ_H
#define STAMPEDE_TESTS_PNG_READ_H

#include <stddef.h>
#include <stdint.h>

/* Red, green and blue of each point, row by row; stops the program if it is no PNG or does not fit. */
void png_read(const void *bytes, size_t size, uint32_t *width, uint32_t *height, uint8_t *points,
    size_t points_bytes);

#endif
