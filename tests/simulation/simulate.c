/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/simulate.c: the simulator. One seed is one sale; the same seed is the same
 * sale, step by step.
 *   --seeds N       so many sales (default 1000)      --from X     beginning with seed X (default 1)
 *   --seconds T     as many as fit                    --seed X     this one only
 *   --store model|sqlite|both|server:URL (sim_server.h)           --verbose    print every step
 *   --bench         print sales per second            --jobs N     in so many processes (default 1)
 *   --world cluster the second world instead, many machines: cluster/simulate_cluster, a program beside
 * this one
 * Ends with "N passed, N failed"; prints the combined state hash of all sales. Fails if many sales have never
 * packed a segment: then nothing here tests packing. */
#include "base/clock.h"
#include "tests/simulation/sim_arena.h"
#include "tests/simulation/sim_server.h"
#include "tests/simulation/world.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <unistd.h>

/* With both stores: sales of each in turns, the quick store more often, and every second turn only
 * sales with bursts. What is wrong anywhere shows soon. */
enum { JOBS_MAX = 256, MANY_SALES = 1000 };
enum { MODEL_SALES = 50, STORE_SALES = 2, TURN_SALES = MODEL_SALES + STORE_SALES };

struct options {
    uint64_t seeds, from, seconds, jobs;
    enum world_store store;
    bool both, bench;
};

static bool number_read(const char *text, uint64_t *number)
{
    char *end;
    *number = strtoull(text, &end, 10);
    return *text != 0 && *end == 0;
}

static bool options_read(struct options *options, int count, char **words)
{
    for (int i = 1; i < count; i++) {
        const char *value = i + 1 < count ? words[i + 1] : "";
        if (strcmp(words[i], "--bench") == 0) {
            options->bench = true;
            continue;
        }
        if (strcmp(words[i], "--verbose") == 0) {
            trace.verbose = true;
            continue;
        }
        i++;
        if (strcmp(words[i - 1], "--seeds") == 0 && number_read(value, &options->seeds))
            continue;
        if (strcmp(words[i - 1], "--from") == 0 && number_read(value, &options->from))
            continue;
        if (strcmp(words[i - 1], "--jobs") == 0 && number_read(value, &options->jobs)
            && options->jobs >= 1 && options->jobs <= JOBS_MAX)
            continue;
        if (strcmp(words[i - 1], "--seconds") == 0 && number_read(value, &options->seconds)) {
            options->seeds = UINT64_MAX;
            continue;
        }
        if (strcmp(words[i - 1], "--seed") == 0 && number_read(value, &options->from)) {
            options->seeds = 1;
            continue;
        }
        if (strcmp(words[i - 1], "--store") == 0 && strcmp(value, "both") == 0) {
            options->both = true;
            continue;
        }
        if (strcmp(words[i - 1], "--store") == 0
            && (strcmp(value, "model") == 0 || strcmp(value, "sqlite") == 0)) {
            options->store = strcmp(value, "model") == 0 ? WORLD_STORE_MODEL : WORLD_STORE_SQLITE;
            continue;
        }
        if (strcmp(words[i - 1], "--store") == 0 && strncmp(value, "server:", 7) == 0) {
            options->store = WORLD_STORE_SERVER;
            sim_server_use(value + 7);
            continue;
        }
        fprintf(stderr, "simulate: can't understand \"%s %s\"\n", words[i - 1], value);
        return false;
    }
    return true;
}

/* A broken invariant() in the program under test: say which sale it was. */
static void aborted(int signal_number)
{
    (void)signal_number;
    printf("VIOLATION invariant: the program stopped itself\nseed %" PRIu64
           ", store %s, step %" PRIu64 "\n",
        trace.seed, trace.store, trace.step);
    trace_print();
    printf("%" PRIu64 " passed, 1 failed\n", trace.passed);
    fflush(stdout);
    _Exit(1);
}

static uint64_t sale_run(struct world *world, const struct options *options, uint64_t i)
{
    if (!options->both)
        return world_run(world, options->from + i, options->store);
    const uint64_t turn = i / TURN_SALES, at = i % TURN_SALES;
    const uint64_t seed = (options->from + i) * (turn % 2 == 1 ? BURSTS_ONE_IN : 1);
    return world_run(world, seed, at < MODEL_SALES ? WORLD_STORE_MODEL : WORLD_STORE_SQLITE);
}

struct totals {
    uint64_t sales, commands, wins, crashes, packed;
    uint64_t hash; /* over all sales, in whatever order they ran */
};

