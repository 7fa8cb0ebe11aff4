/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. A request is a form: common parameters and biz_content (JSON), sorted by name, joined as they
 * are and signed with our key. As the provider's own libraries do, the common parameters go into the
 * address (so that the gateway knows the charset before it reads on) and biz_content into the body.
 * An answer is {"<method>_response":{…},"sign":"…"}; the signature is over the very bytes of the inner
 * object, so these are cut out as they stand, checked, and only then parsed. A callback is a form, its
 * signature over all its parameters but sign and sign_type.
 *
 * Alipay repeats a callback for about 25 hours until it hears "success", so one that old is still
 * taken; what it tells is the same each time, and the store hears the same news once (payment.h). */
#include "payment/alipay.h"

#include "base/secret_file.h"
#include "base/sign.h"
#include "payment/beijing_time.h"
#include "payment/form.h"
#include "payment/json_member.h"
#include "payment/provider_json.h"
#include "payment/yuan.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    ID_MAX = 32,
    GATEWAY_MAX = 256,
    CONTENT_MAX = 4096,
    TEXT_MAX = 32 * 1024, /* a callback, or what is signed */
    SUBJECT_MAX = 240,
    REPEATS_S = 25 * 3600,
};

enum setting {
    SETTING_GATEWAY,
    SETTING_APP_ID,
    SETTING_PRIVATE_KEY,
    SETTING_PUBLIC_KEY,
    SETTING_SELLER_ID,
    SETTING_METHOD,
    SETTINGS,
};
static const struct provider_setting settings[SETTINGS + 1] = {
    [SETTING_GATEWAY] = { "gateway", "https://openapi.alipay.com/gateway.do" },
    [SETTING_APP_ID] = { "app_id", NULL },
    [SETTING_PRIVATE_KEY] = { "private_key_file", NULL },
    [SETTING_PUBLIC_KEY] = { "public_key_file", NULL },
    [SETTING_SELLER_ID] = { "seller_id", "" },
    [SETTING_METHOD] = { "method", "precreate" },
};

static const struct {
    const char *method, *answer;
} acts[PROVIDER_ACTS] = {
    [PROVIDER_CREATE] = { "alipay.trade.precreate", "alipay_trade_precreate_response" },
    [PROVIDER_QUERY] = { "alipay.trade.query", "alipay_trade_query_response" },
    [PROVIDER_CLOSE] = { "alipay.trade.close", "alipay_trade_close_response" },
    [PROVIDER_REFUND] = { "alipay.trade.refund", "alipay_trade_refund_response" },
    [PROVIDER_REFUND_QUERY] = { "alipay.trade.fastpay.refund.query",
        "alipay_trade_fastpay_refund_query_response" },
};

struct alipay {
    struct provider provider; /* first */
    char gateway[GATEWAY_MAX + 1];
    char app_id[ID_MAX + 1], seller_id[ID_MAX + 1];
    bool page, local;
    struct sign_key *ours, *theirs;
    struct form form;
    char content[CONTENT_MAX], room[TEXT_MAX], plain[TEXT_MAX], signature[SIGN_TEXT_MAX];
};

/* ---- open and close ---- */

static void alipay_close(struct provider *provider)
{
    struct alipay *alipay = (struct alipay *)provider;
    if (alipay == NULL)
        return;
    sign_key_free(alipay->ours);
    sign_key_free(alipay->theirs);
    explicit_bzero(alipay, sizeof *alipay);
    free(alipay);
}

static const char *keys_open(struct alipay *alipay, const char *const *values)
{
    char pem[SIGN_PEM_BYTES_MAX], serial[SIGN_SERIAL_MAX + 1];
    size_t size = 0;
    const char *wrong = provider_private_key(values[SETTING_PRIVATE_KEY], &alipay->ours);
    if (wrong != NULL)
        return wrong;
    if (secret_file_read(values[SETTING_PUBLIC_KEY], pem, sizeof pem, &size) != STATUS_OK)
        return "public_key_file can't be read";
    if (sign_public_load(&alipay->theirs, span_of(pem, size), serial) != STATUS_OK)
        return "public_key_file is not an RSA public key in PEM of 2048 bits or more";
    return NULL;
}

