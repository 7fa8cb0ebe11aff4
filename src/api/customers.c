/* SPDX-License-Identifier: Apache-2.0 */
#include "api/customers.h"

#include "base/log.h"
#include "base/random.h"
#include "base/ring.h"
#include "base/sign.h"
#include "contract/customers.h"
#include "contract/order_store.h"
#include "funnel/keys.h"

#include <stdlib.h>

static_assert((int)CUSTOMER_NONCE_BYTES == (int)SIGN_SEAL_NONCE_BYTES, "as AES-GCM has it");
static_assert((int)CUSTOMER_TAG_BYTES == (int)SIGN_SEAL_TAG_BYTES, "as AES-GCM has it");

enum { NOTES_MAX = 16384 }; /* of each edge, not written yet */

struct note {
    user_id user;
    uint32_t bytes;
    char subject[SUBJECT_BYTES_MAX];
};

struct customers {
    struct arena arena;
    uint8_t key[SIGN_SEAL_KEY_BYTES];
    uint32_t edges;
    struct ring *rings; /* one an edge */
    struct customer *batch;
};

enum status customers_open(struct customers **opened, uint32_t edges, const struct funnel_keys *keys)
{
    struct customers *customers = calloc(1, sizeof *customers);
    *opened = NULL;
    if (customers == NULL)
        return STATUS_FULL;
    customers->edges = edges;
    memcpy(customers->key, keys->customer, sizeof customers->key);
    const size_t bytes = edges * (sizeof(struct ring) + NOTES_MAX * sizeof(struct note) + 256)
        + CUSTOMERS_PUT_MAX * sizeof(struct customer) + 4096;
    const enum status status = arena_open(&customers->arena, bytes);
    if (status != STATUS_OK) {
        free(customers);
        return status;
    }
    customers->rings = arena_take(&customers->arena, edges, sizeof *customers->rings);
    customers->batch = arena_take(&customers->arena, CUSTOMERS_PUT_MAX, sizeof *customers->batch);
    for (uint32_t i = 0; i < edges; i++)
        ring_create(&customers->rings[i], &customers->arena, NOTES_MAX, sizeof(struct note));
    *opened = customers;
    return STATUS_OK;
}

void customers_close(struct customers *customers)
{
    if (customers == NULL)
        return;
    explicit_bzero(customers->key, sizeof customers->key);
    arena_close(&customers->arena);
    free(customers);
}

bool customers_note(struct customers *customers, uint32_t edge, user_id user, struct span subject)
{
    invariant(edge < customers->edges && subject.size <= SUBJECT_BYTES_MAX);
    struct note *note = ring_reserve(&customers->rings[edge]);
    if (note == NULL)
        return false;
    note->user = user;
    note->bytes = (uint32_t)subject.size;
    memcpy(note->subject, subject.data, subject.size);
    ring_commit(&customers->rings[edge]);
    ring_publish(&customers->rings[edge]);
    return true;
}

/* The user's id is bound in, so that rows can't be swapped. */
static bool note_seal(const struct customers *customers, const struct note *note, struct customer *out)
{
    random_secret(out->sealed, CUSTOMER_NONCE_BYTES);
    size_t size = sizeof out->sealed - CUSTOMER_NONCE_BYTES;
    out->user = note->user;
    if (sign_seal(customers->key, span_of(out->sealed, CUSTOMER_NONCE_BYTES),
            span_of(&out->user, sizeof out->user), span_of(note->subject, note->bytes),
            out->sealed + CUSTOMER_NONCE_BYTES, &size)
        != STATUS_OK)
        return false;
    out->bytes = CUSTOMER_NONCE_BYTES + (uint32_t)size;
    return true;
}

static bool ring_write(
    struct customers *customers, struct ring *ring, struct order_store *store, uint64_t now_ms)
{
    const uint64_t head = ring->head_local;
    const struct note *note;
    uint32_t count = 0;
    while (count < CUSTOMERS_PUT_MAX && (note = ring_peek(ring)) != NULL) {
        if (note_seal(customers, note, &customers->batch[count]))
            count++;
        else
            log_error("worker", "a customer's name can't be encrypted: orders will not show it");
        ring_pop(ring);
    }
    if (count > 0 && store->ops->customers->put(store, customers->batch, count, now_ms) != STATUS_OK) {
        ring->head_local = head; /* again later */
        return false;
    }
    ring_release(ring);
    return count == CUSTOMERS_PUT_MAX;
}

bool customers_turn(struct customers *customers, struct order_store *store, uint64_t now_ms)
{
    bool more = false;
    for (uint32_t i = 0; i < customers->edges; i++)
        if (ring_peek(&customers->rings[i]) != NULL)
            more |= ring_write(customers, &customers->rings[i], store, now_ms);
    return more;
}

enum status customers_json(
    const struct customers *customers, struct order_store *store, user_id user, struct text *out)
{
    struct customer row;
    char subject[SUBJECT_BYTES_MAX];
    size_t size = sizeof subject;
    const enum status status = store->ops->customers->get(store, user, &row);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    if (status == STATUS_OK && row.bytes > CUSTOMER_NONCE_BYTES
        && sign_unseal(customers->key, span_of(row.sealed, CUSTOMER_NONCE_BYTES),
               span_of(&row.user, sizeof row.user),
               span_of(row.sealed + CUSTOMER_NONCE_BYTES, row.bytes - CUSTOMER_NONCE_BYTES), subject, &size)
            == STATUS_OK)
        text_json(out, span_of(subject, size));
    else
        text_literal(out, "null");
    return STATUS_OK;
}
