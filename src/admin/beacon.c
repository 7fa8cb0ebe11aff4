/* SPDX-License-Identifier: Apache-2.0 */
/* admin/beacon.c: the public beacon of a waiting room's draw: named with the sale before entry opens,
 * its value given once after the line is closed. So nobody who names it can know it, and nobody who knows it
 * can still come in. room_driver.c draws with it. */
#include "admin/admin.h"
#include "api/json_fields.h"
#include "config/config.h"
#include "contract/inventory.h"

#include <string.h>

/* What can't be seen can't be compared by people: control characters, marks that only change how others
 * look, spaces that are none. `at` begins a character of valid UTF-8 (jansson takes no other). */
static bool is_hidden(const unsigned char *at)
{
    if (at[0] < 0x20 || at[0] == 0x7f)
        return true;
    if (at[0] == 0xc2)
        return at[1] <= 0xa0 || at[1] == 0xad; /* U+0080 to U+00A0, U+00AD */
    if (at[0] == 0xe2 && at[1] == 0x80)
        return at[2] <= 0x8f || (at[2] >= 0xa8 && at[2] <= 0xaf); /* U+2000 to 200F, 2028 to 202F */
    if (at[0] == 0xe2 && at[1] == 0x81)
        return at[2] >= 0x9f && at[2] <= 0xaf; /* U+205F to U+206F */
    if (at[0] == 0xe3 && at[1] == 0x80)
        return at[2] == 0x80; /* U+3000 */
    return at[0] == 0xef && ((at[1] == 0xbb && at[2] == 0xbf) || (at[1] == 0xbf && at[2] >= 0xb0));
}

static bool has_outer_space(const char *text)
{
    const size_t size = strlen(text);
    return size > 0 && (text[0] == ' ' || text[size - 1] == ' ');
}

bool admin_line_is_good(const char *text, uint32_t characters_max)
{
    uint32_t characters = 0;
    for (const char *at = text; *at != 0; at++) {
        const unsigned char byte = (unsigned char)*at;
        if ((byte & 0xc0) == 0x80)
            continue; /* goes on with the character before */
        characters++;
        if (is_hidden((const unsigned char *)at))
            return false;
    }
    return characters <= characters_max && !has_outer_space(text);
}

static bool value_is_good(const char *value)
{
    for (const char *at = value; *at != 0; at++)
        if (*at < 0x20 || *at > 0x7e)
            return false;
    return !has_outer_space(value);
}

static bool line_is_closed(const struct admin *admin, sale_id sale)
{
    struct board_room_update room;
    return board_read_room(admin->lent->inventory->board, sale, &room) && room.draw_done;
}

/* From then on somebody may rely on what was published. Who is in stays in when the start is moved. */
static bool entry_has_opened(const struct admin *admin, const struct sale *sale)
{
    struct board_room_update room;
    const bool known = board_read_room(admin->lent->inventory->board, sale->id, &room);
    const bool open = sale->published
        && (sale->gate != GATE_SCHEDULED
            || admin->now_ms + admin->lent->config->room_open_ms >= sale->start_ms);
    return open || (known && (room.arrived > 0 || room.draw_done)) || sale->beacon_until_ms != 0
        || sale->beacon_state != BEACON_OPEN;
}

bool admin_beacon_may_be(
    struct admin *admin, struct job *job, const struct sale *before, const struct sale *sale)
{
    if (strcmp(before->beacon_name, sale->beacon_name) == 0)
        return true;
    if (!admin_line_is_good(sale->beacon_name, BEACON_NAME_CHARACTERS_MAX))
        job_reply_problem(job, PROBLEM_BAD_VALUE,
            "beacon_name must be up to 120 printable characters, without leading or trailing "
            "spaces.",
            SPAN_NONE);
    else if (sale->beacon_name[0] != 0 && !sale->waiting_room)
        job_reply_problem(job, PROBLEM_BAD_VALUE, "A beacon needs a sale with a waiting room.", SPAN_NONE);
    else if (before->id != 0 && entry_has_opened(admin, before))
        job_reply_problem(job, PROBLEM_CONFLICT,
            "The waiting room is open: its beacon can't be changed any more.", SPAN_NONE);
    else
        return true;
    return false;
}

static const char *state_name(const struct sale *sale)
{
    static const char *const names[] = { "announced", "given", "missed" };
    static_assert(sizeof names / sizeof *names == BEACON_STATES, "a name for each");
    if (sale->beacon_name[0] == 0)
        return "none";
    if (sale->beacon_state == BEACON_OPEN && sale->beacon_until_ms != 0)
        return "waiting";
    return names[sale->beacon_state];
}

void admin_beacon_members(const struct sale *sale, struct text *out)
{
    json_text(out, "beacon_state", state_name(sale));
    json_value(out, "beacon_value");
    if (sale->beacon_state == BEACON_GIVEN)
        text_json(out, span_from_string(sale->beacon_value));
    else
        text_literal(out, "null");
}

/* NULL: it may be given, or was before. */
static const char *value_refusal(const struct admin *admin, const struct sale *sale, const char *value)
{
    if (sale->beacon_name[0] == 0)
        return "This sale has no beacon.";
    if (sale->beacon_state == BEACON_MISSED)
        return "The value did not come in time: the draw was made without it.";
    if (sale->beacon_state == BEACON_GIVEN)
        return strcmp(sale->beacon_value, value) == 0 ? NULL : "The beacon already has another value.";
    return line_is_closed(admin, sale->id)
        ? NULL
        : "The waiting room still accepts entries: send the value after the sale has started.";
}

static void value_reply(struct job *job, const struct sale *sale, bool changed)
{
    struct text body = job_body(job);
    text_format(&body, "{\"sale\":%u,\"changed\":%s", sale->id, changed ? "true" : "false");
    json_text(&body, "beacon_name", sale->beacon_name);
    admin_beacon_members(sale, &body);
    text_literal(&body, "}");
    job_reply_json(job, 200, &body);
}

void admin_sale_beacon(struct admin *admin, struct job *job, uint32_t id)
{
    struct sale sale;
    char value[BEACON_VALUE_BYTES_MAX + 1] = "";
    const struct field fields[] = {
        { "value", FIELD_TEXT, value, 1, BEACON_VALUE_BYTES_MAX, true, NULL },
    };
    if (!admin_sale_read(admin, job, id, &sale) || !job_fields_read(job, fields, 1))
        return;
    if (!value_is_good(value)) {
        job_reply_problem(job, PROBLEM_BAD_VALUE,
            "value must be printable ASCII characters, without leading or trailing spaces.", SPAN_NONE);
        return;
    }
    const char *refusal = value_refusal(admin, &sale, value);
    if (refusal != NULL) {
        job_reply_problem(job, PROBLEM_CONFLICT, refusal, SPAN_NONE);
        return;
    }
    if (sale.beacon_state == BEACON_GIVEN) {
        value_reply(job, &sale, false);
        return;
    }
    memcpy(sale.beacon_value, value, sizeof value);
    sale.beacon_state = BEACON_GIVEN;
    const enum status status = admin->store->ops->sale_beacon(admin->store, &sale);
    if (!job_ok(job, status))
        return;
    value_reply(job, &sale, true);
    admin_audit_write(admin, job, "sale.beacon", "sale %u value \"%s\"", sale.id, value);
}
