/* SPDX-License-Identifier: Apache-2.0 */
/* verify/verify_report.c: the report, for people and as JSON. */
#include "base/text.h"
#include "base/time_text.h"
#include "verify/verify_parts.h"

#include <inttypes.h>
#include <stdlib.h>

static const struct {
    const char *name, *title;
} check_names[VERIFY_CHECKS] = {
    [CHECK_CHAIN] = { "chain", "hash chain of the journal" },
    [CHECK_OUTCOMES] = { "outcomes", "every record has the outcome that the replay gives" },
    [CHECK_CONSERVATION] = { "conservation", "units add up at every position, none oversold (I1, I2)" },
    [CHECK_WINDOW] = { "window", "wins only inside the sale's window (I11)" },
    [CHECK_NUMBERS] = { "numbers", "ticket numbers follow each other, none twice (I13)" },
    [CHECK_STATE] = { "state", "tickets, counters, limits and counts agree (I1, I2, I4)" },
    [CHECK_SNAPSHOTS] = { "snapshots", "snapshots equal the replay (I15)" },
    [CHECK_DATABASE] = { "database", "the database exists, and SQLite finds no damage" },
    [CHECK_DATA_ID] = { "data_id", "journal and database belong together" },
    [CHECK_POSITION] = { "position", "the database is not ahead of the log" },
    [CHECK_ORDERS] = { "orders", "each ticket has its order, each order its ticket (I5)" },
    [CHECK_ORDER_STATES] = { "order_states", "orders and tickets are in the same state (I9)" },
    [CHECK_STOCK] = { "stock", "sold in the database = held and sold in the log (I16)" },
    [CHECK_MONEY] = { "money", "all money paid an order, waits, or is refunded (I9)" },
    [CHECK_AUDIT] = { "audit", "audit chain (I19)" },
};

static const char *const step_names[] = { "sold", "returned", "written off" };
static_assert(sizeof step_names / sizeof *step_names == SETTLE_STEPS, "a name for each");

const char *verify_check_title(enum verify_check_id check)
{
    return check_names[check].title;
}

static void counts_table(const struct verify_counts *counts, uint32_t count, FILE *out)
{
    fprintf(out, "  %6s %10s %10s %10s %10s %10s %11s %10s\n", "item", "given", "free", "held",
        "sold", "safety", "written off", "tickets");
    for (uint32_t i = 0; i < count; i++) {
        const struct item_counts *units = &counts[i].counts;
        fprintf(out, "  %6u %10u %10u %10u %10u %10u %11u %10" PRIu64 "\n", counts[i].item,
            units->given, units->free, units->held, units->sold, units->safety, units->written_off,
            counts[i].tickets);
    }
    if (count == 0)
        fprintf(out, "  (no item)\n");
}

static uint64_t written_up_to(const struct verify *verify)
{
    uint64_t records = 0;
    for (uint32_t i = 0; i < verify->log_count; i++)
        records += verify->logs[i].state.seq;
    return records;
}

static void folder_tell(const struct verify *verify, FILE *out)
{
    const struct journal_recovery *read = &verify->recovery;
    fprintf(out, "data folder %s\n", verify->options->folder);
    if (verify->running)
        fprintf(out, "a server is running on it: read up to position %" PRIu64 ", durable by then\n",
            read->end.lsn);
    if (verify->from_snapshot)
        fprintf(out, "older segments are gone: replayed from the snapshot at position %" PRIu64 "\n",
            verify->start);
    fprintf(out,
        "journal: %" PRIu64 " records in %" PRIu64 " batches, %" PRIu64 " segments, %" PRIu64
        " bytes of batches, end at position %" PRIu64 "\n",
        read->records, read->batches, verify->segments, read->bytes, read->end.lsn);
}

static void partitions_tell(const struct verify *verify, FILE *out)
{
    const struct journal_recovery *read = &verify->recovery;
    fprintf(out, "the database of %s: %u partitions\n", verify->options->settings, verify->log_count);
    if (verify->running)
        fprintf(out, "servers are writing: each log was read up to where it was at the beginning\n");
    fprintf(out, "journal: %" PRIu64 " records in %" PRIu64 " batches, %" PRIu64 " bytes of batches\n",
        read->records, read->batches, read->bytes);
    fprintf(out, "  %9s %6s %10s %10s\n", "partition", "epoch", "records", "tickets");
    for (uint32_t i = 0; i < verify->log_count; i++) {
        const struct verify_log *log = &verify->logs[i];
        fprintf(out, "  %9u %6u %10" PRIu64 " %10" PRIu64 "%s\n", log->state.part, log->state.epoch,
            log->end, log->tickets, log->broken ? "  not read to its end" : "");
    }
}

