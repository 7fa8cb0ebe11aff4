/* SPDX-License-Identifier: Apache-2.0 */
/* api/catalog_product.c: a product as the catalog shows it, in each of its languages. */
#include "api/catalog_blocks.h"
#include "api/texts.h"

#include <stdlib.h>
#include <string.h>

enum {
    PRODUCT_SAID_MAX = 6 * (NAME_BYTES_MAX + DESCRIPTION_BYTES_MAX) + IMAGES_BYTES_MAX + 1024,
    PRODUCT_TEXT_MAX = PRODUCT_SAID_MAX + 7 * PRODUCT_TEXTS_BYTES_MAX, /* all, and the names again */
};

/* The first of a JSON list of addresses; empty: there is none, or it is written with escapes. */
static struct span image_first(const char *images)
{
    if (strncmp(images, "[\"", 2) != 0)
        return SPAN_NONE;
    const size_t size = strcspn(images + 2, "\"\\");
    return images[2 + size] == '"' ? span_of(images + 2, size) : SPAN_NONE;
}

/* *bytes: what their spans take. */
static uint32_t languages_read(json_t *texts, const struct catalog_product *product,
    struct catalog_text languages[LANGUAGES_MAX], size_t *bytes)
{
    uint32_t count = 0;
    for (void *at = json_object_iter(texts); at != NULL && count < LANGUAGES_MAX;
         at = json_object_iter_next(texts, at)) {
        const json_t *said = json_object_iter_value(at);
        if (!language_tag_is(span_from_string(json_object_iter_key(at))))
            continue;
        const char *name = json_string_value(json_object_get(said, "name")),
                   *about = json_string_value(json_object_get(said, "description"));
        struct catalog_text *text = &languages[count++];
        text->tag = span_from_string(json_object_iter_key(at));
        text->name = name != NULL ? span_from_string(name) : product->name;
        text->about = about != NULL ? span_from_string(about) : product->about;
        *bytes += text->tag.size + text->name.size + text->about.size;
    }
    return count;
}

struct catalog_product *catalog_product_make(const struct product *row)
{
    char *bytes = block_take(PRODUCT_TEXT_MAX);
    json_t *texts = texts_parse(row->texts);
    struct text text = text_in(bytes, PRODUCT_TEXT_MAX);
    struct catalog_product like = { .id = row->id, .list_price = row->list_price };
    memcpy(like.currency, row->currency, sizeof like.currency);
    like.name = span_from_string(row->name);
    like.about = span_from_string(row->description);
    like.image = image_first(row->images);
    text_format(&text, "\"product\":{\"id\":%u,\"name\":", row->id);
    text_json(&text, like.name);
    text_literal(&text, ",\"images\":");
    text_string(&text, row->images[0] == 0 ? "[]" : row->images);
    like.head = text_since(&text, 0);
    text_json(&text, like.about);
    like.description = text_since(&text, like.head.size);
    text_literal(&text, "}");
    currency_members(row->currency, &text);
    text_format(&text, ",\"list_price\":%llu", (unsigned long long)row->list_price);
    like.tail = text_since(&text, like.head.size + like.description.size);
    size_t before = text.size;
    if (texts != NULL)
        texts_json(row->texts, &text);
    like.texts = text_since(&text, before);
    before = text.size;
    texts_json_of(texts, "name", &text);
    like.names = text_since(&text, before);
    invariant(!text.overflow);
    struct catalog_text languages[LANGUAGES_MAX];
    size_t languages_bytes = 0;
    like.language_count = languages_read(texts, &like, languages, &languages_bytes);
    struct catalog_product *product = block_take(sizeof *product + like.language_count * sizeof *languages
        + text.size + like.name.size + like.about.size + like.image.size + languages_bytes);
    struct catalog_text *kept = (struct catalog_text *)(product + 1);
    *product = like;
    product->languages = kept;
    struct span *const spans[] = { &product->name, &product->about, &product->image, &product->head,
        &product->description, &product->tail, &product->texts, &product->names };
    char *at = (char *)(kept + like.language_count);
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
        at = span_keep(spans[i], at);
    for (uint32_t i = 0; i < like.language_count; i++) {
        kept[i] = languages[i];
        at = span_keep(&kept[i].about, span_keep(&kept[i].name, span_keep(&kept[i].tag, at)));
    }
    json_decref(texts);
    free(bytes);
    return product;
}
