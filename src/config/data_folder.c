/* SPDX-License-Identifier: Apache-2.0 */
#include "config/data_folder.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/text.h"
#include "contract/order_store.h"
#include "journal/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char identity_name[] = "identity";
static const char identity_temporary[] = "identity.tmp";
#define IDENTITY_WORD "stampede-data 2 "
#define IDENTITY_WORD_FIRST "stampede-data 1 "
enum {
    WORD_BYTES = sizeof IDENTITY_WORD - 1,
    BODY_BYTES = WORD_BYTES + 16 + 1 + 2 * MASTER_BYTES, /* what version 1 had, and the checksum is of */
    IDENTITY_BYTES_FIRST = BODY_BYTES + 1,
    IDENTITY_BYTES = BODY_BYTES + 1 + 8 + 1,
};

static enum status identity_write(const struct data_folder *folder)
{
    char line[IDENTITY_BYTES];
    struct text text = text_in(line, sizeof line);
    struct disk *disk = folder->root;
    disk_file file = -1;
    text_literal(&text, IDENTITY_WORD);
    text_hex64(&text, folder->data_id);
    text_literal(&text, " ");
    text_hex(&text, span_of(folder->master, sizeof folder->master));
    invariant(text.size == BODY_BYTES);
    text_format(&text, " %08x\n", hash_crc32c(0, line, BODY_BYTES));
    invariant(text.size == sizeof line && !text.overflow);
    enum status status = disk->ops->remove(disk, identity_temporary);
    if (status == STATUS_OK || status == STATUS_NOT_FOUND)
        status = disk->ops->open(disk, identity_temporary, DISK_CREATE, &file);
    if (status == STATUS_OK) {
        status = disk->ops->write(disk, file, 0, line, sizeof line);
        if (status == STATUS_OK)
            status = disk->ops->sync(disk, file);
        disk->ops->close(disk, file);
    }
    explicit_bzero(line, sizeof line);
    if (status == STATUS_OK)
        status = disk->ops->rename(disk, identity_temporary, identity_name);
    return status == STATUS_OK ? disk->ops->sync_folder(disk) : status;
}

static enum status identity_make(struct data_folder *folder)
{
    random_secret(&folder->data_id, sizeof folder->data_id);
    random_secret(folder->master, sizeof folder->master);
    return identity_write(folder);
}

static bool hex_read(struct span text, uint8_t *out, size_t bytes)
{
    if (text.size != 2 * bytes)
        return false;
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word;
        if (span_to_hex64(span_of(text.data + 2 * i, 16), &word) != STATUS_OK)
            return false;
        for (size_t j = 0; j < 8; j++)
            out[i + j] = (uint8_t)(word >> (56 - 8 * j));
    }
    return true;
}

static bool checksum_fits(const char *line)
{
    char crc[9];
    snprintf(crc, sizeof crc, "%08x", hash_crc32c(0, line, BODY_BYTES));
    return memcmp(line + BODY_BYTES + 1, crc, 8) == 0;
}

static enum status identity_read(struct data_folder *folder)
{
    char line[IDENTITY_BYTES + 1];
    size_t got = 0;
    disk_file file = -1;
    enum status status = folder->root->ops->open(folder->root, identity_name, DISK_READ, &file);
    if (status != STATUS_OK)
        return status;
    status = folder->root->ops->read(folder->root, file, 0, line, sizeof line, &got);
    folder->root->ops->close(folder->root, file);
    if (status != STATUS_OK)
        return status;
    const bool first = got == IDENTITY_BYTES_FIRST && memcmp(line, IDENTITY_WORD_FIRST, WORD_BYTES) == 0;
    const bool second = got == IDENTITY_BYTES && memcmp(line, IDENTITY_WORD, WORD_BYTES) == 0
        && line[BODY_BYTES] == ' ' && checksum_fits(line);
    if ((!first && !second) || line[got - 1] != '\n' || line[WORD_BYTES + 16] != ' '
        || span_to_hex64(span_of(line + WORD_BYTES, 16), &folder->data_id) != STATUS_OK
        || !hex_read(span_of(line + WORD_BYTES + 17, (size_t)2 * MASTER_BYTES), folder->master,
            MASTER_BYTES))
        return STATUS_CORRUPT;
    folder->without_checksum = first;
    return STATUS_OK;
}

static enum status identity_open(struct data_folder *folder, enum data_folder_use use)
{
    const enum status status = identity_read(folder);
    return status == STATUS_NOT_FOUND && use == DATA_SERVE ? identity_make(folder) : status;
}

