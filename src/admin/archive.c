/* SPDX-License-Identifier: Apache-2.0 */
/* admin/archive.c: a sale is asked to leave the store for a bundle (worker/archiving.h), and how far it is;
 * what names a customer is erased on request. */
#include "admin/admin.h"

#include "api/json_fields.h"
#include "config/config.h"
#include "contract/archive.h"
#include "funnel/keys.h"
#include "worker/archiving.h"
#include "worker/services.h"
#include "worker/worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SALES_PER_ASK = 64 };
#define DAY_MS UINT64_C(86400000)

static const char *folder_refusal(const struct admin *admin)
{
    char path[ARCHIVE_PATH_MAX];
    return archiving_folder(admin->lent->config, admin->lent->queue != NULL, path)
        ? NULL
        : "On many machines archive.folder must be set before sales can be archived.";
}

/* NULL: nothing of the sale is open. `look` has the words. */
static const char *sale_refusal(
    struct admin *admin, const struct sale *sale, struct archive_look *look, enum status *status)
{
    const char *refusal = folder_refusal(admin);
    *status = STATUS_OK;
    if (refusal != NULL)
        return refusal;
    if (admin->now_ms < sale->end_ms)
        return "The sale is not over: its end has not come.";
    *status = admin->store->ops->archive->look(admin->store, sale->id, look);
    return *status == STATUS_OK && look->why[0] != 0 ? look->why : NULL;
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

/* ---- how far it is ---- */

static void left_reply(struct job *job, const struct archive *archive)
{
    static const char *const steps[] = { "none", "removing", "forgetting", "done" };
    char name[ARCHIVE_NAME_MAX];
    struct text body = job_body(job);
    snprintf(name, sizeof name, ARCHIVE_NAME, archive->sale);
    json_object_begin(&body, NULL);
    text_format(&body, "\"sale\":%u", archive->sale);
    json_text(&body, "step", steps[archive->step <= ARCHIVE_DONE ? archive->step : 0]);
    json_bool(&body, "can", false);
    json_text(&body, "name", name);
    text_format(&body, ",\"orders\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"made_ms\":%" PRIu64,
        archive->orders, archive->bytes, archive->made_ms);
    text_literal(&body, ",\"sha256\":\"");
    text_hex(&body, span_of(archive->hash, sizeof archive->hash));
    text_literal(&body, "\"");
    json_object_end(&body);
    job_reply_json(job, 200, &body);
}

static void wish_reply(struct admin *admin, struct job *job, const struct sale *sale,
    const struct archive_wish *wish, const char *refusal)
{
    const char *shown = archiving_shown(admin->lent->archiving, sale->id);
    const bool waits = wish->asked && wish->due_ms < ARCHIVE_NEVER_MS;
    const uint64_t days = admin->lent->config->archive_after_days;
    struct text body = job_body(job);
    json_object_begin(&body, NULL);
    text_format(&body, "\"sale\":%u", sale->id);
    json_text(&body, "step", shown != NULL ? shown : waits ? "asked" : "none");
    json_bool(&body, "can", refusal == NULL);
    if (refusal != NULL)
        json_text(&body, "why", refusal);
    if (wish->tries > 0) {
        text_format(&body, ",\"tries\":%u", wish->tries);
        json_text(&body, "error", wish->why);
    }
    if (wish->tries > 0 && wish->due_ms < ARCHIVE_NEVER_MS)
        text_format(&body, ",\"next_ms\":%" PRIu64, wish->due_ms);
    if (days != 0)
        text_format(&body, ",\"by_itself_ms\":%" PRIu64, sale->end_ms + days * DAY_MS);
    json_object_end(&body);
    job_reply_json(job, 200, &body);
}

/* False: the job is answered. */
static bool wish_read(struct admin *admin, struct job *job, sale_id sale, struct archive_wish *wish)
{
    const enum status status = admin->store->ops->archive->wish_get(admin->store, sale, wish);
    return status == STATUS_NOT_FOUND || job_ok(job, status);
}

static void bundle_reply(struct admin *admin, struct job *job, const struct sale *sale)
{
    struct archive archive;
    struct archive_wish wish = { .sale = sale->id };
    struct archive_look look;
    enum status status = archive_find(admin, sale->id, &archive);
    if (status == STATUS_OK) {
        left_reply(job, &archive);
        return;
    }
    if ((status != STATUS_NOT_FOUND && !job_ok(job, status)) || !wish_read(admin, job, sale->id, &wish))
        return;
    const char *refusal = sale_refusal(admin, sale, &look, &status);
    if (job_ok(job, status))
        wish_reply(admin, job, sale, &wish, refusal);
}

void admin_sale_bundle_show(struct admin *admin, struct job *job, uint32_t id)
{
    struct sale sale;
    if (admin_sale_read(admin, job, id, &sale))
        bundle_reply(admin, job, &sale);
}

static bool archive_summary(struct admin *admin, struct job *job, struct text *body)
{
    char path[ARCHIVE_PATH_MAX];
    uint64_t waiting = 0, failed = 0;
    const struct config *config = admin->lent->config;
    const sale_id sale = archiving_sale(admin->lent->archiving);
    const bool on = archiving_folder(config, admin->lent->queue != NULL, path);
    if (!job_ok(job, admin->store->ops->archive->wishes_count(admin->store, &waiting, &failed)))
        return false;
    text_format(body, "\"after_days\":%" PRIu64 ",\"waiting\":%" PRIu64 ",\"failed\":%" PRIu64,
        config->archive_after_days, waiting, failed);
    json_bool(body, "on", on);
    if (on)
        json_text(body, "folder", path);
    if (sale != 0)
        text_format(body, ",\"sale\":%u", sale);
    return true;
}

void admin_archive_show(struct admin *admin, struct job *job, uint32_t id)
{
    struct text body = job_body(job);
    (void)id;
    json_object_begin(&body, NULL);
    if (!archive_summary(admin, job, &body))
        return;
    json_object_end(&body);
    job_reply_json(job, 200, &body);
}

/* ---- asking ---- */

/* What was tried before counts no more. */
static enum status wish_make(struct admin *admin, sale_id sale)
{
    const struct archive_wish wish = { .sale = sale, .asked = true, .due_ms = admin->now_ms };
    return admin->store->ops->archive->wish_put(admin->store, &wish);
}

void admin_sale_bundle(struct admin *admin, struct job *job, uint32_t id)
{
    struct sale sale;
    struct archive archive;
    struct archive_look look;
    if (!admin_sale_read(admin, job, id, &sale))
        return;
    enum status status = archive_find(admin, id, &archive);
    if (status == STATUS_OK) { /* it has left, or is leaving */
        left_reply(job, &archive);
        return;
    }
    if (status != STATUS_NOT_FOUND && !job_ok(job, status))
        return;
    const char *refusal = sale_refusal(admin, &sale, &look, &status);
    if (!job_ok(job, status))
        return;
    if (refusal == look.why) {
        char why[ARCHIVE_WHY_MAX + 40];
        snprintf(why, sizeof why, "The sale is not finished: %s.", look.why);
        job_reply_problem(job, PROBLEM_CONFLICT, why, SPAN_NONE);
        return;
    }
    if (refusal != NULL) {
        job_reply_problem(job, PROBLEM_CONFLICT, refusal, SPAN_NONE);
        return;
    }
    if (!job_ok(job, wish_make(admin, id)))
        return;
    bundle_reply(admin, job, &sale);
    admin_audit_write(admin, job, "sale.bundle.ask", "sale %u", id);
    worker_archiving_look(admin->worker);
}

/* Asks for those of these sales that are over and finished. */
static bool sales_ask(struct admin *admin, struct job *job, const struct sale *sales,
    uint32_t count, uint64_t ended_ms, uint32_t asked[2])
{
    for (uint32_t i = 0; i < count; i++) {
        struct archive_look look;
        enum status status;
        if (sales[i].end_ms > ended_ms || admin_sale_has_left(admin, sales[i].id))
            continue;
        const char *refusal = sale_refusal(admin, &sales[i], &look, &status);
        if (!job_ok(job, status) || (refusal == NULL && !job_ok(job, wish_make(admin, sales[i].id))))
            return false;
        asked[refusal != NULL]++;
    }
    return true;
}

void admin_archive_due(struct admin *admin, struct job *job, uint32_t id)
{
    uint64_t days = 0, after = 0;
    uint32_t count = 0, asked[2] = { 0 };
    const struct field fields[] = {
        { "after_days", FIELD_U64, &days, 0, 36500, true, NULL },
        { "after", FIELD_U64, &after, 0, SALES_LIMIT, false, NULL },
    };
    (void)id;
    if (!job_fields_read(job, fields, 2))
        return;
    const char *refusal = folder_refusal(admin);
    if (refusal != NULL) {
        job_reply_problem(job, PROBLEM_CONFLICT, refusal, SPAN_NONE);
        return;
    }
    struct sale *sales = calloc(SALES_PER_ASK, sizeof *sales);
    invariant(sales != NULL);
    const uint64_t ended_ms = admin->now_ms > days * DAY_MS ? admin->now_ms - days * DAY_MS : 0;
    const bool good =
        job_ok(job, admin->store->ops->sales(admin->store, (sale_id)after, sales, SALES_PER_ASK, &count))
        && sales_ask(admin, job, sales, count, ended_ms, asked);
    const sale_id last = count == SALES_PER_ASK ? sales[count - 1].id : 0;
    free(sales);
    if (!good)
        return;
    struct text body = job_body(job);
    json_object_begin(&body, NULL);
    text_format(&body, "\"asked\":%u,\"not_finished\":%u", asked[0], asked[1]);
    if (last != 0)
        text_format(&body, ",\"next\":%u", last);
    json_object_end(&body);
    job_reply_json(job, 200, &body);
    admin_audit_write(admin, job, "archive.ask", "%u sales that ended %llu days ago", asked[0],
        (unsigned long long)days);
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
