/* SPDX-License-Identifier: Apache-2.0 */
/* outgoing/courier_mail.h: a mail as libcurl sends it; a part of the courier (outgoing/courier.c).
 * Thread: the courier's. */
#ifndef STAMPEDE_OUTGOING_COURIER_MAIL_H
#define STAMPEDE_OUTGOING_COURIER_MAIL_H

#include "contract/outgoing.h"

#include <curl/curl.h>

/* Of one flight; all zero: none. */
struct courier_mail {
    const struct outgoing_call *call;
    struct curl_slist *recipients;
    uint32_t sent; /* bytes that libcurl has taken */
};

/* False: there is no memory. */
bool courier_mail_set(CURL *easy, struct courier_mail *mail, const struct outgoing_call *call);
void courier_mail_end(struct courier_mail *mail);

#endif
