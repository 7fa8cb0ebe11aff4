/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/anomaly_findings.h"

#include "base/address.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/text.h"
#include "config/config.h"
#include "contract/bans.h"
#include "contract/order_store.h"
#include "funnel/anomaly/watch_rules.h"
#include "worker/ban_list.h"
#include "worker/task.h"
#include "worker/top_refused.h"

#include <stdio.h>
#include <string.h>

enum {
    LOOK_MS = 1000,
    MINUTE_MS = 60 * 1000,
    FINDINGS_PER_LOOK = 32,
    BANS_SHARE = 20, /* one of so many who were seen within the minute … */
    BANS_LEAST = 5,  /* … but these at least: a single machine on a quiet day */
    WATCHED_MAX = 256,
};

enum watched_outcome {
    WATCHED_REPORTED,
    WATCHED_BANNED,
    WATCHED_HELD_BACK, /* enough were banned in this minute */
    WATCHED_PROTECTED, /* the machine itself, or a proxy of it */
    WATCHED_FAILED,    /* the database did not take the ban */
};
struct watched {
    uint64_t time_ms;
    struct watch_finding found;
    uint8_t outcome; /* enum watched_outcome */
    uint64_t ban;    /* 0: none */
};

/* What the rules found lately, and how much they may still do about it. */
struct anomaly_findings {
    struct anomaly_findings_config config;
    struct watch *watches[EDGES_MAX];
    struct watch_book *book;
    struct watch_settings settings;
    uint64_t minute_ms, minute_bans;
    uint64_t found; /* so many in all; the last WATCHED_MAX are here */
    uint64_t found_by[WATCH_RULES], banned_by[WATCH_RULES];
    struct watched watched[WATCHED_MAX];
    struct top_refused top;
};

static const char *const mode_names[] = { "off", "report", "ban" };
static const char *const outcome_names[] = {
    [WATCHED_REPORTED] = "reported",
    [WATCHED_BANNED] = "banned",
    [WATCHED_HELD_BACK] = "held-back",
    [WATCHED_PROTECTED] = "protected",
    [WATCHED_FAILED] = "failed",
};

#define FOUND(rule) \
    { \
        .name = "stampede_watch_found_total", .labels = "rule=\"" rule "\"", \
        .help = "Addresses and users that a rule found.", .kind = METRIC_COUNTER \
    }
#define BANNED(rule) \
    { \
        .name = "stampede_watch_banned_total", .labels = "rule=\"" rule "\"", \
        .help = "Addresses and users that a rule banned.", .kind = METRIC_COUNTER \
    }
static struct metric found_metrics[WATCH_RULES] = { FOUND("rate"), FOUND("failures"),
    FOUND("crowd"), FOUND("roaming"), FOUND("timing"), FOUND("unpaid") };
static struct metric banned_metrics[WATCH_RULES] = { BANNED("rate"), BANNED("failures"),
    BANNED("crowd"), BANNED("roaming"), BANNED("timing"), BANNED("unpaid") };
METRIC_TABLE(found_metrics);
METRIC_TABLE(banned_metrics);
COUNTER(lost_metric, "stampede_watch_lost_total", "Rows evicted from the tables of the edges.");

static uint8_t mode_of(const char *name)
{
    uint8_t mode = 0;
    while (mode < WATCH_BAN && strcmp(mode_names[mode], name) != 0)
        mode++;
    return mode;
}

static struct watch_settings settings_of(const struct config *config)
{
    return (struct watch_settings){
        .modes = { [WATCH_RATE] = mode_of(config->watch_rate),
            [WATCH_FAILURES] = mode_of(config->watch_failures),
            [WATCH_CROWD] = mode_of(config->watch_crowd),
            [WATCH_ROAMING] = mode_of(config->watch_roaming),
            [WATCH_TIMING] = mode_of(config->watch_timing),
            [WATCH_UNPAID] = mode_of(config->watch_unpaid) },
        .rate_per_s = (uint32_t)config->watch_rate_per_s,
        .rate_for_s = (uint32_t)config->watch_rate_for_s,
        .failures_per_minute = (uint32_t)config->watch_failures_per_minute,
        .crowd_users = (uint32_t)config->watch_crowd_users,
        .roaming_addresses = (uint32_t)config->watch_roaming_addresses,
        .early_ms = (uint32_t)config->watch_early_ms,
        .early_starts = (uint32_t)config->watch_early_starts,
        .regular_count = (uint32_t)config->watch_regular_count,
        .unpaid_wins = (uint32_t)config->watch_unpaid_wins,
    };
}

