/* SPDX-License-Identifier: Apache-2.0 */
/* Who takes part: honest users and bots, group by group, from a plan file. A line is one group, words of
 * the form name=value:
 *
 *   name=honest pace=poisson rate=2500 connections=500 address=127.10.0.1 addresses=500 item=1 passes=FILE
 *
 *   pace   poisson   requests at random moments, `rate` a second on average (people)
 *          regular   requests at equal distances (machines); `rate` above what fits is "all at once"
 *          reaction  one request per connection, `after_ms` … `until_ms` behind the start (people at a start)
 *          slow_head, slow_body, slow_read   a byte every `every_ms`; a head or body that never ends, an
 *                    answer that is not read
 *   use    cycle     passes again and again (standard); once: each one time
 *   retries          reaction only: who hears 429 or 503 waits as told and asks again so often (0)
 *
 * Memory: passes are mapped for the life of the program. Wrong plans end the program with status 2. */
#ifndef BENCH_BOTS_PLAN_H
#define BENCH_BOTS_PLAN_H

#include "base/latency.h"
#include "source.h"

#include <arpa/inet.h>
#include <stdio.h>

enum {
    BOTS_GROUPS_MAX = 16,
    BOTS_CONNECTIONS_MAX = 18000,
    BOTS_NAME_MAX = 24,
    BOTS_OUTCOMES_MAX = 24,
    BOTS_OUTCOME_CHARS = 32,
    BOTS_PASS_CHARS = 48,
    BOTS_LINE_MAX = 1024,
    BOTS_RATE_MAX = 1000 * 1000,
};

enum pace {
    PACE_POISSON,
    PACE_REGULAR,
    PACE_REACTION,
    PACE_SLOW_HEAD,
    PACE_SLOW_BODY,
    PACE_SLOW_READ,
    PACES
};
static const char *const pace_names[PACES] = { "poisson", "regular", "reaction", "slow_head",
    "slow_body", "slow_read" };

struct outcome {
    char name[BOTS_OUTCOME_CHARS]; /* "409 sold-out" */
    uint64_t count;
};

struct group {
    char name[BOTS_NAME_MAX];
    enum pace pace;
    bool once;
    double rate;
    uint32_t connections, first; /* the group has connections first … first + connections - 1 */
    uint32_t address, addresses; /* connects from these, in turns */
    uint32_t item, retries;
    uint32_t after_ms, until_ms, every_ms;
    const char *passes; /* lines of BOTS_PASS_CHARS + 1 */
    uint64_t pass_count;

    uint64_t next_due_ns, next_pass;
    uint32_t *free_ring; /* paced groups: connections without a request, longest free first */
    uint64_t free_head, free_tail;
    uint64_t sent, answered, lost, reopened;
    struct outcome outcomes[BOTS_OUTCOMES_MAX];
    uint32_t outcome_count;
    struct latency latency, late;
};

static inline bool group_slow(const struct group *group)
{
    return group->pace >= PACE_SLOW_HEAD;
}

static inline bool group_paced(const struct group *group)
{
    return group->pace <= PACE_REGULAR;
}

static inline void plan_wrong(const char *what, const char *which)
{
    fprintf(stderr, "bots: %s: %s\n", what, which);
    exit(2);
}

static inline uint32_t plan_number(const char *name, const char *value, uint32_t most)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    if (end == value || *end != 0 || number > most)
        plan_wrong(name, value);
    return (uint32_t)number;
}

static inline enum pace plan_pace(const char *value)
{
    for (unsigned pace = 0; pace < PACES; pace++)
        if (strcmp(value, pace_names[pace]) == 0)
            return (enum pace)pace;
    plan_wrong("no such pace", value);
    return PACES;
}

static inline void plan_passes(struct group *group, const char *path)
{
    size_t bytes;
    group->passes = source_map(path, &bytes);
    if (group->passes == NULL || bytes % (BOTS_PASS_CHARS + 1) != 0)
        plan_wrong("passes can't be read, or are no passes", path);
    group->pass_count = bytes / (BOTS_PASS_CHARS + 1);
}