static void head_tell(const struct verify *verify, FILE *out)
{
    char first[TIME_TEXT_BYTES], last[TIME_TEXT_BYTES];
    const struct journal_recovery *read = &verify->recovery;
    time_text_format(verify->first_ms, first);
    time_text_format(verify->last_ms, last);
    if (verify->source.partitions)
        partitions_tell(verify, out);
    else
        folder_tell(verify, out);
    if (verify->first_ms != 0)
        fprintf(out, "time: %s to %s\n", first, last);
    if (read->torn_bytes > 0)
        fprintf(out,
            "the last batch is torn (%" PRIu64
            " bytes): nobody was told of it, the next start cuts it\n",
            read->torn_bytes);
    if (verify->store != NULL)
        fprintf(out, "database: written up to %s %" PRIu64 ", %" PRIu64 " orders, %u dead letters\n",
            verify->source.partitions ? "record" : "position", written_up_to(verify),
            verify->orders, verify->dead_count);
    else
        fprintf(out, "database: %s\n", verify->store_what);
}

static void checks_tell(const struct verify *verify, FILE *out)
{
    fprintf(out, "\nchecks\n");
    for (uint32_t id = 0; id < VERIFY_CHECKS; id++) {
        const struct verify_check *check = &verify->checks[id];
        if (!check->ran)
            fprintf(out, "  -       %s: not checked, %s\n", check_names[id].title, check->what);
        else if (check->failures == 0)
            fprintf(out, "  ok      %s\n", check_names[id].title);
        else
            fprintf(out, "  FAILED  %s: %s%s\n", check_names[id].title, check->what,
                check->failures > 1 ? " (and others)" : "");
        if (check->failures > 1)
            fprintf(out, "          %" PRIu64 " such failures\n", check->failures);
    }
}

static void limit_tell(FILE *out, const char *of, uint32_t limit)
{
    if (limit == 0)
        fprintf(out, "no limit per %s", of);
    else
        fprintf(out, "%u per %s", limit, of);
}

static void event_tell(const struct verify *verify, const struct verify_event *event, FILE *out)
{
    char time[TIME_TEXT_BYTES], pay_by[TIME_TEXT_BYTES];
    time_text_format(event->time_ms, time);
    fprintf(out, "  %s  ", time);
    if (verify->source.partitions)
        fprintf(out, "partition %u, ", event->log->state.part);
    fprintf(out, "position %" PRIu64 "  ", event->lsn);
    if (event->type == COMMAND_USERS) {
        fprintf(out, "put on the list of sale %u\n", event->sale);
        return;
    }
    const ticket_number number = verify_log_number(event->log, event->ticket);
    const uint64_t ticket_id = funnel_ticket_id(&verify->keys, number);
    const uint64_t order_id = funnel_order_id(&verify->keys, number);
    if (!event->won) {
        fprintf(out, "%u of item %u %s\n      ticket %016" PRIx64 ", order %016" PRIx64 "\n",
            event->quantity, event->item, step_names[event->step], ticket_id, order_id);
        if (event->free_after != event->free_before)
            fprintf(out, "      free before %u, after %u\n", event->free_before, event->free_after);
        return;
    }
    time_text_format(event->pay_by_ms, pay_by);
    fprintf(out, "won %u of item %u on channel %u%s\n", event->quantity, event->item,
        event->channel, event->type == COMMAND_SETTLE ? ", as the next in the waiting list" : "");
    fprintf(out, "      ticket %016" PRIx64 ", order %016" PRIx64 ", unit price %" PRIu64 ", pay by %s\n",
        ticket_id, order_id, event->unit_price, pay_by);
    fprintf(out, "      free in the channel before %u, after %u\n", event->free_before, event->free_after);
    fprintf(out,
        "      %" PRIu64
        " wins of the item before it; ahead in the same second %u, in the same batch %u\n",
        event->wins_before, event->second_ahead, event->batch_ahead);
    fprintf(out, "      limit: ");
    limit_tell(out, "user and item", event->item_limit);
    fprintf(out, " (this user has %u now), ", event->used_after);
    limit_tell(out, "user and sale", event->sale_limit);
    fprintf(out, "\n");
}

static bool event_shown(const struct verify *verify, const struct verify_event *event)
{
    return verify->options->item == 0 || event->item == 0 || event->item == verify->options->item;
}

static bool user_won(const struct verify *verify)
{
    for (uint32_t i = 0; i < verify->event_count; i++)
        if (verify->events[i].won && event_shown(verify, &verify->events[i]))
            return true;
    return false;
}

