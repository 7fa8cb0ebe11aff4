/* SPDX-License-Identifier: Apache-2.0 */
/* payment/provider_kit.c: what the files of the providers share: opening, keys from files, headers,
 * words, names. */
#include "payment/provider.h"

#include "base/secret_file.h"
#include "base/sign.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum status provider_make(struct provider **provider, const struct provider_ops *ops, size_t bytes,
    provider_take take, const char *const *values, char error[PROVIDER_ERROR])
{
    struct provider *made = calloc(1, bytes);
    *provider = NULL;
    if (made == NULL) {
        snprintf(error, PROVIDER_ERROR, "%s: no memory", ops->name);
        return STATUS_FULL;
    }
    made->ops = ops;
    const char *wrong = take(made, values);
    if (wrong == NULL) {
        *provider = made;
        return STATUS_OK;
    }
    snprintf(error, PROVIDER_ERROR, "%s: %s", ops->name, wrong);
    ops->close(made);
    return STATUS_BAD_INPUT;
}

const char *provider_private_key(const char *path, struct sign_key **key)
{
    char pem[SIGN_PEM_BYTES_MAX];
    size_t size = 0;
    if (secret_file_read(path, pem, sizeof pem, &size) != STATUS_OK)
        return "private_key_file can't be read";
    const enum status status = sign_private_load(key, span_of(pem, size));
    explicit_bzero(pem, sizeof pem);
    return status == STATUS_OK
        ? NULL
        : "private_key_file is not an RSA private key in PEM of 2048 bits or more";
}

struct span provider_header(struct span head, const char *name)
{
    struct span line, found = SPAN_NONE;
    const struct span wanted = span_from_string(name);
    while (span_take_until(&head, '\n', &line)) {
        if (line.size <= wanted.size || line.data[wanted.size] != ':'
            || !span_equal_ignoring_case(span_of(line.data, wanted.size), wanted))
            continue;
        if (found.data != NULL)
            return SPAN_NONE;
        found = span_trim(
            span_of(line.data + wanted.size + 1, line.size - wanted.size - 1), SPAN(" \t\r"));
    }
    return found;
}

/* The most of `size` bytes that ends between characters. */
static size_t whole_characters(const char *text, size_t size)
{
    while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80)
        size--;
    return size;
}

void provider_say(struct provider_said *said, enum provider_word word, const char *format, ...)
{
    *said = (struct provider_said){ .word = word };
    char text[2 * PAYMENT_ERROR_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    size_t size = strlen(text);
    if (size > PAYMENT_ERROR_MAX)
        size = whole_characters(text, PAYMENT_ERROR_MAX);
    for (size_t i = 0; i < size; i++) /* untrusted text: no line ends into logs */
        said->error[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i];
}

bool provider_unanswered(const struct outgoing_call *call, struct provider_said *said)
{
    enum { TOO_MANY_REQUESTS = 429, SERVER_TROUBLE = 500 };
    switch (call->result) {
    case OUTGOING_FAILED:
        provider_say(said, WORD_AGAIN, "no answer: %.*s", OUTGOING_ERROR_MAX, call->error);
        return true;
    case OUTGOING_ADDRESS_REFUSED:
        provider_say(said, WORD_AGAIN, "its address is private or local, which is not allowed");
        return true;
    case OUTGOING_ANSWERED:
        break;
    }
    if (call->status != TOO_MANY_REQUESTS && call->status < SERVER_TROUBLE)
        return false;
    provider_say(said, WORD_AGAIN, "it answers %d", call->status);
    return true;
}

bool provider_name_copy(char *out, size_t out_bytes, struct span name)
{
    if (name.size >= out_bytes)
        return false;
    for (size_t i = 0; i < name.size; i++) {
        if (name.data[i] <= ' ' || name.data[i] > '~')
            return false;
    }
    if (name.size > 0)
        memcpy(out, name.data, name.size);
    out[name.size] = '\0';
    return true;
}

void provider_payer(struct provider_said *said, struct span name)
{
    if (!provider_name_copy(said->payer, sizeof said->payer, name))
        said->payer[0] = '\0';
}

struct span provider_title(const char *title, size_t max_bytes)
{
    struct span text = span_from_string(title);
    if (text.size == 0)
        return SPAN("order");
    if (text.size > max_bytes)
        text.size = whole_characters(text.data, max_bytes);
    return text;
}

bool provider_fresh(uint64_t then_s, uint64_t now_ms, uint64_t past_s, uint64_t future_s)
{
    uint64_t now_s = now_ms / 1000;
    return then_s <= now_s ? now_s - then_s <= past_s : then_s - now_s <= future_s;
}

bool provider_url_fits(const char *url, size_t max_bytes, bool *local)
{
    const struct span text = span_from_string(url);
    *local = span_starts_with(text, SPAN("http://127.0.0.1:"))
        || span_starts_with(text, SPAN("http://localhost:"))
        || span_starts_with(text, SPAN("http://[::1]:"));
    if (text.size > max_bytes || (!*local && !span_starts_with(text, SPAN("https://"))))
        return false;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] <= ' ' || text.data[i] > '~' || strchr("?#\"\\", text.data[i]) != NULL)
            return false;
    }
    return true;
}
