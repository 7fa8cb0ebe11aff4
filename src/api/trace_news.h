/* SPDX-License-Identifier: Apache-2.0 */
/* api/trace_news.h: on many machines, the process that has the request of a purchase which is followed
 * (api/purchase_traces.h) tells the others, before the purchase is decided or soon after. Whoever writes its
 * order or sends its webhook then knows trace, spans and request id.
 *
 * FORMAT: three words, with one blank between all, after the words of funnel/limits_news.h in one message:
 * "t", the number of the purchase in hex, and "TRACE:SPANS:ITEM:BEGUN:REQUEST": trace and the four
 * spans in hex, the item, when it began (wall clock, ns), and the request id. "w", the number, and
 * the ticket in hex: this process has written its order.
 *
 * Messages may be lost: then spans of orders are missing. What is malformed ends the reading of a message.
 * Thread: the inventory's. */
#ifndef STAMPEDE_API_TRACE_NEWS_H
#define STAMPEDE_API_TRACE_NEWS_H

#include "base/text.h"

#include <stdbool.h>

struct purchase_traces;

/* All accept NULL for the traces. Is there something to tell? An order is written within milliseconds. */
bool trace_news_wait(const struct purchase_traces *traces);
/* Adds what was not told yet, as far as it fits. False: nothing. */
bool trace_news_write(struct purchase_traces *traces, struct text *message);
void trace_news_heard(struct purchase_traces *traces, struct span message);

#endif
