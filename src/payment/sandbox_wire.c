/* SPDX-License-Identifier: Apache-2.0 */
#include "payment/sandbox_wire.h"

#include "base/hash.h"
#include "payment/provider.h"

#include <jansson.h>
#include <stdio.h>

static void mac_text(const struct sandbox_secret *secret, struct span seconds,
    const struct sandbox_signed *what, struct text *out)
{
    uint8_t digest[HASH_SHA256_BYTES];
    char bytes[OUTGOING_URL_MAX + 256];
    struct text text = text_in(bytes, sizeof bytes);
    hash_sha256(what->body.data, what->body.size, digest);
    text_add(&text, seconds);
    text_literal(&text, ".");
    text_add(&text, what->method);
    text_literal(&text, ".");
    text_add(&text, what->path);
    text_literal(&text, ".");
    text_hex(&text, span_of(digest, sizeof digest));
    if (text.overflow) { /* longer than any address of ours: a signature that fits nothing */
        out->overflow = true;
        return;
    }
    hash_hmac_sha256(secret->bytes, sizeof secret->bytes, text.data, text.size, digest);
    text_hex(out, span_of(digest, sizeof digest));
}

void sandbox_sign(const struct sandbox_secret *secret, uint64_t now_ms,
    const struct sandbox_signed *what, char out[SANDBOX_SIGNATURE_BYTES])
{
    char seconds[24];
    struct text at = text_in(seconds, sizeof seconds);
    struct text text = text_in(out, SANDBOX_SIGNATURE_BYTES - 1);
    text_u64(&at, now_ms / 1000);
    text_literal(&text, "t=");
    text_add(&text, text_span(&at));
    text_literal(&text, ",v1=");
    mac_text(secret, text_span(&at), what, &text);
    out[text.size] = 0;
}

bool sandbox_signature_good(const struct sandbox_secret *secret, uint64_t now_ms,
    const struct sandbox_signed *what, struct span header)
{
    char wanted[2 * HASH_SHA256_BYTES];
    struct text text = text_in(wanted, sizeof wanted);
    struct span time, mac = header;
    uint64_t seconds;
    if (!span_take_until(&mac, ',', &time) || !span_starts_with(time, SPAN("t="))
        || !span_starts_with(mac, SPAN("v1=")))
        return false;
    time = span_of(time.data + 2, time.size - 2);
    mac = span_of(mac.data + 3, mac.size - 3);
    if (span_to_u64(time, &seconds) != STATUS_OK)
        return false;
    const uint64_t now_s = now_ms / 1000;
    const uint64_t apart = now_s > seconds ? now_s - seconds : seconds - now_s;
    mac_text(secret, time, what, &text);
    return !text.overflow && span_equal_constant_time(text_span(&text), mac) && apart <= PROVIDER_FRESH_S;
}

static void member_text(struct text *out, const char *name, const char *value)
{
    if (value[0] == 0)
        return;
    text_format(out, "%s\"%s\":", out->size == 1 ? "" : ",", name);
    text_json(out, span_from_string(value));
}

static void member_number(struct text *out, const char *name, uint64_t value)
{
    if (value != 0)
        text_format(out, "%s\"%s\":%llu", out->size == 1 ? "" : ",", name, (unsigned long long)value);
}

void sandbox_message_write(const struct sandbox_message *message, struct text *out)
{
    invariant(out->size == 0);
    text_literal(out, "{");
    member_text(out, "state", message->state);
    member_text(out, "id", message->id);
    member_text(out, "reference", message->reference);
    member_text(out, "key", message->key);
    member_text(out, "title", message->title);
    member_text(out, "notify_url", message->notify_url);
    member_text(out, "return_url", message->return_url);
    member_text(out, "url", message->url);
    member_text(out, "payer", message->payer);
    member_text(out, "currency", message->currency);
    if (message->currency[0] != 0) /* an amount of 0 is one too */
        text_format(out, ",\"amount\":%llu", (unsigned long long)message->amount);
    member_number(out, "expires_ms", message->expires_ms);
    text_literal(out, "}");
}

static bool text_take(json_t *object, const char *name, char *out, size_t out_bytes)
{
    const json_t *value = json_object_get(object, name);
    if (value == NULL)
        return true;
    if (!json_is_string(value) || json_string_length(value) >= out_bytes)
        return false;
    snprintf(out, out_bytes, "%s", json_string_value(value));
    return strlen(out) == json_string_length(value);
}

static bool number_take(json_t *object, const char *name, uint64_t *out)
{
    const json_t *value = json_object_get(object, name);
    if (value == NULL)
        return true;
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *out = (uint64_t)json_integer_value(value);
    return true;
}

bool sandbox_message_read(struct span json, struct sandbox_message *message)
{
    json_error_t error;
    json_t *object = json_loadb(json.data, json.size, JSON_REJECT_DUPLICATES, &error);
    *message = (struct sandbox_message){ 0 };
#define TAKE(field) text_take(object, #field, message->field, sizeof message->field)
    const bool good = json_is_object(object) && TAKE(state) && TAKE(id) && TAKE(reference)
        && TAKE(key) && TAKE(title) && TAKE(notify_url) && TAKE(return_url) && TAKE(url)
        && TAKE(currency) && TAKE(payer) && number_take(object, "amount", &message->amount)
        && number_take(object, "expires_ms", &message->expires_ms);
#undef TAKE
    json_decref(object);
    return good;
}

struct span sandbox_path_of(const char *url)
{
    const char *host = strstr(url, "://");
    const char *path = host == NULL ? NULL : strchr(host + 3, '/');
    return path == NULL ? SPAN("/") : span_from_string(path);
}
