/* SPDX-License-Identifier: Apache-2.0 */
/* config/identity.h: the line that has the data id and the master secret of a shop. It is the file `identity`
 * of a data folder, and the file that cluster.secret_file names where a shop was moved to many machines.
 *   stampede-data 2 <data id> <master secret> <CRC32C of what is before it>
 * Thread: any. Memory: the caller's, who wipes it. */
#ifndef STAMPEDE_CONFIG_IDENTITY_H
#define STAMPEDE_CONFIG_IDENTITY_H

#include "base/span.h"
#include "config/data_folder.h"

#define IDENTITY_WORD "stampede-data "
enum {
    IDENTITY_WORD_BYTES = sizeof IDENTITY_WORD "2 " - 1,
    IDENTITY_BODY_BYTES = IDENTITY_WORD_BYTES + 16 + 1 + 2 * MASTER_BYTES,
    IDENTITY_BYTES_FIRST = IDENTITY_BODY_BYTES + 1, /* version 1 had no checksum */
    IDENTITY_BYTES = IDENTITY_BODY_BYTES + 1 + 8 + 1,
};

/* With its end of line and without a 0. */
void identity_line(const struct data_folder *folder, char line[IDENTITY_BYTES]);
/* Data id, secret and without_checksum of the folder. False: it is not such a line with its end, and nothing
 * is changed. */
MUST_CHECK bool identity_read(struct span line, struct data_folder *folder);

#endif
