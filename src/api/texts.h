/* SPDX-License-Identifier: Apache-2.0 */
/* api/texts.h: what a merchant writes in further languages, beside the text that everybody else reads. It is
 * kept as JSON, {"en":{"name":"Tea kettle"}}, by the tag of the language. A member that a language leaves
 * out is shown as it is without a language. Thread: any; texts are the caller's. */
#ifndef STAMPEDE_API_TEXTS_H
#define STAMPEDE_API_TEXTS_H

#include "api/json_fields.h"
#include "base/text.h"

/* A member that a language may have: a text of 1 to `most` bytes. The last has no name. */
struct texts_member {
    const char *name;
    size_t most;
};
extern const struct texts_member texts_of_products[], texts_of_sales[];

/* Checks what was sent, and keeps it in `out` (`most` + 1 bytes) as JSON; "": no language. NULL: nothing was
 * sent; `out` stays. False and `error` filled: the first thing that is wrong. */
MUST_CHECK bool texts_take(json_t *sent, const struct texts_member *members, char *out, size_t most,
    char error[FIELD_ERROR]);
/* What was kept, to be walked through; the caller json_decrefs it. NULL: there is none. */
json_t *texts_parse(const char *kept);
/* "texts":{…} with all, or with one member of each language; nothing if there is none. */
void texts_json(const char *kept, struct text *out);
void texts_json_of(json_t *texts, const char *member, struct text *out);

/* Whether it is the tag of a language as we keep it: en, zh-CN. */
bool language_tag_is(struct span tag);

#endif
