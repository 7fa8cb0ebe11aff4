/* SPDX-License-Identifier: Apache-2.0 */
#include "media/picture_clean.h"

#include "media/picture_pixels.h"

#include <stdlib.h>

struct codec {
    enum status (*decode)(struct span bytes, struct pixels *pixels);
    enum status (*encode)(struct pixels *pixels, void **out, size_t *size);
};
/* picture_wrong has refused all others. */
static const struct codec codecs[PICTURE_FORMATS] = {
    [PICTURE_JPEG] = { jpeg_decode, jpeg_encode },
    [PICTURE_PNG] = { png_decode, png_encode },
    [PICTURE_WEBP] = { webp_decode, webp_encode },
};

enum status picture_clean(struct span bytes, void **cleaned, size_t *size)
{
    struct pixels pixels = { 0 };
    uint32_t width, height;
    *cleaned = NULL;
    *size = 0;
    if (picture_wrong(bytes) != NULL || picture_size_of(bytes, &width, &height) != STATUS_OK)
        return STATUS_BAD_INPUT;
    const struct codec *codec = &codecs[picture_format_of(bytes)];
    enum status status = pixels_make(&pixels, width, height);
    if (status == STATUS_OK)
        status = codec->decode(bytes, &pixels);
    if (status == STATUS_OK)
        status = pixels_upright(&pixels, picture_orientation_of(bytes));
    if (status == STATUS_OK)
        status = pixels_shrink(&pixels, PICTURE_KEPT_SIDE_MAX);
    if (status == STATUS_OK)
        status = codec->encode(&pixels, cleaned, size);
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
