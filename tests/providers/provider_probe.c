/* SPDX-License-Identifier: Apache-2.0 */
/* tests/providers/provider_probe.c: drives one payment provider by lines of JSON, so that a test can stand
 * between it and the network. Each line is a command, each is answered by one line.
 *
 *   {"do":"open", "provider":N, "settings":{…}}                     {"ok":true} or {"error":…}
 *   {"do":"ask", task}                                              {"send":true, method, url, headers, body}
 *                                                                   or {"send":false, said}
 *   {"do":"read", task, "failed":B, "status":N, "head", "reply"}    said
 *   {"do":"callback", "head", "query", "body", "now_ms"}            said
 *   {"do":"receipts"}                                               {"taken", "refused", "later"}
 * task: act, reference, amount, captured, currency, refund_key, refund_amount, title, notify_url,
 * return_url, now_ms, expires_ms. head, query, reply and body are base64: they may be any bytes.
 * said: word, reference, provider_id, url, amount, currency, error. */
#include "base/base64.h"
#include "payment/provider.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE_MAX_BYTES = 512 * 1024, HEAD_MAX = 16 * 1024, BODY_MAX = 128 * 1024 };

static const char *const act_names[PROVIDER_ACTS] = { "create", "query", "close", "refund",
    "refund_query" };
static const char *const word_names[] = { "open", "captured", "closed", "unknown", "refunded",
    "refund_pending", "refused", "again", "forged" };

struct probe {
    struct provider *provider;
    struct payment payment;
    struct refund refund;
    struct provider_task task;
    struct outgoing_call call;
    struct provider_said said;
    char line[LINE_MAX_BYTES], head[HEAD_MAX], query[HEAD_MAX], body[BODY_MAX];
};

static const char *text_of(const json_t *json, const char *name)
{
    const char *text = json_string_value(json_object_get(json, name));
    return text == NULL ? "" : text;
}

static uint64_t number_of(const json_t *json, const char *name)
{
    return (uint64_t)json_integer_value(json_object_get(json, name));
}

static struct span bytes_of(const json_t *json, const char *name, char *out, size_t capacity)
{
    size_t size = capacity;
    invariant(base64_standard_decode(span_from_string(text_of(json, name)), out, &size) == STATUS_OK);
    return span_of(out, size);
}

static void answer(json_t *json)
{
    json_dumpf(json, stdout, JSON_COMPACT);
    putchar('\n');
    fflush(stdout);
    json_decref(json);
}

static json_t *said_json(const struct provider_said *said)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:s, s:s}", "word", word_names[said->word],
        "reference", said->reference, "provider_id", said->provider_id, "url", said->url, "amount",
        (json_int_t)said->amount, "currency", said->currency, "error", said->error);
}

static void probe_open(struct probe *probe, const json_t *command)
{
    const char *values[PROVIDER_SETTINGS_MAX] = { NULL };
    char error[PROVIDER_ERROR] = "no such provider";
    const struct provider_ops *ops = provider_find(text_of(command, "provider"));
    const json_t *given = json_object_get(command, "settings");
    if (probe->provider != NULL)
        probe->provider->ops->close(probe->provider);
    probe->provider = NULL;
    for (size_t i = 0; ops != NULL && ops->settings[i].name != NULL; i++) {
        const char *value = json_string_value(json_object_get(given, ops->settings[i].name));
        values[i] = value != NULL ? value : ops->settings[i].standard;
        if (values[i] == NULL) {
            answer(json_pack("{s:s, s:s}", "error", "not set", "setting", ops->settings[i].name));
            return;
        }
    }
    if (ops == NULL || ops->open(&probe->provider, values, error) != STATUS_OK)
        answer(json_pack("{s:s}", "error", error));
    else
        answer(json_pack("{s:b}", "ok", 1));
}