static void user_tell(const struct verify *verify, FILE *out)
{
    fprintf(out, "\nuser %016" PRIx64 "\n", verify->user);
    for (uint32_t i = 0; i < verify->event_count; i++)
        if (event_shown(verify, &verify->events[i]))
            event_tell(verify, &verify->events[i], out);
    if (verify->event_total > verify->event_count)
        fprintf(out, "  … and %" PRIu64 " more\n", verify->event_total - verify->event_count);
    if (user_won(verify))
        return;
    fprintf(out, "  nothing in the log: this user never won; refusals are not logged\n");
    for (item_id id = 1; id < verify->config.items_max; id++) {
        const struct verify_item *item = &verify->items[id];
        char time[TIME_TEXT_BYTES];
        if (item->gone_lsn == 0 || (verify->options->item != 0 && verify->options->item != id))
            continue;
        time_text_format(item->gone_ms, time);
        fprintf(out,
            "  item %u: the last free unit went at %s, position %" PRIu64 ", with win %" PRIu64 "\n",
            id, time, item->gone_lsn, item->gone_tickets);
    }
}

static bool moment_taken(const struct verify *verify)
{
    bool taken = verify->log_count > 0;
    for (uint32_t i = 0; i < verify->log_count; i++)
        taken = taken && verify->logs[i].at_taken;
    return taken;
}

/* Of all logs together. */
static lsn_t moment_position(const struct verify *verify)
{
    lsn_t records = 0;
    for (uint32_t i = 0; i < verify->log_count; i++)
        records += verify->logs[i].at_lsn;
    return records;
}

void verify_report_text(const struct verify *verify, const struct verify_verdict *verdict, FILE *out)
{
    head_tell(verify, out);
    struct verify_counts *counts = calloc(ITEMS_LIMIT, sizeof *counts);
    if (counts != NULL) {
        fprintf(out, "\nitems\n");
        counts_table(counts, verify_counts_take(verify, NULL, counts), out);
    }
    free(counts);
    if (moment_taken(verify)) {
        char time[TIME_TEXT_BYTES];
        time_text_format(verify->options->at_ms, time);
        fprintf(out, "\nat %s, %s %" PRIu64 "\n", time,
            verify->source.partitions ? "record" : "position", moment_position(verify));
        counts_table(verify->at_counts, verify->at_count, out);
    }
    if (verify->user != 0)
        user_tell(verify, out);
    checks_tell(verify, out);
    fprintf(out, "\n%s\n", verdict->text);
}

static void json_string(FILE *out, const char *text)
{
    char bytes[2048];
    struct text json = text_in(bytes, sizeof bytes);
    text_json(&json, span_from_string(text));
    fprintf(out, "%.*s", (int)json.size, json.overflow ? "\"\"" : bytes);
}

static void json_counts(const char *name, const struct verify_counts *counts, uint32_t count, FILE *out)
{
    fprintf(out, "\"%s\":[", name);
    for (uint32_t i = 0; i < count; i++) {
        const struct item_counts *units = &counts[i].counts;
        fprintf(out,
            "%s{\"item\":%u,\"given\":%u,\"free\":%u,\"held\":%u,\"sold\":%u,\"safety\":%u,"
            "\"written_off\":%u,\"tickets\":%" PRIu64 "}",
            i > 0 ? "," : "", counts[i].item, units->given, units->free, units->held, units->sold,
            units->safety, units->written_off, counts[i].tickets);
    }
    fprintf(out, "]");
}

static void json_event(const struct verify *verify, const struct verify_event *event, FILE *out)
{
    const char *what = event->type == COMMAND_USERS ? "listed"
        : event->won                                ? "won"
                                                    : step_names[event->step];
    const ticket_number number = verify_log_number(event->log, event->ticket);
    fprintf(out, "{\"position\":%" PRIu64 ",\"time_ms\":%" PRIu64 ",\"what\":\"%s\",\"sale\":%u",
        event->lsn, event->time_ms, what, event->sale);
    if (verify->source.partitions)
        fprintf(out, ",\"partition\":%u", event->log->state.part);
    if (event->type != COMMAND_USERS)
        fprintf(out,
            ",\"item\":%u,\"ticket\":\"%016" PRIx64 "\",\"order\":\"%016" PRIx64
            "\",\"quantity\":%u,"
            "\"free_before\":%u,\"free_after\":%u",
            event->item, funnel_ticket_id(&verify->keys, number), funnel_order_id(&verify->keys, number),
            event->quantity, event->free_before, event->free_after);
    if (event->won)
        fprintf(out,
            ",\"channel\":%u,\"unit_price\":%" PRIu64 ",\"pay_by_ms\":%" PRIu64
            ",\"wins_before\":%" PRIu64
            ",\"ahead_in_second\":%u,\"ahead_in_batch\":%u,\"item_limit\":%u,"
            "\"sale_limit\":%u,\"has_now\":%u",
            event->channel, event->unit_price, event->pay_by_ms, event->wins_before, event->second_ahead,
            event->batch_ahead, event->item_limit, event->sale_limit, event->used_after);
    fprintf(out, "}");
}

