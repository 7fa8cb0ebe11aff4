/* SPDX-License-Identifier: Apache-2.0 */
/* admin/keys.c: admin keys as an administrator makes and revokes them (api/key_ring.h). A new key is in the
 * answer and nowhere else: no answer of this kind is kept for a repeated request. The audit row comes first,
 * so that no key was ever made or revoked without one. */
#include "admin/admin.h"
#include "api/key_ring.h"
#include "base/log.h"
#include "funnel/door.h"

#include <string.h>

enum { KIND_BYTES = 8 };

static void key_members(const char *name, const struct admin_right *right, bool password, struct text *out)
{
    json_text(out, "name", name);
    json_text(out, "role", admin_role_name(right->role));
    if (right->role == ADMIN_CHANNEL)
        json_text(out, "channel", right->channel);
    json_text(out, "kind", password ? "password" : "key");
}

void admin_keys_member(const struct admin *admin, struct text *out)
{
    struct admin_keys keys;
    key_ring_copy(admin->lent->key_ring, &keys);
    json_list_begin(out, "keys");
    for (uint32_t i = 0; i < keys.count; i++) {
        json_object_begin(out, NULL);
        key_members(keys.keys[i].name, &keys.keys[i].right, keys.keys[i].password, out);
        json_object_end(out);
    }
    json_list_end(out);
}

/* False: answered. */
static bool change_ok(struct job *job, enum status status)
{
    const char *why = status == STATUS_CONFLICT
        ? "A key of this name exists. Revoke it first, or take another name."
        : status == STATUS_FULL
        ? "There are 64 keys and passwords, and no room for more. Revoke one first."
        : status == STATUS_REFUSED
        ? "This is the last key or password of an administrator. Make another one first."
        : NULL;
    if (status == STATUS_NOT_FOUND)
        job_reply_problem(job, PROBLEM_NOT_FOUND, "There is no key or password of this name.", SPAN_NONE);
    else if (why != NULL)
        job_reply_problem(job, PROBLEM_CONFLICT, why, SPAN_NONE);
    else
        return job_ok(job, status);
    return false;
}

/* After the audit row was kept. False: answered. */
static bool file_ok(struct job *job, enum status status, const char *what, const char *name)
{
    if (status != STATUS_OK)
        log_error("admin",
            "the key %s can't be %s, though the audit trail says so: the file admin-keys: %s", name,
            what, status_name(status));
    return change_ok(job, status);
}

/* A key for a channel that is not configured could be used by nobody. */
static bool wish_read(const struct admin *admin, struct job *job, char name[ADMIN_NAME_MAX + 1],
    struct admin_right *right)
{
    char text[ADMIN_ROLE_CHARS_MAX + 1];
    channel_index channel;
    const struct field fields[] = { { "name", FIELD_TEXT, name, 1, ADMIN_NAME_MAX, true, NULL },
        { "role", FIELD_TEXT, text, 1, ADMIN_ROLE_CHARS_MAX, true, NULL } };
    if (!job_fields_read(job, fields, sizeof fields / sizeof *fields))
        return false;
    *right = admin_right_read(span_from_string(text));
    const char *wrong = right->role == ADMIN_NOBODY ? "role must be " ADMIN_ROLES_TEXT "."
        : right->role == ADMIN_CHANNEL
            && !door_channel_find(admin->lent->channels, span_from_string(right->channel), &channel)
        ? "role names a channel that is not configured (channels.names)."
        : !admin_name_is_good(span_from_string(name))
        ? "name must be 1 to 64 visible ASCII characters without a space or colon, and not begin "
          "with #."
        : NULL;
    if (wrong != NULL)
        job_reply_problem(job, PROBLEM_BAD_VALUE, wrong, SPAN_NONE);
    return wrong == NULL;
}

void admin_key_create(struct admin *admin, struct job *job, uint32_t id)
{
    struct key_ring *ring = admin->lent->key_ring;
    char name[ADMIN_NAME_MAX + 1], key[ADMIN_KEY_CHARS + 1];
    struct admin_right right;
    char role[ADMIN_ROLE_CHARS_MAX + 1];
    (void)id;
    if (!wish_read(admin, job, name, &right)
        || !change_ok(job, key_ring_may_add(ring, span_from_string(name))))
        return;
    admin_audit_write(admin, job, "key.create", "%s, %s", name, admin_right_text(&right, role));
    if (!admin_audit_keep(admin, job)
        || !file_ok(job, key_ring_add(ring, span_from_string(name), &right, key), "made", name))
        return;
    struct text body = job_body(job);
    json_object_begin(&body, NULL);
    key_members(name, &right, false, &body);
    json_text(&body, "key", key);
    json_object_end(&body);
    job_reply_json(job, 201, &body);
    explicit_bzero(key, sizeof key);
}

/* False: answered. */
static bool revoked_read(struct job *job, char name[ADMIN_NAME_MAX + 1], bool *password)
{
    char kind[KIND_BYTES + 1] = "key";
    const struct field fields[] = { { "name", FIELD_TEXT, name, 1, ADMIN_NAME_MAX, true, NULL },
        { "kind", FIELD_TEXT, kind, 1, KIND_BYTES, false, NULL } };
    if (!job_fields_read(job, fields, sizeof fields / sizeof *fields))
        return false;
    *password = strcmp(kind, "password") == 0;
    const bool good = *password || strcmp(kind, "key") == 0;
    if (!good)
        job_reply_problem(job, PROBLEM_BAD_VALUE, "kind must be key or password.", SPAN_NONE);
    return good;
}

void admin_key_revoke(struct admin *admin, struct job *job, uint32_t id)
{
    struct key_ring *ring = admin->lent->key_ring;
    char name[ADMIN_NAME_MAX + 1];
    struct admin_right right = { .role = ADMIN_NOBODY };
    char role[ADMIN_ROLE_CHARS_MAX + 1];
    bool password;
    (void)id;
    if (!revoked_read(job, name, &password)
        || !change_ok(job, key_ring_may_revoke(ring, span_from_string(name), password, &right)))
        return;
    admin_audit_write(admin, job, "key.revoke", "%s, %s%s", name, admin_right_text(&right, role),
        password ? " (password)" : "");
    if (!admin_audit_keep(admin, job)
        || !file_ok(job, key_ring_revoke(ring, span_from_string(name), password), "revoked", name))
        return;
    struct text body = job_body(job);
    json_object_begin(&body, NULL);
    key_members(name, &right, password, &body);
    json_object_end(&body);
    job_reply_json(job, 200, &body);
}
