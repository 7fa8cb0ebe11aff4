/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/verify/verify_folder.h: a real data folder with a small sale in it, made by the real
 * engine, journal, store and order writer, all turned by hand on one thread. */
#ifndef STAMPEDE_TESTS_UNIT_WIRING_VERIFY_FOLDER_H
#define STAMPEDE_TESTS_UNIT_WIRING_VERIFY_FOLDER_H

#include "config/data_folder.h"
#include "funnel/keys.h"
#include "inventory/embedded.h"
#include "orders/order_writer.h"

#define assert_says(text, part) \
    do { \
        if (strstr((text), (part)) == NULL) \
            fail_msg("\"%s\" is not in:\n%s", (part), (text)); \
    } while (0)
#define assert_silent(text, part) assert_null(strstr((text), (part)))

#define FOLDER_START_MS UINT64_C(1794398400000) /* 2026-11-11T12:00:00Z */

/* Every file below `path` goes, and the folders. */
void tree_remove(const char *path);
/* One number over names and bytes of all files below `path`, the database's left out. */
uint64_t tree_digest(const char *path);

struct verify_folder {
    char path[64];
    uint64_t now_ms;
    struct data_folder data;
    struct funnel_keys keys;
    struct embedded *embedded;
    struct inventory_port *port;
    struct order_store *store;
    struct ticket_queue *queue;
    struct arena arena;
    struct order_writer *writer;
};

/* An empty folder with one product, one sale [FOLDER_START_MS, + 1 h) and items 1 (limit 1, 10
 * units) and 2 (limit 5, 20 units, 2 of them safety stock), preheated. The clock stands at the
 * start. */
void folder_make(struct verify_folder *folder);
void folder_start(struct verify_folder *folder); /* opens what folder_stop has closed */
void folder_stop(struct verify_folder *folder, bool snapshot);
void folder_remove(struct verify_folder *folder); /* after folder_stop */
struct outcome folder_send(struct verify_folder *folder, const struct command *command);
/* The shop's subject buys; answers the ticket number, 0 if refused. */
ticket_number folder_buy(
    struct verify_folder *folder, const char *subject, item_id item, uint32_t quantity);
void folder_settle(struct verify_folder *folder, ticket_number ticket, enum settle_step step);
/* Returned tickets whose sale ended before now are forgotten; answers how many. */
uint32_t folder_reclaim(struct verify_folder *folder);
void folder_write_orders(struct verify_folder *folder);
/* On the stopped folder's database. */
void folder_sql(const struct verify_folder *folder, const char *sql);
/* A sale in which item 1 sells out, one user pays and one gives back; orders written; stopped. */
void folder_make_sold(struct verify_folder *folder);
/* Turns one bit of a file of the folder. */
void folder_flip(const struct verify_folder *folder, const char *file, long offset);
/* verify_run into text that the next call overwrites. */
const char *folder_verify(
    const char *path, const char *user, item_id item, uint64_t at_ms, bool json, int *result);

/* The fixture of tests about a sale that is over: setup, teardown, the folder between them, and its
 * report, which must come to `expected`. */
extern struct verify_folder sold_folder;
int sold_make(void **state);
int sold_remove(void **state);
const char *sold_verified(int expected);

#endif
