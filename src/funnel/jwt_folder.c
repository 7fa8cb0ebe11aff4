/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/jwt_folder.c: the keys of a folder, by the names of their files. The bytes are wiped once the
 * keys are made. */
#include "funnel/jwt.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { PATH_BYTES_MAX = 4096 };

struct key_files {
    size_t count;
    struct jwt_key_source sources[JWT_KEYS_MAX];
    struct {
        char kid[JWT_KID_MAX];
        char bytes[JWT_KEY_FILE_BYTES_MAX + 1];
    } files[JWT_KEYS_MAX];
};

static bool file_read(const char *folder, const char *name, char *bytes, size_t *size)
{
    char path[PATH_BYTES_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = length > 0 && (size_t)length < sizeof path ? fopen(path, "rbe") : NULL;
    if (file == NULL)
        return false;
    *size = fread(bytes, 1, JWT_KEY_FILE_BYTES_MAX + 1, file);
    bool good = !ferror(file) && *size > 0 && *size <= JWT_KEY_FILE_BYTES_MAX;
    fclose(file);
    return good;
}

static const char *key_file_add(struct key_files *all, const char *folder, const char *name)
{
    struct span text = span_from_string(name);
    bool secret = span_ends_with(text, SPAN(".secret"));
    if (text.data[0] == '.' || (!secret && !span_ends_with(text, SPAN(".pem"))))
        return NULL;
    size_t kid_bytes = text.size - (secret ? strlen(".secret") : strlen(".pem"));
    if (kid_bytes > JWT_KID_MAX)
        return "name too long";
    if (all->count == JWT_KEYS_MAX)
        return "too many keys";
    size_t at = all->count++, size = 0;
    char *bytes = all->files[at].bytes;
    if (!file_read(folder, name, bytes, &size))
        return "can't be read, is empty or too large";
    if (secret && bytes[size - 1] == '\n')
        size--;
    memcpy(all->files[at].kid, name, kid_bytes);
    all->sources[at] = (struct jwt_key_source){ .kid = span_of(all->files[at].kid, kid_bytes) };
    *(secret ? &all->sources[at].secret : &all->sources[at].pem) = span_of(bytes, size);
    return NULL;
}

static enum status folder_read(struct key_files *all, const char *folder, char error[JWT_ERROR_BYTES])
{
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        snprintf(error, JWT_ERROR_BYTES, "folder '%.100s' can't be read", folder);
        return STATUS_IO;
    }
    const char *wrong = NULL;
    for (struct dirent *entry; wrong == NULL && (entry = readdir(dir)) != NULL;) {
        wrong = key_file_add(all, folder, entry->d_name);
        if (wrong != NULL)
            snprintf(error, JWT_ERROR_BYTES, "file '%.80s': %s", entry->d_name, wrong);
    }
    closedir(dir);
    return wrong == NULL ? STATUS_OK : STATUS_BAD_INPUT;
}

enum status jwt_keys_load_folder(struct jwt_keys **keys, const char *folder, char error[JWT_ERROR_BYTES])
{
    *keys = NULL;
    error[0] = '\0';
    struct key_files *all = calloc(1, sizeof *all);
    if (all == NULL) {
        snprintf(error, JWT_ERROR_BYTES, "no memory");
        return STATUS_FULL;
    }
    enum status status = folder_read(all, folder, error);
    if (status == STATUS_OK)
        status = jwt_keys_load(keys, all->sources, all->count, error);
    explicit_bzero(all, sizeof *all);
    free(all);
    return status;
}