static const char *settings_take(struct provider *provider, const char *const *values)
{
    struct alipay *alipay = (struct alipay *)provider;
    if (!provider_url_fits(values[SETTING_GATEWAY], GATEWAY_MAX, &alipay->local))
        return "gateway must be an https address without a query";
    snprintf(alipay->gateway, sizeof alipay->gateway, "%s", values[SETTING_GATEWAY]);
    if (!provider_name_copy(
            alipay->app_id, sizeof alipay->app_id, span_from_string(values[SETTING_APP_ID]))
        || alipay->app_id[0] == '\0')
        return "app_id must have 1 to 32 characters";
    if (!provider_name_copy(alipay->seller_id, sizeof alipay->seller_id,
            span_from_string(values[SETTING_SELLER_ID])))
        return "seller_id must have at most 32 characters";
    alipay->page = strcmp(values[SETTING_METHOD], "page") == 0;
    if (!alipay->page && strcmp(values[SETTING_METHOD], "precreate") != 0)
        return "method must be precreate or page";
    return keys_open(alipay, values);
}

static enum status alipay_open(
    struct provider **provider, const char *const *values, char error[PROVIDER_ERROR])
{
    return provider_make(provider, &alipay_provider, sizeof(struct alipay), settings_take, values, error);
}

/* ---- requests ---- */

/* The gateway refuses a subject with / = or &. */
static void subject_write(struct text *text, const char *title)
{
    char subject[SUBJECT_MAX];
    const struct span given = provider_title(title, sizeof subject);
    for (size_t i = 0; i < given.size; i++)
        subject[i] = strchr("/=&", given.data[i]) != NULL ? ' ' : given.data[i];
    text_json(text, span_of(subject, given.size));
}

static void create_write(const struct alipay *alipay, const struct provider_task *task, struct text *text)
{
    char time[BEIJING_TIME_CHARS + 1];
    text_literal(text, ",\"total_amount\":");
    yuan_write(text, task->payment->amount);
    text_literal(text, ",\"subject\":");
    subject_write(text, task->title);
    if (alipay->page)
        text_literal(text, ",\"product_code\":\"FAST_INSTANT_TRADE_PAY\"");
    if (alipay->seller_id[0] != '\0' && !alipay->page) {
        text_literal(text, ",\"seller_id\":");
        text_json(text, span_from_string(alipay->seller_id));
    }
    if (task->expires_ms > 0) {
        beijing_time_write(task->expires_ms, time);
        text_format(text, ",\"time_expire\":\"%s\"", time);
    }
}

static struct span content_write(struct alipay *alipay, const struct provider_task *task)
{
    struct text text = text_in(alipay->content, sizeof alipay->content);
    text_literal(&text, "{\"out_trade_no\":");
    text_json(&text, span_from_string(task->payment->reference));
    if (task->act == PROVIDER_CREATE)
        create_write(alipay, task, &text);
    if (task->act == PROVIDER_REFUND) {
        text_literal(&text, ",\"refund_amount\":");
        yuan_write(&text, task->refund->amount);
    }
    if (task->act == PROVIDER_REFUND || task->act == PROVIDER_REFUND_QUERY) {
        text_literal(&text, ",\"out_request_no\":");
        text_json(&text, span_from_string(task->refund->key));
    }
    text_literal(&text, "}");
    return text.overflow ? SPAN_NONE : text_span(&text);
}

/* All parameters but biz_content, signed together with it. False: too long. */
static bool form_make(struct alipay *alipay, const struct provider_task *task, const char *method,
    struct span content, char *time)
{
    struct form *form = &alipay->form;
    const struct span notify = span_from_string(task->notify_url),
                      back = span_from_string(task->return_url);
    const bool create = task->act == PROVIDER_CREATE;
    beijing_time_write(task->now_ms, time);
    form->count = 0;
    if (form_add(form, "app_id", span_from_string(alipay->app_id)) != STATUS_OK
        || form_add(form, "method", span_from_string(method)) != STATUS_OK
        || form_add(form, "format", SPAN("JSON")) != STATUS_OK
        || form_add(form, "charset", SPAN("utf-8")) != STATUS_OK
        || form_add(form, "sign_type", SPAN("RSA2")) != STATUS_OK
        || form_add(form, "timestamp", span_from_string(time)) != STATUS_OK
        || form_add(form, "version", SPAN("1.0")) != STATUS_OK
        || form_add(form, "notify_url", create ? notify : SPAN_NONE) != STATUS_OK
        || form_add(form, "return_url", create && alipay->page ? back : SPAN_NONE) != STATUS_OK
        || form_add(form, "biz_content", content) != STATUS_OK)
        return false;
    form_sort(form);
    struct text plain = text_in(alipay->plain, sizeof alipay->plain);
    form_write_plain(form, &plain);
    if (plain.overflow)
        return false;
    const size_t size = sign_make(alipay->ours, text_span(&plain), alipay->signature);
    return form_add(form, "sign", span_of(alipay->signature, size)) == STATUS_OK;
}

