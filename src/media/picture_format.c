/* SPDX-License-Identifier: Apache-2.0 */
#include "media/picture_format.h"

#include <assert.h>

enum {
    JPEG_MARKERS_MAX = 4096, /* of one picture that are looked at */
    EXIF_ENTRIES_MAX = 256,
    EXIF_ORIENTATION = 0x0112,
    EXIF_SHORT = 3,
    ORIENTATIONS = 8,
};

/* ---- bytes */

static uint32_t byte_at(struct span bytes, size_t at)
{
    return at < bytes.size ? (uint32_t)(unsigned char)bytes.data[at] : 0;
}

static uint32_t big16(struct span bytes, size_t at)
{
    return byte_at(bytes, at) << 8 | byte_at(bytes, at + 1);
}

static uint32_t big32(struct span bytes, size_t at)
{
    return big16(bytes, at) << 16 | big16(bytes, at + 2);
}

static uint32_t little16(struct span bytes, size_t at)
{
    return byte_at(bytes, at) | byte_at(bytes, at + 1) << 8;
}

static uint32_t little24(struct span bytes, size_t at)
{
    return little16(bytes, at) | byte_at(bytes, at + 2) << 16;
}

static struct span from(struct span bytes, size_t at)
{
    return at < bytes.size ? span_of(bytes.data + at, bytes.size - at) : SPAN_NONE;
}

/* ---- JPEG: markers FF xx with a length each, up to the first scan */

struct jpeg_segment {
    uint32_t marker;
    struct span content;
};

/* The next segment at *at; false: there is none, or what follows is picture data. */
static bool jpeg_next(struct span bytes, size_t *at, struct jpeg_segment *segment)
{
    while (byte_at(bytes, *at) == 0xff && byte_at(bytes, *at + 1) == 0xff)
        (*at)++; /* fill bytes */
    const uint32_t length = big16(bytes, *at + 2);
    if (byte_at(bytes, *at) != 0xff || length < 2 || bytes.size < *at + 2 + length)
        return false;
    segment->marker = byte_at(bytes, *at + 1);
    segment->content = span_of(bytes.data + *at + 4, length - 2);
    *at += 2 + length;
    return segment->marker != 0xda && segment->marker != 0xd9;
}

