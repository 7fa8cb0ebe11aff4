/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/lockout.h"

#include <pthread.h>
#include <stdlib.h>

enum { LINE_PLACES = 8, FIRST_MS = 1000, DOUBLINGS_MAX = 16 };

struct place {
    uint64_t hash; /* 0: free */
    uint64_t seen_ms, until_ms, passed_ms;
    uint32_t failures;
};
struct lockout {
    pthread_mutex_t lock;
    struct hash_key key;
    uint32_t v6_bits;
    struct place places[LOCKOUT_PLACES];
};

enum status lockout_open(struct lockout **out, struct hash_key key, uint32_t v6_bits)
{
    struct lockout *lockout = calloc(1, sizeof *lockout);
    *out = lockout;
    if (lockout == NULL)
        return STATUS_FULL;
    invariant(pthread_mutex_init(&lockout->lock, NULL) == 0);
    lockout->key = key;
    lockout->v6_bits = v6_bits;
    return STATUS_OK;
}

void lockout_close(struct lockout *lockout)
{
    if (lockout != NULL)
        pthread_mutex_destroy(&lockout->lock);
    free(lockout);
}

static uint64_t hash_of(const struct lockout *lockout, const struct address *client)
{
    const struct address group = address_group(client, lockout->v6_bits);
    const uint64_t hash = address_hash(lockout->key, &group);
    return hash != 0 ? hash : 1;
}

static uint64_t line_of(uint64_t hash)
{
    return hash % (LOCKOUT_PLACES / LINE_PLACES) * LINE_PLACES;
}

/* NULL: nothing is known of it. */
static const struct place *place_find(const struct lockout *lockout, uint64_t hash)
{
    const struct place *line = &lockout->places[line_of(hash)];
    for (uint32_t i = 0; i < LINE_PLACES; i++)
        if (line[i].hash == hash)
            return &line[i];
    return NULL;
}

/* Its place, or that of the one that was not seen for longest. */
static struct place *place_take(struct lockout *lockout, uint64_t hash, uint64_t now_ms)
{
    struct place *line = &lockout->places[line_of(hash)], *oldest = line;
    for (uint32_t i = 0; i < LINE_PLACES; i++) {
        if (line[i].hash == hash) {
            line[i].seen_ms = now_ms;
            return &line[i];
        }
        if (line[i].seen_ms < oldest->seen_ms)
            oldest = &line[i];
    }
    *oldest = (struct place){ .hash = hash, .seen_ms = now_ms };
    return oldest;
}

static bool is_this_machine(const struct address *client)
{
    static const struct address six = { { [15] = 1 } };
    return address_is_v4(client) ? client->bytes[12] == 127 : address_equal(client, &six);
}

uint32_t lockout_wait_ms(struct lockout *lockout, const struct address *client, uint64_t now_ms)
{
    pthread_mutex_lock(&lockout->lock);
    const struct place *place = place_find(lockout, hash_of(lockout, client));
    const uint64_t until_ms = place == NULL ? 0 : place->until_ms;
    pthread_mutex_unlock(&lockout->lock);
    if (now_ms >= until_ms)
        return 0;
    const uint64_t wait_ms = until_ms - now_ms;
    return wait_ms <= LOCKOUT_MAX_MS ? (uint32_t)wait_ms : 0; /* more: the clock was set back */
}

static void failed(struct lockout *lockout, const struct address *client, uint64_t now_ms)
{
    const uint64_t hash = hash_of(lockout, client);
    const struct place *known = place_find(lockout, hash);
    const bool forgotten = known != NULL && now_ms > known->seen_ms + LOCKOUT_FORGET_MS;
    struct place *place = place_take(lockout, hash, now_ms);
    place->failures = forgotten ? 1 : place->failures + 1;
    const bool trusted = place->passed_ms != 0 && now_ms < place->passed_ms + LOCKOUT_TRUST_MS;
    if (place->failures <= LOCKOUT_FREE || trusted)
        return;
    const uint32_t more = place->failures - LOCKOUT_FREE - 1;
    const uint64_t most_ms = is_this_machine(client) ? LOCKOUT_LOCAL_MS : LOCKOUT_MAX_MS;
    const uint64_t wait_ms = (uint64_t)FIRST_MS << (more < DOUBLINGS_MAX ? more : DOUBLINGS_MAX);
    place->until_ms = now_ms + (wait_ms < most_ms ? wait_ms : most_ms);
}

void lockout_failed(struct lockout *lockout, const struct address *client, uint64_t now_ms)
{
    pthread_mutex_lock(&lockout->lock);
    failed(lockout, client, now_ms);
    pthread_mutex_unlock(&lockout->lock);
}

void lockout_passed(struct lockout *lockout, const struct address *client, uint64_t now_ms)
{
    pthread_mutex_lock(&lockout->lock);
    struct place *place = place_take(lockout, hash_of(lockout, client), now_ms);
    place->passed_ms = now_ms;
    place->failures = 0;
    place->until_ms = 0;
    pthread_mutex_unlock(&lockout->lock);
}
