/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/measure.h"

#include "base/clock.h"
#include "base/json_write.h"
#include "rehearse/crowd.h"
#include "rehearse/report.h"
#include "rehearse/target.h"

#include <stdlib.h>

static void result_print(const struct rehearse_options *options, const struct tally *tally)
{
    char bytes[1024];
    struct text out = text_in(bytes, sizeof bytes);
    const struct latency *latency = &tally->latency[WHO_PEOPLE][STEP_MEASURE];
    json_object_begin(&out, NULL);
    json_u64(&out, "rate", options->rate);
    json_u64(&out, "answers", latency->total);
    json_u64(&out, "no_answer", tally_word(tally, WORD_NO_ANSWER));
    for (uint32_t i = 0; i < QUANTILES; i++) {
        json_value(&out, report_quantile_names[i]);
        text_format(&out, "%.3f", (double)latency_quantile_ns(latency, report_quantiles[i]) / 1e6);
    }
    json_object_end(&out);
    printf("%.*s\n", (int)out.size, out.data);
}

int measure_run(const struct rehearse_options *options, const atomic_bool *stop)
{
    const uint64_t wanted = (uint64_t)options->rate * options->seconds;
    const uint32_t count = wanted < PLAN_USERS_MAX ? (uint32_t)wanted : PLAN_USERS_MAX;
    struct target target = { .address_bytes = 0 };
    const struct sale_facts facts = { .item_count = 1 };
    struct visitor *visitors = calloc(count, sizeof *visitors);
    struct tally *tally = calloc(1, sizeof *tally);
    const char *path;
    int result = REHEARSE_FAILED;
    if (visitors != NULL && tally != NULL
        && target_address(&target, options->measure_url, &path, stderr)) {
        const struct crowd_options crowd = { .server = target.address,
            .server_bytes = target.address_bytes,
            .place = { .host = target.host, .measure_path = path },
            .begin_ns = clock_monotonic_ns(),
            .length_ns = (options->seconds + 1) * NS_PER_S,
            .connections = options->connections,
            .stop = stop };
        plan_make_measure(count, options->rate, visitors);
        if (crowd_play(&crowd, &facts, visitors, count, tally) == STATUS_OK) {
            result_print(options, tally);
            result = REHEARSE_DONE;
        }
    }
    free(visitors);
    free(tally);
    return result;
}
