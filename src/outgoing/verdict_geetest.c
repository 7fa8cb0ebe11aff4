/* SPDX-License-Identifier: Apache-2.0 */
/* outgoing/verdict_geetest.c: GeeTest, version 4.
 *   POST …/validate?captcha_id=…  lot_number, captcha_output, pass_token, gen_time, sign_token as a form
 *   →  {"status":"success","result":"success"|"fail","reason":…}
 * sign_token: hex HMAC-SHA256 of lot_number under the captcha key, which itself is never sent.
 * The widget gives four values; they come here as one text, joined by "|" in the order above. */
#include "base/hash.h"
#include "base/log.h"
#include "outgoing/verdict.h"

#include <assert.h>
#include <jansson.h>

enum { VALUES = 4 };

static bool values_split(struct span response, struct span values[VALUES])
{
    for (int i = 0; i < VALUES; i++) {
        values[i] = SPAN_NONE;
        if (!span_take_until(&response, '|', &values[i]) || values[i].size == 0)
            return false;
    }
    return response.size == 0;
}

static bool geetest_ask(const struct verdict_account *account, struct span response,
    struct span client, struct outgoing_call *call)
{
    static const char *const names[] = { "lot_number", "captcha_output", "pass_token", "gen_time" };
    static_assert(sizeof names / sizeof *names == VALUES, "a name for each");
    struct span values[VALUES];
    uint8_t mac[HASH_SHA256_BYTES];
    char hex[2 * HASH_SHA256_BYTES];
    (void)client; /* the protocol has no place for it */
    if (!values_split(response, values))
        return false;
    verdict_post(account, call);
    /* As a field, so that the key is escaped, then appended to the address. */
    if (!verdict_field(call, "captcha_id", span_from_string(account->site_key)))
        return false;
    const size_t used = strlen(call->url);
    struct text url = text_in(call->url + used, sizeof call->url - used - 1);
    text_literal(&url, "?");
    text_add(&url, span_of(call->body, call->body_size));
    call->url[used + url.size] = '\0';
    call->body_size = 0;
    hash_hmac_sha256(account->secret, strlen(account->secret), values[0].data, values[0].size, mac);
    struct text sign = text_in(hex, sizeof hex);
    text_hex(&sign, span_of(mac, sizeof mac));
    bool fits = !url.overflow;
    for (int i = 0; i < VALUES; i++)
        fits = fits && verdict_field(call, names[i], values[i]);
    return fits && verdict_field(call, "sign_token", text_span(&sign));
}

static bool member_is(const json_t *answer, const char *name, const char *wanted)
{
    const char *value = json_string_value(json_object_get(answer, name));
    return value != NULL && strcmp(value, wanted) == 0;
}

static enum verdict geetest_read(const struct outgoing_call *call, const char *name)
{
    enum verdict verdict = VERDICT_NONE;
    if (!verdict_answered(call, name))
        return VERDICT_NONE;
    json_t *answer = json_loadb(call->reply, call->reply_size, JSON_REJECT_DUPLICATES, NULL);
    if (member_is(answer, "status", "success") && member_is(answer, "result", "success"))
        verdict = VERDICT_PERSON;
    else if (member_is(answer, "status", "success") && member_is(answer, "result", "fail"))
        verdict = VERDICT_MACHINE;
    else
        log_warn("human", "%s answers %d with something that is not a verdict; see human.outside_site_key",
            name, call->status);
    json_decref(answer);
    return verdict;
}

const struct verdict_ops verdict_geetest = { .name = "geetest",
    .url = "https://gcaptcha4.geetest.com/validate",
    .sources = "https://*.geetest.com https://*.geevisit.com",
    .ask = geetest_ask,
    .read = geetest_read };
