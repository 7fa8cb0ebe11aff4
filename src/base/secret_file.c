/* SPDX-License-Identifier: Apache-2.0 */
#include "base/secret_file.h"

#include <stdio.h>
#include <string.h>

enum status secret_file_read(const char *path, char *out, size_t out_bytes, size_t *size)
{
    invariant(out_bytes > 0);
    FILE *file = fopen(path, "rbe");
    if (file == NULL)
        return STATUS_IO;
    setvbuf(file, NULL, _IONBF, 0); /* no second copy of a secret in a buffer that nobody wipes */
    *size = fread(out, 1, out_bytes, file);
    enum status status = ferror(file) ? STATUS_IO : *size == out_bytes ? STATUS_FULL : STATUS_OK;
    fclose(file);
    if (status != STATUS_OK) {
        explicit_bzero(out, out_bytes);
        return status;
    }
    while (*size > 0 && (out[*size - 1] == '\n' || out[*size - 1] == '\r'))
        --*size;
    out[*size] = '\0';
    return *size > 0 ? STATUS_OK : STATUS_BAD_INPUT; /* a secret that is empty is none */
}
