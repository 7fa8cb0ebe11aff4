/* SPDX-License-Identifier: Apache-2.0 */
/* base/password.h: the hash of a password that a person thought up, by scrypt (RFC 7914) with N = 2^15,
 * r = 8, p = 3: it takes 32 MiB and a good part of a second on purpose, so that whoever gets hold of the
 * hashes can try only few passwords. Other figures would need another name in the file of keys.
 * Thread: any that may take that long; never an edge, never the worker. */
#ifndef STAMPEDE_BASE_PASSWORD_H
#define STAMPEDE_BASE_PASSWORD_H

#include "base/hash.h"
#include "base/span.h"

enum { PASSWORD_SALT_BYTES = 16, PASSWORD_BYTES_MIN = 12, PASSWORD_BYTES_MAX = 128 };

/* STATUS_FULL: no memory for it; `hash` means nothing then. */
MUST_CHECK enum status password_hash(
    struct span password, const uint8_t salt[PASSWORD_SALT_BYTES], uint8_t hash[HASH_SHA256_BYTES]);

#endif
