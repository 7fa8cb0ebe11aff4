/* SPDX-License-Identifier: Apache-2.0 */
/* orders/reconcile.h: compares database and inventory while both work, and repairs what is
 * right is beyond doubt (docs/reconcile.md has every rule with its code).
 *
 * Orders move on the store thread and the inventory follows by stock events; so an order together
 * with its open events says which states of its ticket are right. The tickets are walked in slices;
 * what does not fit is looked at again, twice, each time after database and inventory have come to the
 * position that the other one had before: what was only in motion fits by then. Sums inside the database
 * are taken from one moment of it and are exact at once. What has to agree between whole items is compared
 * at moments of rest; an item that never rests is counted as skipped, not as wrong.
 *
 * A recent run looks only at what has changed since the last run that found nothing wrong: orders with higher
 * tickets, orders that stock events moved, their users and items, payments that were not over. Its cost does
 * not depend on history. It believes the sums that the store keeps, and leaves out the sums of all money.
 *
 * On many machines the logs are in the database, one for each partition, and the inventory is what this
 * process has followed of them (inventory/redis/replica.h). A position is the number of records of all
 * partitions there: where the sums agree, each partition does, because what is followed is never ahead.
 * At the end of a run what Redis has of each partition is compared with its log (contract/part_checks.h).
 *
 * Thread: the store thread only; a turn does one slice. Memory: one arena, at create.
 * Errors: a store or inventory that is away ends the run, and the report says so. */
#ifndef STAMPEDE_ORDERS_RECONCILE_H
#define STAMPEDE_ORDERS_RECONCILE_H

#include "base/arena.h"
#include "contract/board.h"
#include "contract/inventory.h"
#include "contract/reconcile.h"

struct part_checks;

enum {
    RECONCILE_SLICE = 512,        /* rows and questions of one turn */
    RECONCILE_FINDINGS_MAX = 200, /* kept in a report; more are only counted */
    RECONCILE_SUSPECTS_MAX = 512,
    RECONCILE_GAP_MAX = 64, /* missing tickets checked in one gap, and after the last order */
    RECONCILE_ROUNDS_MAX = 10,
    RECONCILE_ROUND_MS = 30,       /* between two looks at a suspect */
    RECONCILE_ANSWER_MS = 10000,   /* for answers of the inventory, or a position of the store */
    RECONCILE_REST_WAITS_MAX = 50, /* turns that a run waits for moments of rest */
    RECONCILE_PARTS_MAX = 4096,    /* with more partitions, each run looks at everything */
};

enum reconcile_state { RECONCILE_NEVER, RECONCILE_RUNNING, RECONCILE_DONE, RECONCILE_FAILED };
struct reconcile_report {
    enum reconcile_state state;
    bool repair;
    bool recent; /* only what has changed since the last run that found nothing */
    uint64_t started_ms, ended_ms;
    struct position position; /* of the database, when it began; many machines: of partition 0, all records */
    uint64_t orders, users, counters, payments, items; /* looked at */
    uint32_t skipped;         /* items that never rested, suspects that never stood still */
    uint32_t found, repaired; /* all, also those that did not fit */
    uint32_t count;           /* in findings */
    struct finding findings[RECONCILE_FINDINGS_MAX];
    const char *trouble; /* RECONCILE_FAILED */
};

struct reconcile_config {
    struct order_store *store;
    struct inventory_port *port; /* its own */
    const struct board *board;
    uint32_t part;              /* whose inventory it is */
    bool partitions;            /* many machines: it is that of all partitions */
    struct part_checks *checks; /* what Redis has of them; NULL: it is not asked */
    void (*repaired)(void *context, const struct finding *finding); /* after its commit */
    void *context;
};

struct reconcile;
size_t reconcile_bytes(void);
struct reconcile *reconcile_create(struct arena *arena, const struct reconcile_config *config);
/* False: one runs. A recent run is a whole one as long as none has found everything right, and with
 * `repair`. */
bool reconcile_begin(struct reconcile *reconcile, uint64_t now_ms, bool repair, bool recent);
/* One slice. True: call again soon; false: nothing runs. */
bool reconcile_turn(struct reconcile *reconcile, uint64_t now_ms);
/* The run under way, else the last one. Valid until the next begin. */
const struct reconcile_report *reconcile_report(const struct reconcile *reconcile);
bool reconcile_running(const struct reconcile *reconcile);

/* reconcile_judge.c: the rules, as pure functions. */
const char *finding_name(enum finding_code code); /* stable: "stock-event-missing" */
bool finding_repairable(enum finding_code code);
/* A ticket or order itself is in question: sums that follow from it are not judged. */
bool finding_is_of_ticket(enum finding_code code);
/* `row` NULL: no order. *step: which event, for FINDING_EVENT_…. */
enum finding_code reconcile_judge_ticket(
    const struct look_order *row, const struct outcome *ticket, uint8_t *step);
bool reconcile_slot_fits(const struct look_order *row);
bool reconcile_mark_fits(const struct look_user *user, uint64_t marked);
/* Σ over the users of an item; `channels`: for each channel, too. FINDING_NONE: the inventory's counts
 * fit. */
enum finding_code reconcile_judge_item(const struct look_item *item, const struct look_user *sum,
    bool channels, const struct item_counts *counts);

#endif
