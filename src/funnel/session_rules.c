/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/session_rules.h"

#include "funnel/bans.h"
#include "funnel/token.h"

static bool key_is_there(const struct session_rules *rules, uint32_t mark)
{
    for (uint32_t i = 0; i < rules->key_count; i++)
        if (rules->key_marks[i] == mark)
            return true;
    return mark == 0;
}

bool session_counts(
    const struct session_rules *rules, const struct ban_set *bans, const struct session *session)
{
    return session->issued_s >= rules->valid_from_s && key_is_there(rules, session->key_mark)
        && (bans == NULL || session->issued_s > ban_set_sessions_until_s(bans, session->user));
}
