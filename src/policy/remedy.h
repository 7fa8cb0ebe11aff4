/* SPDX-License-Identifier: Apache-2.0 */
/* policy/remedy.h: what may be done for an order that can't be filled (contract/remedy.h), and in which order
 * it is proposed: refund and coupon; wait for stock, or units of another pool, and coupon; a substitute; ship
 * at a loss.
 *
 *   the order is …        refund   wait   substitute   ship at a loss   dismiss
 *   unpaid                yes (a)  yes    –            –                yes
 *   paid, not shipped     yes      yes    yes          yes              yes
 *   paid, shipped         –        –      –            yes (b)          yes
 *   closed                –        –      –            –                yes
 *   refunded              yes (c)  –      –            –                yes
 * (a) it is closed, no money is there to go back; (b) the goods went out, only the loss is written down;
 * (c) the money went back before, only the coupon is given.
 * Pure functions, any thread. */
#ifndef STAMPEDE_POLICY_REMEDY_H
#define STAMPEDE_POLICY_REMEDY_H

#include "contract/remedy.h"

struct remedy_facts {
    uint8_t order_state; /* enum order_state */
    bool shipped;
};

/* False: this remedy is not for such an order. */
bool remedy_fits(enum remedy remedy, const struct remedy_facts *facts);
/* Those that fit, in the order of the documents; answers how many. */
uint32_t remedy_proposals(const struct remedy_facts *facts, enum remedy out[REMEDIES]);
/* What it does to the order: ORDER_EVENT_REFUND, ORDER_EVENT_CANCEL; ORDER_EVENTS: nothing. */
enum order_event remedy_event(enum remedy remedy, const struct remedy_facts *facts);
/* Percent of the order that its coupon is worth, if nobody says otherwise: `standard`, or 0. */
uint32_t remedy_coupon_percent(enum remedy remedy, uint32_t standard);
/* The value of a coupon: rounded up to a whole smallest unit, so that it is never nothing by rounding. */
uint64_t remedy_coupon_value(uint64_t amount, uint32_t percent);
/* How many of the orders (newest first) are enough for the units that are missing. */
uint32_t remedy_orders_enough(const struct order *orders, uint32_t count, uint32_t missing);
/* The remedy of this name; REMEDY_NONE: there is none. */
enum remedy remedy_find(const char *name);

#endif
