/* SPDX-License-Identifier: Apache-2.0 */
/* worker/room_driver.h: the waiting rooms of open sales, each by the rules of
 * funnel/room/room_line.h, and what gateways are shown of them. A draw with a public beacon waits
 * for its value, or for the time to be over. Which of the two it was is in the database before the
 * draw is shown, and never changes.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_ROOM_DRIVER_H
#define STAMPEDE_WORKER_ROOM_DRIVER_H

#include "contract/types.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct errands;
struct catalog_updates;
struct config;
struct funnel_keys;
struct handover;
struct inventory;
struct inventory_port;
struct leadership;
struct order_store;
struct rooms;
struct sale;
struct switches;
struct task;

struct room_driver;
struct room_driver_config {
    const struct config *config; /* room.* */
    const struct funnel_keys *keys;
    struct inventory *inventory;
    struct inventory_port *port; /* its own */
    struct errands *errands;
    struct rooms *shown;
    struct order_store *store;
    struct handover *catalog;
    const struct catalog_updates *updates;
    const struct switches *switches;     /* how fast people go in at most */
    const struct leadership *leadership; /* who lets people in, and waits for beacons; others follow */
};
struct room_driver *room_driver_open(
    struct arena *arena, const struct room_driver_config *config, struct task *task);
size_t room_driver_bytes(uint64_t sales_max); /* of the arena, for the rooms of all sales */
/* The inventory hears of a sale before its room opens: the next one whose room is open and of which it may
 * not have heard; 0: there is no more. *at is 0 at first, and moves on. */
sale_id room_driver_undefined(const struct room_driver *driver, uint32_t *at);
void room_driver_define(struct room_driver *driver, const struct sale *sale, uint64_t now_ms);

#endif
