/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/trace_export.h"

#include "api/purchase_traces.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "config/config.h"
#include "contract/outgoing.h"
#include "contract/ticket_queue.h"
#include "worker/outgoing_calls.h"
#include "worker/task.h"

#include <inttypes.h>
#include <stdio.h>

enum { LOOK_MS = 200, ROWS_PER_CALL = 6, TIMEOUT_MS = 5000 };

COUNTER_OF(sent_total, "stampede_traces_total", "result=\"sent\"",
    "Traces sent to the collector, by result.");
COUNTER_OF(failed_total, "stampede_traces_total", "result=\"failed\"",
    "Traces sent to the collector, by result.");

struct trace_export {
    struct purchase_traces *traces;
    const struct config *config;
    struct outgoing_calls *calls;
};

static uint64_t ns_of(_Atomic uint64_t *field)
{
    return atomic_load_explicit(field, memory_order_acquire);
}

void trace_wrote(struct purchase_traces *traces, const struct queue_record *record)
{
    if (traces == NULL || atomic_load_explicit(&traces->open, memory_order_relaxed) == 0
        || record->command.type != COMMAND_RESERVE)
        return;
    struct purchase_trace *row =
        purchase_trace_find(traces, purchase_trace_number(&record->command.reserve));
    if (row == NULL || ns_of(&row->written_ns) != 0)
        return;
    char header[TRACEPARENT_CHARS + 1];
    const uint64_t now_ns = clock_boot_ns(), lag_ms = clock_now_ms() - record->command.time_ms;
    /* An earlier purchase of the same user and item, under the same key, is another one. */
    if (!purchase_trace_may_be(row, now_ns - lag_ms * 1000000) || record->outcome.ticket == 0)
        return;
    row->decided_ns = now_ns - lag_ms * 1000000;
    purchase_trace_header(row, TRACE_ORDER, header);
    log_info("trace", "order written ticket=%llu request=%s traceparent=%s",
        (unsigned long long)record->outcome.ticket, row->request_id, header);
    atomic_store_explicit(&row->ticket, record->outcome.ticket, memory_order_release);
    atomic_store_explicit(&row->written_ns, now_ns, memory_order_release);
    if (traces->shared)
        atomic_store(&traces->untold, true);
}

struct purchase_trace *trace_tell(
    struct purchase_traces *traces, uint64_t ticket, struct outgoing_call *call)
{
    struct purchase_trace *row = traces == NULL ? NULL : purchase_trace_of_ticket(traces, ticket);
    char header[TRACEPARENT_CHARS + 1];
    if (row == NULL || row->heard_ns != 0)
        return NULL;
    purchase_trace_header(row, TRACE_WEBHOOK, header);
    const bool written = outgoing_header_add(call, "traceparent", span_from_string(header))
        && outgoing_header_add(call, "X-Request-Id", span_from_string(row->request_id));
    invariant(written);
    if (row->told_ns == 0)
        row->told_ns = clock_boot_ns();
    return row;
}

void trace_told(struct purchase_trace *row, const struct outgoing_call *call)
{
    char header[TRACEPARENT_CHARS + 1];
    if (row == NULL || row->heard_ns != 0)
        return;
    row->http_status = call->result == OUTGOING_ANSWERED ? call->status : 0;
    row->heard_ns = clock_boot_ns();
    purchase_trace_header(row, TRACE_WEBHOOK, header);
    log_info("trace", "webhook answered status=%d request=%s traceparent=%s", row->http_status,
        row->request_id, header);
}

/* ---- OTLP ---- */

static void hex_member(struct text *out, const char *name, const uint8_t *bytes, size_t count)
{
    text_format(out, "\"%s\":\"", name);
    text_hex(out, span_of((const char *)bytes, count));
    text_literal(out, "\",");
}

struct part {
    enum trace_part part;
    const char *name;
    const uint8_t *parent; /* NULL: none */
    int kind;              /* of OTLP: 1 internal, 2 server, 3 client */
    uint64_t from_ns, to_ns;
};

