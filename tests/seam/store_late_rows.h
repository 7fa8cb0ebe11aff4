/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/store_late_rows.h: another connection commits an order or a payment while a request for it runs,
 * before each of the request's statements in turn. The request then says that there is none, or it has locked
 * the order after it was committed. */
#ifndef STAMPEDE_TESTS_STORE_LATE_ROWS_H
#define STAMPEDE_TESTS_STORE_LATE_ROWS_H

#include "tests/seam/store_server.h"

/* What main() answers; 77: there is no server. */
int store_late_rows_run(const struct store_server *chosen);

#endif
