/* SPDX-License-Identifier: Apache-2.0 */
#include "server/admission.h"

#include "base/clock.h"
#include "base/log.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_MS = 200, LOOKS_MAX = 2 * MEMBER_LIVE_MS / LOOK_MS };

/* Makes or renews our row, and finds a live member with other channels. process 0: there is none. */
static enum status look(
    struct order_store *store, const struct member *self, struct member *rows, struct member *other)
{
    struct member row = *self;
    uint32_t count = 0;
    *other = (struct member){ 0 };
    enum status status = store->ops->cluster->now(store, &row.seen_ms);
    row.clock_ms = clock_now_ms();
    if (status == STATUS_OK)
        status = store->ops->cluster->member_set(store, &row);
    if (status == STATUS_OK)
        status = store->ops->cluster->member_list(store, rows, MEMBERS_MAX, &count);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
        if (member_is_live(&rows[i], row.seen_ms) && strcmp(rows[i].channels, self->channels) != 0) {
            *other = rows[i];
            break;
        }
    return status;
}

/* A process that renews its row is alive; one that does not was killed. */
static enum status wait_for_others(
    struct order_store *store, const struct member *self, struct member *rows, struct member *other)
{
    struct member before = { 0 };
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < LOOKS_MAX; i++) {
        status = look(store, self, rows, other);
        if (status != STATUS_OK || other->process == 0
            || (before.process == other->process && before.seen_ms < other->seen_ms))
            break;
        if (before.process != other->process)
            log_info("server", "%s %s has other channels: waiting to see whether it still runs",
                other->role, other->name);
        before = *other;
        poll(NULL, 0, LOOK_MS);
    }
    return status;
}

enum status admission_ask(
    struct order_store *store, const struct member *self, char *error, size_t error_bytes)
{
    struct member *rows = calloc(MEMBERS_MAX, sizeof *rows), other = { 0 };
    enum status status = rows == NULL ? STATUS_FULL : wait_for_others(store, self, rows, &other);
    free(rows);
    if (status != STATUS_OK) {
        snprintf(error, error_bytes, "the other processes can't be read from the database: %s",
            status_name(status));
    } else if (other.process != 0) {
        snprintf(error, error_bytes,
            "channels.names is %.60s here and %.60s at %s %.50s: make them equal, or stop all "
            "processes before you change it",
            self->channels, other.channels, other.role, other.name);
        status = STATUS_BAD_INPUT;
        if (store->ops->cluster->member_remove(store, self->process) != STATUS_OK)
            log_warn("server", "the row of this process stays in the database for a minute");
    }
    return status;
}