static void json_user(const struct verify *verify, FILE *out)
{
    bool first = true;
    fprintf(out, ",\"user\":{\"id\":\"%016" PRIx64 "\",\"won\":%s,\"records\":[", verify->user,
        user_won(verify) ? "true" : "false");
    for (uint32_t i = 0; i < verify->event_count; i++) {
        if (!event_shown(verify, &verify->events[i]))
            continue;
        fprintf(out, "%s", first ? "" : ",");
        first = false;
        json_event(verify, &verify->events[i], out);
    }
    fprintf(out, "]}");
}

static void json_checks(const struct verify *verify, FILE *out)
{
    fprintf(out, ",\"checks\":[");
    for (uint32_t id = 0; id < VERIFY_CHECKS; id++) {
        const struct verify_check *check = &verify->checks[id];
        fprintf(out,
            "%s{\"name\":\"%s\",\"result\":\"%s\",\"looked_at\":%" PRIu64 ",\"failures\":%" PRIu64
            ",\"what\":",
            id > 0 ? "," : "", check_names[id].name,
            !check->ran               ? "not checked"
                : check->failures > 0 ? "failed"
                                      : "ok",
            check->looked, check->failures);
        json_string(out, check->what);
        fprintf(out, "}");
    }
    fprintf(out, "]");
}

static void json_partitions(const struct verify *verify, FILE *out)
{
    fprintf(out, ",\"partitions\":[");
    for (uint32_t i = 0; i < verify->log_count; i++) {
        const struct verify_log *log = &verify->logs[i];
        fprintf(out,
            "%s{\"partition\":%u,\"epoch\":%u,\"records\":%" PRIu64 ",\"tickets\":%" PRIu64
            ",\"whole\":%s}",
            i > 0 ? "," : "", log->state.part, log->state.epoch, log->end, log->tickets,
            log->broken ? "false" : "true");
    }
    fprintf(out, "]");
}

static void json_body(const struct verify *verify, FILE *out)
{
    const struct journal_recovery *read = &verify->recovery;
    fprintf(out,
        ",\"running\":%s,\"start\":%" PRIu64 ",\"end\":%" PRIu64 ",\"records\":%" PRIu64
        ",\"batches\":%" PRIu64 ",\"segments\":%" PRIu64 ",\"bytes\":%" PRIu64
        ",\"torn_bytes\":%" PRIu64 ",\"first_ms\":%" PRIu64 ",\"last_ms\":%" PRIu64
        ",\"tickets\":%" PRIu64,
        verify->running ? "true" : "false", verify->start, read->end.lsn, read->records,
        read->batches, verify->segments, read->bytes, read->torn_bytes, verify->first_ms,
        verify->last_ms, verify->tickets);
    if (verify->store != NULL)
        fprintf(out, ",\"database\":{\"position\":%" PRIu64 ",\"orders\":%" PRIu64 ",\"dead_letters\":%u}",
            written_up_to(verify), verify->orders, verify->dead_count);
    else
        fprintf(out, ",\"database\":null");
    if (verify->source.partitions)
        json_partitions(verify, out);
    struct verify_counts *counts = calloc(ITEMS_LIMIT, sizeof *counts);
    if (counts != NULL) {
        fprintf(out, ",");
        json_counts("items", counts, verify_counts_take(verify, NULL, counts), out);
    }
    free(counts);
    if (moment_taken(verify)) {
        fprintf(out, ",\"at\":{\"time_ms\":%" PRIu64 ",\"position\":%" PRIu64 ",",
            verify->options->at_ms, moment_position(verify));
        json_counts("items", verify->at_counts, verify->at_count, out);
        fprintf(out, "}");
    }
    if (verify->user != 0)
        json_user(verify, out);
    json_checks(verify, out);
}

void verify_report_json(const struct verify *verify, const struct verify_verdict *verdict, FILE *out)
{
    static const char *const results[] = { "verified", "failed", "damaged" };
    fprintf(out, "{\"result\":\"%s\",\"verdict\":", results[verdict->result]);
    json_string(out, verdict->text);
    if (verify != NULL) {
        json_body(verify, out);
        fprintf(out, ",\"damage\":{\"segment\":");
        json_string(out, verify->recovery.damage.segment);
        fprintf(out, ",\"byte\":%" PRIu64 "}", verify->recovery.damage.offset);
    }
    fprintf(out, "}\n");
}
