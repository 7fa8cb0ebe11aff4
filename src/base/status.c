/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *status_name(enum status status)
{
    static const char *const names[] = {
        [STATUS_OK] = "ok",
        [STATUS_IO] = "io",
        [STATUS_FULL] = "full",
        [STATUS_CORRUPT] = "corrupt",
        [STATUS_BAD_INPUT] = "bad_input",
        [STATUS_NOT_FOUND] = "not_found",
        [STATUS_CONFLICT] = "conflict",
        [STATUS_BUSY] = "busy",
        [STATUS_AWAY] = "away",
        [STATUS_REFUSED] = "refused",
        [STATUS_UNKNOWN] = "outcome_unknown",
    };
    return (size_t)status < sizeof names / sizeof *names ? names[status] : "unknown";
}

/* Not through the log: it could be the log that is broken, and a burst limit must never hide
 * this line. */
_Noreturn void invariant_failed(const char *what, const char *file, int line)
{
    char text[512];
    int errno_then = errno;
    int size = snprintf(text, sizeof text, "%s:%d: invariant broken: %s (errno %d)\n", file, line,
        what, errno_then);
    if (size > (int)sizeof text - 1) {
        size = (int)sizeof text - 1;
        text[size - 1] = '\n';
    }
    if (size > 0) {
        ssize_t ignored = write(STDERR_FILENO, text, (size_t)size);
        (void)ignored; /* the program stops either way */
    }
    abort();
}