/* "gateway?parameters" with a 0 at its end; false: too long. */
static bool address_write(const struct alipay *alipay, char *out, size_t out_bytes)
{
    struct text text = text_in(out, out_bytes);
    text_string(&text, alipay->gateway);
    text_literal(&text, "?");
    form_write(&alipay->form, &text);
    text_add(&text, span_of("", 1));
    return !text.overflow;
}

static bool page_ask(struct alipay *alipay, const struct provider_task *task, struct span content,
    struct provider_said *said)
{
    char time[BEIJING_TIME_CHARS + 1];
    provider_say(said, WORD_OPEN, "%s", "");
    if (!form_make(alipay, task, "alipay.trade.page.pay", content, time)
        || !address_write(alipay, said->url, sizeof said->url)) {
        provider_say(said, WORD_REFUSED, "the address to pay at is too long");
        return false;
    }
    snprintf(said->reference, sizeof said->reference, "%s", task->payment->reference);
    return false;
}

static bool alipay_ask(struct provider *provider, const struct provider_task *task,
    struct outgoing_call *call, struct provider_said *said)
{
    struct alipay *alipay = (struct alipay *)provider;
    char time[BEIJING_TIME_CHARS + 1];
    if (strcmp(task->payment->currency, "CNY") != 0) {
        provider_say(said, WORD_REFUSED, "Alipay takes CNY only");
        return false;
    }
    const struct span content = content_write(alipay, task);
    if (task->act == PROVIDER_CREATE && alipay->page && content.data != NULL)
        return page_ask(alipay, task, content, said);
    bool fits = content.data != NULL && form_make(alipay, task, acts[task->act].method, content, time);
    form_drop(&alipay->form, "biz_content");
    fits = fits && address_write(alipay, call->url, sizeof call->url);
    struct text body = text_in(call->body, sizeof call->body);
    text_literal(&body, "biz_content=");
    form_encode(&body, content);
    if (!fits || body.overflow) {
        provider_say(said, WORD_REFUSED, "the request is too long");
        return false;
    }
    call->body_size = (uint32_t)body.size;
    snprintf(call->method, sizeof call->method, "POST");
    snprintf(call->headers, sizeof call->headers, "%s",
        "Content-Type: application/x-www-form-urlencoded;charset=utf-8\n"
        "Accept: application/json\n");
    call->allow_private = alipay->local;
    return true;
}

/* ---- answers ---- */

/* What the provider has signed, parsed; NULL: `said` says why it can't be trusted. */
static json_t *answer_check(const struct alipay *alipay, const struct provider_task *task,
    struct span reply, struct provider_said *said)
{
    json_t *whole = provider_json_read(reply);
    struct span raw = SPAN_NONE;
    json_t *inner = NULL;
    const char *name = acts[task->act].answer;
    if (whole != NULL && json_object_get(whole, name) == NULL)
        name = "error_response";
    if (whole == NULL || !json_member_cut(reply, name, &raw)) {
        provider_say(said, WORD_FORGED, "the answer is not JSON of the expected form");
    } else if (!sign_holds(alipay->theirs, raw, provider_json_text(whole, "sign"))) {
        const json_t *unsure = json_object_get(whole, name);
        provider_say(said, WORD_FORGED, "the answer is not signed by Alipay; it says %.60s",
            provider_json_shown(unsure, "sub_code"));
    } else {
        inner = provider_json_read(raw);
        if (inner == NULL)
            provider_say(said, WORD_FORGED, "the answer is not an object");
    }
    json_decref(whole);
    return inner;
}

/* Codes without success. Already paid, already closed and the like are refusals when closing: whoever
 * asked asks next how it stands. When creating, paid already is no refusal, which would end the matter
 * here: it is asked again until its time is over, then closed, and then it comes out. */
