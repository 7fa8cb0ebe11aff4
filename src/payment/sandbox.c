/* SPDX-License-Identifier: Apache-2.0 */
/* The sandbox as a provider: a client of the bank in sandbox_bank.h, over real HTTP and real
 * signatures, so that a rehearsal takes the same way as money does. */
#include "payment/sandbox.h"

#include "base/base64.h"
#include "base/disk.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/random.h"
#include "base/secret_file.h"

#include <stdio.h>
#include <stdlib.h>

struct sandbox {
    struct provider provider;
    char base[SANDBOX_ADDRESS_MAX + 1];
    struct sandbox_secret secret;
};

enum { SETTING_BASE, SETTING_SECRET_FILE };
enum { SECRET_CHARS_MIN = 16 };
static const struct provider_setting settings[] = {
    [SETTING_BASE] = { "base", "" },               /* empty: this server itself */
    [SETTING_SECRET_FILE] = { "secret_file", "" }, /* empty: one is made in the data folder */
    { NULL, NULL },
};

static struct sandbox *sandbox_of(struct provider *provider)
{
    return (struct sandbox *)provider;
}

enum status sandbox_secret_read(const char *path, struct sandbox_secret *secret)
{
    char text[256];
    size_t size = 0;
    enum status status = secret_file_read(path, text, sizeof text, &size);
    if (status == STATUS_OK && size < SECRET_CHARS_MIN)
        status = STATUS_BAD_INPUT;
    if (status == STATUS_OK)
        hash_sha256(text, size, secret->bytes);
    explicit_bzero(text, sizeof text);
    return status;
}

static enum status secret_write(struct disk *disk, const char *name)
{
    static const char temporary[] = "sandbox.secret.tmp";
    uint8_t secret[SANDBOX_SECRET_BYTES];
    char text[2 * SANDBOX_SECRET_BYTES];
    random_secret(secret, sizeof secret);
    const size_t size = base64_encode(secret, sizeof secret, text);
    text[size] = '\n';
    const enum status status = disk_replace(disk, temporary, name, text, size + 1);
    explicit_bzero(secret, sizeof secret);
    explicit_bzero(text, sizeof text);
    return status;
}

enum status sandbox_secret_keep(const char *folder, const char *name)
{
    struct disk *disk = NULL;
    disk_file file = -1;
    char text[SECRET_CHARS_MIN];
    size_t got = 0;
    enum status status = disk_folder_open(folder, &disk);
    if (status != STATUS_OK)
        return status;
    status = disk->ops->open(disk, name, DISK_READ, &file);
    if (status == STATUS_OK) {
        status = disk->ops->read(disk, file, 0, text, sizeof text, &got);
        disk->ops->close(disk, file);
        if (status == STATUS_OK && got < sizeof text)
            log_warn("sandbox", "%s/%s was cut short; a new secret is made", folder, name);
    }
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && got < sizeof text))
        status = secret_write(disk, name);
    explicit_bzero(text, sizeof text);
    disk_folder_close(disk);
    return status;
}

static enum status sandbox_open(
    struct provider **out, const char *const *values, char error[PROVIDER_ERROR])
{
    struct sandbox *sandbox = calloc(1, sizeof *sandbox);
    *out = NULL;
    if (sandbox == NULL)
        return STATUS_FULL;
    sandbox->provider.ops = &sandbox_provider;
    const bool base_fits = snprintf(sandbox->base, sizeof sandbox->base, "%s", values[SETTING_BASE])
        < (int)sizeof sandbox->base;
    if (base_fits && sandbox_secret_read(values[SETTING_SECRET_FILE], &sandbox->secret) == STATUS_OK) {
        *out = &sandbox->provider;
        return STATUS_OK;
    }
    snprintf(error, PROVIDER_ERROR, "%s",
        !base_fits
            ? "sandbox.base is too long"
            : "sandbox.secret_file must name a file with a secret of 16 characters at least");
    free(sandbox);
    return STATUS_BAD_INPUT;
}

static void sandbox_close(struct provider *provider)
{
    if (provider == NULL)
        return;
    explicit_bzero(sandbox_of(provider), sizeof(struct sandbox));
    free(provider);
}

static const char *const act_methods[] = { "POST", "GET", "POST", "POST", "GET" };
static_assert(sizeof act_methods / sizeof *act_methods == PROVIDER_ACTS, "a name for each");
static const char *const act_paths[] = { "", "", "/close", "/refund", "/refund" };
static_assert(sizeof act_paths / sizeof *act_paths == PROVIDER_ACTS, "a name for each");

static void message_of(const struct provider_task *task, struct sandbox_message *message)
{
    *message = (struct sandbox_message){ 0 };
    snprintf(message->reference, sizeof message->reference, "%s", task->payment->reference);
    snprintf(message->currency, sizeof message->currency, "%s", task->payment->currency);
    message->amount = task->act == PROVIDER_REFUND ? task->refund->amount : task->payment->amount;
    if (task->act == PROVIDER_REFUND)
        snprintf(message->key, sizeof message->key, "%s", task->refund->key);
    if (task->act != PROVIDER_CREATE)
        return;
    snprintf(message->title, sizeof message->title, "%s", task->title);
    snprintf(message->notify_url, sizeof message->notify_url, "%s", task->notify_url);
    snprintf(message->return_url, sizeof message->return_url, "%s", task->return_url);
    message->expires_ms = task->expires_ms;
}

