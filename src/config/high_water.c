/* SPDX-License-Identifier: Apache-2.0 */
#include "config/high_water.h"

#include "config/checked_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char file_name[] = "high-water";
static const char file_temporary[] = "high-water.tmp";
#define FILE_WORD "stampede-high-water 1\n"
enum { FILE_BYTES = 4096 };

/* ---- the file ---- */

enum status high_water_write(struct disk *folder, const struct high_water *mark)
{
    char bytes[FILE_BYTES];
    struct text text = text_in(bytes, sizeof bytes);
    text_literal(&text, FILE_WORD);
    text_format(&text, "position %" PRIu64 "\nrestoring %u\n", mark->position, mark->restoring);
    for (uint32_t i = 0; i < mark->count; i++)
        text_format(&text, "%s %" PRIu64 " %" PRIu64 "\n", mark->rows[i].used.name,
            mark->rows[i].used.last, mark->rows[i].reserved);
    return checked_file_write(folder, file_temporary, file_name, &text);
}

static bool number_take(struct span *rest, char end, uint64_t *number)
{
    struct span word;
    return span_take_until(rest, end, &word) && span_to_u64(word, number) == STATUS_OK;
}

static bool name_take(struct span *rest, char name[SEQUENCE_NAME_MAX + 1])
{
    struct span word;
    if (!span_take_until(rest, ' ', &word) || word.size == 0 || word.size > SEQUENCE_NAME_MAX)
        return false;
    memcpy(name, word.data, word.size);
    name[word.size] = 0;
    return true;
}

static bool mark_parse(struct span rest, struct high_water *mark)
{
    char name[SEQUENCE_NAME_MAX + 1];
    uint64_t restoring = 0;
    if (!span_starts_with(rest, SPAN(FILE_WORD)))
        return false;
    rest = span_of(rest.data + sizeof FILE_WORD - 1, rest.size - (sizeof FILE_WORD - 1));
    if (!name_take(&rest, name) || strcmp(name, "position") != 0
        || !number_take(&rest, '\n', &mark->position) || !name_take(&rest, name)
        || strcmp(name, "restoring") != 0 || !number_take(&rest, '\n', &restoring))
        return false;
    if (restoring > HIGH_WATER_FROM_BACKUP)
        return false;
    mark->restoring = (uint32_t)restoring;
    while (rest.size > 0) {
        if (mark->count == SEQUENCES_MAX || !name_take(&rest, mark->rows[mark->count].used.name)
            || !number_take(&rest, ' ', &mark->rows[mark->count].used.last)
            || !number_take(&rest, '\n', &mark->rows[mark->count].reserved))
            return false;
        mark->count++;
    }
    return true;
}

enum status high_water_read(struct disk *folder, struct high_water *mark)
{
    char bytes[FILE_BYTES];
    struct span body;
    *mark = (struct high_water){ 0 };
    const enum status status = checked_file_read(folder, file_name, bytes, sizeof bytes, &body);
    return status == STATUS_OK && !mark_parse(body, mark) ? STATUS_CORRUPT : status;
}

/* ---- what it says ---- */

/* These are few: see the CHECKs of their tables. */
static bool is_scarce(const char *name)
{
    return strcmp(name, "products") == 0 || strcmp(name, "sales") == 0 || strcmp(name, "items") == 0;
}

/* Numbered without gaps: nothing can be reserved. */
static bool is_gapless(const char *name)
{
    return strcmp(name, "audit") == 0;
}

static int row_find(const struct high_water *mark, const char *name)
{
    for (uint32_t i = 0; i < mark->count; i++)
        if (strcmp(mark->rows[i].used.name, name) == 0)
            return (int)i;
    return -1;
}

static enum status store_look(struct order_store *store,
    struct store_sequence sequences[SEQUENCES_MAX], uint32_t *count, lsn_t *position)
{
    struct position applied;
    const enum status status = store->ops->applied(store, PART_EMBEDDED, &applied);
    if (status != STATUS_OK)
        return status;
    *position = applied.seq;
    return store->ops->restore->sequences(store, sequences, SEQUENCES_MAX, count);
}

enum status high_water_look(struct high_water *mark, struct order_store *store, bool *changed, bool *ahead)
{
    struct store_sequence sequences[SEQUENCES_MAX];
    uint32_t count = 0;
    lsn_t position = 0;
    *changed = *ahead = false;
    const enum status status = store_look(store, sequences, &count, &position);
    if (status != STATUS_OK)
        return status;
    *changed = position != mark->position;
    mark->position = position;
    for (uint32_t i = 0; i < count; i++) {
        const int at = row_find(mark, sequences[i].name);
        const uint32_t row = at >= 0 ? (uint32_t)at : mark->count;
        if (row == SEQUENCES_MAX)
            return STATUS_FULL;
        mark->count += at < 0;
        *changed |= at < 0 || mark->rows[row].used.last != sequences[i].last;
        if (is_scarce(sequences[i].name) && mark->rows[row].reserved < mark->rows[row].used.last)
            mark->rows[row].reserved = mark->rows[row].used.last; /* given, and perhaps lost */
        mark->rows[row].used = sequences[i];
        const uint64_t room = is_scarce(sequences[i].name) ? 0 : HIGH_WATER_BLOCK / 2;
        *ahead |= mark->rows[row].reserved < sequences[i].last + room && !is_gapless(sequences[i].name);
    }
    return STATUS_OK;
}

void high_water_reserve(struct high_water *mark, bool blocks)
{
    for (uint32_t i = 0; i < mark->count; i++) {
        const char *name = mark->rows[i].used.name;
        const bool block = blocks && !is_scarce(name) && !is_gapless(name);
        const uint64_t reserved = mark->rows[i].used.last + (block ? HIGH_WATER_BLOCK : 0);
        /* Of these no more are reserved than were given, so what is more was given, and is lost. */
        if (!is_scarce(name) || mark->rows[i].reserved < reserved)
            mark->rows[i].reserved = reserved;
    }
}

enum status high_water_raise(const struct high_water *mark, struct order_store *store)
{
    for (uint32_t i = 0; i < mark->count; i++) {
        struct store_sequence to = mark->rows[i].used;
        if (to.last < mark->rows[i].reserved)
            to.last = mark->rows[i].reserved;
        const enum status status = store->ops->restore->raise(store, &to);
        if (status != STATUS_OK && status != STATUS_NOT_FOUND)
            return status;
    }
    return STATUS_OK;
}

enum status high_water_compare(const struct high_water *mark, struct order_store *store,
    bool *older, char what[HIGH_WATER_TEXT])
{
    struct store_sequence sequences[SEQUENCES_MAX];
    uint32_t count = 0;
    lsn_t position = 0;
    struct text text = text_in(what, HIGH_WATER_TEXT - 1);
    const enum status status = store_look(store, sequences, &count, &position);
    if (status != STATUS_OK)
        return status;
    if (position < mark->position)
        text_format(&text, "orders up to %" PRIu64 " of %" PRIu64, position, mark->position);
    for (uint32_t i = 0; i < mark->count; i++) {
        uint64_t last = 0;
        for (uint32_t j = 0; j < count; j++)
            if (strcmp(sequences[j].name, mark->rows[i].used.name) == 0)
                last = sequences[j].last;
        if (last < mark->rows[i].used.last)
            text_format(&text, "%s%s up to %" PRIu64 " of %" PRIu64, text.size > 0 ? ", " : "",
                mark->rows[i].used.name, last, mark->rows[i].used.last);
    }
    *older = text.size > 0;
    what[text.size] = 0;
    return STATUS_OK;
}
