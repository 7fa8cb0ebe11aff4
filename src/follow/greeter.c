/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/greeter.h"

#include "base/clock.h"
#include "base/random.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A greeting: the caller's 40 bytes, our 32, the caller's proof, our proof. */
struct guest {
    int fd; /* -1: the place is free */
    uint64_t since_ms;
    bool greeted; /* the greeting was read: a proof comes */
    uint8_t bytes[WIRE_GREETING_BYTES];
    size_t got;
    uint8_t caller[WIRE_NONCE_BYTES], served[WIRE_NONCE_BYTES];
};
static_assert((int)WIRE_GREETING_BYTES >= (int)WIRE_PROOF_BYTES, "a proof has room");

struct greeter {
    int listener;
    const struct follow_secret *secret;
    struct guest guests[GREETER_GUESTS];
    uint64_t refused;
};

enum status greeter_open(struct greeter **opened, int listener, const struct follow_secret *secret)
{
    struct greeter *greeter = calloc(1, sizeof *greeter);
    *opened = greeter;
    if (greeter == NULL)
        return STATUS_FULL;
    greeter->listener = listener;
    greeter->secret = secret;
    for (int i = 0; i < GREETER_GUESTS; i++)
        greeter->guests[i].fd = -1;
    return STATUS_OK;
}

void greeter_close(struct greeter *greeter)
{
    if (greeter == NULL)
        return;
    for (int i = 0; i < GREETER_GUESTS; i++)
        if (greeter->guests[i].fd >= 0)
            close(greeter->guests[i].fd);
    close(greeter->listener);
    free(greeter);
}

uint64_t greeter_refused(const struct greeter *greeter)
{
    return greeter->refused;
}

static void guest_refuse(struct greeter *greeter, struct guest *guest)
{
    close(guest->fd);
    guest->fd = -1;
    greeter->refused++;
}

/* A free place, or that of whoever came first. */
static struct guest *place_make(struct greeter *greeter)
{
    struct guest *oldest = &greeter->guests[0];
    for (int i = 0; i < GREETER_GUESTS; i++) {
        if (greeter->guests[i].fd < 0)
            return &greeter->guests[i];
        if (greeter->guests[i].since_ms < oldest->since_ms)
            oldest = &greeter->guests[i];
    }
    guest_refuse(greeter, oldest);
    return oldest;
}

static void guest_let_in(struct greeter *greeter)
{
    const int fd = accept4(greeter->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
            poll(NULL, 0, 100); /* no descriptor is free: the caller waits in the queue */
        return;
    }
    *place_make(greeter) = (struct guest){ .fd = fd, .since_ms = clock_monotonic_ms() };
}

static bool bytes_say(int fd, const uint8_t *bytes, size_t size)
{
    return send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size;
}

/* The greeting is there: ours goes. */
static bool guest_greet(struct guest *guest)
{
    if (wire_greeting_read(span_of(guest->bytes, guest->got), guest->caller) != STATUS_OK)
        return false;
    random_secret(guest->served, sizeof guest->served);
    guest->greeted = true;
    guest->got = 0;
    return bytes_say(guest->fd, guest->served, sizeof guest->served);
}

/* The proof is there. NULL: it is wrong, or there is no memory. */
static struct session *guest_prove(const struct greeter *greeter, struct guest *guest)
{
    uint8_t proof[WIRE_PROOF_BYTES];
    if (!session_proof_fits(greeter->secret, false, guest->caller, guest->served, guest->bytes))
        return NULL;
    wire_proof(span_of(greeter->secret->bytes, greeter->secret->size), true, guest->caller,
        guest->served, proof);
    struct session *session =
        bytes_say(guest->fd, proof, sizeof proof) ? calloc(1, sizeof *session) : NULL;
    if (session == NULL)
        return NULL;
    session_answer(session, guest->fd, greeter->secret, guest->caller, guest->served, GREETER_MS);
    guest->fd = -1;
    return session;
}

/* What a guest has sent. NULL: it has not proved anything yet, or was refused. */
static struct session *guest_hear(struct greeter *greeter, struct guest *guest)
{
    const size_t wanted = guest->greeted ? WIRE_PROOF_BYTES : WIRE_GREETING_BYTES;
    const ssize_t got = recv(guest->fd, guest->bytes + guest->got, wanted - guest->got, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return NULL;
    guest->got += got > 0 ? (size_t)got : 0;
    if (got > 0 && guest->got < wanted)
        return NULL;
    struct session *session = NULL;
    const bool good = got > 0
        && (guest->greeted ? (session = guest_prove(greeter, guest)) != NULL : guest_greet(guest));
    if (!good)
        guest_refuse(greeter, guest);
    return session;
}

struct session *greeter_next(struct greeter *greeter, uint32_t wait_ms)
{
    struct pollfd looks[1 + GREETER_GUESTS] = { { .fd = greeter->listener, .events = POLLIN } };
    for (int i = 0; i < GREETER_GUESTS; i++)
        looks[1 + i] = (struct pollfd){ .fd = greeter->guests[i].fd, .events = POLLIN };
    if (poll(looks, 1 + GREETER_GUESTS, (int)wait_ms) < 0)
        return NULL;
    struct session *session = NULL;
    const uint64_t now_ms = clock_monotonic_ms();
    for (int i = 0; i < GREETER_GUESTS && session == NULL; i++) {
        struct guest *guest = &greeter->guests[i];
        if (guest->fd >= 0 && looks[1 + i].revents != 0)
            session = guest_hear(greeter, guest);
        if (guest->fd >= 0 && now_ms - guest->since_ms >= GREETER_MS)
            guest_refuse(greeter, guest);
    }
    if (looks[0].revents != 0)
        guest_let_in(greeter);
    return session;
}