static bool sandbox_ask(struct provider *provider, const struct provider_task *task,
    struct outgoing_call *call, struct provider_said *said)
{
    struct sandbox *sandbox = sandbox_of(provider);
    struct sandbox_message message;
    struct text body = text_in(call->body, sizeof call->body);
    struct text url = text_in(call->url, OUTGOING_URL_MAX);
    char signature[SANDBOX_SIGNATURE_BYTES];
    (void)said;
    snprintf(call->method, sizeof call->method, "%s", act_methods[task->act]);
    text_string(&url, sandbox->base);
    text_literal(&url, "/sandbox/v1/payments");
    if (task->act != PROVIDER_CREATE) {
        text_literal(&url, "/");
        text_string(&url, task->payment->reference);
        text_string(&url, act_paths[task->act]);
        if (task->act == PROVIDER_REFUND_QUERY) {
            text_literal(&url, "/");
            text_string(&url, task->refund->key);
        }
    }
    call->url[url.size] = 0;
    if (call->method[0] == 'P') {
        message_of(task, &message);
        sandbox_message_write(&message, &body);
    }
    invariant(!body.overflow && !url.overflow);
    call->body_size = (uint32_t)body.size;
    const struct sandbox_signed what = { span_from_string(call->method), sandbox_path_of(call->url),
        text_span(&body) };
    sandbox_sign(&sandbox->secret, task->now_ms, &what, signature);
    call->headers[0] = 0;
    invariant(outgoing_header_add(call, SANDBOX_HEADER, span_from_string(signature))
        && outgoing_header_add(call, "Content-Type", SPAN("application/json")));
    return true;
}

static enum provider_word word_of(const struct sandbox_message *message, enum provider_act act)
{
    const bool refund = act == PROVIDER_REFUND || act == PROVIDER_REFUND_QUERY;
    const struct span state = span_from_string(message->state);
    if (refund)
        return span_equal(state, SPAN("refunded")) ? WORD_REFUNDED : WORD_UNKNOWN;
    if (span_equal(state, SPAN("captured")) || span_equal(state, SPAN("refunded")))
        return WORD_CAPTURED;
    return span_equal(state, SPAN("open"))  ? WORD_OPEN
        : span_equal(state, SPAN("closed")) ? WORD_CLOSED
                                            : WORD_FORGED;
}

static void said_of(
    const struct sandbox_message *message, enum provider_word word, struct provider_said *said)
{
    *said = (struct provider_said){ .word = word, .amount = message->amount };
    snprintf(said->reference, sizeof said->reference, "%s", message->reference);
    snprintf(said->provider_id, sizeof said->provider_id, "%s", message->id);
    snprintf(said->url, sizeof said->url, "%s", message->url);
    snprintf(said->currency, sizeof said->currency, "%s", message->currency);
    snprintf(said->payer, sizeof said->payer, "%s", message->payer);
}

static void sandbox_read(struct provider *provider, const struct provider_task *task,
    const struct outgoing_call *call, struct provider_said *said)
{
    struct sandbox_message message;
    const struct span body = span_of(call->reply, call->reply_size);
    const struct sandbox_signed what = { span_from_string(call->method), sandbox_path_of(call->url),
        body };
    if (call->result != OUTGOING_ANSWERED)
        provider_say(said, WORD_AGAIN, "%s", call->error);
    else if (call->status >= 500 || call->status == 429)
        provider_say(said, WORD_AGAIN, "status %d", call->status);
    else if (!sandbox_signature_good(&sandbox_of(provider)->secret, task->now_ms, &what,
                 outgoing_header(call, SANDBOX_HEADER)))
        provider_say(said, WORD_FORGED, "the signature is wrong");
    else if (call->status == 404)
        provider_say(said, WORD_UNKNOWN, "not known");
    else if (call->status != 200)
        provider_say(said, WORD_REFUSED, "status %d", call->status);
    else if (!sandbox_message_read(body, &message)
        || strcmp(message.reference, task->payment->reference) != 0)
        provider_say(said, WORD_FORGED, "is about another payment");
    else
        said_of(&message, word_of(&message, task->act), said);
}

static void sandbox_callback(
    struct provider *provider, const struct provider_callback *callback, struct provider_said *said)
{
    struct sandbox_message message;
    const struct sandbox_signed what = { SPAN("POST"), callback->path, callback->body };
    if (!sandbox_signature_good(&sandbox_of(provider)->secret, callback->now_ms, &what,
            provider_header(callback->head, SANDBOX_HEADER)))
        provider_say(said, WORD_FORGED, "the signature is wrong, or too old");
    else if (!sandbox_message_read(callback->body, &message))
        provider_say(said, WORD_FORGED, "not a message");
    else
        said_of(&message, word_of(&message, PROVIDER_QUERY), said);
}

const struct provider_ops sandbox_provider = {
    .name = "sandbox",
    .settings = settings,
    .open = sandbox_open,
    .close = sandbox_close,
    .ask = sandbox_ask,
    .read = sandbox_read,
    .callback = sandbox_callback,
    .taken = { 204, NULL, "" },
    .refused = { 400, "text/plain", "refused\n" },
    .later = { 503, "text/plain", "later\n" },
};
