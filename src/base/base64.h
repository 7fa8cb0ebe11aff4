/* base/base64.h: base64url without padding (RFC 4648 §5).
 * Strict: no other characters, no stray bits. */
#ifndef STAMPEDE_BASE_BASE64_H
#define STAMPEDE_BASE_BASE64_H

#include "base/span.h"

/* Writes ceil(bytes * 4 / 3) characters, no NUL; answers how many. */
size_t base64_encode(const void *data, size_t bytes, char *out);
/* *bytes: capacity of `out` on entry, size on return. STATUS_FULL if `out` is too small,
 * STATUS_BAD_INPUT for anything that base64_encode would not have written; *bytes is then
 * unchanged and `out` means nothing. */
MUST_CHECK enum status base64_decode(struct span text, void *out, size_t *bytes);

#endif
