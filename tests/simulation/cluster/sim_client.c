/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/caller.h"
#include "redis/subscriber.h"
#include "tests/simulation/cluster/process.h"
#include "tests/simulation/cluster/tasks.h"

#include <stdlib.h>
#include <string.h>

enum { CLIENTS_MAX = 16, CHANNELS_MAX = 24, PROCESSES_MAX = 16, CHANNEL_BYTES = 96 };
enum { LATE_MS = 3000, STOP_MS = 8000 };

struct message {
    struct message *next;
    uint64_t tag, due_ms, at_ms; /* it arrives then, or its answer does */
    uint8_t server;
    uint32_t server_process, connection;
    bool done;
    struct sim_reply reply;
    uint32_t count;
    struct span words[];
};

struct redis_client {
    struct process *process;
    struct redis_client_owner owner;
    struct message *first, **end;
    uint32_t in_flight;
};

struct note {
    struct note *next;
    char channel[CHANNEL_BYTES], text[128];
};
struct redis_subscriber {
    struct redis_client *client;
    struct redis_subscriber_owner owner;
    char channels[CHANNELS_MAX][CHANNEL_BYTES];
    bool told[CHANNELS_MAX];
    uint32_t count, connection;
    struct note *first, **end;
};

struct sim_net sim_net;
static struct redis_client *clients[CLIENTS_MAX];
static struct redis_subscriber *subscribers[CLIENTS_MAX];
static struct process *processes[PROCESSES_MAX];
static struct message *late; /* nobody waits for these any more, but they still arrive */

static bool chance(uint32_t one_in)
{
    return sim_net.faults && random_below(sim_net.random, one_in) == 0;
}

static uint64_t latency(void)
{
    return random_below(sim_net.random, (chance(100) ? sim_net.slow_ms : sim_net.latency_ms) + 1);
}

/* ---- connections ---- */

void process_start(struct process *process, uint64_t number)
{
    *process = (struct process){ .number = number, .server = SIM_SERVER_NONE };
    for (uint32_t i = 0; i < PROCESSES_MAX; i++) {
        if (processes[i] != NULL && processes[i] != process)
            continue;
        processes[i] = process;
        return;
    }
    invariant(false);
}

struct redis_client_config process_redis(const struct process *process)
{
    struct redis_client_config config = { .seed_count = 1 };
    for (uint32_t i = 0; i < PROCESSES_MAX; i++)
        if (processes[i] == process)
            config.seeds[0].port = (uint16_t)i;
    return config;
}

static bool is_connected(const struct process *process)
{
    if (process->dead || process->server == SIM_SERVER_NONE)
        return false;
    const struct sim_server *server = &sim_net.redis->servers[process->server];
    return server->alive && server->process == process->server_process;
}

static void disconnect(struct process *process)
{
    process->server = SIM_SERVER_NONE;
    process->connect_ms = sim_now_ms + random_below(sim_net.random, 10 * sim_net.latency_ms + 1);
}

static void informed(struct process *process)
{
    const struct sim_server *server = &sim_net.redis->servers[process->server];
    process->info = (struct redis_info){ .master = server->master, .asked_ms = sim_now_ms };
    memcpy(process->info.replid, server->replid, sizeof process->info.replid);
}

static void connect_to(struct process *process, uint8_t server)
{
    process->server = server;
    process->server_process = sim_net.redis->servers[server].process;
    process->connections++;
    informed(process);
}

/* What each turn of a client does about its connection: it is lost, it is made, or the map of the cluster was
 * asked for; and the server is asked each second what it is. */
static void link_turn(struct process *process)
{
    const struct sim_redis *redis = sim_net.redis;
    const uint8_t old = (uint8_t)(1 - redis->master);
    if (process->dead)
        return;
    if (process->server != SIM_SERVER_NONE && !is_connected(process))
        disconnect(process);
    if (process->server == old && random_below(sim_net.random, sim_net.faults ? 30 : 3) == 0)
        disconnect(process);
    if (process->server == SIM_SERVER_NONE && process->connect_ms <= sim_now_ms) {
        const bool misled = redis->servers[old].alive && redis->servers[old].master && chance(3);
        if (misled || redis->servers[redis->master].alive)
            connect_to(process, misled ? old : redis->master);
    }
    if (process->server != SIM_SERVER_NONE && process->info.asked_ms + 1000 <= sim_now_ms)
        informed(process);
}

/* ---- requests ---- */

