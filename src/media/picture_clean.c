/* SPDX-License-Identifier: Apache-2.0 */
#include "media/picture_clean.h"

#include <gd.h>

enum { JPEG_QUALITY = 85, WEBP_QUALITY = 85, PNG_LEVEL = 6 };

/* gd writes its complaints to standard error by itself. */
static void gd_quiet(int priority, const char *format, va_list arguments)
{
    (void)priority;
    (void)format;
    (void)arguments;
}

static gdImagePtr decoded(struct span bytes)
{
    void *data = (void *)(uintptr_t)bytes.data; /* gd only reads it */
    const int size = (int)bytes.size;
    switch (picture_format_of(bytes)) {
    case PICTURE_JPEG:
        return gdImageCreateFromJpegPtrEx(size, data, 0); /* a warning is an error */
    case PICTURE_PNG:
        return gdImageCreateFromPngPtr(size, data);
    case PICTURE_WEBP:
        return gdImageCreateFromWebpPtr(size, data);
    case PICTURE_UNKNOWN:
    case PICTURE_FORMATS:
    default:
        return NULL;
    }
}

/* Takes the old picture and gives the new one, or NULL. */
static gdImagePtr replaced(gdImagePtr old, gdImagePtr fresh)
{
    gdImageDestroy(old);
    return fresh;
}

/* EXIF's eight ways: mirrored where the number says so, then turned. */
static gdImagePtr upright(gdImagePtr image, uint32_t orientation)
{
    static const int quarter_turns[] = { 0, 0, 0, 2, 2, 1, 3, 3, 1 }; /* counter-clockwise */
    static const bool mirrored[] = { false, false, true, false, true, true, false, true, false };
    if (mirrored[orientation])
        gdImageFlipHorizontal(image);
    if (quarter_turns[orientation] != 0)
        image = replaced(
            image, gdImageRotateInterpolated(image, (float)(90 * quarter_turns[orientation]), 0));
    return image;
}

static gdImagePtr scaled(gdImagePtr image)
{
    const int width = gdImageSX(image), height = gdImageSY(image);
    const int longest = width > height ? width : height;
    if (longest <= PICTURE_KEPT_SIDE_MAX)
        return image;
    const int kept_width = (int)((int64_t)width * PICTURE_KEPT_SIDE_MAX / longest);
    const int kept_height = (int)((int64_t)height * PICTURE_KEPT_SIDE_MAX / longest);
    gdImagePtr small =
        gdImageCreateTrueColor(kept_width < 1 ? 1 : kept_width, kept_height < 1 ? 1 : kept_height);
    if (small != NULL) {
        gdImageAlphaBlending(small, 0);
        gdImageCopyResampled(small, image, 0, 0, 0, 0, gdImageSX(small), gdImageSY(small), width, height);
    }
    return replaced(image, small);
}

static void *encoded(gdImagePtr image, enum picture_format format, int *size)
{
    gdImageAlphaBlending(image, 0);
    gdImageSaveAlpha(image, 1);
    switch (format) {
    case PICTURE_JPEG:
        gdImageInterlace(image, 1); /* shown early, and shorter */
        return gdImageJpegPtr(image, size, JPEG_QUALITY);
    case PICTURE_PNG:
        return gdImagePngPtrEx(image, size, PNG_LEVEL);
    case PICTURE_WEBP:
        return gdImageWebpPtrEx(image, size, WEBP_QUALITY);
    case PICTURE_UNKNOWN:
    case PICTURE_FORMATS:
        break;
    }
    return NULL;
}

enum status picture_clean(struct span bytes, void **cleaned, size_t *size)
{
    *cleaned = NULL;
    *size = 0;
    gdSetErrorMethod(gd_quiet);
    if (picture_wrong(bytes) != NULL || bytes.size > INT32_MAX)
        return STATUS_BAD_INPUT;
    gdImagePtr image = decoded(bytes);
    if (image != NULL && gdImagePaletteToTrueColor(image) == 0)
        image = replaced(image, NULL);
    if (image != NULL)
        image = upright(image, picture_orientation_of(bytes));
    if (image != NULL)
        image = scaled(image);
    if (image == NULL)
        return STATUS_BAD_INPUT;
    int written = 0;
    void *made = encoded(image, picture_format_of(bytes), &written);
    gdImageDestroy(image);
    if (made == NULL || written <= 0 || written > PICTURE_KEPT_BYTES_MAX) {
        gdFree(made);
        return made == NULL || written <= 0 ? STATUS_BAD_INPUT : STATUS_FULL;
    }
    *cleaned = made;
    *size = (size_t)written;
    return STATUS_OK;
}

void picture_free(void *cleaned)
{
    gdFree(cleaned);
}
