/* SPDX-License-Identifier: Apache-2.0 */
/* base/base64.h: base64url without padding (RFC 4648 §5) for what is ours, and the standard alphabet
 * with padding (§4) for what others want. Strict: no other characters, no stray bits. */
#ifndef STAMPEDE_BASE_BASE64_H
#define STAMPEDE_BASE_BASE64_H

#include "base/span.h"

/* Writes ceil(bytes * 4 / 3) characters, no NUL; answers how many. */
size_t base64_encode(const void *data, size_t bytes, char *out);
/* *bytes: capacity of `out` on entry, size on return. STATUS_FULL if `out` is too small,
 * STATUS_BAD_INPUT for anything that base64_encode would not have written; *bytes is then
 * unchanged and `out` means nothing. */
MUST_CHECK enum status base64_decode(struct span text, void *out, size_t *bytes);

/* A text of exactly 48 characters, as tokens are, 16 at a time where the processor can: base64_decode
 * says the same of it. False: not in the alphabet. */
enum {
    BASE64_48_CHARS = 48,
    BASE64_48_BYTES = 36,
    BASE64_48_ROOM = 40 /* four bytes more are written */
};
MUST_CHECK bool base64_decode_48(const char text[BASE64_48_CHARS], uint8_t out[BASE64_48_ROOM]);

/* With the standard alphabet and padding: 4 characters for each 3 bytes begun. */
#define BASE64_STANDARD_CHARS(bytes) (((size_t)(bytes) + 2) / 3 * 4)
size_t base64_standard_encode(const void *data, size_t bytes, char *out);
MUST_CHECK enum status base64_standard_decode(struct span text, void *out, size_t *bytes);

#endif
