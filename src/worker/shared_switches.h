/* SPDX-License-Identifier: Apache-2.0 */
/* worker/shared_switches.h: on many machines the switches (funnel/switches.h) stand in the database, and
 * each process follows them. A switch that nobody has turned has the value of the configuration.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_SHARED_SWITCHES_H
#define STAMPEDE_WORKER_SHARED_SWITCHES_H

#include "base/status.h"

#include <stdbool.h>

enum { SWITCH_ROWS_MAX = 256 };          /* more than an operator can turn (admin/switches.c) */
#define SWITCH_SOLD_OUT "sold_out_items" /* the name of an item's switch */

struct order_store;
struct switches;
/* Sets those that differ. *changed: one did. Any error: nothing was set. */
MUST_CHECK enum status shared_switches_read(
    struct order_store *store, struct switches *switches, bool *changed);

#endif
