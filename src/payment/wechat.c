/* SPDX-License-Identifier: Apache-2.0 */
/* payment/wechat.c: requests to WeChat Pay, its answers, and what its callbacks say. Signatures and what
 * is sealed are payment/wechat_signing.c's. */
#include "payment/wechat.h"

#include "base/text.h"
#include "payment/beijing_time.h"
#include "payment/form.h"
#include "payment/provider_json.h"
#include "payment/wechat_signing.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    BASE_MAX = 128,
    REFERENCE_MAX = 32,  /* theirs; ours must fit */
    REFUND_KEY_MAX = 64, /* the same */
    DESCRIPTION_MAX = 120,
    PATH_MAX_BYTES = 256,
};

enum setting {
    SETTING_BASE,
    SETTING_MCHID,
    SETTING_APPID,
    SETTING_SERIAL,
    SETTING_PRIVATE_KEY,
    SETTING_API_KEY,
    SETTING_PLATFORM,
    SETTING_PLATFORM_SERIAL,
    SETTING_KIND,
    SETTINGS,
};
static const struct provider_setting settings[SETTINGS + 1] = {
    [SETTING_BASE] = { "base", "https://api.mch.weixin.qq.com" },
    [SETTING_MCHID] = { "mchid", NULL },
    [SETTING_APPID] = { "appid", NULL },
    [SETTING_SERIAL] = { "serial", NULL },
    [SETTING_PRIVATE_KEY] = { "private_key_file", NULL },
    [SETTING_API_KEY] = { "api_v3_key_file", NULL },
    [SETTING_PLATFORM] = { "platform_file", NULL },
    [SETTING_PLATFORM_SERIAL] = { "platform_serial", "" },
    [SETTING_KIND] = { "kind", "native" },
};

struct wechat {
    struct provider provider; /* first */
    char base[BASE_MAX + 1];
    char appid[WECHAT_ID_MAX + 1];
    bool h5, local;
    struct wechat_keys keys; /* and whose: mchid, serial */
};

/* ---- open and close ---- */

static void wechat_close(struct provider *provider)
{
    struct wechat *wechat = (struct wechat *)provider;
    if (wechat == NULL)
        return;
    wechat_keys_close(&wechat->keys);
    explicit_bzero(wechat, sizeof *wechat);
    free(wechat);
}

static bool name_take(char *out, size_t out_bytes, const char *value)
{
    const struct span name = span_from_string(value);
    return name.size > 0 && provider_name_copy(out, out_bytes, name) && strchr(value, '"') == NULL;
}

static const char *settings_take(struct provider *provider, const char *const *values)
{
    struct wechat *wechat = (struct wechat *)provider;
    if (!provider_url_fits(values[SETTING_BASE], BASE_MAX, &wechat->local)
        || span_ends_with(span_from_string(values[SETTING_BASE]), SPAN("/")))
        return "base must be an https address without a path or a slash at its end";
    snprintf(wechat->base, sizeof wechat->base, "%s", values[SETTING_BASE]);
    if (strchr(strstr(wechat->base, "//") + 2, '/') != NULL)
        return "base must be an https address without a path or a slash at its end";
    if (!name_take(wechat->keys.mchid, sizeof wechat->keys.mchid, values[SETTING_MCHID]))
        return "mchid must have 1 to 32 characters";
    if (!name_take(wechat->appid, sizeof wechat->appid, values[SETTING_APPID]))
        return "appid must have 1 to 32 characters";
    if (!name_take(wechat->keys.serial, sizeof wechat->keys.serial, values[SETTING_SERIAL]))
        return "serial must have 1 to 64 characters";
    wechat->h5 = strcmp(values[SETTING_KIND], "h5") == 0;
    if (!wechat->h5 && strcmp(values[SETTING_KIND], "native") != 0)
        return "kind must be native or h5";
    return wechat_keys_open(&wechat->keys,
        &(struct wechat_key_files){ .private_key = values[SETTING_PRIVATE_KEY],
            .api_key = values[SETTING_API_KEY],
            .platform = values[SETTING_PLATFORM],
            .platform_serial = values[SETTING_PLATFORM_SERIAL] });
}

static enum status wechat_open(
    struct provider **provider, const char *const *values, char error[PROVIDER_ERROR])
{
    return provider_make(provider, &wechat_provider, sizeof(struct wechat), settings_take, values, error);
}

/* ---- requests ---- */

/* Names go into paths and must come back as they were: only what WeChat Pay allows in them. */
static bool reference_fits(const char *name, size_t most)
{
    static const char allowed[] =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-";
    const size_t size = strlen(name);
    return size > 0 && size <= most && strspn(name, allowed) == size;
}

