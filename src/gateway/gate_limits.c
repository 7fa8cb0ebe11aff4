/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/gate_limits.h"

#include "base/random.h"
#include "edge/caller_counts.h"
#include "funnel/keys.h"
#include "funnel/limits.h"
#include "funnel/lockout.h"
#include "funnel/switches.h"
#include "gateway/console_sessions.h"
#include "gateway/password_checks.h"

#include <stdio.h>

enum { CALLERS_MAX = 1 << 20 }; /* addresses whose connections are counted apart */

static struct limits_rates rates_of(const struct config *config)
{
    return (struct limits_rates){ .address_per_s = (uint32_t)config->address_per_s,
        .address_burst = (uint32_t)config->address_burst,
        .user_requests = (uint32_t)config->user_requests,
        .user_window_ms = (uint32_t)config->user_window_ms,
        .admission_per_s = (uint32_t)config->admission_per_s };
}

static enum status callers_open(struct gate_limits *gate, const struct config *config, uint32_t edges)
{
    const uint64_t most = edges * config->connections_max;
    struct hash_key key;
    if (config->connections_per_address == 0)
        return STATUS_OK;
    random_secret(&key, sizeof key);
    return caller_counts_create(&gate->callers, most < CALLERS_MAX ? (uint32_t)most : CALLERS_MAX,
        (uint32_t)config->connections_per_address, (uint32_t)config->v6_prefix, key);
}

enum status gate_limits_open(struct gate_limits *gate, const struct config *config, uint32_t edges,
    bool shared, char error[CONFIG_ERROR])
{
    struct limits_config limits = { .addresses = (uint32_t)config->address_entries,
        .users = (uint32_t)config->user_entries,
        .items = (uint32_t)config->items_max,
        .user_requests_max = (uint32_t)config->user_requests,
        .v6_bits = (uint32_t)config->v6_prefix,
        .shared = shared,
        .rates = rates_of(config) };
    struct span bad;
    random_secret(&limits.key, sizeof limits.key);
    if (trusted_parse(&gate->trusted, span_from_string(config->proxy_trusted), &bad) != STATUS_OK) {
        snprintf(error, CONFIG_ERROR, "proxy.trusted: %.*s", (int)bad.size, bad.data);
        return STATUS_BAD_INPUT;
    }
    channel_rates_set(&gate->channel_rates, (uint32_t)config->channel_requests_per_s);
    gate->trusted.proxy_protocol = strcmp(config->proxy_protocol, "on") == 0;
    enum status status = limits_create(&gate->limits, &limits);
    if (status == STATUS_OK)
        status = callers_open(gate, config, edges);
    if (status == STATUS_OK) {
        struct hash_key key;
        random_secret(&key, sizeof key);
        status = lockout_open(&gate->lockout, key, (uint32_t)config->v6_prefix);
    }
    if (status == STATUS_OK)
        status = console_sessions_open(&gate->console);
    if (status == STATUS_OK)
        status = password_checks_open(&gate->passwords, (uint32_t)config->v6_prefix);
    if (status != STATUS_OK)
        snprintf(error, CONFIG_ERROR, "no memory for the tables of [limits]");
    return status;
}

void gate_limits_join(struct gate_limits *gate, const struct funnel_keys *keys)
{
    limits_join(gate->limits, keys->address);
}

enum status gate_limits_start(struct gate_limits *gate)
{
    return password_checks_start(gate->passwords);
}

void gate_limits_close(struct gate_limits *gate)
{
    password_checks_close(gate->passwords);
    limits_free(gate->limits);
    caller_counts_free(gate->callers);
    lockout_close(gate->lockout);
    console_sessions_close(gate->console);
}

void gate_limits_apply(struct limits *limits, const struct switches *switches, const struct config *config)
{
    struct limits_rates rates = rates_of(config);
    rates.admission_per_s = switch_value(switches, SWITCH_ADMISSION_PER_S);
    rates.address_per_s = switch_value(switches, SWITCH_BYPASS_ADDRESS_LIMIT) != 0
        ? 0
        : switch_value(switches, SWITCH_ADDRESS_RATE);
    if (switch_value(switches, SWITCH_BYPASS_USER_LIMIT) != 0)
        rates.user_requests = 0;
    limits_set(limits, &rates);
}
