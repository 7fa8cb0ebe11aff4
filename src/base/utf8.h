/* SPDX-License-Identifier: Apache-2.0 */
/* base/utf8.h: whether bytes are UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above
 * U+10FFFF, nothing cut off. Thread: any. */
#ifndef STAMPEDE_BASE_UTF8_H
#define STAMPEDE_BASE_UTF8_H

#include "base/span.h"

bool utf8_is_valid(struct span text);

#endif