static enum provider_word failure_word(enum provider_act act, const char *code, const char *sub_code)
{
    const bool of_refund = act == PROVIDER_REFUND || act == PROVIDER_REFUND_QUERY;
    if (strcmp(code, "20000") == 0 || strstr(sub_code, "SYSTEM_ERROR") != NULL
        || strncmp(sub_code, "isp.", 4) == 0 || strncmp(sub_code, "aop.", 4) == 0)
        return WORD_AGAIN;
    if (of_refund)
        return WORD_REFUSED;
    if (strcmp(sub_code, "ACQ.TRADE_NOT_EXIST") == 0)
        return WORD_UNKNOWN;
    if (strcmp(sub_code, "ACQ.TRADE_HAS_CLOSE") == 0)
        return WORD_CLOSED;
    if (strcmp(sub_code, "ACQ.TRADE_HAS_SUCCESS") == 0 && act == PROVIDER_CREATE)
        return WORD_AGAIN;
    return WORD_REFUSED;
}

static void failure_read(
    const struct provider_task *task, const json_t *answer, struct provider_said *said)
{
    const char *code = provider_json_shown(answer, "code");
    const char *sub_code = provider_json_shown(answer, "sub_code");
    provider_say(said, failure_word(task->act, code, sub_code), "%.10s %.60s %.100s", code,
        sub_code, provider_json_shown(answer, "sub_msg"));
}

static void trade_read(const json_t *answer, struct provider_said *said)
{
    if (provider_json_is(answer, "trade_status", "TRADE_SUCCESS")
        || provider_json_is(answer, "trade_status", "TRADE_FINISHED")) {
        said->word = WORD_CAPTURED;
        memcpy(said->currency, "CNY", sizeof said->currency);
        const struct span open_id = provider_json_text(answer, "buyer_open_id");
        provider_payer(said, open_id.size > 0 ? open_id : provider_json_text(answer, "buyer_user_id"));
        if (!yuan_read(provider_json_text(answer, "total_amount"), &said->amount))
            provider_say(said, WORD_FORGED, "total_amount is not an amount");
    } else if (provider_json_is(answer, "trade_status", "TRADE_CLOSED")) {
        said->word = WORD_CLOSED;
    } else if (!provider_json_is(answer, "trade_status", "WAIT_BUYER_PAY")) {
        provider_say(said, WORD_FORGED, "trade_status is unknown");
    }
}

static void refund_read(const struct provider_task *task, const json_t *answer, struct provider_said *said)
{
    uint64_t amount = 0;
    if (task->act == PROVIDER_REFUND) {
        /* N: the money moved before, by the same key; the query tells whether it arrived. */
        said->word = provider_json_is(answer, "fund_change", "Y") ? WORD_REFUNDED : WORD_REFUND_PENDING;
        return;
    }
    if (!provider_json_is(answer, "refund_status", "REFUND_SUCCESS")) {
        provider_say(said, WORD_UNKNOWN, "no such refund, or it failed");
        return;
    }
    said->word = WORD_REFUNDED;
    if (!provider_json_is(answer, "out_request_no", task->refund->key)
        || !yuan_read(provider_json_text(answer, "refund_amount"), &amount)
        || amount != task->refund->amount)
        provider_say(said, WORD_REFUSED, "the provider has another refund under this key");
}

static void success_read(
    const struct provider_task *task, const json_t *answer, struct provider_said *said)
{
    const struct span trade_no = provider_json_text(answer, "trade_no");
    const struct span code = provider_json_text(answer, "qr_code");
    provider_say(said, WORD_OPEN, "%s", "");
    if (!provider_name_copy(said->provider_id, sizeof said->provider_id, trade_no)
        || !provider_name_copy(said->url, sizeof said->url, code)) {
        provider_say(said, WORD_FORGED, "trade_no or qr_code is malformed");
        return;
    }
    switch (task->act) {
    case PROVIDER_CREATE:
        if (said->url[0] == '\0')
            provider_say(said, WORD_FORGED, "no qr_code in the answer");
        break;
    case PROVIDER_QUERY:
        trade_read(answer, said);
        break;
    case PROVIDER_CLOSE:
        said->word = WORD_CLOSED;
        break;
    case PROVIDER_REFUND:
    case PROVIDER_REFUND_QUERY:
        refund_read(task, answer, said);
        break;
    case PROVIDER_ACTS:
        break;
    }
}

