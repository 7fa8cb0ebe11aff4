/* SPDX-License-Identifier: Apache-2.0 */
/* admin/bans.c: bans by hand. A user is given by the shop's subject, which is hashed at once
 * and never kept, or by the id that orders show. What would lock out the shop itself (loopback, its
 * proxies, a large part of the network) wants "force". */
#include "contract/bans.h"
#include "admin/admin.h"
#include "base/clock.h"
#include "funnel/keys.h"
#include "worker/ban_list.h"

#include <stdio.h>
#include <string.h>

enum {
    PAGE_ROWS = 100,
    MINUTE_MS = 60 * 1000,
    V4_WIDEST = ADDRESS_V4_BITS + 8, /* wider wants "force" */
    V6_WIDEST = 16,
    USER_ID_CHARS = 16,
};

static void ban_json(const struct ban *ban, struct text *out)
{
    text_format(out, "{\"id\":%llu,\"kind\":\"%s\",", (unsigned long long)ban->id,
        ban->kind == BAN_ADDRESS ? "address" : "user");
    if (ban->kind == BAN_ADDRESS) {
        text_literal(out, "\"address\":\"");
        address_block_text(out, &ban->block);
    } else {
        text_literal(out, "\"user_id\":\"");
        text_hex64(out, ban->user);
    }
    text_literal(out, "\",\"reason\":");
    text_json(out, span_from_string(ban->reason));
    text_literal(out, ",\"by\":");
    text_json(out, span_from_string(ban->by));
    text_format(out, ",\"created_ms\":%llu,\"until_ms\":%llu,\"lifted_ms\":%llu,\"sessions\":%s}",
        (unsigned long long)ban->created_ms, (unsigned long long)ban->until_ms,
        (unsigned long long)ban->lifted_ms, ban->sessions_ms != 0 ? "true" : "false");
}

void admin_bans_list(struct admin *admin, struct job *job, uint32_t id)
{
    struct ban rows[PAGE_ROWS];
    uint64_t after = 0, all = 0;
    uint32_t count = 0;
    (void)id;
    if (!job_query_u64(job, "after", INT64_MAX, &after) || !job_query_u64(job, "all", 1, &all))
        return;
    struct order_store *store = admin->store;
    const enum status status =
        store->ops->bans->list(store, after, all == 1 ? 0 : admin->now_ms, rows, PAGE_ROWS, &count);
    if (!job_ok(job, status))
        return;
    struct page page = page_begin(job, "bans");
    for (uint32_t i = 0; i < count; i++)
        ban_json(&rows[i], page_row(&page, rows[i].id));
    page_end(job, &page, page_next(&page, PAGE_ROWS));
}

struct ban_wish {
    char address[ADDRESS_BLOCK_CHARS_MAX + 1], user[SUBJECT_BYTES_MAX + 1], user_id[USER_ID_CHARS + 1];
    bool by_address, by_user, by_user_id, force, sessions;
    uint32_t minutes;
};

static bool block_is_wide(const struct address_block *block)
{
    return block->bits < (address_is_v4(&block->first) ? V4_WIDEST : V6_WIDEST);
}

/* NULL: whom is known; else what is wrong. */
static const char *ban_whom(const struct admin *admin, const struct ban_wish *wish, struct ban *ban)
{
    if (wish->by_address + wish->by_user + wish->by_user_id != 1)
        return "Name exactly one of address, user and user_id.";
    ban->kind = wish->by_address ? BAN_ADDRESS : BAN_USER;
    if (wish->by_user)
        ban->user = funnel_user_id(admin->lent->keys, span_from_string(wish->user));
    if (wish->by_user_id
        && (span_to_hex64(span_from_string(wish->user_id), &ban->user) != STATUS_OK || ban->user == 0))
        return "user_id must be the 16 hex digits that orders show.";
    if (wish->by_address && wish->sessions)
        return "Sessions belong to users: send \"sessions\" together with user or user_id.";
    if (!wish->by_address)
        return NULL;
    if (address_block_parse(span_from_string(wish->address), &ban->block) != STATUS_OK)
        return "address must be like 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32, with zeros "
               "after "
               "the prefix.";
    if (!wish->force && worker_block_protected(admin->worker, &ban->block))
        return "This would ban the server itself or one of its proxies. To do it anyway, send "
               "\"force\": true.";
    if (!wish->force && block_is_wide(&ban->block))
        return "This block is wider than /8 (IPv6: /16). To ban it anyway, send \"force\": true.";
    return NULL;
}

