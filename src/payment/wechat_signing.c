/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. A request carries in its Authorization header a signature over method, path, time, nonce and
 * body. Answers and callbacks are signed the same way round by the platform: Wechatpay-Timestamp, -Nonce
 * and the raw body, with the key that Wechatpay-Serial names. All four headers are checked, the time to
 * within PROVIDER_FRESH_S, before the body is looked at; an empty 204 is signed too. The body of a
 * callback holds the transaction once more sealed, with AES-256-GCM under the API v3 key. */
#include "payment/wechat_signing.h"

#include "base/random.h"
#include "base/secret_file.h"
#include "base/text.h"
#include "payment/provider_json.h"

#include <stdio.h>

enum {
    NONCE_BYTES = 16,
    SECONDS_DIGITS_MAX = 10,
    NONCE_CHARS_MAX = 64,
};

static const char *platform_open(struct wechat_keys *keys, const struct wechat_key_files *files)
{
    char pem[SIGN_PEM_BYTES_MAX], serial[SIGN_SERIAL_MAX + 1];
    size_t size = 0;
    if (secret_file_read(files->platform, pem, sizeof pem, &size) != STATUS_OK)
        return "platform_file can't be read";
    if (sign_public_load(&keys->theirs, span_of(pem, size), serial) != STATUS_OK)
        return "platform_file is neither an RSA public key nor a certificate in PEM";
    struct span named = span_from_string(files->platform_serial);
    if (named.size == 0)
        named = span_from_string(serial);
    if (named.size == 0 || !provider_name_copy(keys->platform_serial, sizeof keys->platform_serial, named))
        return "platform_serial must be set: the id of the public key, up to 64 characters";
    if (serial[0] != '\0' && !span_equal_ignoring_case(named, span_from_string(serial)))
        return "platform_serial is not that of the certificate in platform_file";
    return NULL;
}

const char *wechat_keys_open(struct wechat_keys *keys, const struct wechat_key_files *files)
{
    char text[SIGN_PEM_BYTES_MAX];
    size_t size = 0;
    const char *wrong = provider_private_key(files->private_key, &keys->ours);
    if (wrong != NULL)
        return wrong;
    const enum status status = secret_file_read(files->api_key, text, sizeof text, &size);
    if (status == STATUS_OK && size == sizeof keys->api_key)
        memcpy(keys->api_key, text, sizeof keys->api_key);
    explicit_bzero(text, sizeof text);
    if (status != STATUS_OK)
        return "api_v3_key_file can't be read";
    if (size != sizeof keys->api_key)
        return "api_v3_key_file must have exactly 32 bytes";
    return platform_open(keys, files);
}

void wechat_keys_close(struct wechat_keys *keys)
{
    sign_key_free(keys->ours);
    sign_key_free(keys->theirs);
    explicit_bzero(keys, sizeof *keys);
}

void wechat_request_sign(struct wechat_keys *keys, struct outgoing_call *call, struct span path,
    struct span body, uint64_t now_ms)
{
    uint8_t random[NONCE_BYTES];
    char nonce[2 * NONCE_BYTES], signature[SIGN_TEXT_MAX];
    struct text hex = text_in(nonce, sizeof nonce), plain = text_in(keys->plain, sizeof keys->plain);
    random_secret(random, sizeof random);
    text_hex(&hex, span_of(random, sizeof random));
    const unsigned long long now_s = (unsigned long long)(now_ms / 1000);
    text_format(&plain, "%s\n%.*s\n%llu\n%.*s\n", call->method, (int)path.size, path.data, now_s,
        (int)sizeof nonce, nonce);
    text_add(&plain, body);
    text_literal(&plain, "\n");
    invariant(!plain.overflow); /* body and path have less room than this */
    const size_t size = sign_make(keys->ours, text_span(&plain), signature);
    struct text headers = text_in(call->headers, sizeof call->headers);
    text_format(&headers,
        "Authorization: WECHATPAY2-SHA256-RSA2048 "
        "mchid=\"%s\",nonce_str=\"%.*s\",timestamp=\"%llu\","
        "serial_no=\"%s\",signature=\"",
        keys->mchid, (int)sizeof nonce, nonce, now_s, keys->serial);
    text_add(&headers, span_of(signature, size));
    text_format(&headers,
        "\"\nAccept: application/json\nContent-Type: application/json\nUser-Agent: Stampede\n"
        "Wechatpay-Serial: %s\n",
        keys->platform_serial);
    text_add(&headers, span_of("", 1));
    invariant(!headers.overflow);
}

const char *wechat_signed_check(
    struct wechat_keys *keys, struct span head, struct span body, uint64_t now_ms)
{
    const struct span time = provider_header(head, "Wechatpay-Timestamp");
    const struct span nonce = provider_header(head, "Wechatpay-Nonce");
    const struct span serial = provider_header(head, "Wechatpay-Serial");
    const struct span signature = provider_header(head, "Wechatpay-Signature");
    uint64_t sent_s = 0;
    if (time.size > SECONDS_DIGITS_MAX || span_to_u64(time, &sent_s) != STATUS_OK || nonce.size == 0
        || nonce.size > NONCE_CHARS_MAX || signature.size == 0)
        return "not signed";
    if (!span_equal(serial, span_of(keys->platform_serial, strlen(keys->platform_serial))))
        return "signed with another key of the platform";
    struct text plain = text_in(keys->plain, sizeof keys->plain);
    text_add(&plain, time);
    text_literal(&plain, "\n");
    text_add(&plain, nonce);
    text_literal(&plain, "\n");
    text_add(&plain, body);
    text_literal(&plain, "\n");
    if (plain.overflow || !sign_holds(keys->theirs, text_span(&plain), signature))
        return "not signed by WeChat Pay";
    if (!provider_fresh(sent_s, now_ms, PROVIDER_FRESH_S, PROVIDER_FRESH_S))
        return "its time is too old or in the future";
    return NULL;
}

json_t *wechat_resource_open(struct wechat_keys *keys, const json_t *notice)
{
    const json_t *resource = json_object_get(notice, "resource");
    const struct span ciphertext = provider_json_text(resource, "ciphertext");
    const struct span nonce = provider_json_text(resource, "nonce");
    const struct span associated = provider_json_text(resource, "associated_data");
    size_t size = sizeof keys->sealed, opened = sizeof keys->opened;
    if (!provider_json_is(resource, "algorithm", "AEAD_AES_256_GCM")
        || base64_standard_decode(ciphertext, keys->sealed, &size) != STATUS_OK)
        return NULL;
    const struct span sealed = span_of(keys->sealed, size);
    if (sign_unseal(keys->api_key, nonce, associated, sealed, keys->opened, &opened) != STATUS_OK)
        return NULL;
    return provider_json_read(span_of(keys->opened, opened));
}
