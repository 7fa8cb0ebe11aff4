/* SPDX-License-Identifier: Apache-2.0 */
/* media/picture_clean.h: decodes a picture and encodes it anew in the same format, so that nothing
 * survives but what one sees: no metadata, no trailing bytes, no second file inside. Turned the way
 * EXIF says, and scaled down if a side is longer than PICTURE_KEPT_SIDE_MAX.
 * Decoders read untrusted bytes here: run it in a process of its own (picture_command.h). */
#ifndef STAMPEDE_MEDIA_PICTURE_CLEAN_H
#define STAMPEDE_MEDIA_PICTURE_CLEAN_H

#include "media/picture_format.h"

enum {
    PICTURE_KEPT_SIDE_MAX = 1600,
    PICTURE_KEPT_BYTES_MAX = 4 * 1024 * 1024,
};

/* STATUS_BAD_INPUT: it can't be decoded, or picture_wrong says no. STATUS_FULL: it is longer than
 * PICTURE_KEPT_BYTES_MAX afterwards. On STATUS_OK the caller frees *cleaned with picture_free. */
MUST_CHECK enum status picture_clean(struct span bytes, void **cleaned, size_t *size);
void picture_free(void *cleaned); /* accepts NULL */

#endif
