/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/seam/redis_kit.h"

#include "base/clock.h"

#include <hiredis/hiredis.h>
#include <poll.h>

enum { PATIENCE_MS = 60 * 1000, TURN_MS = 20, WORDS_MAX = 16 };

uint64_t redis_kit_now_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

bool redis_kit_still(uint64_t since_ms, const char *what)
{
    if (redis_kit_now_ms() - since_ms < PATIENCE_MS)
        return true;
    fail_msg("it does not come: %s", what);
    return false;
}

static void value_text(const struct redis_value *value, char out[REDIS_KIT_TEXT_MAX])
{
    out[0] = 0;
    if (value != NULL && value->kind == REDIS_KIND_NUMBER)
        snprintf(out, REDIS_KIT_TEXT_MAX, "%lld", (long long)value->number);
    else if (value != NULL && value->kind != REDIS_KIND_NIL && value->kind != REDIS_KIND_LIST)
        snprintf(out, REDIS_KIT_TEXT_MAX, "%.*s", (int)value->text.size, value->text.data);
}

static void answered(void *self, uint64_t tag, enum redis_answer answer, const struct redis_value *value)
{
    struct redis_kit *kit = self;
    assert_true(kit->told < REDIS_KIT_TOLD_MAX);
    kit->tags[kit->told] = tag;
    kit->answers[kit->told++] = answer;
    value_text(value, kit->text);
}

static void informed(void *self, const struct redis_node *node, const struct redis_info *info)
{
    struct redis_kit *kit = self;
    (void)node;
    (void)info;
    kit->informed++;
}

static void subscribed(void *self, struct span channel)
{
    struct redis_kit *kit = self;
    (void)channel;
    kit->subscribed++;
}

static void noted(void *self, struct span channel, struct span message)
{
    struct redis_kit *kit = self;
    kit->notes++;
    snprintf(kit->note, sizeof kit->note, "%.*s %.*s", (int)channel.size, channel.data,
        (int)message.size, message.data);
}

void redis_kit_open(struct redis_kit *kit, const char *seeds, const char *user,
    const char *password, const struct redis_limits *limits)
{
    static struct redis_client_config config;
    struct span bad;
    memset(kit, 0, sizeof *kit);
    config = (struct redis_client_config){ .limits = *limits };
    assert_int_equal(redis_nodes_read(span_from_string(seeds), config.seeds, REDIS_SEEDS_MAX,
                         &config.seed_count, &bad),
        STATUS_OK);
    if (user != NULL)
        snprintf(config.login.user, sizeof config.login.user, "%s", user);
    if (password != NULL) {
        snprintf(config.login.password, sizeof config.login.password, "%s", password);
        config.login.password_bytes = strlen(password);
    }
    const struct redis_client_owner owner = { .self = kit, .answered = answered, .informed = informed };
    assert_int_equal(redis_client_open(&kit->client, &config, &owner), STATUS_OK);
}

void redis_kit_subscriber_open(struct redis_kit *kit)
{
    const struct redis_subscriber_owner owner = { .self = kit, .subscribed = subscribed, .noted = noted };
    assert_int_equal(redis_subscriber_open(&kit->subscriber, kit->client, &owner), STATUS_OK);
}

void redis_kit_close(struct redis_kit *kit)
{
    redis_subscriber_close(kit->subscriber);
    redis_client_close(kit->client);
}

void redis_kit_turn(struct redis_kit *kit)
{
    const uint64_t now = redis_kit_now_ms();
    uint64_t due = redis_client_next_due(kit->client);
    if (kit->subscriber != NULL && redis_subscriber_next_due(kit->subscriber) < due)
        due = redis_subscriber_next_due(kit->subscriber);
    struct pollfd waiting = { .fd = redis_client_fd(kit->client), .events = POLLIN };
    /* What the caller waits for may be something else. */
    poll(&waiting, 1, due <= now ? 0 : due - now < TURN_MS ? (int)(due - now) : TURN_MS);
    redis_client_turn(kit->client, redis_kit_now_ms());
    if (kit->subscriber != NULL)
        redis_subscriber_turn(kit->subscriber, redis_kit_now_ms());
}

enum status redis_kit_send(
    struct redis_kit *kit, const char *key, uint64_t tag, uint32_t in_ms, const char *line)
{
    struct span words[WORDS_MAX], text = span_from_string(line);
    uint32_t count = 0;
    while (count < WORDS_MAX && span_take_until(&text, ' ', &words[count]))
        count++;
    return redis_client_send(kit->client, span_from_string(key), tag, redis_kit_now_ms() + in_ms,
        (struct redis_words){ words, count });
}

enum redis_answer redis_kit_ask(struct redis_kit *kit, const char *key, const char *line)
{
    REDIS_KIT_UNTIL(kit, redis_client_in_flight(kit->client) == 0);
    const uint32_t before = kit->told;
    REDIS_KIT_UNTIL(kit, redis_kit_send(kit, key, 0, REDIS_KIT_ANSWER_MS, line) == STATUS_OK);
    REDIS_KIT_UNTIL(kit, kit->told > before);
    return kit->answers[before];
}

enum redis_answer redis_kit_ask_again(struct redis_kit *kit, const char *key, const char *line)
{
    enum redis_answer answer = REDIS_ANSWER_AGAIN;
    REDIS_KIT_UNTIL(kit,
        (answer = redis_kit_ask(kit, key, line)) != REDIS_ANSWER_AGAIN
            && answer != REDIS_ANSWER_AWAY && answer != REDIS_ANSWER_UNKNOWN);
    return answer;
}

void redis_kit_order(uint16_t port, char out[REDIS_KIT_TEXT_MAX], const char *format, ...)
{
    redisContext *context = redisConnect("127.0.0.1", port);
    char line[512];
    va_list list;
    assert_true(context != NULL && context->err == 0);
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    /* hiredis cuts its format at blanks; a line without % is one. */
    assert_null(strchr(line, '%'));
    redisReply *reply = redisCommand(context, line);
    assert_non_null(reply);
    if (reply->type == REDIS_REPLY_ERROR)
        fail_msg("%s: %s", line, reply->str);
    if (out != NULL && reply->type == REDIS_REPLY_INTEGER)
        snprintf(out, REDIS_KIT_TEXT_MAX, "%lld", reply->integer);
    else if (out != NULL)
        snprintf(out, REDIS_KIT_TEXT_MAX, "%s", reply->str == NULL ? "" : reply->str);
    freeReplyObject(reply);
    redisFree(context);
}

uint16_t redis_kit_port(const char *addresses, uint32_t index)
{
    struct redis_node nodes[REDIS_SEEDS_MAX];
    uint32_t count = 0;
    struct span bad;
    assert_int_equal(
        redis_nodes_read(span_from_string(addresses), nodes, REDIS_SEEDS_MAX, &count, &bad), STATUS_OK);
    assert_true(index < count);
    return nodes[index].port;
}

const char *redis_kit_address(void)
{
    const char *address = getenv("STAMPEDE_TEST_REDIS");
    if (address != NULL)
        return address;
    fputs("run by tools/with-redis\n", stderr);
    exit(1);
}
