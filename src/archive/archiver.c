/* SPDX-License-Identifier: Apache-2.0 */
#include "archive/archiver.h"

#include "base/clock.h"
#include "base/thread.h"
#include "contract/archive.h"
#include "contract/board.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_MAX_BYTES = 1024, TOLD_BYTES = 512 };

struct archiver {
    struct archiver_config config;
    char folder[PATH_MAX_BYTES], journal[PATH_MAX_BYTES];
    struct thread thread;
    struct order_store *reader; /* of the job */
    _Atomic uint32_t phase; /* enum archiver_phase; the job's thread sets ENDED, the owner IDLE */
    _Atomic bool stop;
    struct archiver_result result; /* the job's until ENDED */
    lsn_t seen;                    /* of the log, when the job looked last, and since when */
    uint64_t seen_ms;
};

/* While wins come in, nothing else is to use disk and cores (worker/selling_rest.h). */
static bool job_goes_on(void *context)
{
    struct archiver *archiver = context;
    for (;;) {
        const lsn_t durable =
            atomic_load_explicit(&archiver->config.board->durable_lsn, memory_order_relaxed);
        const uint64_t now_ms = clock_monotonic_ns() / 1000000;
        if (durable != archiver->seen) {
            archiver->seen = durable;
            archiver->seen_ms = now_ms;
        }
        if (atomic_load_explicit(&archiver->stop, memory_order_relaxed))
            return false;
        if (now_ms - archiver->seen_ms >= ARCHIVER_CALM_MS)
            return true;
        usleep(ARCHIVER_PAUSE_MS * 1000);
    }
}

static enum status failed(struct archiver *archiver, enum status status, const char *what)
{
    char *error = archiver->result.error;
    if (status != STATUS_OK && error[0] == 0)
        snprintf(error, BUNDLE_ERROR, "%s: %s", what, status_name(status));
    return status;
}

/* It is read again from the disk, by the code that anybody verifies it with. */
static enum status bundle_reread(struct archiver *archiver, const struct bundle_pace *pace)
{
    const struct bundle_made *made = &archiver->result.made;
    struct bundle_made read;
    char path[PATH_MAX_BYTES + BUNDLE_NAME_MAX + 2], name[BUNDLE_NAME_MAX], told[TOLD_BYTES] = "";
    bundle_name(archiver->result.sale, name);
    snprintf(path, sizeof path, "%s/%s", archiver->folder, name);
    FILE *out = fmemopen(told, sizeof told - 1, "w");
    if (out == NULL)
        return failed(archiver, STATUS_FULL, "no memory to verify the bundle");
    enum status status = bundle_verify(path, pace, out, &read);
    fclose(out);
    if (status == STATUS_OK
        && (read.orders != made->orders || read.versions != made->versions
            || read.records != made->records || read.positions != made->positions))
        status = STATUS_CORRUPT;
    told[strcspn(told, "\n")] = 0;
    if (status == STATUS_OK)
        return STATUS_OK;
    snprintf(archiver->result.error, BUNDLE_ERROR,
        "the bundle does not verify, nothing was removed: %.120s", told);
    return status == STATUS_BUSY ? STATUS_BUSY : STATUS_CORRUPT;
}

/* STATUS_REFUSED: something of the sale is open. */
static enum status sale_look(struct archiver *archiver, const struct bundle_source *source)
{
    struct archive_look look;
    const enum status status = failed(archiver,
        source->store->ops->archive->look(source->store, archiver->result.sale, &look),
        "the sale can't be read");
    if (status != STATUS_OK || look.why[0] == 0)
        return status;
    snprintf(archiver->result.error, BUNDLE_ERROR, "%s", look.why);
    return STATUS_REFUSED;
}

static enum status bundle_make(struct archiver *archiver, const struct bundle_source *source)
{
    struct archiver_result *result = &archiver->result;
    struct disk *folder = NULL;
    enum status status = sale_look(archiver, source);
    if (status == STATUS_OK)
        status = failed(archiver, disk_folder_open(archiver->folder, &folder),
            "archive.folder can't be opened");
    if (status == STATUS_OK)
        status =
            bundle_write(archiver->folder, folder, source, result->sale, &result->made, result->error);
    disk_folder_close(folder);
    if (status != STATUS_OK)
        return status;
    atomic_store(&archiver->phase, ARCHIVER_VERIFYING);
    return bundle_reread(archiver, source->pace);
}

