/* SPDX-License-Identifier: Apache-2.0 */
#include "base/metrics.h"

#include "base/histogram.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

_Thread_local uint32_t metrics_slot;

/* In rendering order: metrics of one name side by side, names in the order of their first
 * registration. */
static struct metric *registry[METRICS_MAX];
static size_t registry_count;
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;

static _Atomic uint32_t entered;

void metrics_thread_enter(void)
{
    static _Thread_local bool inside;
    if (inside)
        return;
    inside = true;
    /* Slot 0 is for those who never entered, the last one for those who came too late: both may
     * be shared. */
    uint32_t slot = atomic_fetch_add_explicit(&entered, 1, memory_order_relaxed) + 1;
    metrics_slot = slot < METRICS_THREADS ? slot : METRICS_THREADS - 1;
}

uint32_t metrics_slots_used(void)
{
    const uint32_t used = atomic_load_explicit(&entered, memory_order_relaxed) + 1;
    return used < METRICS_THREADS ? used : METRICS_THREADS;
}

static bool name_is_valid(const char *name)
{
    if (name == NULL || *name == '\0' || (*name >= '0' && *name <= '9'))
        return false;
    size_t valid = strspn(name,
        "abcdefghijklmnopqrstuvwxyz"
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:");
    return name[valid] == '\0';
}

static bool same_labels(const struct metric *a, const struct metric *b)
{
    return span_equal(span_from_string(a->labels), span_from_string(b->labels));
}

/* Where the metric belongs: after the last one of its name, or at the end. */
static size_t registry_place(const struct metric *metric)
{
    size_t place = registry_count;
    for (size_t i = 0; i < registry_count; i++) {
        if (strcmp(registry[i]->name, metric->name) != 0)
            continue;
        invariant(registry[i]->kind == metric->kind);
        invariant(!same_labels(registry[i], metric)); /* two sources for one series */
        place = i + 1;
    }
    return place;
}

static bool registry_has(const struct metric *metric)
{
    for (size_t i = 0; i < registry_count; i++) {
        if (registry[i] == metric)
            return true;
    }
    return false;
}

void metrics_register(struct metric *metric)
{
    invariant(name_is_valid(metric->name));
    pthread_mutex_lock(&registry_lock);
    if (!registry_has(metric)) {
        invariant(registry_count < METRICS_MAX);
        size_t place = registry_place(metric);
        memmove(registry + place + 1, registry + place, (registry_count - place) * sizeof registry[0]);
        registry[place] = metric;
        registry_count++;
    }
    pthread_mutex_unlock(&registry_lock);
}

uint64_t metric_read(const struct metric *metric)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < METRICS_THREADS; i++)
        sum += atomic_load_explicit(&metric->cells[i].value, memory_order_relaxed);
    return sum;
}

static void render_head(struct text *out, const struct metric *metric)
{
    if (metric->help != NULL) {
        text_literal(out, "# HELP ");
        text_string(out, metric->name);
        text_literal(out, " ");
        for (const char *at = metric->help; *at != '\0'; at++) {
            if (*at == '\\')
                text_literal(out, "\\\\");
            else if (*at == '\n')
                text_literal(out, "\\n");
            else
                text_add(out, span_of(at, 1));
        }
        text_literal(out, "\n");
    }
    text_literal(out, "# TYPE ");
    text_string(out, metric->name);
    text_string(out, metric->kind == METRIC_COUNTER ? " counter\n" : " gauge\n");
}

void metrics_render(struct text *out)
{
    pthread_mutex_lock(&registry_lock);
    for (size_t i = 0; i < registry_count; i++) {
        const struct metric *metric = registry[i];
        if (i == 0 || strcmp(registry[i - 1]->name, metric->name) != 0)
            render_head(out, metric);
        text_string(out, metric->name);
        if (metric->labels != NULL && *metric->labels != '\0') {
            text_literal(out, "{");
            text_string(out, metric->labels);
            text_literal(out, "}");
        }
        text_literal(out, " ");
        text_u64(out, metric_read(metric));
        text_literal(out, "\n");
    }
    pthread_mutex_unlock(&registry_lock);
    histograms_render(out);
}

void metrics_each(
    const char *name, void (*see)(void *context, const char *labels, uint64_t value), void *context)
{
    pthread_mutex_lock(&registry_lock);
    for (size_t i = 0; i < registry_count; i++) {
        if (strcmp(registry[i]->name, name) == 0)
            see(context, registry[i]->labels, metric_read(registry[i]));
    }
    pthread_mutex_unlock(&registry_lock);
}

struct sum {
    const char *labels;
    uint64_t value;
};

static void sum_see(void *context, const char *labels, uint64_t value)
{
    struct sum *sum = context;
    char word[64];
    const char *begin = labels == NULL ? NULL : strchr(labels, '"');
    if (sum->labels != NULL && begin != NULL) {
        snprintf(word, sizeof word, " %.*s ", (int)strcspn(begin + 1, "\""), begin + 1);
        const bool named = strstr(sum->labels, word) != NULL;
        if (named == (sum->labels[0] == '!'))
            return;
    }
    sum->value += value;
}

uint64_t metrics_total(const char *name, const char *labels)
{
    struct sum sum = { .labels = labels };
    metrics_each(name, sum_see, &sum);
    return sum.value;
}
