/* SPDX-License-Identifier: Apache-2.0 */
/* media/media_service.h: product pictures from upload to page. An administrator's picture comes in
 * pieces (a request is at most 64 KiB long), is decoded and encoded anew by a process of its own
 * (picture_command.h), and is kept in the data folder (media/media_folder.h). The upload is asked
 * for what became of it; nobody waits at the media.
 * Thread: the media's, but for open, close, and the set, which edges read (handover.h). */
#ifndef STAMPEDE_MEDIA_MEDIA_SERVICE_H
#define STAMPEDE_MEDIA_MEDIA_SERVICE_H

#include "api/handover.h"
#include "config/admin_keys.h"
#include "config/config.h"
#include "media/media_folder.h"
#include "media/picture_command.h"

enum {
    MEDIA_UPLOADS_MAX = 4,
    MEDIA_UPLOAD_IDLE_MS = 60 * 1000, /* an upload without data for this time is dropped */
};

enum upload_state { UPLOAD_NONE, UPLOAD_RECEIVING, UPLOAD_WORKING, UPLOAD_DONE, UPLOAD_REFUSED };
struct upload {
    uint32_t id;
    enum upload_state state;
    char actor[ADMIN_NAME_MAX + 1];
    uint64_t touched_ms;
    char *bytes; /* while receiving and working */
    size_t size, received;
    const char *why; /* UPLOAD_REFUSED: a sentence */
    char name[MEDIA_NAME_CHARS_MAX + 1];
    uint32_t width, height; /* UPLOAD_DONE, of what is kept */
    size_t kept_bytes;
};

struct media_service {
    struct media_folder *folder;
    struct handover shown; /* struct media_set */
    uint64_t quota, upload_bytes_max;
    uint32_t last_id;
    struct upload uploads[MEDIA_UPLOADS_MAX];
    struct picture_child child;
    uint32_t working; /* the upload whose picture the child has; 0: none */
};

MUST_CHECK enum status media_service_open(
    struct media_service *media, const struct config *config, char error[CONFIG_ERROR]);
void media_service_close(struct media_service *media); /* after the edges; accepts a zeroed one */

/* A new upload of this size; NULL: all places are taken. */
struct upload *media_upload_begin(
    struct media_service *media, const char *actor, size_t bytes, uint64_t now_ms);
struct upload *media_upload_find(struct media_service *media, uint32_t id); /* NULL: none, or long gone */
/* The next bytes of it; the last ones put it to work, or have it refused for what its first bytes say.
 * STATUS_BAD_INPUT: they are too many. */
MUST_CHECK enum status media_upload_add(struct upload *upload, struct span bytes, uint64_t now_ms);
/* Goes on with what is to be decoded; the upload that has ended now, or NULL. */
const struct upload *media_service_turn(
    struct media_service *media, struct reader_turns *turns, uint64_t now_ms);
/* STATUS_NOT_FOUND, or what the disk says. */
MUST_CHECK enum status media_service_remove(
    struct media_service *media, struct reader_turns *turns, struct span name);

/* Whether a product may show this address: a path of ours (a picture must be there), or of an origin
 * that page.image_origins names. NULL: it may; else a sentence. */
const char *media_address_wrong(
    struct media_service *media, const char *image_origins, const char *address);

#endif
