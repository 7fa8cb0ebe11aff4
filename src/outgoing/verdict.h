/* SPDX-License-Identifier: Apache-2.0 */
/* outgoing/verdict.h: services outside that say whether a visitor is a person: Cloudflare Turnstile,
 * hCaptcha, GeeTest. Their widget on the page gives the visitor a response; the server shows that to
 * the service together with a secret and hears yes or no. These functions make the request and read
 * the answer; they call nobody (outgoing/courier.h does) and keep nothing.
 * Thread: any. Memory: none. The secret is in the request's body: wipe it when the answer is there. */
#ifndef STAMPEDE_OUTGOING_VERDICT_H
#define STAMPEDE_OUTGOING_VERDICT_H

#include "base/status.h"
#include "base/text.h"
#include "contract/outgoing.h"

enum { VERDICT_SECRET_MAX = 256, VERDICT_URL_MAX = 1024 };

struct verdict_account {
    const char *site_key; /* public: the widget has it too */
    char secret[VERDICT_SECRET_MAX + 1];
    char url[VERDICT_URL_MAX + 1];
    uint32_t timeout_ms;
};

enum verdict {
    VERDICT_PERSON,
    VERDICT_MACHINE,
    VERDICT_NONE, /* no answer, or one that says nothing of the visitor: a wrong secret, trouble there */
};

struct verdict_ops {
    const char *name;
    const char *url;     /* unless the settings say another */
    const char *sources; /* where the widget's script and frames come from, for the page's policy */
    /* False: the response can't be one of theirs. `client`: the visitor's address. */
    bool (*ask)(const struct verdict_account *account, struct span response, struct span client,
        struct outgoing_call *call);
    enum verdict (*read)(const struct outgoing_call *call, const char *name);
};

extern const struct verdict_ops verdict_turnstile, verdict_hcaptcha, verdict_geetest;
const struct verdict_ops *verdict_find(const char *name); /* NULL: no such service */

/* What they have in common: a form that is posted, and JSON that comes back. */
void verdict_post(const struct verdict_account *account, struct outgoing_call *call);
/* Adds name=value to the body; false: no room. */
bool verdict_field(struct outgoing_call *call, const char *name, struct span value);
/* {"success":…,"error-codes":[…]}, as two of them answer. */
enum verdict verdict_success_read(const struct outgoing_call *call, const char *name);
/* Whether there is an answer to read at all. */
bool verdict_answered(const struct outgoing_call *call, const char *name);

#endif
