/* SPDX-License-Identifier: Apache-2.0 */
/* follow/greeter.h: callers at the server's port until they have proved the secret. Anybody who reaches the
 * port is one: each has some hundred bytes of memory and GREETER_MS, and none holds up another. When all
 * places are taken the one that came first goes.
 *
 * * Thread: one. */
#ifndef STAMPEDE_FOLLOW_GREETER_H
#define STAMPEDE_FOLLOW_GREETER_H

#include "follow/session.h"

enum { GREETER_GUESTS = 64, GREETER_MS = 2000 };

struct greeter; /* opaque */
/* `listener` is taken; `secret` outlives it. */
MUST_CHECK enum status greeter_open(
    struct greeter **greeter, int listener, const struct follow_secret *secret);
void greeter_close(struct greeter *greeter); /* accepts NULL */
/* Somebody who knows the secret, with a session to speak to them, which is the caller's to end and free;
 * NULL: nobody within `wait_ms`. */
struct session *greeter_next(struct greeter *greeter, uint32_t wait_ms);
/* Callers who did not know the secret, or did not speak. */
uint64_t greeter_refused(const struct greeter *greeter);

#endif
