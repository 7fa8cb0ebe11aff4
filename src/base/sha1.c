/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-1 on OpenSSL. Only for the WebSocket handshake, which names it; nothing here trusts it. */
#include "base/hash.h"
#include "base/status.h"

#include <openssl/evp.h>

void hash_sha1(const void *data, size_t bytes, uint8_t digest[HASH_SHA1_BYTES])
{
    unsigned size = 0;
    const int rc = EVP_Digest(data, bytes, digest, &size, EVP_sha1(), NULL);
    invariant(rc == 1 && size == HASH_SHA1_BYTES);
}
