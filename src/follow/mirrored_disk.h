/* SPDX-License-Identifier: Apache-2.0 */
/* follow/mirrored_disk.h: a folder whose changes are told to a mirror (contract/mirror.h) after they were
 * made. A sync of a file whose name begins with `awaited` returns when the mirror has it, too.
 * Thread: as the disk underneath. Memory: its own. */
#ifndef STAMPEDE_FOLLOW_MIRRORED_DISK_H
#define STAMPEDE_FOLLOW_MIRRORED_DISK_H

#include "base/disk.h"
#include "contract/mirror.h"

MUST_CHECK enum status mirrored_disk_open(struct disk **disk, struct disk *inner,
    struct mirror *mirror, enum mirror_part part, const char *awaited);
void mirrored_disk_close(struct disk *disk); /* `inner` stays open; accepts NULL */

#endif