static struct message *message_make(const struct process *process, struct redis_words words)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < words.count; i++)
        bytes += words.list[i].size;
    struct message *message = malloc(sizeof *message + words.count * sizeof *message->words + bytes);
    invariant(message != NULL);
    message->next = NULL;
    message->tag = message->due_ms = 0;
    message->at_ms = sim_now_ms + latency();
    message->server = process->server;
    message->server_process = process->server_process;
    message->connection = process->connections;
    message->done = false;
    message->reply.count = 0;
    message->count = words.count;
    char *at = (char *)&message->words[words.count];
    for (uint32_t i = 0; i < words.count; i++) {
        if (words.list[i].size > 0)
            memcpy(at, words.list[i].data, words.list[i].size);
        message->words[i] = span_of(at, words.list[i].size);
        at += words.list[i].size;
    }
    return message;
}

static void message_free(struct message *message)
{
    sim_reply_free(&message->reply);
    free(message);
}

static bool server_is_there(const struct message *message)
{
    const struct sim_server *server = &sim_net.redis->servers[message->server];
    return server->alive && server->process == message->server_process;
}

static void note_deliver(uint8_t server, struct span channel, struct span text)
{
    for (uint32_t i = 0; i < CLIENTS_MAX; i++) {
        struct redis_subscriber *subscriber = subscribers[i];
        if (subscriber == NULL || subscriber->client->process->server != server || chance(8))
            continue;
        for (uint32_t c = 0; c < subscriber->count; c++) {
            if (!span_equal(span_from_string(subscriber->channels[c]), channel))
                continue;
            struct note *note = calloc(1, sizeof *note);
            invariant(note != NULL && text.size < sizeof note->text);
            memcpy(note->channel, channel.data, channel.size);
            memcpy(note->text, text.data, text.size);
            *subscriber->end = note;
            subscriber->end = &note->next;
        }
    }
}

static void message_do(struct message *message)
{
    const struct redis_words words = { message->words, message->count };
    sim_redis_do(sim_net.redis, message->server, words, &message->reply);
    message->done = true;
    message->at_ms = sim_now_ms + latency();
    if (span_equal(words.list[0], SPAN("SPUBLISH")))
        note_deliver(message->server, words.list[1], words.list[2]);
}

/* Nobody hears of it any more. If it was not done, it may still arrive. */
static void message_drop(struct message *message)
{
    if (message->done || !chance(2)) {
        message_free(message);
        return;
    }
    message->at_ms = sim_now_ms + random_below(sim_net.random, LATE_MS);
    message->next = late;
    late = message;
}

static void late_turn(void)
{
    for (struct message **at = &late; *at != NULL;) {
        struct message *message = *at;
        if (message->at_ms > sim_now_ms) {
            at = &message->next;
            continue;
        }
        *at = message->next;
        if (server_is_there(message))
            message_do(message);
        message_free(message);
    }
}

void sim_net_turn(void)
{
    late_turn();
    for (uint32_t i = 0; i < CLIENTS_MAX; i++) {
        struct message *message = clients[i] == NULL ? NULL : clients[i]->first;
        for (; message != NULL; message = message->next) {
            if (message->done)
                continue;
            if (message->at_ms > sim_now_ms || !server_is_there(message))
                break; /* those behind it wait */
            message_do(message);
        }
    }
}

void sim_net_break(const struct process *process)
{
    for (uint32_t i = 0; i < PROCESSES_MAX; i++)
        if (processes[i] == process && process->server != SIM_SERVER_NONE)
            disconnect(processes[i]);
}

uint32_t sim_net_waiting(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < CLIENTS_MAX; i++)
        count += clients[i] == NULL ? 0 : clients[i]->in_flight;
    return count;
}

void sim_net_start(struct sim_redis *redis, struct random *random)
{
    sim_net = (struct sim_net){ .redis = redis, .random = random };
    memset(processes, 0, sizeof processes);
}

void sim_net_stop(void)
{
    for (struct message *next; late != NULL; late = next) {
        next = late->next;
        message_free(late);
    }
}

/* ---- redis/client.h ---- */

enum status redis_client_open(struct redis_client **out, const struct redis_client_config *config,
    const struct redis_client_owner *owner)
{
    struct redis_client *client = calloc(1, sizeof *client);
    uint32_t at = 0;
    invariant(client != NULL);
    client->process = processes[config->seeds[0].port];
    client->owner = *owner;
    client->end = &client->first;
    while (clients[at] != NULL)
        invariant(++at < CLIENTS_MAX);
    clients[at] = *out = client;
    return STATUS_OK;
}

void redis_client_close(struct redis_client *client)
{
    for (uint32_t i = 0; i < CLIENTS_MAX; i++)
        if (clients[i] == client)
            clients[i] = NULL;
    for (struct message *message = client == NULL ? NULL : client->first, *next; message != NULL;
         message = next) {
        next = message->next;
        message_drop(message);
    }
    free(client);
}

