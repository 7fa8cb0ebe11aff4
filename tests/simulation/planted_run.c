/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simulation/planted_run.h"

#include "base/clock.h"
#include "base/planted.h"
#include "tests/simulation/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef PLANTED_BUGS
#define PLANTED_NAME(name, what) [PLANTED_##name] = #name,
static const char *const names[PLANTED_COUNT] = { PLANTED_LIST(PLANTED_NAME) };

enum {
    MODEL_SALES = 50,
    SQLITE_SALES = 2
}; /* of each kind in turn: some bugs live in one store only */

/* Never comes back unless the time is over: a violation ends the process. */
static void child_hunt(enum planted_bug bug, int told)
{
    const uint64_t began_ns = clock_monotonic_ns();
    struct world *world = malloc(sizeof *world);
    invariant(world != NULL);
    planted_now = bug;
    const struct rlimit no_core = { 0, 0 };
    setrlimit(RLIMIT_CORE, &no_core);
    dup2(told, STDOUT_FILENO);
    dup2(told, STDERR_FILENO);
    world_create(world);
    for (uint64_t round = 0;
         clock_monotonic_ns() - began_ns < PLANTED_SECONDS_MAX * UINT64_C(1000000000); round++) {
        for (uint64_t i = 0; i < MODEL_SALES + SQLITE_SALES; i++) {
            /* Every second round only sales with bursts. */
            const uint64_t seed = (1 + round * 1000 + i) * (round % 2 == 1 ? BURSTS_ONE_IN : 1);
            world_run(world, seed, i < MODEL_SALES ? WORLD_STORE_MODEL : WORLD_STORE_SQLITE);
            trace.passed++;
        }
    }
    printf("NOT CAUGHT\n%" PRIu64 " passed\n", trace.passed);
    fflush(stdout);
    _exit(0);
}

/* The first line is what caught it; some later line starts with the number of sales that had
 * passed. */
static void report_read(FILE *report, char *caught, size_t caught_bytes, uint64_t *sales)
{
    char line[512];
    caught[0] = 0;
    *sales = 0;
    while (fgets(line, sizeof line, report) != NULL) {
        line[strcspn(line, "\n")] = 0;
        if (caught[0] == 0)
            snprintf(caught, caught_bytes, "%s", line);
        const char *passed = strstr(line, " passed");
        if (passed != NULL)
            *sales = strtoull(line, NULL, 10);
    }
}

static bool bug_hunt(enum planted_bug bug)
{
    int ends[2];
    char caught[512];
    uint64_t sales = 0;
    const uint64_t began_ns = clock_monotonic_ns();
    if (pipe(ends) != 0)
        return false;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        child_hunt(bug, ends[1]);
    }
    close(ends[1]);
    FILE *report = fdopen(ends[0], "r");
    report_read(report, caught, sizeof caught, &sales);
    fclose(report);
    int how = 0;
    const bool ended = child > 0 && waitpid(child, &how, 0) == child;
    const bool found = ended && !(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    const double seconds = (double)(clock_monotonic_ns() - began_ns) / 1e9;
    const char *what = strncmp(caught, "VIOLATION ", 10) == 0 ? caught + 10 : caught;
    printf("%-26s %-6s %4" PRIu64 " sales %6.2f s  %.100s\n", names[bug],
        found ? "caught" : "MISSED", sales + found, seconds, what);
    return found;
}

int planted_run_all(void)
{
    uint32_t caught = 0;
    for (uint32_t bug = PLANTED_NONE + 1; bug < PLANTED_COUNT; bug++)
        caught += bug_hunt((enum planted_bug)bug);
    const uint32_t missed = PLANTED_COUNT - 1 - caught;
    printf("%u passed, %u failed\n", caught, missed);
    return missed == 0 && caught >= PLANTED_CAUGHT_MIN ? 0 : 1;
}
#else
int planted_run_all(void)
{
    printf("built without PLANTED_BUGS: use BUILD=sim\n0 passed, 1 failed\n");
    return 1;
}
#endif
