/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/server_counts.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

/* The next line that begins with `name`, and where its value is; NULL: none. */
static const char *line_find(const char *text, const char *name)
{
    const size_t size = strlen(name);
    for (const char *at = text; at != NULL && (at = strstr(at, name)) != NULL; at += size)
        if (at == text || at[-1] == '\n')
            return at;
    return NULL;
}

static uint64_t number_at(const char *at)
{
    uint64_t value = 0;
    return span_to_u64(span_of(at, strspn(at, "0123456789")), &value) == STATUS_OK ? value : 0;
}

uint64_t metrics_value(const char *text, const char *name, const char *labels)
{
    char line[160];
    if (labels[0] == 0)
        snprintf(line, sizeof line, "%s ", name);
    else
        snprintf(line, sizeof line, "%s{%s} ", name, labels);
    const char *at = line_find(text, line);
    return at != NULL ? number_at(at + strlen(line)) : 0;
}

uint64_t metrics_sum(const char *text, const char *name)
{
    char line[160];
    uint64_t sum = 0;
    snprintf(line, sizeof line, "%s{", name);
    for (const char *at = line_find(text, line); at != NULL; at = line_find(at + 1, line)) {
        const char *value = strstr(at, "} ");
        sum += value != NULL ? number_at(value + 2) : 0;
        at = strchr(at, '\n');
        if (at == NULL)
            break;
    }
    return sum;
}

struct grown {
    const char *before, *after;
};

static uint64_t grown(const struct grown *metrics, const char *name, const char *labels)
{
    return metrics_value(metrics->after, name, labels) - metrics_value(metrics->before, name, labels);
}

static uint64_t grown_answer(const struct grown *metrics, const char *name, const char *answer)
{
    char labels[64];
    snprintf(labels, sizeof labels, "answer=\"%s\"", answer);
    return grown(metrics, name, labels);
}

static uint64_t grown_sum(const struct grown *metrics, const char *name)
{
    return metrics_sum(metrics->after, name) - metrics_sum(metrics->before, name);
}

static void words_read(const struct grown *metrics, struct server_counts *counts)
{
    for (uint32_t word = WORD_OTHER + 1; word < WORDS; word++)
        counts->words[word] = grown_answer(metrics, "stampede_door_total", word_texts[word])
            + grown_answer(metrics, "stampede_purchases_total", word_texts[word])
            - grown_answer(metrics, "stampede_door_repeats_total", word_texts[word]);
    counts->words[WORD_TOO_POPULAR] += grown_answer(metrics, "stampede_door_total", "no-chance");
}

void server_counts_read(const char *before, const char *after, struct server_counts *counts)
{
    const struct grown metrics = { before, after };
    *counts = (struct server_counts){
        .requests = grown(&metrics, "stampede_edge_requests_total", ""),
        .purchases = grown_sum(&metrics, "stampede_door_total"),
        .won = grown_answer(&metrics, "stampede_purchases_total", "won"),
        .repeated = grown_answer(&metrics, "stampede_purchases_total", "repeated"),
        .orders_written = grown(&metrics, "stampede_orders_written_total", ""),
        .refused_address = grown(&metrics, "stampede_limits_refused_total", "layer=\"address\""),
        .refused_user = grown(&metrics, "stampede_limits_refused_total", "layer=\"user\"")
            - grown_answer(&metrics, "stampede_door_repeats_total", "too-fast"),
        .refused_pace = grown(&metrics, "stampede_limits_refused_total", "layer=\"item\"")
            + grown(&metrics, "stampede_limits_refused_total", "layer=\"admission\""),
        .calls = grown(&metrics, "stampede_outgoing_calls_total", "result=\"answered\"")
            + grown(&metrics, "stampede_outgoing_calls_total", "result=\"failed\""),
        .human_passed = grown_answer(&metrics, "stampede_human_total", "passed"),
        .evicted = grown_sum(&metrics, "stampede_limits_evicted_total")
            + grown_sum(&metrics, "stampede_limits_overflow_total"),
        .spent_forgotten = grown(&metrics, "stampede_spent_forgotten_total", ""),
        .connections_refused = grown(&metrics, "stampede_edge_connections_refused_total", ""),
        .go = grown_answer(&metrics, "stampede_door_total", "go"),
    };
    words_read(&metrics, counts);
}

static void compare(struct comparisons *out, const char *what, uint64_t ours, uint64_t theirs)
{
    struct comparison *row = &out->rows[out->count];
    if (out->count == COMPARISONS_MAX)
        return;
    snprintf(row->what, sizeof row->what, "%s", what);
    row->ours = ours;
    row->theirs = theirs;
    out->different += ours != theirs;
    out->count++;
}

void comparisons_make(const struct tally *tally, const struct server_counts *counts,
    const struct seen_besides *besides, struct comparisons *out)
{
    const uint64_t wins = tally->wins[WHO_PEOPLE] + tally->wins[WHO_BOTS];
    char what[COMPARISON_BYTES];
    *out = (struct comparisons){ 0 };
    compare(out, "requests", tally->sent + besides->own_requests, counts->requests - counts->calls);
    compare(out, "purchases asked", tally_step(tally, STEP_BUY), counts->purchases);
    compare(out, "won", wins, counts->won);
    compare(out, "won, told again", tally_told(tally, STEP_BUY, WORD_WON) - wins, counts->repeated);
    compare(out, "won, report of the sale", wins, counts->report.won);
    for (uint32_t word = WORD_OTHER + 1; word < WORDS; word++) {
        const uint64_t ours = tally_told(tally, STEP_BUY, (enum word)word);
        if (ours == 0 && counts->words[word] == 0)
            continue;
        snprintf(what, sizeof what, "purchases: %s", word_texts[word]);
        compare(out, what, ours, counts->words[word]);
    }
    compare(out, "too-fast, all requests", tally_word(tally, WORD_TOO_FAST),
        counts->refused_address + counts->refused_user);
    if (besides->human_check)
        compare(out, "human checks passed", tally_told(tally, STEP_PASS, WORD_SERVED),
            counts->human_passed);
    compare(out, "orders written", wins, counts->orders_written);
    compare(out, "users who won", besides->winners, counts->report.winners);
    compare(out, "orders paid", tally->paid, counts->report.orders_paid);
    compare(out, "orders cancelled", tally->cancelled, counts->report.orders_cancelled);
    compare(out, "units: taken and free", besides->units,
        counts->report.units_held_sold + counts->report.units_free);
    compare(out, "units: orders and inventory", counts->report.units_taken,
        counts->report.units_held_sold);
}
