/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. What the library calls a warning (bytes that it can't read and would guess) is an error here. A
 * progressive picture may have very many scans, each of which costs as much as the whole picture: the
 * library refuses more than 500. */
#include "media/picture_format.h"
#include "media/picture_pixels.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <turbojpeg.h>

enum { JPEG_QUALITY_KEPT = 85, JPEG_STRICT = TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS, INKS = 4 };
static_assert((int)INKS == (int)PIXEL_BYTES, "inks become colours in place");

/* Cyan, magenta, yellow, black; Adobe's programs write how much is not printed. */
static void inks_convert(struct pixels *pixels, bool inverted)
{
    uint8_t *at = pixels->at;
    for (size_t i = 0; i < (size_t)pixels->width * pixels->height; i++, at += INKS) {
        const unsigned flip = inverted ? 0 : 255, black = at[3] ^ flip;
        for (int part = 0; part < 3; part++)
            at[part] = (uint8_t)((at[part] ^ flip) * black / 255);
        at[3] = 255;
    }
}

static bool read_all(tjhandle codec, struct span bytes, struct pixels *pixels)
{
    const unsigned char *data = (const unsigned char *)bytes.data;
    int width = 0, height = 0, sampling = 0, space = 0;
    if (tjDecompressHeader3(codec, data, bytes.size, &width, &height, &sampling, &space) != 0
        || width != (int)pixels->width || height != (int)pixels->height)
        return false;
    const bool inks = space == TJCS_CMYK || space == TJCS_YCCK;
    if (tjDecompress2(codec, data, bytes.size, pixels->at, width, width * PIXEL_BYTES, height,
            inks ? TJPF_CMYK : TJPF_RGBA, JPEG_STRICT)
        != 0)
        return false;
    if (inks)
        inks_convert(pixels, picture_inks_inverted(bytes));
    return true;
}

enum status jpeg_decode(struct span bytes, struct pixels *pixels)
{
    tjhandle codec = tjInitDecompress();
    if (codec == NULL)
        return STATUS_FULL;
    const bool read = read_all(codec, bytes, pixels);
    tjDestroy(codec);
    return read ? STATUS_OK : STATUS_BAD_INPUT;
}

enum status jpeg_encode(struct pixels *pixels, void **out, size_t *size)
{
    unsigned char *bytes = NULL;
    unsigned long written = 0;
    tjhandle codec = tjInitCompress();
    const bool done = codec != NULL
        && tjCompress2(codec, pixels->at, (int)pixels->width, (int)pixels->width * PIXEL_BYTES,
               (int)pixels->height, TJPF_RGBA, &bytes, &written, TJSAMP_420, JPEG_QUALITY_KEPT,
               TJFLAG_PROGRESSIVE)
            == 0; /* progressive: shown early, and shorter */
    *out = done ? malloc(written) : NULL;
    if (*out != NULL)
        memcpy(*out, bytes, written);
    *size = *out != NULL ? written : 0;
    tjFree(bytes);
    if (codec != NULL)
        tjDestroy(codec);
    return *out != NULL ? STATUS_OK : STATUS_FULL;
}
