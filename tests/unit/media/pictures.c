/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/media/pictures.h"

#include <ftw.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>
#include <webp/encode.h>

#include <jpeglib.h>

/* ---- writing */

static void *zeroed(size_t bytes)
{
    void *memory = calloc(1, bytes);
    invariant(memory != NULL);
    return memory;
}

/* `left` and `right` of each row, so many bytes a pixel. */
static uint8_t *halves(int width, int height, const uint8_t *left, const uint8_t *right, int bytes)
{
    uint8_t *points = zeroed((size_t)width * (size_t)height * (size_t)bytes);
    for (int i = 0; i < width * height; i++)
        memcpy(points + i * bytes, i % width < width / 2 ? left : right, (size_t)bytes);
    return points;
}

enum { SCANS = 1 + 3 * 63 * 4 };
struct jpeg_way {
    J_COLOR_SPACE in, stored;
    int bytes;
    bool adobe, scan_each;
};

static void scans_choose(struct jpeg_compress_struct *codec, jpeg_scan_info *scans)
{
    int count = 0;
    scans[count++] = (jpeg_scan_info){ .comps_in_scan = 3, .component_index = { 0, 1, 2 } };
    for (int component = 0; component < 3; component++)
        for (int coefficient = 1; coefficient < 64; coefficient++)
            for (int bit = 3; bit >= 0; bit--)
                scans[count++] = (jpeg_scan_info){ .comps_in_scan = 1,
                    .component_index = { component },
                    .Ss = coefficient,
                    .Se = coefficient,
                    .Ah = bit == 3 ? 0 : bit + 1,
                    .Al = bit };
    codec->scan_info = scans;
    codec->num_scans = count;
}

static struct made jpeg_made(const uint8_t *points, int width, int height, struct jpeg_way way)
{
    struct jpeg_compress_struct codec = { 0 };
    struct jpeg_error_mgr errors; /* an error ends the program */
    static jpeg_scan_info scans[SCANS];
    unsigned char *bytes = NULL;
    unsigned long size = 0;
    codec.err = jpeg_std_error(&errors);
    jpeg_create_compress(&codec);
    jpeg_mem_dest(&codec, &bytes, &size);
    codec.image_width = (JDIMENSION)width;
    codec.image_height = (JDIMENSION)height;
    codec.input_components = way.bytes;
    codec.in_color_space = way.in;
    jpeg_set_defaults(&codec);
    jpeg_set_colorspace(&codec, way.stored);
    jpeg_set_quality(&codec, 90, TRUE);
    codec.write_Adobe_marker = way.adobe;
    if (way.scan_each)
        scans_choose(&codec, scans);
    jpeg_start_compress(&codec, TRUE);
    while (codec.next_scanline < codec.image_height) {
        JSAMPROW row =
            (JSAMPROW)(uintptr_t)(points + (size_t)codec.next_scanline * (size_t)(width * way.bytes));
        jpeg_write_scanlines(&codec, &row, 1);
    }
    jpeg_finish_compress(&codec);
    jpeg_destroy_compress(&codec);
    return (struct made){ (char *)bytes, size };
}

static struct made png_made(const uint8_t *points, int width, int height, png_uint_32 format)
{
    png_image image = { .version = PNG_IMAGE_VERSION,
        .width = (png_uint_32)width,
        .height = (png_uint_32)height,
        .format = format };
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    struct made made = { zeroed(size), 0 };
    invariant(png_image_write_to_memory(&image, made.bytes, &size, 0, points, 0, NULL) != 0);
    made.size = size;
    return made;
}

static struct made webp_made(const uint8_t *points, int width, int height)
{
    uint8_t *bytes = NULL;
    const size_t size = WebPEncodeRGB(points, width, height, width * 3, 90, &bytes);
    struct made made = { zeroed(size + 1), size };
    invariant(size > 0);
    memcpy(made.bytes, bytes, size);
    WebPFree(bytes);
    return made;
}

static const uint8_t red[4] = { 255, 0, 0, 255 }, blue[4] = { 0, 0, 255, 255 };

