/* SPDX-License-Identifier: Apache-2.0 */
/* base/sign.h: signatures and sealed messages as payment providers use them: RSA with SHA-256 (PKCS#1
 * v1.5) over spans, AES-256-GCM with associated data. OpenSSL does the work; comparisons that depend on
 * secrets are its own, in constant time.
 * Thread: any; a key may be used by several threads. Memory: a key is allocated when loaded.
 * Errors: STATUS_BAD_INPUT for a key that is none, or of another kind or size. */
#ifndef STAMPEDE_BASE_SIGN_H
#define STAMPEDE_BASE_SIGN_H

#include "base/base64.h"

enum {
    SIGN_PEM_BYTES_MAX = 16 * 1024,
    SIGN_RSA_BITS_MIN = 2048,
    SIGN_RSA_BITS_MAX = 8192,
    SIGN_BYTES_MAX = SIGN_RSA_BITS_MAX / 8,
    SIGN_TEXT_MAX = BASE64_STANDARD_CHARS(SIGN_BYTES_MAX), /* a signature in base64 */
    SIGN_SERIAL_MAX = 64,
    SIGN_SEAL_KEY_BYTES = 32,
    SIGN_SEAL_NONCE_BYTES = 12,
    SIGN_SEAL_TAG_BYTES = 16, /* at the end of what is sealed */
};

struct sign_key; /* opaque: an RSA key */
/* A private key in PEM (PKCS#1 or PKCS#8), without a passphrase. */
MUST_CHECK enum status sign_private_load(struct sign_key **key, struct span pem);
/* A public key or an X.509 certificate in PEM. `serial`: of the certificate, upper-case hex digits;
 * "" for a bare key. Nothing else of the certificate is checked: whoever trusts the file trusts
 * the key. */
MUST_CHECK enum status sign_public_load(
    struct sign_key **key, struct span pem, char serial[SIGN_SERIAL_MAX + 1]);
void sign_key_free(struct sign_key *key); /* wipes it; accepts NULL */

/* Writes the signature in base64 to `out`, no NUL; answers how many characters. The key is private. */
size_t sign_make(const struct sign_key *key, struct span text, char out[SIGN_TEXT_MAX]);
/* True: `signature` (base64) is the key's over exactly this text. */
bool sign_holds(const struct sign_key *key, struct span text, struct span signature);

/* Seals with AES-256-GCM; the tag is the last 16 bytes. Never use a nonce twice with one key. *size: capacity
 * of `out` on entry, size on return. STATUS_FULL: `out` is too small. */
MUST_CHECK enum status sign_seal(const uint8_t key[SIGN_SEAL_KEY_BYTES], struct span nonce,
    struct span associated, struct span plain, void *out, size_t *size);
/* Opens what was sealed with AES-256-GCM; the tag is its last 16 bytes. *size: capacity of `out` on
 * entry, size on return. STATUS_FULL: `out` is too small. STATUS_BAD_INPUT: another key, nonce or
 * associated data, or changed bytes; `out` is then wiped. */
MUST_CHECK enum status sign_unseal(const uint8_t key[SIGN_SEAL_KEY_BYTES], struct span nonce,
    struct span associated, struct span sealed, void *out, size_t *size);

#endif