/* Every jobs-th sale, from this one on. */
static struct totals sales_run(struct world *world, const struct options *options, uint64_t first)
{
    const uint64_t began_ns = clock_monotonic_ns();
    struct totals totals = { 0 };
    for (uint64_t i = first; i < options->seeds; i += options->jobs) {
        if (options->seconds != 0
            && clock_monotonic_ns() - began_ns >= options->seconds * UINT64_C(1000000000))
            break;
        const uint64_t one = sale_run(world, options, i);
        totals.hash += (one ^ i) * UINT64_C(0x9e3779b97f4a7c15);
        totals.commands += world->commands;
        totals.crashes += world->crashes;
        totals.packed += world->disk.packed;
        totals.wins += world->model.ticket_count;
        totals.sales = ++trace.passed;
    }
    return totals;
}

/* Each job is a process of its own, because an invariant that breaks ends its process. The first that fails
 * has told why: the others are ended. */
static bool jobs_run(struct world *world, const struct options *options, struct totals *totals)
{
    struct totals *each = mmap(NULL, sizeof *each * options->jobs, PROT_READ | PROT_WRITE,
        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pids[JOBS_MAX];
    bool good = true;
    invariant(each != MAP_FAILED);
    for (uint64_t job = 0; job < options->jobs; job++) {
        pids[job] = fork();
        invariant(pids[job] >= 0);
        if (pids[job] == 0) {
            each[job] = sales_run(world, options, job);
            _Exit(0);
        }
    }
    for (uint64_t left = options->jobs; left > 0; left--) {
        int status = 0;
        const pid_t ended = waitpid(-1, &status, 0);
        invariant(ended > 0);
        for (uint64_t job = 0; job < options->jobs; job++)
            if (pids[job] == ended)
                pids[job] = 0;
            else if (good && status != 0 && pids[job] != 0)
                kill(pids[job], SIGKILL);
        good = good && status == 0;
    }
    for (uint64_t job = 0; job < options->jobs; job++) {
        totals->sales += each[job].sales;
        totals->commands += each[job].commands;
        totals->wins += each[job].wins;
        totals->crashes += each[job].crashes;
        totals->packed += each[job].packed;
        totals->hash += each[job].hash;
    }
    return good;
}

/* A few sales may have too little to log. */
static bool packed_none(const struct totals *totals)
{
    return totals->sales >= MANY_SALES && totals->packed == 0;
}

static void totals_print(const struct options *options, const struct totals *totals, double seconds)
{
    const char *store = options->both          ? "both"
        : options->store == WORLD_STORE_MODEL  ? "model"
        : options->store == WORLD_STORE_SQLITE ? "sqlite"
                                               : "server";
    struct tms used;
    (void)times(&used);
    printf("%" PRIu64 " segments of the journal were packed\n", totals->packed);
    printf("%" PRIu64 " sales from seed %" PRIu64 ", store %s: %" PRIu64 " commands, %" PRIu64
           " wins, %" PRIu64 " crashes, no violation\n",
        totals->sales, options->from, store, totals->commands, totals->wins, totals->crashes);
    if (packed_none(totals))
        printf("VIOLATION journal: no segment was packed in so many sales\n");
    if (options->bench) /* the second figure leaves out what other programs took of the cores */
        printf("%.0f sales/s, %.0f per second of processor time\n", (double)totals->sales / seconds,
            (double)totals->sales * (double)sysconf(_SC_CLK_TCK)
                / (double)(used.tms_utime + used.tms_stime + used.tms_cutime + used.tms_cstime));
    printf("state hash %016" PRIx64 "\n%" PRIu64 " passed, %d failed\n", totals->hash,
        totals->sales, packed_none(totals) ? 1 : 0);
}

/* Its links differ (clients of Redis, clock, threads): it can't be a part of this program. */
static bool wants_cluster(int count, char **words)
{
    for (int i = 1; i + 1 < count; i++)
        if (strcmp(words[i], "--world") == 0 && strcmp(words[i + 1], "cluster") == 0)
            return true;
    return false;
}

static int cluster_run(char **words)
{
    char path[4096];
    const char *name = strrchr(words[0], '/');
    snprintf(path, sizeof path, "%.*scluster/simulate_cluster",
        name == NULL ? 0 : (int)(name - words[0]) + 1, words[0]);
    execv(path, words);
    fprintf(stderr, "simulate: can't run %s: %m\n", path);
    return 2;
}

int main(int count, char **words)
{
    if (wants_cluster(count, words))
        return cluster_run(words);
    struct options options = { .seeds = 1000, .from = 1, .jobs = 1 };
    struct totals totals = { 0 };
    const struct sigaction on_abort = { .sa_handler = aborted };
    if (!options_read(&options, count, words))
        return 2;
    struct world *world = malloc(sizeof *world);
    invariant(world != NULL);
    sigaction(SIGABRT, &on_abort, NULL);
    sim_arena_fronts_only = true;
    world_create(world);
    const uint64_t began_ns = clock_monotonic_ns();
    if (options.jobs == 1)
        totals = sales_run(world, &options, 0);
    else if (!jobs_run(world, &options, &totals))
        return 1;
    totals_print(&options, &totals, (double)(clock_monotonic_ns() - began_ns) / 1e9);
    return packed_none(&totals) ? 1 : 0;
}
