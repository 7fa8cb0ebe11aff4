/* SPDX-License-Identifier: Apache-2.0 */
/* base/metrics.h: counters and gauges in Prometheus text form.
 * A metric is a static struct, registered at start. Counters have one cell per thread slot, so that
 * counting is one relaxed add on a line nobody else writes; reading sums the cells.
 * Slots: 0 is shared by the threads that never entered, 1 … METRICS_THREADS − 2 have one thread each
 * in the order of entering, and the last is shared by all who entered later.
 * Thread: metrics_thread_enter gives the calling thread its slot, again is harmless; counting from
 * any thread; metrics_register at start only; metrics_render from any thread. */
#ifndef STAMPEDE_BASE_METRICS_H
#define STAMPEDE_BASE_METRICS_H

#include "base/text.h"

#include <stdalign.h>
#include <stdatomic.h>

enum { METRICS_THREADS = 80, METRICS_MAX = 256 };
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

extern _Thread_local uint32_t metrics_slot;
void metrics_thread_enter(void);
/* Again is harmless. Two metrics of one name have one kind and different labels; the first one's
 * help counts. */
void metrics_register(struct metric *metric);
static inline void metric_add(struct metric *metric, uint64_t n)
{
    _Atomic uint64_t *cell = &metric->cells[metrics_slot].value;
    /* A slot of its own: no locked instruction. */
    if (__builtin_expect(metrics_slot - 1 < METRICS_THREADS - 2, 1))
        atomic_store_explicit(
            cell, atomic_load_explicit(cell, memory_order_relaxed) + n, memory_order_relaxed);
    else
        atomic_fetch_add_explicit(cell, n, memory_order_relaxed);
}
static inline void metric_set(struct metric *metric, uint64_t value) /* gauges: one cell */
{
    atomic_store_explicit(&metric->cells[0].value, value, memory_order_relaxed);
}
uint64_t metric_read(const struct metric *metric);
void metrics_render(struct text *out);
/* Every metric of this name, in the order of rendering. */
void metrics_each(const char *name, void (*see)(void *context, const char *labels, uint64_t value),
    void *context);

#endif
