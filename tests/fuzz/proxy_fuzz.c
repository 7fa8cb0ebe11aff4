/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fuzz/proxy_fuzz.c: what proxies say. PROXY protocol: what comes in pieces is read like what
 * comes whole, a header is bounded, and nothing but a whole one changes the client. X-Forwarded-For: any
 * header lines give some address and nothing else; with nobody but the peer trusted it is the last
 * entry or the peer. */
#include "edge/forwarded.h"
#include "edge/proxy_protocol.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct address peer = { .bytes = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 1 } };

static void check_header(const char *data, size_t size)
{
    struct address whole = peer;
    const char *why = NULL;
    size_t bytes = 0;
    const enum proxy_result result = proxy_parse(span_of(data, size), &whole, &bytes, &why);
    invariant((result == PROXY_REFUSED) == (why != NULL));
    if (result == PROXY_COMPLETE)
        invariant(bytes <= size && bytes <= PROXY_BLOCK_MAX);
    else
        invariant(address_equal(&whole, &peer) && (result == PROXY_REFUSED || bytes > size));
    for (size_t cut = 0; cut < size; cut++) {
        struct address part = peer;
        size_t part_bytes = 0;
        const enum proxy_result early = proxy_parse(span_of(data, cut), &part, &part_bytes, &why);
        if (early == PROXY_PARTIAL) {
            invariant(part_bytes > cut && part_bytes <= PROXY_BLOCK_MAX);
            continue;
        }
        invariant(early == result && address_equal(&part, &whole));
        invariant(early == PROXY_REFUSED || part_bytes == bytes);
        return;
    }
}

static void check_lines(const char *data, size_t size)
{
    struct trusted trusted;
    struct span bad;
    struct address client = peer, again = peer;
    invariant(trusted_parse(&trusted, SPAN("10.0.0.1"), &bad) == STATUS_OK);
    forwarded_client(&trusted, span_of(data, size), &client);
    forwarded_client(&trusted, span_of(data, size), &again);
    invariant(address_equal(&client, &again));
    char text[ADDRESS_CHARS_MAX];
    struct text out = text_in(text, sizeof text);
    address_text(&out, &client);
    struct address back;
    invariant(!out.overflow && address_parse(text_span(&out), &back) == STATUS_OK);
    invariant(address_equal(&back, &client));
}

static void check_blocks(const char *data, size_t size)
{
    struct trusted trusted;
    struct span bad;
    if (trusted_parse(&trusted, span_of(data, size), &bad) != STATUS_OK)
        return;
    for (uint32_t i = 0; i < trusted.count; i++)
        invariant(trusted_holds(&trusted, &trusted.blocks[i].first));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size + 1); /* exactly so long: a sanitizer sees one byte more */
    invariant(copy != NULL);
    if (size > 0)
        memcpy(copy, data, size);
    check_header(copy, size);
    check_lines(copy, size);
    check_blocks(copy, size);
    free(copy);
    return 0;
}
