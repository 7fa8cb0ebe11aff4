/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/findings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static const double CORE_SHARE = 0.6; /* of a core: the rest is for peaks within a second */
static const double PEOPLE_REFUSED_MAX = 0.01; /* of people's requests, by limits meant for machines */
static const double BOTS_WON_MAX = 0.2;

struct making {
    const struct tally *tally;
    const struct server_counts *counts;
    const struct measured *measured;
    struct findings *out;
};

__attribute__((format(printf, 3, 4))) static void held_tell(
    struct making *making, bool ok, const char *format, ...)
{
    struct findings *out = making->out;
    if (out->held_count == HELD_MAX)
        return;
    va_list values;
    va_start(values, format);
    vsnprintf(out->held_lines[out->held_count].text, FINDING_BYTES, format, values);
    va_end(values);
    out->held_lines[out->held_count++].ok = ok;
    out->held &= ok;
}

__attribute__((format(printf, 2, 3))) static void advise(struct making *making, const char *format, ...)
{
    struct findings *out = making->out;
    if (out->advice_count == ADVICE_MAX)
        return;
    va_list values;
    va_start(values, format);
    vsnprintf(out->advice[out->advice_count++], FINDING_BYTES, format, values);
    va_end(values);
}

static double share(uint64_t part, uint64_t all)
{
    return all > 0 ? (double)part / (double)all : 0;
}

static void layers_count(struct making *making)
{
    const struct tally *tally = making->tally;
    struct findings *out = making->out;
    for (uint32_t step = 0; step < STEPS; step++) {
        for (uint32_t word = 0; word < WORDS; word++) {
            const uint64_t told = tally_told(tally, (enum step)step, (enum word)word);
            out->all_requests += told;
            if (word != WORD_SERVED && (step == STEP_BUY || word > WORD_DECIDING))
                out->requests[word_layer((enum word)word)] += told;
        }
    }
    /* The visitors can't tell the two limits apart; the server can. */
    const uint64_t by_user = making->counts->refused_user;
    if (by_user <= out->requests[LAYER_ADDRESS]) {
        out->requests[LAYER_USER] += by_user;
        out->requests[LAYER_ADDRESS] -= by_user;
    }
    out->requests[LAYER_ORDER] += making->counts->orders_written;
    out->requests[LAYER_PAID] += tally->paid;
    for (uint32_t kind = 0; kind < VISITOR_KINDS; kind++) {
        for (uint32_t layer = 0; layer < LAYERS; layer++) {
            out->visitors[layer] += tally->ended[kind][layer];
            out->all_visitors += tally->ended[kind][layer];
        }
    }
}

static void shares_make(struct making *making)
{
    struct findings *out = making->out;
    uint64_t before_buy = 0;
    for (uint32_t layer = LAYER_EDGE; layer <= LAYER_PASS; layer++)
        before_buy += out->visitors[layer];
    out->stopped_before_buy = share(before_buy, out->all_visitors);
    const uint64_t purchases = making->counts->purchases, go = making->counts->go;
    out->refused_before_stock = share(purchases > go ? purchases - go : 0, purchases);
    out->refused_before_store =
        out->all_requests > 0 ? 1 - share(making->counts->orders_written, out->all_requests) : 0;
}

static double p99_of_people_ms(const struct tally *tally)
{
    return (double)latency_quantile_ns(&tally->latency[WHO_PEOPLE][STEP_BUY], 990) / 1e6;
}

static void held_make(struct making *making, const struct comparisons *comparisons)
{
    const struct measured *measured = making->measured;
    const struct tally *tally = making->tally;
    const uint64_t no_answer = tally_word(tally, WORD_NO_ANSWER);
    const uint64_t trouble = tally_word(tally, WORD_UNAVAILABLE) + tally_word(tally, WORD_INTERNAL)
        + tally_word(tally, WORD_UNKNOWN_OUTCOME) + tally->unknown_words;
    const double p99_ms = p99_of_people_ms(tally);
    held_tell(making, no_answer == 0, "every request was answered (%llu were not)",
        (unsigned long long)no_answer);
    held_tell(making, trouble == 0, "no answer was an error of the server (%llu were)",
        (unsigned long long)trouble);
    held_tell(making, p99_ms <= measured->p99_goal_ms,
        "people's purchases: p99 %.1f ms (goal %u ms)", p99_ms, measured->p99_goal_ms);
    held_tell(making, comparisons->different == 0,
        "the report and the server's own counts agree (%u of %u differ)", comparisons->different,
        comparisons->count);
    held_tell(making,
        making->counts->report.units_held_sold + making->counts->report.units_free == measured->units,
        "every unit is accounted for: %llu taken, %llu free, of %llu",
        (unsigned long long)making->counts->report.units_held_sold,
        (unsigned long long)making->counts->report.units_free, (unsigned long long)measured->units);
    /* A leaky bucket lets a tenth of a second's worth through at once; seconds of two clocks overlap. */
    if (measured->pace_per_s > 0)
        held_tell(making, measured->peak_orders_per_s <= measured->pace_per_s * 6 / 5,
            "at most the set pace reaches the database: %llu orders in the busiest second "
            "(pace %u)",
            (unsigned long long)measured->peak_orders_per_s, measured->pace_per_s);
}

