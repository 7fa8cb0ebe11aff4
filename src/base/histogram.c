/* SPDX-License-Identifier: Apache-2.0 */
#include "base/histogram.h"

/* Those of one name side by side, names in the order of their first registration. */
static struct histogram *registry[HISTOGRAMS_MAX];
static size_t registry_count;

static bool same_labels(const struct histogram *a, const struct histogram *b)
{
    return span_equal(span_from_string(a->labels), span_from_string(b->labels));
}

void histogram_register(struct histogram *histogram)
{
    for (size_t i = 0; i < registry_count; i++)
        if (registry[i] == histogram)
            return;
    invariant(registry_count < HISTOGRAMS_MAX);
    size_t place = registry_count;
    for (size_t i = 0; i < registry_count; i++) {
        if (strcmp(registry[i]->name, histogram->name) != 0)
            continue;
        invariant(!same_labels(registry[i], histogram)); /* two sources for one series */
        place = i + 1;
    }
    memmove(registry + place + 1, registry + place, (registry_count - place) * sizeof registry[0]);
    registry[place] = histogram;
    registry_count++;
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
    const uint32_t slots = metrics_slots_used();
    for (size_t thread = 0; thread < slots; thread++)
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

/* The end of half an octave, or of a whole one. */
static bool bucket_is_shown(uint32_t bucket)
{
    return bucket % (HISTOGRAM_PARTS / 2) == 0;
}

static void histogram_render(const struct histogram *histogram, struct text *out)
{
    const bool labelled = histogram->labels != NULL;
    const char *labels = labelled ? histogram->labels : "", *comma = labelled ? "," : "";
    struct histogram_counts counts;
    uint64_t passed = 0, sum_us = 0;
    const uint32_t slots = metrics_slots_used();
    histogram_read(histogram, &counts);
    for (size_t thread = 0; thread < slots; thread++)
        sum_us += atomic_load_explicit(&histogram->cells[thread].sum_us, memory_order_relaxed);
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        passed += counts.counts[i];
        if (i < HISTOGRAM_BUCKETS - 1 && bucket_is_shown(i))
            text_format(out, "%s_bucket{%s%sle=\"%.6f\"} %llu\n", histogram->name, labels, comma,
                (double)bucket_end_us(i) / 1e6, (unsigned long long)passed);
    }
    text_format(out, "%s_bucket{%s%sle=\"+Inf\"} %llu\n", histogram->name, labels, comma,
        (unsigned long long)passed);
    const char *open = labelled ? "{" : "", *close = labelled ? "}" : "";
    text_format(out, "%s_sum%s%s%s %.6f\n%s_count%s%s%s %llu\n", histogram->name, open, labels, close,
        (double)sum_us / 1e6, histogram->name, open, labels, close, (unsigned long long)passed);
}

void histograms_render(struct text *out)
{
    for (size_t i = 0; i < registry_count; i++) {
        if (i == 0 || strcmp(registry[i - 1]->name, registry[i]->name) != 0)
            text_format(out, "# HELP %s %s\n# TYPE %s histogram\n", registry[i]->name,
                registry[i]->help, registry[i]->name);
        histogram_render(registry[i], out);
    }
}
