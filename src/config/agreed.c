/* SPDX-License-Identifier: Apache-2.0 */
#include "config/agreed.h"

#include "base/bytes.h"
#include "base/hash.h"

#include <stdio.h>
#include <string.h>

/* A chain: the digest of the rows before and of this one, with its name. */
uint64_t agreed_settings(const struct config *config)
{
    struct config_setting setting;
    char link[HASH_SHA256_BYTES + CONFIG_LIST + CONFIG_TEXT] = { 0 };
    uint8_t digest[HASH_SHA256_BYTES] = { 0 };
    for (size_t at = 0; config_setting(config, at, &setting); at++) {
        if (!setting.agreed)
            continue;
        memcpy(link, digest, sizeof digest);
        const int size = snprintf(link + sizeof digest, sizeof link - sizeof digest, "%s.%s = %s\n",
            setting.section, setting.key, setting.value);
        hash_sha256(link, sizeof digest + (size_t)size, digest);
    }
    return bytes_get_u64(digest);
}
