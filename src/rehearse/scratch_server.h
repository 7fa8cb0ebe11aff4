/* SPDX-License-Identifier: Apache-2.0 */
/* rehearse/scratch_server.h: the rehearsal server: this program again, on a folder and a port of its
 * own, in test mode, for as long as the rehearsal takes. Errors: said on `errors`. Thread: one. */
#ifndef STAMPEDE_REHEARSE_SCRATCH_SERVER_H
#define STAMPEDE_REHEARSE_SCRATCH_SERVER_H

#include "base/text.h"

#include <stdio.h>
#include <sys/types.h>

enum { SCRATCH_PATH_BYTES = 256, SCRATCH_SETTINGS_BYTES = 32768 };

struct scratch_server {
    pid_t pid; /* 0: not started */
    char folder[SCRATCH_PATH_BYTES];
    char key_file[SCRATCH_PATH_BYTES + 32];
    char url[64];
    uint16_t port;
};

/* `settings`: lines "section.key=value" that are taken over; those that a rehearsal needs otherwise are
 * passed over.
 * `scratch`: where the folder is made; NULL: $TMPDIR or the system's. Returns before the server is ready. */
MUST_CHECK bool scratch_server_start(struct scratch_server *host, const char *scratch,
    struct span settings, uint32_t connections, FILE *errors);
/* False: it has ended. */
bool scratch_server_lives(struct scratch_server *host);
/* Processor time used so far, in seconds. */
double scratch_server_cpu_s(const struct scratch_server *host);
/* The end of its log goes to `out`. */
void scratch_server_log_show(const struct scratch_server *host, FILE *out);
/* Ends it and removes its folder. Accepts one that never started. */
void scratch_server_end(struct scratch_server *host);

/* Whether a setting of the shop's server is one that a rehearsal takes over. Pure. */
bool scratch_server_takes(struct span name);

#endif
