/* SPDX-License-Identifier: Apache-2.0 */
/* config/theme.h: the shop's look: page.theme names a folder with theme.ini and perhaps a logo. What is
 * read becomes the style sheet and the JSON that the pages get, and the few words that their HTML needs.
 * Read once, at the start; memory of its own until theme_free. */
#ifndef STAMPEDE_CONFIG_THEME_H
#define STAMPEDE_CONFIG_THEME_H

#include "config/config.h"

enum {
    THEME_TEXT = 256,
    THEME_LINKS_MAX = 8,
    THEME_LOGO_MAX = 256 * 1024,
    THEME_JSON_MAX = 128 * 1024,
    THEME_CSS_MAX = 4096,
};

struct theme_link {
    char url[THEME_TEXT], name[THEME_TEXT]; /* name: for readers without JavaScript */
};

struct theme {
    char name[THEME_TEXT];     /* of the shop; empty: ours */
    char home_url[THEME_TEXT]; /* where its name leads; empty: to the sales */
    char logo[THEME_TEXT];     /* the file's name; empty: ours */
    void *logo_bytes;
    size_t logo_size;
    struct theme_link links[THEME_LINKS_MAX]; /* 1 … 8 of the file; those without a url are not there */
    char css[THEME_CSS_MAX];
    size_t css_size;
    char *json; /* sections as objects, without '<' */
    size_t json_size;
};

/* On failure `error` says which line is wrong; nothing is left to free. */
MUST_CHECK enum status theme_load(struct theme *theme, const char *folder, char error[CONFIG_ERROR]);
void theme_free(struct theme *theme); /* one that is all zero, too */

#endif
