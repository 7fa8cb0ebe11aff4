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

static bool item_number(struct span path, item_id *item)
{
    if (!span_starts_with(path, SPAN("/items/")))
        return false;
    path = span_of(path.data + 7, path.size - 7);
    if (path.size > 0 && path.data[path.size - 1] == '/')
        path.size--;
    return span_to_u32(path, item) == STATUS_OK;
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
    const struct catalog_item *item, struct text *out)
{
    const struct routes_shared *shared = &exchange->routes->shared;
    const struct catalog_sale *sale = catalog_sale_of(catalog, item);
    const struct catalog_product *product = catalog_product_of(catalog, item);
    const char *base =
        shared->config->page_url[0] != 0 ? shared->config->page_url : shared->config->public_url;
    char price[AMOUNT_CHARS_MAX], list_price[AMOUNT_CHARS_MAX];
    struct board_update view;
    catalog_sale_view(exchange->routes->door.board, sale, &view);
    const struct page_item shown = { .id = item->id,
        .name = product->name,
        .about = product->about,
        .image = product->image,
        .currency = span_from_string(product->currency),
        .price = amount_of(product, item->flash_price, price),
        .list_price = product->list_price > item->flash_price
            ? amount_of(product, product->list_price, list_price)
            : NULL,
        .start_ms = view.start_ms,
        .end_ms = view.end_ms,
        .base = span_from_string(base) };
    item_page_write(&shared->pages->shell, &shown, out);
}

bool item_page_request(struct exchange *exchange, struct span path, enum edge_verdict *verdict)
{
    const struct catalog *catalog = handover_get(exchange->routes->shared.catalog);
    item_id id;
    if (catalog == NULL || !item_number(path, &id))
        return false;
    const struct catalog_item *item = catalog_item_find(catalog, id);
    if (item == NULL)
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
    item_write(exchange, catalog, item, &body);
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
            text_format(&body, "/items/%u/\n", item->id);
    return body.overflow ? reply_problem(exchange, PROBLEM_INTERNAL, NULL)
                         : reply_bytes(exchange, 200, SPAN("text/plain; charset=utf-8"),
                             SPAN("Cache-Control: no-store\r\n"), text_span(&body));
}
