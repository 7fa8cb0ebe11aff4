/* SPDX-License-Identifier: Apache-2.0 */
/* config/mistakes.h: all that is wrong with settings, one mistake a line, so that one start tells
 * them all. Thread: any. */
#ifndef STAMPEDE_CONFIG_MISTAKES_H
#define STAMPEDE_CONFIG_MISTAKES_H

#include "config/config.h"

enum { MISTAKES_TOLD_MAX = 20, MISTAKES_MORE_BYTES = 40 };
static_assert(MISTAKES_TOLD_MAX * (CONFIG_MISTAKE + 1) + MISTAKES_MORE_BYTES <= CONFIG_ERROR,
    "all that is told has room");

struct mistakes {
    char *text; /* CONFIG_ERROR bytes of the caller */
    size_t size;
    uint32_t count; /* also those past MISTAKES_TOLD_MAX, which are only counted */
};

void mistakes_begin(struct mistakes *, char error[CONFIG_ERROR]);
void mistakes_add(struct mistakes *, const char *what); /* shorter than CONFIG_MISTAKE, or cut there */
MUST_CHECK enum status mistakes_end(struct mistakes *); /* STATUS_BAD_INPUT: there was one */

#endif
