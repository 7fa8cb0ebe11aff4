/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/human_outside.h: asks a service outside (outgoing/verdict.h) what it says of visitors: takes the
 * edges' questions, has a courier of its own call the service, and notes the verdicts. The courier of
 * money and webhooks is left alone. Bounded: OUTSIDE_CALLS calls at a time, OUTSIDE_QUESTIONS wait at
 * each edge; more hear `too-popular`.
 * Thread: open and close by the main thread; turn by the human worker's; edges write into their ring. */
#ifndef STAMPEDE_GATEWAY_HUMAN_OUTSIDE_H
#define STAMPEDE_GATEWAY_HUMAN_OUTSIDE_H

#include "base/arena.h"
#include "base/thread.h"
#include "config/config.h"
#include "outgoing/verdict.h"

struct courier;
struct human_outside;
struct ring;
struct spent;

enum { OUTSIDE_CALLS = 64, OUTSIDE_QUESTIONS = 64 };

struct outside_flight {
    uint64_t person, machine, none; /* marks */
    uint32_t expires_s;
    bool taken;
};
struct outside_service {
    const struct verdict_ops *ops; /* NULL: no service is set, and nothing else is there */
    struct verdict_account account;
    bool let_in; /* where there is no verdict */
    struct arena arena;
    struct spent *verdicts;
    struct ring *questions; /* one for each edge */
    struct human_outside *edges;
    uint32_t edge_count;
    struct courier *courier;
    struct thread thread; /* the courier's */
    struct outside_flight flights[OUTSIDE_CALLS];
};

/* STATUS_BAD_INPUT with `error`: the secret can't be read. */
MUST_CHECK enum status human_outside_open(struct outside_service *outside,
    const struct config *config, uint32_t edges, struct wake *wake, char error[CONFIG_ERROR]);
MUST_CHECK enum status human_outside_start(struct outside_service *outside);
void human_outside_turn(struct outside_service *outside, uint32_t now_s);
void human_outside_stop(struct outside_service *outside);  /* accepts one that is not set */
void human_outside_close(struct outside_service *outside); /* the same; after the edges */

#endif
