/* SPDX-License-Identifier: Apache-2.0 */
/* rehearse/report.h: the report of a rehearsal as text, JSON and HTML. Pure: it writes into the
 * caller's text. */
#ifndef STAMPEDE_REHEARSE_REPORT_H
#define STAMPEDE_REHEARSE_REPORT_H

#include "base/text.h"
#include "rehearse/copy.h"
#include "rehearse/findings.h"

enum { REPORT_BYTES = 1024 * 1024, QUANTILES = 5 };
extern const uint32_t report_quantiles[QUANTILES]; /* of a thousand */
extern const char *const report_quantile_names[QUANTILES];

struct report {
    const char *title;  /* of the sale */
    const char *server; /* its address */
    uint64_t seed, units;
    uint32_t users, bots_percent, connections, seconds, start_s;
    const struct copy *copy; /* its notes; NULL: none */
    const struct tally *tally;
    const struct server_counts *counts;
    const struct comparisons *comparisons;
    const struct measured *measured;
    const struct findings *findings;
};

void report_text(const struct report *report, struct text *out);
void report_json(const struct report *report, struct text *out);
void report_html(const struct report *report, struct text *out);

#endif
