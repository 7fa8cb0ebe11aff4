/* SPDX-License-Identifier: Apache-2.0 */
#include "config/mistakes.h"

#include <inttypes.h>
#include <stdio.h>

void mistakes_begin(struct mistakes *mistakes, char error[CONFIG_ERROR])
{
    *mistakes = (struct mistakes){ .text = error };
    error[0] = 0;
}

void mistakes_add(struct mistakes *mistakes, const char *what)
{
    if (mistakes->count++ >= MISTAKES_TOLD_MAX)
        return;
    mistakes->size += (size_t)snprintf(mistakes->text + mistakes->size, CONFIG_ERROR - mistakes->size,
        "%s%.*s", mistakes->size == 0 ? "" : "\n", CONFIG_MISTAKE - 1, what);
}

enum status mistakes_end(struct mistakes *mistakes)
{
    if (mistakes->count > MISTAKES_TOLD_MAX)
        snprintf(mistakes->text + mistakes->size, CONFIG_ERROR - mistakes->size,
            "\nand %" PRIu32 " more mistakes", mistakes->count - MISTAKES_TOLD_MAX);
    return mistakes->count == 0 ? STATUS_OK : STATUS_BAD_INPUT;
}
