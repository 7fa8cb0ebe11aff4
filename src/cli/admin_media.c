/* SPDX-License-Identifier: Apache-2.0 */
/* cli/admin_media.c: `admin media add`: a picture goes to the server in pieces. */
#include "cli/admin_parts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PIECE_BYTES = 60 * 1024,
    FILE_BYTES_MAX = 32 * 1024 * 1024, /* of media.upload_bytes */
    LOOK_US = 50 * 1000,
    LOOKS_MAX = 1200, /* a minute */
};

/* The whole file; NULL: told why not. */
static char *file_read(const char *name, FILE *errors, size_t *size)
{
    const bool standard = strcmp(name, "-") == 0;
    FILE *file = standard ? stdin : fopen(name, "re");
    char *bytes = malloc(FILE_BYTES_MAX + 1);
    *size = 0;
    if (file != NULL && bytes != NULL)
        *size = fread(bytes, 1, FILE_BYTES_MAX + 1, file);
    const bool good = file != NULL && bytes != NULL && ferror(file) == 0;
    if (file != NULL && !standard)
        fclose(file);
    if (good && *size > 0 && *size <= FILE_BYTES_MAX)
        return bytes;
    fprintf(errors, "stampede admin: %s %s\n", name,
        !good            ? "can't be read"
            : *size == 0 ? "is empty"
                         : "has more than 32 MiB");
    free(bytes);
    return NULL;
}

static const char *state_of(const json_t *answer)
{
    const char *state = json_string_value(json_object_get(answer, "state"));
    return state == NULL ? "" : state;
}

/* Piece by piece; the last answer is in *answer. */
static enum admin_cli_result pieces_send(
    admin_media_call call, void *context, const char *path, struct span bytes, json_t **answer)
{
    char where[ADMIN_PATH_BYTES + 96];
    json_int_t upload = 0;
    enum admin_cli_result result = ADMIN_CLI_DONE;
    for (size_t at = 0; at < bytes.size && result == ADMIN_CLI_DONE;) {
        const size_t piece = bytes.size - at < PIECE_BYTES ? bytes.size - at : PIECE_BYTES;
        if (at == 0)
            snprintf(where, sizeof where, "%s?bytes=%zu", path, bytes.size);
        else
            snprintf(where, sizeof where, "%s?upload=%lld&at=%zu", path, (long long)upload, at);
        json_decref(*answer);
        result = call(context, "POST", where, span_of(bytes.data + at, piece), answer);
        upload = json_integer_value(json_object_get(*answer, "upload"));
        at += piece;
    }
    return result;
}

enum admin_cli_result admin_media_send(admin_media_call call, void *context, const char *path,
    const char *file, FILE *errors, json_t **answer)
{
    char where[ADMIN_PATH_BYTES + 64];
    size_t size;
    *answer = NULL;
    char *bytes = file_read(file, errors, &size);
    if (bytes == NULL)
        return ADMIN_CLI_USAGE;
    enum admin_cli_result result = pieces_send(call, context, path, span_of(bytes, size), answer);
    free(bytes);
    snprintf(where, sizeof where, "%s/uploads/%lld", path,
        (long long)json_integer_value(json_object_get(*answer, "upload")));
    for (int i = 0;
         i < LOOKS_MAX && result == ADMIN_CLI_DONE && strcmp(state_of(*answer), "working") == 0; i++) {
        usleep(LOOK_US);
        json_decref(*answer);
        result = call(context, "GET", where, SPAN_NONE, answer);
    }
    if (result != ADMIN_CLI_DONE || strcmp(state_of(*answer), "done") == 0)
        return result;
    const char *why = json_string_value(json_object_get(*answer, "detail"));
    fprintf(errors, "stampede admin: %s: %s\n", file, why != NULL ? why : "the server takes too long");
    return ADMIN_CLI_REFUSED;
}
