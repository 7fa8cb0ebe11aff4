/* SPDX-License-Identifier: Apache-2.0 */
#include "base/password.h"

#include <openssl/evp.h>

enum {
    SCRYPT_N = 1 << 15,
    SCRYPT_R = 8,
    SCRYPT_P = 3,
    SCRYPT_MEMORY_MAX = 64 * 1024 * 1024,
};

enum status password_hash(
    struct span password, const uint8_t salt[PASSWORD_SALT_BYTES], uint8_t hash[HASH_SHA256_BYTES])
{
    return EVP_PBE_scrypt(password.data, password.size, salt, PASSWORD_SALT_BYTES, SCRYPT_N,
               SCRYPT_R, SCRYPT_P, SCRYPT_MEMORY_MAX, hash, HASH_SHA256_BYTES)
            == 1
        ? STATUS_OK
        : STATUS_FULL;
}
