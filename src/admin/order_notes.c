/* SPDX-License-Identifier: Apache-2.0 */
/* admin/order_notes.c: what operators write down about an order. A note is an entry of the audit chain:
 * it has a name and a time, and is never changed. */
#include "admin/admin.h"
#include "funnel/keys.h"

enum { NOTE_BYTES_MAX = 300 };

void admin_order_note(struct admin *admin, struct job *job, uint32_t id)
{
    struct order order;
    char note[NOTE_BYTES_MAX + 1] = "";
    const struct field fields[] = { { "note", FIELD_TEXT, note, 1, NOTE_BYTES_MAX, true, NULL } };
    (void)id;
    if (!job_fields_read(job, fields, 1))
        return;
    const enum status status = admin->store->ops->order_by_ticket(admin->store, job->ticket, &order);
    if (!job_found(job, status, PROBLEM_UNKNOWN_ORDER, "This order does not exist."))
        return;
    const uint64_t order_id = funnel_order_id(admin->lent->keys, job->ticket);
    struct text body = job_body(job);
    json_object_begin(&body, NULL);
    json_hex(&body, "order", order_id);
    json_text(&body, "note", note);
    json_object_end(&body);
    job_reply_json(job, 201, &body);
    admin_audit_write(admin, job, "order.note", "order %016llx: %s", (unsigned long long)order_id, note);
}
