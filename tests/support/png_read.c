/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/png_read.h"

#include <png.h>
#include <stdlib.h>

void png_read(const void *bytes, size_t size, uint32_t *width, uint32_t *height, uint8_t *points,
    size_t points_bytes)
{
    png_image image = { .version = PNG_IMAGE_VERSION };
    if (png_image_begin_read_from_memory(&image, bytes, size) == 0)
        abort();
    image.format = PNG_FORMAT_RGB;
    if (PNG_IMAGE_SIZE(image) > points_bytes || png_image_finish_read(&image, NULL, points, 0, NULL) == 0)
        abort();
    *width = image.width;
    *height = image.height;
}
