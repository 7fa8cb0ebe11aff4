/* SPDX-License-Identifier: Apache-2.0 */
/* The file "payments": rows of BANK_ROW_BYTES, the n-th payment at n × BANK_ROW_BYTES, each with a
 * checksum over itself. A row is rewritten where it stands and synced. A row that is torn is lost
 * (its change was told to nobody), and only that one: at the end it is written anew, elsewhere its
 * place stays empty. */
#include "payment/sandbox_bank.h"

#include "base/arena.h"
#include "base/bytes.h"
#include "base/disk.h"
#include "base/hash.h"
#include "payment/sandbox_parts.h"
#include "payment/statement.h"

#include <stdio.h>

enum {
    BANK_ROW_BYTES = 2048,
    INDEX_SLOTS = 2 * BANK_PAYMENTS_MAX,
    LATE_MS = 10000,
    REORDER_MS = 1500
};
static const char file_name[] = "payments";

struct bank_row {
    uint32_t crc; /* over the rest */
    uint32_t state;
    uint64_t amount, captured, refunded, expires_ms;
    uint64_t secret; /* of the id */
    char currency[4];
    char reference[REFERENCE_BYTES_MAX + 1];
    char refund_key[REFERENCE_BYTES_MAX + 1];
    char title[SANDBOX_TITLE_MAX + 1];
    char notify_url[SANDBOX_ADDRESS_MAX + 1];
    char return_url[SANDBOX_ADDRESS_MAX + 1];
    struct bank_parts parts; /* of what was captured that went back; a name is a hash of the key */
    char payer[SANDBOX_PAYER_MAX + 1];
};
/* Rows of before end earlier. */
static const size_t row_sizes[] = { sizeof(struct bank_row), offsetof(struct bank_row, payer),
    offsetof(struct bank_row, parts) };
enum { ROW_BYTES_MIN = offsetof(struct bank_row, parts) };
static_assert(sizeof(struct bank_row) <= BANK_ROW_BYTES, "a row has its place in the file");

struct bank_note { /* a callback that waits */
    uint64_t due_ms;
    uint32_t row;
    bool wrong;
    uint8_t state;
};

struct bank {
    struct arena arena;
    struct disk *disk;
    disk_file file;
    struct hash_key key;
    struct random random;
    struct bank_switches switches;
    uint32_t count, note_count;
    struct bank_row *rows;
    uint32_t *index; /* row + 1 by reference; 0: free */
    struct bank_note notes[BANK_CALLBACKS_MAX];
};

static uint32_t row_crc_of(const struct bank_row *row, size_t bytes)
{
    return hash_crc32c(0, &row->state, bytes - offsetof(struct bank_row, state));
}

/* Takes a row from bytes of the file. False: it is torn, or there is none. */
static bool row_take(const void *data, size_t bytes, struct bank_row *row)
{
    for (size_t i = 0; i < sizeof row_sizes / sizeof *row_sizes; i++) {
        *row = (struct bank_row){ 0 };
        memcpy(row, data, bytes < row_sizes[i] ? bytes : row_sizes[i]);
        if (bytes >= row_sizes[i] && row->crc == row_crc_of(row, row_sizes[i]))
            return row->reference[0] != 0;
    }
    return false;
}

static uint32_t *slot_of(struct bank *bank, const char *reference)
{
    uint64_t at = hash_siphash(bank->key, reference, strlen(reference));
    for (;; at++) {
        uint32_t *slot = &bank->index[at % INDEX_SLOTS];
        if (*slot == 0 || strcmp(bank->rows[*slot - 1].reference, reference) == 0)
            return slot;
    }
}

static struct bank_row *row_find(struct bank *bank, const char *reference)
{
    const uint32_t slot = *slot_of(bank, reference);
    return slot == 0 ? NULL : &bank->rows[slot - 1];
}

