/* SPDX-License-Identifier: Apache-2.0 */
/* admin/dead_letters.c: dead letters and alarms: what a person must look at, and decides. */
#include "admin/admin.h"
#include "funnel/keys.h"
#include "worker/alarms.h"

#include <string.h>

enum { PAGE_ROWS = 100 };

#define STATE_NAME(state, name) [DEAD_##state] = (name),
static const char *const state_names[] = { DEAD_STATE_LIST(STATE_NAME) };
#define TYPE_NAME(command, name) [COMMAND_##command] = (name),
static const char *const type_names[COMMAND_LOGGED_COUNT] = { COMMAND_LOGGED_LIST(TYPE_NAME) };

static void letter_members(const struct dead_letter *letter, struct text *out)
{
    json_u64(out, "part", letter->at.part);
    json_u64(out, "position", letter->at.seq);
    json_text(out, "type", letter->type < COMMAND_LOGGED_COUNT ? type_names[letter->type] : "?");
    json_u64(out, "number", letter->ticket);
    json_u64(out, "time_ms", letter->time_ms);
    json_text(out, "state", letter->state < DEAD_STATES ? state_names[letter->state] : "?");
    json_text(out, "reason", letter->reason);
    json_u64(out, "resolved_ms", letter->resolved_ms);
    json_text(out, "resolver", letter->resolver);
    json_text(out, "note", letter->note);
}

void admin_dead_letters(struct admin *admin, struct job *job, uint32_t id)
{
    struct dead_letter rows[PAGE_ROWS];
    struct order_store *store = admin->store;
    uint64_t after = 0;
    uint32_t state = DEAD_ANY, count = 0;
    (void)id;
    if (!job_query_u64(job, "after", INT64_MAX, &after)
        || !job_query_name(job, "state", state_names, 0, DEAD_STATES, &state)
        || !job_ok(job, store->ops->dead_letters(store, after, state, rows, PAGE_ROWS, &count)))
        return;
    struct page page = page_begin(job, "dead_letters");
    for (uint32_t i = 0; i < count; i++)
        letter_members(&rows[i], page_object(&page, rows[i].id));
    page_end(job, &page, page_next(&page, PAGE_ROWS));
}

static void record_json(const struct admin *admin, const struct queue_record *record, struct text *out)
{
    static const char *const steps[] = { "sold", "return", "write-off" };
    static_assert(sizeof steps / sizeof *steps == SETTLE_STEPS, "a name for each");
    const struct command *command = &record->command;
    const struct outcome *outcome = &record->outcome;
    char name[CHANNEL_NAME_MAX + 1];
    text_format(out, "{\"type\":\"%s\"", type_names[command->type]);
    switch (command->type) {
    case COMMAND_RESERVE:
        json_hex(out, "user", command->reserve.user);
        text_format(out,
            ",\"item\":%u,\"quantity\":%u,\"channel\":\"%s\",\"unit_price\":%llu,"
            "\"pay_by_ms\":%llu",
            command->reserve.item, command->reserve.quantity,
            channel_name(admin->lent->channels, command->reserve.channel, name),
            (unsigned long long)outcome->unit_price, (unsigned long long)outcome->pay_by_ms);
        break;
    case COMMAND_SETTLE:
        json_hex(out, "user", outcome->user);
        text_format(out, ",\"item\":%u,\"quantity\":%u,\"step\":\"%s\"", outcome->item,
            outcome->quantity, steps[command->settle.step]);
        break;
    case COMMAND_ADJUST:
        text_format(out, ",\"item\":%u,\"applied\":%d", command->adjust.item, outcome->applied);
        break;
    case COMMAND_MOVE:
        text_format(out, ",\"item\":%u,\"applied\":%d", command->move.item, outcome->applied);
        break;
    case COMMAND_PREHEAT:
        text_format(out, ",\"item\":%u,\"sale\":%u,\"total\":%u", command->preheat.item,
            command->preheat.sale, command->preheat.total);
        break;
    case COMMAND_SALE:
        text_format(out, ",\"sale\":%u", command->sale.sale);
        break;
    case COMMAND_GATE:
        text_format(out, ",\"sale\":%u,\"move\":%u", command->gate.sale, command->gate.move);
        break;
    case COMMAND_USERS:
        text_format(out, ",\"sale\":%u,\"users\":%u", command->users.sale, command->users.count);
        break;
    case COMMAND_ARRIVE:
    case COMMAND_ADMIT:
        text_format(out, ",\"sale\":%u", command_room(command));
        break;
    case COMMAND_GIVE:
    case COMMAND_TAKE:
        text_format(out, ",\"item\":%u,\"applied\":%d", command->transfer.item, outcome->applied);
        break;
    case COMMAND_ARCHIVE:
        text_format(out, ",\"sale\":%u,\"rows\":%d", command->archive.sale, outcome->applied);
        break;
    case COMMAND_SKIP:
        text_format(out, ",\"numbers\":%d", outcome->applied);
        break;
    case COMMAND_RECLAIM:
        text_format(out, ",\"tickets\":%d", outcome->applied);
        break;
    default:
        break;
    }
    text_literal(out, "}");
}