static bool ban_read(const struct admin *admin, struct job *job, struct ban *ban)
{
    struct ban_wish wish = { .force = false };
    const struct field fields[] = {
        { "address", FIELD_TEXT, wish.address, 1, ADDRESS_BLOCK_CHARS_MAX, false, &wish.by_address },
        { "user", FIELD_TEXT, wish.user, 1, SUBJECT_BYTES_MAX, false, &wish.by_user },
        { "user_id", FIELD_TEXT, wish.user_id, USER_ID_CHARS, USER_ID_CHARS, false, &wish.by_user_id },
        { "minutes", FIELD_U32, &wish.minutes, 1, BAN_MINUTES_MAX, true, NULL },
        { "reason", FIELD_TEXT, ban->reason, 1, BAN_REASON_MAX, true, NULL },
        { "force", FIELD_FLAG, &wish.force, 0, 0, false, NULL },
        { "sessions", FIELD_FLAG, &wish.sessions, 0, 0, false, NULL },
    };
    if (!job_fields_read(job, fields, sizeof fields / sizeof *fields))
        return false;
    const char *wrong = ban_whom(admin, &wish, ban);
    if (wrong != NULL) {
        job_reply_problem(job, PROBLEM_BAD_VALUE, wrong, SPAN_NONE);
        return false;
    }
    snprintf(ban->by, sizeof ban->by, "%s", job->actor);
    ban->created_ms = admin->now_ms;
    /* A session may be younger than the worker's turn. */
    ban->sessions_ms = wish.sessions ? clock_now_ms() : 0;
    ban->until_ms = admin->now_ms + (uint64_t)wish.minutes * MINUTE_MS;
    return true;
}

void admin_ban_add(struct admin *admin, struct job *job, uint32_t id)
{
    struct ban ban = { .id = 0 };
    char whom[ADDRESS_BLOCK_CHARS_MAX + 8];
    struct text body = job_body(job);
    (void)id;
    if (!ban_read(admin, job, &ban))
        return;
    const enum status status = worker_ban_put(admin->worker, &ban);
    if (status == STATUS_FULL) {
        job_reply_problem(
            job, PROBLEM_CONFLICT, "The table of bans is full. Lift a ban first.", SPAN_NONE);
        return;
    }
    if (!job_ok(job, status))
        return;
    ban_json(&ban, &body);
    job_reply_json(job, 201, &body);
    ban_target(&ban, whom);
    admin_audit_write(admin, job, "ban.add", "ban %llu of %s until %llu%s: %s",
        (unsigned long long)ban.id, whom, (unsigned long long)ban.until_ms,
        ban.sessions_ms != 0 ? ", sessions end" : "", ban.reason);
}

void admin_ban_lift(struct admin *admin, struct job *job, uint32_t id)
{
    struct order_store *store = admin->store;
    struct text body = job_body(job);
    struct ban ban = { .id = 0 };
    char whom[ADDRESS_BLOCK_CHARS_MAX + 8];
    bool lifted = false;
    enum status status = store->ops->bans->lift(store, id, admin->now_ms, &lifted);
    if (status == STATUS_OK)
        status = store->ops->bans->get(store, id, &ban);
    if (!job_ok(job, status))
        return;
    if (!lifted) {
        job_reply_problem(job, PROBLEM_CONFLICT, "This ban has ended or was already lifted.", SPAN_NONE);
        return;
    }
    worker_ban_lifted(admin->worker, ban.id);
    worker_watch_forgive(admin->worker, &ban);
    ban_json(&ban, &body);
    job_reply_json(job, 200, &body);
    ban_target(&ban, whom);
    admin_audit_write(
        admin, job, "ban.lift", "ban %llu of %s: %s", (unsigned long long)ban.id, whom, ban.reason);
}

void admin_watch(struct admin *admin, struct job *job, uint32_t id)
{
    struct text body = job_body(job);
    (void)id;
    worker_watch_json(admin->worker, &body);
    job_reply_json(job, 200, &body);
}
