/* SPDX-License-Identifier: Apache-2.0 */
#include "orders/provider_news.h"

#include <stdio.h>
#include <string.h>

/* 0: not told. The same name at two providers is two payers. */
static uint64_t payer_hash(struct hash_key key, const char *provider, const char *payer)
{
    char name[PROVIDER_NAME_MAX + 1 + PAYER_BYTES_MAX + 1];
    if (payer[0] == '\0')
        return 0;
    const int bytes = snprintf(name, sizeof name, "%s %s", provider, payer);
    const uint64_t hash = hash_siphash(key, name, (size_t)bytes);
    explicit_bzero(name, sizeof name);
    return hash == 0 ? 1 : hash;
}

struct payment_news provider_news(struct hash_key payer_key, const char *provider,
    const struct provider_said *said, uint64_t now_ms)
{
    struct payment_news news = { .kind = said->word == WORD_CAPTURED ? NEWS_CAPTURED : NEWS_CLOSED,
        .amount = said->amount,
        .payer = payer_hash(payer_key, provider, said->payer),
        .now_ms = now_ms };
    snprintf(news.provider, sizeof news.provider, "%s", provider);
    snprintf(news.reference, sizeof news.reference, "%s", said->reference);
    snprintf(news.provider_id, sizeof news.provider_id, "%s", said->provider_id);
    snprintf(news.currency, sizeof news.currency, "%s", said->currency);
    return news;
}
