/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/drop.h: early drop. Some of the users are told "too popular" for a whole sale before they
 * cost anything. A keyed hash of sale and user decides who: asking again gives the same
 * answer, nobody can tell beforehand, and another sale drops others.
 * Thread: any. Memory: none. */
#ifndef STAMPEDE_FUNNEL_DROP_H
#define STAMPEDE_FUNNEL_DROP_H

#include "funnel/keys.h"

/* Is the user among the `percent` of all users that this sale turns away? */
bool drop_hits(const struct funnel_keys *keys, sale_id sale, user_id user, uint32_t percent);

#endif
