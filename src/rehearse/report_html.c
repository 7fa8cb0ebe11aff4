/* SPDX-License-Identifier: Apache-2.0 */
/* rehearse/report_html.c: one page without scripts and without anything from elsewhere; the plots are
 * SVG in it. */
#include "rehearse/report.h"

enum {
    PLOT_WIDTH = 900,
    PLOT_HEIGHT = 180,
    PLOT_LEFT = 70,
    PLOT_BOTTOM = 24,
    BAR_HEIGHT = 18,
    BAR_LEFT = 160,
    BAR_WIDTH = 620
};

static const char style[] =
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 "
    "1rem;color:#1b1b1b;"
    "background:#fff}table{border-collapse:collapse;width:100%;margin:.5rem 0}"
    "th,td{border-bottom:1px solid #ccc;padding:.2rem .5rem;text-align:right}"
    "th:first-child,td:first-child{text-align:left}.no{color:#a40000;font-weight:bold}.yes{color:#"
    "00591f}"
    "svg{width:100%;height:auto}svg text{font:11px system-ui,sans-serif;fill:#333}";

static void html(struct text *out, const char *string)
{
    text_html(out, span_from_string(string));
}

static void header(const struct report *report, struct text *out)
{
    const struct findings *findings = report->findings;
    text_literal(out,
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width\"><title>Rehearsal: ");
    html(out, report->title);
    text_format(out, "</title><style>%s</style></head><body><h1>Rehearsal: ", style);
    html(out, report->title);
    text_format(out,
        "</h1><p>%u users (%u %% bots), %llu units, %u seconds, seed %llu.</p><h2>%s</h2><ul>",
        report->users, report->bots_percent, (unsigned long long)report->units, report->seconds,
        (unsigned long long)report->seed, findings->held ? "It held" : "It did not hold");
    for (uint32_t i = 0; i < findings->held_count; i++) {
        const bool ok = findings->held_lines[i].ok;
        text_format(out, "<li><span class=\"%s\">%s</span>: ", ok ? "yes" : "no", ok ? "yes" : "no");
        html(out, findings->held_lines[i].text);
        text_literal(out, "</li>");
    }
    text_literal(out, "</ul>");
    for (uint32_t i = 0; report->copy != NULL && i < report->copy->note_count; i++) {
        text_literal(out, "<p>Unlike the shop's sale: ");
        html(out, report->copy->notes[i]);
        text_literal(out, "</p>");
    }
}

enum plot_of { PLOT_ANSWERED, PLOT_WINS, PLOT_VISITING, PLOT_P99 };

static double point(const struct tally_second *second, enum plot_of of)
{
    switch (of) {
    case PLOT_ANSWERED:
        return second->answered;
    case PLOT_WINS:
        return second->wins;
    case PLOT_VISITING:
        return second->coming;
    case PLOT_P99:
        break;
    }
    return second->p99_us / 1000.0;
}

static void plot(const struct report *report, enum plot_of of, const char *title, struct text *out)
{
    const struct tally *tally = report->tally;
    double most = 0;
    for (uint32_t i = 0; i < tally->seconds_count; i++)
        most = point(&tally->seconds[i], of) > most ? point(&tally->seconds[i], of) : most;
    const double width = PLOT_WIDTH - PLOT_LEFT - 10, height = PLOT_HEIGHT - PLOT_BOTTOM - 10;
    const double step = tally->seconds_count > 1 ? width / (tally->seconds_count - 1) : width;
    text_format(out,
        "<h3>%s</h3><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s by the second, at most "
        "%.1f\">"
        "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"#999\"/><text x=\"2\" "
        "y=\"18\">%.1f</text>"
        "<text x=\"2\" y=\"%d\">0</text><polyline fill=\"none\" stroke=\"#0b5cad\" "
        "stroke-width=\"2\" points=\"",
        title, PLOT_WIDTH, PLOT_HEIGHT, title, most, PLOT_LEFT, PLOT_HEIGHT - PLOT_BOTTOM,
        PLOT_WIDTH, PLOT_HEIGHT - PLOT_BOTTOM, most, PLOT_HEIGHT - PLOT_BOTTOM);
    for (uint32_t i = 0; i < tally->seconds_count; i++)
        text_format(out, "%.1f,%.1f ", PLOT_LEFT + i * step,
            10 + height - (most > 0 ? point(&tally->seconds[i], of) / most : 0) * height);
    text_format(out,
        "\"/><line x1=\"%.1f\" y1=\"10\" x2=\"%.1f\" y2=\"%d\" stroke=\"#a40000\" "
        "stroke-dasharray=\"4\"/>"
        "<text x=\"%.1f\" y=\"%d\">start</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">%u "
        "s</text></svg>",
        PLOT_LEFT + report->start_s * step, PLOT_LEFT + report->start_s * step,
        PLOT_HEIGHT - PLOT_BOTTOM, PLOT_LEFT + report->start_s * step + 4, PLOT_HEIGHT - 8,
        PLOT_WIDTH - 4, PLOT_HEIGHT - 8, tally->seconds_count);
}

