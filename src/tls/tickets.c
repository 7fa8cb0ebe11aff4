/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/tickets.h"

#include "base/random.h"

#include <string.h>

enum { TICKET_KEY_MS = TICKET_KEY_S * 1000 };

/* A key that is older than twice its time opens nothing, even if nobody asked in between. */
static void rotate(struct tickets *tickets, uint64_t now_ms)
{
    const uint64_t age_ms = now_ms - tickets->made_ms;
    if (age_ms < TICKET_KEY_MS)
        return;
    tickets->keys[1] = tickets->keys[0];
    if (age_ms >= 2ull * TICKET_KEY_MS)
        random_secret(&tickets->keys[1], sizeof tickets->keys[1]);
    random_secret(&tickets->keys[0], sizeof tickets->keys[0]);
    tickets->made_ms = now_ms;
}

void tickets_open(struct tickets *tickets, uint64_t now_ms)
{
    invariant(pthread_mutex_init(&tickets->lock, NULL) == 0);
    random_secret(tickets->keys, sizeof tickets->keys);
    tickets->made_ms = now_ms;
}

void tickets_close(struct tickets *tickets)
{
    explicit_bzero(tickets->keys, sizeof tickets->keys);
    pthread_mutex_destroy(&tickets->lock);
}

void tickets_seal(struct tickets *tickets, uint64_t now_ms, struct ticket_key *key)
{
    pthread_mutex_lock(&tickets->lock);
    rotate(tickets, now_ms);
    *key = tickets->keys[0];
    pthread_mutex_unlock(&tickets->lock);
}

bool tickets_find(struct tickets *tickets, const unsigned char name[TICKET_NAME_BYTES],
    uint64_t now_ms, struct ticket_key *key, bool *renew)
{
    bool found = false;
    pthread_mutex_lock(&tickets->lock);
    rotate(tickets, now_ms);
    for (int i = 0; i < TICKET_KEYS && !found; i++) {
        found = memcmp(tickets->keys[i].name, name, TICKET_NAME_BYTES) == 0; /* a name is no secret */
        if (found) {
            *key = tickets->keys[i];
            *renew = i > 0;
        }
    }
    pthread_mutex_unlock(&tickets->lock);
    return found;
}
