/* SPDX-License-Identifier: Apache-2.0 */
/* config/checked_file.h: a small text file of the data folder with a checksum in its last line, so
 * that a damaged one is noticed. It is replaced as a whole: after a power cut it is the old one or the
 * new one.
 * Thread: any. Errors: those of the disk; STATUS_CORRUPT: not what was written. */
#ifndef STAMPEDE_CONFIG_CHECKED_FILE_H
#define STAMPEDE_CONFIG_CHECKED_FILE_H

#include "base/disk.h"
#include "base/span.h"
#include "base/text.h"

#define CHECKED_FILE_WORD "crc32c "
enum { CHECKED_FILE_BYTES = sizeof CHECKED_FILE_WORD - 1 + 16 + 1 }; /* of the last line */

/* Ends the text with the line of its checksum, and writes it. */
MUST_CHECK enum status checked_file_write(
    struct disk *folder, const char *temporary, const char *name, struct text *text);
/* *body: what stands before the last line, in `room`. STATUS_NOT_FOUND: there is no such file. */
MUST_CHECK enum status checked_file_read(
    struct disk *folder, const char *name, char *room, size_t room_bytes, struct span *body);

#endif
