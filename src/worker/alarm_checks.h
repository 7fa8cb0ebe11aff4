/* SPDX-License-Identifier: Apache-2.0 */
/* worker/alarm_checks.h: what the database thread sees and a person must know (worker/alarms.h).
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_ALARM_CHECKS_H
#define STAMPEDE_WORKER_ALARM_CHECKS_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct board;
struct order_store;
struct order_writer_progress;
struct stock_pump_progress;
struct task;

struct alarm_checks;
struct alarm_checks *alarm_checks_open(struct arena *arena, struct order_store *store,
    const struct board *board, uint64_t tickets_max, struct task *task);
void alarm_checks_letters_changed(struct alarm_checks *checks); /* dead letters are to be counted again */
void alarm_checks_refund_stuck(struct alarm_checks *checks); /* a provider refuses one for good: look */
void alarm_checks_writer(
    struct alarm_checks *checks, const struct order_writer_progress *progress, uint64_t now_ms);
void alarm_checks_pump(
    struct alarm_checks *checks, const struct stock_pump_progress *pump, uint64_t now_ms);

/* The tables of tickets or of users have little room left. */
bool tables_nearly_full(const struct board *board, uint64_t tickets_max);

#endif
