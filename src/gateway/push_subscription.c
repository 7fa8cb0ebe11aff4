/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/push_subscription.h"

#include "gateway/push_table.h"

static void spaces_skip(struct span *text)
{
    while (text->size > 0 && memchr(" \t\r\n", text->data[0], 4) != NULL)
        *text = span_of(text->data + 1, text->size - 1);
}

/* The literal at the front, with white space before it. */
static bool literal_take(struct span *text, struct span literal)
{
    spaces_skip(text);
    if (!span_starts_with(*text, literal))
        return false;
    *text = span_of(text->data + literal.size, text->size - literal.size);
    return true;
}

static bool watch_add(struct push_watch *watch, item_id item)
{
    for (uint32_t i = 0; i < watch->count; i++)
        if (watch->items[i] == item)
            return true;
    if (watch->count == PUSH_WATCHED_MAX)
        return false;
    watch->items[watch->count++] = item;
    return true;
}

static bool numbers_take(struct span *text, struct push_watch *watch)
{
    do {
        uint32_t item;
        spaces_skip(text);
        if (!span_take_u32(text, &item) || !watch_add(watch, item))
            return false;
    } while (literal_take(text, SPAN(",")));
    return true;
}

bool push_watch_message(struct span text, struct push_watch *watch)
{
    *watch = (struct push_watch){ .count = 0 };
    if (!literal_take(&text, SPAN("{")) || !literal_take(&text, SPAN("\"watch\""))
        || !literal_take(&text, SPAN(":")) || !literal_take(&text, SPAN("[")))
        return false;
    if (!literal_take(&text, SPAN("]"))
        && (!numbers_take(&text, watch) || !literal_take(&text, SPAN("]"))))
        return false;
    if (!literal_take(&text, SPAN("}")))
        return false;
    spaces_skip(&text);
    return text.size == 0;
}

bool push_watch_list(struct span text, struct push_watch *watch)
{
    struct span part;
    *watch = (struct push_watch){ .count = 0 };
    if (text.size == 0 || text.data[text.size - 1] == ',')
        return false;
    while (span_take_until(&text, ',', &part)) {
        uint32_t item;
        if (span_to_u32(part, &item) != STATUS_OK || !watch_add(watch, item))
            return false;
    }
    return true;
}
