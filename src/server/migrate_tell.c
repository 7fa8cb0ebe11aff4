/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "server/migrate_parts.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#define PROGRESS_EVERY_NS UINT64_C(1000000000)

void migrate_changed(struct migrate *migrate)
{
    fflush(stdout);
    if (++migrate->changes == migrate->killed_at)
        raise(SIGKILL);
}

void migrate_step_tell(struct migrate *migrate, const char *what)
{
    printf("%s\n", what);
    migrate_changed(migrate);
}

void migrate_progress_begin(struct migrate *migrate)
{
    migrate->told_ns = clock_monotonic_ns();
    migrate->told_count = UINT64_MAX; /* what is there already is not counted as done in this second */
}

/* A name of what is done, and of what. */
static void progress_tell(
    struct migrate *migrate, const char *done, const char *of_what, uint64_t count, uint64_t total)
{
    const uint64_t now_ns = clock_monotonic_ns();
    if (migrate->told_count == UINT64_MAX)
        migrate->told_count = count;
    if (now_ns - migrate->told_ns < PROGRESS_EVERY_NS)
        return;
    const double seconds = (double)(now_ns - migrate->told_ns) / 1e9;
    printf("  %s: %" PRIu64 " of %" PRIu64 " %s, %.0f a second\n", done, count, total, of_what,
        (double)(count - migrate->told_count) / seconds);
    fflush(stdout);
    migrate->told_ns = now_ns;
    migrate->told_count = count;
}

static void rows_tell(struct migrate *migrate, const char *done, const char *table, uint64_t rows)
{
    char what[COPY_NAME_MAX + 32];
    snprintf(what, sizeof what, "rows (now %s)", table);
    progress_tell(migrate, done, what, rows, migrate->copy.total);
}

void migrate_copied_tell(void *context, const char *table, uint64_t rows)
{
    rows_tell(context, "copied", table, rows);
    migrate_changed(context);
}

void migrate_compared_tell(void *context, const char *table, uint64_t rows)
{
    rows_tell(context, "compared", table, rows);
}

void migrate_records_tell(void *context, uint64_t records)
{
    struct migrate *migrate = context;
    progress_tell(migrate, "log", "records", records, migrate->end);
    migrate_changed(migrate);
}
