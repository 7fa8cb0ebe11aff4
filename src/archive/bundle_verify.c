/* SPDX-License-Identifier: Apache-2.0 */
/* archive/bundle_verify.c: `stampede verify BUNDLE`: anywhere, without a server and its secret.
 *
 * The records of the sale are replayed with the engine that sold the units; each must have exactly its
 * logged outcome. Numbers of tickets are shared with other sales, so before a win the engine is told where
 * its number stands; they must only grow. Batches that follow each other are checked as the chain that they
 * are;
 * where others are left out, the chain begins anew. Every order must then be that of a ticket, in a state
 * that fits. */
#include "archive/bundle.h"
#include "archive/bundle_logs.h"
#include "base/bytes.h"
#include "base/text.h"
#include "contract/order_state.h"
#include "contract/payment.h"
#include "contract/record.h"
#include "inventory/replay.h"
#include "journal/batch.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    LINE_BYTES = 2 * JOURNAL_BATCH_LIMIT + 64,
    TICKETS_MORE = 1 << 16, /* than orders: those of dead letters */
    TICKETS_FEW = 1 << 24,
    PLACES_FEW = 1 << 22,
    NUMBERS_MAX = 12,
};

struct reading {
    gzFile file;
    struct hash_stream *hash;
    char *line;
    uint8_t *batch;
    uint64_t lines;
    sale_id sale;
    uint64_t data_id;
    struct order *orders; /* highest ticket first, as they stand in the file */
    uint64_t order_count, order_room;
    uint64_t captured, refunded, paid;
    uint32_t *sale_of_item;
    uint64_t places_max;
    struct engine engine; /* one machine */
    struct replay replay;
    struct bundle_logs logs; /* many machines */
    struct journal_position end;
    bool ended;
    struct bundle_made *made;
    char what[BUNDLE_ERROR]; /* the first check that does not hold */
};

__attribute__((format(printf, 2, 3))) static enum status wrong(
    struct reading *reading, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (reading->what[0] == 0)
        vsnprintf(reading->what, sizeof reading->what, format, arguments);
    va_end(arguments);
    return STATUS_REFUSED;
}

/* ---- lines ---- */

static uint32_t words_split(char *line, char *words[], uint32_t max)
{
    uint32_t count = 0;
    while (*line != 0 && count < max) {
        char *end = strchr(line, ' ');
        words[count++] = line;
        if (end == NULL)
            break;
        *end = 0;
        line = end + 1;
    }
    return count;
}

static uint64_t number_of(const char *word, bool *good)
{
    uint64_t number = 0;
    if (span_to_u64(span_from_string(word), &number) != STATUS_OK)
        *good = false;
    return number;
}

/* One that is not larger: it must not become another one when it is kept in fewer bytes. */
static uint64_t number_up_to(const char *word, uint64_t most, bool *good)
{
    const uint64_t number = number_of(word, good);
    if (number > most)
        *good = false;
    return number;
}

static enum status order_take(struct reading *reading, char **words, uint32_t count)
{
    bool good = count == 12;
    struct order order = { 0 };
    if (!good || span_to_hex64(span_from_string(words[2]), &order.user) != STATUS_OK)
        return wrong(reading, "line %" PRIu64 " is no order", reading->lines);
    order.ticket = number_of(words[0], &good);
    order.item = (item_id)number_up_to(words[1], ITEMS_LIMIT - 1, &good);
    order.quantity = (uint32_t)number_up_to(words[3], UINT32_MAX, &good);
    order.channel = (channel_index)number_up_to(words[4], UINT8_MAX, &good);
    order.state = (uint8_t)number_up_to(words[5], ORDER_STATES - 1, &good);
    order.reason = (uint8_t)number_up_to(words[6], UINT8_MAX, &good);
    order.unit_price = number_of(words[7], &good);
    order.amount = number_of(words[8], &good);
    order.version = number_of(words[11], &good);
    if (!good || reading->order_count == TICKETS_MAX_MOST)
        return wrong(reading, "line %" PRIu64 " is no order", reading->lines);
    if (reading->order_count > 0 && order.ticket >= reading->orders[reading->order_count - 1].ticket)
        return wrong(reading, "orders are not in their order at ticket %" PRIu64, order.ticket);
    if (reading->order_count == reading->order_room) {
        reading->order_room = reading->order_room * 2 + 1024;
        reading->orders = realloc(reading->orders, reading->order_room * sizeof *reading->orders);
        invariant(reading->orders != NULL);
    }
    reading->orders[reading->order_count++] = order;
    reading->made->orders++;
    reading->made->versions += order.version;
    return STATUS_OK;
}

