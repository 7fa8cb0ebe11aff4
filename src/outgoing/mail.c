/* SPDX-License-Identifier: Apache-2.0 */
#include "outgoing/mail.h"

#include "base/base64.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { BASE64_LINE = 57 }; /* bytes that make a line of 76 characters */

static struct span host_of(const char *url)
{
    const char *start = strstr(url, "://");
    start = start == NULL ? url : start + 3;
    const char *end = start + strlen(start);
    if (*start == '[') { /* an address of IPv6 */
        start++;
        const char *close = strchr(start, ']');
        return span_of(start, (size_t)((close == NULL ? end : close) - start));
    }
    const char *colon = strchr(start, ':');
    return span_of(start, (size_t)((colon == NULL ? end : colon) - start));
}

bool mail_url_is_good(const char *url)
{
    const bool plain = strncmp(url, "smtp://", 7) == 0, safe = strncmp(url, "smtps://", 8) == 0;
    const char *rest = url + (plain ? 7 : 8);
    return (plain || safe) && host_of(url).size > 0 && strpbrk(rest, "/@?# \t\"\\") == NULL;
}

bool mail_host_is_local(const char *url)
{
    const struct span host = host_of(url);
    return span_equal(host, SPAN("localhost")) || span_equal(host, SPAN("::1"))
        || span_starts_with(host, SPAN("127."));
}

/* ---- the message ---- */

static void header_words(struct text *out, const char *name, const char *value)
{
    char word[80];
    const size_t size = strlen(value);
    text_string(out, name);
    text_literal(out, ":");
    for (size_t at = 0; at < size;) { /* encoded words of 42 bytes at most, and no character is cut */
        size_t bytes = size - at < 42 ? size - at : 42;
        while (at + bytes < size && ((unsigned char)value[at + bytes] & 0xc0) == 0x80)
            bytes--;
        const size_t chars = base64_standard_encode(value + at, bytes, word);
        text_literal(out, " =?UTF-8?B?");
        text_add(out, span_of(word, chars));
        text_literal(out, "?=");
        at += bytes;
        if (at < size)
            text_literal(out, "\r\n");
    }
    text_literal(out, "\r\n");
}

static void body_lines(struct text *out, struct span body)
{
    char line[BASE64_LINE * 4 / 3 + 8];
    for (size_t at = 0; at < body.size; at += BASE64_LINE) {
        const size_t bytes = body.size - at < BASE64_LINE ? body.size - at : BASE64_LINE;
        const size_t chars = base64_standard_encode(body.data + at, bytes, line);
        text_add(out, span_of(line, chars));
        text_literal(out, "\r\n");
    }
}

static void date_header(struct text *out, uint64_t now_ms)
{
    static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const time_t seconds = (time_t)(now_ms / 1000);
    struct tm time;
    invariant(gmtime_r(&seconds, &time) != NULL);
    text_format(out, "Date: %.3s, %02d %.3s %04d %02d:%02d:%02d +0000\r\n", days + 3 * time.tm_wday,
        time.tm_mday, months + 3 * time.tm_mon, time.tm_year + 1900, time.tm_hour, time.tm_min,
        time.tm_sec);
}

enum status mail_request(const struct mail_server *server, const struct mail_message *message,
    struct outgoing_call *call)
{
    const char *at = strchr(server->from, '@');
    struct text body = text_in(call->body, sizeof call->body);
    snprintf(call->method, sizeof call->method, "SMTP");
    snprintf(call->url, sizeof call->url, "%s", server->url);
    snprintf(call->mail_from, sizeof call->mail_from, "%s", server->from);
    snprintf(call->mail_to, sizeof call->mail_to, "%s", message->to);
    call->login = server->login.user[0] != '\0' ? &server->login : NULL;
    call->tls_required = !mail_host_is_local(server->url);
    call->allow_private = true; /* a mail server of one's own, named by the operator */
    call->timeout_ms = MAIL_TIMEOUT_MS;
    date_header(&body, message->now_ms);
    text_format(&body, "From: <%s>\r\nTo: <%s>\r\nMessage-ID: <%s@%s>\r\n", server->from,
        message->to, message->id, at == NULL ? "localhost" : at + 1);
    header_words(&body, "Subject", message->subject);
    text_literal(&body,
        "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
        "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n");
    body_lines(&body, message->text);
    call->body_size = (uint32_t)body.size;
    return body.overflow ? STATUS_FULL : STATUS_OK;
}

/* ---- answers ---- */

enum mail_verdict mail_judge(const struct outgoing_call *call)
{
    if (call->result == OUTGOING_ANSWERED)
        return MAIL_TAKEN;
    if (call->status == 354) /* "go ahead" was the last that was heard */
        return MAIL_UNSURE;
    const bool login = call->status == 530 || call->status == 534 || call->status == 535;
    return call->status >= 500 && call->status <= 599 && !login ? MAIL_REFUSED : MAIL_AGAIN;
}

bool mail_delay(uint32_t tries, struct random *random, uint64_t *delay_ms)
{
    static const uint32_t seconds[MAIL_TRIES_MAX - 1] = { 5, 30, 120, 600, 1800, 3600, 7200 };
    if (tries == 0 || tries >= MAIL_TRIES_MAX)
        return false;
    const uint64_t pause_ms = (uint64_t)seconds[tries - 1] * 1000;
    *delay_ms = pause_ms + random_below(random, pause_ms / 5);
    return true;
}
