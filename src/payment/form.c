/* SPDX-License-Identifier: Apache-2.0 */
#include "payment/form.h"

#include <stdlib.h>

enum status form_add(struct form *form, const char *name, struct span value)
{
    if (value.size == 0)
        return STATUS_OK;
    if (form->count == FORM_PAIRS_MAX)
        return STATUS_FULL;
    form->pairs[form->count++] = (struct form_pair){ span_from_string(name), value };
    return STATUS_OK;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

/* Appends the decoded bytes to `room`; false: a bad escape, or no room. */
static bool decode(struct span coded, struct text *room, struct span *decoded)
{
    const size_t start = room->size;
    for (size_t i = 0; i < coded.size; i++) {
        char c = coded.data[i];
        if (c == '+') {
            c = ' ';
        } else if (c == '%') {
            if (coded.size - i < 3)
                return false;
            int high = hex_digit(coded.data[i + 1]), low = hex_digit(coded.data[i + 2]);
            if (high < 0 || low < 0)
                return false;
            c = (char)(high << 4 | low);
            i += 2;
        }
        text_add(room, span_of(&c, 1));
    }
    *decoded = span_of(room->data + start, room->size - start);
    return !room->overflow;
}

static bool form_has(const struct form *form, struct span name)
{
    for (size_t i = 0; i < form->count; i++) {
        if (span_equal(form->pairs[i].name, name))
            return true;
    }
    return false;
}

enum status form_read(struct form *form, struct span body, char *room, size_t room_bytes)
{
    struct text decoded = text_in(room, room_bytes);
    struct span part;
    form->count = 0;
    while (span_take_until(&body, '&', &part)) {
        const char *equals = part.size == 0 ? NULL : memchr(part.data, '=', part.size);
        if (equals == NULL)
            return STATUS_BAD_INPUT;
        if (form->count == FORM_PAIRS_MAX)
            return STATUS_FULL;
        const size_t name_bytes = (size_t)(equals - part.data);
        struct form_pair pair;
        if (!decode(span_of(part.data, name_bytes), &decoded, &pair.name)
            || !decode(span_of(equals + 1, part.size - name_bytes - 1), &decoded, &pair.value))
            return decoded.overflow ? STATUS_FULL : STATUS_BAD_INPUT;
        if (pair.name.size == 0 || form_has(form, pair.name))
            return STATUS_BAD_INPUT;
        form->pairs[form->count++] = pair;
    }
    return STATUS_OK;
}

struct span form_value(const struct form *form, const char *name)
{
    for (size_t i = 0; i < form->count; i++) {
        if (span_equal(form->pairs[i].name, span_from_string(name)))
            return form->pairs[i].value;
    }
    return SPAN_NONE;
}

void form_drop(struct form *form, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < form->count; i++) {
        if (!span_equal(form->pairs[i].name, span_from_string(name)))
            form->pairs[kept++] = form->pairs[i];
    }
    form->count = kept;
}

static int pair_compare(const void *left, const void *right)
{
    const struct form_pair *a = left, *b = right;
    const size_t common = a->name.size < b->name.size ? a->name.size : b->name.size;
    const int order = common == 0 ? 0 : memcmp(a->name.data, b->name.data, common);
    if (order != 0)
        return order;
    return (a->name.size > b->name.size) - (a->name.size < b->name.size);
}

void form_sort(struct form *form)
{
    qsort(form->pairs, form->count, sizeof *form->pairs, pair_compare);
}

static void pairs_write(
    const struct form *form, void (*write)(struct text *, struct span), struct text *text)
{
    for (size_t i = 0; i < form->count; i++) {
        if (i > 0)
            text_literal(text, "&");
        write(text, form->pairs[i].name);
        text_literal(text, "=");
        write(text, form->pairs[i].value);
    }
}

void form_write_plain(const struct form *form, struct text *text)
{
    pairs_write(form, text_add, text);
}

void form_encode(struct text *text, struct span value)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < value.size; i++) {
        const unsigned char c = (unsigned char)value.data[i];
        const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z')
            || (c >= 'a' && c <= 'z') || c == '-' || c == '_' || c == '.' || c == '~';
        const char escape[3] = { '%', digits[c >> 4], digits[c & 15] };
        text_add(text, plain ? span_of(&value.data[i], 1) : span_of(escape, sizeof escape));
    }
}

void form_write(const struct form *form, struct text *text)
{
    pairs_write(form, form_encode, text);
}
