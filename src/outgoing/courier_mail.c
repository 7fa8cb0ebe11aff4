/* SPDX-License-Identifier: Apache-2.0 */
#include "outgoing/courier_mail.h"

#include <string.h>

static size_t text_give(char *out, size_t one, size_t room, void *context)
{
    struct courier_mail *mail = context;
    const size_t left = mail->call->body_size - mail->sent;
    const size_t bytes = left < one * room ? left : one * room;
    memcpy(out, mail->call->body + mail->sent, bytes);
    mail->sent += (uint32_t)bytes;
    return bytes;
}

bool courier_mail_set(CURL *easy, struct courier_mail *mail, const struct outgoing_call *call)
{
    *mail = (struct courier_mail){ .call = call, .recipients = curl_slist_append(NULL, call->mail_to) };
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    curl_easy_setopt(
        easy, CURLOPT_USE_SSL, call->tls_required ? (long)CURLUSESSL_ALL : (long)CURLUSESSL_TRY);
    curl_easy_setopt(easy, CURLOPT_MAIL_FROM, call->mail_from);
    curl_easy_setopt(easy, CURLOPT_MAIL_RCPT, mail->recipients);
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, text_give);
    curl_easy_setopt(easy, CURLOPT_READDATA, mail);
    if (call->login != NULL) {
        curl_easy_setopt(easy, CURLOPT_USERNAME, call->login->user);
        curl_easy_setopt(easy, CURLOPT_PASSWORD, call->login->password);
    }
    return mail->recipients != NULL;
}

void courier_mail_end(struct courier_mail *mail)
{
    curl_slist_free_all(mail->recipients); /* accepts NULL */
    *mail = (struct courier_mail){ 0 };
}
