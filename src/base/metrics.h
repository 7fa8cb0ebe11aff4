/* SPDX-License-Identifier: Apache-2.0 */
/* base/metrics.h: counters and gauges in Prometheus text form.
 * A metric is a static struct, registered by its declaration (COUNTER, GAUGE). Counters have one cell
 * per thread slot, so that counting is one relaxed add on a line nobody else writes; reading sums the
 * cells.
 * Slots: 0 is shared by the threads that never entered, 1 … METRICS_THREADS − 2 have one thread each
 * in the order of entering, and the last is shared by all who entered later.
 * Thread: metrics_thread_enter gives the calling thread its slot, again is harmless; counting from
 * any thread; metrics_register before threads only; metrics_render from any thread. */
#ifndef STAMPEDE_BASE_METRICS_H
#define STAMPEDE_BASE_METRICS_H

#include "base/text.h"

#include <assert.h>
#include <stdalign.h>
#include <stdatomic.h>

enum { METRICS_THREADS = 80, METRICS_MAX = 512 };
enum metric_kind { METRIC_COUNTER, METRIC_GAUGE };

struct metric {
    const char *name;   /* stampede_…; counters end in _total */
    const char *labels; /* "answer=\"won\"" or NULL; differs within one name */
    const char *help;
    enum metric_kind kind;
    struct {
        alignas(64) _Atomic uint64_t value;
    } cells[METRICS_THREADS];
};

/* How a metric is made, at file scope: declaring it registers it before main, in every program that
 * the file is a part of. METRIC_ROW is a row of an array that METRIC_TABLE registers; rows without a
 * name are passed over. */
#define METRIC_ROW(kind_, name_, labels_, help_) \
    { \
        .name = (name_), .labels = (labels_), .help = (help_), .kind = (kind_) \
    }
#define METRIC_REGISTER(variable, first, count) \
    __attribute__((constructor)) static void variable##_register(void) \
    { \
        for (size_t i = 0; i < (count); i++) \
            if ((first)[i].name != NULL) \
                metrics_register(&(first)[i]); \
    } \
    static_assert(true, "a semicolon follows")
#define METRIC_TABLE(table) METRIC_REGISTER(table, table, sizeof(table) / sizeof *(table))
#define METRIC(variable, kind_, name_, labels_, help_) \
    static struct metric variable = METRIC_ROW(kind_, name_, labels_, help_); \
    METRIC_REGISTER(variable, &(variable), 1)
#define COUNTER(variable, name_, help_) METRIC(variable, METRIC_COUNTER, name_, NULL, help_)
#define COUNTER_OF(variable, name_, labels_, help_) \
    METRIC(variable, METRIC_COUNTER, name_, labels_, help_)
#define GAUGE(variable, name_, help_) METRIC(variable, METRIC_GAUGE, name_, NULL, help_)
#define GAUGE_OF(variable, name_, labels_, help_) \
    METRIC(variable, METRIC_GAUGE, name_, labels_, help_)

extern _Thread_local uint32_t metrics_slot;
void metrics_thread_enter(void);
uint32_t metrics_slots_used(void); /* the slots after these are empty */
/* Again is harmless. Two metrics of one name have one kind and different labels; the first one's
 * help counts. */
void metrics_register(struct metric *metric);
/* A cell of this thread's slot. A slot of its own: no locked instruction. */
static inline void metric_cell_add(_Atomic uint64_t *cell, uint64_t n)
{
    if (__builtin_expect(metrics_slot - 1 < METRICS_THREADS - 2, 1))
        atomic_store_explicit(
            cell, atomic_load_explicit(cell, memory_order_relaxed) + n, memory_order_relaxed);
    else
        atomic_fetch_add_explicit(cell, n, memory_order_relaxed);
}
static inline void metric_add(struct metric *metric, uint64_t n)
{
    metric_cell_add(&metric->cells[metrics_slot].value, n);
}
static inline void metric_set(struct metric *metric, uint64_t value) /* gauges: one cell */
{
    atomic_store_explicit(&metric->cells[0].value, value, memory_order_relaxed);
}
uint64_t metric_read(const struct metric *metric);
void metrics_render(struct text *out);
/* The sum of the series of this name. labels: values of the label that count, each between spaces
 * (" won sold-out "); NULL: all; "!…": all but these. */
uint64_t metrics_total(const char *name, const char *labels);
/* Every metric of this name, in the order of rendering. */
void metrics_each(const char *name, void (*see)(void *context, const char *labels, uint64_t value),
    void *context);

#endif
