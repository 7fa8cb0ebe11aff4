/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/limits_news.h"

#include "base/metrics.h"
#include "funnel/limits_uses.h"

enum { USE_BYTES_MAX = 2 + 17 + 21 }; /* of one use in a message */

COUNTER(told_metric, "stampede_limits_told_total",
    "Uses of addresses, items and admission that this gateway has told the others.");
COUNTER(heard_metric, "stampede_limits_heard_total",
    "Uses of addresses, items and admission that other gateways have told this one.");

static const char layer_words[LIMITS_LAYERS] = {
    [LIMITS_ADDRESS] = 'a', [LIMITS_ITEM] = 'i', [LIMITS_ADMISSION] = 'd'
};

uint32_t limits_news_gateways(const struct limits_news *news, uint64_t now_ms)
{
    uint32_t count = 1;
    for (uint32_t i = 0; i < NEWS_PEERS_MAX; i++)
        count += news->peers[i].process != 0 && news->peers[i].heard_ms + NEWS_GONE_MS > now_ms;
    return count;
}

static void use_write(struct text *message, const struct limits_use *use)
{
    text_format(message, "%s%c ", message->size == 0 ? "" : " ", layer_words[use->layer]);
    if (use->layer == LIMITS_ADDRESS)
        text_hex64(message, use->name);
    else
        text_u64(message, use->name);
    text_literal(message, " ");
    text_u64(message, use->amount);
    metric_add(&told_metric, 1);
}

bool limits_news_write(struct limits_news *news, uint64_t now_ms, struct text *message)
{
    const uint32_t gateways = limits_news_gateways(news, now_ms);
    struct uses_look look;
    struct limits_use use;
    uses_look_begin(news->limits, &look, now_ms);
    while (message->capacity - message->size > USE_BYTES_MAX
        && uses_look_next(news->limits, &look, gateways, &use))
        use_write(message, &use);
    if (message->size == 0 && now_ms < news->told_ms + NEWS_ALIVE_MS)
        return false;
    news->told_ms = now_ms;
    return true;
}

static void peer_note(struct limits_news *news, uint64_t process, uint64_t now_ms)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < NEWS_PEERS_MAX; i++) {
        if (news->peers[i].process == process) {
            at = i;
            break;
        }
        if (news->peers[i].heard_ms < news->peers[at].heard_ms)
            at = i;
    }
    news->peers[at].process = process;
    news->peers[at].heard_ms = now_ms;
}

static bool use_read(struct span *message, struct limits_use *use)
{
    struct span word = SPAN_NONE, name = SPAN_NONE, amount = SPAN_NONE;
    if (!span_take_until(message, ' ', &word) || !span_take_until(message, ' ', &name)
        || !span_take_until(message, ' ', &amount) || word.size != 1)
        return false;
    for (unsigned layer = 0; layer < LIMITS_LAYERS; layer++) {
        if (word.data[0] != layer_words[layer])
            continue;
        use->layer = (enum limits_layer)layer;
        const enum status read = layer == LIMITS_ADDRESS ? span_to_hex64(name, &use->name)
                                                         : span_to_u64(name, &use->name);
        return read == STATUS_OK && span_to_u64(amount, &use->amount) == STATUS_OK;
    }
    return false;
}

void limits_news_heard(struct limits_news *news, uint64_t process, struct span message, uint64_t now_ms)
{
    struct limits_use use = { 0 };
    peer_note(news, process, now_ms);
    while (use_read(&message, &use)) {
        limits_charge(news->limits, &use, now_ms);
        metric_add(&heard_metric, 1);
    }
}
