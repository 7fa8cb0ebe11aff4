/* SPDX-License-Identifier: Apache-2.0 */
#include "media/media_service.h"

#include "config/image_origins.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum status media_service_open(
    struct media_service *media, const struct config *config, char error[CONFIG_ERROR])
{
    char path[CONFIG_TEXT + 32];
    struct disk *disk;
    *media = (struct media_service){ .quota = config->media_quota_bytes,
        .upload_bytes_max = config->media_upload_bytes };
    snprintf(path, sizeof path, "%s/media", config->folder);
    enum status status = disk_folder_open(path, &disk);
    if (status == STATUS_OK)
        status = media_folder_open(&media->folder, disk, config->media_quota_bytes);
    if (status != STATUS_OK) {
        snprintf(error, CONFIG_ERROR, "the folder of pictures %.150s can't be opened: %s", path,
            status_name(status));
        return status;
    }
    handover_create(&media->shown, media_set_make(media->folder), free);
    return STATUS_OK;
}

static void upload_forget(struct upload *upload)
{
    free(upload->bytes);
    *upload = (struct upload){ 0 };
}

void media_service_close(struct media_service *media)
{
    if (media->folder == NULL)
        return;
    picture_child_end(&media->child);
    for (int i = 0; i < MEDIA_UPLOADS_MAX; i++)
        upload_forget(&media->uploads[i]);
    handover_close(&media->shown);
    media_folder_close(media->folder);
    *media = (struct media_service){ 0 };
}

/* ---- uploads */

/* An empty place; else that of the upload that ended, or fell silent, longest ago. */
static struct upload *place_find(struct media_service *media, uint64_t now_ms)
{
    struct upload *best = NULL;
    for (int i = 0; i < MEDIA_UPLOADS_MAX; i++) {
        struct upload *upload = &media->uploads[i];
        const bool silent =
            upload->state == UPLOAD_RECEIVING && now_ms >= upload->touched_ms + MEDIA_UPLOAD_IDLE_MS;
        if (upload->state == UPLOAD_NONE)
            return upload;
        if (!silent && upload->state != UPLOAD_DONE && upload->state != UPLOAD_REFUSED)
            continue;
        if (best == NULL || upload->touched_ms < best->touched_ms)
            best = upload;
    }
    return best;
}

struct upload *media_upload_begin(
    struct media_service *media, const char *actor, size_t bytes, uint64_t now_ms)
{
    struct upload *upload = place_find(media, now_ms);
    invariant(bytes > 0 && bytes <= media->upload_bytes_max);
    if (upload == NULL)
        return NULL;
    upload_forget(upload);
    upload->bytes = malloc(bytes);
    if (upload->bytes == NULL)
        return NULL;
    upload->id = ++media->last_id;
    upload->state = UPLOAD_RECEIVING;
    upload->size = bytes;
    upload->touched_ms = now_ms;
    snprintf(upload->actor, sizeof upload->actor, "%s", actor);
    return upload;
}

struct upload *media_upload_find(struct media_service *media, uint32_t id)
{
    for (int i = 0; i < MEDIA_UPLOADS_MAX; i++)
        if (media->uploads[i].state != UPLOAD_NONE && media->uploads[i].id == id)
            return &media->uploads[i];
    return NULL;
}

static void upload_end(struct upload *upload, enum upload_state state, const char *why)
{
    upload->state = state;
    upload->why = why;
    free(upload->bytes);
    upload->bytes = NULL;
}

enum status media_upload_add(struct upload *upload, struct span bytes, uint64_t now_ms)
{
    if (upload->state != UPLOAD_RECEIVING || bytes.size == 0 || bytes.size > upload->size - upload->received)
        return STATUS_BAD_INPUT;
    memcpy(upload->bytes + upload->received, bytes.data, bytes.size);
    upload->received += bytes.size;
    upload->touched_ms = now_ms;
    if (upload->received < upload->size)
        return STATUS_OK;
    const char *wrong = picture_wrong(span_of(upload->bytes, upload->size));
    if (wrong != NULL)
        upload_end(upload, UPLOAD_REFUSED, wrong);
    else
        upload->state = UPLOAD_WORKING;
    return STATUS_OK;
}

/* ---- decoding */

