/* SPDX-License-Identifier: Apache-2.0 */
/* payment/stripe_signature.c: the signature header of a callback, read and compared. */
#include "payment/stripe_signature.h"

#include "base/hash.h"
#include "base/text.h"

enum { SIGNATURES_MAX = 8 }; /* looked at in one header: old and new secret while it is changed */

static bool hex_read(struct span text, uint8_t out[HASH_SHA256_BYTES])
{
    if (text.size != 2 * (size_t)HASH_SHA256_BYTES)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        const char digit = text.data[i];
        const int value = digit >= '0' && digit <= '9' ? digit - '0'
            : digit >= 'a' && digit <= 'f'             ? digit - 'a' + 10
                                                       : -1;
        if (value < 0)
            return false;
        out[i / 2] = (uint8_t)(i % 2 == 0 ? value << 4 : out[i / 2] | value);
    }
    return true;
}

const char *stripe_signature_check(struct span secret, const struct provider_callback *callback,
    char signed_text[STRIPE_SIGNED_MAX])
{
    struct span header = provider_header(callback->head, "Stripe-Signature");
    struct span part, name, time_text = SPAN_NONE;
    uint8_t given[SIGNATURES_MAX][HASH_SHA256_BYTES];
    uint32_t count = 0;
    uint64_t time_s;
    while (span_take_until(&header, ',', &part)) {
        if (!span_take_until(&part, '=', &name))
            return "the signature header is malformed";
        if (span_equal(name, SPAN("t")) && time_text.data != NULL)
            return "the signature header has two times";
        if (span_equal(name, SPAN("t")))
            time_text = part;
        if (span_equal(name, SPAN("v1")) && count < SIGNATURES_MAX && hex_read(part, given[count]))
            count++;
    }
    if (time_text.size > STRIPE_TIME_DIGITS_MAX || span_to_u64(time_text, &time_s) != STATUS_OK
        || count == 0)
        return "there is no signature";
    if (callback->body.size > STRIPE_CALLBACK_MAX)
        return "the body is too long";
    struct text text = text_in(signed_text, STRIPE_SIGNED_MAX);
    text_add(&text, time_text);
    text_literal(&text, ".");
    text_add(&text, callback->body);
    uint8_t right[HASH_SHA256_BYTES];
    hash_hmac_sha256(secret.data, secret.size, text.data, text.size, right);
    bool genuine = false;
    for (uint32_t i = 0; i < count; i++)
        genuine |= span_equal_constant_time(
            span_of(right, sizeof right), span_of(given[i], HASH_SHA256_BYTES));
    if (!genuine)
        return "the signature is wrong";
    return provider_fresh(time_s, callback->now_ms, PROVIDER_FRESH_S, PROVIDER_FRESH_S)
        ? NULL
        : "the signature is too old or from the future";
}