static void member_write(struct text *text, const char *name, const char *value)
{
    text_format(text, ",\"%s\":", name);
    text_json(text, span_from_string(value));
}

static void create_write(const struct wechat *wechat, const struct provider_task *task, struct text *text)
{
    char time[BEIJING_TIME_CHARS + 1];
    text_literal(text, "{\"mchid\":");
    text_json(text, span_from_string(wechat->keys.mchid));
    member_write(text, "appid", wechat->appid);
    text_literal(text, ",\"description\":");
    text_json(text, provider_title(task->title, DESCRIPTION_MAX));
    member_write(text, "out_trade_no", task->payment->reference);
    member_write(text, "notify_url", task->notify_url == NULL ? "" : task->notify_url);
    if (task->expires_ms > 0) {
        beijing_time_write(task->expires_ms, time);
        time[10] = 'T';
        text_format(text, ",\"time_expire\":\"%s+08:00\"", time);
    }
    text_format(text, ",\"amount\":{\"total\":%llu,\"currency\":\"CNY\"}",
        (unsigned long long)task->payment->amount);
    if (wechat->h5) /* the payer's own address is not known here */
        text_literal(text,
            ",\"scene_info\":{\"payer_client_ip\":\"127.0.0.1\",\"h5_info\":{\"type\":\"Wap\"}}");
    text_literal(text, "}");
}

static void refund_write(const struct provider_task *task, struct text *text)
{
    const struct payment *payment = task->payment;
    text_literal(text, "{\"out_trade_no\":");
    text_json(text, span_from_string(payment->reference));
    member_write(text, "out_refund_no", task->refund->key);
    text_format(text, ",\"amount\":{\"refund\":%llu,\"total\":%llu,\"currency\":\"CNY\"}}",
        (unsigned long long)task->refund->amount,
        (unsigned long long)(payment->captured > 0 ? payment->captured : payment->amount));
}

/* Writes method, path and body. */
static void request_write(const struct wechat *wechat, const struct provider_task *task,
    struct outgoing_call *call, struct text *path, struct text *body)
{
    static const char transactions[] = "/v3/pay/transactions";
    const char *reference = task->payment->reference;
    const bool get = task->act == PROVIDER_QUERY || task->act == PROVIDER_REFUND_QUERY;
    snprintf(call->method, sizeof call->method, "%s", get ? "GET" : "POST");
    switch (task->act) {
    case PROVIDER_CREATE:
        text_format(path, "%s/%s", transactions, wechat->h5 ? "h5" : "native");
        create_write(wechat, task, body);
        break;
    case PROVIDER_QUERY:
        text_format(path, "%s/out-trade-no/%s?mchid=%s", transactions, reference, wechat->keys.mchid);
        break;
    case PROVIDER_CLOSE:
        text_format(path, "%s/out-trade-no/%s/close", transactions, reference);
        text_literal(body, "{\"mchid\":");
        text_json(body, span_from_string(wechat->keys.mchid));
        text_literal(body, "}");
        break;
    case PROVIDER_REFUND:
        text_literal(path, "/v3/refund/domestic/refunds");
        refund_write(task, body);
        break;
    case PROVIDER_REFUND_QUERY:
        text_format(path, "/v3/refund/domestic/refunds/%s", task->refund->key);
        break;
    case PROVIDER_ACTS:
        break;
    }
}

static bool wechat_ask(struct provider *provider, const struct provider_task *task,
    struct outgoing_call *call, struct provider_said *said)
{
    struct wechat *wechat = (struct wechat *)provider;
    char room[PATH_MAX_BYTES];
    struct text path = text_in(room, sizeof room), body = text_in(call->body, sizeof call->body);
    const bool refund = task->act == PROVIDER_REFUND || task->act == PROVIDER_REFUND_QUERY;
    if (strcmp(task->payment->currency, "CNY") != 0) {
        provider_say(said, WORD_REFUSED, "WeChat Pay takes CNY only");
        return false;
    }
    if (!reference_fits(task->payment->reference, REFERENCE_MAX)
        || (refund && !reference_fits(task->refund->key, REFUND_KEY_MAX))) {
        provider_say(said, WORD_REFUSED, "WeChat Pay takes references of 1 to 32 letters and digits");
        return false;
    }
    request_write(wechat, task, call, &path, &body);
    if (path.overflow || body.overflow) {
        provider_say(said, WORD_REFUSED, "the request is too long");
        return false;
    }
    call->body_size = (uint32_t)body.size;
    snprintf(call->url, sizeof call->url, "%s%.*s", wechat->base, (int)path.size, path.data);
    wechat_request_sign(&wechat->keys, call, text_span(&path), text_span(&body), task->now_ms);
    call->allow_private = wechat->local;
    return true;
}

