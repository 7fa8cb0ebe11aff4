/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/bans.h: the bans that are in force, as a set that edges ask on every purchase. One writer puts
 * bans in and takes them out while they ask; only a set that is full is replaced by a larger one, which
 * is handed over by one pointer (api/handover.h). NULL is the set without anybody, and the usual one.
 * A ban never holds after its time: what matches is compared with the clock.
 * Thread: any may ask, one writes. Memory: one allocation for each set. */
#ifndef STAMPEDE_FUNNEL_BANS_H
#define STAMPEDE_FUNNEL_BANS_H

#include "base/clock.h"
#include "contract/bans.h"

struct ban_set;

/* Out of all of them; several of one user or block are the longest of them. What is over at now_ms is left
 * out, unless sessions that it ended could still be shown. *set is NULL if nothing is left.
 * STATUS_FULL: no memory. */
MUST_CHECK enum status ban_set_build(
    struct ban_set **set, const struct ban_entry *bans, uint32_t count, uint64_t now_ms);
/* The writer: from now on this, and nothing else, holds for its user or its block. False: there is no room,
 * and nothing has changed. */
MUST_CHECK bool ban_set_put(struct ban_set *set, const struct ban_entry *ban);
/* A copy of what is not over, with room for half as many again. From NULL: an empty set. Answers NULL if
 * there is no memory. */
MUST_CHECK struct ban_set *ban_set_grown(const struct ban_set *set, uint64_t now_ms);
void ban_set_free(void *set); /* accepts NULL */

/* Until when; 0: not at all. The longest of all blocks that the address is in. */
uint64_t ban_set_address_until(const struct ban_set *set, const struct address *address);
uint64_t ban_set_user_until(const struct ban_set *set, user_id user);
/* Sessions of the user that were made up to this second are over; 0: none is. */
uint32_t ban_set_sessions_until_s(const struct ban_set *set, user_id user);

static inline bool ban_set_address_at(
    const struct ban_set *set, const struct address *address, uint64_t now_ms)
{
    return set != NULL && now_ms < ban_set_address_until(set, address);
}
static inline bool ban_set_user_at(const struct ban_set *set, user_id user, uint64_t now_ms)
{
    return set != NULL && now_ms < ban_set_user_until(set, user);
}
/* The same now. The clock is read only for those who are in the set. */
static inline bool ban_set_address(const struct ban_set *set, const struct address *address)
{
    const uint64_t until_ms = set == NULL ? 0 : ban_set_address_until(set, address);
    return __builtin_expect(until_ms != 0, 0) && clock_now_ms() < until_ms;
}
static inline bool ban_set_user(const struct ban_set *set, user_id user)
{
    const uint64_t until_ms = set == NULL ? 0 : ban_set_user_until(set, user);
    return __builtin_expect(until_ms != 0, 0) && clock_now_ms() < until_ms;
}

#endif
