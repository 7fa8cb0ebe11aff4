/* SPDX-License-Identifier: Apache-2.0 */
/* worker/bookings.h: the task that follows bookings of presales (orders/booking_follow.h). The leader looks
 * at some of them at a time.
 * Thread: the worker's. Errors: a store that is away is asked again. */
#ifndef STAMPEDE_WORKER_BOOKINGS_H
#define STAMPEDE_WORKER_BOOKINGS_H

struct arena;
struct money;
struct order_news;
struct order_store;
struct returns;
struct task;

struct bookings_config {
    struct order_store *store;
    struct returns *returns; /* told when somebody stands in line, or a deposit's unit goes back */
    struct order_news *news; /* told of refunds */
    struct money *money;     /* the same */
};
void bookings_open(struct arena *arena, const struct bookings_config *config, struct task *task);

#endif
