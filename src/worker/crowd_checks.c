/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/crowd_checks.h"

#include "base/arena.h"
#include "base/metrics.h"
#include "edge/edge.h"
#include "funnel/limits.h"
#include "funnel/spent.h"
#include "worker/alarms.h"
#include "worker/task.h"

enum { LOOK_MS = 250, CALM_MS = 60 * 1000, NEARLY_FULL_PERCENT = 80 };

GAUGE(connections_open, "stampede_edge_connections_open", "Connections that are open, of all edges.");
GAUGE(connections_bound, "stampede_edge_connections_max", "The bound: more are refused.");

/* A number that grows while a table is too small. */
struct sign {
    uint64_t seen;
    uint64_t seen_ms; /* when it grew */
};

struct crowd_checks {
    struct crowd_checks_config config;
    struct sign limits, spent, tokens;
};

static bool sign_is_recent(struct sign *sign, uint64_t count, uint64_t now_ms)
{
    if (count != sign->seen)
        *sign = (struct sign){ count, now_ms };
    return sign->seen_ms != 0 && now_ms < sign->seen_ms + CALM_MS;
}

static void spent_look(struct crowd_checks *checks, uint64_t now_ms)
{
    const uint64_t spent = spent_crowded(checks->config.spent);
    const uint64_t tokens = spent_crowded(checks->config.tokens);
    const bool marks = sign_is_recent(&checks->spent, spent, now_ms);
    const bool jti = sign_is_recent(&checks->tokens, tokens, now_ms);
    alarm_set(ALARM_SPENT, marks || jti, now_ms,
        "%s too small for this crowd: raise and restart, or used ones are forgotten early",
        !jti         ? "human.spent_max is"
            : !marks ? "session.jti_max is"
                     : "human.spent_max and session.jti_max are");
}

static void connections_look(const struct crowd_checks *checks, uint64_t now_ms)
{
    const uint64_t max = checks->config.connections_max, open = edge_connections_open();
    metric_set(&connections_open, open);
    metric_set(&connections_bound, max);
    alarm_set(ALARM_CONNECTIONS, open * 100 >= max * NEARLY_FULL_PERCENT, now_ms,
        "%llu of %llu connections are open: raise server.connections_max and restart before new "
        "ones are refused",
        (unsigned long long)open, (unsigned long long)max);
}

/* Limits: a client who asked little lost its place. Nobody is refused for it, but who comes in turns with
 * others may ask more often than the limit says. */
static uint64_t checks_turn(void *self, uint64_t now_ms)
{
    struct crowd_checks *checks = self;
    alarm_set(ALARM_LIMITS,
        sign_is_recent(&checks->limits, limits_evicted(checks->config.limits), now_ms), now_ms,
        "limits.user_entries or limits.address_entries is too small for this crowd: raise them "
        "and restart");
    spent_look(checks, now_ms);
    connections_look(checks, now_ms);
    return now_ms + LOOK_MS;
}

void crowd_checks_open(struct arena *arena, const struct crowd_checks_config *config, struct task *task)
{
    struct crowd_checks *checks = arena_take(arena, 1, sizeof *checks);
    checks->config = *config;
    *task = (struct task){ .name = "crowd", .self = checks, .turn = checks_turn };
}