static int tickets_fall(const void *left, const void *right)
{
    const ticket_number a = ((const struct order *)left)->ticket,
                        b = ((const struct order *)right)->ticket;
    return (a < b) - (a > b);
}

static const struct order *order_find(const struct reading *reading, ticket_number ticket)
{
    const struct order wanted = { .ticket = ticket };
    return reading->order_count == 0
        ? NULL
        : bsearch(&wanted, reading->orders, reading->order_count, sizeof wanted, tickets_fall);
}

/* A payment follows its order. */
static enum status payment_take(struct reading *reading, char **words, uint32_t count)
{
    bool good = count >= 10; /* a reference may have blanks */
    const ticket_number paid = good ? number_of(words[2], &good) : 0;
    const uint64_t captured = good ? number_of(words[4], &good) : 0;
    const uint64_t use = good ? number_of(words[6], &good) : 0;
    if (!good)
        return wrong(reading, "line %" PRIu64 " is no payment", reading->lines);
    reading->captured += captured;
    const struct order *order = order_find(reading, paid);
    if ((use == USE_ORDER || use == USE_RELINKED) && order != NULL && order->state == ORDER_PAID)
        reading->paid += order->amount;
    return STATUS_OK;
}

static enum status refund_take(struct reading *reading, char **words, uint32_t count)
{
    bool good = count == 6;
    const uint64_t amount = good ? number_of(words[3], &good) : 0;
    const uint64_t state = good ? number_of(words[4], &good) : 0;
    if (!good)
        return wrong(reading, "line %" PRIu64 " is no refund", reading->lines);
    reading->refunded += state == REFUND_DONE ? amount : 0;
    return STATUS_OK;
}

/* The order stays paid, by so much less. */
static enum status part_take(struct reading *reading, char **words, uint32_t count)
{
    const uint64_t before = reading->refunded;
    const enum status status = refund_take(reading, words, count);
    bool good = true;
    const struct order *order =
        status == STATUS_OK ? order_find(reading, number_of(words[2], &good)) : NULL;
    if (order != NULL && order->state == ORDER_PAID)
        reading->paid -= reading->refunded - before;
    return status;
}

/* ---- the log ---- */

static enum status record_replay(
    struct reading *reading, const struct journal_record *record, uint64_t time_ms)
{
    struct command command;
    struct outcome outcome;
    if (record_decode(record->type, record->payload, &command, &outcome) != STATUS_OK)
        return wrong(reading, "position %" PRIu64 ": a record that can't be read", record->lsn);
    if (command.type == COMMAND_PREHEAT && command.preheat.item < ITEMS_LIMIT)
        reading->sale_of_item[command.preheat.item] = command.preheat.sale;
    if (archive_record_sale(&command, &outcome, reading->sale_of_item) != reading->sale)
        return STATUS_OK;
    reading->made->records++;
    if (outcome_wins(&command, &outcome) > 0) {
        struct tickets *tickets = &reading->engine.tickets;
        if (outcome.ticket <= tickets->last)
            return wrong(reading, "position %" PRIu64 ": ticket %" PRIu64 " was there before",
                record->lsn, outcome.ticket);
        tickets->last = outcome.ticket - 1;
    }
    if (replay_record(&reading->replay, record, time_ms) != STATUS_OK)
        return wrong(reading, "position %" PRIu64 ": %s", record->lsn, reading->replay.what);
    return STATUS_OK;
}