static void tables_fold(struct anomaly_findings *state, uint64_t now_ms)
{
    for (uint32_t edge = 0; edge < state->config.edges; edge++) {
        const struct watch_table *table = watch_take(state->watches[edge]);
        if (table == NULL)
            continue; /* the edge did not turn within this second: next time */
        metric_add(&lost_metric, table->lost);
        watch_book_fold(state->book, table, now_ms);
        top_refused_fold(&state->top, table, now_ms);
        watch_give(state->watches[edge]);
    }
}

/* How many may be banned in this minute. */
static uint64_t bans_allowed(const struct anomaly_findings *state)
{
    const uint64_t most = state->config.config->watch_bans_per_minute;
    const uint64_t share = watch_book_seen(state->book) / BANS_SHARE;
    const uint64_t wanted = share < BANS_LEAST ? BANS_LEAST : share;
    return wanted < most ? wanted : most;
}

static struct ban ban_of(
    const struct anomaly_findings *state, const struct watch_finding *found, uint64_t now_ms)
{
    struct ban ban = { .kind = found->user != 0 ? BAN_USER : BAN_ADDRESS,
        .user = found->user,
        .block = { found->address, found->bits },
        .created_ms = now_ms,
        .until_ms = now_ms + state->config.config->watch_ban_minutes * MINUTE_MS };
    snprintf(ban.reason, sizeof ban.reason, "%s", found->reason);
    snprintf(ban.by, sizeof ban.by, "rule %s", watch_rule_name(found->rule));
    return ban;
}

static void ban_audit(struct order_store *store, const struct ban *ban, uint64_t now_ms)
{
    struct audit_entry entry = { .time_ms = now_ms, .action = "ban.add" };
    char whom[ADDRESS_BLOCK_CHARS_MAX + 8];
    ban_target(ban, whom);
    snprintf(entry.actor, sizeof entry.actor, "%s", ban->by);
    snprintf(entry.detail, sizeof entry.detail, "ban %llu of %s until %llu: %s",
        (unsigned long long)ban->id, whom, (unsigned long long)ban->until_ms, ban->reason);
    if (store->ops->audit_append(store, &entry) != STATUS_OK)
        log_error("watch", "the audit entry \"%s\" can't be written", entry.detail);
}

/* What becomes of a finding; *ban is filled if somebody was banned. */
static enum watched_outcome finding_act(struct anomaly_findings *state,
    const struct watch_finding *found, struct ban *ban, uint64_t now_ms)
{
    if (state->settings.modes[found->rule] != WATCH_BAN)
        return WATCHED_REPORTED;
    *ban = ban_of(state, found, now_ms);
    if (ban->kind == BAN_ADDRESS && ban_list_is_protected(state->config.bans, &ban->block))
        return WATCHED_PROTECTED;
    if (state->minute_bans >= bans_allowed(state))
        return WATCHED_HELD_BACK;
    if (ban_list_put(state->config.bans, ban) != STATUS_OK)
        return WATCHED_FAILED;
    state->minute_bans++;
    ban_audit(state->config.store, ban, now_ms);
    return WATCHED_BANNED;
}

static void finding_take(struct anomaly_findings *state, const struct watch_finding *found, uint64_t now_ms)
{
    struct ban ban = ban_of(state, found, now_ms);
    char whom[ADDRESS_BLOCK_CHARS_MAX + 8];
    const enum watched_outcome outcome = finding_act(state, found, &ban, now_ms);
    state->watched[state->found % WATCHED_MAX] = (struct watched){
        .time_ms = now_ms, .found = *found, .outcome = (uint8_t)outcome, .ban = ban.id
    };
    state->found++;
    state->found_by[found->rule]++;
    metric_add(&found_metrics[found->rule], 1);
    if (outcome == WATCHED_BANNED) {
        state->banned_by[found->rule]++;
        metric_add(&banned_metrics[found->rule], 1);
    }
    ban_target(&ban, whom);
    log_warn("watch", "%s %s, rule %s: %s", outcome_names[outcome], whom,
        watch_rule_name(found->rule), found->reason);
}

