/* SPDX-License-Identifier: Apache-2.0 */
#include "api/purchase_traces.h"

#include "base/clock.h"
#include "base/metrics.h"

#include <string.h>

enum {
    ROUNDED_MS = 2,
    CLOCKS_APART_MS = 1000
}; /* a process whose clock differs more is not ready */

COUNTER(begun_total, "stampede_traces_begun_total", "Purchases that are followed.");
COUNTER(dropped_total, "stampede_traces_dropped_total",
    "Purchases that were to be followed and found no room.");

size_t purchase_traces_bytes(void)
{
    return sizeof(struct purchase_traces) + 64;
}

struct purchase_traces *purchase_traces_create(struct arena *arena, uint32_t sample, bool shared)
{
    struct purchase_traces *traces = arena_take(arena, 1, sizeof *traces);
    traces->sample = sample;
    traces->shared = shared;
    traces->wall_ns = clock_wall_ms() * 1000000 - clock_boot_ns();
    return traces;
}

uint64_t purchase_trace_number(const struct command_reserve *wish)
{
    uint64_t number = wish->key ^ wish->user * 0x9e3779b97f4a7c15u ^ (uint64_t)wish->item << 32;
    number ^= number >> 31;
    number *= 0xbf58476d1ce4e5b9u;
    return number ^ number >> 29;
}

static struct purchase_trace *row_of(struct purchase_traces *traces, uint64_t number)
{
    return &traces->rows[number % TRACE_ROWS];
}

struct purchase_trace *purchase_trace_take(struct purchase_traces *traces, uint64_t number)
{
    struct purchase_trace *row = row_of(traces, number);
    uint32_t free = TRACE_FREE;
    if (!atomic_compare_exchange_strong(&row->state, &free, TRACE_FILLING)) {
        metric_add(&dropped_total, 1);
        return NULL;
    }
    row->number = number;
    row->answer = ANSWER_NONE;
    row->from_afar = row->told = row->ticket_told = false;
    row->decided_ns = row->told_ns = row->heard_ns = 0;
    row->http_status = 0;
    atomic_store_explicit(&row->answered_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&row->ticket, 0, memory_order_relaxed);
    atomic_store_explicit(&row->written_ns, 0, memory_order_relaxed);
    return row;
}

void purchase_trace_open(struct purchase_traces *traces, struct purchase_trace *row)
{
    if (!row->from_afar)
        metric_add(&begun_total, 1);
    atomic_fetch_add(&traces->open, 1);
    atomic_store_explicit(&row->state, TRACE_OPEN, memory_order_release);
    if (traces->shared && !row->from_afar)
        atomic_store(&traces->untold, true);
}

struct purchase_trace *purchase_trace_find(struct purchase_traces *traces, uint64_t number)
{
    struct purchase_trace *row = row_of(traces, number);
    return atomic_load_explicit(&row->state, memory_order_acquire) == TRACE_OPEN && row->number == number
        ? row
        : NULL;
}

bool purchase_trace_may_be(const struct purchase_trace *row, uint64_t decided_ns)
{
    const uint64_t apart_ms = row->from_afar ? CLOCKS_APART_MS : ROUNDED_MS;
    return decided_ns + apart_ms * 1000000 >= row->begun_ns;
}

struct purchase_trace *purchase_trace_of_ticket(struct purchase_traces *traces, ticket_number ticket)
{
    if (atomic_load_explicit(&traces->open, memory_order_relaxed) == 0)
        return NULL;
    for (uint32_t i = 0; i < TRACE_ROWS; i++) {
        struct purchase_trace *row = &traces->rows[i];
        if (atomic_load_explicit(&row->state, memory_order_acquire) == TRACE_OPEN
            && atomic_load_explicit(&row->ticket, memory_order_acquire) == ticket)
            return row;
    }
    return NULL;
}

void purchase_trace_free(struct purchase_traces *traces, struct purchase_trace *row)
{
    atomic_fetch_sub(&traces->open, 1);
    atomic_store_explicit(&row->state, TRACE_FREE, memory_order_release);
}

void purchase_trace_header(
    const struct purchase_trace *row, enum trace_part part, char out[TRACEPARENT_CHARS + 1])
{
    struct trace_context context = { .sampled = true };
    memcpy(context.trace, row->from.trace, sizeof context.trace);
    memcpy(context.parent, row->spans[part], sizeof context.parent);
    traceparent_write(&context, out);
}