/* True: the row is on the disk as it is here. */
static bool row_keep(struct bank *bank, struct bank_row *row)
{
    const uint64_t offset = (uint64_t)(row - bank->rows) * BANK_ROW_BYTES;
    row->crc = row_crc_of(row, sizeof *row);
    return bank->disk->ops->write(bank->disk, bank->file, offset, row, sizeof *row) == STATUS_OK
        && bank->disk->ops->sync(bank->disk, bank->file) == STATUS_OK;
}

/* Changes the row and keeps it, or leaves it as it was. */
static enum bank_answer row_change(struct bank *bank, struct bank_row *row, const struct bank_row *to)
{
    invariant(row != NULL && to != NULL);
    const struct bank_row before = *row;
    *row = *to;
    if (row_keep(bank, row))
        return BANK_DONE;
    *row = before;
    return BANK_BROKEN;
}

static enum status rows_load(struct bank *bank)
{
    uint64_t bytes = 0;
    size_t got;
    struct bank_row kept, row;
    enum status status = bank->disk->ops->size(bank->disk, bank->file, &bytes);
    for (uint32_t at = 0; at < BANK_PAYMENTS_MAX && status == STATUS_OK; at++) {
        const uint64_t offset = (uint64_t)at * BANK_ROW_BYTES;
        if (offset >= bytes)
            break;
        status = bank->disk->ops->read(bank->disk, bank->file, offset, &kept, sizeof kept, &got);
        if (status != STATUS_OK || !row_take(&kept, got, &row))
            continue;
        bank->rows[at] = row;
        bank->count = at + 1;
        *slot_of(bank, row.reference) = bank->count;
    }
    return status;
}

enum status bank_open(struct bank **out, const char *folder)
{
    struct bank *bank = arena_object(
        sizeof *bank, BANK_PAYMENTS_MAX * sizeof *bank->rows + INDEX_SLOTS * sizeof *bank->index);
    *out = NULL;
    if (bank == NULL)
        return STATUS_FULL;
    bank->file = -1;
    bank->rows = arena_take(&bank->arena, BANK_PAYMENTS_MAX, sizeof *bank->rows);
    bank->index = arena_take(&bank->arena, INDEX_SLOTS, sizeof *bank->index);
    random_secret(&bank->key, sizeof bank->key);
    random_start(&bank->random);
    enum status status = disk_folder_open(folder, &bank->disk);
    if (status == STATUS_OK)
        status = bank->disk->ops->open(bank->disk, file_name, DISK_WRITE, &bank->file);
    if (status == STATUS_NOT_FOUND) {
        status = bank->disk->ops->open(bank->disk, file_name, DISK_CREATE, &bank->file);
        if (status == STATUS_OK)
            status = bank->disk->ops->sync_folder(bank->disk);
    }
    if (status == STATUS_OK)
        status = rows_load(bank);
    if (status == STATUS_OK)
        *out = bank;
    else
        bank_close(bank);
    return status;
}

void bank_close(struct bank *bank)
{
    if (bank == NULL)
        return;
    if (bank->disk != NULL && bank->file >= 0)
        bank->disk->ops->close(bank->disk, bank->file);
    if (bank->disk != NULL)
        disk_folder_close(bank->disk);
    arena_object_free(bank);
}

struct bank_switches *bank_switches(struct bank *bank)
{
    return &bank->switches;
}

static bool dice(struct bank *bank, uint32_t percent)
{
    return percent > 0 && random_below(&bank->random, 100) < percent;
}

bool bank_is_unreached(struct bank *bank)
{
    return dice(bank, bank->switches.unreached);
}

bool bank_is_unanswered(struct bank *bank)
{
    return dice(bank, bank->switches.unanswered);
}

static const char *state_name(const struct bank_row *row)
{
    return row->state == BANK_OPEN ? "open" : row->state == BANK_CLOSED ? "closed" : "captured";
}

