/* SPDX-License-Identifier: Apache-2.0 */
/* A moving picture is refused: libwebp's decoder says that it is none of its. */
#include "media/picture_pixels.h"

#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>
#include <webp/encode.h>

#define WEBP_QUALITY_KEPT 85.0f

enum status webp_decode(struct span bytes, struct pixels *pixels)
{
    WebPBitstreamFeatures features;
    const uint8_t *data = (const uint8_t *)bytes.data;
    const size_t row = (size_t)pixels->width * PIXEL_BYTES;
    if (WebPGetFeatures(data, bytes.size, &features) != VP8_STATUS_OK
        || features.width != (int)pixels->width || features.height != (int)pixels->height)
        return STATUS_BAD_INPUT;
    pixels->alpha = features.has_alpha != 0;
    return WebPDecodeRGBAInto(data, bytes.size, pixels->at, row * pixels->height, (int)row) != NULL
        ? STATUS_OK
        : STATUS_BAD_INPUT;
}

enum status webp_encode(struct pixels *pixels, void **out, size_t *size)
{
    uint8_t *bytes = NULL;
    *size = WebPEncodeRGBA(pixels->at, (int)pixels->width, (int)pixels->height,
        (int)pixels->width * PIXEL_BYTES, WEBP_QUALITY_KEPT, &bytes);
    *out = *size > 0 ? malloc(*size) : NULL;
    if (*out != NULL)
        memcpy(*out, bytes, *size);
    WebPFree(bytes);
    return *out != NULL ? STATUS_OK : STATUS_FULL;
}
