/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/sessions.h: who sends a request, by the session that it shows. Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_SESSIONS_H
#define STAMPEDE_GATEWAY_SESSIONS_H

#include "base/span.h"
#include "contract/types.h"

struct exchange;
struct routes;
struct session;

/* Signed by us, not expired, and not ended. */
bool session_good(const struct routes *routes, struct span token, struct session *session);
/* The session's user, or 0 after writing the refusal to the exchange. */
user_id session_user(struct exchange *exchange);
/* The whole session; false after writing the refusal. */
bool session_of(struct exchange *exchange, struct session *session);
/* The channel whose units the reader sees: the session's, or 0 (the shop's own page) without one. */
channel_index exchange_channel(const struct exchange *exchange);
/* The switch refuse_new is on: no new session, pass or place in a waiting room. */
bool sessions_refuse_new(const struct routes *routes);

#endif
