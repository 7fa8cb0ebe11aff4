/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/evict.h"

#include "edge/sending.h"
#include "edge/serve.h"

enum {
    EVICT_PROBES = 512,      /* slots looked at in one search */
    EVICT_CANDIDATES = 64,   /* of these, compared by address */
    EVICT_AGE_MS = 1000,     /* what is younger is left alone when a place is wanted */
    FULL_PERCENT = 80,       /* from here on heads have less time */
    HEAD_TIMEOUT_SHARE = 10, /* this part of it */
    HEAD_TIMEOUT_MIN_MS = 1000,
};

struct candidate {
    struct connection *connection;
    uint32_t age_ms;
};
struct candidates {
    struct candidate list[EVICT_CANDIDATES];
    uint32_t count;
};

static bool is_partial(const struct connection *connection)
{
    return connection->phase == PHASE_HEAD || connection->phase == PHASE_BODY
        || connection->phase == PHASE_PROXY;
}

/* Since the first byte of its unfinished request. */
static uint32_t partial_age(const struct edge *edge, const struct connection *connection)
{
    const uint32_t timeout = connection->phase == PHASE_BODY ? edge->config.body_timeout_ms
                                                             : edge->config.head_timeout_ms;
    return timeout - (connection->phase_until - edge->now);
}

static bool waits_for_bytes(const struct edge *edge, const struct connection *connection)
{
    return connection->fd >= 0 && connection != edge->serving && is_partial(connection)
        && connection_owes(connection) == 0 && !sending_pending(connection)
        && connection->refuse_status == 0 && !connection->finishing && !connection->lingering;
}

static struct connection *probe(struct edge *edge)
{
    edge->evict_hand = edge->evict_hand + 1 < edge->table.fresh ? edge->evict_hand + 1 : 0;
    return &edge->table.slots[edge->evict_hand];
}

static void candidate_add(struct candidates *all, struct connection *connection, uint32_t age_ms)
{
    if (all->count < EVICT_CANDIDATES)
        all->list[all->count++] = (struct candidate){ connection, age_ms };
}

static uint32_t same_address(const struct candidates *all, uint32_t index)
{
    uint32_t same = 0;
    for (uint32_t i = 0; i < all->count; i++)
        same += address_equal(&all->list[i].connection->client, &all->list[index].connection->client);
    return same;
}

/* The oldest one of the address that has most. NULL: there is none. */
static struct connection *victim(const struct candidates *all)
{
    const struct candidate *worst = NULL;
    uint32_t most = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        const uint32_t same = same_address(all, i);
        if (same < most || (same == most && worst != NULL && all->list[i].age_ms <= worst->age_ms))
            continue;
        most = same;
        worst = &all->list[i];
    }
    return worst == NULL ? NULL : worst->connection;
}

static bool victim_close(struct edge *edge, struct connection *connection)
{
    if (connection == NULL)
        return false;
    edge->counts.turned_away++;
    serve_close(edge, connection);
    return true;
}

bool evict_for_place(struct edge *edge)
{
    struct candidates partial = { .count = 0 };
    struct connection *idle = NULL;
    uint32_t idle_longest = EVICT_AGE_MS;
    for (uint32_t i = 0; i < EVICT_PROBES && i < edge->table.fresh; i++) {
        struct connection *seen = probe(edge);
        if (waits_for_bytes(edge, seen)) {
            const uint32_t age_ms = partial_age(edge, seen);
            if (age_ms >= EVICT_AGE_MS)
                candidate_add(&partial, seen, age_ms);
        } else if (seen->fd >= 0 && serve_is_idle(seen)) {
            const uint32_t idle_ms =
                edge->config.idle_timeout_ms - (edge->table.deadlines[seen->index] - edge->now);
            if (idle_ms >= idle_longest) {
                idle = seen;
                idle_longest = idle_ms;
            }
        }
    }
    struct connection *late = victim(&partial);
    return victim_close(edge, late != NULL ? late : idle);
}

bool evict_for_buffer(struct edge *edge, const struct connection *asker, size_t bytes)
{
    struct candidates holders = { .count = 0 };
    for (uint32_t i = 0; i < EVICT_PROBES && i < edge->table.fresh; i++) {
        struct connection *seen = probe(edge);
        if (seen != asker && waits_for_bytes(edge, seen) && (asker->favoured || !seen->favoured)
            && buffer_capacity(&edge->buffers, &seen->in) >= bytes)
            candidate_add(&holders, seen, partial_age(edge, seen));
    }
    return victim_close(edge, victim(&holders));
}

void evict_late_heads(struct edge *edge)
{
    if ((uint64_t)edge->table.open * 100 < (uint64_t)edge->config.connections_max * FULL_PERCENT)
        return;
    uint32_t timeout_ms = edge->config.head_timeout_ms / HEAD_TIMEOUT_SHARE;
    if (timeout_ms < HEAD_TIMEOUT_MIN_MS)
        timeout_ms = HEAD_TIMEOUT_MIN_MS;
    for (uint32_t i = 0; i < edge->table.fresh; i++) {
        struct connection *connection = &edge->table.slots[i];
        if (waits_for_bytes(edge, connection) && connection->phase != PHASE_BODY
            && partial_age(edge, connection) >= timeout_ms) {
            edge->counts.timed_out++;
            serve_close(edge, connection); /* a gentle close would keep the place */
        }
    }
}
