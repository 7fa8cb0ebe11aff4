/* SPDX-License-Identifier: Apache-2.0 */
/* payment/stripe.c: requests to Stripe Checkout, its answers, and what its callbacks say. payment/
 * stripe_signature.c checks who sent a callback. */
#include "payment/stripe.h"

#include "base/secret_file.h"
#include "base/text.h"
#include "payment/form.h"
#include "payment/stripe_signature.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    KEY_MAX = 256,
    BASE_MAX = 200,
    VERSION_MAX = 40,
};
enum { SETTING_BASE, SETTING_KEY, SETTING_WEBHOOK, SETTING_VERSION };
static const struct provider_setting settings[] = {
    [SETTING_BASE] = { "base", "https://api.stripe.com" },
    [SETTING_KEY] = { "secret_key_file", NULL },
    [SETTING_WEBHOOK] = { "webhook_secret_file", NULL },
    /* Pinned: what an account has set in the dashboard must not change what we read. */
    [SETTING_VERSION] = { "api_version", "2024-06-20" },
    { NULL, NULL },
};

struct stripe {
    struct provider provider; /* first */
    char base[BASE_MAX + 1];
    bool local; /* the base is a stand-in on this machine */
    char version[VERSION_MAX + 1];
    char authorization[sizeof "Bearer " + KEY_MAX];
    char webhook_secret[KEY_MAX + 1];
    size_t webhook_secret_size;
    char signed_text[STRIPE_SIGNED_MAX];
};

/* ---- open ---- */

static enum status setting_wrong(char error[PROVIDER_ERROR], int setting, const char *why)
{
    snprintf(error, PROVIDER_ERROR, "%s %s", settings[setting].name, why);
    return STATUS_BAD_INPUT;
}

static bool header_safe(const char *text)
{
    for (; *text != '\0'; text++)
        if (*text <= ' ' || *text > '~')
            return false;
    return true;
}

static enum status key_read(const char *const *values, int setting, char out[KEY_MAX + 1],
    size_t *size, char error[PROVIDER_ERROR])
{
    if (secret_file_read(values[setting], out, KEY_MAX + 1, size) != STATUS_OK)
        return setting_wrong(error, setting, "can't be read, is empty or too long");
    if (!header_safe(out))
        return setting_wrong(error, setting, "holds characters that a key can't have");
    return STATUS_OK;
}

static enum status keys_read(struct stripe *stripe, const char *const *values, char error[PROVIDER_ERROR])
{
    char key[KEY_MAX + 1];
    size_t size;
    enum status status = key_read(values, SETTING_KEY, key, &size, error);
    snprintf(stripe->authorization, sizeof stripe->authorization, "Bearer %s",
        status == STATUS_OK ? key : "");
    explicit_bzero(key, sizeof key);
    if (status != STATUS_OK)
        return status;
    return key_read(values, SETTING_WEBHOOK, stripe->webhook_secret, &stripe->webhook_secret_size, error);
}

static enum status texts_take(struct stripe *stripe, const char *const *values, char error[PROVIDER_ERROR])
{
    const char *base = values[SETTING_BASE];
    const char *version = values[SETTING_VERSION];
    if (!provider_url_fits(base, BASE_MAX, &stripe->local) || base[strlen(base) - 1] == '/')
        return setting_wrong(error, SETTING_BASE,
            "must start with https:// (http:// only to this machine), without a / at its end");
    if (version[0] == '\0' || strlen(version) > VERSION_MAX || !header_safe(version))
        return setting_wrong(error, SETTING_VERSION, "is not a version such as 2024-06-20");
    snprintf(stripe->base, sizeof stripe->base, "%s", base);
    snprintf(stripe->version, sizeof stripe->version, "%s", version);
    return STATUS_OK;
}

static void stripe_close(struct provider *provider)
{
    if (provider == NULL)
        return;
    explicit_bzero(provider, sizeof(struct stripe));
    free(provider);
}

