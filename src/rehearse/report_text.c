/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/report.h"

const uint32_t report_quantiles[QUANTILES] = { 500, 900, 990, 999, 1000 };
const char *const report_quantile_names[QUANTILES] = { "p50", "p90", "p99", "p999", "max" };

static void header(const struct report *report, struct text *out)
{
    text_format(out, "Rehearsal of: %s\n", report->title);
    text_format(out, "  %u users (%u %% bots), %llu units, %u s, seed %llu, %u connections at most, %s\n",
        report->users, report->bots_percent, (unsigned long long)report->units, report->seconds,
        (unsigned long long)report->seed, report->connections, report->server);
    for (uint32_t i = 0; report->copy != NULL && i < report->copy->note_count; i++)
        text_format(out, "  unlike the shop's sale: %s\n", report->copy->notes[i]);
    text_literal(
        out, "  the visitors' own work for the human check is left out: the server asks for next to none\n");
}

static void held(const struct report *report, struct text *out)
{
    const struct findings *findings = report->findings;
    text_format(out, "\n%s\n", findings->held ? "It held." : "It did not hold.");
    for (uint32_t i = 0; i < findings->held_count; i++)
        text_format(out, "  %-4s %s\n", findings->held_lines[i].ok ? "yes" : "NO",
            findings->held_lines[i].text);
}

static double percent(uint64_t part, uint64_t all)
{
    return all > 0 ? 100.0 * (double)part / (double)all : 0;
}

static void layers(const struct report *report, struct text *out)
{
    const struct findings *findings = report->findings;
    text_format(out, "\nWhere requests and visits ended\n  %-20s %12s %8s %12s %8s\n", "layer",
        "requests", "", "visitors", "");
    for (uint32_t i = 0; i < LAYERS; i++)
        text_format(out, "  %-20s %12llu %7.2f%% %12llu %7.2f%%\n", layer_labels[i],
            (unsigned long long)findings->requests[i],
            percent(findings->requests[i], findings->all_requests),
            (unsigned long long)findings->visitors[i],
            percent(findings->visitors[i], findings->all_visitors));
    text_format(out, "  %-20s %12llu %8s %12llu\n", "all",
        (unsigned long long)findings->all_requests, "", (unsigned long long)findings->all_visitors);
    text_format(out,
        "\nBeside the source documents\n"
        "  %-62s %7.2f%%   (documents: 50%%)\n  %-62s %7.2f%%   (documents: 90%%)\n  %-62s %7.2f%% "
        "  (documents: 99.9%%)\n",
        "visitors stopped before they could ask to buy", 100 * findings->stopped_before_buy,
        "purchases refused before the inventory was asked", 100 * findings->refused_before_stock,
        "requests that never became an order in the database", 100 * findings->refused_before_store);
    text_format(out,
        "  busiest second: %llu requests, %llu to the inventory, %llu orders to the database\n",
        (unsigned long long)report->measured->peak_requests_per_s,
        (unsigned long long)report->measured->peak_go_per_s,
        (unsigned long long)report->measured->peak_orders_per_s);
}

static void latency_rows(const struct report *report, uint32_t who, const char *name, struct text *out)
{
    for (uint32_t step = 0; step < STEPS; step++) {
        const struct latency *latency = &report->tally->latency[who][step];
        if (latency->total == 0)
            continue;
        text_format(out, "  %-7s %-12s %10llu", name, step_labels[step],
            (unsigned long long)latency->total);
        for (uint32_t i = 0; i < QUANTILES; i++)
            text_format(out, " %9.2f", (double)latency_quantile_ns(latency, report_quantiles[i]) / 1e6);
        text_literal(out, "\n");
    }
}

static void latencies(const struct report *report, struct text *out)
{
    text_format(out, "\nLatency in ms, from the moment that was meant\n  %-7s %-12s %10s", "who",
        "step", "answers");
    for (uint32_t i = 0; i < QUANTILES; i++)
        text_format(out, " %9s", report_quantile_names[i]);
    text_literal(out, "\n");
    latency_rows(report, WHO_PEOPLE, "people", out);
    latency_rows(report, WHO_BOTS, "bots", out);
}

static void winners(const struct report *report, struct text *out)
{
    const struct tally *tally = report->tally;
    text_format(out, "\nUnits: people won %llu, bots won %llu; %llu orders paid, %llu cancelled\n",
        (unsigned long long)tally->wins[WHO_PEOPLE], (unsigned long long)tally->wins[WHO_BOTS],
        (unsigned long long)tally->paid, (unsigned long long)tally->cancelled);
}

static void comparisons(const struct report *report, struct text *out)
{
    text_format(out, "\nThe report's counts and the server's own\n  %-36s %12s %12s\n", "",
        "report", "server");
    for (uint32_t i = 0; i < report->comparisons->count; i++) {
        const struct comparison *row = &report->comparisons->rows[i];
        text_format(out, "  %-36s %12llu %12llu%s\n", row->what, (unsigned long long)row->ours,
            (unsigned long long)row->theirs, row->ours == row->theirs ? "" : "  DIFFERENT");
    }
}

static void advice(const struct report *report, struct text *out)
{
    const struct findings *findings = report->findings;
    const struct measured *measured = report->measured;
    text_literal(out, "\nWhat to set\n");
    for (uint32_t i = 0; i < findings->advice_count; i++)
        text_format(out, "  - %s\n", findings->advice[i]);
    if (findings->advice_count == 0)
        text_literal(out, "  nothing: no figure of this rehearsal asks for a change\n");
    text_literal(out, "\nMachines\n");
    if (findings->cpu_us_per_request <= 0) {
        text_literal(out, "  not measured: that takes a rehearsal server that was started here\n");
        return;
    }
    text_format(out,
        "  %.1f µs of processor for each request (%.1f s for %llu)\n"
        "  %llu users expected: %.0f requests in the busiest second = %.1f cores at 60 %% = %.0f "
        "machine%s with %u cores\n",
        findings->cpu_us_per_request, measured->cpu_s, (unsigned long long)findings->all_requests,
        (unsigned long long)measured->expect_users, findings->expect_per_s, findings->cores,
        findings->machines, findings->machines > 1 ? "s" : "", measured->machine_cores);
}

void report_text(const struct report *report, struct text *out)
{
    header(report, out);
    held(report, out);
    layers(report, out);
    latencies(report, out);
    winners(report, out);
    comparisons(report, out);
    advice(report, out);
}
