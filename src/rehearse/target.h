/* SPDX-License-Identifier: Apache-2.0 */
/* rehearse/target.h: the server that is played against, and what a rehearsal asks it as an operator.
 * Errors: said on the session's `errors`. Thread: one. */
#ifndef STAMPEDE_REHEARSE_TARGET_H
#define STAMPEDE_REHEARSE_TARGET_H

#include "cli/admin_session.h"
#include "rehearse/server_counts.h"

#include <sys/socket.h>

struct target {
    struct admin_session session;
    char host[128]; /* of the URL, with its port */
    struct sockaddr_storage address;
    socklen_t address_bytes;
    uint64_t asked; /* requests since target_metrics was called first */
};

/* http://host[:port][/path]; *path points into the URL, or is "/". False: said why. */
MUST_CHECK bool target_address(struct target *target, const char *url, const char **path, FILE *errors);
/* `patience_ms`: until it is ready. */
bool target_ready(struct target *target, uint32_t patience_ms, bool (*lives)(void *), void *context);
/* In test mode, and guests may buy: anything else is refused, so that nobody's sale is played with.
 * *now_ms: the server's time; *pass_early_ms: its setting. */
MUST_CHECK bool target_is_for_tests(struct target *target, uint64_t *now_ms, uint64_t *pass_early_ms);
MUST_CHECK bool target_time(struct target *target, uint64_t *now_ms);
/* The caller frees it. NULL: no answer. */
char *target_metrics(struct target *target);
/* Fills what the report of the sale and its items say. */
MUST_CHECK bool target_report(struct target *target, uint32_t sale, struct server_counts *counts);

#endif
