/* SPDX-License-Identifier: Apache-2.0 */
#include "outgoing/webhook.h"

#include "base/base64.h"
#include "base/hash.h"
#include "base/text.h"

#include <stdio.h>

enum { SECOND_MS = 1000, MINUTE_MS = 60 * SECOND_MS, HOUR_MS = 60 * MINUTE_MS };

static const uint32_t schedule_ms[] = { 5 * SECOND_MS, 30 * SECOND_MS, 2 * MINUTE_MS,
    10 * MINUTE_MS, 30 * MINUTE_MS, HOUR_MS, 2 * HOUR_MS, 4 * HOUR_MS, 8 * HOUR_MS };
enum { RETRIES = sizeof schedule_ms / sizeof *schedule_ms };

/* Between the alphabet of web addresses (base64.h) and the one that the specification uses. */
static void alphabet_change(char *text, size_t size, const char *from, const char *to)
{
    for (size_t i = 0; i < size; i++)
        text[i] = text[i] == from[0] ? to[0] : text[i] == from[1] ? to[1] : text[i];
}

enum status webhook_secret_set(struct webhook_endpoint *endpoint, struct span text)
{
    const struct span prefix = SPAN("whsec_");
    endpoint->secret_size = 0;
    if (!span_starts_with(text, prefix)) {
        if (text.size < WEBHOOK_SECRET_MIN || text.size > WEBHOOK_SECRET_MAX)
            return STATUS_BAD_INPUT;
        memcpy(endpoint->secret, text.data, text.size);
        endpoint->secret_size = text.size;
        return STATUS_OK;
    }
    char encoded[WEBHOOK_SECRET_MAX * 2];
    size_t size = text.size - prefix.size;
    if (size > sizeof encoded)
        return STATUS_BAD_INPUT;
    memcpy(encoded, text.data + prefix.size, size);
    const bool padded = size % 4 == 0;
    for (uint32_t i = 0; padded && i < 2 && size > 0 && encoded[size - 1] == '='; i++)
        size--;
    alphabet_change(encoded, size, "+/", "-_");
    size_t bytes = sizeof endpoint->secret;
    const enum status status = base64_decode(span_of(encoded, size), endpoint->secret, &bytes);
    explicit_bzero(encoded, sizeof encoded);
    if (status != STATUS_OK || bytes < WEBHOOK_SECRET_MIN)
        return STATUS_BAD_INPUT;
    endpoint->secret_size = bytes;
    return STATUS_OK;
}

void webhook_sign(const struct webhook_endpoint *endpoint, const char *id, uint64_t time_s,
    struct span body, char out[WEBHOOK_SIGNATURE_BYTES])
{
    char bytes[WEBHOOK_ID_MAX + 32 + OUTGOING_BODY_MAX];
    uint8_t digest[HASH_SHA256_BYTES];
    struct text text = text_in(bytes, sizeof bytes);
    text_string(&text, id);
    text_literal(&text, ".");
    text_u64(&text, time_s);
    text_literal(&text, ".");
    text_add(&text, body);
    invariant(!text.overflow && endpoint->secret_size > 0);
    hash_hmac_sha256(endpoint->secret, endpoint->secret_size, text.data, text.size, digest);
    memcpy(out, "v1,", 3);
    const size_t size = base64_encode(digest, sizeof digest, out + 3);
    alphabet_change(out + 3, size, "-_", "+/");
    invariant(size == 43); /* 32 bytes want one '=' */
    out[3 + size] = '=';
    out[3 + size + 1] = '\0';
}

void webhook_request(const struct webhook_endpoint *endpoint, const char *id, uint64_t time_s,
    struct outgoing_call *call)
{
    char signature[WEBHOOK_SIGNATURE_BYTES], seconds[24];
    struct text number = text_in(seconds, sizeof seconds);
    webhook_sign(endpoint, id, time_s, span_of(call->body, call->body_size), signature);
    text_u64(&number, time_s);
    snprintf(call->method, sizeof call->method, "POST");
    memcpy(call->url, endpoint->url, sizeof call->url);
    call->allow_private = endpoint->allow_private;
    call->timeout_ms = WEBHOOK_TIMEOUT_MS;
    const bool written = outgoing_header_add(call, "Content-Type", SPAN("application/json"))
        && outgoing_header_add(call, "webhook-id", span_from_string(id))
        && outgoing_header_add(call, "webhook-timestamp", text_span(&number))
        && outgoing_header_add(call, "webhook-signature", span_from_string(signature));
    invariant(written); /* a fresh call has room for these */
}

enum webhook_verdict webhook_judge(const struct outgoing_call *call)
{
    if (call->result != OUTGOING_ANSWERED)
        return WEBHOOK_AGAIN;
    if (call->status == 410)
        return WEBHOOK_GONE;
    return call->status >= 200 && call->status < 300 ? WEBHOOK_TAKEN : WEBHOOK_AGAIN;
}

bool webhook_delay(uint32_t tries, struct random *random, uint64_t *delay_ms)
{
    invariant(tries > 0);
    if (tries > RETRIES)
        return false;
    const uint64_t plain_ms = schedule_ms[tries - 1];
    *delay_ms = plain_ms + random_below(random, plain_ms / 5 + 1);
    return true;
}
