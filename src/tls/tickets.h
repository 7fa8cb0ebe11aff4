/* SPDX-License-Identifier: Apache-2.0 */
/* tls/tickets.h: the keys that seal session tickets, so that a client that comes back saves the signature of
 * a handshake. Only in memory: after a restart every client makes a whole handshake again. A key seals for
 * TICKET_KEY_S and opens for as long again; then nobody can open what was recorded in its time.
 * Thread: any (a lock; never on an edge). Errors: none. */
#ifndef STAMPEDE_TLS_TICKETS_H
#define STAMPEDE_TLS_TICKETS_H

#include "base/status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    TICKET_KEY_S = 4 * 3600,
    TICKET_KEYS = 2, /* the one that seals, and the one before it */
    TICKET_NAME_BYTES = 16,
    TICKET_SECRET_BYTES = 32,
};

struct ticket_key {
    unsigned char name[TICKET_NAME_BYTES];
    unsigned char cipher[TICKET_SECRET_BYTES], mac[TICKET_SECRET_BYTES];
};
struct tickets {
    pthread_mutex_t lock;
    struct ticket_key keys[TICKET_KEYS]; /* the newest first */
    uint64_t made_ms;                    /* of the newest; 0: there is none */
};

void tickets_open(struct tickets *tickets, uint64_t now_ms);
void tickets_close(struct tickets *tickets); /* wipes the keys */
/* The key that seals now; makes a new one when it is time. */
void tickets_seal(struct tickets *tickets, uint64_t now_ms, struct ticket_key *key);
/* The key of that name. False: it is not known (any more). *renew: the client should get a new ticket. */
MUST_CHECK bool tickets_find(struct tickets *tickets, const unsigned char name[TICKET_NAME_BYTES],
    uint64_t now_ms, struct ticket_key *key, bool *renew);

#endif