static enum status stripe_open(
    struct provider **provider, const char *const *values, char error[PROVIDER_ERROR])
{
    *provider = NULL;
    struct stripe *stripe = calloc(1, sizeof *stripe);
    if (stripe == NULL)
        return STATUS_IO;
    stripe->provider.ops = &stripe_provider;
    enum status status = texts_take(stripe, values, error);
    if (status == STATUS_OK)
        status = keys_read(stripe, values, error);
    if (status != STATUS_OK) {
        stripe_close((struct provider *)stripe);
        return status;
    }
    *provider = &stripe->provider;
    return STATUS_OK;
}

/* ---- ask ---- */

/* "cs_… pi_…" in two; ids go into paths, so nothing else than letters, digits and _ is one. */
static bool ids_split(const char *provider_id, struct span *session, struct span *intent)
{
    struct span rest = span_from_string(provider_id);
    *session = *intent = SPAN_NONE;
    for (size_t i = 0; i < rest.size; i++)
        if (!isalnum((unsigned char)rest.data[i]) && rest.data[i] != '_' && rest.data[i] != ' ')
            return false;
    if (!span_take_until(&rest, ' ', session))
        return false;
    *intent = rest;
    return session->size > 0;
}

static void field_add(struct text *out, const char *name, struct span value)
{
    if (out->size > 0)
        text_literal(out, "&");
    text_string(out, name);
    text_literal(out, "=");
    form_encode(out, value);
}

static void field_string(struct text *out, const char *name, const char *value)
{
    field_add(out, name, span_from_string(value));
}

static void field_u64(struct text *out, const char *name, uint64_t value)
{
    char digits[24];
    struct text text = text_in(digits, sizeof digits);
    text_u64(&text, value);
    field_add(out, name, text_span(&text));
}

static void field_currency(struct text *out, const char *name, const char *currency)
{
    char lower[4] = "";
    for (size_t i = 0; i < 3 && currency[i] != '\0'; i++)
        lower[i] = (char)tolower((unsigned char)currency[i]);
    field_string(out, name, lower);
}

static void create_form(const struct provider_task *task, struct text *out)
{
    const struct payment *payment = task->payment;
    field_string(out, "mode", "payment");
    field_string(out, "client_reference_id", payment->reference);
    field_string(out, "metadata[reference]", payment->reference);
    field_string(out, "payment_intent_data[metadata][reference]", payment->reference);
    field_string(out, "line_items[0][quantity]", "1");
    field_currency(out, "line_items[0][price_data][currency]", payment->currency);
    field_u64(out, "line_items[0][price_data][unit_amount]", payment->amount);
    field_string(out, "line_items[0][price_data][product_data][name]", task->title);
    field_string(out, "success_url", task->return_url);
    field_string(out, "cancel_url", task->return_url);
}

static void refund_form(const struct provider_task *task, struct span intent, struct text *out)
{
    field_add(out, "payment_intent", intent);
    field_u64(out, "amount", task->refund->amount);
    field_string(out, "metadata[key]", task->refund->key);
    field_string(out, "metadata[reference]", task->payment->reference);
}

static bool head_write(
    const struct stripe *stripe, struct outgoing_call *call, const char *method, const char *key)
{
    snprintf(call->method, sizeof call->method, "%s", method);
    bool written = outgoing_header_add(call, "Authorization", span_from_string(stripe->authorization))
        && outgoing_header_add(call, "Stripe-Version", span_from_string(stripe->version));
    if (written && strcmp(method, "POST") == 0)
        written = outgoing_header_add(call, "Content-Type", SPAN("application/x-www-form-urlencoded"));
    if (written && key != NULL)
        written = outgoing_header_add(call, "Idempotency-Key", span_from_string(key));
    return written;
}