static void row_show(const struct bank *bank, const struct bank_row *row, struct sandbox_message *out)
{
    *out = (struct sandbox_message){ .amount = row->state == BANK_CAPTURED ? row->captured : row->amount,
        .expires_ms = row->expires_ms };
    snprintf(out->state, sizeof out->state, "%s", state_name(row));
    snprintf(out->id, sizeof out->id, "sb_%08x%016llx", (uint32_t)(row - bank->rows),
        (unsigned long long)row->secret);
    snprintf(out->reference, sizeof out->reference, "%s", row->reference);
    snprintf(out->currency, sizeof out->currency, "%s", row->currency);
    snprintf(out->title, sizeof out->title, "%s", row->title);
    snprintf(out->notify_url, sizeof out->notify_url, "%s", row->notify_url);
    snprintf(out->return_url, sizeof out->return_url, "%s", row->return_url);
    snprintf(out->payer, sizeof out->payer, "%s", row->payer);
}

enum bank_answer bank_create(
    struct bank *bank, const struct sandbox_message *asked, struct sandbox_message *out)
{
    struct bank_row *row = row_find(bank, asked->reference);
    if (row != NULL) {
        const bool same = row->amount == asked->amount && strcmp(row->currency, asked->currency) == 0;
        row_show(bank, row, out);
        return same ? BANK_DONE : BANK_REFUSED;
    }
    if (asked->reference[0] == 0 || asked->currency[0] == 0)
        return BANK_REFUSED;
    if (bank->count == BANK_PAYMENTS_MAX)
        return BANK_FULL;
    row = &bank->rows[bank->count];
    struct bank_row fresh = { .state = BANK_OPEN, .amount = asked->amount, .expires_ms = asked->expires_ms };
    random_secret(&fresh.secret, sizeof fresh.secret);
    memcpy(fresh.currency, asked->currency, sizeof fresh.currency);
    memcpy(fresh.reference, asked->reference, sizeof fresh.reference);
    memcpy(fresh.title, asked->title, sizeof fresh.title);
    memcpy(fresh.notify_url, asked->notify_url, sizeof fresh.notify_url);
    memcpy(fresh.return_url, asked->return_url, sizeof fresh.return_url);
    const enum bank_answer answer = row_change(bank, row, &fresh);
    if (answer != BANK_DONE)
        return answer;
    bank->count++;
    *slot_of(bank, fresh.reference) = bank->count;
    row_show(bank, row, out);
    return BANK_DONE;
}

static enum bank_answer row_answer(
    struct bank *bank, const struct bank_row *row, struct sandbox_message *out)
{
    if (row == NULL)
        return BANK_UNKNOWN;
    row_show(bank, row, out);
    return BANK_DONE;
}

enum bank_answer bank_show(struct bank *bank, const char *reference, struct sandbox_message *out)
{
    return row_answer(bank, row_find(bank, reference), out);
}

/* ---- callbacks ---- */

static void note_add(struct bank *bank, const struct bank_row *row, bool wrong, uint64_t due_ms)
{
    if (bank->note_count == BANK_CALLBACKS_MAX)
        return; /* lost, as callbacks are; the query finds out */
    bank->notes[bank->note_count++] = (struct bank_note){
        .due_ms = due_ms, .row = (uint32_t)(row - bank->rows), .wrong = wrong, .state = (uint8_t)row->state
    };
}

static void notes_plan(struct bank *bank, const struct bank_row *row, enum bank_how how, uint64_t now_ms)
{
    const struct bank_switches *switches = &bank->switches;
    if (how == BANK_PAY_LOST || dice(bank, switches->lost))
        return;
    const uint32_t times = how == BANK_PAY_TWICE || dice(bank, switches->doubled) ? 2 : 1;
    const bool wrong = how == BANK_PAY_WRONG || dice(bank, switches->wrong_amount);
    for (uint32_t i = 0; i < times; i++) {
        uint64_t due_ms = now_ms + (how == BANK_PAY_LATE ? LATE_MS : 0);
        if (switches->delay_ms > 0)
            due_ms += random_below(&bank->random, switches->delay_ms);
        if (dice(bank, switches->reordered))
            due_ms += REORDER_MS;
        note_add(bank, row, wrong, due_ms);
    }
}

