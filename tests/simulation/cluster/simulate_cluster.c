/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/cluster/simulate_cluster.c: the simulator's second world, many machines. A program of
 * its own,
 * since it links Redis clients, clock and threads that answer from the world instead of the product's;
 * `simulate
 * --world cluster` runs it.
 *   --seeds N       so many runs (default 1000)       --from X     beginning with seed X (default 1)
 *   --seconds T     as many as fit                    --seed X     this one only
 *   --bench         print runs per second             --jobs N     in so many processes (default 1)
 *   --verbose       print every step                  --back-again a server comes back with its old script
 * (fault.c)
 * Ends with "N passed, N failed"; prints the combined state hash of all runs. */
#include "tests/simulation/cluster/cluster.h"
#include "tests/simulation/cluster/people.h"
#include "tests/simulation/trace.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <unistd.h>

enum { JOBS_MAX = 64 };

struct options {
    uint64_t seeds, from, seconds, jobs;
    bool bench;
};

struct totals {
    uint64_t runs, asked, wins, voids, orders, epochs, faults, fenced;
    uint64_t hash; /* over all runs, in whatever order they ran */
};

static double seconds_now(void) /* the simulator's clock.h is the world's */
{
    struct tms unused;
    return (double)times(&unused) / (double)sysconf(_SC_CLK_TCK);
}

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
        } else if (strcmp(words[i], "--verbose") == 0) {
            trace.verbose = true;
        } else if (strcmp(words[i], "--back-again") == 0) {
            cluster_back_again = true;
        } else if (strcmp(words[i++], "--seeds") == 0 && number_read(value, &options->seeds)) {
            continue;
        } else if (strcmp(words[i - 1], "--from") == 0 && number_read(value, &options->from)) {
            continue;
        } else if (strcmp(words[i - 1], "--jobs") == 0 && number_read(value, &options->jobs)
            && options->jobs >= 1 && options->jobs <= JOBS_MAX) {
            continue;
        } else if (strcmp(words[i - 1], "--seconds") == 0 && number_read(value, &options->seconds)) {
            options->seeds = UINT64_MAX;
        } else if (strcmp(words[i - 1], "--seed") == 0 && number_read(value, &options->from)) {
            options->seeds = 1;
        } else if (strcmp(words[i - 1], "--world") != 0) {
            fprintf(stderr, "simulate_cluster: can't understand \"%s %s\"\n", words[i - 1], value);
            return false;
        }
    }
    return true;
}

/* A broken invariant() in the program under test: say which run it was. */
static void aborted(int signal_number)
{
    (void)signal_number;
    printf("VIOLATION invariant: the program stopped itself\nseed %" PRIu64
           ", world cluster, step %" PRIu64 "\n",
        trace.seed, trace.step);
    trace_print();
    printf("%" PRIu64 " passed, 1 failed\n", trace.passed);
    fflush(stdout);
    _Exit(1);
}

/* Every jobs-th run, from this one on. */
static struct totals runs_do(const struct options *options, uint64_t first)
{
    const double began = seconds_now();
    struct totals totals = { 0 };
    for (uint64_t i = first; i < options->seeds; i += options->jobs) {
        if (options->seconds != 0 && seconds_now() - began >= (double)options->seconds)
            break;
        const uint64_t one = cluster_run(options->from + i);
        totals.hash += (one ^ i) * UINT64_C(0x9e3779b97f4a7c15);
        totals.asked += people_asked();
        totals.wins += people_wins();
        totals.voids += people_voids();
        totals.orders += db.order_count;
        totals.fenced += db.fenced;
        totals.faults += cluster.faults;
        totals.epochs += cluster.epochs;
        totals.runs = ++trace.passed;
    }
    return totals;
}

static void totals_add(struct totals *sum, const struct totals *one)
{
    sum->runs += one->runs;
    sum->asked += one->asked;
    sum->wins += one->wins;
    sum->voids += one->voids;
    sum->orders += one->orders;
    sum->epochs += one->epochs;
    sum->faults += one->faults;
    sum->fenced += one->fenced;
    sum->hash += one->hash;
}

/* Each job is a process of its own, because an invariant that breaks ends its process. The first that fails
 * has told why: the others are ended. */
static bool jobs_do(const struct options *options, struct totals *totals)
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
            each[job] = runs_do(options, job);
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
    for (uint64_t job = 0; job < options->jobs; job++)
        totals_add(totals, &each[job]);
    return good;
}

static void totals_print(const struct options *options, const struct totals *totals, double seconds)
{
    struct tms used;
    (void)times(&used);
    printf("%" PRIu64 " runs from seed %" PRIu64 ", world cluster: %" PRIu64
           " purchases asked, %" PRIu64 " wins told, %" PRIu64 " orders, %" PRIu64 " void, %" PRIu64
           " faults, %" PRIu64 " epochs, %" PRIu64 " batches fenced off, no violation\n",
        totals->runs, options->from, totals->asked, totals->wins, totals->orders, totals->voids,
        totals->faults, totals->epochs, totals->fenced);
    if (options->bench) /* the second figure leaves out what other programs took of the cores */
        printf("%.1f sales/s, %.1f per second of processor time\n", (double)totals->runs / seconds,
            (double)totals->runs * (double)sysconf(_SC_CLK_TCK)
                / (double)(used.tms_utime + used.tms_stime + used.tms_cutime + used.tms_cstime));
    printf("state hash %016" PRIx64 "\n%" PRIu64 " passed, 0 failed\n", totals->hash, totals->runs);
}

int main(int count, char **words)
{
    struct options options = { .seeds = 1000, .from = 1, .jobs = 1 };
    struct totals totals = { 0 };
    const struct sigaction on_abort = { .sa_handler = aborted };
    if (!options_read(&options, count, words))
        return 2;
    sigaction(SIGABRT, &on_abort, NULL);
    const double began = seconds_now();
    if (options.jobs == 1)
        totals = runs_do(&options, 0);
    else if (!jobs_do(&options, &totals))
        return 1;
    totals_print(&options, &totals, seconds_now() - began);
    return 0;
}