static void picture_keep(struct media_service *media, struct reader_turns *turns,
    struct upload *upload, struct span cleaned)
{
    const enum picture_format format = picture_format_of(cleaned);
    enum status status = picture_size_of(cleaned, &upload->width, &upload->height);
    if (status == STATUS_OK)
        status = media_folder_add(media->folder, format, cleaned, upload->name);
    if (status == STATUS_OK) {
        upload->kept_bytes = cleaned.size;
        upload_end(upload, UPLOAD_DONE, NULL);
        handover_put(&media->shown, turns, media_set_make(media->folder));
    } else if (status == STATUS_FULL) {
        upload_end(upload, UPLOAD_REFUSED,
            "There is no space for more pictures: remove some and restart the server, or raise "
            "media.quota_bytes.");
    } else {
        upload_end(upload, UPLOAD_REFUSED, "The picture can't be written to the disk.");
    }
}

static void picture_ended(struct media_service *media, struct reader_turns *turns,
    struct upload *upload, enum picture_outcome outcome, struct span cleaned)
{
    const char *why = "The server could not decode the picture now. Try again.";
    if (outcome == PICTURE_CHILD_DONE) {
        picture_keep(media, turns, upload, cleaned);
        return;
    }
    if (outcome == PICTURE_CHILD_REFUSED)
        why = "The picture is damaged: it can't be decoded.";
    else if (outcome == PICTURE_CHILD_TOO_LONG)
        why = "The picture takes more than 4 MiB: send it as JPEG or WebP, or smaller.";
    upload_end(upload, UPLOAD_REFUSED, why);
}

static struct upload *next_to_work(struct media_service *media)
{
    struct upload *next = NULL;
    for (int i = 0; i < MEDIA_UPLOADS_MAX; i++) {
        struct upload *upload = &media->uploads[i];
        if (upload->state == UPLOAD_WORKING && (next == NULL || upload->id < next->id))
            next = upload;
    }
    return next;
}

const struct upload *media_service_turn(
    struct media_service *media, struct reader_turns *turns, uint64_t now_ms)
{
    char *bytes;
    size_t size;
    handover_collect(&media->shown, turns);
    if (media->working == 0) {
        struct upload *upload = next_to_work(media);
        if (upload == NULL)
            return NULL;
        if (picture_child_start(&media->child, span_of(upload->bytes, upload->size), now_ms) == STATUS_OK) {
            media->working = upload->id;
            return NULL;
        }
        picture_ended(media, turns, upload, PICTURE_CHILD_FAILED, SPAN_NONE);
        return upload;
    }
    const enum picture_outcome outcome = picture_child_look(&media->child, now_ms, &bytes, &size);
    if (outcome == PICTURE_CHILD_RUNS)
        return NULL;
    struct upload *upload = media_upload_find(media, media->working);
    invariant(upload != NULL && upload->state == UPLOAD_WORKING);
    media->working = 0;
    upload->touched_ms = now_ms;
    picture_ended(media, turns, upload, outcome, span_of(bytes, size));
    free(bytes);
    return upload;
}

enum status media_service_remove(struct media_service *media, struct reader_turns *turns, struct span name)
{
    const enum status status = media_folder_remove(media->folder, name);
    if (status == STATUS_OK)
        handover_put(&media->shown, turns, media_set_make(media->folder));
    return status;
}

/* ---- addresses of pictures */

const char *media_address_wrong(struct media_service *media, const char *image_origins, const char *address)
{
    static const struct span ours = SPAN("/media/");
    const struct span whole = span_from_string(address);
    for (size_t i = 0; i < whole.size; i++)
        if (address[i] <= ' ' || address[i] > '~' || strchr("\"<>\\^`{|}", address[i]) != NULL)
            return "images must be addresses without spaces, quotes and backslashes; write other "
                   "characters as %XX.";
    if (span_starts_with(whole, ours)) {
        const struct media_set *set = handover_get(&media->shown);
        return media_set_find(set, span_of(address + ours.size, whole.size - ours.size)) != NULL
            ? NULL
            : "images names a picture that does not exist: add it first (media add).";
    }
    if (address[0] == '/' && address[1] != '/')
        return NULL;
    return image_origins_has(image_origins, whole)
        ? NULL
        : "images must begin with /media/, or with an origin of page.image_origins and a slash.";
}
