/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *status_name(enum status status)
{
    switch (status) {
    case STATUS_OK:
        return "ok";
    case STATUS_IO:
        return "io";
    case STATUS_FULL:
        return "full";
    case STATUS_CORRUPT:
        return "corrupt";
    case STATUS_BAD_INPUT:
        return "bad_input";
    case STATUS_NOT_FOUND:
        return "not_found";
    case STATUS_CONFLICT:
        return "conflict";
    case STATUS_BUSY:
        return "busy";
    case STATUS_AWAY:
        return "away";
    case STATUS_REFUSED:
        return "refused";
    case STATUS_UNKNOWN:
        return "outcome_unknown";
    }
    return "unknown";
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
