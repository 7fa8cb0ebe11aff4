/* SPDX-License-Identifier: Apache-2.0 */
#include "config/cluster_secret.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "base/secret_file.h"

#include <stdio.h>
#include <string.h>

bool cluster_is_set(const struct config *config)
{
    return strcmp(config->inventory_kind, "redis") == 0;
}

enum status cluster_secret_use(
    struct data_folder *folder, const struct config *config, char error[CONFIG_ERROR])
{
    static const char label[] = "stampede data id";
    char secret[CLUSTER_SECRET_BYTES_MAX + 1];
    uint8_t digest[HASH_SHA256_BYTES];
    size_t size = 0;
    if (!cluster_is_set(config))
        return STATUS_OK;
    const enum status status =
        secret_file_read(config->cluster_secret_file, secret, sizeof secret, &size);
    if (status != STATUS_OK || size < CLUSTER_SECRET_BYTES_MIN) {
        snprintf(error, CONFIG_ERROR, "cluster.secret_file must be readable and hold %d to %d characters",
            CLUSTER_SECRET_BYTES_MIN, CLUSTER_SECRET_BYTES_MAX);
        explicit_bzero(secret, sizeof secret);
        return STATUS_BAD_INPUT;
    }
    static_assert((int)MASTER_BYTES == (int)HASH_SHA256_BYTES, "a digest is a master secret");
    hash_sha256(secret, size, folder->master);
    hash_hmac_sha256(folder->master, sizeof folder->master, label, sizeof label, digest);
    folder->data_id = bytes_get_u64(digest) | 1; /* 0 is none */
    folder->without_checksum = false;
    explicit_bzero(secret, sizeof secret);
    return STATUS_OK;
}
