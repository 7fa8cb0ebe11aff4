/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. libpng's short interface: all kinds of PNG (palette, grey, 16 bits, interlaced, another
 * gamma) become eight bits of sRGB and alpha, and it tells errors by its result. */
#include "media/picture_pixels.h"

#include <png.h>
#include <stdlib.h>

enum status png_decode(struct span bytes, struct pixels *pixels)
{
    png_image image = { .version = PNG_IMAGE_VERSION };
    if (png_image_begin_read_from_memory(&image, bytes.data, bytes.size) == 0)
        return STATUS_BAD_INPUT;
    pixels->alpha = (image.format & PNG_FORMAT_FLAG_ALPHA) != 0;
    image.format = PNG_FORMAT_RGBA;
    image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
    const bool read = image.width == pixels->width && image.height == pixels->height
        && png_image_finish_read(&image, NULL, pixels->at, 0, NULL) != 0;
    png_image_free(&image);
    return read ? STATUS_OK : STATUS_BAD_INPUT;
}

/* Three bytes a pixel in place of four. */
static void alpha_drop(struct pixels *pixels)
{
    const uint8_t *from = pixels->at;
    uint8_t *to = pixels->at;
    for (size_t i = 0; i < (size_t)pixels->width * pixels->height; i++, from += PIXEL_BYTES)
        for (int part = 0; part < 3; part++)
            *to++ = from[part];
}

enum status png_encode(struct pixels *pixels, void **out, size_t *size)
{
    png_image image = { .version = PNG_IMAGE_VERSION,
        .width = pixels->width,
        .height = pixels->height,
        .format = pixels->alpha ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB };
    png_alloc_size_t written = PNG_IMAGE_PNG_SIZE_MAX(image);
    void *bytes = malloc(written);
    if (bytes == NULL)
        return STATUS_FULL;
    if (!pixels->alpha)
        alpha_drop(pixels);
    if (png_image_write_to_memory(&image, bytes, &written, 0, pixels->at, 0, NULL) == 0) {
        free(bytes);
        return STATUS_BAD_INPUT;
    }
    *out = bytes;
    *size = written;
    return STATUS_OK;
}
