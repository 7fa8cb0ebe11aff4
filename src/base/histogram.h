/* SPDX-License-Identifier: Apache-2.0 */
/* base/histogram.h: how long things took, in buckets, each a quarter of an octave wide: from 16 µs to 16 s,
 * with an error of an eighth at most. A histogram is a static struct, registered by its declaration.
 * Counting is two relaxed adds on lines that no other thread writes, as for counters (base/metrics.h).
 * /metrics shows half octaves: 41 bounds and +Inf for each series.
 * Thread: histogram_note from any; histogram_register before threads only; the rest from any. */
#ifndef STAMPEDE_BASE_HISTOGRAM_H
#define STAMPEDE_BASE_HISTOGRAM_H

#include "base/metrics.h"

enum {
    HISTOGRAM_FIRST = 4, /* the first bucket is below 2⁴ µs … */
    HISTOGRAM_OCTAVES = 20,
    HISTOGRAM_PARTS = 4, /* … and each octave above it has so many */
    HISTOGRAM_BUCKETS = 1 + HISTOGRAM_OCTAVES * HISTOGRAM_PARTS + 1, /* the last: 16 s or longer */
    HISTOGRAMS_MAX = 64,
};

struct histogram_cells {
    alignas(64) _Atomic uint64_t counts[HISTOGRAM_BUCKETS];
    _Atomic uint64_t sum_us;
};
struct histogram {
    const char *name;   /* stampede_…_seconds */
    const char *labels; /* "route=\"pass\"" or NULL; differs within one name */
    const char *help;
    struct histogram_cells cells[METRICS_THREADS];
};

/* What was counted up to a moment. */
struct histogram_counts {
    uint64_t counts[HISTOGRAM_BUCKETS];
};

#define HISTOGRAM_REGISTER(variable, first, count) \
    __attribute__((constructor)) static void variable##_register(void) \
    { \
        for (size_t i = 0; i < (count); i++) \
            histogram_register(&(first)[i]); \
    } \
    static_assert(true, "a semicolon follows")
#define HISTOGRAM(variable, name_, help_) \
    struct histogram variable = { .name = (name_), .help = (help_) }; \
    HISTOGRAM_REGISTER(variable, &(variable), 1)
/* An array of one name, a row for each value of its label. */
#define HISTOGRAM_TABLE(table) HISTOGRAM_REGISTER(table, table, sizeof(table) / sizeof *(table))

/* Again is harmless. Two of one name have different labels; the first one's help counts. */
void histogram_register(struct histogram *histogram);

static inline uint32_t histogram_bucket(uint64_t us)
{
    if (us < 1u << HISTOGRAM_FIRST)
        return 0;
    const uint32_t octave = 63 - (uint32_t)__builtin_clzll(us);
    const uint32_t part = (uint32_t)(us >> (octave - 2)) % HISTOGRAM_PARTS;
    const uint32_t bucket = 1 + (octave - HISTOGRAM_FIRST) * HISTOGRAM_PARTS + part;
    return bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1;
}

static inline void histogram_note(struct histogram *histogram, uint64_t us)
{
    struct histogram_cells *cells = &histogram->cells[metrics_slot];
    metric_cell_add(&cells->counts[histogram_bucket(us)], 1);
    metric_cell_add(&cells->sum_us, us);
}

void histogram_read(const struct histogram *histogram, struct histogram_counts *counts);
/* The first of this name; NULL: there is none. */
const struct histogram *histogram_find(const char *name);
/* The time that a part of those after `before` did not exceed, in µs; 500 of 1000: the median.
 * 0: none came. */
uint64_t histogram_quantile_us(
    const struct histogram_counts *before, const struct histogram_counts *after, uint32_t of_1000);
void histograms_render(struct text *out); /* a part of metrics_render */

#endif
