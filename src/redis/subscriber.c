/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. Each turn compares what is with what should be: a channel that is not subscribed at the master
 * of its slot is asked for there, once in ASK_AGAIN_MS until the server has confirmed it. So a lost
 * connection, a moved slot and a refusal need nothing but forgetting. A line is a connection to one
 * master; it goes when no channel uses it. */
#include "redis/subscriber.h"

#include "base/arena.h"

enum { LINES_MAX = REDIS_NODES_MAX, ASK_AGAIN_MS = 500 };

struct line {
    struct redis_subscriber *subscriber;
    struct redis_connection *connection; /* NULL: the place is free */
    struct redis_node node;
    bool used; /* by a channel, in this turn */
};
struct channel {
    char name[REDIS_CHANNEL_CHARS_MAX + 1];
    uint32_t size; /* 0: the place is free */
    uint16_t slot;
    struct line *line; /* where it was asked for; NULL: nowhere */
    bool confirmed;
    uint64_t ask_due_ms;
};
struct redis_subscriber {
    struct arena arena; /* first: arena_object */
    struct redis_client *client;
    struct redis_subscriber_owner owner;
    struct line lines[LINES_MAX];
    struct channel channels[REDIS_CHANNELS_MAX];
};

static struct span name_of(const struct channel *channel)
{
    return span_of(channel->name, channel->size);
}

static struct channel *channel_find(struct redis_subscriber *subscriber, struct span name)
{
    for (uint32_t i = 0; name.size > 0 && i < REDIS_CHANNELS_MAX; i++) {
        if (span_equal(name_of(&subscriber->channels[i]), name))
            return &subscriber->channels[i];
    }
    return NULL;
}

static void channel_forget(struct channel *channel)
{
    channel->line = NULL;
    channel->confirmed = false;
}

/* ---- lines ---- */

static void line_left(void *self)
{
    struct line *line = self;
    redis_client_doubt(line->subscriber->client);
    for (uint32_t i = 0; i < REDIS_CHANNELS_MAX; i++) {
        if (line->subscriber->channels[i].line == line)
            channel_forget(&line->subscriber->channels[i]);
    }
}

/* [kind, channel, message or count] */
static void line_noted(void *self, const struct redis_value *value)
{
    struct line *line = self;
    struct redis_subscriber *subscriber = line->subscriber;
    if (value->kind == REDIS_KIND_ERROR) {
        redis_client_moved(subscriber->client, &line->node, value->text);
        return; /* it is asked for again */
    }
    if (value->kind != REDIS_KIND_LIST || value->count != 3
        || value->list[0].kind != REDIS_KIND_TEXT || value->list[1].kind != REDIS_KIND_TEXT)
        return; /* an answer to PING */
    const struct span kind = value->list[0].text, name = value->list[1].text;
    struct channel *channel = channel_find(subscriber, name);
    if (channel == NULL || channel->line != line)
        return;
    if (span_equal(kind, SPAN("smessage")) && value->list[2].kind == REDIS_KIND_TEXT) {
        subscriber->owner.noted(subscriber->owner.self, name, value->list[2].text);
    } else if (span_equal(kind, SPAN("ssubscribe")) && !channel->confirmed) {
        channel->confirmed = true;
        subscriber->owner.subscribed(subscriber->owner.self, name);
    } else if (span_equal(kind, SPAN("sunsubscribe"))) {
        channel_forget(channel); /* the slot has left this server */
        redis_client_doubt(subscriber->client);
    }
}

/* NULL: there are too many, or there is no memory. */
static struct line *line_find(struct redis_subscriber *subscriber, const struct redis_node *node)
{
    struct line *spare = NULL;
    for (struct line *line = subscriber->lines; line < subscriber->lines + LINES_MAX; line++) {
        if (line->connection != NULL && redis_node_equal(&line->node, node))
            return line;
        if (line->connection == NULL)
            spare = line;
    }
    if (spare == NULL)
        return NULL;
    *spare = (struct line){ .subscriber = subscriber, .node = *node };
    const struct redis_connection_owner owner = { .self = spare, .left = line_left, .noted = line_noted };
    const struct redis_client_config *config = redis_client_configured(subscriber->client);
    if (redis_connection_open(&spare->connection, node, &config->login, &config->limits, &owner,
            redis_client_fd(subscriber->client))
        != STATUS_OK)
        return NULL;
    return spare;
}

/* ---- open, close, channels ---- */