struct made picture_draw(enum picture_format format, int width, int height)
{
    uint8_t *points = halves(width, height, red, blue, 3);
    const struct jpeg_way way = { JCS_RGB, JCS_YCbCr, 3, false, false };
    const struct made made = format == PICTURE_JPEG ? jpeg_made(points, width, height, way)
        : format == PICTURE_PNG ? png_made(points, width, height, PNG_FORMAT_RGB)
                                : webp_made(points, width, height);
    free(points);
    return made;
}

struct made picture_draw_scans(void)
{
    uint8_t *points = halves(32, 32, red, blue, 3);
    const struct made made =
        jpeg_made(points, 32, 32, (struct jpeg_way){ JCS_RGB, JCS_YCbCr, 3, false, true });
    free(points);
    return made;
}

struct made picture_draw_inks(bool adobe)
{
    static const uint8_t inks[2][2][4] = { { { 255, 0, 0, 0 }, { 0, 0, 0, 255 } },
        { { 0, 255, 255, 255 }, { 255, 255, 255, 0 } } };
    uint8_t *points = halves(64, 32, inks[adobe][0], inks[adobe][1], 4);
    const struct made made =
        jpeg_made(points, 64, 32, (struct jpeg_way){ JCS_CMYK, JCS_CMYK, 4, adobe, false });
    free(points);
    return made;
}

struct made picture_draw_glass(int width, int height)
{
    static const uint8_t nothing[4] = { 0, 255, 0, 0 };
    uint8_t *points = halves(width, height, red, nothing, 4);
    const struct made made = png_made(points, width, height, PNG_FORMAT_RGBA);
    free(points);
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

/* ---- reading */

static uint8_t *jpeg_points(struct span bytes, int *width, int *height)
{
    struct jpeg_decompress_struct codec = { 0 };
    struct jpeg_error_mgr errors;
    codec.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&codec);
    jpeg_mem_src(&codec, (const unsigned char *)bytes.data, bytes.size);
    jpeg_read_header(&codec, TRUE);
    codec.out_color_space = JCS_EXT_RGBA;
    jpeg_start_decompress(&codec);
    uint8_t *points = zeroed((size_t)codec.output_width * codec.output_height * 4);
    while (codec.output_scanline < codec.output_height) {
        JSAMPROW row = points + (size_t)codec.output_scanline * codec.output_width * 4;
        jpeg_read_scanlines(&codec, &row, 1);
    }
    *width = (int)codec.output_width;
    *height = (int)codec.output_height;
    jpeg_destroy_decompress(&codec);
    return points;
}

static uint8_t *png_points(struct span bytes, int *width, int *height)
{
    png_image image = { .version = PNG_IMAGE_VERSION };
    invariant(png_image_begin_read_from_memory(&image, bytes.data, bytes.size) != 0);
    image.format = PNG_FORMAT_RGBA;
    uint8_t *points = zeroed(PNG_IMAGE_SIZE(image));
    invariant(png_image_finish_read(&image, NULL, points, 0, NULL) != 0);
    *width = (int)image.width;
    *height = (int)image.height;
    return points;
}

struct shade picture_shade(struct span bytes, int x_percent, int y_percent)
{
    const enum picture_format format = picture_format_of(bytes);
    int width = 0, height = 0;
    uint8_t *points = format == PICTURE_JPEG ? jpeg_points(bytes, &width, &height)
        : format == PICTURE_PNG
        ? png_points(bytes, &width, &height)
        : WebPDecodeRGBA((const uint8_t *)bytes.data, bytes.size, &width, &height);
    invariant(points != NULL);
    const uint8_t *at = points + (height * y_percent / 100 * width + width * x_percent / 100) * 4;
    const struct shade shade = { at[0], at[1], at[2], at[3] };
    if (format == PICTURE_WEBP)
        WebPFree(points);
    else
        free(points);
    return shade;
}

bool picture_is_red(struct span bytes, int x_percent, int y_percent)
{
    const struct shade shade = picture_shade(bytes, x_percent, y_percent);
    return shade.red > shade.blue;
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
