/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/relay.c: see relay.h. */
#include "tests/seam/relay.h"

#include "tests/unit/base/unit.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PAIRS_MAX = 16, TURN_MS = 5, CHUNK_BYTES = 65536 };

struct pair {
    int client, server; /* -1: free */
};
struct relay {
    pthread_t thread;
    int listener;
    uint16_t port, server_port;
    _Atomic int mode;
    _Atomic uint32_t passed; /* RELAY_LOSE_ANSWER: so many answers go through before */
    _Atomic bool stop;
    _Atomic uint64_t turns; /* of the thread */
    struct pair pairs[PAIRS_MAX];
    char chunk[CHUNK_BYTES];
};

static struct sockaddr_in loopback(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
    };
}

static void pair_close(struct pair *pair)
{
    close(pair->client);
    close(pair->server);
    *pair = (struct pair){ -1, -1 };
}

static void pair_accept(struct relay *relay)
{
    const int client = accept(relay->listener, NULL, NULL);
    const struct sockaddr_in to = loopback(relay->server_port);
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool passes = atomic_load(&relay->mode) != RELAY_CUT
        && connect(server, (const struct sockaddr *)&to, sizeof to) == 0;
    for (int i = 0; i < PAIRS_MAX && passes; i++)
        if (relay->pairs[i].client < 0) {
            relay->pairs[i] = (struct pair){ client, server };
            return;
        }
    close(client);
    close(server);
}

/* False: it is over. */
static bool bytes_pass(struct relay *relay, int from, int to)
{
    const ssize_t got = recv(from, relay->chunk, CHUNK_BYTES, 0);
    for (ssize_t sent = 0; sent < got;) {
        const ssize_t now = send(to, relay->chunk + sent, (size_t)(got - sent), MSG_NOSIGNAL);
        if (now <= 0)
            return false;
        sent += now;
    }
    return got > 0;
}

static bool is_readable(int socket)
{
    struct pollfd wait = { .fd = socket, .events = POLLIN };
    return poll(&wait, 1, 0) > 0;
}

static void pair_turn(struct relay *relay, struct pair *pair)
{
    const int mode = atomic_load(&relay->mode);
    bool open = mode != RELAY_CUT;
    if (open && is_readable(pair->client))
        open = bytes_pass(relay, pair->client, pair->server);
    if (open && is_readable(pair->server)) {
        const bool loses = mode == RELAY_LOSE_ANSWER && atomic_load(&relay->passed) == 0;
        open = !loses && bytes_pass(relay, pair->server, pair->client);
        if (loses)
            atomic_store(&relay->mode, RELAY_PASS);
        else if (mode == RELAY_LOSE_ANSWER)
            atomic_fetch_sub(&relay->passed, 1);
    }
    if (!open)
        pair_close(pair);
}

static void *relay_run(void *context)
{
    struct relay *relay = context;
    while (!atomic_load(&relay->stop)) {
        atomic_fetch_add(&relay->turns, 1);
        struct pollfd waits[1 + 2 * PAIRS_MAX];
        waits[0] = (struct pollfd){ .fd = relay->listener, .events = POLLIN };
        for (int i = 0; i < PAIRS_MAX; i++) {
            waits[1 + 2 * i] = (struct pollfd){ .fd = relay->pairs[i].client, .events = POLLIN };
            waits[2 + 2 * i] = (struct pollfd){ .fd = relay->pairs[i].server, .events = POLLIN };
        }
        const bool silent = atomic_load(&relay->mode) == RELAY_SILENT;
        (void)poll(waits, silent ? 0 : 1 + 2 * PAIRS_MAX, TURN_MS);
        if (silent)
            continue;
        for (int i = 0; i < PAIRS_MAX; i++)
            if (relay->pairs[i].client >= 0)
                pair_turn(relay, &relay->pairs[i]);
        if (is_readable(relay->listener))
            pair_accept(relay);
    }
    return NULL;
}

struct relay *relay_open(uint16_t server_port)
{
    struct relay *relay = calloc(1, sizeof *relay);
    struct sockaddr_in at = loopback(0);
    socklen_t bytes = sizeof at;
    assert_non_null(relay);
    for (int i = 0; i < PAIRS_MAX; i++)
        relay->pairs[i] = (struct pair){ -1, -1 };
    relay->server_port = server_port;
    relay->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(relay->listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(relay->listener, PAIRS_MAX), 0);
    assert_int_equal(getsockname(relay->listener, (struct sockaddr *)&at, &bytes), 0);
    relay->port = ntohs(at.sin_port);
    assert_int_equal(pthread_create(&relay->thread, NULL, relay_run, relay), 0);
    return relay;
}

void relay_close(struct relay *relay)
{
    atomic_store(&relay->stop, true);
    assert_int_equal(pthread_join(relay->thread, NULL), 0);
    for (int i = 0; i < PAIRS_MAX; i++)
        if (relay->pairs[i].client >= 0)
            pair_close(&relay->pairs[i]);
    close(relay->listener);
    free(relay);
}

uint16_t relay_port(const struct relay *relay)
{
    return relay->port;
}

void relay_set(struct relay *relay, enum relay_mode mode)
{
    atomic_store(&relay->mode, mode);
    /* The turn that is under way may not have seen it; the one after the next begins with it. */
    const uint64_t begun = atomic_load(&relay->turns);
    while (atomic_load(&relay->turns) < begun + 2)
        usleep(1000);
}

void relay_lose_later(struct relay *relay, uint32_t answers)
{
    atomic_store(&relay->passed, answers);
    relay_set(relay, RELAY_LOSE_ANSWER);
}

bool relay_is_losing(const struct relay *relay)
{
    return atomic_load(&relay->mode) == RELAY_LOSE_ANSWER;
}
