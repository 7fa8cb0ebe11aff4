/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/certificate_list.h"

static bool path_copy(struct span path, char out[CERTIFICATE_PATH_MAX])
{
    if (path.size == 0 || path.size >= CERTIFICATE_PATH_MAX)
        return false;
    memcpy(out, path.data, path.size);
    out[path.size] = 0;
    return true;
}

static bool pair_read(struct span pair, struct certificate_files *files)
{
    const char *colon = pair.size == 0 ? NULL : memchr(pair.data, ':', pair.size);
    if (colon == NULL)
        return false;
    const size_t before = (size_t)(colon - pair.data);
    const struct span key = span_of(colon + 1, pair.size - before - 1);
    return memchr(key.data, ':', key.size) == NULL
        && path_copy(span_of(pair.data, before), files->certificate) && path_copy(key, files->key);
}

enum status certificate_list_parse(
    struct span list, struct certificate_files files[CERTIFICATES_MAX], uint32_t *count)
{
    struct span pair;
    *count = 0;
    if (list.size == 0 || list.data[list.size - 1] == ',')
        return STATUS_BAD_INPUT;
    while (span_take_until(&list, ',', &pair)) {
        if (*count == CERTIFICATES_MAX || !pair_read(span_trim(pair, SPAN(" \t")), &files[*count]))
            return STATUS_BAD_INPUT;
        ++*count;
    }
    return STATUS_OK;
}
