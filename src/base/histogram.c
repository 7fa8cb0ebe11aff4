/* SPDX-License-Identifier: Apache-2.0 */
#include "base/histogram.h"

static struct histogram *registry[HISTOGRAMS_MAX];
static size_t registry_count;

void histogram_register(struct histogram *histogram)
{
    for (size_t i = 0; i < registry_count; i++)
        if (registry[i] == histogram)
            return;
    invariant(registry_count < HISTOGRAMS_MAX && histogram_find(histogram->name) == NULL);
    registry[registry_count++] = histogram;
}

const struct histogram *histogram_find(const char *name)
{
    for (size_t i = 0; i < registry_count; i++)
        if (strcmp(registry[i]->name, name) == 0)
            return registry[i];
    return NULL;
}

void histogram_read(const struct histogram *histogram, struct histogram_counts *counts)
{
    *counts = (struct histogram_counts){ { 0 } };
    for (size_t thread = 0; thread < METRICS_THREADS; thread++)
        for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
            counts->counts[i] +=
                atomic_load_explicit(&histogram->cells[thread].counts[i], memory_order_relaxed);
}

/* Where a bucket ends; the last one has no end and is told by its beginning. */
static uint64_t bucket_end_us(uint32_t bucket)
{
    if (bucket == 0)
        return 1u << HISTOGRAM_FIRST;
    if (bucket == HISTOGRAM_BUCKETS - 1)
        bucket--;
    const uint32_t octave = HISTOGRAM_FIRST + (bucket - 1) / HISTOGRAM_PARTS;
    const uint64_t part = (bucket - 1) % HISTOGRAM_PARTS + 1;
    return (UINT64_C(1) << octave) + part * (UINT64_C(1) << octave) / HISTOGRAM_PARTS;
}

uint64_t histogram_quantile_us(
    const struct histogram_counts *before, const struct histogram_counts *after, uint32_t of_1000)
{
    uint64_t all = 0, passed = 0;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        all += after->counts[i] - before->counts[i];
    const uint64_t wanted = (all * of_1000 + 999) / 1000;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS && all > 0; i++) {
        passed += after->counts[i] - before->counts[i];
        if (passed >= wanted)
            return bucket_end_us(i);
    }
    return 0;
}

static void histogram_render(const struct histogram *histogram, struct text *out)
{
    struct histogram_counts counts;
    uint64_t passed = 0, sum_us = 0;
    histogram_read(histogram, &counts);
    for (size_t thread = 0; thread < METRICS_THREADS; thread++)
        sum_us += atomic_load_explicit(&histogram->cells[thread].sum_us, memory_order_relaxed);
    text_format(out, "# HELP %s %s\n# TYPE %s histogram\n", histogram->name, histogram->help,
        histogram->name);
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        passed += counts.counts[i];
        const uint64_t end_us = bucket_end_us(i);
        if (i < HISTOGRAM_BUCKETS - 1 && (end_us & (end_us - 1)) == 0)
            text_format(out, "%s_bucket{le=\"%.6f\"} %llu\n", histogram->name, (double)end_us / 1e6,
                (unsigned long long)passed);
    }
    text_format(out, "%s_bucket{le=\"+Inf\"} %llu\n%s_sum %.6f\n%s_count %llu\n", histogram->name,
        (unsigned long long)passed, histogram->name, (double)sum_us / 1e6, histogram->name,
        (unsigned long long)passed);
}

void histograms_render(struct text *out)
{
    for (size_t i = 0; i < registry_count; i++)
        histogram_render(registry[i], out);
}
