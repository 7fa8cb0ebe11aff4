/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/admin/admin_shop.h: a shop without edges: the real worker, inventory and database with their
 * threads, in a folder of its own. The test plays the one edge: it hands in what operators ask, and it
 * sells. */
#ifndef STAMPEDE_TESTS_UNIT_ADMIN_ADMIN_SHOP_H
#define STAMPEDE_TESTS_UNIT_ADMIN_ADMIN_SHOP_H

#include "config/admin_keys.h"
#include "contract/types.h"
#include "edge/http.h"

#include <jansson.h>
#include <stdint.h>

/* How the database fails, until another one is set. */
enum shop_fault {
    FAULT_NONE,
    FAULT_AUDIT,       /* audit rows can't be written */
    FAULT_AFTER_A_ROW, /* it goes away after a new item was written */
    FAULT_AT_THE_END,  /* it goes away before a transaction is kept */
    FAULT_PREPARED,    /* none: a sale gets its partitions just before its row is changed */
};

/* For cmocka's group, and before each test: no fault, an admin who sends no key. */
int shop_open(void **state);
int shop_close(void **state);
int shop_begin(void **state);

void shop_fault_set(enum shop_fault which);
void shop_role_set(enum admin_role role);
void shop_key_set(const char *key); /* the Idempotency-Key of what is asked from now on; NULL: none */
void shop_machines_set(bool several); /* what the settings say; the inventory is that of one machine */
uint32_t shop_switched(void); /* how often the edges were told that the switches have changed */

/* One request, with its query behind a '?' of the path (after /admin/v1); body NULL: none. Answers the
 * status; what was said is read below. */
int shop_asks(enum http_method method, const char *body, const char *path, ...)
    __attribute__((format(printf, 3, 4)));
const char *shop_text(const char *format, ...) __attribute__((format(printf, 1, 2))); /* for bodies */

/* Of the last answer, until the next request: all of it, header lines, one value. A name may lead inside:
 * "counts.free", "items.0.id". */
const char *shop_said(void);
const char *shop_headers(void);
json_t *shop_value(const char *name); /* NULL: not there */
uint64_t shop_number(const char *name);

uint64_t shop_now_ms(void);
/* A sale that began a second ago and lasts an hour; an item of it; both public and preheated. */
sale_id shop_sale(void);
item_id shop_item(sale_id sale, uint32_t total);
void shop_publish(sale_id sale);
/* The shop's subject buys, and the order is written; false: refused. */
bool shop_sells(const char *subject, item_id item, uint32_t quantity);

#define assert_said(part) \
    do { \
        if (strstr(shop_said(), (part)) == NULL) \
            fail_msg("\"%s\" is not in:\n%s", (part), shop_said()); \
    } while (0)
#define assert_done(expected, asked) \
    do { \
        const int status_ = (asked); \
        if (status_ != (expected)) \
            fail_msg("%d, not %d: %s", status_, (expected), shop_said()); \
    } while (0)
/* `part`: of the detail, or the name of the problem. */
#define assert_refused(expected, part, asked) \
    do { \
        assert_done(expected, asked); \
        assert_said(part); \
    } while (0)
#define SHOP_RULE(name) cmocka_unit_test_setup(name, shop_begin)

#endif