enum status redis_subscriber_open(struct redis_subscriber **opened, struct redis_client *client,
    const struct redis_subscriber_owner *owner)
{
    struct redis_subscriber *subscriber = arena_object(sizeof *subscriber, 0);
    *opened = subscriber;
    if (subscriber == NULL)
        return STATUS_FULL;
    subscriber->client = client;
    subscriber->owner = *owner;
    return STATUS_OK;
}

void redis_subscriber_close(struct redis_subscriber *subscriber)
{
    for (uint32_t i = 0; i < LINES_MAX && subscriber != NULL; i++)
        redis_connection_close(subscriber->lines[i].connection);
    arena_object_free(subscriber);
}

enum status redis_subscriber_add(struct redis_subscriber *subscriber, struct span name)
{
    if (name.size == 0 || name.size > REDIS_CHANNEL_CHARS_MAX)
        return STATUS_BAD_INPUT;
    if (channel_find(subscriber, name) != NULL)
        return STATUS_CONFLICT;
    for (uint32_t i = 0; i < REDIS_CHANNELS_MAX; i++) {
        struct channel *channel = &subscriber->channels[i];
        if (channel->size > 0)
            continue;
        *channel = (struct channel){ .size = (uint32_t)name.size, .slot = redis_slot(name) };
        memcpy(channel->name, name.data, name.size);
        return STATUS_OK;
    }
    return STATUS_FULL;
}

void redis_subscriber_remove(struct redis_subscriber *subscriber, struct span name)
{
    struct channel *channel = channel_find(subscriber, name);
    if (channel == NULL)
        return;
    /* If this can't be said now, messages of a channel that nobody has are dropped when they come. */
    if (channel->line != NULL
        && redis_connection_say(
               channel->line->connection, REDIS_WORDS(SPAN("SUNSUBSCRIBE"), name_of(channel)))
            == STATUS_OK)
        redis_connection_flush(channel->line->connection);
    *channel = (struct channel){ 0 };
}

bool redis_subscriber_is_whole(const struct redis_subscriber *subscriber)
{
    for (uint32_t i = 0; i < REDIS_CHANNELS_MAX; i++) {
        if (subscriber->channels[i].size > 0 && !subscriber->channels[i].confirmed)
            return false;
    }
    return true;
}

/* ---- the turn ---- */

static void channel_tend(struct redis_subscriber *subscriber, struct channel *channel, uint64_t now_ms)
{
    const struct redis_node *master = redis_client_master(subscriber->client, channel->slot);
    struct line *line = master == NULL ? NULL : line_find(subscriber, master);
    if (line != NULL)
        line->used = true;
    if (channel->line != line)
        channel_forget(channel); /* its slot has moved */
    if (line == NULL || channel->confirmed || now_ms < channel->ask_due_ms
        || redis_connection_say(line->connection, REDIS_WORDS(SPAN("SSUBSCRIBE"), name_of(channel)))
            != STATUS_OK)
        return;
    channel->line = line;
    channel->ask_due_ms = now_ms + ASK_AGAIN_MS;
}

void redis_subscriber_turn(struct redis_subscriber *subscriber, uint64_t now_ms)
{
    for (uint32_t i = 0; i < LINES_MAX; i++) {
        subscriber->lines[i].used = false;
        if (subscriber->lines[i].connection != NULL)
            redis_connection_turn(subscriber->lines[i].connection, now_ms);
    }
    for (uint32_t i = 0; i < REDIS_CHANNELS_MAX; i++) {
        if (subscriber->channels[i].size > 0)
            channel_tend(subscriber, &subscriber->channels[i], now_ms);
    }
    for (uint32_t i = 0; i < LINES_MAX; i++) {
        struct line *line = &subscriber->lines[i];
        if (line->connection == NULL)
            continue;
        if (line->used) {
            redis_connection_flush(line->connection);
            continue;
        }
        redis_connection_close(line->connection);
        line->connection = NULL;
    }
}

uint64_t redis_subscriber_next_due(const struct redis_subscriber *subscriber)
{
    uint64_t due = UINT64_MAX;
    for (uint32_t i = 0; i < LINES_MAX; i++) {
        if (subscriber->lines[i].connection == NULL)
            continue;
        const uint64_t its = redis_connection_next_due(subscriber->lines[i].connection);
        due = its < due ? its : due;
    }
    for (uint32_t i = 0; i < REDIS_CHANNELS_MAX; i++) {
        const struct channel *channel = &subscriber->channels[i];
        if (channel->line != NULL && !channel->confirmed && channel->ask_due_ms < due)
            due = channel->ask_due_ms;
    }
    return due;
}
