/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/console_gate.h: sessions of the console, at the edge. Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_CONSOLE_GATE_H
#define STAMPEDE_GATEWAY_CONSOLE_GATE_H

#include "edge/edge.h"

struct admin_key;
struct exchange;
struct routes;

enum { CONSOLE_HEAD_BYTES = 256, CONSOLE_BODY_BYTES = 256 }; /* of the answer to a sign-in */
struct console_sign_in {
    struct span replaced; /* the session that the request shows; it ends */
    bool secure;          /* the page came over TLS */
};

bool console_session_shown(const struct http_request *request); /* and no key */
const struct admin_key *console_key(struct exchange *exchange); /* of the session; NULL: answered */
/* The id of the session that the request shows. `secure`: in the cookie of a page that came over TLS. */
struct span console_cookie(const struct http_request *request, bool *secure);
/* A new session of the key: the header lines and the body of the answer. */
void console_session_begin(struct routes *routes, const struct admin_key *key,
    const struct console_sign_in *sign_in, struct text *head, struct text *body);
enum edge_verdict console_session_request(struct exchange *exchange); /* /console/session */

#endif