static void layers(const struct report *report, struct text *out)
{
    const struct findings *findings = report->findings;
    uint64_t most = 1;
    for (uint32_t i = 0; i < LAYERS; i++)
        most = findings->requests[i] > most ? findings->requests[i] : most;
    text_format(out,
        "<h2>Where requests and visits ended</h2><svg viewBox=\"0 0 %d %d\" role=\"img\" "
        "aria-label=\"requests that ended at each layer; the table below has the figures\">",
        PLOT_WIDTH, (int)LAYERS * BAR_HEIGHT + 6);
    for (uint32_t i = 0; i < LAYERS; i++) {
        const double width = (double)findings->requests[i] / (double)most * BAR_WIDTH;
        const int y = (int)i * BAR_HEIGHT + 4;
        text_format(out,
            "<text x=\"0\" y=\"%d\">%s</text><rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" "
            "fill=\"#0b5cad\"/><text x=\"%.1f\" y=\"%d\">%llu</text>",
            y + 11, layer_labels[i], BAR_LEFT, y, width, BAR_HEIGHT - 5, BAR_LEFT + width + 4,
            y + 11, (unsigned long long)findings->requests[i]);
    }
    text_literal(out, "</svg><table><tr><th>layer</th><th>requests</th><th>visitors</th></tr>");
    for (uint32_t i = 0; i < LAYERS; i++)
        text_format(out, "<tr><td>%s</td><td>%llu</td><td>%llu</td></tr>", layer_labels[i],
            (unsigned long long)findings->requests[i], (unsigned long long)findings->visitors[i]);
    text_format(out,
        "</table><h3>Beside the source "
        "documents</h3><table><tr><th>share</th><th>here</th><th>documents</th></tr>"
        "<tr><td>visitors stopped before they could ask to buy</td><td>%.2f %%</td><td>50 "
        "%%</td></tr>"
        "<tr><td>purchases refused before the inventory was asked</td><td>%.2f %%</td><td>90 "
        "%%</td></tr>"
        "<tr><td>requests that never became an order in the database</td><td>%.2f %%</td><td>99.9 "
        "%%</td></tr></table>",
        100 * findings->stopped_before_buy, 100 * findings->refused_before_stock,
        100 * findings->refused_before_store);
}

static void latencies(const struct report *report, struct text *out)
{
    text_literal(out,
        "<h2>Latency</h2><p>In ms, from the moment that was meant.</p><table><tr><th>step</th>"
        "<th>answers</th>");
    for (uint32_t i = 0; i < QUANTILES; i++)
        text_format(out, "<th>%s</th>", report_quantile_names[i]);
    text_literal(out, "</tr>");
    for (uint32_t who = 0; who < WHOS; who++) {
        for (uint32_t step = 0; step < STEPS; step++) {
            const struct latency *latency = &report->tally->latency[who][step];
            if (latency->total == 0)
                continue;
            text_format(out, "<tr><td>%s, %s</td><td>%llu</td>", step_labels[step],
                who == WHO_PEOPLE ? "people" : "bots", (unsigned long long)latency->total);
            for (uint32_t i = 0; i < QUANTILES; i++)
                text_format(out, "<td>%.2f</td>",
                    (double)latency_quantile_ns(latency, report_quantiles[i]) / 1e6);
            text_literal(out, "</tr>");
        }
    }
    text_literal(out, "</table>");
}

static void counts(const struct report *report, struct text *out)
{
    text_literal(out,
        "<h2>The report's counts and the server's own</h2><table><tr><th>count</th><th>report</th>"
        "<th>server</th></tr>");
    for (uint32_t i = 0; i < report->comparisons->count; i++) {
        const struct comparison *row = &report->comparisons->rows[i];
        text_format(out, "<tr%s><td>", row->ours == row->theirs ? "" : " class=\"no\"");
        html(out, row->what);
        text_format(out, "</td><td>%llu</td><td>%llu</td></tr>", (unsigned long long)row->ours,
            (unsigned long long)row->theirs);
    }
    text_literal(out, "</table>");
}

static void advice(const struct report *report, struct text *out)
{
    const struct findings *findings = report->findings;
    text_literal(out, "<h2>What to set</h2><ul>");
    for (uint32_t i = 0; i < findings->advice_count; i++) {
        text_literal(out, "<li>");
        html(out, findings->advice[i]);
        text_literal(out, "</li>");
    }
    if (findings->advice_count == 0)
        text_literal(out, "<li>nothing: no figure of this rehearsal asks for a change</li>");
    text_literal(out, "</ul><h2>Machines</h2><p>");
    if (findings->cpu_us_per_request > 0)
        text_format(out,
            "%.1f µs of processor for each request. %llu users expected: %.0f requests in the "
            "busiest second, "
            "%.1f cores at 60 %%, %.0f machines with %u cores.",
            findings->cpu_us_per_request, (unsigned long long)report->measured->expect_users,
            findings->expect_per_s, findings->cores, findings->machines,
            report->measured->machine_cores);
    else
        text_literal(out, "Not measured: that takes a rehearsal server that was started here.");
    text_literal(out, "</p>");
}

void report_html(const struct report *report, struct text *out)
{
    header(report, out);
    layers(report, out);
    text_literal(out, "<h2>By the second</h2>");
    plot(report, PLOT_ANSWERED, "Requests answered", out);
    plot(report, PLOT_WINS, "Wins", out);
    plot(report, PLOT_VISITING, "Visitors on their way", out);
    plot(report, PLOT_P99, "p99 in ms", out);
    latencies(report, out);
    counts(report, out);
    advice(report, out);
    text_literal(out, "</body></html>\n");
}
