/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/session_rules.h: which sessions still count. A session that we signed and that has not expired
 * (token.h) is over all the same when it was made before session.valid_from, with a key of the shop that
 * is not there any more, or when a ban of its user ended it. Guests were made with no key. A session of a
 * version that wrote no mark of the key counts until it expires.
 * Thread: any; rules never change after they are made. */
#ifndef STAMPEDE_FUNNEL_SESSION_RULES_H
#define STAMPEDE_FUNNEL_SESSION_RULES_H

#include "funnel/jwt.h"

struct ban_set;
struct session;

struct session_rules {
    uint32_t valid_from_s; /* seconds since 1970; 0: any */
    uint32_t key_count;
    uint32_t key_marks[JWT_KEYS_MAX]; /* of the keys that are there */
};

/* bans: NULL is nobody's. */
bool session_counts(
    const struct session_rules *rules, const struct ban_set *bans, const struct session *session);

#endif
