/* SPDX-License-Identifier: Apache-2.0 */
/* worker/picture_uploads.c: uploads that have ended: noted in the audit chain, or refused in the
 * log. */
#include "base/log.h"
#include "media/media_service.h"
#include "worker/worker_parts.h"

#include <stdio.h>

void worker_media_turn(struct worker *worker)
{
    struct order_store *store = worker->config.store;
    const struct upload *ended =
        media_service_turn(worker->config.media, worker->config.turns, worker->now_ms);
    if (ended == NULL)
        return;
    if (ended->state != UPLOAD_DONE) {
        log_warn("media", "a picture uploaded by %s was refused: %s", ended->actor, ended->why);
        return;
    }
    struct audit_entry entry = { .time_ms = worker->now_ms, .action = "media.add" };
    snprintf(entry.actor, sizeof entry.actor, "%s", ended->actor);
    snprintf(entry.detail, sizeof entry.detail, "/media/%s %u x %u, %zu bytes", ended->name,
        ended->width, ended->height, ended->kept_bytes);
    if (store->ops->audit_append(store, &entry) != STATUS_OK)
        log_error("media", "the audit entry \"media.add %s\" can't be written", entry.detail);
}