bool bank_callback(struct bank *bank, uint64_t now_ms, struct sandbox_message *out)
{
    for (uint32_t i = 0; i < bank->note_count; i++) {
        const struct bank_note note = bank->notes[i];
        if (note.due_ms > now_ms)
            continue;
        bank->notes[i] = bank->notes[--bank->note_count];
        struct bank_row row = bank->rows[note.row];
        row.state = note.state; /* as it was then: news may be old */
        row_show(bank, &bank->rows[note.row], out);
        snprintf(out->state, sizeof out->state, "%s", state_name(&row));
        if (note.wrong)
            out->amount++;
        out->title[0] = 0;
        return true;
    }
    return false;
}

/* ---- what changes a payment ---- */

/* Its last change: the shop is told. */
static enum bank_answer row_settle(struct bank *bank, struct bank_row *row,
    const struct bank_row *settled, enum bank_how how, uint64_t now_ms)
{
    const enum bank_answer answer = row_change(bank, row, settled);
    if (answer == BANK_DONE)
        notes_plan(bank, row, how, now_ms);
    return answer;
}

enum bank_answer bank_close_payment(
    struct bank *bank, const char *reference, uint64_t now_ms, struct sandbox_message *out)
{
    struct bank_row *row = row_find(bank, reference);
    if (row == NULL)
        return BANK_UNKNOWN;
    if (row->state == BANK_OPEN) {
        struct bank_row closed = *row;
        closed.state = BANK_CLOSED;
        const enum bank_answer answer = row_settle(bank, row, &closed, BANK_PAY, now_ms);
        if (answer != BANK_DONE)
            return answer;
    }
    row_show(bank, row, out); /* captured: it says so, and is not closed */
    return BANK_DONE;
}

/* By the key and not by the amount, which may be 0. */
static bool is_refunded(const struct bank_row *row)
{
    return row->refund_key[0] != 0;
}

static bool key_is_used(const struct bank_row *row, const char *key)
{
    return strcmp(row->refund_key, key) == 0
        || bank_part_find(&row->parts, bank_part_name(key)) < REFUND_PARTS_MAX;
}

static void refund_state(const struct bank_row *row, const char *key, struct sandbox_message *out)
{
    const bool there = key[0] == 0 ? is_refunded(row) : key_is_used(row, key);
    snprintf(out->state, sizeof out->state, "%s", there ? "refunded" : state_name(row));
    snprintf(out->key, sizeof out->key, "%s", there && key[0] != 0 ? key : row->refund_key);
}

/* All that is left goes back under a key of its own, less of it as a part. */
static bool refund_add(struct bank_row *row, const char *key, uint64_t amount)
{
    const uint64_t left = row->captured - bank_parts_sum(&row->parts);
    const uint32_t at = bank_part_find(&row->parts, 0);
    if (row->state != BANK_CAPTURED || is_refunded(row) || amount > left)
        return false;
    if (amount == left) {
        row->refunded = amount;
        snprintf(row->refund_key, sizeof row->refund_key, "%s", key);
        return true;
    }
    if (amount == 0 || at == REFUND_PARTS_MAX)
        return false;
    row->parts.names[at] = bank_part_name(key);
    row->parts.amounts[at] = amount;
    return true;
}

enum bank_answer bank_refund(struct bank *bank, const char *reference, const char *key,
    uint64_t amount, struct sandbox_message *out)
{
    struct bank_row *row = row_find(bank, reference);
    if (row == NULL)
        return BANK_UNKNOWN;
    if (key[0] == 0)
        return BANK_REFUSED;
    if (!key_is_used(row, key)) {
        struct bank_row given = *row;
        if (!refund_add(&given, key, amount))
            return BANK_REFUSED;
        const enum bank_answer answer = row_change(bank, row, &given);
        if (answer != BANK_DONE)
            return answer;
    }
    row_show(bank, row, out);
    refund_state(row, key, out);
    return BANK_DONE;
}

enum bank_answer bank_refund_show(
    struct bank *bank, const char *reference, const char *key, struct sandbox_message *out)
{
    const struct bank_row *row = row_find(bank, reference);
    const enum bank_answer answer = row_answer(bank, row, out);
    if (answer == BANK_DONE)
        refund_state(row, key, out);
    return answer;
}