static void advise_fairness(struct making *making)
{
    const struct tally *tally = making->tally;
    const struct measured *measured = making->measured;
    const uint64_t wins = tally->wins[WHO_PEOPLE] + tally->wins[WHO_BOTS];
    const double bots = share(tally->wins[WHO_BOTS], wins) * 100;
    if (wins == 0 || share(tally->wins[WHO_BOTS], wins) <= BOTS_WON_MAX)
        return;
    if (strcmp(measured->human_check, "none") == 0)
        advise(making,
            "set the sale's human_check to pow: bots won %.0f %% of the units without any check", bots);
    if (!measured->waiting_room)
        advise(making,
            "set the sale's waiting_room: bots won %.0f %% of the units by being early, and a draw "
            "gives nothing for being early",
            bots);
    else
        advise(making,
            "sell to signed-in customers only (session.guests = no): bots won %.0f %% of the units "
            "with accounts that cost nothing",
            bots);
    if (measured->start_draw_ms == 0)
        advise(making,
            "set the sale's start_draw_ms to 3000: it is 0, and bots won %.0f %% of the units", bots);
}

static void advise_limits(struct making *making)
{
    const struct tally *tally = making->tally;
    uint64_t people = 0, refused = 0, expired = tally_told(tally, STEP_BUY, WORD_PASS_EXPIRED);
    for (uint32_t step = 0; step < STEPS; step++) {
        refused += tally->told[WHO_PEOPLE][step][WORD_TOO_FAST];
        for (uint32_t word = 0; word < WORDS; word++)
            people += tally->told[WHO_PEOPLE][step][word];
    }
    if (share(refused, people) > PEOPLE_REFUSED_MAX)
        advise(making,
            "raise limits.address_per_s or limits.user_requests: %llu requests of people were too "
            "fast (%.1f %%)",
            (unsigned long long)refused, 100 * share(refused, people));
    if (expired > 0)
        advise(making, "raise pass.life_s: %llu purchases came with a pass that had expired",
            (unsigned long long)expired);
    if (making->counts->evicted > 0)
        advise(making,
            "raise limits.address_entries and limits.user_entries: %llu clients lost their place "
            "in a "
            "full table",
            (unsigned long long)making->counts->evicted);
    if (making->counts->spent_forgotten > 0)
        advise(making, "raise human.spent_max: %llu used challenges or passes were forgotten early",
            (unsigned long long)making->counts->spent_forgotten);
    if (making->counts->connections_refused > 0)
        advise(making, "raise server.connections_max and nofile: %llu connections were refused",
            (unsigned long long)making->counts->connections_refused);
}

static void advise_load(struct making *making)
{
    const struct measured *measured = making->measured;
    const double p99_ms = p99_of_people_ms(making->tally);
    if (p99_ms > measured->p99_goal_ms)
        advise(making,
            "use more or faster cores, or set the sale's waiting_room: people's p99 was %.0f ms, "
            "the "
            "goal is %u ms",
            p99_ms, measured->p99_goal_ms);
    if (measured->pace_per_s == 0 && measured->peak_orders_per_s > 1000)
        advise(making,
            "set the sale's pace_per_s if what comes after the sale (webhook, payments) takes "
            "fewer: "
            "%llu orders were written in the busiest second",
            (unsigned long long)measured->peak_orders_per_s);
}

static void machines_make(struct making *making)
{
    const struct measured *measured = making->measured;
    struct findings *out = making->out;
    if (measured->cpu_s <= 0 || out->all_requests == 0 || measured->users == 0)
        return;
    out->cpu_us_per_request = measured->cpu_s * 1e6 / (double)out->all_requests;
    out->expect_per_s = (double)measured->peak_requests_per_s * (double)measured->expect_users
        / (double)measured->users;
    out->cores = out->expect_per_s * out->cpu_us_per_request / 1e6 / CORE_SHARE;
    out->machines = ceil(out->cores / (measured->machine_cores > 0 ? measured->machine_cores : 1));
}

void findings_make(const struct tally *tally, const struct server_counts *counts,
    const struct comparisons *comparisons, const struct measured *measured, struct findings *out)
{
    struct making making = { tally, counts, measured, out };
    *out = (struct findings){ .held = true };
    layers_count(&making);
    shares_make(&making);
    held_make(&making, comparisons);
    advise_fairness(&making);
    advise_limits(&making);
    advise_load(&making);
    machines_make(&making);
}
