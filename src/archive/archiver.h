/* SPDX-License-Identifier: Apache-2.0 */
/* archive/archiver.h: makes bundles beside everything else that a server does: one job at a time, each on a
 * thread of its own that gives way to all others and pauses while wins come in. A job writes the bundle of a
 * sale, reads it again and verifies it; or it removes segments of the log that nobody needs.
 * Threads: archiver_phase by any, the rest by the owner of the store. Memory: its own. A job has a
 * connection of its own that only reads. */
#ifndef STAMPEDE_ARCHIVE_ARCHIVER_H
#define STAMPEDE_ARCHIVE_ARCHIVER_H

#include "archive/bundle.h"

struct board;
struct wake;

enum archiver_phase {
    ARCHIVER_IDLE,
    ARCHIVER_WRITING,
    ARCHIVER_VERIFYING,
    ARCHIVER_PRUNING,
    ARCHIVER_ENDED
};

enum { ARCHIVER_CALM_MS = 50, ARCHIVER_PAUSE_MS = 10 }; /* no wins for so long; between two looks */

struct archiver;
struct archiver_config {
    struct order_store *store;
    const char *folder;  /* of bundles; made if it is missing */
    const char *journal; /* the folder of the log; NULL: many machines */
    uint64_t data_id;
    const struct board *board; /* which says whether wins come in */
    struct wake *wake;         /* of the owner: a job has ended */
};
struct archiver_result {
    sale_id sale;       /* 0: segments were removed */
    enum status status; /* STATUS_REFUSED: something of the sale is open */
    struct bundle_made made;
    uint32_t segments;
    char error[BUNDLE_ERROR]; /* unless STATUS_OK */
};

MUST_CHECK enum status archiver_open(struct archiver **archiver, const struct archiver_config *config);
void archiver_close(struct archiver *archiver); /* a job that runs is ended; accepts NULL */
/* A bundle of this sale; 0: old segments. STATUS_BUSY: a job runs, or was not collected. */
MUST_CHECK enum status archiver_begin(struct archiver *archiver, sale_id sale);
enum archiver_phase archiver_phase(const struct archiver *archiver);
/* The job has ended; false: it has not, or there is none. */
bool archiver_collect(struct archiver *archiver, struct archiver_result *result);

#endif
