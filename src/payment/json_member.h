/* SPDX-License-Identifier: Apache-2.0 */
/* payment/json_member.h: a part of a JSON text byte by byte as it came, for a signature that is over
 * these bytes. Pure. */
#ifndef STAMPEDE_PAYMENT_JSON_MEMBER_H
#define STAMPEDE_PAYMENT_JSON_MEMBER_H

#include "base/span.h"

/* The bytes of a member of the outermost object, as they stand, without space around them. The text must
 * be known to be JSON. False: there is no such member. */
MUST_CHECK bool json_member_cut(struct span text, const char *name, struct span *value);

#endif
