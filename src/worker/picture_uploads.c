/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/picture_uploads.h"

#include "base/arena.h"
#include "base/log.h"
#include "contract/order_store.h"
#include "media/media_service.h"
#include "worker/task.h"

#include <stdio.h>

enum { LOOK_MS = 20 }; /* at the program that decodes a picture */

struct picture_uploads {
    struct media_service *media;
    struct reader_turns *turns;
    struct order_store *store;
};

static void upload_note(struct order_store *store, const struct upload *ended, uint64_t now_ms)
{
    struct audit_entry entry = { .time_ms = now_ms, .action = "media.add" };
    snprintf(entry.actor, sizeof entry.actor, "%s", ended->actor);
    snprintf(entry.detail, sizeof entry.detail, "/media/%s %u x %u, %zu bytes", ended->name,
        ended->width, ended->height, ended->kept_bytes);
    if (store->ops->audit_append(store, &entry) != STATUS_OK)
        log_error("media", "the audit entry \"media.add %s\" can't be written", entry.detail);
}

static uint64_t uploads_turn(void *self, uint64_t now_ms)
{
    struct picture_uploads *uploads = self;
    const struct upload *ended = media_service_turn(uploads->media, uploads->turns, now_ms);
    if (ended != NULL && ended->state == UPLOAD_DONE)
        upload_note(uploads->store, ended, now_ms);
    else if (ended != NULL)
        log_warn("media", "a picture uploaded by %s was refused: %s", ended->actor, ended->why);
    return now_ms + LOOK_MS;
}

void picture_uploads_open(struct arena *arena, struct media_service *media,
    struct reader_turns *turns, struct order_store *store, struct task *task)
{
    struct picture_uploads *uploads = arena_take(arena, 1, sizeof *uploads);
    *uploads = (struct picture_uploads){ .media = media, .turns = turns, .store = store };
    *task = (struct task){ .name = "pictures", .self = uploads, .turn = uploads_turn };
}
