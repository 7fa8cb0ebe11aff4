/* SPDX-License-Identifier: Apache-2.0 */
#include "config/imported.h"

#include "config/checked_file.h"

#include <inttypes.h>
#include <stdlib.h>

static const char file_name[] = "imported";
static const char file_temporary[] = "imported.tmp";
static const char head[] = "stampede-imported 1\n";
enum { LINE_BYTES = 16 + 1 + 10 + 1 };
enum { FILE_BYTES = TICKET_RANGES_MAX * LINE_BYTES + 256 };

enum status imported_write(struct disk *folder, const struct ticket_ranges *ranges)
{
    char *bytes = malloc(FILE_BYTES);
    if (bytes == NULL)
        return STATUS_FULL;
    struct text text = text_in(bytes, FILE_BYTES);
    text_string(&text, head);
    for (uint32_t i = 0; i < ranges->count; i++)
        text_format(&text, "%016" PRIx64 " %" PRIu32 "\n", ranges->list[i].outside, ranges->list[i].count);
    const enum status status = checked_file_write(folder, file_temporary, file_name, &text);
    free(bytes);
    return status;
}

static bool ranges_parse(struct span rest, struct ticket_ranges *ranges)
{
    struct span line, first;
    uint64_t outside;
    uint32_t count;
    if (!span_starts_with(rest, SPAN(head)))
        return false;
    rest = span_of(rest.data + sizeof head - 1, rest.size - (sizeof head - 1));
    while (rest.size > 0)
        if (!span_take_until(&rest, '\n', &line) || !span_take_until(&line, ' ', &first)
            || span_to_hex64(first, &outside) != STATUS_OK || span_to_u32(line, &count) != STATUS_OK
            || !ticket_ranges_add(ranges, outside, count))
            return false;
    return true;
}

enum status imported_read(struct disk *folder, struct ticket_ranges **ranges)
{
    struct span body;
    char *room = malloc(FILE_BYTES);
    *ranges = NULL;
    enum status status =
        room == NULL ? STATUS_FULL : checked_file_read(folder, file_name, room, FILE_BYTES, &body);
    if (status == STATUS_OK) {
        *ranges = calloc(1, sizeof **ranges);
        status = *ranges == NULL          ? STATUS_FULL
            : ranges_parse(body, *ranges) ? STATUS_OK
                                          : STATUS_CORRUPT;
    }
    if (status != STATUS_OK) {
        free(*ranges);
        *ranges = NULL;
    }
    free(room);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}
