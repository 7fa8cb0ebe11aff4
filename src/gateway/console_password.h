/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/console_password.h: signing in to the console with a name and a password, which the request shows
 * as HTTP's Basic scheme has them (RFC 7617). Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_CONSOLE_PASSWORD_H
#define STAMPEDE_GATEWAY_CONSOLE_PASSWORD_H

#include "edge/edge.h"

struct console_sign_in;
struct exchange;
struct routes;

/* `credentials`: what follows the scheme. */
bool console_password_shown(const struct http_request *request, struct span *credentials);
enum edge_verdict console_password_sign_in(
    struct exchange *exchange, struct span credentials, const struct console_sign_in *sign_in);
void console_passwords_turn(struct routes *routes); /* answers those that are checked */

#endif
