/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/store_suite_parts.h: what the parts of the store suite share: a store with one sale
 * and three items, and a log that is filled record by record. */
#ifndef STAMPEDE_TESTS_STORE_SUITE_PARTS_H
#define STAMPEDE_TESTS_STORE_SUITE_PARTS_H

#include "tests/seam/store_suite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
    UNITS = 10,
    LIST_PRICE = 5000,
    FLASH_PRICE = 999,
    START_MS = 1000,
    END_MS = 100000,
    WINDOW_MS = 900
};

struct fixture {
    struct order_store *store;
    sale_id sale;
    item_id one, many, free; /* limit per user 1, 3, none; the sale's limit is 4 once it is logged */
    lsn_t lsn;
    ticket_number ticket;
    struct refusal refusal;
    struct queue_record records[ORDER_BATCH_MAX];
    uint8_t dispositions[ORDER_BATCH_MAX];
    uint32_t count;
};

#define ops(fixture) ((fixture)->store->ops)

int suite_setup(void **state);
int suite_teardown(void **state);
void suite_restart(struct fixture *f);
item_id suite_add_item(struct fixture *f, uint32_t limit, uint32_t product);
struct queue_record *suite_add(struct fixture *f, enum command_type type);
ticket_number suite_add_win(struct fixture *f, item_id item, user_id user, uint32_t quantity);
struct queue_record *suite_add_settle(struct fixture *f, ticket_number ticket, enum settle_step step);
enum status suite_send_again(struct fixture *f);
enum status suite_send(struct fixture *f);
void suite_must_send(struct fixture *f);
struct order suite_order_of(struct fixture *f, ticket_number ticket);
bool suite_has_order(struct fixture *f, ticket_number ticket);
struct item suite_item_of(struct fixture *f, item_id id);
lsn_t suite_position_of(struct fixture *f);
uint32_t suite_open_events(struct fixture *f, struct stock_event *events, uint32_t max);
void suite_check_accounting(struct fixture *f, item_id id, uint32_t sold_before);

/* Runs the rules, each on a store of its own; answers how many failed. */
/* What several machines share; the rule is skipped where a store has none of it. */
const struct cluster_store_ops *suite_cluster(struct fixture *f);

int suite_run_orders(void);
int suite_run_stock(void);
int suite_run_moves(void);
int suite_run_groups(void);
int suite_run_payments(void);
int suite_run_refunds(void);
int suite_run_waitlist(void);
int suite_run_restore(void);
int suite_run_logs(void);
int suite_run_cluster(void);
int suite_run_members(void);
int suite_run_archive(void);
int suite_run_limits(void);
int suite_run_policy(void);
int suite_run_remedies(void);
int suite_run_deposits(void);

#define SUITE_RULE(name) cmocka_unit_test_setup_teardown(name, suite_setup, suite_teardown)

#endif