static uint64_t findings_turn(void *self, uint64_t now_ms)
{
    struct anomaly_findings *state = self;
    struct watch_finding findings[FINDINGS_PER_LOOK];
    if (now_ms - state->minute_ms >= MINUTE_MS) {
        state->minute_ms = now_ms;
        state->minute_bans = 0;
        watch_book_minute_begin(state->book);
    }
    tables_fold(state, now_ms);
    const uint32_t count =
        watch_book_judge(state->book, &state->settings, now_ms, findings, FINDINGS_PER_LOOK);
    for (uint32_t i = 0; i < count; i++)
        finding_take(state, &findings[i], now_ms);
    return now_ms + LOOK_MS;
}

size_t anomaly_findings_bytes(uint32_t edges)
{
    return watch_book_bytes() + edges * watch_bytes();
}

struct anomaly_findings *anomaly_findings_open(
    struct arena *arena, const struct anomaly_findings_config *config, struct task *task)
{
    struct anomaly_findings *state = arena_take(arena, 1, sizeof *state);
    struct hash_key key;
    random_secret(&key, sizeof key);
    state->config = *config;
    state->settings = settings_of(config->config);
    state->book = watch_book_create(arena, key);
    for (uint32_t edge = 0; edge < config->edges; edge++) {
        state->watches[edge] = watch_create(arena, key, state->settings.early_ms);
        watch_give(state->watches[edge]);
    }
    *task = (struct task){ .name = "anomaly findings", .self = state, .turn = findings_turn };
    return state;
}

struct watch *const *anomaly_findings_watches(struct anomaly_findings *state)
{
    return state->watches;
}

void anomaly_findings_unpaid(void *self, user_id user)
{
    struct anomaly_findings *state = self;
    watch_book_unpaid(state->book, user, clock_now_ms());
}

void anomaly_findings_forgive(struct anomaly_findings *state, const struct ban *ban)
{
    watch_book_forgive(state->book, &ban->block.first, ban->kind == BAN_USER ? ban->user : 0);
}

static void watched_json(const struct watched *watched, uint64_t id, struct text *out)
{
    const struct ban whom = { .kind = watched->found.user != 0 ? BAN_USER : BAN_ADDRESS,
        .user = watched->found.user,
        .block = { watched->found.address, watched->found.bits } };
    text_format(out, "{\"id\":%llu,\"time_ms\":%llu,\"rule\":\"%s\",\"kind\":\"%s\",",
        (unsigned long long)id, (unsigned long long)watched->time_ms,
        watch_rule_name(watched->found.rule), whom.kind == BAN_ADDRESS ? "address" : "user");
    if (whom.kind == BAN_ADDRESS) {
        text_literal(out, "\"address\":\"");
        address_block_text(out, &whom.block);
    } else {
        text_literal(out, "\"user_id\":\"");
        text_hex64(out, whom.user);
    }
    text_literal(out, "\",\"reason\":");
    text_json(out, span_from_string(watched->found.reason));
    text_format(out, ",\"outcome\":\"%s\",\"ban\":%llu}", outcome_names[watched->outcome],
        (unsigned long long)watched->ban);
}

/* The newest first; what was found before the last start is not known any more. */
void anomaly_findings_json(const struct anomaly_findings *state, struct text *out)
{
    text_literal(out, "{\"findings\":[");
    for (uint64_t n = 0; n < WATCHED_MAX && n < state->found; n++) {
        const uint64_t at = state->found - 1 - n;
        text_string(out, n == 0 ? "" : ",");
        watched_json(&state->watched[at % WATCHED_MAX], at + 1, out);
    }
    text_literal(out, "],\"rules\":{");
    for (uint32_t rule = 0; rule < WATCH_RULES; rule++)
        text_format(out, "%s\"%s\":{\"mode\":\"%s\",\"found\":%llu,\"banned\":%llu}",
            rule == 0 ? "" : ",", watch_rule_name((enum watch_rule)rule),
            mode_names[state->settings.modes[rule]], (unsigned long long)state->found_by[rule],
            (unsigned long long)state->banned_by[rule]);
    text_literal(out, "}");
    top_refused_json(&state->top, out);
    text_literal(out, "}");
}
