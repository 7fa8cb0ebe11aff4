/* SPDX-License-Identifier: Apache-2.0 */
/* tests/differential/differential.c: random histories of a partition, by seed, through the engine and through
 * the script.
 *   --commands N     so many commands in all (default 100000)
 *   --from X         beginning with seed X (default 1)
 *   --seed X         this one only
 *   --server         the script runs in the Redis server of STAMPEDE_TEST_REDIS (tools/with-redis sets it)
 *   --bench          instead: what a purchase costs
 *   --batch N        only in calls of N
 *   --print EPOCH    instead: the script of that epoch
 * On a difference: the seed, and the shortest history that could be found that still shows one.
 * Ends with "N passed, N failed": histories. */
#include "tests/differential/pair.h"

#include "base/clock.h"
#include "inventory/redis/command_text.h"
#include "tests/differential/bench.h"
#include "tests/differential/refusals.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    COMMANDS_DEFAULT = 100000,
    ALL_ANSWERS_FROM = 100000, /* commands, after which each answer must have come up */
    SHRINK_S = 20,             /* so long a shorter history is looked for */
};

struct options {
    uint64_t commands, from, seed, batch, print;
    bool server, bench;
};

static struct history history;
static struct pair pair;
static char script[SCRIPT_BYTES_MAX];

static bool number_read(const char *text, uint64_t *number)
{
    return text != NULL && span_to_u64(span_from_string(text), number) == STATUS_OK;
}

static bool options_read(struct options *options, int count, char **words)
{
    for (int i = 1; i < count; i++) {
        const char *value = i + 1 < count ? words[i + 1] : NULL;
        bool good = true;
        if (strcmp(words[i], "--server") == 0)
            options->server = true;
        else if (strcmp(words[i], "--bench") == 0)
            options->bench = true;
        else if (strcmp(words[i++], "--commands") == 0)
            good = number_read(value, &options->commands);
        else if (strcmp(words[i - 1], "--from") == 0)
            good = number_read(value, &options->from);
        else if (strcmp(words[i - 1], "--print") == 0)
            good = number_read(value, &options->print) && options->print > 0
                && options->print <= UINT32_MAX;
        else if (strcmp(words[i - 1], "--batch") == 0)
            good = number_read(value, &options->batch) && options->batch > 0
                && options->batch <= SCRIPT_PURCHASES_MAX;
        else
            good = strcmp(words[i - 1], "--seed") == 0 && number_read(value, &options->seed);
        if (!good)
            return false;
    }
    return true;
}

/* ---- a difference ---- */

/* The steps that are not left out, from the start. True: there is still a difference. */
static bool history_differs(struct runner *runner)
{
    bool same = true;
    pair_open(&pair, runner, &history.profile);
    for (uint32_t i = 0; i < history.step_count && same; i++)
        if (!history.steps[i].left_out)
            same = pair_step(&pair, &history.steps[i], history.commands, history.doors);
    same = same && pair_compare(&pair);
    pair_close(&pair);
    return !same;
}

/* A step with several commands: only the first half of them, or the last. */
static bool step_halve(struct runner *runner, struct step *step, bool first_half)
{
    const struct step before = *step;
    step->count = first_half ? before.count / 2 : before.count - before.count / 2;
    step->first = first_half ? before.first : before.first + before.count / 2;
    if (history_differs(runner))
        return true;
    *step = before;
    return false;
}

static void history_shrink(struct runner *runner)
{
    const uint64_t until_ns = clock_monotonic_ns() + SHRINK_S * UINT64_C(1000000000);
    for (uint32_t size = history.step_count / 2 + 1; size > 0; size /= 2) {
        for (uint32_t at = 0; at < history.step_count && clock_monotonic_ns() < until_ns; at += size) {
            static bool before[HISTORY_COMMANDS_MAX];
            for (uint32_t i = at; i < at + size && i < history.step_count; i++) {
                before[i] = history.steps[i].left_out;
                history.steps[i].left_out = true;
            }
            if (history_differs(runner))
                continue;
            for (uint32_t i = at; i < at + size && i < history.step_count; i++)
                history.steps[i].left_out = before[i];
        }
    }
    for (uint32_t i = 0; i < history.step_count; i++)
        while (clock_monotonic_ns() < until_ns && !history.steps[i].left_out && history.steps[i].count > 1
            && (step_halve(runner, &history.steps[i], true)
                || step_halve(runner, &history.steps[i], false)))
            continue;
}

static void step_print(const struct step *step)
{
    if (step->kind != STEP_CALL) {
        printf("    %s",
            step->kind == STEP_DONE         ? "done"
                : step->kind == STEP_REOPEN ? "reopen"
                                            : "reclaim");
        if (step->kind == STEP_DONE)
            printf(" %" PRIu64 " %" PRIu64, step->seq, step->ticket);
        printf("\n");
    }
    for (uint32_t i = 0; i < step->count; i++) {
        char bytes[COMMAND_TEXT_MAX];
        struct text text = text_in(bytes, sizeof bytes);
        struct span words[PURCHASE_WORDS];
        const struct command *command = &history.commands[step->first + i];
        const struct purchase_door *door = &history.doors[step->first + i];
        invariant((door->mark != 0 || door->requests != 0 ? purchase_text_write(&text, command, door, words)
                                                          : command_text_write(&text, command))
            == STATUS_OK);
        printf("    %" PRIu64 " %s %.*s\n", step->time_ms, i == 0 ? " " : "+", (int)text.size, text.data);
    }
}

