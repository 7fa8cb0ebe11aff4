/* SPDX-License-Identifier: Apache-2.0 */
/* worker/sale_report.h: counts of the funnel for the final report of each sale (api/sale_meters.h).
 * A sale has a meter from shortly before it opens until it is over; what comes before the opening
 * is not its own. Written every few seconds.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_SALE_REPORT_H
#define STAMPEDE_WORKER_SALE_REPORT_H

#include "contract/types.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct board;
struct order_store;
struct sale;
struct sale_meters;
struct task;
struct text;

struct sale_report;
struct sale_report_config {
    struct order_store *store;
    const struct board *board;
    uint32_t items_max, edges;
};
size_t sale_report_bytes(const struct sale_report_config *config);
struct sale_report *sale_report_open(
    struct arena *arena, const struct sale_report_config *config, struct task *task);
struct sale_meters *sale_report_meters(struct sale_report *report); /* where the edges count */
/* By hand, now. */
void sale_report_opened(struct sale_report *report, const struct sale *sale, uint64_t now_ms);
void sale_report_look(struct sale_report *report, uint64_t now_ms); /* takes what was counted up to now */
void sale_report_flush(struct sale_report *report, uint64_t now_ms); /* writes it */
/* The member "funnel": what was counted for a sale since it opened, or since the last start of the server. */
void sale_report_funnel_json(const struct sale_report *report, sale_id sale, struct text *out);

#endif
