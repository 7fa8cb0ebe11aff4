/* SPDX-License-Identifier: Apache-2.0 */
#include "config/data_folder.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/text.h"
#include "config/identity.h"
#include "config/imported.h"
#include "contract/cluster_store.h"
#include "journal/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char identity_name[] = "identity";
static const char identity_temporary[] = "identity.tmp";

static enum status identity_write(const struct data_folder *folder)
{
    char line[IDENTITY_BYTES];
    identity_line(folder, line);
    const enum status status =
        disk_replace(folder->root, identity_temporary, identity_name, line, sizeof line);
    explicit_bzero(line, sizeof line);
    return status;
}

static enum status identity_make(struct data_folder *folder)
{
    random_secret(&folder->data_id, sizeof folder->data_id);
    random_secret(folder->master, sizeof folder->master);
    return identity_write(folder);
}

static enum status identity_load(struct data_folder *folder)
{
    char line[IDENTITY_BYTES + 1];
    size_t got = 0;
    disk_file file = -1;
    enum status status = folder->root->ops->open(folder->root, identity_name, DISK_READ, &file);
    if (status != STATUS_OK)
        return status;
    status = folder->root->ops->read(folder->root, file, 0, line, sizeof line, &got);
    folder->root->ops->close(folder->root, file);
    if (status == STATUS_OK && !identity_read(span_of(line, got), folder))
        status = STATUS_CORRUPT;
    explicit_bzero(line, sizeof line);
    return status;
}

static enum status identity_open(struct data_folder *folder, enum data_folder_use use)
{
    const enum status status = identity_load(folder);
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
    const bool look = use != DATA_SERVE;
    enum status status =
        look && access(path, F_OK) != 0 ? STATUS_NOT_FOUND : disk_folder_open(path, &folder->root);
    if (status == STATUS_OK && use != DATA_LOOK) {
        status = disk_folder_lock(folder->root, "lock");
        if (status == STATUS_BUSY) {
            snprintf(error, CONFIG_ERROR,
                "data folder %.150s is locked by another process: "
                "a server or command that uses it is running",
                path);
            goto fail;
        }
    }
    if (status == STATUS_OK) {
        part = "/identity";
        status = identity_open(folder, use);
    }
    if (status == STATUS_OK) {
        part = "/imported";
        status = imported_read(folder->root, &folder->imported);
    }
    if (status == STATUS_OK) {
        part = "/journal";
        status = look && access(journal, F_OK) != 0 ? STATUS_NOT_FOUND
                                                    : disk_folder_open(journal, &folder->journal);
    }
    if (status == STATUS_OK)
        return STATUS_OK;
    snprintf(error, CONFIG_ERROR, "data folder %.150s%s: %s", path, part,
        status == STATUS_IO && errno == EACCES
            ? "permission denied: give it to the user who runs the server (chown)"
            : status == STATUS_IO ? strerrordesc_np(errno)
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
    free(folder->imported);
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

/* After the data id: whoever begins to fill a database finds that it has none, or fails. */
static enum status moving_check(
    struct data_folder *folder, struct order_store *store, char error[CONFIG_ERROR])
{
    static const char *const words[] = {
        [SHOP_STAYS] = "the database can't be read",
        [SHOP_COMES] =
            "a shop is being moved into this database: run 'stampede migrate' to its end first",
        [SHOP_LEAVES] =
            "the shop of this database is sealed: it is being moved to one machine, run "
            "'stampede migrate' to its end",
        [SHOP_LEFT] = "the shop of this database has moved to one machine: start its server",
    };
    enum shop_moving moving = SHOP_STAYS;
    const enum status status =
        store->ops->cluster == NULL ? STATUS_OK : store->ops->cluster->moving(store, &moving);
    if (status == STATUS_OK && moving == SHOP_STAYS)
        return secret_match(folder, store, error);
    snprintf(error, CONFIG_ERROR, "%s", words[moving]);
    return moving != SHOP_STAYS ? STATUS_BUSY : status;
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
    const bool has_journal = journal_end != NO_JOURNAL;
    if (status == STATUS_OK && data_id == 0 && has_journal && journal_end > 0) {
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
    if (status == STATUS_OK && has_journal)
        status = journal_oldest(folder->journal, &before_first);
    if (status != STATUS_OK) {
        snprintf(error, CONFIG_ERROR, "database: %s", status_name(status));
        return status;
    }
    const lsn_t position = has_journal ? applied.seq : 0;
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
        return moving_check(folder, store, error);
    return STATUS_CONFLICT;
}
