/* SPDX-License-Identifier: Apache-2.0 */
/* outgoing/verdict_hcaptcha.c: hCaptcha.
 *   POST …/siteverify  secret, response, remoteip, sitekey as a form  →  {"success":true,…}
 * With sitekey a response that was made for another site's widget is refused. */
#include "outgoing/verdict.h"

static bool hcaptcha_ask(const struct verdict_account *account, struct span response,
    struct span client, struct outgoing_call *call)
{
    if (response.size == 0)
        return false;
    verdict_post(account, call);
    return verdict_field(call, "secret", span_from_string(account->secret))
        && verdict_field(call, "response", response) && verdict_field(call, "remoteip", client)
        && verdict_field(call, "sitekey", span_from_string(account->site_key));
}

const struct verdict_ops verdict_hcaptcha = { .name = "hcaptcha",
    .url = "https://api.hcaptcha.com/siteverify",
    .sources = "https://hcaptcha.com https://*.hcaptcha.com",
    .ask = hcaptcha_ask,
    .read = verdict_success_read };
