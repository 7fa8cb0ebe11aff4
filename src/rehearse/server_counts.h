/* SPDX-License-Identifier: Apache-2.0 */
/* rehearse/server_counts.h: the server's own counts (/metrics, the report of the sale) beside what the
 * visitors were told. Pure. */
#ifndef STAMPEDE_REHEARSE_SERVER_COUNTS_H
#define STAMPEDE_REHEARSE_SERVER_COUNTS_H

#include "rehearse/tally.h"

enum { COMPARISONS_MAX = WORDS + 16, COMPARISON_BYTES = 64 };

/* A line of /metrics; `labels` "": it has none. 0: there is no such line. */
uint64_t metrics_value(const char *text, const char *name, const char *labels);
/* All lines of this name together. */
uint64_t metrics_sum(const char *text, const char *name);

/* What the report of the sale says, and its items. */
struct sale_counts {
    uint64_t won, winners, orders_paid, orders_cancelled, units_taken, units_free, units_held_sold;
};

/* What the server says, each as it grew during the play. */
struct server_counts {
    uint64_t requests, purchases, won, repeated, orders_written;
    uint64_t refused_address, refused_user, refused_pace; /* by limits */
    uint64_t calls; /* that the server made itself: to its own sandbox */
    uint64_t human_passed, evicted, spent_forgotten, connections_refused;
    uint64_t go;           /* purchases that went on to the inventory */
    uint64_t words[WORDS]; /* of purchases: the door's and the inventory's answers, as they were told */
    struct sale_counts report;
};
void server_counts_read(const char *before, const char *after, struct server_counts *counts);

struct comparison {
    char what[COMPARISON_BYTES];
    uint64_t ours, theirs;
};
struct comparisons {
    uint32_t count, different;
    struct comparison rows[COMPARISONS_MAX];
};

/* What is not in the tally. */
struct seen_besides {
    uint64_t own_requests; /* the rehearsal's own, beside the visitors' */
    uint64_t winners;      /* visitors who have won at least once */
    uint64_t units;        /* that were on sale */
    bool human_check;
};
void comparisons_make(const struct tally *tally, const struct server_counts *counts,
    const struct seen_besides *besides, struct comparisons *out);

#endif
