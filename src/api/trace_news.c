/* SPDX-License-Identifier: Apache-2.0 */
#include "api/trace_news.h"

#include "api/purchase_traces.h"

#include <stdio.h>
#include <string.h>

enum {
    HEX_CHARS = 2 * (TRACE_BYTES + TRACE_PARTS * TRACE_SPAN_BYTES) + 1,
    NEWS_BYTES = 3 + 17 + HEX_CHARS + 11 + 21 + TRACE_REQUEST_ID_MAX + 2 + 17 + 17, /* of one purchase */
};

static void row_write(
    const struct purchase_traces *traces, const struct purchase_trace *row, struct text *out)
{
    text_format(out, "%st ", out->size == 0 ? "" : " ");
    text_hex64(out, row->number);
    text_literal(out, " ");
    text_hex(out, span_of((const char *)row->from.trace, TRACE_BYTES));
    text_literal(out, ":");
    text_hex(out, span_of((const char *)row->spans, sizeof row->spans));
    text_format(out, ":%u:", row->item);
    text_u64(out, row->begun_ns + traces->wall_ns);
    text_format(out, ":%.*s", TRACE_REQUEST_ID_MAX, row->request_id);
}

static void ticket_write(const struct purchase_trace *row, struct text *out)
{
    text_format(out, "%sw ", out->size == 0 ? "" : " ");
    text_hex64(out, row->number);
    text_literal(out, " ");
    text_hex64(out, atomic_load_explicit(&row->ticket, memory_order_acquire));
}

bool trace_news_wait(const struct purchase_traces *traces)
{
    return traces != NULL && atomic_load_explicit(&traces->untold, memory_order_relaxed);
}

bool trace_news_write(struct purchase_traces *traces, struct text *message)
{
    bool written = false;
    if (traces == NULL || atomic_load_explicit(&traces->open, memory_order_relaxed) == 0)
        return false;
    atomic_store(&traces->untold, false); /* what does not fit waits for the usual message */
    for (uint32_t i = 0; i < TRACE_ROWS && message->capacity - message->size > NEWS_BYTES; i++) {
        struct purchase_trace *row = &traces->rows[i];
        if (atomic_load_explicit(&row->state, memory_order_acquire) != TRACE_OPEN)
            continue;
        if (!row->from_afar && !row->told) {
            row_write(traces, row, message);
            row->told = written = true;
        }
        if (!row->ticket_told && atomic_load_explicit(&row->written_ns, memory_order_acquire) != 0) {
            ticket_write(row, message);
            row->ticket_told = written = true;
        }
    }
    return written;
}

/* ---- hearing */

static bool hex_take(struct span word, uint8_t *bytes, size_t count)
{
    if (word.size != 2 * count)
        return false;
    for (size_t at = 0; at < count; at += sizeof(uint64_t)) {
        uint64_t value;
        if (span_to_hex64(span_of(word.data + 2 * at, 16), &value) != STATUS_OK)
            return false;
        value = __builtin_bswap64(value); /* as it was written: the first byte first */
        memcpy(bytes + at, &value, sizeof value);
    }
    return true;
}

static bool request_id_take(struct span word, char out[TRACE_REQUEST_ID_MAX + 1])
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    if (word.size == 0 || word.size > TRACE_REQUEST_ID_MAX)
        return false;
    memcpy(out, word.data, word.size);
    out[word.size] = '\0';
    return strspn(out, allowed) == word.size;
}

static bool row_read(struct span text, uint64_t wall_ns, struct purchase_trace *row)
{
    struct span trace = SPAN_NONE, spans = SPAN_NONE, item = SPAN_NONE, begun = SPAN_NONE;
    uint64_t item_id_read, begun_wall_ns;
    if (!span_take_until(&text, ':', &trace) || !span_take_until(&text, ':', &spans)
        || !span_take_until(&text, ':', &item) || !span_take_until(&text, ':', &begun)
        || !hex_take(trace, row->from.trace, TRACE_BYTES)
        || !hex_take(spans, (uint8_t *)row->spans, sizeof row->spans)
        || span_to_u64(item, &item_id_read) != STATUS_OK || item_id_read > UINT32_MAX
        || span_to_u64(begun, &begun_wall_ns) != STATUS_OK || !request_id_take(text, row->request_id))
        return false;
    row->item = (item_id)item_id_read;
    row->begun_ns = begun_wall_ns > wall_ns ? begun_wall_ns - wall_ns : 0;
    return true;
}

static bool purchase_heard(struct purchase_traces *traces, uint64_t number, struct span text)
{
    struct purchase_trace heard = { 0 };
    if (!row_read(text, traces->wall_ns, &heard))
        return false;
    struct purchase_trace *row = purchase_trace_take(traces, number);
    if (row == NULL)
        return true;
    row->from = heard.from;
    memcpy(row->spans, heard.spans, sizeof row->spans);
    memcpy(row->request_id, heard.request_id, sizeof row->request_id);
    row->item = heard.item;
    row->begun_ns = row->asked_ns = heard.begun_ns;
    row->from_afar = true;
    row->answer = ANSWER_WON; /* only then is there an order */
    purchase_trace_open(traces, row);
    return true;
}

static bool ticket_heard(struct purchase_traces *traces, uint64_t number, struct span text)
{
    struct purchase_trace *row = purchase_trace_find(traces, number);
    uint64_t ticket;
    if (span_to_hex64(text, &ticket) != STATUS_OK)
        return false;
    if (row != NULL && atomic_load(&row->ticket) == 0)
        atomic_store_explicit(&row->ticket, ticket, memory_order_release);
    return true;
}

void trace_news_heard(struct purchase_traces *traces, struct span message)
{
    struct span word = SPAN_NONE, name = SPAN_NONE, text = SPAN_NONE;
    while (traces != NULL && span_take_until(&message, ' ', &word)
        && span_take_until(&message, ' ', &name) && span_take_until(&message, ' ', &text)) {
        const bool purchase = span_equal(word, SPAN("t"));
        uint64_t number;
        if (!purchase && !span_equal(word, SPAN("w")))
            continue;
        if (span_to_hex64(name, &number) != STATUS_OK
            || !(purchase ? purchase_heard(traces, number, text) : ticket_heard(traces, number, text)))
            return;
    }
}
