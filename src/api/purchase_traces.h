/* SPDX-License-Identifier: Apache-2.0 */
/* api/purchase_traces.h: purchases that are followed from the request to the shop's webhook, for OTLP
 * (worker/trace_export.h). A fixed table is all the queue there is: a purchase whose row is taken is not
 * followed, and counted. A row is found by a number of the purchase that both the request and the record of
 * the journal have, since the order may be written before the edge has the answer. On many machines a
 * process tells the others of it (api/trace_news.h), and each sends the parts that it has seen.
 * Thread: purchase_trace_take and _open on the edge of the purchase, or on the inventory's, which hears of
 * it; _find on the thread that writes orders; the rest on the worker's. Each field names its writer.
 * Memory: at start, from the arena. */
#ifndef STAMPEDE_API_PURCHASE_TRACES_H
#define STAMPEDE_API_PURCHASE_TRACES_H

#include "base/arena.h"
#include "base/traceparent.h"
#include "contract/command.h"

#include <stdatomic.h>

enum { TRACE_ROWS = 512, TRACE_REQUEST_ID_MAX = 64 };
enum trace_row_state { TRACE_FREE, TRACE_FILLING, TRACE_OPEN };
enum trace_part { TRACE_BUY, TRACE_INVENTORY, TRACE_ORDER, TRACE_WEBHOOK, TRACE_PARTS };

struct purchase_trace {
    _Atomic uint32_t state; /* the edge takes and opens it, the worker frees it */
    /* The edge, before it is open. */
    uint64_t number;
    struct trace_context from; /* parent all zeros: it begins here */
    uint8_t spans[TRACE_PARTS][TRACE_SPAN_BYTES];
    char request_id[TRACE_REQUEST_ID_MAX + 1]; /* of the proxy, or made here */
    item_id item;
    bool from_afar;              /* another process has the request */
    uint64_t begun_ns, asked_ns; /* clock_boot_ns */
    /* The inventory's thread: the others were told of the purchase, and of its ticket. */
    bool told, ticket_told;
    /* The edge. */
    uint32_t answer; /* enum answer */
    _Atomic uint64_t answered_ns;
    /* The thread that writes orders; the inventory's, if another process has written it. */
    uint64_t decided_ns;
    _Atomic uint64_t ticket, written_ns;
    /* The worker. */
    uint64_t told_ns, heard_ns;
    int http_status;
};
struct purchase_traces {
    uint64_t wall_ns; /* minus clock_boot_ns: what makes times of it */
    uint32_t sample;  /* one in so many is followed; 0: only those that a trusted proxy asks for */
    bool shared;      /* many machines: other processes may have seen the other parts */
    _Atomic uint32_t open;
    _Atomic bool untold; /* a row was opened, or an order written; the inventory's thread clears it */
    struct purchase_trace rows[TRACE_ROWS];
};

size_t purchase_traces_bytes(void);
struct purchase_traces *purchase_traces_create(struct arena *arena, uint32_t sample, bool shared);

uint64_t purchase_trace_number(const struct command_reserve *wish);
/* A row to fill; NULL: it is taken, which is counted. */
struct purchase_trace *purchase_trace_take(struct purchase_traces *traces, uint64_t number);
void purchase_trace_open(struct purchase_traces *traces, struct purchase_trace *row);
/* The open row of a purchase; NULL: it is not followed. */
struct purchase_trace *purchase_trace_find(struct purchase_traces *traces, uint64_t number);
struct purchase_trace *purchase_trace_of_ticket(struct purchase_traces *traces, ticket_number ticket);
/* Whether what was decided then may be this purchase: not if that was before; but clocks may differ. */
bool purchase_trace_may_be(const struct purchase_trace *row, uint64_t decided_ns);
void purchase_trace_free(struct purchase_traces *traces, struct purchase_trace *row);
/* What the next one is told: "00-…", with the span of this part as its parent. */
void purchase_trace_header(
    const struct purchase_trace *row, enum trace_part part, char out[TRACEPARENT_CHARS + 1]);

#endif
