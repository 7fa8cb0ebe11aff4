/* SPDX-License-Identifier: Apache-2.0 */
/* worker/mails.h: tells customers by mail what was done for their order (contract/remedy.h). A mail is marked
 * as being sent before it is; what is found so later was lost in between (a crash) and is sent again, with a
 * line in the case's log that says so. What became of each try is written to that log, too.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_MAILS_H
#define STAMPEDE_WORKER_MAILS_H

#include "base/status.h"

#include <stdbool.h>

struct arena;
struct config;
struct order_store;
struct order_views;
struct outgoing_calls;
struct task;
struct mails;

struct mails_config {
    const struct config *config; /* mail.* */
    struct order_store *store;
    const struct order_views *views;
    struct outgoing_calls *calls;
};
/* `error`: CONFIG_ERROR bytes. */
MUST_CHECK enum status mails_open(struct mails **mails, struct arena *arena,
    const struct mails_config *config, struct task *task, char *error);
void mails_look(struct mails *mails);          /* something may be due */
bool mails_enabled(const struct mails *mails); /* mail.server is set */

#endif
