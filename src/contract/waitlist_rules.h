/* SPDX-License-Identifier: Apache-2.0 */
/* contract/waitlist_rules.h: who of a line gets what, and what a place in it is worth (contract/waitlist.h).
 * A store reads places in the order of joining, asks here, and writes what it is told; it decides nothing
 * itself, so that no two of them can disagree. Pure functions, any thread. */
#ifndef STAMPEDE_CONTRACT_WAITLIST_RULES_H
#define STAMPEDE_CONTRACT_WAITLIST_RULES_H

#include "contract/waitlist.h"

/* Asked for each place, from the first one on: whether it gets its units of those that are left, which
 * become fewer then. All that it wants or nothing: whoever wants more than is left stands back for the
 * next one. */
bool waitlist_take(uint32_t *left, uint32_t quantity);
/* Whether the units of this step are offered to the line: those that come back to the web channel. */
bool waitlist_gets(enum settle_step step, channel_index destination);
/* `latest`: the state of the user's latest place; PLACE_NONE: there was none. */
enum join_answer waitlist_join_decide(enum place_state latest, uint32_t waiting, uint32_t line_max);
/* What a place is, by what is stored of it (waiting, offered, left) and by the order of its offer.
 * ORDER_NONE: that is not written yet. */
enum place_state waitlist_place_state(
    enum place_state stored, enum order_state order, enum order_reason reason);

/* What a SETTLE record says of its waiter `index`. */
struct waiter_verdict {
    uint64_t place;       /* 0: it was no place of a line */
    ticket_number ticket; /* the offer; 0: the place is passed over */
};
struct waiter_verdict waitlist_waiter_verdict(const struct queue_record *record, uint32_t index);

#endif
