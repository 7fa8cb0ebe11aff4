/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"

#include "base/status.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/types.h>

void random_secret(void *out, size_t bytes)
{
    unsigned char *at = out;
    while (bytes > 0) {
        ssize_t got = getrandom(at, bytes, 0);
        if (got < 0 && errno == EINTR)
            continue;
        invariant(got > 0); /* a guessable secret is worse than a stop */
        at += got;
        bytes -= (size_t)got;
    }
}

static uint64_t rotate_left(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

/* splitmix64: spreads near-by seeds far apart, and never gives the all-zero state twice in a
 * row. */
static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void random_seed(struct random *random, uint64_t seed)
{
    random->state[0] = splitmix(&seed);
    random->state[1] = splitmix(&seed);
}

void random_start(struct random *random)
{
    uint64_t seed;
    random_secret(&seed, sizeof seed);
    random_seed(random, seed);
}

uint64_t random_next(struct random *random)
{
    uint64_t a = random->state[0];
    uint64_t b = random->state[1];
    uint64_t result = a + b;
    b ^= a;
    random->state[0] = rotate_left(a, 24) ^ b ^ b << 16;
    random->state[1] = rotate_left(b, 37);
    return result;
}

/* Lemire's multiply: the high half of a 128-bit product, thrown again in the few cases that
 * would favour some numbers. Ends with probability 1; each round succeeds with more than one
 * half. */
uint64_t random_below(struct random *random, uint64_t bound)
{
    invariant(bound > 0);
    for (;;) {
        unsigned __int128 product = (unsigned __int128)random_next(random) * bound;
        uint64_t low = (uint64_t)product;
        if (low >= bound || low >= (0 - bound) % bound)
            return (uint64_t)(product >> 64);
    }
}
