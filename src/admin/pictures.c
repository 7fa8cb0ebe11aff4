/* SPDX-License-Identifier: Apache-2.0 */
/* admin/pictures.c: product pictures as an administrator sends, lists and removes them. A picture
 * of more than one request comes in pieces; what became of it is asked for. */
#include "admin/admin.h"
#include "api/handover.h"
#include "api/json_fields.h"
#include "base/log.h"
#include "media/media_service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_CHARS_MAX = 7 + MEDIA_NAME_CHARS_MAX, PRODUCT_ROWS = 16 };
static const struct span media_prefix = SPAN("/media/");

static void upload_json(const struct upload *upload, struct text *out)
{
    static const char *const states[] = { "", "receiving", "working", "done", "refused" };
    text_format(out, "{\"upload\":%u,\"state\":\"%s\",\"bytes\":%zu,\"received\":%zu", upload->id,
        states[upload->state], upload->size, upload->received);
    if (upload->state == UPLOAD_DONE)
        text_format(out, ",\"path\":\"/media/%s\",\"width\":%u,\"height\":%u,\"kept_bytes\":%zu",
            upload->name, upload->width, upload->height, upload->kept_bytes);
    if (upload->state == UPLOAD_REFUSED) {
        text_literal(out, ",\"detail\":");
        text_json(out, span_from_string(upload->why));
    }
    text_literal(out, "}");
}

static void upload_reply(struct job *job, int status, const struct upload *upload)
{
    struct text body = job_body(job);
    upload_json(upload, &body);
    job_reply_json(job, status, &body);
}

/* The upload that this piece belongs to; NULL: answered. */
static struct upload *upload_of(struct admin *admin, struct job *job, uint64_t id, uint64_t bytes)
{
    struct media_service *media = admin->lent->media;
    char detail[96];
    if (id != 0) {
        struct upload *found = media_upload_find(media, (uint32_t)id);
        if (found == NULL)
            job_reply_problem(job, PROBLEM_NOT_FOUND, "This upload does not exist.", SPAN_NONE);
        return found;
    }
    if (bytes == 0 || bytes > media->upload_bytes_max) {
        snprintf(detail, sizeof detail, "A picture must have 1 to %llu bytes (media.upload_bytes).",
            (unsigned long long)media->upload_bytes_max);
        job_reply_problem(job, PROBLEM_BAD_VALUE, detail, SPAN_NONE);
        return NULL;
    }
    struct upload *upload = media_upload_begin(media, job->actor, (size_t)bytes, admin->now_ms);
    if (upload == NULL)
        job_reply_problem(job, PROBLEM_UNAVAILABLE,
            "Too many pictures are being uploaded at once. Try again in a minute.", SPAN_NONE);
    return upload;
}

/* The whole picture; or its first piece (?bytes=, of all of it), or another one (?upload=&at=). */
void admin_media_add(struct admin *admin, struct job *job, uint32_t id)
{
    uint64_t number = 0, at = 0, bytes = job->body.size;
    char detail[96];
    (void)id;
    if (!job_query_u64(job, "upload", UINT32_MAX, &number) || !job_query_u64(job, "at", UINT32_MAX, &at)
        || !job_query_u64(job, "bytes", UINT32_MAX, &bytes))
        return;
    struct upload *upload = upload_of(admin, job, number, bytes);
    if (upload == NULL)
        return;
    const bool again = number != 0 && at + job->body.size == upload->received && job->body.size > 0;
    if (!again && (upload->state != UPLOAD_RECEIVING || at != upload->received)) {
        snprintf(detail, sizeof detail, "The upload has %zu of %zu bytes: continue there.",
            upload->received, upload->size);
        job_reply_problem(job, PROBLEM_CONFLICT, detail, SPAN_NONE);
        return;
    }
    if (!again && media_upload_add(upload, job->body, admin->now_ms) != STATUS_OK) {
        job_reply_problem(job, PROBLEM_BAD_VALUE,
            "A piece must have at least 1 byte, and at most as many as the upload still needs.",
            SPAN_NONE);
        return;
    }
    if (upload->state == UPLOAD_REFUSED)
        job_reply_problem(job, PROBLEM_BAD_VALUE, upload->why, SPAN_NONE);
    else
        upload_reply(job, 202, upload);
}

void admin_media_upload(struct admin *admin, struct job *job, uint32_t id)
{
    const struct upload *upload = media_upload_find(admin->lent->media, id);
    if (upload == NULL)
        job_reply_problem(job, PROBLEM_NOT_FOUND, "This upload does not exist.", SPAN_NONE);
    else
        upload_reply(job, 200, upload);
}

void admin_media_list(struct admin *admin, struct job *job, uint32_t id)
{
    struct media_service *media = admin->lent->media;
    const struct media_set *set = handover_get(&media->shown);
    struct text body = job_body(job);
    (void)id;
    text_format(&body, "{\"quota_bytes\":%llu,\"used_bytes\":%llu,\"media\":[",
        (unsigned long long)media->quota, (unsigned long long)media_folder_used(media->folder));
    for (uint32_t i = 0; i < set->count; i++)
        text_format(&body, "%s{\"path\":\"/media/%s\",\"bytes\":%zu}", i == 0 ? "" : ",",
            set->files[i].name, set->files[i].body.size);
    text_literal(&body, "]}");
    job_reply_json(job, 200, &body);
}

/* The number of a product that shows the picture; 0: none. */
static enum status product_with(struct admin *admin, const char *path, uint32_t *product)
{
    char quoted[PATH_CHARS_MAX + 3];
    struct product *rows = malloc(PRODUCT_ROWS * sizeof *rows);
    uint32_t count = PRODUCT_ROWS;
    enum status status = STATUS_OK;
    invariant(rows != NULL);
    snprintf(quoted, sizeof quoted, "\"%s\"", path);
    *product = 0;
    for (uint32_t after = 0; status == STATUS_OK && *product == 0 && count == PRODUCT_ROWS;) {
        status = admin->store->ops->products(admin->store, after, rows, PRODUCT_ROWS, &count);
        for (uint32_t i = 0; i < count && status == STATUS_OK && *product == 0; i++) {
            after = rows[i].id;
            if (strstr(rows[i].images, quoted) != NULL)
                *product = rows[i].id;
        }
    }
    free(rows);
    return status;
}

void admin_media_remove(struct admin *admin, struct job *job, uint32_t id)
{
    char path[PATH_CHARS_MAX + 1], detail[96];
    uint32_t product = 0;
    const struct field fields[] = { { "path", FIELD_TEXT, path, 1, PATH_CHARS_MAX, true, NULL } };
    (void)id;
    if (!job_fields_read(job, fields, 1))
        return;
    enum status status = STATUS_NOT_FOUND;
    if (span_starts_with(span_from_string(path), media_prefix))
        status = product_with(admin, path, &product);
    if (status == STATUS_OK && product != 0) {
        snprintf(detail, sizeof detail, "Product %u shows this picture.", product);
        job_reply_problem(job, PROBLEM_CONFLICT, detail, SPAN_NONE);
        return;
    }
    if (status == STATUS_OK)
        status = media_service_remove(
            admin->lent->media, admin->lent->turns, span_from_string(path + media_prefix.size));
    if (!job_found(job, status, PROBLEM_NOT_FOUND, "This picture does not exist."))
        return;
    job->commanded = true; /* it is gone, whatever becomes of the audit */
    struct text body = job_body(job);
    text_format(&body, "{\"path\":\"%s\"}", path);
    job_reply_json(job, 200, &body);
    admin_audit_write(admin, job, "media.remove", "%s", path);
}
