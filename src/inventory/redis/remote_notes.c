/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/remote_notes.c: processes tell each other which orders they have moved, so that whoever
 * waits for an order at another gateway is answered at once. Messages may be lost; whoever waits looks again
 * by itself.
 *
 * FORMAT of a message: the number of the process, then for each order a ticket and a user, all in hex with
 * one blank between; user 0: not known. A ticket 0: many orders, look at all.
 * News (remote_config.news) have a channel of their own: the number of the process, and after a blank their
 * text. */
#include "base/text.h"
#include "inventory/redis/remote_parts.h"
#include "redis/subscriber.h"

#include <inttypes.h>
#include <stdio.h>

enum { NOTES_PER_MESSAGE = 64, NOTE_BYTES = 2 * 17, MESSAGES_PER_TURN = 16 };

void remote_changed(struct remote *remote, ticket_number ticket, user_id user)
{
    if (remote->config.changed == NULL)
        return;
    remote->config.changed(remote->config.context, ticket, user);
    remote->changed = true;
}

enum status remote_notes_open(struct remote *remote)
{
    snprintf(remote->notes, sizeof remote->notes, "st:%016" PRIx64 ":{orders}", remote->config.data_id);
    snprintf(remote->news, sizeof remote->news, "st:%016" PRIx64 ":{limits}", remote->config.data_id);
    const enum status status =
        redis_subscriber_add(remote->subscriber, span_from_string(remote->notes));
    return status != STATUS_OK || remote->config.news == NULL
        ? status
        : redis_subscriber_add(remote->subscriber, span_from_string(remote->news));
}

uint64_t remote_news_due(const struct remote *remote)
{
    return remote->config.news == NULL ? UINT64_MAX : remote->news_ms;
}

void remote_news_send(struct remote *remote)
{
    static _Thread_local char bytes[17 + REMOTE_NEWS_BYTES];
    const struct span channel = span_from_string(remote->news);
    const bool urgent =
        remote->config.news_urgent != NULL && remote->config.news_urgent(remote->config.context);
    if (remote->config.news == NULL || (remote->now_ms < remote->news_ms && !urgent))
        return;
    remote->news_ms = remote->now_ms + REMOTE_NEWS_MS;
    struct text head = text_in(bytes, 17), text = text_in(bytes + 17, REMOTE_NEWS_BYTES);
    text_hex64(&head, remote->config.process);
    text_literal(&head, " ");
    if (remote->config.news(remote->config.context, remote->now_ms, &text) && !text.overflow)
        (void)!redis_client_send(remote->client, channel, NOTE_TAG,
            remote->now_ms + remote->config.timeout_ms,
            REDIS_WORDS(SPAN("SPUBLISH"), channel, span_of(bytes, head.size + text.size)));
}

/* False: there was nothing to tell. */
static bool message_send(struct remote *remote)
{
    char bytes[17 + NOTES_PER_MESSAGE * NOTE_BYTES + 1];
    struct text text = text_in(bytes, sizeof bytes);
    const struct span channel = span_from_string(remote->notes);
    ticket_number ticket;
    user_id user;
    uint32_t count = 0;
    text_hex64(&text, remote->config.process);
    while (count < NOTES_PER_MESSAGE && remote->config.moved(remote->config.context, &ticket, &user)) {
        text_literal(&text, " ");
        text_hex64(&text, ticket);
        text_literal(&text, " ");
        text_hex64(&text, user);
        count++;
    }
    if (count == 0)
        return false;
    (void)!redis_client_send(remote->client, channel, NOTE_TAG, remote->now_ms + remote->config.timeout_ms,
        REDIS_WORDS(SPAN("SPUBLISH"), channel, text_span(&text))); /* lost: whoever waits looks by itself */
    return true;
}

void remote_notes_send(struct remote *remote)
{
    for (uint32_t i = 0; i < MESSAGES_PER_TURN && remote->config.moved != NULL; i++)
        if (!message_send(remote))
            return;
}

static bool number_take(struct span *message, uint64_t *number)
{
    struct span word = SPAN_NONE;
    return span_take_until(message, ' ', &word) && span_to_hex64(word, number) == STATUS_OK;
}

static bool is_news(const struct remote *remote, struct span channel)
{
    return span_equal(channel, span_from_string(remote->news));
}

static bool is_notes(const struct remote *remote, struct span channel)
{
    return span_equal(channel, span_from_string(remote->notes));
}

bool remote_note_heard(struct remote *remote, struct span channel, struct span message)
{
    uint64_t process = 0, ticket = 0, user = 0;
    const bool news = is_news(remote, channel);
    if (!news && !is_notes(remote, channel))
        return false;
    if (!number_take(&message, &process) || process == remote->config.process)
        return true;
    if (news) {
        remote->config.heard(remote->config.context, process, message, remote->now_ms);
        return true;
    }
    while (number_take(&message, &ticket) && number_take(&message, &user))
        remote_changed(remote, ticket, user);
    return true;
}

bool remote_notes_missed(struct remote *remote, struct span channel)
{
    if (is_news(remote, channel))
        return true; /* what was missed is not told again */
    if (!is_notes(remote, channel))
        return false;
    remote_changed(remote, 0, 0);
    return true;
}
