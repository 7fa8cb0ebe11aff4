/* SPDX-License-Identifier: Apache-2.0 */
#include "outgoing/verdict.h"

#include "base/log.h"

#include <jansson.h>
#include <stdio.h>

static const struct verdict_ops *const all[] = { &verdict_turnstile, &verdict_hcaptcha, &verdict_geetest };

const struct verdict_ops *verdict_find(const char *name)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return NULL;
}

void verdict_post(const struct verdict_account *account, struct outgoing_call *call)
{
    snprintf(call->method, sizeof call->method, "POST");
    snprintf(call->url, sizeof call->url, "%s", account->url);
    const bool added =
        outgoing_header_add(call, "Content-Type", SPAN("application/x-www-form-urlencoded"));
    invariant(added);
    call->timeout_ms = account->timeout_ms;
    call->allow_private = true; /* the address comes from the operator, not from outside */
    call->body_size = 0;
}

static bool plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-'
        || c == '_' || c == '.' || c == '~';
}

bool verdict_field(struct outgoing_call *call, const char *name, struct span value)
{
    struct text body = text_in(call->body + call->body_size, sizeof call->body - call->body_size);
    text_string(&body, call->body_size > 0 ? "&" : "");
    text_string(&body, name);
    text_literal(&body, "=");
    for (size_t i = 0; i < value.size; i++) {
        if (plain(value.data[i]))
            text_add(&body, span_of(value.data + i, 1));
        else
            text_format(&body, "%%%02X", (unsigned)(unsigned char)value.data[i]);
    }
    if (body.overflow)
        return false;
    call->body_size += (uint32_t)body.size;
    return true;
}

bool verdict_answered(const struct outgoing_call *call, const char *name)
{
    enum { TOO_MANY_REQUESTS = 429, SERVER_TROUBLE = 500 };
    if (call->result != OUTGOING_ANSWERED) {
        log_warn("human", "%s does not answer: %s", name, call->error);
        return false;
    }
    if (call->status == TOO_MANY_REQUESTS || call->status >= SERVER_TROUBLE) {
        log_warn("human", "%s answers %d", name, call->status);
        return false;
    }
    return true;
}

/* Codes that speak of us or of the service, not of the visitor. */
static bool code_is_ours(const char *code)
{
    static const char *const ours[] = { "missing-input-secret", "invalid-input-secret",
        "internal-error", "bad-request", "sitekey-secret-mismatch", "not-using-dummy-passcode" };
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strcmp(ours[i], code) == 0)
            return true;
    return false;
}

enum verdict verdict_success_read(const struct outgoing_call *call, const char *name)
{
    if (!verdict_answered(call, name))
        return VERDICT_NONE;
    json_t *answer = json_loadb(call->reply, call->reply_size, JSON_REJECT_DUPLICATES, NULL);
    const json_t *success = json_object_get(answer, "success"); /* NULL of what is no object */
    const json_t *codes = json_object_get(answer, "error-codes");
    enum verdict verdict = json_is_true(success) ? VERDICT_PERSON
        : json_is_false(success)                 ? VERDICT_MACHINE
                                                 : VERDICT_NONE;
    if (verdict == VERDICT_NONE)
        log_warn("human", "%s answers %d with something that is not a verdict", name, call->status);
    for (size_t i = 0; verdict == VERDICT_MACHINE && i < json_array_size(codes); i++) {
        const char *code = json_string_value(json_array_get(codes, i));
        if (code != NULL && code_is_ours(code)) {
            log_warn("human", "%s refuses the request: %s; see human.outside_secret_file", name, code);
            verdict = VERDICT_NONE;
        }
    }
    json_decref(answer);
    return verdict;
}
