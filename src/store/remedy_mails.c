/* SPDX-License-Identifier: Apache-2.0 */
/* Mails of remedies (contract/remedy.h). */
#include "contract/remedy.h"
#include "store/parts.h"

static_assert(MAIL_WAITING == 1 && MAIL_SENT == 2 && MAIL_FAILED == 3 && MAIL_SENDING == 4,
    "numbers in the database never change their meaning");

#define MAIL_COLUMNS \
    "SELECT id, case_id, ticket, state, tries, created_ms, next_ms, sent_ms, address, error FROM " \
    "mails"
static const struct sql_columns mail_columns = COLUMNS(mail_row, FIELD(mail_row, id),
    FIELD(mail_row, case_id), FIELD(mail_row, ticket), FIELD(mail_row, state),
    FIELD(mail_row, tries), FIELD(mail_row, created_ms), FIELD(mail_row, next_ms),
    FIELD(mail_row, sent_ms), FIELD(mail_row, address), FIELD(mail_row, error));

enum status store_mail_put(struct order_store *handle, const struct mail_row *mail)
{
    return sql_do(store_of(handle),
        "INSERT INTO mails(case_id, ticket, state, tries, created_ms, next_ms, sent_ms, address, "
        "error)"
        " VALUES(?1, ?2, 1, 0, ?3, ?3, 0, ?4, '')",
        VALUES(U64(mail->case_id), U64(mail->ticket), U64(mail->created_ms), TEXT(mail->address)));
}

enum status store_mails_due(struct order_store *handle, uint64_t now_ms, struct mail_row *mails,
    uint32_t max, uint32_t *count, uint64_t *next_ms)
{
    struct store *store = store_of(handle);
    *next_ms = UINT64_MAX;
    const enum status status = sql_rows(store,
        MAIL_COLUMNS " WHERE state IN (1, 4) AND next_ms <= ?1 ORDER BY next_ms, id LIMIT ?2",
        VALUES(U64(now_ms), U64(max)), &mail_columns, PAGE(mails, max, count));
    if (status != STATUS_OK)
        return status;
    return store_next_due(store,
        "SELECT next_ms FROM mails WHERE state IN (1, 4) AND next_ms > ?1 ORDER BY next_ms LIMIT 1",
        now_ms, next_ms);
}

enum status store_mail_get(struct order_store *handle, uint64_t id, struct mail_row *mail)
{
    return sql_one(store_of(handle), MAIL_COLUMNS " WHERE id = ?1", VALUES(U64(id)), &mail_columns, mail);
}

enum status store_mail_sending(struct order_store *handle, uint64_t id, uint64_t lost_ms)
{
    return sql_do_one(store_of(handle),
        "UPDATE mails SET state = 4, tries = tries + 1, next_ms = ?2"
        " WHERE id = ?1 AND state IN (1, 4)",
        VALUES(U64(id), U64(lost_ms)), STATUS_CONFLICT);
}

enum status store_mail_settle(struct order_store *handle, const struct mail_row *mail)
{
    invariant(mail->state != MAIL_NONE && mail->state < MAIL_STATES);
    return sql_do(store_of(handle),
        "UPDATE mails SET state = ?2, next_ms = ?3, sent_ms = ?4, error = ?5"
        " WHERE id = ?1 AND state = 4",
        VALUES(U64(mail->id), U64(mail->state), U64(mail->next_ms), U64(mail->sent_ms),
            TEXT(mail->error)));
}

enum status store_mails(struct order_store *handle, uint64_t case_id, struct mail_row *mails,
    uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle), MAIL_COLUMNS " WHERE case_id = ?1 ORDER BY id LIMIT ?2",
        VALUES(U64(case_id), U64(max)), &mail_columns, PAGE(mails, max, count));
}

enum status store_mails_failed(struct order_store *handle, uint64_t *count)
{
    *count = 0;
    return sql_number(store_of(handle),
        "SELECT count(*) FROM mails WHERE state = 3 AND NOT EXISTS(SELECT 1 FROM remedy_notes n"
        " WHERE n.case_id = mails.case_id AND n.ticket = mails.ticket AND n.actor <> ?1"
        " AND n.id > (SELECT max(s.id) FROM remedy_notes s"
        "  WHERE s.case_id = mails.case_id AND s.ticket = mails.ticket AND s.actor = ?1))",
        VALUES(TEXT(REMEDY_ACTOR_SERVER)), count);
}
