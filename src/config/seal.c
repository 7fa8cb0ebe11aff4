/* SPDX-License-Identifier: Apache-2.0 */
#include "config/seal.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "config/checked_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char file_name[] = "moved";
static const char file_temporary[] = "moved.tmp";
enum { FILE_BYTES = 256 };

uint64_t seal_target(const struct config *target)
{
    char bytes[2 * CONFIG_TEXT + 2];
    uint8_t digest[HASH_SHA256_BYTES];
    const int size = snprintf(bytes, sizeof bytes, "%s\n%s", target->store_kind, target->store_url);
    hash_sha256(bytes, (size_t)size, digest);
    return bytes_get_u64(digest);
}

enum status seal_write(struct disk *folder, const struct seal *seal)
{
    char bytes[FILE_BYTES];
    struct text text = text_in(bytes, sizeof bytes);
    text_format(&text,
        "stampede-%s 1\nmove %016" PRIx64 "\ntarget %016" PRIx64 "\ntime %" PRIu64 "\ndone %d\n",
        seal->comes ? "comes" : "moved", seal->move, seal->target, seal->time_ms, seal->done);
    return checked_file_write(folder, file_temporary, file_name, &text);
}

/* The value in the next line, which begins with this word and a blank. */
static bool value_take(struct span *rest, struct span word, struct span *value)
{
    if (!span_take_until(rest, '\n', value) || !span_starts_with(*value, word))
        return false;
    *value = span_of(value->data + word.size, value->size - word.size);
    return true;
}

static bool seal_parse(struct span rest, struct seal *seal)
{
    struct span value;
    uint64_t done = 0;
    if (!value_take(&rest, SPAN("stampede-"), &value)
        || (!span_equal(value, SPAN("moved 1")) && !span_equal(value, SPAN("comes 1"))))
        return false;
    seal->comes = span_equal(value, SPAN("comes 1"));
    if (!value_take(&rest, SPAN("move "), &value) || span_to_hex64(value, &seal->move) != STATUS_OK
        || seal->move == 0 || !value_take(&rest, SPAN("target "), &value)
        || span_to_hex64(value, &seal->target) != STATUS_OK
        || !value_take(&rest, SPAN("time "), &value) || span_to_u64(value, &seal->time_ms) != STATUS_OK
        || !value_take(&rest, SPAN("done "), &value) || span_to_u64(value, &done) != STATUS_OK)
        return false;
    seal->done = done == 1;
    return done <= 1 && rest.size == 0;
}

enum status seal_read(struct disk *folder, struct seal *seal)
{
    char room[FILE_BYTES];
    struct span body;
    *seal = (struct seal){ 0 };
    const enum status status = checked_file_read(folder, file_name, room, sizeof room, &body);
    if (status != STATUS_OK)
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    return seal_parse(body, seal) ? STATUS_OK : STATUS_CORRUPT;
}

enum status seal_remove(struct disk *folder)
{
    enum status status = folder->ops->remove(folder, file_name);
    return status == STATUS_OK ? folder->ops->sync_folder(folder) : status;
}

enum status seal_check(struct disk *folder, char error[CONFIG_ERROR])
{
    struct seal seal;
    const enum status status = seal_read(folder, &seal);
    if (status == STATUS_OK && seal.move == 0)
        return STATUS_OK;
    if (status != STATUS_OK) {
        snprintf(error, CONFIG_ERROR, "the file moved in the data folder can't be read: %s",
            status_name(status));
        return status;
    }
    snprintf(error, CONFIG_ERROR,
        seal.comes ? "the data folder is sealed: a shop is being moved into it, "
                     "run 'stampede migrate' again with the same words"
            : seal.done
            ? "the data folder is sealed: its shop has moved to many machines, start those"
            : "the data folder is sealed: its shop is being moved to many machines, "
              "run 'stampede migrate' again with the same words");
    return STATUS_CONFLICT;
}
