/* SPDX-License-Identifier: Apache-2.0 */
/* admin/room_message.c: what the operator tells those who wait in a sale's waiting room. Pages show it as
 * text; who follows the room by push has it within half a second. */
#include "admin/admin.h"
#include "api/json_fields.h"

#include <string.h>

void admin_sale_message(struct admin *admin, struct job *job, uint32_t id)
{
    struct sale sale;
    char message[ROOM_MESSAGE_BYTES_MAX + 1] = "";
    const struct field fields[] = {
        { "message", FIELD_TEXT, message, 0, ROOM_MESSAGE_BYTES_MAX, true, NULL },
    };
    if (!admin_sale_read(admin, job, id, &sale) || !job_fields_read(job, fields, 1))
        return;
    if (!admin_line_is_good(message, ROOM_MESSAGE_CHARACTERS_MAX)) {
        job_reply_problem(job, PROBLEM_BAD_VALUE,
            "message must be one line of up to 120 printable characters, without leading or "
            "trailing "
            "spaces.",
            SPAN_NONE);
        return;
    }
    if (!sale.waiting_room) {
        job_reply_problem(job, PROBLEM_CONFLICT, "This sale has no waiting room.", SPAN_NONE);
        return;
    }
    const bool changed = strcmp(sale.room_message, message) != 0;
    memcpy(sale.room_message, message, sizeof message);
    if (changed && !job_ok(job, admin->store->ops->sale_update(admin->store, &sale)))
        return;
    admin_sale_reply(admin, job, 200, &sale);
    if (!changed)
        return;
    worker_sale_changed(admin->worker, sale.id);
    admin_audit_write(admin, job, "sale.message", "sale %u \"%s\"", sale.id, message);
}
