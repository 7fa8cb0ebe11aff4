/* SPDX-License-Identifier: Apache-2.0 */
/* server/server.h: starting everything in order, running, and stopping in the reverse order.
 * Signals: SIGTERM and SIGINT drain (readiness fails first, requests in flight are answered,
 * what the log has is written as orders, a snapshot is made); SIGHUP loads settings again. A
 * journal fault ends the process at once, exit code 1: the supervisor starts it again and
 * recovery decides what was durable. */
#ifndef STAMPEDE_SERVER_SERVER_H
#define STAMPEDE_SERVER_SERVER_H

#include "config/config.h"
#include "contract/order_store.h"

struct server_options {
    /* On SIGHUP: the settings as a start would read them now. NULL: as they were; key files are
     * read all the same. */
    enum status (*settings_read)(struct config *config, void *context, char error[CONFIG_ERROR]);
    /* Before the threads run: puts rows into a new store. NULL: nothing. */
    enum status (*seed)(struct order_store *store, uint64_t now_ms);
    /* Signs in to the console once, soon after the start, as the first of the admin keys; NULL: no such
     * token. It begins with CONSOLE_INVITE_PREFIX. */
    const char *console_invitation;
    void (*started)(const struct config *config, uint16_t port, void *context); /* NULL: nothing */
    void *context;
};

/* Runs until stopped; the process's exit code: 0 clean stop, 1 could not start or failed (told
 * on standard error). */
int server_run(const struct config *config, const struct server_options *options);

#endif
