/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/page_edit.h"

/* The edit whose text begins here; NULL: none. */
static struct page_edit *edit_at(struct span rest, struct page_edit *edits, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!edits[i].done && edits[i].find.size > 0 && span_starts_with(rest, edits[i].find))
            return &edits[i];
    return NULL;
}

void page_edit(struct span page, struct page_edit *edits, size_t count, struct text *out)
{
    size_t kept = 0, at = 0;
    while (at < page.size) {
        struct page_edit *edit = edit_at(span_of(page.data + at, page.size - at), edits, count);
        if (edit == NULL) {
            at++;
            continue;
        }
        text_add(out, span_of(page.data + kept, at - kept));
        text_add(out, edit->with);
        edit->done = true;
        at += edit->find.size;
        kept = at;
    }
    text_add(out, span_of(page.data + kept, page.size - kept));
}
