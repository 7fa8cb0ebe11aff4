/* SPDX-License-Identifier: Apache-2.0 */
#include "media/picture_clean.h"

#include "media/picture_pixels.h"

#include <stdlib.h>

static enum status decode(struct span bytes, struct pixels *pixels)
{
    switch (picture_format_of(bytes)) {
    case PICTURE_JPEG:
        return jpeg_decode(bytes, pixels);
    case PICTURE_PNG:
        return png_decode(bytes, pixels);
    case PICTURE_WEBP:
        return webp_decode(bytes, pixels);
    case PICTURE_UNKNOWN:
    case PICTURE_FORMATS:
        break;
    }
    return STATUS_BAD_INPUT;
}

static enum status encode(struct pixels *pixels, enum picture_format format, void **out, size_t *size)
{
    switch (format) {
    case PICTURE_JPEG:
        return jpeg_encode(pixels, out, size);
    case PICTURE_PNG:
        return png_encode(pixels, out, size);
    case PICTURE_WEBP:
        return webp_encode(pixels, out, size);
    case PICTURE_UNKNOWN:
    case PICTURE_FORMATS:
        break;
    }
    return STATUS_BAD_INPUT;
}

enum status picture_clean(struct span bytes, void **cleaned, size_t *size)
{
    struct pixels pixels = { 0 };
    uint32_t width, height;
    *cleaned = NULL;
    *size = 0;
    if (picture_wrong(bytes) != NULL || picture_size_of(bytes, &width, &height) != STATUS_OK)
        return STATUS_BAD_INPUT;
    enum status status = pixels_make(&pixels, width, height);
    if (status == STATUS_OK)
        status = decode(bytes, &pixels);
    if (status == STATUS_OK)
        status = pixels_upright(&pixels, picture_orientation_of(bytes));
    if (status == STATUS_OK)
        status = pixels_shrink(&pixels, PICTURE_KEPT_SIDE_MAX);
    if (status == STATUS_OK)
        status = encode(&pixels, picture_format_of(bytes), cleaned, size);
    pixels_free(&pixels);
    if (status == STATUS_OK && *size <= PICTURE_KEPT_BYTES_MAX)
        return STATUS_OK;
    picture_free(*cleaned);
    *cleaned = NULL;
    *size = 0;
    return status == STATUS_OK ? STATUS_FULL : STATUS_BAD_INPUT; /* memory is bounded for its sake */
}

void picture_free(void *cleaned)
{
    free(cleaned);
}
