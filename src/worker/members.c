/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/members.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "worker/alarms.h"
#include "worker/leadership.h"
#include "worker/task.h"

#include <stdlib.h>

enum { FORGET_EVERY_MS = 10 * 1000, WHAT_MAX = 120 };

#define MEMBERS_OF(role) \
    METRIC_ROW(METRIC_GAUGE, "stampede_members", "role=\"" role "\"", \
        "Processes of this shop that were heard lately, this one included; 0 on one machine.")
static const char *const roles[] = { "all", "gateway", "worker" };
enum { ROLES = sizeof roles / sizeof *roles };
static struct metric members_metrics[ROLES] = { MEMBERS_OF("all"), MEMBERS_OF("gateway"),
    MEMBERS_OF("worker") };
METRIC_TABLE(members_metrics);

/* A row each: name; what its metric is labelled with; what people call it. */
#define OTHER_LIST(X) \
    X(DATABASE, "database", "the database") \
    X(REDIS, "redis", "Redis")
enum other {
#define OTHER(other, label, name) OTHER_##other,
    OTHER_LIST(OTHER)
#undef OTHER
        OTHERS,
};
#define APART(other, label, name) \
    [OTHER_##other] = METRIC_ROW(METRIC_GAUGE, "stampede_clock_apart_ms", "to=\"" label "\"", \
        "How far these clocks are surely apart; 0 on one machine."),