static enum status batch_check(
    struct reading *reading, const char *hex, struct batch *batch, char *what, size_t what_bytes)
{
    const size_t bytes = strlen(hex) / 2;
    uint32_t told = 0;
    if (span_to_bytes(span_from_string(hex), reading->batch, bytes) != STATUS_OK)
        return STATUS_CORRUPT;
    if (bytes < BATCH_RECORDS_AT || batch_head_wrong(reading->batch, JOURNAL_BATCH_LIMIT, &told) != NULL
        || told != bytes || !batch_is_whole(reading->batch, told)) {
        snprintf(what, what_bytes, "a batch is not whole");
        return STATUS_CORRUPT;
    }
    /* Others may lie before it that have nothing of the sale. */
    struct journal_position end = reading->end;
    const uint64_t first = bytes_get_u64(reading->batch + 16); /* docs/journal.md */
    const bool follows = first == end.lsn + 1 && end.lsn != 0;
    if (first <= end.lsn) {
        snprintf(what, what_bytes, "batches are not in their order");
        return STATUS_CORRUPT;
    }
    end.lsn = first - 1;
    const enum status status =
        batch_follow(reading->batch, told, reading->data_id, follows, &end, batch, what, what_bytes);
    reading->end = end;
    return status;
}

static enum status batch_line(struct reading *reading, char **words, uint32_t count)
{
    struct batch batch;
    char what[160] = "it can't be read";
    if (count != 1 || strlen(words[0]) > 2 * (size_t)JOURNAL_BATCH_LIMIT
        || batch_check(reading, words[0], &batch, what, sizeof what) != STATUS_OK)
        return wrong(reading, "line %" PRIu64 ": %s", reading->lines, what);
    uint32_t cursor = BATCH_RECORDS_AT;
    for (uint32_t i = 0; i < batch.records; i++) {
        struct journal_record record;
        batch_take(&batch, &cursor, &record);
        record.lsn = batch.first_lsn + i;
        const enum status status = record_replay(reading, &record, batch.time_ms);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static enum status log_line(struct reading *reading, char **words, uint32_t count)
{
    bool good = count == 2;
    const uint64_t part = good ? number_of(words[0], &good) : 0;
    const uint64_t last = good ? number_of(words[1], &good) : 0;
    const struct engine_config config = { .items_max = ITEMS_LIMIT,
        .sales_max = SALES_LIMIT,
        .tickets_max = reading->order_count + TICKETS_MORE,
        .places_max = reading->places_max };
    enum status status = good ? STATUS_OK : STATUS_CORRUPT;
    if (good)
        status = bundle_logs_part(&reading->logs, reading->sale, reading->data_id, &config, part, last);
    if (status != STATUS_OK)
        return wrong(reading, "line %" PRIu64 " is no log of the sale", reading->lines);
    reading->made->records += last;
    reading->made->positions += last;
    return STATUS_OK;
}

static enum status entry_line(struct reading *reading, char **words, uint32_t count)
{
    char what[160] = "it is no entry of a log";
    bool good = count == 3;
    const size_t size = good ? strlen(words[2]) / 2 : 0;
    const uint64_t epoch = good ? number_of(words[0], &good) : 0;
    const uint64_t first = good ? number_of(words[1], &good) : 0;
    good = good && size <= JOURNAL_BATCH_LIMIT
        && span_to_bytes(span_from_string(words[2]), reading->batch, size) == STATUS_OK;
    if (!good
        || bundle_logs_entry(&reading->logs, epoch, first, reading->batch, size, what, sizeof what)
            != STATUS_OK)
        return wrong(reading, "line %" PRIu64 ": %s", reading->lines, what);
    return STATUS_OK;
}

/* ---- the whole ---- */

static enum status sale_take(struct reading *reading, char **words, uint32_t count)
{
    bool good = count == 5 && reading->sale == 0;
    reading->sale = good ? (sale_id)number_up_to(words[0], SALES_LIMIT - 1, &good) : 0;
    if (!good || reading->sale == 0
        || span_to_hex64(span_from_string(words[1]), &reading->data_id) != STATUS_OK)
        return wrong(reading, "line %" PRIu64 " is no sale", reading->lines);
    return STATUS_OK;
}

static enum status item_take(struct reading *reading, char **words, uint32_t count)
{
    bool good = count == 6;
    const uint64_t item = good ? number_of(words[0], &good) : ITEMS_LIMIT;
    if (!good || item >= ITEMS_LIMIT)
        return wrong(reading, "line %" PRIu64 " is no item", reading->lines);
    reading->sale_of_item[item] = reading->sale;
    return STATUS_OK;
}

static enum status end_take(struct reading *reading, char **words, uint32_t count)
{
    uint8_t digest[HASH_SHA256_BYTES];
    char hex[2 * HASH_SHA256_BYTES + 1];
    struct text text = text_in(hex, sizeof hex);
    bool good = count == 2;
    hash_stream_end(reading->hash, digest);
    reading->hash = NULL;
    reading->ended = true;
    text_hex(&text, span_of(digest, sizeof digest));
    hex[text.size] = 0;
    if (!good || number_of(words[0], &good) != reading->lines || !good || strcmp(words[1], hex) != 0)
        return wrong(reading, "the bundle is not as it was written: its hash differs");
    return STATUS_OK;
}

static enum status line_take(struct reading *reading, char *line)
{
    static const struct {
        const char *word;
        enum status (*take)(struct reading *, char **words, uint32_t count);
    } kinds[] = { { "sale", sale_take }, { "item", item_take }, { "order", order_take },
        { "payment", payment_take }, { "refund", refund_take }, { "part", part_take },
        { "batch", batch_line }, { "log", log_line }, { "entry", entry_line }, { "end", end_take } };
    char *words[NUMBERS_MAX + 2];
    const bool last = strncmp(line, "end ", 4) == 0;
    if (reading->ended)
        return wrong(reading, "something follows the end");
    if (!last) {
        hash_stream_add(reading->hash, line, strlen(line));
        reading->lines++;
    }
    line[strcspn(line, "\n")] = 0;
    if (reading->lines == 1)
        return strcmp(line, "stampede-bundle 1") == 0 ? STATUS_OK : wrong(reading, "it is no bundle");
    const uint32_t count = words_split(line, words, NUMBERS_MAX + 2);
    for (size_t i = 0; count > 0 && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(words[0], kinds[i].word) == 0)
            return kinds[i].take(reading, words + 1, count - 1);
    return STATUS_OK; /* sums, and what later versions add */
}

/* A sale is archived when nothing is open: no ticket is held. */
static bool state_fits(uint8_t order, uint8_t ticket)
{
    static const uint8_t fits[] = {
        [TICKET_SOLD] = 1u << ORDER_PAID,
        [TICKET_RETURNED] = 1u << ORDER_CLOSED | 1u << ORDER_REFUNDED,
        [TICKET_WRITTEN_OFF] = 1u << ORDER_REFUNDED,
    };
    return ticket < sizeof fits && (fits[ticket] & 1u << order) != 0;
}

static const struct ticket_row *ticket_find(
    const struct reading *reading, ticket_number ticket, const struct engine **engine)
{
    if (reading->logs.count > 0)
        return bundle_logs_ticket(&reading->logs, reading->sale, ticket, engine);
    *engine = &reading->engine;
    return tickets_get(&reading->engine.tickets, ticket);
}

static enum status orders_check(struct reading *reading)
{
    const uint64_t tickets = reading->logs.count > 0 ? bundle_logs_tickets(&reading->logs)
                                                     : tickets_used(&reading->engine.tickets);
    for (uint64_t i = 0; i < reading->order_count; i++) {
        const struct order *order = &reading->orders[i];
        const struct engine *engine;
        const struct ticket_row *ticket = ticket_find(reading, order->ticket, &engine);
        if (ticket == NULL)
            return wrong(
                reading, "the order of ticket %" PRIu64 " has no ticket in the log", order->ticket);
        if (ticket->user != order->user || ticket->item != order->item || ticket->quantity != order->quantity
            || ticket->channel != order->channel || order->amount != order->unit_price * order->quantity
            || order->unit_price != engine->items[order->item].unit_price)
            return wrong(reading, "the order of ticket %" PRIu64 " is another one than its ticket",
                order->ticket);
        if (!state_fits(order->state, ticket->state))
            return wrong(reading, "the order of ticket %" PRIu64 " is in state %u, its ticket is %s",
                order->ticket, order->state, ticket_state_name((enum ticket_state)ticket->state));
    }
    if (tickets < reading->order_count)
        return wrong(reading, "there are more orders than tickets");
    if (reading->captured - reading->refunded != reading->paid)
        return wrong(reading,
            "%" PRIu64 " came in, %" PRIu64 " went back, but orders for %" PRIu64 " are paid by it",
            reading->captured, reading->refunded, reading->paid);
    return STATUS_OK;
}

static enum status all_read(struct reading *reading, const struct bundle_pace *pace)
{
    enum status status = STATUS_OK;
    while (status == STATUS_OK && gzgets(reading->file, reading->line, LINE_BYTES) != NULL)
        status = pace == NULL || pace->go_on(pace->context) ? line_take(reading, reading->line)
                                                            : STATUS_BUSY;
    if (status == STATUS_OK && !reading->ended)
        return wrong(reading, "the bundle is cut short");
    if (status == STATUS_OK && reading->sale == 0)
        return wrong(reading, "the bundle has no sale");
    if (status == STATUS_OK) {
        const char *what = reading->logs.count > 0 ? bundle_logs_check(&reading->logs)
                                                   : engine_check(&reading->engine);
        if (what != NULL)
            return wrong(reading, "%s", what);
        status = orders_check(reading);
    }
    return status;
}

/* As much as settings allow: what is not used takes no memory. Where memory that is not used counts, too
 * (vm.overcommit_memory = 2), as much as most sales need. */
static enum status engine_make(struct reading *reading)
{
    struct engine_config config = { .items_max = ITEMS_LIMIT,
        .sales_max = SALES_LIMIT,
        .tickets_max = TICKETS_MAX_MOST,
        .places_max = PLACES_MAX_MOST };
    enum status status = engine_open(&reading->engine, &config);
    if (status == STATUS_FULL) {
        config.tickets_max = TICKETS_FEW;
        config.places_max = PLACES_FEW;
        status = engine_open(&reading->engine, &config);
    }
    reading->places_max = config.places_max;
    reading->replay.engine = &reading->engine;
    return status;
}

bool bundle_is(const char *path)
{
    char line[32] = "";
    gzFile file = gzopen(path, "rb");
    if (file == NULL)
        return false;
    const bool is = gzgets(file, line, sizeof line) != NULL && strcmp(line, "stampede-bundle 1\n") == 0;
    gzclose(file);
    return is;
}

enum status bundle_verify(
    const char *path, const struct bundle_pace *pace, FILE *out, struct bundle_made *made)
{
    struct reading *reading = calloc(1, sizeof *reading);
    *made = (struct bundle_made){ 0 };
    invariant(reading != NULL);
    reading->made = made;
    reading->line = malloc(LINE_BYTES);
    reading->batch = malloc(JOURNAL_BATCH_LIMIT);
    reading->sale_of_item = calloc(ITEMS_LIMIT, sizeof *reading->sale_of_item);
    invariant(reading->line != NULL && reading->batch != NULL && reading->sale_of_item != NULL);
    reading->hash = hash_stream_open();
    reading->file = gzopen(path, "rb");
    enum status status = reading->file == NULL ? STATUS_NOT_FOUND : engine_make(reading);
    if (status == STATUS_OK)
        status = all_read(reading, pace);
    if (status == STATUS_OK)
        fprintf(out, "verified: sale %u, %" PRIu64 " records, %" PRIu64 " orders, all checks hold\n",
            reading->sale, made->records, made->orders);
    else
        fprintf(out, "FAILED: %s\n", reading->what[0] != 0 ? reading->what : status_name(status));
    if (reading->hash != NULL) {
        uint8_t unused[HASH_SHA256_BYTES];
        hash_stream_end(reading->hash, unused);
    }
    if (reading->file != NULL)
        gzclose(reading->file);
    engine_close(&reading->engine);
    bundle_logs_close(&reading->logs);
    free(reading->orders);
    free(reading->sale_of_item);
    free(reading->batch);
    free(reading->line);
    free(reading);
    return status;
}