enum status data_folder_open(struct data_folder *folder, const char *path, enum data_folder_use use,
    char error[CONFIG_ERROR])
{
    char journal[CONFIG_TEXT + 32];
    *folder = (struct data_folder){ 0 };
    snprintf(journal, sizeof journal, "%s/journal", path);
    snprintf(folder->database, sizeof folder->database, "%s/stampede.db", path);
    const char *part = "";
    /* Looking must not make what is not there. */
    const bool look = use == DATA_LOOK;
    enum status status =
        look && access(path, F_OK) != 0 ? STATUS_NOT_FOUND : disk_folder_open(path, &folder->root);
    if (status == STATUS_OK && use == DATA_SERVE) {
        status = disk_folder_lock(folder->root, "lock");
        if (status == STATUS_BUSY) {
            snprintf(error, CONFIG_ERROR, "data folder %.150s is locked by another process", path);
            goto fail;
        }
    }
    if (status == STATUS_OK) {
        part = "/identity";
        status = identity_open(folder, use);
    }
    if (status == STATUS_OK) {
        part = "/journal";
        status = look && access(journal, F_OK) != 0 ? STATUS_NOT_FOUND
                                                    : disk_folder_open(journal, &folder->journal);
    }
    if (status == STATUS_OK)
        return STATUS_OK;
    snprintf(error, CONFIG_ERROR, "data folder %.150s%s: %s", path, part,
        status == STATUS_IO ? strerrordesc_np(errno)
            : status == STATUS_CORRUPT
            ? "is damaged or of another version: restore it from a backup"
            : status == STATUS_NOT_FOUND
            ? (look ? "does not exist" : "can't be created: its parent folder does not exist")
            : status_name(status));
fail:
    data_folder_close(folder);
    return status;
}

void data_folder_close(struct data_folder *folder)
{
    if (folder->journal != NULL)
        disk_folder_close(folder->journal);
    if (folder->root != NULL)
        disk_folder_close(folder->root);
    explicit_bzero(folder, sizeof *folder);
}

uint64_t data_folder_secret_check(const struct data_folder *folder)
{
    static const char label[] = "stampede identity check";
    uint8_t bytes[sizeof label + MASTER_BYTES], hash[HASH_SHA256_BYTES];
    memcpy(bytes, label, sizeof label);
    memcpy(bytes + sizeof label, folder->master, MASTER_BYTES);
    hash_sha256(bytes, sizeof bytes, hash);
    explicit_bzero(bytes, sizeof bytes);
    const uint64_t value = bytes_get_u64(hash);
    return value != 0 ? value : 1;
}

/* The secret is the one that the database has seen; it takes it when it has seen none. */
static enum status secret_match(
    struct data_folder *folder, struct order_store *store, char error[CONFIG_ERROR])
{
    const uint64_t value = data_folder_secret_check(folder);
    uint64_t stored = 0;
    enum status status = store->ops->secret_check(store, &stored);
    if (status == STATUS_OK && stored == 0)
        status = store->ops->secret_check_set(store, value);
    else if (status == STATUS_OK && stored != value) {
        snprintf(error, CONFIG_ERROR,
            "the secret in the file identity does not belong to this database: restore the file "
            "from a backup");
        return STATUS_CONFLICT;
    }
    if (status != STATUS_OK) {
        snprintf(error, CONFIG_ERROR, "database: %s", status_name(status));
        return status;
    }
    if (!folder->without_checksum)
        return STATUS_OK;
    status = identity_write(folder);
    folder->without_checksum = status != STATUS_OK;
    if (status != STATUS_OK)
        snprintf(error, CONFIG_ERROR, "the file identity can't be written: %s", status_name(status));
    return status;
}

enum status data_folder_match(struct data_folder *folder, struct order_store *store,
    lsn_t journal_end, char error[CONFIG_ERROR])
{
    uint64_t data_id = 0;
    struct position applied = { 0 };
    uint64_t before_first = 0;
    enum status status = store->ops->identity(store, &data_id);
    if (status == STATUS_OK)
        status = store->ops->applied(store, PART_EMBEDDED, &applied);
    /* The id is stored before the first record can be: a log without it has lost its products,
     * sales and orders. */
    if (status == STATUS_OK && data_id == 0 && journal_end > 0) {
        snprintf(error, CONFIG_ERROR,
            "the database is new, but the journal ends at %" PRIu64
            ": put back the database that belongs to it",
            journal_end);
        return STATUS_CONFLICT;
    }
    if (status == STATUS_OK && data_id == 0) {
        status = store->ops->identity_set(store, folder->data_id);
        data_id = folder->data_id;
        if (status == STATUS_CONFLICT) /* another process that starts at the same time was faster */
            status = store->ops->identity(store, &data_id);
    }
    if (status == STATUS_OK && data_id != folder->data_id) {
        snprintf(error, CONFIG_ERROR,
            "journal and database do not belong together: their data ids differ");
        return STATUS_CONFLICT;
    }
    if (status == STATUS_OK)
        status = journal_oldest(folder->journal, &before_first);
    if (status != STATUS_OK) {
        snprintf(error, CONFIG_ERROR, "database: %s", status_name(status));
        return status;
    }
    const lsn_t position = applied.seq;
    if (position > journal_end)
        snprintf(error, CONFIG_ERROR,
            "the journal is older than the database: it ends at %" PRIu64
            ", orders are written up to %" PRIu64,
            journal_end, position);
    else if (position < before_first)
        snprintf(error, CONFIG_ERROR,
            "the database is older than the journal: orders are written up to %" PRIu64
            ", but the log is kept only after %" PRIu64,
            position, before_first);
    else
        return secret_match(folder, store, error);
    return STATUS_CONFLICT;
}