static struct metric apart_metrics[OTHERS] = { OTHER_LIST(APART) };
METRIC_TABLE(apart_metrics);
#define NAME(other, label, name) [OTHER_##other] = (name),
static const char *const other_names[OTHERS] = { OTHER_LIST(NAME) };
#define FAR(other, label, name) \
    [OTHER_##other] = "the clocks of this process and of " name \
                      " are 1 s or more apart: set the machines' clocks (NTP), then restart this " \
                      "process if it stays",
static const char *const far_apart[OTHERS] = { OTHER_LIST(FAR) };
static_assert(CLOCK_APART_MAX_MS == 1000, "the sentences name it");

struct members {
    struct members_config config;
    int64_t apart_ms[OTHERS]; /* how far its clock is ahead of ours */
    bool read_only;           /* the database answers, and takes no write */
    bool moves;               /* to one machine */
    uint64_t database_ms;     /* its clock in this turn */
    uint64_t forget_ms;       /* when old rows are removed next */
    struct member *seen;      /* MEMBERS_MAX */
};

/* ---- clocks ---- */

static enum other worst_clock(const struct members *members)
{
    return llabs(members->apart_ms[OTHER_REDIS]) > llabs(members->apart_ms[OTHER_DATABASE])
        ? OTHER_REDIS
        : OTHER_DATABASE;
}

static void clocks_tell(const struct members *members, uint64_t now_ms)
{
    const enum other other = worst_clock(members);
    const long long apart_ms = llabs(members->apart_ms[other]);
    for (uint32_t i = 0; i < OTHERS; i++)
        metric_set(&apart_metrics[i], (uint64_t)llabs(members->apart_ms[i]));
    alarm_set(ALARM_CLOCK_APART, apart_ms >= CLOCK_APART_ALARM_MS, now_ms,
        "the clock of %s is %lld ms %s that of this process: set the machines' clocks (NTP), then "
        "restart this process if it stays",
        other_names[other], apart_ms, members->apart_ms[other] > 0 ? "ahead of" : "behind");
}

/* False: the database does not answer. What is known of its clock stays. */
static bool database_clock_look(struct members *members)
{
    struct order_store *store = members->config.store;
    const uint64_t asked_ms = clock_now_ms();
    if (store->ops->cluster->now(store, &members->database_ms) != STATUS_OK)
        return false;
    members->apart_ms[OTHER_DATABASE] = clock_apart_ms(asked_ms, clock_now_ms(), members->database_ms);
    return true;
}

/* ---- rows ---- */

/* A write that failed is asked about: a read-only database is not one that is away. */
static void beat(struct members *members)
{
    struct order_store *store = members->config.store;
    struct member self = *members->config.self;
    char what[WHAT_MAX] = "";
    self.clock_ms = clock_now_ms();
    self.seen_ms = members->database_ms;
    const bool refused = store->ops->cluster->member_set(store, &self) != STATUS_OK
        && store->ops->cluster->write_check(store, what, sizeof what) != STATUS_OK;
    if (refused && !members->read_only)
        log_error("worker", "the database can't be written: %s", what);
    else if (!refused && members->read_only)
        log_info("worker", "the database can be written again");
    members->read_only = refused;
}

/* `stampede migrate` wants that nobody runs; who was silent for long, and runs again, is told here. */
static void moving_look(struct members *members)
{
    struct order_store *store = members->config.store;
    enum shop_moving moving = SHOP_STAYS;
    if (store->ops->cluster->moving(store, &moving) != STATUS_OK)
        return; /* next time */
    if (moving != SHOP_STAYS && !members->moves)
        log_error("worker", "the shop is sealed: it moves to one machine; end this process");
    members->moves = moving != SHOP_STAYS;
}

static bool differs(const struct member *self, const struct member *other)
{
    return other->settings != self->settings || strcmp(other->version, self->version) != 0;
}

static void difference_tell(const struct member *self, const struct member *other, uint64_t now_ms)
{
    const bool version = strcmp(other->version, self->version) != 0;
    if (version && other->settings != self->settings)
        alarm_raise(ALARM_MEMBERS_DIFFER, now_ms,
            "%s %.60s: it runs version %s, this %s %s, and settings differ: compare `stampede "
            "config` "
            "of "
            "both",
            other->role, other->name, other->version, self->role, self->version);
    else if (version)
        alarm_raise(ALARM_MEMBERS_DIFFER, now_ms,
            "%s %.60s: it runs version %s, this %s %s: install one version everywhere", other->role,
            other->name, other->version, self->role, self->version);
    else
        alarm_raise(ALARM_MEMBERS_DIFFER, now_ms,
            "%s %.60s: settings differ: compare `stampede config` of both", other->role, other->name);
}

static void members_look(struct members *members, uint64_t now_ms)
{
    struct order_store *store = members->config.store;
    const struct member *self = members->config.self, *other = NULL;
    uint32_t count = 0, counts[ROLES] = { 0 };
    if (store->ops->cluster->member_list(store, members->seen, MEMBERS_MAX, &count) != STATUS_OK)
        return; /* next time */
    for (uint32_t i = 0; i < count; i++) {
        const struct member *member = &members->seen[i];
        if (!member_is_live(member, members->database_ms))
            continue;
        for (uint32_t role = 0; role < ROLES; role++)
            counts[role] += strcmp(member->role, roles[role]) == 0;
        if (other == NULL && differs(self, member))
            other = member;
    }
    for (uint32_t role = 0; role < ROLES; role++)
        metric_set(&members_metrics[role], counts[role]);
    if (other != NULL)
        difference_tell(self, other, now_ms);
    else
        alarm_clear(ALARM_MEMBERS_DIFFER);
}

static void old_forget(struct members *members, uint64_t now_ms)
{
    struct order_store *store = members->config.store;
    if (now_ms < members->forget_ms || members->database_ms < MEMBER_FORGET_MS
        || !leadership_holds(members->config.leadership, now_ms))
        return;
    if (store->ops->cluster->members_forget(store, members->database_ms - MEMBER_FORGET_MS) == STATUS_OK)
        members->forget_ms = now_ms + FORGET_EVERY_MS;
}

static uint64_t members_turn(void *self, uint64_t now_ms)
{
    struct members *members = self;
    if (members->config.self == NULL)
        return TASK_IDLE;
    members->apart_ms[OTHER_REDIS] = members->config.redis_apart_ms(members->config.context);
    if (database_clock_look(members)) {
        beat(members);
        moving_look(members);
        members_look(members, now_ms);
        old_forget(members, now_ms);
    }
    clocks_tell(members, now_ms);
    return now_ms + MEMBER_BEAT_MS;
}

const char *members_trouble(const struct members *members)
{
    const enum other other = worst_clock(members);
    if (members->moves)
        return "the shop is sealed: it moves to one machine, or has moved; end this process";
    if (members->read_only)
        return "the database can't be written: store.url must lead to a primary that is not "
               "read-only, and its user needs all rights on the tables";
    return llabs(members->apart_ms[other]) >= CLOCK_APART_MAX_MS ? far_apart[other] : NULL;
}

struct members *members_open(struct arena *arena, const struct members_config *config, struct task *task)
{
    struct members *members = arena_take(arena, 1, sizeof *members);
    members->config = *config;
    if (config->self != NULL)
        members->seen = arena_take(arena, MEMBERS_MAX, sizeof *members->seen);
    *task = (struct task){ .name = "members", .self = members, .turn = members_turn };
    return members;
}