static void task_read(struct probe *probe, const json_t *command)
{
    probe->payment = (struct payment){ .amount = number_of(command, "amount"),
        .captured = number_of(command, "captured") };
    probe->refund = (struct refund){ .amount = number_of(command, "refund_amount") };
    snprintf(probe->payment.reference, sizeof probe->payment.reference, "%s",
        text_of(command, "reference"));
    snprintf(probe->payment.currency, sizeof probe->payment.currency, "%s", text_of(command, "currency"));
    snprintf(probe->refund.key, sizeof probe->refund.key, "%s", text_of(command, "refund_key"));
    probe->task = (struct provider_task){ .payment = &probe->payment,
        .refund = &probe->refund,
        .title = text_of(command, "title"),
        .notify_url = text_of(command, "notify_url"),
        .return_url = text_of(command, "return_url"),
        .now_ms = number_of(command, "now_ms"),
        .expires_ms = number_of(command, "expires_ms") };
    while (probe->task.act < PROVIDER_ACTS
        && strcmp(act_names[probe->task.act], text_of(command, "act")) != 0)
        probe->task.act++;
    invariant(probe->task.act < PROVIDER_ACTS);
}

static void probe_ask(struct probe *probe)
{
    struct outgoing_call *call = &probe->call;
    memset(call, 0, sizeof *call);
    if (!probe->provider->ops->ask(probe->provider, &probe->task, call, &probe->said)) {
        answer(json_pack("{s:b, s:o}", "send", 0, "said", said_json(&probe->said)));
        return;
    }
    answer(json_pack("{s:b, s:s, s:s, s:s, s:s%, s:b}", "send", 1, "method", call->method, "url",
        call->url, "headers", call->headers, "body", call->body, (size_t)call->body_size,
        "allow_private", (int)call->allow_private));
}

static void probe_read(struct probe *probe, const json_t *command)
{
    struct outgoing_call *call = &probe->call;
    memset(call, 0, sizeof *call);
    const struct span head = bytes_of(command, "head", call->reply_headers, sizeof call->reply_headers);
    const struct span reply = bytes_of(command, "reply", call->reply, OUTGOING_REPLY_MAX);
    call->reply_headers_size = (uint32_t)head.size;
    call->reply_size = (uint32_t)reply.size;
    call->reply[reply.size] = '\0';
    call->result = json_is_true(json_object_get(command, "failed")) ? OUTGOING_FAILED : OUTGOING_ANSWERED;
    call->status = (int)number_of(command, "status");
    probe->provider->ops->read(probe->provider, &probe->task, call, &probe->said);
    answer(said_json(&probe->said));
}

static void probe_callback(struct probe *probe, const json_t *command)
{
    const struct provider_callback callback = {
        .head = bytes_of(command, "head", probe->head, sizeof probe->head),
        .query = bytes_of(command, "query", probe->query, sizeof probe->query),
        .body = bytes_of(command, "body", probe->body, sizeof probe->body),
        .now_ms = number_of(command, "now_ms"),
    };
    probe->provider->ops->callback(probe->provider, &callback, &probe->said);
    answer(said_json(&probe->said));
}

static json_t *receipt_json(const struct provider_receipt *receipt)
{
    return json_pack(
        "{s:i, s:s, s:s}", "status", receipt->status, "type", receipt->type, "body", receipt->body);
}

static void command_do(struct probe *probe, const json_t *command)
{
    const char *what = text_of(command, "do");
    if (strcmp(what, "open") == 0) {
        probe_open(probe, command);
        return;
    }
    invariant(probe->provider != NULL);
    if (strcmp(what, "callback") == 0) {
        probe_callback(probe, command);
    } else if (strcmp(what, "receipts") == 0) {
        const struct provider_ops *ops = probe->provider->ops;
        answer(json_pack("{s:o, s:o, s:o}", "taken", receipt_json(&ops->taken), "refused",
            receipt_json(&ops->refused), "later", receipt_json(&ops->later)));
    } else {
        task_read(probe, command);
        if (strcmp(what, "ask") == 0)
            probe_ask(probe);
        else
            probe_read(probe, command);
    }
}

int main(void)
{
    struct probe *probe = calloc(1, sizeof *probe);
    if (probe == NULL)
        return 1;
    while (fgets(probe->line, sizeof probe->line, stdin) != NULL) {
        json_t *command = json_loads(probe->line, JSON_REJECT_DUPLICATES, NULL);
        if (!json_is_object(command))
            return 2;
        command_do(probe, command);
        json_decref(command);
    }
    if (probe->provider != NULL)
        probe->provider->ops->close(probe->provider);
    free(probe);
    return 0;
}
