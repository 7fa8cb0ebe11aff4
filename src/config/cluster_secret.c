/* SPDX-License-Identifier: Apache-2.0 */
#include "config/cluster_secret.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "base/secret_file.h"
#include "config/identity.h"

#include <stdio.h>
#include <string.h>

bool cluster_is_set(const struct config *config)
{
    return strcmp(config->inventory_kind, "redis") == 0;
}

/* A shop that was moved here has the data id and the secret that it had. */
static enum status moved_use(
    struct data_folder *folder, char *secret, size_t size, char error[CONFIG_ERROR])
{
    secret[size] = '\n'; /* in the place of the 0 */
    if (size + 1 == IDENTITY_BYTES && identity_read(span_of(secret, size + 1), folder))
        return STATUS_OK;
    snprintf(error, CONFIG_ERROR, "cluster.secret_file is damaged: copy it again from another machine");
    return STATUS_BAD_INPUT;
}

/* Any words: everything follows from them. */
static void words_use(struct data_folder *folder, const char *secret, size_t size)
{
    static const char label[] = "stampede data id";
    uint8_t digest[HASH_SHA256_BYTES];
    static_assert((int)MASTER_BYTES == (int)HASH_SHA256_BYTES, "a digest is a master secret");
    hash_sha256(secret, size, folder->master);
    hash_hmac_sha256(folder->master, sizeof folder->master, label, sizeof label, digest);
    folder->data_id = bytes_get_u64(digest) | 1; /* 0 is none */
    folder->without_checksum = false;
}

enum status cluster_secret_use(
    struct data_folder *folder, const struct config *config, char error[CONFIG_ERROR])
{
    char secret[CLUSTER_SECRET_BYTES_MAX + 1];
    size_t size = 0;
    if (!cluster_is_set(config))
        return STATUS_OK;
    enum status status = secret_file_read(config->cluster_secret_file, secret, sizeof secret, &size);
    if (status != STATUS_OK || size < CLUSTER_SECRET_BYTES_MIN) {
        snprintf(error, CONFIG_ERROR, "cluster.secret_file must be readable and hold %d to %d characters",
            CLUSTER_SECRET_BYTES_MIN, CLUSTER_SECRET_BYTES_MAX);
        explicit_bzero(secret, sizeof secret);
        return STATUS_BAD_INPUT;
    }
    if (span_starts_with(span_of(secret, size), SPAN(IDENTITY_WORD)))
        status = moved_use(folder, secret, size, error);
    else
        words_use(folder, secret, size);
    explicit_bzero(secret, sizeof secret);
    return status;
}