static inline void plan_word(struct group *group, const char *name, const char *value)
{
    if (strcmp(name, "name") == 0)
        snprintf(group->name, sizeof group->name, "%s", value);
    else if (strcmp(name, "pace") == 0)
        group->pace = plan_pace(value);
    else if (strcmp(name, "use") == 0)
        group->once = strcmp(value, "once") == 0;
    else if (strcmp(name, "rate") == 0)
        group->rate = plan_number(name, value, BOTS_RATE_MAX);
    else if (strcmp(name, "connections") == 0)
        group->connections = plan_number(name, value, BOTS_CONNECTIONS_MAX);
    else if (strcmp(name, "address") == 0)
        group->address = ntohl(inet_addr(value));
    else if (strcmp(name, "addresses") == 0)
        group->addresses = plan_number(name, value, BOTS_CONNECTIONS_MAX);
    else if (strcmp(name, "item") == 0)
        group->item = plan_number(name, value, UINT32_MAX);
    else if (strcmp(name, "retries") == 0)
        group->retries = plan_number(name, value, 100);
    else if (strcmp(name, "after_ms") == 0)
        group->after_ms = plan_number(name, value, 600000);
    else if (strcmp(name, "until_ms") == 0)
        group->until_ms = plan_number(name, value, 600000);
    else if (strcmp(name, "every_ms") == 0)
        group->every_ms = plan_number(name, value, 600000);
    else if (strcmp(name, "passes") == 0)
        plan_passes(group, value);
    else
        plan_wrong("no such word", name);
}

static inline void plan_check(const struct group *group)
{
    const bool asks = !group_slow(group);
    if (group->connections == 0 || group->addresses == 0 || group->item == 0)
        plan_wrong("connections, address, addresses and item are needed", group->name);
    if (group->address >> 24 != 127)
        plan_wrong("only loopback addresses", group->name);
    if (asks && group->pass_count == 0)
        plan_wrong("passes are needed", group->name);
    if (group_paced(group) && group->rate <= 0)
        plan_wrong("a rate is needed", group->name);
    if (group->pace == PACE_REACTION && group->pass_count < group->connections)
        plan_wrong("fewer passes than users", group->name);
    if (group->pace == PACE_REACTION && group->until_ms < group->after_ms)
        plan_wrong("until_ms is before after_ms", group->name);
    if (group_slow(group) && group->every_ms == 0)
        plan_wrong("every_ms is needed", group->name);
}

/* Answers how many groups; *connections: of all. */
static inline uint32_t plan_read(const char *path, struct group *groups, uint32_t *connections)
{
    char line[BOTS_LINE_MAX];
    uint32_t count = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        plan_wrong("can't be read", path);
    *connections = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        char *rest = line, *word;
        if (count == BOTS_GROUPS_MAX)
            plan_wrong("too many groups", path);
        struct group *group = &groups[count++];
        while ((word = strsep(&rest, " \n")) != NULL) {
            char *value = strchr(word, '=');
            if (*word == 0)
                continue;
            if (value == NULL)
                plan_wrong("not name=value", word);
            *value = 0;
            plan_word(group, word, value + 1);
        }
        plan_check(group);
        group->first = *connections;
        *connections += group->connections;
    }
    fclose(file);
    if (count == 0 || *connections > BOTS_CONNECTIONS_MAX)
        plan_wrong("no groups, or too many connections", path);
    return count;
}

static inline void group_outcome(struct group *group, uint32_t status, const char *what, size_t what_chars)
{
    char name[BOTS_OUTCOME_CHARS];
    snprintf(name, sizeof name, "%u%s%.*s", status, what_chars > 0 ? " " : "", (int)what_chars, what);
    for (uint32_t i = 0; i < group->outcome_count; i++) {
        if (strcmp(group->outcomes[i].name, name) == 0) {
            group->outcomes[i].count++;
            return;
        }
    }
    if (group->outcome_count == BOTS_OUTCOMES_MAX)
        plan_wrong("more kinds of answers than there can be", name);
    struct outcome *outcome = &group->outcomes[group->outcome_count++];
    snprintf(outcome->name, sizeof outcome->name, "%s", name);
    outcome->count = 1;
}

#endif
