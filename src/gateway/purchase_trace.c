/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/purchase_trace.h"

#include "api/purchase_traces.h"
#include "base/clock.h"
#include "base/log.h"
#include "contract/inventory.h"
#include "gateway/routes_state.h"

#include <string.h>

struct traced {
    uint32_t count;
    uint32_t next_in; /* so many purchases, and one is followed */
    struct {
        uint64_t tag;
        struct purchase_trace *row;
    } waiting[TRACED_MAX];
};

size_t traced_bytes(void)
{
    return sizeof(struct traced);
}

struct traced *traced_create(struct arena *arena)
{
    return arena_take(arena, 1, sizeof(struct traced));
}

/* Of a proxy: 1 to TRACE_REQUEST_ID_MAX letters, digits, '-', '_', '.'. False: there is none, or it is not
 * well-formed. */
static bool request_id_read(const struct http_request *request, char out[TRACE_REQUEST_ID_MAX + 1])
{
    static const struct span name = SPAN("x-request-id:");
    struct span lines = http_header_lines(request), line;
    while (span_take_until(&lines, '\n', &line)) {
        if (line.size <= name.size || !span_equal_ignoring_case(span_of(line.data, name.size), name))
            continue;
        struct span value = span_of(line.data + name.size, line.size - name.size);
        while (value.size > 0 && (value.data[0] == ' ' || value.data[0] == '\t'))
            value = span_of(value.data + 1, value.size - 1);
        while (value.size > 0 && strchr(" \t\r", value.data[value.size - 1]) != NULL)
            value.size--;
        if (value.size == 0 || value.size > TRACE_REQUEST_ID_MAX)
            return false;
        memcpy(out, value.data, value.size);
        out[value.size] = '\0';
        return strspn(out, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
            == value.size;
    }
    return false;
}

static void bytes_make(struct random *random, uint8_t *bytes, size_t count)
{
    for (size_t at = 0; at < count; at += sizeof(uint64_t)) {
        const uint64_t word = random_next(random) | 1; /* never all zeros */
        memcpy(bytes + at, &word, sizeof word);
    }
}

static void row_fill(struct routes *routes, const struct http_request *request,
    const struct command_reserve *wish, const struct trace_context *from, struct purchase_trace *row)
{
    row->item = wish->item;
    row->from = *from;
    row->asked_ns = clock_boot_ns();
    row->begun_ns = row->asked_ns - edge_turn_us(routes->edge) * 1000;
    bytes_make(&routes->random, row->spans[0], sizeof row->spans);
    if (edge_is_forwarded(routes->edge, request) && request_id_read(request, row->request_id))
        return;
    struct text made = text_in(row->request_id, TRACE_REQUEST_ID_MAX);
    text_hex(&made, span_of((const char *)row->from.trace, TRACE_BYTES));
    row->request_id[made.size] = '\0';
}

void purchase_trace_begin(struct routes *routes, const struct http_request *request,
    const struct command_reserve *wish, uint64_t tag)
{
    struct purchase_traces *traces = routes->shared.traces;
    struct traced *traced = routes->traced;
    struct trace_context from = { .sampled = false };
    const bool told =
        edge_is_forwarded(routes->edge, request) && traceparent_read(request->traceparent, &from);
    bool chosen = told && from.sampled;
    if (traces->sample != 0 && (traced->next_in == 0 || --traced->next_in == 0)) {
        traced->next_in = traces->sample;
        chosen = true;
    }
    if (!chosen || traced->count == TRACED_MAX)
        return;
    struct purchase_trace *row = purchase_trace_take(traces, purchase_trace_number(wish));
    if (row == NULL)
        return;
    if (!told)
        bytes_make(&routes->random, from.trace, sizeof from.trace);
    row_fill(routes, request, wish, &from, row);
    traced->waiting[traced->count].tag = tag;
    traced->waiting[traced->count++].row = row;
    purchase_trace_open(traces, row);
}

void purchase_trace_answered(struct routes *routes, const struct inventory_answer *answer)
{
    struct traced *traced = routes->traced;
    for (uint32_t i = 0; i < traced->count; i++) {
        if (traced->waiting[i].tag != answer->tag)
            continue;
        struct purchase_trace *row = traced->waiting[i].row;
        char header[TRACEPARENT_CHARS + 1];
        traced->waiting[i] = traced->waiting[--traced->count];
        purchase_trace_header(row, TRACE_BUY, header);
        log_info("trace", "purchase answered=%u item=%u ticket=%llu request=%s traceparent=%s",
            (unsigned)answer->outcome.answer, row->item, (unsigned long long)answer->outcome.ticket,
            row->request_id, header);
        row->answer = answer->outcome.answer;
        atomic_store_explicit(&row->answered_ns, clock_boot_ns(), memory_order_release);
        return;
    }
}
