/* SPDX-License-Identifier: Apache-2.0 */
/* worker/trace_export.h: sends purchases that were followed (api/purchase_traces.h) to a collector, as OTLP
 * over HTTP in JSON (trace.endpoint). A trace is sent once, when its last part is there or
 * TRACE_PATIENCE_MS are over; a call that fails is counted and not repeated. On many machines each process
 * sends the parts that it has seen, TRACE_REST_MS after the last of them.
 * Thread: the worker's, but trace_wrote: the one that writes orders. */
#ifndef STAMPEDE_WORKER_TRACE_EXPORT_H
#define STAMPEDE_WORKER_TRACE_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct config;
struct outgoing_call;
struct outgoing_calls;
struct purchase_trace;
struct purchase_traces;
struct queue_record;
struct task;

enum { TRACE_PATIENCE_MS = 90 * 1000, TRACE_REST_MS = 2000, TRACE_UNSEEN_MS = 10 * 1000 };

/* NULL: trace.endpoint is not set. */
struct purchase_traces *trace_export_open(struct arena *arena, const struct config *config,
    bool shared, struct outgoing_calls *calls, struct task *task);
/* All accept NULL for the traces. */
void trace_wrote(struct purchase_traces *traces, const struct queue_record *record);
/* A message about the order goes out: with its traceparent and request id, if its purchase is followed and
 * this is the first. NULL: it is not. */
struct purchase_trace *trace_tell(
    struct purchase_traces *traces, uint64_t ticket, struct outgoing_call *call);
void trace_told(struct purchase_trace *row, const struct outgoing_call *call);

#endif