static struct bank_row *row_by_id(struct bank *bank, struct span id)
{
    uint64_t number = 0, secret;
    if (id.size != 3 + 8 + 16 || memcmp(id.data, "sb_", 3) != 0
        || span_to_hex64(span_of(id.data + 11, 16), &secret) != STATUS_OK)
        return NULL;
    char digits[16] = "00000000";
    memcpy(digits + 8, id.data + 3, 8);
    if (span_to_hex64(span_of(digits, sizeof digits), &number) != STATUS_OK || number >= bank->count)
        return NULL;
    struct bank_row *row = &bank->rows[number];
    const bool good = span_equal_constant_time(
        span_of(&secret, sizeof secret), span_of(&row->secret, sizeof row->secret));
    return good && row->state != BANK_NONE ? row : NULL;
}

enum bank_answer bank_show_id(struct bank *bank, struct span id, struct sandbox_message *out)
{
    return row_answer(bank, row_by_id(bank, id), out);
}

enum bank_answer bank_pay(struct bank *bank, struct span id, enum bank_how how, const char *payer,
    uint64_t now_ms, struct sandbox_message *out)
{
    struct bank_row *row = row_by_id(bank, id);
    if (row == NULL)
        return BANK_UNKNOWN;
    row_show(bank, row, out);
    if (row->state != BANK_OPEN)
        return BANK_REFUSED;
    struct bank_row next = *row;
    next.state = how == BANK_DECLINE ? BANK_CLOSED : BANK_CAPTURED;
    snprintf(next.payer, sizeof next.payer, "%s", payer);
    const bool too_little = next.amount > 1 && dice(bank, bank->switches.short_paid);
    next.captured = how == BANK_DECLINE ? 0 : next.amount - (too_little ? 1 : 0);
    const enum bank_answer answer = row_settle(bank, row, &next, how, now_ms);
    row_show(bank, row, out);
    return answer;
}

void bank_totals(const struct bank *bank, uint64_t *captured, uint64_t *refunded)
{
    *captured = *refunded = 0;
    for (uint32_t i = 0; i < bank->count; i++) {
        *captured += bank->rows[i].captured;
        *refunded += bank->rows[i].refunded + bank_parts_sum(&bank->rows[i].parts);
    }
}

/* ---- the books as a statement ---- */

static enum status book_row(struct statement_reader *reader, const struct bank_row *row)
{
    struct statement_row out = { .kind = STATEMENT_CAPTURED, .amount = row->captured };
    memcpy(out.currency, row->currency, sizeof out.currency);
    out.currency[3] = 0;
    statement_reference(&out, span_from_string(row->reference));
    if (row->state != BANK_CAPTURED)
        return STATUS_OK;
    enum status status = statement_give(reader, &out);
    out.kind = STATEMENT_REFUNDED;
    for (uint32_t i = 0; i < REFUND_PARTS_MAX && status == STATUS_OK; i++) {
        out.amount = row->parts.amounts[i];
        if (row->parts.names[i] != 0)
            status = statement_give(reader, &out);
    }
    out.amount = row->refunded;
    if (status == STATUS_OK && is_refunded(row))
        status = statement_give(reader, &out);
    return status;
}

enum status sandbox_statement_read(struct statement_reader *reader)
{
    enum status status = STATUS_OK;
    struct bank_row row;
    bool known = false; /* one row at least is whole */
    while (reader->text.size >= ROW_BYTES_MIN && status == STATUS_OK) {
        const bool whole = row_take(reader->text.data, reader->text.size, &row);
        known = known || whole;
        if (whole)
            status = book_row(reader, &row);
        const size_t used = reader->text.size < BANK_ROW_BYTES ? reader->text.size : BANK_ROW_BYTES;
        reader->text = span_of(reader->text.data + used, reader->text.size - used);
    }
    if (status == STATUS_OK && !known)
        return statement_fail(reader, "not the sandbox's books: sandbox/payments in the data folder");
    return status;
}
