/* SPDX-License-Identifier: Apache-2.0 */
/* contract/admin_store.h: what the database of record does for requests of administrators: one
 * transaction around everything that a request changes, with its audit rows and its answer; and the
 * answers of requests that had an Idempotency-Key.
 * Thread and errors: as contract/order_store.h. */
#ifndef STAMPEDE_CONTRACT_ADMIN_STORE_H
#define STAMPEDE_CONTRACT_ADMIN_STORE_H

#include "base/span.h"
#include "contract/order_store.h"

enum {
    REQUEST_KEPT_MS = 24 * 60 * 60 * 1000, /* how long an answer is kept at least */
    REQUEST_BODY_MAX = 256 * 1024,
};

struct kept_request {
    uint64_t key;     /* never 0 */
    uint64_t request; /* hash of what was asked */
    uint64_t time_ms;
    int status;       /* of the answer */
    struct span body; /* of the answer; from request_get: inside the caller's room */
};

struct admin_store_ops {
    /* From here to `end` all changes belong to one transaction; other calls begin and end parts of
     * it. STATUS_AWAY: it can't be written now. */
    enum status (*begin)(struct order_store *);
    /* Before a wait, during which others write: ends a transaction that has changed nothing so far (else it
     * is a bug); `begin` begins it again. False: none was open. */
    bool (*pause)(struct order_store *);
    bool (*is_open)(const struct order_store *);
    /* keep false, or any answer but STATUS_OK: nothing of it was changed. STATUS_UNKNOWN: it is not
     * changed now, but may be after a crash. */
    enum status (*end)(struct order_store *, bool keep);
    /* STATUS_NOT_FOUND: no such key, or it is too old. */
    enum status (*request_get)(
        struct order_store *, uint64_t key, struct kept_request *, char *room, size_t room_bytes);
    /* Within begin and end. Answers that are too old go. */
    enum status (*request_put)(struct order_store *, const struct kept_request *);
    /* How audit rows of records name the channels, by index; before that they are numbers. */
    void (*channel_names)(struct order_store *, const char names[CHANNELS_MAX][CHANNEL_NAME_MAX + 1]);
};

#endif
