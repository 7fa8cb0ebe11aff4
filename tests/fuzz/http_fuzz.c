/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP parser: what comes in pieces is read like what comes whole, and spans lie inside the
 * input. The first byte chooses where the input is cut. */
#include "edge/http_chunked.h"
#include "edge/http_parse.h"

#include <stdlib.h>

enum { FUZZ_BODY_MAX = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct parsed {
    enum http_parse_result result;
    struct http_request request;
    struct http_refusal refusal;
    size_t bytes;
};

static struct parsed parse(const char *data, size_t size)
{
    struct parsed parsed = { .bytes = 0 };
    parsed.result = http_parse(
        span_of(data, size), FUZZ_BODY_MAX, &parsed.request, &parsed.bytes, &parsed.refusal);
    return parsed;
}

static void check_inside(struct span span, const char *data, size_t size)
{
    bool literal = span_equal(span, SPAN("/")); /* the path of an absolute target without one */
    invariant(
        span.data == NULL || literal || (span.data >= data && span.data + span.size <= data + size));
}

static void check_request(const struct parsed *parsed, const char *data, size_t size)
{
    const struct http_request *request = &parsed->request;
    invariant(parsed->bytes <= size && parsed->bytes <= HTTP_REQUEST_MAX(FUZZ_BODY_MAX));
    invariant(request->head_bytes >= 16 && request->head_bytes <= HTTP_HEAD_MAX);
    invariant(request->path.size > 0);
    check_inside(request->path, data, parsed->bytes);
    check_inside(request->query, data, parsed->bytes);
    check_inside(request->body, data, parsed->bytes);
    check_inside(request->host, data, parsed->bytes);
    check_inside(request->pass, data, parsed->bytes);
    check_inside(request->authorization, data, parsed->bytes);
    check_inside(request->idempotency_key, data, parsed->bytes);
    check_inside(request->content_type, data, parsed->bytes);
    check_inside(request->origin, data, parsed->bytes);
    check_inside(request->if_none_match, data, parsed->bytes);
    check_inside(request->accept_encoding, data, parsed->bytes);
    check_inside(request->accept_language, data, parsed->bytes);
    check_inside(request->access_control_request_method, data, parsed->bytes);
    check_inside(request->traceparent, data, parsed->bytes);
    if (!request->chunked)
        return;
    char *encoded = malloc(request->body.size);
    invariant(encoded != NULL);
    memcpy(encoded, request->body.data, request->body.size);
    invariant(http_chunked_decode(encoded, request->body.size) <= FUZZ_BODY_MAX);
    free(encoded);
}

/* The part in memory of its own, so that a read past its end is seen. */
static void check_cut(const struct parsed *whole, const char *data, size_t cut)
{
    char *copy = malloc(cut == 0 ? 1 : cut);
    invariant(copy != NULL);
    memcpy(copy, data, cut);
    struct parsed part = parse(copy, cut);
    if (part.result == HTTP_PARSE_PARTIAL) {
        invariant(part.bytes > cut);
        invariant(whole->result == HTTP_PARSE_REFUSED || part.bytes <= whole->bytes);
    } else {
        invariant(part.result == whole->result);
    }
    if (part.result == HTTP_PARSE_REFUSED)
        invariant(part.refusal.status == whole->refusal.status && part.refusal.why == whole->refusal.why);
    if (part.result == HTTP_PARSE_COMPLETE)
        invariant(part.bytes == whole->bytes && part.request.head_bytes == whole->request.head_bytes
            && part.request.method == whole->request.method
            && part.request.body.size == whole->request.body.size
            && part.request.keep_alive == whole->request.keep_alive);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const char *text = (const char *)data + 1;
    size_t bytes = size - 1;
    struct parsed whole = parse(text, bytes);
    if (whole.result == HTTP_PARSE_COMPLETE)
        check_request(&whole, text, bytes);
    else if (whole.result == HTTP_PARSE_REFUSED)
        invariant(whole.refusal.status >= 400 && whole.refusal.status <= 505 && whole.refusal.why != NULL);
    else
        invariant(whole.bytes > bytes);
    check_cut(&whole, text, bytes * data[0] / 256);
    if (bytes > 0)
        check_cut(&whole, text, bytes - 1);
    return 0;
}
