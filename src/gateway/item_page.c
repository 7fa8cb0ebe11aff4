/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/item_page.h"

#include "api/catalog.h"
#include "api/handover.h"
#include "config/config.h"
#include "contract/currency.h"
#include "edge/static_files.h"
#include "gateway/exchange.h"
#include "gateway/reply.h"
#include "gateway/routes_state.h"
#include "pages/item_page.h"
#include "pages/pages.h"

#include <stdio.h>
#include <string.h>

enum { PAGE_BYTES = 320 * 1024, HEADERS_BYTES = 4096 };

static _Thread_local char page[PAGE_BYTES];

/* /items/7/, and in a language /items/7/en/; the last slash may be left out. */
static bool item_path(struct span path, item_id *item, struct span *language)
{
    struct span number;
    if (!span_starts_with(path, SPAN("/items/")))
        return false;
    path = span_of(path.data + 7, path.size - 7);
    if (path.size > 0 && path.data[path.size - 1] == '/')
        path.size--;
    const size_t whole = path.size;
    if (!span_take_until(&path, '/', &number) || span_to_u32(number, item) != STATUS_OK)
        return false;
    *language = path;
    return path.size > 0 || number.size == whole;
}

/* What the product has in that language; an empty tag: without one. False: not that one. */
static bool language_find(
    const struct catalog_product *product, struct span tag, struct catalog_text *text)
{
    *text = (struct catalog_text){ .name = product->name, .about = product->about };
    for (uint32_t i = 0; i < product->language_count && tag.size > 0; i++)
        if (span_equal(product->languages[i].tag, tag))
            *text = product->languages[i];
    return span_equal(text->tag, tag);
}

static size_t others_find(const struct catalog_product *product, struct span tag,
    struct page_language others[LANGUAGES_MAX + 1])
{
    size_t count = 0;
    if (tag.size > 0)
        others[count++] = (struct page_language){ SPAN_NONE, product->name };
    for (uint32_t i = 0; i < product->language_count; i++)
        if (!span_equal(product->languages[i].tag, tag))
            others[count++] =
                (struct page_language){ product->languages[i].tag, product->languages[i].name };
    return count;
}

static const char *amount_of(
    const struct catalog_product *product, uint64_t minor, char out[AMOUNT_CHARS_MAX])
{
    unsigned digits = 0;
    (void)currency_find(span_from_string(product->currency), &digits);
    amount_format(minor, digits, out);
    return out;
}

static void item_write(struct exchange *exchange, const struct catalog *catalog,
    const struct catalog_item *item, const struct catalog_text *text, struct text *out)
{
    const struct routes_shared *shared = &exchange->routes->shared;
    const struct catalog_sale *sale = catalog_sale_of(catalog, item);
    const struct catalog_product *product = catalog_product_of(catalog, item);
    const char *base =
        shared->config->page_url[0] != 0 ? shared->config->page_url : shared->config->public_url;
    char price[AMOUNT_CHARS_MAX], list_price[AMOUNT_CHARS_MAX];
    struct page_language others[LANGUAGES_MAX + 1];
    struct board_update view;
    catalog_sale_view(exchange->routes->door.board, sale, &view);
    const struct page_item shown = { .id = item->id,
        .language = text->tag,
        .others = others,
        .other_count = others_find(product, text->tag, others),
        .name = text->name,
        .about = text->about,
        .image = product->image,
        .currency = span_from_string(product->currency),
        .price = amount_of(product, item->flash_price, price),
        .list_price = product->list_price > item->flash_price
            ? amount_of(product, product->list_price, list_price)
            : NULL,
        .start_ms = view.start_ms,
        .end_ms = view.end_ms,
        .limit = item->limit_per_user,
        .base = span_from_string(base) };
    item_page_write(&shared->pages->shell, &shown, out);
}

bool item_page_request(struct exchange *exchange, struct span path, enum edge_verdict *verdict)
{
    const struct catalog *catalog = handover_get(exchange->routes->shared.catalog);
    struct catalog_text text;
    struct span language;
    item_id id;
    if (catalog == NULL || !item_path(path, &id, &language))
        return false;
    const struct catalog_item *item = catalog_item_find(catalog, id);
    if (item == NULL || !language_find(catalog_product_of(catalog, item), language, &text))
        return false;
    const enum http_method method = exchange->request->method;
    if (method != HTTP_GET && method != HTTP_HEAD) {
        *verdict = reply_problem(exchange, PROBLEM_METHOD, NULL);
        return true;
    }
    char lines[HEADERS_BYTES];
    struct text headers = text_in(lines, sizeof lines), body = text_in(page, sizeof page);
    text_literal(&headers, "Cache-Control: no-cache\r\n");
    text_add(&headers, static_files_policy(exchange->routes->shared.files));
    item_write(exchange, catalog, item, &text, &body);
    *verdict = headers.overflow || body.overflow
        ? reply_problem(exchange, PROBLEM_INTERNAL, NULL)
        : reply_bytes(
            exchange, 200, SPAN("text/html; charset=utf-8"), text_span(&headers), text_span(&body));
    return true;
}

/* What belongs to the server alone. */
static bool is_exported(const char *path)
{
    return strncmp(path, "/console/", 9) != 0 && strncmp(path, "/sandbox/", 9) != 0
        && strcmp(path, "/openapi.json") != 0;
}

static void item_list(const struct catalog *catalog, const struct catalog_item *item, struct text *out)
{
    const struct catalog_product *product = catalog_product_of(catalog, item);
    text_format(out, "/items/%u/\n", item->id);
    for (uint32_t i = 0; i < product->language_count; i++) {
        text_format(out, "/items/%u/", item->id);
        text_add(out, product->languages[i].tag);
        text_literal(out, "/\n");
    }
}

enum edge_verdict pages_list(struct exchange *exchange)
{
    const struct pages *pages = exchange->routes->shared.pages;
    const struct catalog *catalog = handover_get(exchange->routes->shared.catalog);
    struct text body = text_in(page, sizeof page);
    if (catalog == NULL)
        return reply_problem(exchange, PROBLEM_UNAVAILABLE, NULL);
    for (size_t i = 0; i < pages->count; i++)
        if (is_exported(pages->assets[i].path))
            text_format(&body, "%s\n", pages->assets[i].path);
    for (const struct catalog_item *item = catalog_item_next(catalog, 0); item != NULL;
         item = catalog_item_next(catalog, item->id))
        if (!catalog_sale_of(catalog, item)->archived)
            item_list(catalog, item, &body);
    return body.overflow ? reply_problem(exchange, PROBLEM_INTERNAL, NULL)
                         : reply_bytes(exchange, 200, SPAN("text/plain; charset=utf-8"),
                             SPAN("Cache-Control: no-store\r\n"), text_span(&body));
}
