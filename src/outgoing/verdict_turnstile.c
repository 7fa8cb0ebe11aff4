/* SPDX-License-Identifier: Apache-2.0 */
/* outgoing/verdict_turnstile.c: Cloudflare Turnstile.
 *   POST …/siteverify  secret, response, remoteip as a form  →  {"success":true,"error-codes":[],…}
 * A response is at most 2,048 characters, lives 300 s and can be used once; the service checks that. */
#include "outgoing/verdict.h"

enum { RESPONSE_CHARS_MAX = 2048 };

static bool turnstile_ask(const struct verdict_account *account, struct span response,
    struct span client, struct outgoing_call *call)
{
    if (response.size == 0 || response.size > RESPONSE_CHARS_MAX)
        return false;
    verdict_post(account, call);
    return verdict_field(call, "secret", span_from_string(account->secret))
        && verdict_field(call, "response", response) && verdict_field(call, "remoteip", client);
}

const struct verdict_ops verdict_turnstile = { .name = "turnstile",
    .url = "https://challenges.cloudflare.com/turnstile/v0/siteverify",
    .sources = "https://challenges.cloudflare.com",
    .ask = turnstile_ask,
    .read = verdict_success_read };