static void message_answer(struct redis_client *client, enum redis_answer answer, bool has_reply)
{
    struct message *message = client->first;
    client->first = message->next;
    if (client->first == NULL)
        client->end = &client->first;
    client->in_flight--;
    client->owner.answered(
        client->owner.self, message->tag, answer, has_reply ? &message->reply.value : NULL);
    if (has_reply)
        message_free(message);
    else
        message_drop(message);
}

/* What has arrived is read, also when the connection broke after that. */
static void arrived_answer(struct redis_client *client, uint64_t now_ms)
{
    while (client->first != NULL && client->first->done && client->first->at_ms <= now_ms) {
        const enum redis_answer answer = redis_answer_of(&client->first->reply.value);
        if (answer == REDIS_ANSWER_AWAY)
            disconnect(client->process); /* a replica: the map is wrong */
        message_answer(client, answer, true);
    }
}

/* Answers have no names: after one that is late the connection is given up. */
void redis_client_turn(struct redis_client *client, uint64_t now_ms)
{
    struct process *process = client->process;
    arrived_answer(client, now_ms);
    link_turn(process);
    if (process->server != SIM_SERVER_NONE && client->first != NULL && chance(400))
        disconnect(process);
    while (client->first != NULL) {
        const struct message *message = client->first;
        const bool broken =
            process->server == SIM_SERVER_NONE || message->connection != process->connections;
        if (!broken && message->due_ms > now_ms)
            return;
        if (!broken)
            disconnect(process);
        message_answer(client, REDIS_ANSWER_UNKNOWN, false);
    }
}

enum status redis_client_send(struct redis_client *client, struct span key, uint64_t tag,
    uint64_t due_ms, struct redis_words words)
{
    (void)key;
    if (!is_connected(client->process))
        return STATUS_AWAY;
    struct message *message = message_make(client->process, words);
    message->tag = tag;
    message->due_ms = due_ms;
    *client->end = message;
    client->end = &message->next;
    client->in_flight++;
    return STATUS_OK;
}

bool redis_client_is_whole(const struct redis_client *client)
{
    return client->process->server != SIM_SERVER_NONE;
}

const struct redis_info *redis_client_info(const struct redis_client *client, uint16_t slot)
{
    (void)slot;
    const struct process *process = client->process;
    return process->dead || process->server == SIM_SERVER_NONE ? NULL : &process->info;
}

/* For the loop of a thread, which does not run here. */
uint64_t redis_client_next_due(const struct redis_client *client)
{
    return client == NULL ? 0 : sim_now_ms;
}

int redis_client_fd(const struct redis_client *client)
{
    return client == NULL ? 0 : -1;
}

/* ---- redis/subscriber.h ---- */

enum status redis_subscriber_open(struct redis_subscriber **out, struct redis_client *client,
    const struct redis_subscriber_owner *owner)
{
    struct redis_subscriber *subscriber = calloc(1, sizeof *subscriber);
    uint32_t at = 0;
    invariant(subscriber != NULL);
    subscriber->client = client;
    subscriber->owner = *owner;
    subscriber->end = &subscriber->first;
    while (subscribers[at] != NULL)
        invariant(++at < CLIENTS_MAX);
    subscribers[at] = *out = subscriber;
    return STATUS_OK;
}

void redis_subscriber_close(struct redis_subscriber *subscriber)
{
    for (uint32_t i = 0; i < CLIENTS_MAX; i++)
        if (subscribers[i] == subscriber)
            subscribers[i] = NULL;
    for (struct note *note = subscriber == NULL ? NULL : subscriber->first, *next; note != NULL;
         note = next) {
        next = note->next;
        free(note);
    }
    free(subscriber);
}

enum status redis_subscriber_add(struct redis_subscriber *subscriber, struct span name)
{
    invariant(subscriber->count < CHANNELS_MAX && name.size < CHANNEL_BYTES);
    memcpy(subscriber->channels[subscriber->count++], name.data, name.size);
    return STATUS_OK;
}

void redis_subscriber_turn(struct redis_subscriber *subscriber, uint64_t now_ms)
{
    const struct process *process = subscriber->client->process;
    (void)now_ms;
    if (subscriber->connection != process->connections)
        memset(subscriber->told, 0, sizeof subscriber->told);
    subscriber->connection = process->connections;
    for (uint32_t i = 0; i < subscriber->count && process->server != SIM_SERVER_NONE; i++) {
        if (!subscriber->told[i])
            subscriber->owner.subscribed(
                subscriber->owner.self, span_from_string(subscriber->channels[i]));
        subscriber->told[i] = true;
    }
    while (subscriber->first != NULL) {
        struct note *note = subscriber->first;
        subscriber->first = note->next;
        if (subscriber->first == NULL)
            subscriber->end = &subscriber->first;
        subscriber->owner.noted(
            subscriber->owner.self, span_from_string(note->channel), span_from_string(note->text));
        free(note);
    }
}