static bool call_write(const struct stripe *stripe, const struct provider_task *task,
    struct span session, struct span intent, struct outgoing_call *call)
{
    struct text url = text_in(call->url, OUTGOING_URL_MAX);
    struct text body = text_in(call->body, OUTGOING_BODY_MAX);
    const char *method = "POST", *key = NULL;
    text_string(&url, stripe->base);
    switch (task->act) {
    case PROVIDER_CREATE:
        text_literal(&url, "/v1/checkout/sessions");
        create_form(task, &body);
        key = task->payment->reference;
        break;
    case PROVIDER_QUERY:
        method = "GET";
        text_format(&url, "/v1/checkout/sessions/%.*s?expand[]=payment_intent.latest_charge",
            (int)session.size, session.data);
        break;
    case PROVIDER_CLOSE:
        text_format(&url, "/v1/checkout/sessions/%.*s/expire", (int)session.size, session.data);
        break;
    case PROVIDER_REFUND:
        text_literal(&url, "/v1/refunds");
        refund_form(task, intent, &body);
        key = task->refund->key;
        break;
    case PROVIDER_REFUND_QUERY:
        method = "GET";
        text_format(&url, "/v1/refunds?limit=100&payment_intent=%.*s", (int)intent.size, intent.data);
        break;
    case PROVIDER_ACTS:
        invariant(!"an act");
    }
    call->url[url.size] = '\0';
    call->body_size = (uint32_t)body.size;
    call->allow_private = stripe->local;
    return !url.overflow && !body.overflow && head_write(stripe, call, method, key);
}

static bool stripe_ask(struct provider *provider, const struct provider_task *task,
    struct outgoing_call *call, struct provider_said *said)
{
    struct span session, intent;
    const bool known = ids_split(task->payment->provider_id, &session, &intent);
    const bool of_session = task->act == PROVIDER_QUERY || task->act == PROVIDER_CLOSE;
    const bool of_refund = task->act == PROVIDER_REFUND || task->act == PROVIDER_REFUND_QUERY;
    if (of_session && !known) {
        provider_say(said, WORD_UNKNOWN, "its session is not known: create it again");
        return false;
    }
    if (of_refund && intent.size == 0) {
        provider_say(said, WORD_REFUSED, "its payment intent is not known");
        return false;
    }
    if (!call_write((struct stripe *)provider, task, session, intent, call)) {
        provider_say(said, WORD_REFUSED, "the request is too long");
        return false;
    }
    return true;
}

/* ---- read ---- */

static const char *string_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text == NULL ? "" : text;
}

static bool string_copy(char *out, size_t out_bytes, const char *text)
{
    const int size = snprintf(out, out_bytes, "%s", text);
    return size >= 0 && (size_t)size < out_bytes;
}

static const char *reference_of(const json_t *session)
{
    const char *reference = string_of(session, "client_reference_id");
    return reference[0] != '\0' ? reference
                                : string_of(json_object_get(session, "metadata"), "reference");
}

/* An id, or the object itself where it was expanded. */
static const char *intent_of(const json_t *session)
{
    const json_t *intent = json_object_get(session, "payment_intent");
    return json_is_object(intent) ? string_of(intent, "id") : string_of(session, "payment_intent");
}

/* A payment that takes days was tried and failed: the session stays complete and unpaid. */
static bool intent_failed(const json_t *session)
{
    const char *status = string_of(json_object_get(session, "payment_intent"), "status");
    return strcmp(status, "requires_payment_method") == 0 || strcmp(status, "canceled") == 0;
}

/* The card's fingerprint is the same for all accounts that pay by it; only an answer to a question has it.
 * Else what the payment method calls the payer. "": not told. */
static void payer_take(const json_t *session, struct provider_said *said)
{
    static const char *const names[] = { "fingerprint", "buyer_id", "payer_id" };
    const json_t *charge = json_object_get(json_object_get(session, "payment_intent"), "latest_charge");
    const json_t *details = json_object_get(charge, "payment_method_details");
    const json_t *method = json_object_get(details, string_of(details, "type"));
    for (size_t i = 0; i < sizeof names / sizeof *names && said->payer[0] == '\0'; i++)
        provider_payer(said, span_from_string(string_of(method, names[i])));
}

