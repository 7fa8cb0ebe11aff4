/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/caller.h"

#include "base/clock.h"

#include <poll.h>
#include <stdlib.h>

enum { TAG_LATER, TAG_CALL };

struct redis_caller {
    struct redis_client *client;
    redis_take *take;
    void *context;
    bool is_answered;         /* the call */
    enum redis_answer answer; /* to it */
    enum redis_answer failed; /* the first of the others that was not OK */
};

static void answered(void *self, uint64_t tag, enum redis_answer answer, const struct redis_value *value)
{
    struct redis_caller *caller = self;
    if (tag == TAG_CALL) {
        caller->is_answered = true;
        caller->answer = answer;
        if (value != NULL && caller->take != NULL)
            caller->take(caller->context, value);
    } else if (caller->failed == REDIS_ANSWER_OK) {
        caller->failed = answer;
    }
}

enum status redis_caller_open(struct redis_caller **out, const struct redis_client_config *config)
{
    struct redis_caller *caller = *out = calloc(1, sizeof *caller);
    const struct redis_client_owner owner = { .self = caller, .answered = answered };
    return caller == NULL ? STATUS_FULL : redis_client_open(&caller->client, config, &owner);
}

void redis_caller_close(struct redis_caller *caller)
{
    if (caller == NULL)
        return;
    redis_client_close(caller->client);
    free(caller);
}

struct redis_client *redis_caller_client(const struct redis_caller *caller)
{
    return caller->client;
}

/* Something has happened, or it is time for something. */
static void turn(struct redis_caller *caller, uint64_t until_ms)
{
    struct pollfd ready = { .fd = redis_client_fd(caller->client), .events = POLLIN };
    redis_client_turn(caller->client, clock_monotonic_ms());
    const uint64_t due_ms = redis_client_next_due(caller->client), now = clock_monotonic_ms();
    const uint64_t wake_ms = due_ms < until_ms ? due_ms : until_ms;
    if (wake_ms <= now)
        return;
    const uint64_t wait_ms = wake_ms - now;
    (void)!poll(&ready, 1, wait_ms > 1000 ? 1000 : (int)wait_ms); /* a signal: once more */
    redis_client_turn(caller->client, clock_monotonic_ms());
}

void redis_caller_turn(struct redis_caller *caller)
{
    redis_client_turn(caller->client, clock_monotonic_ms());
}

bool redis_caller_is_ready(struct redis_caller *caller, uint32_t ms)
{
    const uint64_t until_ms = clock_monotonic_ms() + ms;
    redis_caller_turn(caller);
    while (!redis_client_is_whole(caller->client) && clock_monotonic_ms() < until_ms)
        turn(caller, until_ms);
    return redis_client_is_whole(caller->client);
}

/* Waits for room, or for the server, until the time is over. */
static enum redis_answer sent(struct redis_caller *caller, struct span key, uint64_t tag,
    struct redis_words words, uint32_t ms)
{
    const uint64_t until_ms = clock_monotonic_ms() + ms;
    for (;;) {
        const enum status status = redis_client_send(caller->client, key, tag, until_ms, words);
        if (status == STATUS_OK)
            return REDIS_ANSWER_OK;
        if (status == STATUS_BAD_INPUT)
            return REDIS_ANSWER_REFUSED;
        if (clock_monotonic_ms() >= until_ms)
            return REDIS_ANSWER_AWAY;
        turn(caller, until_ms);
    }
}

enum redis_answer redis_call(struct redis_caller *caller, struct span key, struct redis_words words,
    uint32_t ms, redis_take *take, void *context)
{
    caller->take = take;
    caller->context = context;
    caller->is_answered = false;
    const enum redis_answer answer = sent(caller, key, TAG_CALL, words, ms);
    if (answer != REDIS_ANSWER_OK)
        return answer;
    while (!caller->is_answered)
        turn(caller, UINT64_MAX);
    return caller->answer;
}

void redis_call_later(struct redis_caller *caller, struct span key, struct redis_words words, uint32_t ms)
{
    const enum redis_answer answer = sent(caller, key, TAG_LATER, words, ms);
    if (caller->failed == REDIS_ANSWER_OK)
        caller->failed = answer;
}

enum status redis_call_soon(
    struct redis_caller *caller, struct span key, struct redis_words words, uint32_t ms)
{
    return redis_client_send(caller->client, key, TAG_LATER, clock_monotonic_ms() + ms, words);
}

enum redis_answer redis_call_wait(struct redis_caller *caller)
{
    while (redis_client_in_flight(caller->client) > 0)
        turn(caller, UINT64_MAX);
    const enum redis_answer failed = caller->failed;
    caller->failed = REDIS_ANSWER_OK;
    return failed;
}