/* A transaction, from a query or a callback. */
static void transaction_read(const struct wechat *wechat, const json_t *json, struct provider_said *said)
{
    const json_t *amount = json_object_get(json, "amount");
    const struct span state = provider_json_text(json, "trade_state");
    const struct span reference = provider_json_text(json, "out_trade_no");
    provider_say(said, WORD_OPEN, "%s", "");
    if (!provider_json_is(json, "mchid", wechat->keys.mchid)
        || !provider_json_is(json, "appid", wechat->appid)) {
        provider_say(said, WORD_FORGED, "for another mchid or appid");
        return;
    }
    if (reference.size == 0 || !provider_name_copy(said->reference, sizeof said->reference, reference)
        || !provider_name_copy(said->provider_id, sizeof said->provider_id,
            provider_json_text(json, "transaction_id"))) {
        provider_say(said, WORD_FORGED, "out_trade_no or transaction_id is malformed");
        return;
    }
    /* REFUND: somebody has sent the money back by hand before we knew of it. */
    if (span_equal(state, SPAN("CLOSED")) || span_equal(state, SPAN("REVOKED"))
        || span_equal(state, SPAN("REFUND")))
        said->word = WORD_CLOSED;
    if (!span_equal(state, SPAN("SUCCESS")))
        return;
    said->word = WORD_CAPTURED;
    struct span currency = provider_json_text(amount, "currency");
    if (currency.data == NULL)
        currency = SPAN("CNY"); /* it may be left out */
    if (!provider_json_u64(amount, "total", &said->amount)
        || !provider_name_copy(said->currency, sizeof said->currency, currency))
        provider_say(said, WORD_FORGED, "amount is not an amount");
    else
        provider_payer(said, provider_json_text(json_object_get(json, "payer"), "openid"));
}

/* ---- answers ---- */

/* Already paid and the like are refusals when closing: whoever asked asks next how it stands. When
 * creating, paid already is no refusal, which would end the matter here: it is asked again until its
 * time is over, then closed, and then it comes out. */
static enum provider_word failure_word(enum provider_act act, const json_t *json)
{
    if (provider_json_is(json, "code", "SYSTEM_ERROR")
        || provider_json_is(json, "code", "FREQUENCY_LIMITED"))
        return WORD_AGAIN;
    if (act == PROVIDER_REFUND)
        return WORD_REFUSED;
    if (provider_json_is(json, "code", "ORDER_NOT_EXIST")
        || provider_json_is(json, "code", "RESOURCE_NOT_EXISTS"))
        return WORD_UNKNOWN;
    if (provider_json_is(json, "code", "ORDER_CLOSED"))
        return WORD_CLOSED;
    if (provider_json_is(json, "code", "ORDERPAID") && act == PROVIDER_CREATE)
        return WORD_AGAIN;
    return WORD_REFUSED;
}

static void failure_read(
    const struct provider_task *task, int status, const json_t *json, struct provider_said *said)
{
    provider_say(said, failure_word(task->act, json), "%d %.40s %.100s", status,
        provider_json_shown(json, "code"), provider_json_shown(json, "message"));
}

static void created_read(const struct wechat *wechat, const struct provider_task *task,
    const json_t *json, struct provider_said *said)
{
    const struct span url = provider_json_text(json, wechat->h5 ? "h5_url" : "code_url");
    const struct span back = span_from_string(task->return_url);
    provider_say(said, WORD_OPEN, "%s", "");
    if (url.size == 0 || !provider_name_copy(said->url, sizeof said->url, url)) {
        provider_say(said, WORD_FORGED, "no address to pay at in the answer");
        return;
    }
    if (!wechat->h5 || back.size == 0)
        return;
    struct text more = text_in(said->url + url.size, sizeof said->url - url.size);
    text_literal(&more, "&redirect_url=");
    form_encode(&more, back);
    text_add(&more, span_of("", 1));
    if (more.overflow)
        said->url[url.size] = '\0'; /* the user can pay, and comes back by hand */
}