static void letter_reply(struct admin *admin, struct job *job, uint32_t id)
{
    struct dead_letter letter;
    struct queue_record record;
    struct text body = job_body(job);
    const enum status status = admin->store->ops->dead_letter_get(admin->store, id, &letter, &record);
    if (!job_ok(job, status))
        return;
    json_object_begin(&body, NULL);
    json_u64(&body, "id", letter.id);
    letter_members(&letter, &body);
    text_literal(&body, ",\"record\":");
    record_json(admin, &record, &body);
    if (letter.type == COMMAND_RESERVE) {
        json_hex(&body, "ticket", funnel_ticket_id(admin->lent->keys, letter.ticket));
        json_hex(&body, "order", funnel_order_id(admin->lent->keys, letter.ticket));
    }
    text_literal(&body, "}");
    job_reply_json(job, 200, &body);
}

void admin_dead_letter_show(struct admin *admin, struct job *job, uint32_t id)
{
    letter_reply(admin, job, id);
}

/* True: it is decided, and the job is still to be answered. */
static bool letter_decide(
    struct admin *admin, struct job *job, struct dead_decision *decision, ticket_number *ticket)
{
    struct order_store *store = admin->store;
    struct dead_letter letter;
    struct queue_record record;
    struct refusal refusal = { .index = UINT32_MAX };
    memcpy(decision->resolver, job->actor, sizeof job->actor);
    decision->now_ms = admin->now_ms;
    enum status status = store->ops->dead_letter_get(store, decision->id, &letter, &record);
    if (!job_ok(job, status))
        return false;
    *ticket = letter.ticket;
    status = store->ops->dead_letter_decide(store, decision, &refusal);
    worker_letters_changed(admin->worker);
    if (status == STATUS_REFUSED)
        job_reply_problem(job, PROBLEM_CONFLICT, refusal.text, SPAN_NONE);
    else if (status == STATUS_CONFLICT)
        job_reply_problem(job, PROBLEM_CONFLICT,
            letter.state != DEAD_OPEN ? "This dead letter was already decided."
                                      : "This record is not a ticket: it has no units to return.",
            SPAN_NONE);
    else if (status != STATUS_OK)
        job_reply_status(job, status);
    return status == STATUS_OK;
}

static void letter_resolve(struct admin *admin, struct job *job, struct dead_decision *decision)
{
    static const char *const actions[] = { NULL, NULL, "dead-letter.retry", "dead-letter.return",
        "dead-letter.dismiss" };
    static_assert(sizeof actions / sizeof *actions == DEAD_STATES, "a name for each");
    ticket_number ticket = 0;
    struct order order;
    if (!letter_decide(admin, job, decision, &ticket))
        return;
    letter_reply(admin, job, (uint32_t)decision->id);
    admin_audit_write(admin, job, actions[decision->to], "dead letter %llu number %llu %s",
        (unsigned long long)decision->id, (unsigned long long)ticket, decision->note);
    if (decision->to == DEAD_DISMISSED)
        return;
    if (admin->store->ops->order_by_ticket(admin->store, ticket, &order) == STATUS_OK)
        worker_order_changed(admin->worker, ticket, order.user);
    worker_letters_retried(admin->worker);
}

void admin_dead_letter_retry(struct admin *admin, struct job *job, uint32_t id)
{
    struct dead_decision decision = { .id = id, .to = DEAD_RETRIED };
    letter_resolve(admin, job, &decision);
}

void admin_dead_letter_return(struct admin *admin, struct job *job, uint32_t id)
{
    struct dead_decision decision = { .id = id, .to = DEAD_RETURNED };
    letter_resolve(admin, job, &decision);
}

void admin_dead_letter_dismiss(struct admin *admin, struct job *job, uint32_t id)
{
    struct dead_decision decision = { .id = id, .to = DEAD_DISMISSED };
    const struct field fields[] = { { "note", FIELD_TEXT, decision.note, 1, DEAD_NOTE_MAX, true, NULL } };
    if (job_fields_read(job, fields, 1))
        letter_resolve(admin, job, &decision);
}

void admin_alarms(struct admin *admin, struct job *job, uint32_t id)
{
    struct text body = job_body(job);
    (void)admin;
    (void)id;
    alarms_json(&body);
    job_reply_json(job, 200, &body);
}
