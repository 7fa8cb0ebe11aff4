/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/sale_series.h: what /metrics says of single sales and items. Bounded, however many there are: only
 * sales that are listed and not over, SERIES_SALES of them and SERIES_ITEMS of their items; the others are
 * one series, "other". Rendered from the catalog, the board and the sale meters when somebody asks: counting
 * costs a purchase nothing more.
 * Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_SALE_SERIES_H
#define STAMPEDE_GATEWAY_SALE_SERIES_H

struct routes;
struct text;

enum {
    SERIES_SALES = 32,
    SERIES_ITEMS = 64,
    SERIES_LOOK_ITEMS = 4096, /* looked at for "other" */
};

void sale_series_render(const struct routes *routes, struct text *out);

#endif