static void refund_read(const struct provider_task *task, const json_t *json, struct provider_said *said)
{
    const struct span state = provider_json_text(json, "status");
    uint64_t amount = 0;
    provider_say(said, WORD_REFUND_PENDING, "%s", "");
    if (!provider_json_is(json, "out_refund_no", task->refund->key)
        || !provider_json_is(json, "out_trade_no", task->payment->reference)) {
        provider_say(said, WORD_FORGED, "the answer is about another refund");
        return;
    }
    if (!provider_name_copy(
            said->provider_id, sizeof said->provider_id, provider_json_text(json, "refund_id"))) {
        provider_say(said, WORD_FORGED, "refund_id is malformed");
        return;
    }
    if (!provider_json_u64(json_object_get(json, "amount"), "refund", &amount)
        || amount != task->refund->amount)
        provider_say(said, WORD_REFUSED, "the provider has another refund under this key");
    else if (span_equal(state, SPAN("SUCCESS")))
        said->word = WORD_REFUNDED;
    else if (!span_equal(state, SPAN("PROCESSING")))
        provider_say(said, WORD_REFUSED, "the refund is %.40s", provider_json_shown(json, "status"));
}

static void success_read(const struct wechat *wechat, const struct provider_task *task,
    const json_t *json, struct provider_said *said)
{
    if (json == NULL && task->act != PROVIDER_CLOSE) {
        provider_say(said, WORD_FORGED, "the answer is not a JSON object");
        return;
    }
    switch (task->act) {
    case PROVIDER_CREATE:
        created_read(wechat, task, json, said);
        break;
    case PROVIDER_QUERY:
        transaction_read(wechat, json, said);
        if (said->word != WORD_FORGED && strcmp(said->reference, task->payment->reference) != 0)
            provider_say(said, WORD_FORGED, "the answer is about another payment");
        break;
    case PROVIDER_CLOSE:
        provider_say(said, WORD_CLOSED, "%s", "");
        break;
    case PROVIDER_REFUND:
    case PROVIDER_REFUND_QUERY:
        refund_read(task, json, said);
        break;
    case PROVIDER_ACTS:
        break;
    }
}

static void wechat_read(struct provider *provider, const struct provider_task *task,
    const struct outgoing_call *call, struct provider_said *said)
{
    struct wechat *wechat = (struct wechat *)provider;
    enum { HTTP_GOOD = 200, HTTP_OTHER = 300 };
    if (provider_unanswered(call, said))
        return;
    const struct span body = span_of(call->reply, call->reply_size);
    const char *wrong = wechat_signed_check(
        &wechat->keys, span_of(call->reply_headers, call->reply_headers_size), body, task->now_ms);
    json_t *json = provider_json_read(body);
    if (wrong != NULL)
        provider_say(said, WORD_FORGED, "the answer (%d %.40s) is %s", call->status,
            provider_json_shown(json, "code"), wrong);
    else if (call->status >= HTTP_GOOD && call->status < HTTP_OTHER)
        success_read(wechat, task, json, said);
    else
        failure_read(task, call->status, json, said);
    if (said->word != WORD_FORGED)
        snprintf(said->reference, sizeof said->reference, "%s", task->payment->reference);
    json_decref(json);
}

/* ---- callbacks ---- */

static void notice_read(struct wechat *wechat, const json_t *notice, struct provider_said *said)
{
    if (!provider_json_is(notice, "event_type", "TRANSACTION.SUCCESS")) {
        provider_say(said, WORD_OPEN, "event %.60s", provider_json_shown(notice, "event_type"));
        return;
    }
    json_t *transaction = wechat_resource_open(&wechat->keys, notice);
    if (transaction == NULL)
        provider_say(said, WORD_FORGED, "the transaction in it can't be decrypted");
    else
        transaction_read(wechat, transaction, said);
    json_decref(transaction);
}

static void wechat_callback(
    struct provider *provider, const struct provider_callback *callback, struct provider_said *said)
{
    struct wechat *wechat = (struct wechat *)provider;
    const char *wrong =
        wechat_signed_check(&wechat->keys, callback->head, callback->body, callback->now_ms);
    if (wrong != NULL) {
        provider_say(said, WORD_FORGED, "%s", wrong);
        return;
    }
    json_t *notice = provider_json_read(callback->body);
    if (notice == NULL)
        provider_say(said, WORD_FORGED, "the body is not a JSON object");
    else
        notice_read(wechat, notice, said);
    json_decref(notice);
}

const struct provider_ops wechat_provider = {
    .name = "wechat",
    .settings = settings,
    .open = wechat_open,
    .close = wechat_close,
    .ask = wechat_ask,
    .read = wechat_read,
    .callback = wechat_callback,
    .taken = { 200, "application/json", "" },
    .refused = { 401, "application/json", "{\"code\":\"FAIL\",\"message\":\"not accepted\"}" },
    .later = { 500, "application/json", "{\"code\":\"FAIL\",\"message\":\"try again later\"}" },
};
