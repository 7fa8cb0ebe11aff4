/* SPDX-License-Identifier: Apache-2.0 */
/* admin/users.c: who may buy in a sale that is for invited users only: loaded, listed, removed. */
#include "admin/admin.h"
#include "api/json_fields.h"
#include "api/query.h"
#include "funnel/keys.h"

#include <string.h>

enum { PAGE_ROWS = 500 };

static const char *users_check(json_t *users)
{
    size_t index;
    json_t *user;
    if (!json_is_array(users))
        return "users must be a list of the shop's user names.";
    json_array_foreach(users, index, user)
    {
        const size_t size = json_string_length(user);
        if (!json_is_string(user) || size < 1 || size > SUBJECT_BYTES_MAX)
            return "users must be texts of 1 to 128 bytes.";
    }
    return NULL;
}

static const char *ids_check(json_t *ids)
{
    size_t index;
    json_t *id;
    user_id user;
    if (!json_is_array(ids))
        return "user_ids must be a list of user ids.";
    json_array_foreach(ids, index, id)
    {
        const struct span text = span_of(json_string_value(id), json_string_length(id));
        if (!json_is_string(id) || span_to_hex64(text, &user) != STATUS_OK)
            return "user_ids must be texts of 16 hex digits, as the list of users shows them.";
    }
    return NULL;
}

static user_id user_of(const struct admin *admin, const json_t *said, bool by_id)
{
    const struct span text = span_of(json_string_value(said), json_string_length(said));
    user_id user = 0;
    if (!by_id)
        return funnel_user_id(admin->lent->keys, text);
    const enum status status = span_to_hex64(text, &user);
    invariant(status == STATUS_OK); /* ids_check */
    return user;
}

/* A list of users, and what is to happen to them. */
struct users_wish {
    const struct admin *admin;
    sale_id sale;
    json_t *users;
    bool by_id, remove;
};

static void users_command(void *context, uint32_t index, struct command *command)
{
    const struct users_wish *wish = context;
    const size_t count = json_array_size(wish->users);
    size_t at = (size_t)index * USERS_PER_COMMAND;
    *command = (struct command){ .type = COMMAND_USERS,
        .users = { .sale = wish->sale, .remove = wish->remove } };
    for (; at < count && command->users.count < USERS_PER_COMMAND; at++)
        command->users.users[command->users.count++] =
            user_of(wish->admin, json_array_get(wish->users, at), wish->by_id);
}

/* In commands of USERS_PER_COMMAND; false and the job is answered when the inventory refuses. */
static bool users_tell(struct admin *admin, struct job *job, struct users_wish wish, uint32_t *changed)
{
    const size_t commands = (json_array_size(wish.users) + USERS_PER_COMMAND - 1) / USERS_PER_COMMAND;
    const struct command asked = { .type = COMMAND_USERS };
    struct outcome outcome;
    const enum status status =
        worker_ask_all(admin->worker, (uint32_t)commands, users_command, &wish, &outcome);
    if (!admin_asked(admin, job, &asked, status, &outcome))
        return false;
    *changed = (uint32_t)outcome.applied;
    return true;
}

static void users_load(struct admin *admin, struct job *job, struct sale *sale, json_t *users)
{
    struct outcome outcome = { 0 };
    uint32_t fresh = 0;
    const enum status status = sale_ensure(admin->errands, sale, &outcome);
    if (status != STATUS_OK)
        job_reply_status(job, status);
    else if (outcome.answer != ANSWER_DONE && outcome.answer != ANSWER_UNCHANGED)
        job_reply_refused(job, &outcome);
    else if (users_tell(admin, job, (struct users_wish){ admin, sale->id, users, false, false }, &fresh)) {
        struct text body = job_body(job);
        text_format(&body, "{\"sale\":%u,\"users\":%zu,\"loaded\":%u}", sale->id,
            json_array_size(users), fresh);
        job_reply_json(job, 200, &body);
    }
}

/* The sale, and the body that names users. NULL: answered. */
static json_t *sale_body_parse(struct admin *admin, struct job *job, sale_id id, struct sale *sale)
{
    return admin_sale_read(admin, job, id, sale) ? job_body_object(job) : NULL;
}

void admin_sale_users(struct admin *admin, struct job *job, uint32_t id)
{
    struct sale sale;
    char error[FIELD_ERROR];
    json_t *users = NULL;
    const struct field fields[] = { { "users", FIELD_JSON, &users, 0, 0, true, NULL } };
    json_t *object = sale_body_parse(admin, job, id, &sale);
    if (object == NULL)
        return;
    const bool good = admin_fields_read(object, fields, 1, error);
    const char *wrong = good ? users_check(users) : error;
    if (wrong != NULL)
        job_reply_problem(job, PROBLEM_BAD_VALUE, wrong, SPAN_NONE);
    else
        users_load(admin, job, &sale, users);
    json_decref(object);
}

void admin_sale_users_remove(struct admin *admin, struct job *job, uint32_t id)
{
    struct sale sale;
    char error[FIELD_ERROR];
    json_t *users = NULL, *ids = NULL;
    uint32_t removed = 0;
    const struct field fields[] = { { "users", FIELD_JSON, &users, 0, 0, false, NULL },
        { "user_ids", FIELD_JSON, &ids, 0, 0, false, NULL } };
    json_t *object = sale_body_parse(admin, job, id, &sale);
    if (object == NULL)
        return;
    const char *wrong = admin_fields_read(object, fields, 2, error) ? NULL : error;
    if (wrong == NULL && (users == NULL) == (ids == NULL))
        wrong = "Name users by either users (the shop's names) or user_ids.";
    if (wrong == NULL)
        wrong = users != NULL ? users_check(users) : ids_check(ids);
    if (wrong != NULL)
        job_reply_problem(job, PROBLEM_BAD_VALUE, wrong, SPAN_NONE);
    else if (users_tell(admin, job,
                 (struct users_wish){ admin, id, users != NULL ? users : ids, ids != NULL, true },
                 &removed)) {
        struct text body = job_body(job);
        text_format(&body, "{\"sale\":%u,\"removed\":%u}", id, removed);
        job_reply_json(job, 200, &body);
    }
    json_decref(object);
}

/* Names are not kept: the list has the ids that the API shows everywhere. */
void admin_sale_users_list(struct admin *admin, struct job *job, uint32_t id)
{
    struct sale sale;
    user_id users[PAGE_ROWS], after = 0;
    uint32_t count = 0;
    const struct span said = query_value(job->query, "after");
    struct text body = job_body(job);
    if (said.data != NULL && span_to_hex64(said, &after) != STATUS_OK) {
        job_reply_problem(job, PROBLEM_BAD_QUERY, "after must be 16 hex digits.", SPAN_NONE);
        return;
    }
    if (!admin_sale_read(admin, job, id, &sale))
        return;
    const enum status status = admin->store->ops->eligible_users(
        admin->store, id, said.data == NULL ? NULL : &after, users, PAGE_ROWS, &count);
    if (!job_ok(job, status))
        return;
    json_object_begin(&body, NULL);
    json_list_begin(&body, "users");
    for (uint32_t i = 0; i < count; i++) {
        json_object_begin(&body, NULL);
        json_hex(&body, "user_id", users[i]);
        json_object_end(&body);
    }
    json_list_end(&body);
    if (count == PAGE_ROWS)
        json_hex(&body, "next", users[count - 1]);
    json_object_end(&body);
    job_reply_json(job, 200, &body);
}
