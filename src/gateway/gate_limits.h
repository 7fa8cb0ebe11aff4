/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/gate_limits.h: the limits that all edges share: the rates (funnel/limits.h), the connections of
 * each address, the proxies that are trusted, the sessions of the console and the passwords for it, as
 * configured and as the switches say. Memory: at open. */
#ifndef STAMPEDE_GATEWAY_GATE_LIMITS_H
#define STAMPEDE_GATEWAY_GATE_LIMITS_H

#include "config/config.h"
#include "edge/forwarded.h"
#include "gateway/channel_rates.h"

struct caller_counts;
struct console_sessions;
struct funnel_keys;
struct limits;
struct lockout;
struct password_checks;
struct switches;

struct gate_limits {
    struct limits *limits;
    struct caller_counts *callers; /* NULL: no cap */
    struct lockout *lockout;       /* addresses that showed wrong admin keys */
    struct channel_rates channel_rates;
    struct console_sessions *console;
    struct password_checks *passwords;
    struct trusted trusted;
};

/* `shared`: there are other gateways, and gate_limits_join follows. */
MUST_CHECK enum status gate_limits_open(struct gate_limits *gate, const struct config *config,
    uint32_t edges, bool shared, char error[CONFIG_ERROR]);
MUST_CHECK enum status gate_limits_start(struct gate_limits *gate); /* the thread of passwords */
void gate_limits_close(struct gate_limits *gate);                   /* accepts a zeroed one */
/* Before the threads run, if there are other gateways: they know addresses by these keys, too. */
void gate_limits_join(struct gate_limits *gate, const struct funnel_keys *keys);
/* The rates that follow from configuration and switches, for all edges at once. Thread: one. */
void gate_limits_apply(
    struct limits *limits, const struct switches *switches, const struct config *config);

#endif
