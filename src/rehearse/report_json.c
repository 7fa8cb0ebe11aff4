/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_write.h"
#include "rehearse/report.h"

static void real_write(struct text *out, const char *name, double value)
{
    json_value(out, name);
    text_format(out, "%.6g", value);
}

static void layers(const struct findings *findings, struct text *out)
{
    json_list_begin(out, "layers");
    for (uint32_t i = 0; i < LAYERS; i++) {
        json_object_begin(out, NULL);
        json_text(out, "layer", layer_labels[i]);
        json_u64(out, "requests", findings->requests[i]);
        json_u64(out, "visitors", findings->visitors[i]);
        json_object_end(out);
    }
    json_list_end(out);
    json_object_begin(out, "shares");
    real_write(out, "visitors_stopped_before_buy", findings->stopped_before_buy);
    real_write(out, "purchases_refused_before_inventory", findings->refused_before_stock);
    real_write(out, "requests_that_became_no_order", findings->refused_before_store);
    json_object_end(out);
}

static void latencies(const struct tally *tally, struct text *out)
{
    json_list_begin(out, "latency");
    for (uint32_t who = 0; who < WHOS; who++) {
        for (uint32_t step = 0; step < STEPS; step++) {
            const struct latency *latency = &tally->latency[who][step];
            if (latency->total == 0)
                continue;
            json_object_begin(out, NULL);
            json_text(out, "who", who == WHO_PEOPLE ? "people" : "bots");
            json_text(out, "step", step_labels[step]);
            json_u64(out, "answers", latency->total);
            for (uint32_t i = 0; i < QUANTILES; i++)
                real_write(out, report_quantile_names[i],
                    (double)latency_quantile_ns(latency, report_quantiles[i]) / 1e6);
            json_object_end(out);
        }
    }
    json_list_end(out);
}

static void answers(const struct tally *tally, struct text *out)
{
    json_list_begin(out, "answers");
    for (uint32_t step = 0; step < STEPS; step++) {
        for (uint32_t word = 0; word < WORDS; word++) {
            if (tally_told(tally, (enum step)step, (enum word)word) == 0)
                continue;
            json_object_begin(out, NULL);
            json_text(out, "step", step_labels[step]);
            json_text(out, "answer", word_texts[word]);
            json_u64(out, "people", tally->told[WHO_PEOPLE][step][word]);
            json_u64(out, "bots", tally->told[WHO_BOTS][step][word]);
            json_object_end(out);
        }
    }
    json_list_end(out);
}

static void comparisons(const struct comparisons *comparisons, struct text *out)
{
    json_u64(out, "differences", comparisons->different);
    json_list_begin(out, "counts");
    for (uint32_t i = 0; i < comparisons->count; i++) {
        json_object_begin(out, NULL);
        json_text(out, "what", comparisons->rows[i].what);
        json_u64(out, "report", comparisons->rows[i].ours);
        json_u64(out, "server", comparisons->rows[i].theirs);
        json_object_end(out);
    }
    json_list_end(out);
}

static void seconds(const struct tally *tally, struct text *out)
{
    json_list_begin(out, "seconds");
    for (uint32_t i = 0; i < tally->seconds_count; i++) {
        const struct tally_second *second = &tally->seconds[i];
        json_object_begin(out, NULL);
        json_u64(out, "answered", second->answered);
        json_u64(out, "refused", second->refused);
        json_u64(out, "wins", second->wins);
        json_u64(out, "visiting", second->coming);
        json_u64(out, "p99_us", second->p99_us);
        json_object_end(out);
    }
    json_list_end(out);
}

static void findings_write(const struct report *report, struct text *out)
{
    const struct findings *findings = report->findings;
    json_bool(out, "held", findings->held);
    json_list_begin(out, "why");
    for (uint32_t i = 0; i < findings->held_count; i++) {
        json_object_begin(out, NULL);
        json_bool(out, "ok", findings->held_lines[i].ok);
        json_text(out, "text", findings->held_lines[i].text);
        json_object_end(out);
    }
    json_list_end(out);
    json_list_begin(out, "advice");
    for (uint32_t i = 0; i < findings->advice_count; i++)
        json_text(out, NULL, findings->advice[i]);
    json_list_end(out);
    json_object_begin(out, "machines");
    real_write(out, "cpu_us_per_request", findings->cpu_us_per_request);
    json_u64(out, "expected_users", report->measured->expect_users);
    real_write(out, "requests_per_s", findings->expect_per_s);
    real_write(out, "cores", findings->cores);
    real_write(out, "machines", findings->machines);
    json_u64(out, "cores_of_a_machine", report->measured->machine_cores);
    json_object_end(out);
}

void report_json(const struct report *report, struct text *out)
{
    const struct tally *tally = report->tally;
    json_object_begin(out, NULL);
    json_text(out, "title", report->title);
    json_u64(out, "users", report->users);
    json_u64(out, "bots_percent", report->bots_percent);
    json_u64(out, "units", report->units);
    json_u64(out, "seed", report->seed);
    json_u64(out, "duration_s", report->seconds);
    json_u64(out, "start_s", report->start_s);
    json_u64(out, "requests", report->findings->all_requests);
    json_u64(out, "won_by_people", tally->wins[WHO_PEOPLE]);
    json_u64(out, "won_by_bots", tally->wins[WHO_BOTS]);
    json_u64(out, "paid", tally->paid);
    json_u64(out, "cancelled", tally->cancelled);
    json_u64(out, "peak_requests_per_s", report->measured->peak_requests_per_s);
    json_u64(out, "peak_orders_per_s", report->measured->peak_orders_per_s);
    findings_write(report, out);
    layers(report->findings, out);
    latencies(tally, out);
    answers(tally, out);
    comparisons(report->comparisons, out);
    seconds(tally, out);
    json_object_end(out);
    text_literal(out, "\n");
}