static void job_run(void *context)
{
    struct archiver *archiver = context;
    const struct bundle_pace pace = { job_goes_on, archiver };
    struct bundle_source source = {
        .store = archiver->reader, .data_id = archiver->config.data_id, .pace = &pace
    };
    struct archiver_result *result = &archiver->result;
    thread_rank_set(THREAD_LAST);
    result->status = archiver->config.journal == NULL
        ? STATUS_OK
        : failed(archiver, disk_folder_open(archiver->journal, &source.journal),
            "the log can't be opened");
    if (result->status == STATUS_OK)
        result->status = result->sale != 0
            ? bundle_make(archiver, &source)
            : failed(archiver, archive_prune(&source, &result->segments), "old segments can't be removed");
    disk_folder_close(source.journal);
    atomic_store(&archiver->phase, ARCHIVER_ENDED);
    wake_signal(archiver->config.wake);
}

/* ---- the owner ---- */

enum status archiver_open(struct archiver **out, const struct archiver_config *config)
{
    struct archiver *archiver = *out = calloc(1, sizeof *archiver);
    if (archiver == NULL)
        return STATUS_FULL;
    archiver->config = *config;
    if (strlen(config->folder) >= PATH_MAX_BYTES
        || (config->journal != NULL && strlen(config->journal) >= PATH_MAX_BYTES)) {
        free(archiver);
        *out = NULL;
        return STATUS_BAD_INPUT;
    }
    snprintf(archiver->folder, sizeof archiver->folder, "%s", config->folder);
    if (config->journal != NULL)
        snprintf(archiver->journal, sizeof archiver->journal, "%s", config->journal);
    return STATUS_OK;
}

enum status archiver_begin(struct archiver *archiver, sale_id sale)
{
    struct order_store *store = archiver->config.store;
    if (atomic_load(&archiver->phase) != ARCHIVER_IDLE)
        return STATUS_BUSY;
    archiver->result = (struct archiver_result){ .sale = sale };
    archiver->seen = atomic_load_explicit(&archiver->config.board->durable_lsn, memory_order_relaxed);
    archiver->seen_ms = 0; /* it is calm, or the owner would not begin */
    enum status status = store->ops->reader_open(store, &archiver->reader);
    if (status != STATUS_OK)
        return status;
    atomic_store(&archiver->phase, sale == 0 ? ARCHIVER_PRUNING : ARCHIVER_WRITING);
    status = thread_start(&archiver->thread, "archiver", job_run, archiver);
    if (status == STATUS_OK)
        return STATUS_OK;
    archiver->reader->ops->close(archiver->reader);
    archiver->reader = NULL;
    atomic_store(&archiver->phase, ARCHIVER_IDLE);
    return status;
}

enum archiver_phase archiver_phase(const struct archiver *archiver)
{
    return (enum archiver_phase)atomic_load(&archiver->phase);
}

bool archiver_collect(struct archiver *archiver, struct archiver_result *result)
{
    if (atomic_load(&archiver->phase) != ARCHIVER_ENDED)
        return false;
    thread_join(&archiver->thread);
    archiver->thread = (struct thread){ 0 };
    archiver->reader->ops->close(archiver->reader);
    archiver->reader = NULL;
    *result = archiver->result;
    atomic_store(&archiver->phase, ARCHIVER_IDLE);
    return true;
}

void archiver_close(struct archiver *archiver)
{
    if (archiver == NULL)
        return;
    atomic_store(&archiver->stop, true);
    if (archiver->reader != NULL)
        archiver->reader->ops->interrupt(archiver->reader);
    thread_join(&archiver->thread);
    if (archiver->reader != NULL)
        archiver->reader->ops->close(archiver->reader);
    free(archiver);
}
