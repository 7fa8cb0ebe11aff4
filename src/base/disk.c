/* SPDX-License-Identifier: Apache-2.0 */
/* The real disk: a folder held open by descriptor, so that renaming the folder or changing the
 * working directory can't lead writes astray. */
#include "base/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

struct folder {
    struct disk disk; /* first: a struct disk * from us is a struct folder * */
    int root;
    int lock; /* -1 while not locked */
};

static struct folder *folder_of(struct disk *disk)
{
    return (struct folder *)disk;
}

static enum status status_of_errno(void)
{
    switch (errno) {
    case ENOSPC:
    case EDQUOT:
        return STATUS_FULL;
    case ENOENT:
        return STATUS_NOT_FOUND;
    case EEXIST:
        return STATUS_CONFLICT;
    default:
        return STATUS_IO;
    }
}

static void close_keeping_errno(int fd)
{
    int errno_then = errno;
    if (fd >= 0)
        close(fd);
    errno = errno_then;
}

static bool name_is_valid(const char *name)
{
    size_t size = strnlen(name, DISK_NAME_MAX);
    return size > 0 && size < DISK_NAME_MAX && strchr(name, '/') == NULL && strcmp(name, ".") != 0
        && strcmp(name, "..") != 0;
}

static enum status folder_file_open(
    struct disk *disk, const char *name, enum disk_mode mode, disk_file *file)
{
    static const int flags[] = {
        [DISK_READ] = O_RDONLY,
        [DISK_WRITE] = O_RDWR,
        [DISK_CREATE] = O_RDWR | O_CREAT | O_EXCL,
    };
    if (!name_is_valid(name))
        return STATUS_BAD_INPUT;
    int fd;
    do
        fd = openat(folder_of(disk)->root, name, flags[mode] | O_CLOEXEC, 0600);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return status_of_errno();
    *file = fd;
    return STATUS_OK;
}

static void folder_file_close(struct disk *disk, disk_file file)
{
    (void)disk;
    close_keeping_errno(file); /* what matters was synced before */
}

static enum status folder_read(
    struct disk *disk, disk_file file, uint64_t offset, void *data, size_t bytes, size_t *got)
{
    (void)disk;
    invariant(bytes <= INT64_MAX && offset <= INT64_MAX - bytes);
    size_t done = 0;
    while (done < bytes) {
        ssize_t n = pread(file, (char *)data + done, bytes - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return STATUS_IO;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    *got = done;
    return STATUS_OK;
}

static enum status folder_write(
    struct disk *disk, disk_file file, uint64_t offset, const void *data, size_t bytes)
{
    (void)disk;
    invariant(bytes <= INT64_MAX && offset <= INT64_MAX - bytes);
    size_t done = 0;
    while (done < bytes) {
        ssize_t n = pwrite(file, (const char *)data + done, bytes - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return status_of_errno();
        if (n == 0) { /* POSIX knows no such answer; it must not become an endless loop */
            errno = EIO;
            return STATUS_IO;
        }
        done += (size_t)n;
    }
    return STATUS_OK;
}

/* No second try, whatever the errno (a full disk too): after a failed sync the kernel may have
 * dropped the dirty pages, and a second call would answer success for data that is gone. */
static enum status folder_sync(struct disk *disk, disk_file file)
{
    (void)disk;
    return fdatasync(file) == 0 ? STATUS_OK : STATUS_IO;
}

static enum status folder_size(struct disk *disk, disk_file file, uint64_t *bytes)
{
    (void)disk;
    struct stat about;
    if (fstat(file, &about) != 0)
        return STATUS_IO;
    *bytes = (uint64_t)about.st_size;
    return STATUS_OK;
}

static enum status folder_truncate(struct disk *disk, disk_file file, uint64_t bytes)
{
    (void)disk;
    invariant(bytes <= INT64_MAX);
    int rc;
    do
        rc = ftruncate(file, (off_t)bytes);
    while (rc != 0 && errno == EINTR);
    return rc == 0 ? STATUS_OK : status_of_errno();
}

static enum status folder_rename(struct disk *disk, const char *from, const char *to)
{
    int root = folder_of(disk)->root;
    if (!name_is_valid(from) || !name_is_valid(to))
        return STATUS_BAD_INPUT;
    return renameat(root, from, root, to) == 0 ? STATUS_OK : status_of_errno();
}

static enum status folder_remove(struct disk *disk, const char *name)
{
    if (!name_is_valid(name))
        return STATUS_BAD_INPUT;
    return unlinkat(folder_of(disk)->root, name, 0) == 0 ? STATUS_OK : status_of_errno();
}

static enum status folder_sync_folder(struct disk *disk)
{
    return fsync(folder_of(disk)->root) == 0 ? STATUS_OK : STATUS_IO;
}

static enum status folder_list(struct disk *disk, const char *prefix,
    void (*each)(void *context, const char *name), void *context)
{
    /* Opened anew: the position in a folder belongs to the open file, and two listings must not
     * share one. */
    int fd = openat(folder_of(disk)->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return STATUS_IO;
    DIR *names = fdopendir(fd);
    if (names == NULL) {
        close_keeping_errno(fd);
        return STATUS_IO;
    }
    struct dirent *entry;
    while (errno = 0, (entry = readdir(names)) != NULL) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 && name_is_valid(entry->d_name))
            each(context, entry->d_name);
    }
    int errno_then = errno;
    closedir(names);
    errno = errno_then;
    return errno_then == 0 ? STATUS_OK : STATUS_IO;
}

static const struct disk_ops folder_ops = {
    .open = folder_file_open,
    .close = folder_file_close,
    .read = folder_read,
    .write = folder_write,
    .sync = folder_sync,
    .size = folder_size,
    .truncate = folder_truncate,
    .rename = folder_rename,
    .remove = folder_remove,
    .sync_folder = folder_sync_folder,
    .list = folder_list,
};

/* A new folder is only durable once its parent is. */
static enum status parent_sync(const char *path)
{
    char copy[PATH_MAX];
    int size = snprintf(copy, sizeof copy, "%s", path);
    if (size < 0 || (size_t)size >= sizeof copy) {
        errno = ENAMETOOLONG;
        return STATUS_IO;
    }
    int parent = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0)
        return STATUS_IO;
    int rc = fsync(parent);
    close_keeping_errno(parent);
    return rc == 0 ? STATUS_OK : STATUS_IO;
}

enum status disk_folder_open(const char *path, struct disk **disk)
{
    *disk = NULL;
    if (mkdir(path, 0700) == 0) {
        enum status status = parent_sync(path);
        if (status != STATUS_OK)
            return status;
    } else if (errno != EEXIST) {
        return status_of_errno();
    }
    struct folder *folder = malloc(sizeof *folder);
    if (folder == NULL)
        return STATUS_IO;
    *folder = (struct folder){ .disk = { &folder_ops }, .root = -1, .lock = -1 };
    folder->root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->root < 0) {
        disk_folder_close(&folder->disk);
        return STATUS_IO;
    }
    *disk = &folder->disk;
    return STATUS_OK;
}

