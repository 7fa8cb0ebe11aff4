/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/item_page.h: the pages that are made of the catalog: /items/7/, and /pages.txt, the list of all
 * that an export takes along. Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_ITEM_PAGE_H
#define STAMPEDE_GATEWAY_ITEM_PAGE_H

#include "base/span.h"
#include "edge/edge.h"

struct exchange;

/* "/items/7/" or "/items/7". False: not a page of an item that is public; nothing was answered. */
bool item_page_request(struct exchange *exchange, struct span path, enum edge_verdict *verdict);
enum edge_verdict pages_list(struct exchange *exchange);

#endif
