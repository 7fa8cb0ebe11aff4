/* SPDX-License-Identifier: Apache-2.0 */
/* pages/page_edit.h: puts words into HTML that is known: each edit replaces one text by another. */
#ifndef STAMPEDE_PAGES_PAGE_EDIT_H
#define STAMPEDE_PAGES_PAGE_EDIT_H

#include "base/text.h"

struct page_edit {
    struct span find, with;
    bool done;
};

/* Writes the page; each edit is made where its text first stands, `done` says whether it does. */
void page_edit(struct span page, struct page_edit *edits, size_t count, struct text *out);

#endif