void disk_folder_close(struct disk *disk)
{
    if (disk == NULL)
        return;
    struct folder *folder = folder_of(disk);
    close_keeping_errno(folder->lock);
    close_keeping_errno(folder->root);
    free(folder);
}

enum status disk_folder_lock(struct disk *disk, const char *name)
{
    struct folder *folder = folder_of(disk);
    invariant(folder->disk.ops == &folder_ops);
    if (folder->lock >= 0)
        return STATUS_BUSY;
    if (!name_is_valid(name))
        return STATUS_BAD_INPUT;
    int fd = openat(folder->root, name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return status_of_errno();
    /* flock, not fcntl: it dies with the process, and closing some other descriptor of the file
     * can't drop it. */
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        enum status status = errno == EWOULDBLOCK ? STATUS_BUSY : STATUS_IO;
        close_keeping_errno(fd);
        return status;
    }
    folder->lock = fd;
    return STATUS_OK;
}

enum status disk_replace(
    struct disk *disk, const char *temporary, const char *name, const void *data, size_t bytes)
{
    disk_file file = -1;
    enum status status = disk->ops->remove(disk, temporary);
    if (status == STATUS_OK || status == STATUS_NOT_FOUND)
        status = disk->ops->open(disk, temporary, DISK_CREATE, &file);
    if (status != STATUS_OK)
        return status;
    status = disk->ops->write(disk, file, 0, data, bytes);
    if (status == STATUS_OK)
        status = disk->ops->sync(disk, file);
    disk->ops->close(disk, file);
    if (status == STATUS_OK)
        status = disk->ops->rename(disk, temporary, name);
    return status == STATUS_OK ? disk->ops->sync_folder(disk) : status;
}

bool disk_folder_is_free(const char *path)
{
    DIR *folder = opendir(path);
    uint32_t entries = 0;
    if (folder == NULL)
        return errno == ENOENT;
    while (readdir(folder) != NULL)
        entries++;
    closedir(folder);
    return entries <= 2; /* itself and its parent */
}

bool disk_room(const char *folder, uint64_t *bytes)
{
    struct statvfs room;
    if (statvfs(folder, &room) != 0)
        return false;
    *bytes = (uint64_t)room.f_bavail * room.f_frsize;
    return true;
}
