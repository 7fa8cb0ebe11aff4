/* SPDX-License-Identifier: Apache-2.0 */
/* base/json_write.h: JSON, written from the front to the end. Commas come by themselves: what follows
 * '{', '[', ':' or ',' needs none, anything else does. `name` NULL: an element of a list, or the outermost.
 * Thread: any. Memory: the text's. Errors: text.overflow. */
#ifndef STAMPEDE_BASE_JSON_WRITE_H
#define STAMPEDE_BASE_JSON_WRITE_H

#include "base/text.h"

/* For a value that is written by others: the comma, and the name. */
void json_value(struct text *out, const char *name);
void json_object_begin(struct text *out, const char *name);
void json_object_end(struct text *out);
void json_list_begin(struct text *out, const char *name);
void json_list_end(struct text *out);
void json_u64(struct text *out, const char *name, uint64_t value);
void json_i64(struct text *out, const char *name, int64_t value);
void json_bool(struct text *out, const char *name, bool value);
void json_text(struct text *out, const char *name, const char *value); /* escaped */
void json_hex(struct text *out, const char *name, uint64_t value);     /* a text of 16 digits */

#endif
