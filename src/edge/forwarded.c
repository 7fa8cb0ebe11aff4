/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/forwarded.h"

enum status trusted_parse(struct trusted *trusted, struct span list, struct span *bad)
{
    size_t at = 0;
    trusted->count = 0;
    while (at < list.size) {
        size_t end = at;
        while (end < list.size && list.data[end] != ',' && list.data[end] != ' ')
            end++;
        *bad = span_of(list.data + at, end - at);
        at = end + 1;
        if (bad->size == 0)
            continue;
        if (trusted->count == TRUSTED_BLOCKS_MAX
            || address_block_parse(*bad, &trusted->blocks[trusted->count]) != STATUS_OK)
            return STATUS_BAD_INPUT;
        trusted->count++;
    }
    return STATUS_OK;
}

bool trusted_holds(const struct trusted *trusted, const struct address *address)
{
    for (uint32_t i = 0; i < trusted->count; i++)
        if (address_in_block(address, &trusted->blocks[i]))
            return true;
    return false;
}

/* The value of "X-Forwarded-For: value\r\n". */
static bool is_forwarded(struct span line, struct span *value)
{
    static const struct span name = SPAN("X-Forwarded-For:");
    if (line.size < name.size || !span_equal_ignoring_case(span_of(line.data, name.size), name))
        return false;
    *value = span_of(line.data + name.size, line.size - name.size);
    return true;
}

/* The last lines of that name, in their order. */
static uint32_t lines_find(struct span lines, struct span values[FORWARDED_LINES_MAX])
{
    uint32_t found = 0;
    struct span line, value;
    while (span_take_until(&lines, '\n', &line)) {
        if (!is_forwarded(line, &value))
            continue;
        if (found == FORWARDED_LINES_MAX) {
            memmove(values, values + 1, (FORWARDED_LINES_MAX - 1) * sizeof *values);
            found--;
        }
        values[found++] = value;
    }
    return found;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Takes the last entry off the list, without the blanks around it. */
static struct span entry_take(struct span *list)
{
    const char *comma = memrchr(list->data, ',', list->size);
    const size_t from = comma == NULL ? 0 : (size_t)(comma - list->data) + 1;
    struct span entry = span_of(list->data + from, list->size - from);
    list->size = comma == NULL ? 0 : from - 1;
    while (entry.size > 0 && is_blank(entry.data[0]))
        entry = span_of(entry.data + 1, entry.size - 1);
    while (entry.size > 0 && is_blank(entry.data[entry.size - 1]))
        entry.size--;
    return entry;
}

void forwarded_client(const struct trusted *trusted, struct span lines, struct address *client)
{
    struct span values[FORWARDED_LINES_MAX];
    uint32_t count = lines_find(lines, values);
    for (int hops = 0; count > 0 && hops < FORWARDED_HOPS_MAX; hops++) {
        struct address hop;
        struct span *list = &values[count - 1];
        const bool last = list->size == 0 || memchr(list->data, ',', list->size) == NULL;
        if (address_parse(entry_take(list), &hop) != STATUS_OK)
            return;
        *client = hop;
        if (!trusted_holds(trusted, &hop))
            return;
        if (last)
            count--;
    }
}
