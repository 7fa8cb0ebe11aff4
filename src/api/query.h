/* SPDX-License-Identifier: Apache-2.0 */
/* api/query.h: the part of an address after '?': name=value, with '&' between. Each route names
 * the members that it takes; others are refused, because who asks for `?stat=paid` must not believe
 * that he got it. Thread: any. */
#ifndef STAMPEDE_API_QUERY_H
#define STAMPEDE_API_QUERY_H

#include "base/span.h"

enum { QUERY_ERROR = 160 };

/* A member's value as it was sent; SPAN_NONE: not there. */
struct span query_value(struct span query, const char *name);
/* Without %XX; false: not well-formed, or more than `most` bytes. `out` ends with a zero byte. */
bool query_text(struct span value, char *out, size_t most);
/* `known`: names with a space between. False and `error` filled: the first member that is unknown,
 * without a value, or there twice. */
bool query_check(struct span query, const char *known, char error[QUERY_ERROR]);

#endif
