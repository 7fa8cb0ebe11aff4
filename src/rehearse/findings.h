/* SPDX-License-Identifier: Apache-2.0 */
/* rehearse/findings.h: what a rehearsal shows: did it hold, where requests and visitors ended, what to
 * set, how many machines the expected crowd takes. Pure: the same figures, the same findings. */
#ifndef STAMPEDE_REHEARSE_FINDINGS_H
#define STAMPEDE_REHEARSE_FINDINGS_H

#include "rehearse/server_counts.h"

enum { FINDING_BYTES = 240, HELD_MAX = 8, ADVICE_MAX = 12 };

/* What was rehearsed, and what was measured beside the tally. */
struct measured {
    uint64_t users, bots_percent, units;
    uint64_t expect_users;  /* the crowd that is expected */
    uint32_t machine_cores; /* of the machines that are to be counted */
    uint32_t p99_goal_ms;
    /* of the sale */
    char human_check[16];
    bool waiting_room;
    uint32_t pace_per_s, drop_percent, start_draw_ms;
    /* of the server, by the second; 0: not measured */
    uint64_t peak_requests_per_s, peak_orders_per_s, peak_go_per_s;
    double cpu_s;
    uint32_t seconds;
};

struct held_line {
    bool ok;
    char text[FINDING_BYTES];
};
struct findings {
    bool held; /* all lines are */
    uint32_t held_count, advice_count;
    struct held_line held_lines[HELD_MAX];
    char advice[ADVICE_MAX][FINDING_BYTES];
    uint64_t requests[LAYERS]; /* that ended there; of those served only wins, orders, payments */
    uint64_t visitors[LAYERS]; /* whose visit ended there */
    uint64_t all_requests, all_visitors;
    double stopped_before_buy;   /* share of visitors; documents: 0.5 */
    double refused_before_stock; /* share of purchases; documents: 0.9 */
    double refused_before_store; /* share of all requests that become no order; documents: 0.999 */
    double cpu_us_per_request;   /* 0: not measured */
    double expect_per_s;         /* requests at the peak of the expected crowd */
    double cores, machines;
};

void findings_make(const struct tally *tally, const struct server_counts *counts,
    const struct comparisons *comparisons, const struct measured *measured, struct findings *out);

#endif
