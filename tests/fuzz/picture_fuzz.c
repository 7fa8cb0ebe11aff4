/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fuzz/picture_fuzz.c: an uploaded picture, decoded and encoded anew. What comes out is a
 * picture of the same format within the bounds, lies the right way up, and comes out again when it is
 * put in. Inputs that announce many pixels only take time here; tests/e2e/cli/picture_command_test.py
 * has the bounds of the process. */
#include "media/picture_clean.h"

enum { PIXELS_MAX = 1 << 18 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_small(struct span bytes)
{
    uint32_t width, height;
    return picture_size_of(bytes, &width, &height) == STATUS_OK && (uint64_t)width * height <= PIXELS_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct span bytes = span_of(data, size);
    void *cleaned, *again;
    size_t cleaned_size, again_size;
    if (picture_wrong(bytes) == NULL && !is_small(bytes))
        return 0;
    if (picture_clean(bytes, &cleaned, &cleaned_size) != STATUS_OK) {
        invariant(cleaned == NULL && cleaned_size == 0);
        return 0;
    }
    uint32_t width, height;
    const struct span kept = span_of(cleaned, cleaned_size);
    invariant(cleaned_size <= PICTURE_KEPT_BYTES_MAX && picture_wrong(kept) == NULL);
    invariant(picture_format_of(kept) == picture_format_of(bytes) && picture_orientation_of(kept) == 1);
    invariant(picture_size_of(kept, &width, &height) == STATUS_OK);
    invariant(width <= PICTURE_KEPT_SIDE_MAX && height <= PICTURE_KEPT_SIDE_MAX);
    invariant(picture_clean(kept, &again, &again_size) == STATUS_OK);
    picture_free(again);
    picture_free(cleaned);
    return 0;
}