static void difference_print(struct runner *runner)
{
    printf("VIOLATION seed %" PRIu64 ": %s\n", history.seed, pair.wrong);
    fflush(stdout);
    history_shrink(runner);
    const bool still = history_differs(runner);
    printf("  a short history with %s: %s\n", still ? "a difference" : "no difference any more",
        pair.wrong);
    const struct engine_config *config = &history.profile.config;
    printf("    tickets %" PRIu64 ", places %" PRIu64 ", items %u, sales %u, lag %" PRIu64 "\n",
        config->tickets_max, config->places_max, config->items_max, config->sales_max,
        history.profile.lag_max);
    for (uint32_t i = 0; i < history.step_count; i++)
        if (!history.steps[i].left_out)
            step_print(&history.steps[i]);
}

/* ---- all of them ---- */

static bool history_run(struct runner *runner, uint64_t seed)
{
    bool same = true;
    history_begin(&history, seed);
    pair_open(&pair, runner, &history.profile);
    while (same && history_next(&history, &pair.engine, pair.head.seq))
        same = pair_step(&pair, &history.steps[history.step_count - 1], history.commands, history.doors);
    same = same && pair_compare(&pair);
    const char *broken = same ? engine_check(&pair.engine) : NULL;
    if (broken != NULL)
        snprintf(pair.wrong, sizeof pair.wrong, "the engine itself: %s", broken);
    pair_close(&pair);
    return same && broken == NULL;
}

/* A test that never hears an answer says nothing about it. */
static uint32_t answers_missing(void)
{
    uint32_t missing = 0;
    for (uint32_t answer = ANSWER_WON; answer < ANSWERS_LOGGED; answer++) {
        const bool given = answer != ANSWER_UNUSED_4 && answer != ANSWER_TOO_POPULAR;
        if (given && pair.answers[answer] == 0)
            missing += printf("FAIL: answer %u never came up\n", answer) > 0;
    }
    for (uint32_t conflict = CONFLICT_NONE + 1; conflict < CONFLICTS; conflict++)
        if (pair.conflicts[conflict] == 0)
            missing += printf("FAIL: conflict %u never came up\n", conflict) > 0;
    if (pair.spent == 0 || pair.too_fast == 0)
        missing += printf("FAIL: the door never refused a used pass, or a user who is too fast\n") > 0;
    return missing;
}

static int histories_run(struct runner *runner, const struct options *options)
{
    uint64_t commands = 0, passed = 0, seed = options->seed != 0 ? options->seed : options->from;
    const uint64_t began_ns = clock_monotonic_ns();
    const uint32_t accepted = refusals_check(runner);
    if (accepted > 0) {
        printf("0 passed, %u failed\n", accepted);
        return 1;
    }
    pair.compare_every = options->server ? 16 : 64;
    for (; commands < options->commands; seed++) {
        if (!history_run(runner, seed)) {
            commands += history.command_count;
            printf("after %" PRIu64 " commands\n", commands);
            difference_print(runner);
            printf("%" PRIu64 " passed, 1 failed\n", passed);
            return 1;
        }
        passed++;
        commands += history.command_count;
        if (options->seed != 0)
            break;
    }
    const uint32_t missing = commands >= ALL_ANSWERS_FROM ? answers_missing() : 0;
    printf("%" PRIu64 " commands, 0 differences, %.1f s\n", commands,
        (double)(clock_monotonic_ns() - began_ns) / 1e9);
    printf("%" PRIu64 " passed, %u failed\n", passed, missing);
    return missing == 0 ? 0 : 1;
}

int main(int count, char **words)
{
    struct options options = { .commands = COMMANDS_DEFAULT, .from = 1 };
    if (!options_read(&options, count, words)) {
        fputs("usage: differential [--commands N] [--from SEED] [--seed SEED] [--server] [--bench] "
              "[--batch N] "
              "[--print EPOCH]\n",
            stderr);
        return 2;
    }
    const uint32_t epoch = options.print != 0 ? (uint32_t)options.print : RUNNER_EPOCH;
    struct text text = text_in(script, sizeof script);
    invariant(script_write(&text, SPAN(RUNNER_PREFIX), epoch) == STATUS_OK);
    if (options.print != 0)
        return fwrite(text.data, 1, text.size, stdout) == text.size ? 0 : 1;
    struct runner *runner = options.server
        ? runner_redis_open(getenv("STAMPEDE_TEST_REDIS"), text_span(&text))
        : runner_lua_open(text_span(&text));
    if (runner == NULL)
        return 1;
    const int code = options.bench ? bench_run(runner, (uint32_t)options.batch)
                                   : histories_run(runner, &options);
    runner->close(runner);
    return code;
}
