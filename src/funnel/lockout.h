/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/lockout.h: addresses that send wrong admin keys must wait. Keys have 256 random bits, so
 * guessing leads nowhere; this keeps it from costing anything, and from filling logs and counts.
 *
 * The first LOCKOUT_FREE wrong keys of an address (address_group) are refused at once. Then each makes the
 * address wait, one second at first, twice as long each time, LOCKOUT_MAX_MS at most; while it waits, no
 * key is looked at. LOCKOUT_FORGET_MS without a wrong key forget it. Two kinds of addresses are spared, so
 * that an attacker with the operator's address can't lock the operator out: this machine waits
 * LOCKOUT_LOCAL_MS at most, and an address that showed a right key within LOCKOUT_TRUST_MS never
 * waits.
 *
 * Places are LOCKOUT_PLACES, in lines of eight by a keyed hash. In a full line the one that was not seen
 * for longest gives way.
 * Thread: any; all edges share one, behind a lock: an operator who showed the right key to one edge is spared
 * by the others too, and guesses that are spread over edges count together. Only requests that show an admin
 * key come here. Memory: its own, at open. */
#ifndef STAMPEDE_FUNNEL_LOCKOUT_H
#define STAMPEDE_FUNNEL_LOCKOUT_H

#include "base/address.h"
#include "base/hash.h"
#include "base/status.h"

enum {
    LOCKOUT_PLACES = 4096,
    LOCKOUT_FREE = 5,
    LOCKOUT_MAX_MS = 60 * 1000,
    LOCKOUT_LOCAL_MS = 1000,
    LOCKOUT_FORGET_MS = 15 * 60 * 1000,
    LOCKOUT_TRUST_MS = 24 * 60 * 60 * 1000,
};

struct lockout;
MUST_CHECK enum status lockout_open(struct lockout **lockout, struct hash_key key, uint32_t v6_bits);
void lockout_close(struct lockout *lockout); /* accepts NULL */
/* How long the address has to wait before it may show a key; 0: it may. */
uint32_t lockout_wait_ms(struct lockout *lockout, const struct address *client, uint64_t now_ms);
void lockout_failed(struct lockout *lockout, const struct address *client, uint64_t now_ms);
void lockout_passed(struct lockout *lockout, const struct address *client, uint64_t now_ms);

#endif