static bool captured_take(const json_t *session, struct provider_said *said)
{
    const json_t *amount = json_object_get(session, "amount_total");
    const char *currency = string_of(session, "currency");
    const char *intent = intent_of(session);
    if (!json_is_integer(amount) || json_integer_value(amount) < 0 || strlen(currency) != 3
        || intent[0] == '\0')
        return false;
    said->amount = (uint64_t)json_integer_value(amount);
    for (size_t i = 0; i < 3; i++)
        said->currency[i] = (char)toupper((unsigned char)currency[i]);
    said->currency[3] = '\0';
    const size_t size = strlen(said->provider_id);
    const int more = snprintf(said->provider_id + size, sizeof said->provider_id - size, " %s", intent);
    said->word = WORD_CAPTURED;
    payer_take(session, said);
    return more > 0 && (size_t)more < sizeof said->provider_id - size;
}

/* Fills all but the word's own trouble; false: this can't be a session of Checkout. */
static bool session_read(const json_t *session, struct provider_said *said)
{
    provider_say(said, WORD_OPEN, "%s", "");
    const char *id = string_of(session, "id");
    if (strcmp(string_of(session, "object"), "checkout.session") != 0 || id[0] == '\0'
        || !string_copy(said->provider_id, sizeof said->provider_id, id)
        || !string_copy(said->reference, sizeof said->reference, reference_of(session))
        || !string_copy(said->url, sizeof said->url, string_of(session, "url")))
        return false;
    const char *status = string_of(session, "status");
    if (strcmp(string_of(session, "payment_status"), "paid") == 0)
        return captured_take(session, said);
    if (strcmp(status, "expired") == 0 || (strcmp(status, "complete") == 0 && intent_failed(session)))
        said->word = WORD_CLOSED;
    return true;
}

static void session_answer(
    const struct provider_task *task, const json_t *answer, struct provider_said *said)
{
    if (!session_read(answer, said))
        provider_say(said, WORD_AGAIN, "the answer is not a session");
    else if (strcmp(said->reference, task->payment->reference) != 0)
        provider_say(said, WORD_FORGED, "the answer is about another payment");
    else if (task->act == PROVIDER_CREATE && said->word == WORD_OPEN && said->url[0] == '\0')
        provider_say(said, WORD_AGAIN, "the answer has no address to pay at");
}

static void refund_read(const json_t *refund, struct provider_said *said)
{
    const char *status = string_of(refund, "status");
    provider_say(said, WORD_REFUND_PENDING, "%s", "");
    if (!string_copy(said->provider_id, sizeof said->provider_id, string_of(refund, "id")))
        said->provider_id[0] = '\0';
    if (strcmp(status, "succeeded") == 0)
        said->word = WORD_REFUNDED;
    else if (strcmp(status, "failed") == 0 || strcmp(status, "canceled") == 0)
        provider_say(said, WORD_REFUSED, "the refund is %s: %.80s", status,
            string_of(refund, "failure_reason"));
    else if (strcmp(status, "pending") != 0 && strcmp(status, "requires_action") != 0)
        provider_say(said, WORD_AGAIN, "the answer is not a refund");
}

static void refunds_answer(
    const struct provider_task *task, const json_t *answer, struct provider_said *said)
{
    const json_t *list = json_object_get(answer, "data");
    if (!json_is_array(list)) {
        provider_say(said, WORD_AGAIN, "the answer is not a list of refunds");
        return;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *refund = json_array_get(list, i);
        if (strcmp(string_of(json_object_get(refund, "metadata"), "key"), task->refund->key) == 0) {
            refund_read(refund, said);
            return;
        }
    }
    provider_say(said, WORD_UNKNOWN, "there is no such refund");
}