static void alipay_read(struct provider *provider, const struct provider_task *task,
    const struct outgoing_call *call, struct provider_said *said)
{
    const struct alipay *alipay = (const struct alipay *)provider;
    enum { HTTP_OK = 200 };
    if (provider_unanswered(call, said))
        return;
    if (call->status != HTTP_OK) {
        provider_say(said, WORD_AGAIN, "the gateway answers %d", call->status);
        return;
    }
    json_t *answer = answer_check(alipay, task, span_of(call->reply, call->reply_size), said);
    if (answer == NULL)
        return;
    const bool success = provider_json_is(answer, "code", "10000");
    /* Closing may, and a query of a refund that is not there does, answer without a name. */
    const bool named = json_object_get(answer, "out_trade_no") != NULL;
    if ((named || (success && task->act != PROVIDER_REFUND_QUERY && task->act != PROVIDER_CLOSE))
        && !provider_json_is(answer, "out_trade_no", task->payment->reference))
        provider_say(said, WORD_FORGED, "the answer is about another payment");
    else if (success)
        success_read(task, answer, said);
    else
        failure_read(task, answer, said);
    if (said->word != WORD_FORGED)
        snprintf(said->reference, sizeof said->reference, "%s", task->payment->reference);
    json_decref(answer);
}

/* ---- callbacks ---- */

/* NULL: it is signed, for us, and not older than Alipay repeats it. */
static const char *callback_check(struct alipay *alipay, const struct provider_callback *callback)
{
    struct form *form = &alipay->form;
    uint64_t sent_s = 0;
    if (form_read(form, callback->body, alipay->room, sizeof alipay->room) != STATUS_OK)
        return "the body is not a form";
    const struct span signature = form_value(form, "sign");
    if (!span_equal(form_value(form, "sign_type"), SPAN("RSA2")))
        return "sign_type is not RSA2";
    form_drop(form, "sign");
    form_drop(form, "sign_type");
    form_sort(form);
    struct text plain = text_in(alipay->plain, sizeof alipay->plain);
    form_write_plain(form, &plain);
    if (plain.overflow || !sign_holds(alipay->theirs, text_span(&plain), signature))
        return "not signed by Alipay";
    if (!span_equal(form_value(form, "app_id"), span_from_string(alipay->app_id)))
        return "for another app_id";
    if (alipay->seller_id[0] != '\0'
        && !span_equal(form_value(form, "seller_id"), span_from_string(alipay->seller_id)))
        return "for another seller_id";
    if (beijing_time_read(form_value(form, "notify_time"), &sent_s) != STATUS_OK
        || !provider_fresh(sent_s, callback->now_ms, REPEATS_S + PROVIDER_FRESH_S, PROVIDER_FRESH_S))
        return "notify_time is too old or in the future";
    return NULL;
}

static void alipay_callback(
    struct provider *provider, const struct provider_callback *callback, struct provider_said *said)
{
    struct alipay *alipay = (struct alipay *)provider;
    const struct form *form = &alipay->form;
    const char *wrong = callback_check(alipay, callback);
    if (wrong != NULL) {
        provider_say(said, WORD_FORGED, "%s", wrong);
        return;
    }
    const struct span status = form_value(form, "trade_status");
    const struct span reference = form_value(form, "out_trade_no");
    provider_say(said, WORD_OPEN, "%s", "");
    if (reference.size == 0 || !provider_name_copy(said->reference, sizeof said->reference, reference)
        || !provider_name_copy(
            said->provider_id, sizeof said->provider_id, form_value(form, "trade_no"))) {
        provider_say(said, WORD_FORGED, "out_trade_no or trade_no is malformed");
        return;
    }
    if (form_value(form, "gmt_refund").size > 0)
        return; /* a refund closes a trade too: that is no news about the payment */
    if (span_equal(status, SPAN("TRADE_CLOSED")))
        said->word = WORD_CLOSED;
    if (!span_equal(status, SPAN("TRADE_SUCCESS")) && !span_equal(status, SPAN("TRADE_FINISHED")))
        return;
    said->word = WORD_CAPTURED;
    memcpy(said->currency, "CNY", sizeof said->currency);
    const struct span open_id = form_value(form, "buyer_open_id");
    provider_payer(said, open_id.size > 0 ? open_id : form_value(form, "buyer_id"));
    if (!yuan_read(form_value(form, "total_amount"), &said->amount))
        provider_say(said, WORD_FORGED, "total_amount is not an amount");
}

const struct provider_ops alipay_provider = {
    .name = "alipay",
    .settings = settings,
    .open = alipay_open,
    .close = alipay_close,
    .ask = alipay_ask,
    .read = alipay_read,
    .callback = alipay_callback,
    .taken = { 200, "text/plain", "success" },
    .refused = { 400, "text/plain", "failure" },
    .later = { 503, "text/plain", "failure" },
};
