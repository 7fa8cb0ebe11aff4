/* SPDX-License-Identifier: Apache-2.0 */
/* pages/pages.h: the storefront's files as this shop shows them: those inside the binary, with the theme's
 * name, logo, colours and links put into their HTML (config/theme.h). Made once, at the start.
 * Thread: open and close at start and stop; reading from any thread. Memory: its own, until close. */
#ifndef STAMPEDE_PAGES_PAGES_H
#define STAMPEDE_PAGES_PAGES_H

#include "config/config.h"
#include "edge/assets.h"
#include "pages/item_page.h"

struct pages {
    struct asset *assets; /* what to serve */
    size_t count;
    struct page_shell shell;    /* of the storefront's page */
    struct page_memory *memory; /* what was made here */
};

/* `page.theme` empty, and no test mode: the files as they are. On failure `error` says what is wrong with
 * the theme. */
MUST_CHECK enum status pages_open(struct pages *pages, const struct config *config,
    const struct asset *embedded, size_t count, char error[CONFIG_ERROR]);
void pages_close(struct pages *pages); /* one that is all zero, too */

#endif
