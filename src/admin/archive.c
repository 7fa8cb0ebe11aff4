/* SPDX-License-Identifier: Apache-2.0 */
/* admin/archive.c: a sale leaves the store for a bundle that `stampede archive` has made and verified; and
 * what names a customer is erased on request. */
#include "admin/admin.h"

#include "api/json_fields.h"
#include "config/config.h"
#include "contract/archive.h"
#include "funnel/keys.h"
#include "worker/services.h"
#include "worker/worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { DAY_MS = 86400000, HASH_CHARS = 2 * HASH_SHA256_BYTES };

static void bundle_reply(struct job *job, const struct archive *archive)
{
    static const char *const steps[] = { "none", "removing", "forgetting", "done" };
    struct text body = job_body(job);
    json_object_begin(&body, NULL);
    text_format(&body, "\"sale\":%u", archive->sale);
    json_text(&body, "step", steps[archive->step <= ARCHIVE_DONE ? archive->step : 0]);
    text_format(&body, ",\"orders\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"made_ms\":%" PRIu64,
        archive->orders, archive->bytes, archive->made_ms);
    text_literal(&body, ",\"sha256\":\"");
    text_hex(&body, span_of(archive->hash, sizeof archive->hash));
    text_literal(&body, "\"");
    json_object_end(&body);
    job_reply_json(job, 200, &body);
}

/* STATUS_NOT_FOUND: it has none. */
static enum status archive_find(struct admin *admin, sale_id sale, struct archive *archive)
{
    uint32_t count = 0;
    const enum status status = admin->store->ops->archive->list(admin->store, sale, archive, 1, &count);
    return status != STATUS_OK                ? status
        : count == 1 && archive->sale == sale ? STATUS_OK
                                              : STATUS_NOT_FOUND;
}

bool admin_sale_has_left(struct admin *admin, uint32_t id)
{
    struct archive archive;
    return archive_find(admin, id, &archive) == STATUS_OK;
}

void admin_sale_bundle_show(struct admin *admin, struct job *job, uint32_t id)
{
    struct archive archive;
    if (job_found(job, archive_find(admin, id, &archive), PROBLEM_UNKNOWN_SALE,
            "This sale was not moved to a bundle."))
        bundle_reply(job, &archive);
}

/* NULL: it may leave. `why` has room for what the store says. */
static const char *bundle_refusal(struct admin *admin, const struct sale *sale,
    const struct archive *archive, uint64_t versions, char *why, size_t why_bytes)
{
    const struct config *config = admin->lent->config;
    struct archive_look look;
    struct stat file;
    char path[CONFIG_TEXT + 64];
    if (admin->now_ms < sale->end_ms + config->archive_after_days * DAY_MS)
        return "The sale has not been over for archive.after_days yet.";
    if (admin->store->ops->archive->look(admin->store, sale->id, &look) != STATUS_OK)
        return "The database can't be read.";
    if (look.why[0] != 0) {
        snprintf(why, why_bytes, "The sale is not finished: %s.", look.why);
        return why;
    }
    if (look.orders != archive->orders || look.versions != versions)
        return "Orders have changed since the bundle was made: make it again.";
    snprintf(path, sizeof path, "%s/archive/sale-%05u.bundle", config->folder, sale->id);
    if (stat(path, &file) != 0 || (uint64_t)file.st_size != archive->bytes)
        return "The bundle is not in the folder archive of the data folder, or has another size.";
    return NULL;
}

void admin_sale_bundle(struct admin *admin, struct job *job, uint32_t id)
{
    struct sale sale;
    char hash[HASH_CHARS + 1] = "", why[200];
    struct archive archive = { .sale = id, .made_ms = admin->now_ms }, before;
    uint64_t versions = 0;
    const struct field fields[] = {
        { "sha256", FIELD_TEXT, hash, HASH_CHARS, HASH_CHARS, true, NULL },
        { "bytes", FIELD_U64, &archive.bytes, 1, INT64_MAX, true, NULL },
        { "orders", FIELD_U64, &archive.orders, 0, INT64_MAX, true, NULL },
        { "versions", FIELD_U64, &versions, 0, INT64_MAX, true, NULL },
    };
    if (!admin_sale_read(admin, job, id, &sale) || !job_fields_read(job, fields, 4))
        return;
    if (span_to_bytes(span_from_string(hash), archive.hash, sizeof archive.hash) != STATUS_OK) {
        job_reply_problem(job, PROBLEM_BAD_VALUE, "sha256 must be 64 hex digits.", SPAN_NONE);
        return;
    }
    const enum status found = archive_find(admin, id, &before);
    if (found == STATUS_OK) { /* asked for again */
        bundle_reply(job, &before);
        return;
    }
    if (found != STATUS_NOT_FOUND && !job_ok(job, found))
        return;
    const char *refusal = admin->lent->queue == NULL
        ? "Sales are archived on one machine only."
        : bundle_refusal(admin, &sale, &archive, versions, why, sizeof why);
    if (refusal != NULL) {
        job_reply_problem(job, PROBLEM_CONFLICT, refusal, SPAN_NONE);
        return;
    }
    if (!job_ok(job, admin->store->ops->archive->begin(admin->store, &archive)))
        return;
    archive.step = ARCHIVE_REMOVING;
    bundle_reply(job, &archive);
    admin_audit_write(admin, job, "sale.bundle", "sale %u: %llu orders leave for a bundle, sha256 %s",
        id, (unsigned long long)archive.orders, hash);
    worker_sale_changed(admin->worker, id);
    worker_archiving_look(admin->worker);
}

void admin_customer_erase(struct admin *admin, struct job *job, uint32_t id)
{
    char subject[SUBJECT_BYTES_MAX + 1] = "", text[17] = "";
    bool by_subject = false, by_id = false;
    user_id user = 0;
    uint64_t rows = 0;
    const struct field fields[] = {
        { "subject", FIELD_TEXT, subject, 1, SUBJECT_BYTES_MAX, false, &by_subject },
        { "user", FIELD_TEXT, text, 16, 16, false, &by_id },
    };
    (void)id;
    if (!job_fields_read(job, fields, 2))
        return;
    if (by_subject)
        user = funnel_user_id(admin->lent->keys, span_from_string(subject));
    if (by_subject == by_id || (by_id && span_to_hex64(span_from_string(text), &user) != STATUS_OK)) {
        job_reply_problem(job, PROBLEM_BAD_VALUE,
            "Give either subject, the shop's name of the customer, or user, 16 hex digits.", SPAN_NONE);
        return;
    }
    if (!job_ok(job, admin->store->ops->archive->erase(admin->store, user, &rows)))
        return;
    struct text body = job_body(job);
    json_object_begin(&body, NULL);
    json_hex(&body, "user", user);
    text_format(&body, ",\"rows\":%" PRIu64, rows);
    json_object_end(&body);
    job_reply_json(job, 200, &body);
    admin_audit_write(admin, job, "customer.erase", "user %016llx: %llu rows",
        (unsigned long long)user, (unsigned long long)rows);
}
