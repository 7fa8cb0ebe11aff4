/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/media/pictures.h"

#include <ftw.h>
#include <gd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct made picture_draw(enum picture_format format, int width, int height)
{
    gdImagePtr image = gdImageCreateTrueColor(width, height);
    int size = 0;
    void *bytes = NULL;
    invariant(image != NULL);
    gdImageFilledRectangle(image, 0, 0, width - 1, height - 1, 0x0000ff);
    gdImageFilledRectangle(image, 0, 0, width / 2 - 1, height - 1, 0xff0000);
    if (format == PICTURE_JPEG)
        bytes = gdImageJpegPtr(image, &size, 90);
    else if (format == PICTURE_PNG)
        bytes = gdImagePngPtr(image, &size);
    else
        bytes = gdImageWebpPtrEx(image, &size, 90);
    invariant(bytes != NULL && size > 0);
    struct made made = { malloc((size_t)size), (size_t)size };
    invariant(made.bytes != NULL);
    memcpy(made.bytes, bytes, made.size);
    gdFree(bytes);
    gdImageDestroy(image);
    return made;
}

struct made picture_with(struct made picture, size_t at, struct span more)
{
    struct made made = { malloc(picture.size + more.size), picture.size + more.size };
    invariant(made.bytes != NULL && at <= picture.size);
    memcpy(made.bytes, picture.bytes, at);
    memcpy(made.bytes + at, more.data, more.size);
    memcpy(made.bytes + at + more.size, picture.bytes + at, picture.size - at);
    free(picture.bytes);
    return made;
}

struct made exif_segment(uint32_t orientation, bool big_endian)
{
    static const char big[] = "\xff\xe1\0\x22"
                              "Exif\0\0MM\0\x2a\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1\0?\0\0\0\0\0\0";
    static const char little[] = "\xff\xe1\0\x22"
                                 "Exif\0\0II\x2a\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0?\0\0\0\0\0\0\0";
    struct made made = { malloc(36), 36 };
    invariant(made.bytes != NULL);
    memcpy(made.bytes, big_endian ? big : little, made.size);
    *(char *)memchr(made.bytes, '?', made.size) = (char)orientation;
    return made;
}

bool picture_is_red(struct span bytes, int x_percent, int y_percent)
{
    void *data = (void *)(uintptr_t)bytes.data;
    gdImagePtr image = picture_format_of(bytes) == PICTURE_JPEG
        ? gdImageCreateFromJpegPtr((int)bytes.size, data)
        : picture_format_of(bytes) == PICTURE_PNG ? gdImageCreateFromPngPtr((int)bytes.size, data)
                                                  : gdImageCreateFromWebpPtr((int)bytes.size, data);
    invariant(image != NULL);
    const int pixel =
        gdImageGetPixel(image, gdImageSX(image) * x_percent / 100, gdImageSY(image) * y_percent / 100);
    const bool red = gdImageRed(image, pixel) > gdImageBlue(image, pixel);
    gdImageDestroy(image);
    return red;
}

static int entry_remove(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

int picture_folder_remove(const char *path)
{
    return nftw(path, entry_remove, 8, FTW_DEPTH | FTW_PHYS);
}
