/* SPDX-License-Identifier: Apache-2.0 */
/* All ids and sessions follow from the master secret, so it moves with the shop. */
#include "config/cluster_secret.h"
#include "config/identity.h"
#include "server/migrate_parts.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_there(const struct migrate *migrate)
{
    return access(migrate->target.cluster_secret_file, F_OK) == 0;
}

bool migrate_secret_check(struct migrate *migrate)
{
    struct data_folder other = { 0 };
    if (!is_there(migrate))
        return true;
    const enum status status = cluster_secret_use(&other, &migrate->target, migrate->error);
    const bool same = status == STATUS_OK && other.data_id == migrate->folder.data_id
        && memcmp(other.master, migrate->folder.master, MASTER_BYTES) == 0;
    explicit_bzero(&other, sizeof other);
    if (status != STATUS_OK || same)
        return status == STATUS_OK;
    return migrate_refused(migrate,
        "%.200s has another secret than the data folder: name a file in cluster.secret_file that "
        "does not "
        "exist, migrate makes it",
        migrate->target.cluster_secret_file);
}

/* The folder of the file must be there: its name may be wrong. */
static bool folder_open(struct migrate *migrate, struct disk **folder, const char **name)
{
    char path[CONFIG_TEXT + 1];
    snprintf(path, sizeof path, "%s", migrate->target.cluster_secret_file);
    char *slash = strrchr(path, '/');
    *name = migrate->target.cluster_secret_file + (slash == NULL ? 0 : slash - path + 1);
    if (slash != NULL)
        slash[slash == path] = 0;
    const char *parent = slash == NULL ? "." : path;
    if (access(parent, W_OK) != 0)
        return migrate_refused(migrate,
            "cluster.secret_file: the folder %.200s is not there, or may not be written", parent);
    const enum status status = disk_folder_open(parent, folder);
    return status == STATUS_OK
        || migrate_failed(migrate, "cluster.secret_file can't be written", status);
}

bool migrate_secret_write(struct migrate *migrate, bool *written)
{
    char line[IDENTITY_BYTES];
    struct disk *folder = NULL;
    const char *name;
    if (is_there(migrate))
        return true;
    if (!folder_open(migrate, &folder, &name))
        return false;
    identity_line(&migrate->folder, line);
    const enum status status = disk_replace(folder, ".stampede-secret.tmp", name, line, sizeof line);
    explicit_bzero(line, sizeof line);
    disk_folder_close(folder);
    *written = status == STATUS_OK;
    return status == STATUS_OK
        || migrate_failed(migrate, "cluster.secret_file can't be written", status);
}
