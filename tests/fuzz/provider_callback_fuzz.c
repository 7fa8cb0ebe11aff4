/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fuzz/provider_callback_fuzz.c: what a stranger can send to a payment provider, and what the
 * platform could. The first byte picks provider and way. As it comes, an input is never believed: keys
 * are made anew for each run. Signed by us for the platform, it may be, and then must keep the rules.
 *
 *   0  Alipay callback, body as it comes        4  WeChat callback, head NUL body as they come
 *   1  Alipay answer as it comes                5  WeChat answer, head NUL body as they come
 *   2  Alipay callback, parameters to sign      6  WeChat callback, a transaction to seal and sign
 *   3  Alipay answer, an object to sign         7  WeChat answer, a body to sign */
#include "payment/form.h"
#include "tests/support/provider_keys.h"

#define NOW_MS (UINT64_C(1700000000) * 1000)
enum { INPUT_MAX = 8192, ROOM = 64 * 1024, NOW_S = 1700000000, WAYS = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct provider_keys keys;
static struct provider *alipay, *wechat;
static struct outgoing_call call;
static char head_room[ROOM], body_room[ROOM], plain_room[ROOM];

static void once(void)
{
    if (alipay != NULL)
        return;
    provider_keys_make(&keys);
    alipay = provider_keys_open(&keys, "alipay", "precreate");
    wechat = provider_keys_open(&keys, "wechat", "native");
    provider_keys_files_remove(&keys);
}

static void said_check(const struct provider_said *said, bool ours)
{
    invariant(ours || said->word == WORD_FORGED || said->word == WORD_AGAIN);
    if (said->word == WORD_FORGED)
        invariant(said->amount == 0 && said->reference[0] == '\0' && said->url[0] == '\0');
    if (said->word == WORD_CAPTURED)
        invariant(said->reference[0] != '\0' && strlen(said->currency) <= 3);
    for (const char *at = said->reference; *at != '\0'; at++)
        invariant(*at > ' ' && *at <= '~');
    for (const char *at = said->url; *at != '\0'; at++)
        invariant(*at > ' ' && *at <= '~');
}

static void callback_try(struct provider *provider, struct span head, struct span body, bool ours)
{
    const struct provider_callback callback = { .head = head, .body = body, .now_ms = NOW_MS };
    struct provider_said said;
    provider->ops->callback(provider, &callback, &said);
    said_check(&said, ours);
}

static void answer_try(struct provider *provider, struct span head, struct span body, bool ours)
{
    static const struct payment payment = {
        .reference = "0123456789abcdef-1", .amount = 100, .currency = "CNY"
    };
    static const struct refund refund = { .key = "0123456789abcdef-r1", .amount = 100, .currency = "CNY" };
    struct provider_said said;
    if (head.size > sizeof call.reply_headers || body.size > OUTGOING_REPLY_MAX)
        return;
    call.result = OUTGOING_ANSWERED;
    call.status = 200;
    if (head.size > 0)
        memcpy(call.reply_headers, head.data, head.size);
    if (body.size > 0)
        memcpy(call.reply, body.data, body.size);
    call.reply[body.size] = '\0';
    call.reply_headers_size = (uint32_t)head.size;
    call.reply_size = (uint32_t)body.size;
    for (unsigned act = 0; act < PROVIDER_ACTS; act++) {
        const struct provider_task task = {
            .act = (enum provider_act)act, .payment = &payment, .refund = &refund, .now_ms = NOW_MS
        };
        provider->ops->read(provider, &task, &call, &said);
        said_check(&said, ours);
    }
}

/* The input is a form; sign what it holds, in order, and send it with that. */
static void alipay_callback_signed(struct span input)
{
    struct form form;
    struct text plain = text_in(plain_room, sizeof plain_room),
                body = text_in(body_room, sizeof body_room);
    char signature[SIGN_TEXT_MAX];
    struct text sign = text_in(signature, sizeof signature);
    if (form_read(&form, input, head_room, sizeof head_room) != STATUS_OK)
        return;
    form_drop(&form, "sign");
    form_drop(&form, "sign_type");
    form_sort(&form);
    form_write_plain(&form, &plain);
    provider_keys_sign(&keys, text_span(&plain), &sign);
    form_write(&form, &body);
    text_literal(&body, "&sign_type=RSA2&sign=");
    form_encode(&body, text_span(&sign));
    if (form.count > 0 && !body.overflow)
        callback_try(alipay, SPAN_NONE, text_span(&body), true);
}

static void alipay_answer_signed(struct span input)
{
    static const char *const names[] = { "precreate", "query", "close", "refund", "fastpay_refund_query" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct text body = text_in(body_room, sizeof body_room);
        text_format(&body, "{\"alipay_trade_%s_response\":", names[i]);
        text_add(&body, input);
        text_literal(&body, ",\"sign\":\"");
        provider_keys_sign(&keys, input, &body);
        text_literal(&body, "\"}");
        answer_try(alipay, SPAN_NONE, text_span(&body), true);
    }
}

static void wechat_callback_signed(struct span input)
{
    struct text head = text_in(head_room, sizeof head_room), body = text_in(body_room, sizeof body_room);
    text_literal(&body,
        "{\"event_type\":\"TRANSACTION.SUCCESS\",\"resource\":{\"algorithm\":\"AEAD_AES_256_GCM\","
        "\"nonce\":\"0123456789ab\",\"associated_data\":\"a\",\"ciphertext\":\"");
    provider_keys_seal(&keys, SPAN("0123456789ab"), SPAN("a"), input, &body);
    text_literal(&body, "\"}}");
    provider_keys_head(&keys, NOW_S, "nonce", text_span(&body), &head);
    callback_try(wechat, text_span(&head), text_span(&body), true);
}

static void wechat_answer_signed(struct span input)
{
    struct text head = text_in(head_room, sizeof head_room);
    provider_keys_head(&keys, NOW_S, "nonce", input, &head);
    answer_try(wechat, text_span(&head), input, true);
    callback_try(wechat, text_span(&head), input, true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > INPUT_MAX)
        return 0;
    once();
    const struct span input = span_of(data + 1, size - 1);
    const uint8_t *nul = input.size > 0 ? memchr(input.data, 0, input.size) : NULL;
    const size_t head_size = nul == NULL ? 0 : (size_t)(nul - (const uint8_t *)input.data);
    const struct span head = span_of(input.data, head_size);
    const struct span body =
        nul == NULL ? input : span_of(input.data + head_size + 1, input.size - head_size - 1);
    switch (data[0] % WAYS) {
    case 0:
        callback_try(alipay, SPAN_NONE, input, false);
        break;
    case 1:
        answer_try(alipay, SPAN_NONE, input, false);
        break;
    case 2:
        alipay_callback_signed(input);
        break;
    case 3:
        alipay_answer_signed(input);
        break;
    case 4:
        callback_try(wechat, head, body, false);
        break;
    case 5:
        answer_try(wechat, head, body, false);
        break;
    case 6:
        wechat_callback_signed(input);
        break;
    default:
        wechat_answer_signed(input);
        break;
    }
    return 0;
}
