/* SPDX-License-Identifier: Apache-2.0 */
/* payment/form.h: names and values as forms carry them (application/x-www-form-urlencoded), and the
 * text that Alipay signs: all of them sorted by name, as they are before encoding.
 * Thread: the owner's. Memory: the pairs point to what the caller gave; nothing is allocated. */
#ifndef STAMPEDE_PAYMENT_FORM_H
#define STAMPEDE_PAYMENT_FORM_H

#include "base/text.h"

enum { FORM_PAIRS_MAX = 64 };

struct form_pair {
    struct span name, value; /* decoded */
};
struct form {
    size_t count;
    struct form_pair pairs[FORM_PAIRS_MAX];
};

/* STATUS_FULL: no room for one more. An empty value is left out, as the provider does. */
MUST_CHECK enum status form_add(struct form *form, const char *name, struct span value);
/* Reads a whole body; decoded bytes go to `room`, which needs as many as the body has.
 * STATUS_BAD_INPUT: a bad escape, no "=", an empty name or the same name twice; STATUS_FULL. */
MUST_CHECK enum status form_read(struct form *form, struct span body, char *room, size_t room_bytes);
/* The value; SPAN_NONE: not there. */
struct span form_value(const struct form *form, const char *name);
/* Removes it, if it is there. */
void form_drop(struct form *form, const char *name);
void form_sort(struct form *form); /* by name, byte by byte */
/* name=value&name=value, not encoded: what is signed. */
void form_write_plain(const struct form *form, struct text *text);
/* The same, encoded: what is sent. */
void form_write(const struct form *form, struct text *text);
/* One value, encoded: only A-Z a-z 0-9 - _ . ~ stay. */
void form_encode(struct text *text, struct span value);

#endif