static void span_write(const struct purchase_traces *traces, const struct purchase_trace *row,
    const struct part *part, struct text *out)
{
    hex_member(out, "traceId", row->from.trace, TRACE_BYTES);
    hex_member(out, "spanId", row->spans[part->part], TRACE_SPAN_BYTES);
    if (part->parent != NULL)
        hex_member(out, "parentSpanId", part->parent, TRACE_SPAN_BYTES);
    text_format(out,
        "\"name\":\"%s\",\"kind\":%d,\"startTimeUnixNano\":\"%" PRIu64
        "\",\"endTimeUnixNano\":\"%" PRIu64 "\","
        "\"attributes\":[{\"key\":\"request.id\",\"value\":{\"stringValue\":\"%s\"}},"
        "{\"key\":\"item\",\"value\":{\"intValue\":\"%u\"}}",
        part->name, part->kind, part->from_ns + traces->wall_ns, part->to_ns + traces->wall_ns,
        row->request_id, row->item);
    if (part->part == TRACE_BUY)
        text_format(out, ",{\"key\":\"answer\",\"value\":{\"intValue\":\"%u\"}}", row->answer);
    if (part->part == TRACE_WEBHOOK)
        text_format(out, ",{\"key\":\"http.response.status_code\",\"value\":{\"intValue\":\"%d\"}}",
            row->http_status);
    text_literal(out, "]}");
}

static bool is_zero(const uint8_t *bytes, size_t count)
{
    uint8_t seen = 0;
    for (size_t i = 0; i < count; i++)
        seen |= bytes[i];
    return seen == 0;
}

static void row_write(
    const struct purchase_traces *traces, struct purchase_trace *row, bool first, struct text *out)
{
    const uint64_t answered_ns = ns_of(&row->answered_ns), written_ns = ns_of(&row->written_ns);
    const uint8_t *caller = is_zero(row->from.parent, TRACE_SPAN_BYTES) ? NULL : row->from.parent;
    const struct part parts[TRACE_PARTS] = {
        { TRACE_BUY, "POST /v1/items/{item}/buy", caller, 2, row->begun_ns, answered_ns },
        { TRACE_INVENTORY, "inventory", row->spans[TRACE_BUY], 1, row->asked_ns, answered_ns },
        { TRACE_ORDER, "order", row->spans[TRACE_BUY], 1, row->decided_ns, written_ns },
        { TRACE_WEBHOOK, "webhook", row->spans[TRACE_ORDER], 3, row->told_ns, row->heard_ns },
    };
    for (uint32_t i = 0; i < TRACE_PARTS; i++) {
        if (parts[i].to_ns == 0 || (parts[i].part >= TRACE_ORDER && row->answer != ANSWER_WON))
            continue;
        text_string(out, first ? "{" : ",{");
        first = false;
        span_write(traces, row, &parts[i], out);
    }
}

static bool is_older(uint64_t ns, uint64_t ms)
{
    return clock_boot_ns() > ns + ms * 1000000;
}

/* Many machines: other parts may be seen here or elsewhere. A message that is under way is waited for. */
static bool part_is_done(struct purchase_trace *row)
{
    const uint64_t answered_ns = ns_of(&row->answered_ns), written_ns = ns_of(&row->written_ns);
    const uint64_t last_ns = answered_ns > written_ns ? answered_ns : written_ns;
    if (row->told_ns != 0 && row->heard_ns == 0)
        return false;
    if (last_ns == 0 && row->heard_ns == 0)
        return row->from_afar && is_older(row->begun_ns, TRACE_UNSEEN_MS);
    return (row->from_afar ? row->heard_ns != 0 : answered_ns != 0 && row->answer != ANSWER_WON)
        || is_older(last_ns, TRACE_REST_MS);
}