static bool jpeg_is_frame(uint32_t marker)
{
    return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

static bool jpeg_size(struct span bytes, uint32_t *width, uint32_t *height)
{
    struct jpeg_segment segment;
    size_t at = 2;
    for (int i = 0; i < JPEG_MARKERS_MAX && jpeg_next(bytes, &at, &segment); i++) {
        if (!jpeg_is_frame(segment.marker))
            continue;
        *height = big16(segment.content, 1);
        *width = big16(segment.content, 3);
        return true;
    }
    return false;
}

/* ---- EXIF: a small TIFF file; the first directory has the orientation */

static uint32_t exif16(struct span tiff, bool big, size_t at)
{
    return big ? big16(tiff, at) : little16(tiff, at);
}

static uint32_t exif_orientation(struct span tiff)
{
    const bool big = span_starts_with(tiff, SPAN("MM"));
    if (!big && !span_starts_with(tiff, SPAN("II")))
        return 1;
    const uint32_t directory = big ? big32(tiff, 4) : little16(tiff, 4) | little16(tiff, 6) << 16;
    if (directory >= tiff.size)
        return 1;
    const uint32_t count = exif16(tiff, big, directory);
    for (uint32_t i = 0; i < count && i < EXIF_ENTRIES_MAX; i++) {
        const size_t entry = (size_t)directory + 2 + (size_t)i * 12;
        if (exif16(tiff, big, entry) != EXIF_ORIENTATION || exif16(tiff, big, entry + 2) != EXIF_SHORT)
            continue;
        const uint32_t value = exif16(tiff, big, entry + 8);
        return value >= 1 && value <= ORIENTATIONS ? value : 1;
    }
    return 1;
}

uint32_t picture_orientation_of(struct span bytes)
{
    static const struct span exif = SPAN("Exif\0\0");
    struct jpeg_segment segment;
    size_t at = 2;
    if (picture_format_of(bytes) != PICTURE_JPEG)
        return 1;
    for (int i = 0; i < JPEG_MARKERS_MAX && jpeg_next(bytes, &at, &segment); i++)
        if (segment.marker == 0xe1 && span_starts_with(segment.content, exif))
            return exif_orientation(from(segment.content, exif.size));
    return 1;
}

bool picture_inks_inverted(struct span bytes)
{
    struct jpeg_segment segment;
    size_t at = 2;
    for (int i = 0; i < JPEG_MARKERS_MAX && jpeg_next(bytes, &at, &segment); i++)
        if (segment.marker == 0xee && span_starts_with(segment.content, SPAN("Adobe")))
            return true;
    return false;
}

/* ---- PNG and WebP say it at a fixed place */

static bool png_size(struct span bytes, uint32_t *width, uint32_t *height)
{
    if (bytes.size < 24 || !span_starts_with(from(bytes, 12), SPAN("IHDR")))
        return false;
    *width = big32(bytes, 16);
    *height = big32(bytes, 20);
    return true;
}

static bool webp_size(struct span bytes, uint32_t *width, uint32_t *height)
{
    const struct span chunk = from(bytes, 12);
    if (bytes.size < 30)
        return false;
    if (span_starts_with(chunk, SPAN("VP8X"))) {
        *width = little24(bytes, 24) + 1;
        *height = little24(bytes, 27) + 1;
        return true;
    }
    if (span_starts_with(chunk, SPAN("VP8L")) && byte_at(bytes, 20) == 0x2f) {
        *width = (little16(bytes, 21) & 0x3fff) + 1;
        *height = ((little24(bytes, 22) >> 6) & 0x3fff) + 1;
        return true;
    }
    if (span_starts_with(chunk, SPAN("VP8 ")) && little24(bytes, 23) == 0x2a019d) {
        *width = little16(bytes, 26) & 0x3fff;
        *height = little16(bytes, 28) & 0x3fff;
        return true;
    }
    return false;
}

/* ---- all of them */

const char *picture_extension(enum picture_format format)
{
    static const char *const names[] = { "", "jpg", "png", "webp" };
    static_assert(sizeof names / sizeof *names == PICTURE_FORMATS, "a name for each");
    return names[format];
}

struct span picture_type(enum picture_format format)
{
    static const struct span types[PICTURE_FORMATS] = { SPAN("application/octet-stream"),
        SPAN("image/jpeg"), SPAN("image/png"), SPAN("image/webp") };
    return types[format];
}

enum picture_format picture_format_of(struct span bytes)
{
    if (span_starts_with(bytes, SPAN("\xff\xd8\xff")))
        return PICTURE_JPEG;
    if (span_starts_with(bytes, SPAN("\x89PNG\r\n\x1a\n")))
        return PICTURE_PNG;
    if (span_starts_with(bytes, SPAN("RIFF")) && span_starts_with(from(bytes, 8), SPAN("WEBP")))
        return PICTURE_WEBP;
    return PICTURE_UNKNOWN;
}

enum status picture_size_of(struct span bytes, uint32_t *width, uint32_t *height)
{
    bool found = false;
    *width = *height = 0;
    switch (picture_format_of(bytes)) {
    case PICTURE_JPEG:
        found = jpeg_size(bytes, width, height);
        break;
    case PICTURE_PNG:
        found = png_size(bytes, width, height);
        break;
    case PICTURE_WEBP:
        found = webp_size(bytes, width, height);
        break;
    case PICTURE_UNKNOWN:
    case PICTURE_FORMATS:
        break;
    }
    return found && *width > 0 && *height > 0 ? STATUS_OK : STATUS_BAD_INPUT;
}

const char *picture_wrong(struct span bytes)
{
    uint32_t width, height;
    if (picture_format_of(bytes) == PICTURE_UNKNOWN)
        return "The file is not a JPEG, PNG or WebP picture.";
    if (picture_size_of(bytes, &width, &height) != STATUS_OK)
        return "The picture is damaged: its size is missing.";
    if (width > PICTURE_SIDE_MAX || height > PICTURE_SIDE_MAX
        || (uint64_t)width * height > PICTURE_PIXELS_MAX)
        return "The picture has more than 24 million pixels, or a side of more than 16384 pixels.";
    return NULL;
}