static void error_read(
    const struct provider_task *task, int status, const json_t *answer, struct provider_said *said)
{
    const json_t *error = json_object_get(answer, "error");
    const char *code = string_of(error, "code");
    const char *message = string_of(error, "message");
    const bool of_session = task->act == PROVIDER_QUERY || task->act == PROVIDER_CLOSE;
    enum provider_word word = WORD_AGAIN;
    /* 401 and 403 are a wrong key, 409 a repeat that is too quick: they pass. */
    if (status == 404 && of_session)
        word = WORD_UNKNOWN;
    else if (status == 400 || status == 402 || status == 404)
        word = WORD_REFUSED;
    /* The key of a repeat is forgotten after a day; a full refund there is can only be ours. */
    if (task->act == PROVIDER_REFUND && task->refund->why != REFUND_OF_PART
        && strcmp(code, "charge_already_refunded") == 0)
        word = WORD_REFUNDED;
    provider_say(said, word, "%d %.40s %.90s", status, code, message);
}

static void stripe_read(struct provider *provider, const struct provider_task *task,
    const struct outgoing_call *call, struct provider_said *said)
{
    (void)provider;
    if (call->result != OUTGOING_ANSWERED) {
        provider_say(said, WORD_AGAIN, "%.*s", PAYMENT_ERROR_MAX, call->error);
        return;
    }
    json_t *answer = json_loadb(call->reply, call->reply_size, JSON_REJECT_DUPLICATES, NULL);
    if (call->status != 200)
        error_read(task, call->status, answer, said);
    else if (!json_is_object(answer))
        provider_say(said, WORD_AGAIN, "the answer is not a JSON object");
    else if (task->act == PROVIDER_REFUND)
        refund_read(answer, said);
    else if (task->act == PROVIDER_REFUND_QUERY)
        refunds_answer(task, answer, said);
    else
        session_answer(task, answer, said);
    json_decref(answer);
}

/* ---- callback ---- */

static bool type_is(const char *type, const char *wanted)
{
    return strcmp(type, wanted) == 0;
}

static void event_read(const json_t *event, struct provider_said *said)
{
    const char *type = string_of(event, "type");
    const json_t *session = json_object_get(json_object_get(event, "data"), "object");
    const bool completed = type_is(type, "checkout.session.completed");
    const bool captured = completed || type_is(type, "checkout.session.async_payment_succeeded");
    const bool closed = type_is(type, "checkout.session.expired")
        || type_is(type, "checkout.session.async_payment_failed");
    if ((!captured && !closed) || !session_read(session, said) || said->reference[0] == '\0') {
        provider_say(said, WORD_OPEN, "ignored: %.80s", type);
        return;
    }
    if (captured && said->word != WORD_CAPTURED) /* completed, but the money takes its time */
        provider_say(said, WORD_OPEN, "not paid yet");
    else if (closed && said->word != WORD_CAPTURED)
        said->word = WORD_CLOSED;
}

static void stripe_callback(
    struct provider *provider, const struct provider_callback *callback, struct provider_said *said)
{
    struct stripe *stripe = (struct stripe *)provider;
    const char *wrong = stripe_signature_check(
        span_of(stripe->webhook_secret, stripe->webhook_secret_size), callback, stripe->signed_text);
    if (wrong != NULL) {
        provider_say(said, WORD_FORGED, "%s", wrong);
        return;
    }
    json_t *event = json_loadb(callback->body.data, callback->body.size, JSON_REJECT_DUPLICATES, NULL);
    if (json_is_object(event))
        event_read(event, said);
    else
        provider_say(said, WORD_FORGED, "the body is not a JSON object");
    json_decref(event);
}

const struct provider_ops stripe_provider = {
    .name = "stripe",
    .settings = settings,
    .open = stripe_open,
    .close = stripe_close,
    .ask = stripe_ask,
    .read = stripe_read,
    .callback = stripe_callback,
    .taken = { 200, "application/json", "{\"received\":true}" },
    .refused = { 400, "application/json", "{\"received\":false}" },
    .later = { 503, "application/json", "{\"received\":false}" },
};
