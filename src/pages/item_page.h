/* SPDX-License-Identifier: Apache-2.0 */
/* pages/item_page.h: the page of one item as HTML that can be read without a script, by people and by those
 * that make previews of links: Open Graph, and schema.org's Product and Offer. What changes by itself
 * (counts, state) is not in it. Thread: any. */
#ifndef STAMPEDE_PAGES_ITEM_PAGE_H
#define STAMPEDE_PAGES_ITEM_PAGE_H

#include "base/text.h"

/* The storefront's page in the parts between which an item stands. */
struct page_shell {
    struct span before_title, before_head_end, before_main, after_main;
    struct span shop; /* its name, as HTML */
};

/* The same page in another language; `tag` empty: the one without a language. */
struct page_language {
    struct span tag, name;
};
struct page_item {
    uint32_t id;
    struct span language;               /* of name and about, like "en"; empty: not said */
    const struct page_language *others; /* where else it can be read */
    size_t other_count;
    struct span name, about, image; /* image: an address, or empty */
    struct span currency;
    const char *price, *list_price; /* "99.00"; list_price NULL: none to compare with */
    uint64_t start_ms, end_ms;
    uint32_t limit;   /* for each user; 0: none */
    struct span base; /* of absolute addresses, "https://sale.example"; empty: not known */
};

/* False: the page has not the places that the parts are named for. */
MUST_CHECK bool page_shell_split(struct span page, struct page_shell *shell);
void item_page_write(const struct page_shell *shell, const struct page_item *item, struct text *out);

#endif
