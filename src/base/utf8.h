/* SPDX-License-Identifier: Apache-2.0 */
/* base/utf8.h: whether bytes are UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above
 * U+10FFFF, nothing cut off. Thread: any. */
#ifndef STAMPEDE_BASE_UTF8_H
#define STAMPEDE_BASE_UTF8_H

#include "base/span.h"

bool utf8_is_valid(struct span text);
/* The bytes of the character at the front of a text that is not empty; 0: it is none (RFC 3629 §4). */
size_t utf8_sequence(struct span text);

#endif