/* Its last part is there, or nobody waits any longer. */
static bool row_is_done(const struct trace_export *export, struct purchase_trace *row)
{
    const uint64_t answered_ns = ns_of(&row->answered_ns);
    if (is_older(row->begun_ns, TRACE_PATIENCE_MS))
        return true;
    if (export->traces->shared)
        return part_is_done(row);
    if (answered_ns == 0 || row->answer != ANSWER_WON)
        return answered_ns != 0;
    return ns_of(&row->written_ns) != 0
        && (export->config->webhook_url[0] == '\0' || row->heard_ns != 0);
}

static void call_answered(void *self, uint64_t count, const struct outgoing_call *call)
{
    (void)self;
    const bool taken = call->result == OUTGOING_ANSWERED && call->status >= 200 && call->status < 300;
    metric_add(taken ? &sent_total : &failed_total, count);
    if (!taken)
        log_warn("trace", "%llu traces were not accepted (status %d %s): look at trace.endpoint",
            (unsigned long long)count, call->result == OUTGOING_ANSWERED ? call->status : 0,
            call->error);
}

/* Something of it was seen by this process. */
static bool row_has_parts(struct purchase_trace *row)
{
    return ns_of(&row->answered_ns) != 0 || ns_of(&row->written_ns) != 0 || row->heard_ns != 0;
}

static uint32_t rows_send(struct trace_export *export, struct purchase_trace **rows, uint32_t count)
{
    struct outgoing_call *call = outgoing_call_take(export->calls);
    if (call == NULL)
        return 0; /* next time */
    struct text body = text_in(call->body, sizeof call->body);
    text_literal(&body,
        "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":"
        "{\"stringValue\":\"stampede\"}}]},\"scopeSpans\":[{\"scope\":{\"name\":\"stampede\"},"
        "\"spans\":[");
    for (uint32_t i = 0; i < count; i++)
        row_write(export->traces, rows[i], i == 0, &body);
    text_literal(&body, "]}]}]}");
    invariant(!body.overflow);
    call->body_size = (uint32_t)body.size;
    snprintf(call->method, sizeof call->method, "POST");
    snprintf(call->url, sizeof call->url, "%s", export->config->trace_endpoint);
    call->allow_private = export->config->trace_allow_private;
    call->timeout_ms = TIMEOUT_MS;
    const bool written = outgoing_header_add(call, "Content-Type", SPAN("application/json"));
    invariant(written);
    outgoing_call_send(export->calls, CALL_TRACES, count, call);
    for (uint32_t i = 0; i < count; i++)
        purchase_trace_free(export->traces, rows[i]);
    return count;
}

static uint64_t export_turn(void *self, uint64_t now_ms)
{
    struct trace_export *export = self;
    struct purchase_trace *rows[ROWS_PER_CALL];
    uint32_t count = 0;
    if (export->traces == NULL)
        return TASK_IDLE;
    for (uint32_t i = 0;
         i < TRACE_ROWS && atomic_load(&export->traces->open) > 0 && count < ROWS_PER_CALL; i++) {
        struct purchase_trace *row = &export->traces->rows[i];
        if (atomic_load_explicit(&row->state, memory_order_acquire) != TRACE_OPEN
            || !row_is_done(export, row))
            continue;
        if (row_has_parts(row))
            rows[count++] = row;
        else
            purchase_trace_free(export->traces, row);
    }
    const bool more = count > 0 && rows_send(export, rows, count) == ROWS_PER_CALL;
    return more ? now_ms : now_ms + LOOK_MS;
}

struct purchase_traces *trace_export_open(struct arena *arena, const struct config *config,
    bool shared, struct outgoing_calls *calls, struct task *task)
{
    struct trace_export *export = arena_take(arena, 1, sizeof *export);
    *export = (struct trace_export){ .config = config, .calls = calls };
    *task = (struct task){ .name = "traces", .self = export, .turn = export_turn };
    outgoing_calls_listen(calls, CALL_TRACES, call_answered, export);
    if (config->trace_endpoint[0] != '\0')
        export->traces = purchase_traces_create(arena, (uint32_t)config->trace_sample, shared);
    return export->traces;
}
