/* SPDX-License-Identifier: Apache-2.0 */
/* base/secret_file.h: a secret that stands in a file of its own, so that no setting, argument or log
 * shows it.
 * Thread: any. Errors: STATUS_IO: it can't be read; STATUS_FULL: it has more bytes; STATUS_BAD_INPUT: it is
 * empty. `out` is then wiped. */
#ifndef STAMPEDE_BASE_SECRET_FILE_H
#define STAMPEDE_BASE_SECRET_FILE_H

#include "base/status.h"

#include <stddef.h>

/* Without the end of its line, and with a 0 behind it: at most out_bytes - 1 bytes. */
MUST_CHECK enum status secret_file_read(const char *path, char *out, size_t out_bytes, size_t *size);

#endif