uint64_t redis_subscriber_next_due(const struct redis_subscriber *subscriber)
{
    return subscriber == NULL ? 0 : sim_now_ms;
}

/* ---- redis/caller.h ---- */

enum { LATER_MAX = 512 };
struct redis_caller {
    struct redis_client client;
    struct message *later[LATER_MAX];
    uint32_t count;
    enum redis_answer worst; /* of those that were called later */
};

enum status redis_caller_open(struct redis_caller **out, const struct redis_client_config *config)
{
    struct redis_caller *caller = *out = calloc(1, sizeof *caller);
    invariant(caller != NULL);
    caller->client.process = processes[config->seeds[0].port];
    return STATUS_OK;
}

void redis_caller_close(struct redis_caller *caller)
{
    for (uint32_t i = 0; caller != NULL && i < caller->count; i++)
        message_free(caller->later[i]);
    free(caller);
}

struct redis_client *redis_caller_client(const struct redis_caller *caller)
{
    return (struct redis_client *)(uintptr_t)&caller->client;
}

/* The process waits, where it waits at all: others do something meanwhile. */
static void way(void)
{
    if (random_below(sim_net.random, sim_net.faults ? 2 : 8) == 0)
        task_pause(latency());
}

void process_stop(struct process *process)
{
    if (!task_runs())
        return;
    process->stopped_until_ms = sim_now_ms + random_below(sim_net.random, STOP_MS);
    task_pause(0);
}

/* One request and its answer. The message is free for the caller to keep. */
static enum redis_answer message_call(struct process *process, struct message *message)
{
    message->server = process->server;
    message->server_process = process->server_process;
    const uint32_t connection = process->connections;
    if (chance(500))
        process_stop(process);
    way();
    if (process->dead || !server_is_there(message) || chance(80)) {
        disconnect(process);
        return process->dead ? REDIS_ANSWER_AWAY : REDIS_ANSWER_UNKNOWN;
    }
    message_do(message);
    if (chance(500))
        process_stop(process);
    way();
    link_turn(process);
    if (process->dead || connection != process->connections || chance(80)) {
        disconnect(process);
        return REDIS_ANSWER_UNKNOWN;
    }
    const enum redis_answer answer = redis_answer_of(&message->reply.value);
    if (answer == REDIS_ANSWER_AWAY)
        disconnect(process);
    return answer;
}

static bool connection_wait(struct process *process, uint32_t ms)
{
    const uint64_t until_ms = sim_now_ms + ms;
    link_turn(process);
    while (!is_connected(process) && !process->dead && sim_now_ms < until_ms && task_runs()) {
        task_pause(20);
        link_turn(process);
    }
    return is_connected(process);
}

/* Those that were called before go first. */
static void later_send(struct redis_caller *caller)
{
    struct process *process = caller->client.process;
    for (uint32_t i = 0; i < caller->count; i++) {
        struct message *message = caller->later[i];
        const enum redis_answer answer =
            connection_wait(process, 0) ? message_call(process, message) : REDIS_ANSWER_AWAY;
        if (caller->worst == REDIS_ANSWER_OK)
            caller->worst = answer;
        if (answer == REDIS_ANSWER_UNKNOWN)
            message_drop(message);
        else
            message_free(message);
    }
    caller->count = 0;
}

enum redis_answer redis_call(struct redis_caller *caller, struct span key, struct redis_words words,
    uint32_t ms, redis_take *take, void *context)
{
    struct process *process = caller->client.process;
    (void)key;
    later_send(caller);
    if (process->dead)
        return REDIS_ANSWER_AWAY;
    struct message *message = message_make(process, words);
    if (!connection_wait(process, ms)) {
        message_free(message);
        return REDIS_ANSWER_AWAY;
    }
    const enum redis_answer answer = message_call(process, message);
    if (answer == REDIS_ANSWER_UNKNOWN) {
        message_drop(message);
        return answer;
    }
    if (take != NULL && message->done)
        take(context, &message->reply.value);
    message_free(message);
    return answer;
}

void redis_call_later(struct redis_caller *caller, struct span key, struct redis_words words, uint32_t ms)
{
    (void)key;
    (void)ms;
    invariant(caller->count < LATER_MAX);
    caller->later[caller->count++] = message_make(caller->client.process, words);
}

enum redis_answer redis_call_wait(struct redis_caller *caller)
{
    later_send(caller);
    const enum redis_answer worst = caller->worst;
    caller->worst = REDIS_ANSWER_OK;
    return worst;
}

void redis_caller_turn(struct redis_caller *caller)
{
    link_turn(caller->client.process);
    later_send(caller);
}
