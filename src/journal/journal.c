/* SPDX-License-Identifier: Apache-2.0 */
/* journal/journal.c: the writer.
 *
 * FORMAT of a batch (little-endian; starts on a page of its own, padded with zeros to the end of
 * its last page)
 *    0  u32  magic "SBAT"
 *    4  u32  CRC32C of bytes 8 … bytes − 1
 *    8  u32  bytes: header and records, without padding
 *   12  u32  records, at least 1
 *   16  u64  LSN of the first record; the others follow one by one
 *   24  u64  time, ms since 1970; never less than in the batch before
 *   32  u64  data id
 *   40  32   SHA-256 of the batch before (its `bytes` bytes, no padding); zeros in the very first
 *   72       records: u16 payload bytes, u8 type (never 0), u8 zero, payload
 *
 * DESIGN
 * Two buffers: the owner fills one while the writer thread has the other. journal_seal swaps
 * them, and refuses while one is in flight. The owner alone decides where a batch goes (it knows
 * all sizes), so it knows without asking whether a record still fits: into the present segment,
 * or, if one is ready, into the spare. The writer only executes.
 *
 * The spare's life, one atomic:
 *   NONE ──prepare──► READY ──seal that rolls──► TAKEN ──write──► NONE
 * Each arrow belongs to one thread, and each store releases what the next thread reads.
 *
 * Checksum, hash, padding, write and sync are all the writer's work; an append is a header and the
 * payload, which the owner writes where it stays. */
#include "journal/journal.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/histogram.h"
#include "base/log.h"
#include "journal/batch.h"
#include "journal/format.h"
#include "journal/recover.h"

#include <errno.h>
#include <stdalign.h>
#include <stdatomic.h>

enum spare_state { SPARE_NONE, SPARE_READY, SPARE_TAKEN };

struct journal {
    /* Owner. */
    alignas(64) uint8_t *fill; /* the buffer that grows; room for the header is left in front */
    uint32_t fill_bytes;
    uint32_t fill_limit; /* as far as it may grow by what is known */
    uint32_t fill_records;
    uint64_t next_lsn;
    uint64_t last_time_ms;
    uint64_t offset;        /* where the filling batch goes, if it fits */
    uint64_t segment_bytes; /* of the segment that it goes to */
    uint32_t segment_batch_bytes;
    uint8_t *buffers[2];

    /* The sealed batch: written by the owner before `sealed` is set, read by the writer after. */
    alignas(64) uint8_t *sealed_data;
    uint32_t sealed_bytes;
    bool sealed_rolls;
    uint64_t sealed_offset, sealed_first_lsn, sealed_last_lsn, sealed_time_ms;

    /* Writer; the owner may look while nothing is sealed. */
    alignas(64) struct segment present;
    struct journal_position end;
    uint32_t buffer_used[2]; /* of each buffer: from there on it holds zeros */

    /* Shared; each names who writes it. */
    alignas(64) _Atomic bool sealed; /* owner sets, writer clears */
    _Atomic bool failed;             /* writer */
    _Atomic uint32_t spare_state;    /* see DESIGN */
    _Atomic uint64_t durable;        /* writer */
    _Atomic uint64_t segments_begun; /* writer */
    _Atomic uint64_t segment_start;  /* writer */
    struct segment spare;            /* whoever may change spare_state */

    /* Constant after open. */
    struct journal_config config;
    struct arena arena;
};

static uint32_t present_limit(const struct journal *journal)
{
    uint64_t left = journal->segment_bytes - journal->offset;
    uint32_t most = journal->config.batch_bytes < journal->segment_batch_bytes
        ? journal->config.batch_bytes
        : journal->segment_batch_bytes;
    return left < most ? (uint32_t)left : most;
}

static bool spare_is(const struct journal *journal, enum spare_state state)
{
    return atomic_load_explicit(&journal->spare_state, memory_order_acquire) == (uint32_t)state;
}

static void spare_becomes(struct journal *journal, enum spare_state state)
{
    atomic_store_explicit(&journal->spare_state, (uint32_t)state, memory_order_release);
}

static void fill_start(struct journal *journal, uint8_t *buffer)
{
    journal->fill = buffer;
    journal->fill_bytes = BATCH_HEADER_BYTES;
    journal->fill_records = 0;
    journal->fill_limit = present_limit(journal);
}

enum status journal_open(struct journal **opened, const struct journal_config *config,
    const struct journal_position *from, journal_each each, void *context,
    struct journal_recovery *recovery)
{
    struct recovered recovered;
    struct arena arena;
    *opened = NULL;
    enum status status = recover_journal(config, from, each, context, recovery, &recovered);
    if (status != STATUS_OK)
        return status;
    status = arena_open(&arena, 2 * (size_t)config->batch_bytes + sizeof(struct journal) + JOURNAL_PAGE);
    if (status != STATUS_OK) {
        segment_close(config->disk, &recovered.present);
        segment_close(config->disk, &recovered.spare);
        return status;
    }
    struct journal *journal = arena_take(&arena, 1, sizeof *journal);
    journal->buffers[0] = arena_take(&arena, 1, config->batch_bytes);
    journal->buffers[1] = arena_take(&arena, 1, config->batch_bytes);
    memset(journal->buffers[0], 0, config->batch_bytes); /* page faults now, not during a sale */
    memset(journal->buffers[1], 0, config->batch_bytes);
    journal->arena = arena;
    journal->config = *config;
    journal->next_lsn = recovery->end.lsn + 1;
    journal->last_time_ms = recovery->end.time_ms;
    journal->offset = recovered.offset;
    journal->segment_bytes = recovered.present.bytes;
    journal->segment_batch_bytes = recovered.present.batch_bytes;
    fill_start(journal, journal->buffers[0]);
    journal->present = recovered.present;
    journal->end = recovery->end;
    journal->spare = recovered.spare;
    atomic_init(&journal->sealed, false);
    atomic_init(&journal->failed, false);
    atomic_init(&journal->spare_state, (uint32_t)(recovered.spare.is_open ? SPARE_READY : SPARE_NONE));
    atomic_init(&journal->durable, recovery->end.lsn);
    atomic_init(&journal->segments_begun, recovered.segments);
    atomic_init(&journal->segment_start, recovered.present.first_lsn);
    *opened = journal;
    return STATUS_OK;
}

void journal_close(struct journal *journal)
{
    if (journal == NULL)
        return;
    segment_close(journal->config.disk, &journal->present);
    segment_close(journal->config.disk, &journal->spare);
    struct arena arena = journal->arena; /* holds the journal itself */
    arena_close(&arena);
}

/* ---- owner ---------------------------------------------------------------------------------- */

static uint32_t widest_limit(const struct journal *journal)
{
    return spare_is(journal, SPARE_READY) ? journal->config.batch_bytes : present_limit(journal);
}

uint32_t journal_room(const struct journal *journal)
{
    if (journal_failed(journal))
        return 0;
    uint32_t limit = journal->fill_limit;
    if (limit < journal->config.batch_bytes)
        limit = widest_limit(journal);
    if (limit <= journal->fill_bytes)
        return 0;
    return (limit - journal->fill_bytes) / (RECORD_HEADER_BYTES + JOURNAL_RECORD_MAX);
}

uint8_t *journal_payload(struct journal *journal, uint32_t bytes_max)
{
    const uint32_t after = journal->fill_bytes + RECORD_HEADER_BYTES + bytes_max;
    invariant(bytes_max <= JOURNAL_RECORD_MAX);
    if (__builtin_expect(after > journal->fill_limit, 0)) {
        journal->fill_limit = widest_limit(journal);
        invariant(after <= journal->fill_limit); /* the owner asks journal_room first */
    }
    return journal->fill + journal->fill_bytes + RECORD_HEADER_BYTES;
}

uint64_t journal_append(struct journal *journal, uint8_t type, uint32_t bytes)
{
    const uint32_t after = journal->fill_bytes + RECORD_HEADER_BYTES + bytes;
    invariant(bytes <= JOURNAL_RECORD_MAX && after <= journal->fill_limit && type != 0);
    bytes_put_u32(journal->fill + journal->fill_bytes, bytes | (uint32_t)type << (8 * RECORD_AT_TYPE));
    journal->fill_bytes = after;
    journal->fill_records++;
    return journal->next_lsn++;
}

bool journal_seal(struct journal *journal, uint64_t time_ms)
{
    if (journal->fill_records == 0 || journal_writing(journal) || journal_failed(journal))
        return false;
    if (time_ms < journal->last_time_ms)
        time_ms = journal->last_time_ms;
    journal->last_time_ms = time_ms;

    const uint32_t bytes = journal->fill_bytes;
    journal->sealed_rolls = bytes > present_limit(journal); /* limits are whole pages, so padding fits too */
    if (journal->sealed_rolls) {
        invariant(spare_is(journal, SPARE_READY));
        spare_becomes(journal, SPARE_TAKEN);
        journal->offset = JOURNAL_PAGE;
        journal->segment_bytes = journal->config.segment_bytes;
        journal->segment_batch_bytes = journal->config.batch_bytes;
    }
    uint8_t *data = journal->fill;
    journal->sealed_data = data;
    journal->sealed_bytes = bytes;
    journal->sealed_offset = journal->offset;
    journal->sealed_first_lsn = journal->next_lsn - journal->fill_records;
    journal->sealed_last_lsn = journal->next_lsn - 1;
    journal->sealed_time_ms = time_ms;
    batch_head_put(data, bytes, journal->fill_records, journal->sealed_first_lsn, time_ms,
        journal->config.data_id);

    journal->offset += format_pages(bytes);
    invariant(journal->offset <= journal->segment_bytes);
    fill_start(journal, data == journal->buffers[0] ? journal->buffers[1] : journal->buffers[0]);
    atomic_store_explicit(&journal->sealed, true, memory_order_release);
    return true;
}

uint64_t journal_durable(const struct journal *journal)
{
    return atomic_load_explicit(&journal->durable, memory_order_acquire);
}

uint64_t journal_appended(const struct journal *journal)
{
    return journal->next_lsn - 1;
}

bool journal_writing(const struct journal *journal)
{
    return atomic_load_explicit(&journal->sealed, memory_order_acquire);
}

void journal_end(const struct journal *journal, struct journal_position *end)
{
    invariant(!journal_writing(journal));
    *end = journal->end;
}

/* ---- writer --------------------------------------------------------------------------------- */

static enum status roll(struct journal *journal)
{
    struct disk *disk = journal->config.disk;
    invariant(spare_is(journal, SPARE_TAKEN));
    enum status status = segment_place(disk, &journal->spare, journal->sealed_first_lsn);
    if (status != STATUS_OK)
        return status;
    segment_close(disk, &journal->present);
    journal->present = journal->spare;
    journal->spare = (struct segment){ 0 };
    atomic_store_explicit(&journal->segment_start, journal->sealed_first_lsn, memory_order_release);
    atomic_fetch_add_explicit(&journal->segments_begun, 1, memory_order_release);
    spare_becomes(journal, SPARE_NONE);
    return STATUS_OK;
}

static HISTOGRAM(sync_times, "stampede_journal_sync_seconds", "Time that a sync of the journal took.");

static enum status sync_once(struct journal *journal)
{
    struct disk *disk = journal->config.disk;
    const uint64_t since_ns = clock_monotonic_ns();
    const enum status status = disk->ops->sync(disk, journal->present.file);
    histogram_note(&sync_times, (clock_monotonic_ns() - since_ns) / 1000);
    return status;
}

static void finish_batch(struct journal *journal, uint8_t digest[HASH_SHA256_BYTES])
{
    uint8_t *data = journal->sealed_data;
    const uint32_t bytes = journal->sealed_bytes;
    const uint32_t pages = (uint32_t)format_pages(bytes);
    uint32_t *used = &journal->buffer_used[data == journal->buffers[1]];
    batch_finish(data, bytes, journal->end.hash, digest);
    if (*used > bytes) /* of a longer batch before; all else are zeros still */
        memset(data + bytes, 0, (*used < pages ? *used : pages) - bytes);
    if (*used < pages)
        *used = bytes;
}

enum status journal_write(struct journal *journal)
{
    struct disk *disk = journal->config.disk;
    uint8_t digest[HASH_SHA256_BYTES];
    if (journal_failed(journal))
        return STATUS_IO;
    if (!journal_writing(journal))
        return STATUS_OK;
    finish_batch(journal, digest);
    enum status status = journal->sealed_rolls ? roll(journal) : STATUS_OK;
    if (status == STATUS_OK)
        status = disk->ops->write(disk, journal->present.file, journal->sealed_offset,
            journal->sealed_data, format_pages(journal->sealed_bytes));
    if (status == STATUS_OK)
        status = sync_once(journal);
    if (status != STATUS_OK) {
        log_error("journal", "can't write batch lsn=%llu…%llu: %s, errno=%d; no further win is possible",
            (unsigned long long)journal->sealed_first_lsn,
            (unsigned long long)journal->sealed_last_lsn, status_name(status), errno);
        /* `sealed` stays set: nothing can be sealed or written any more. */
        atomic_store_explicit(&journal->failed, true, memory_order_release);
        return status;
    }
    journal->end.lsn = journal->sealed_last_lsn;
    journal->end.time_ms = journal->sealed_time_ms;
    memcpy(journal->end.hash, digest, sizeof digest);
    atomic_store_explicit(&journal->durable, journal->sealed_last_lsn, memory_order_release);
    atomic_store_explicit(&journal->sealed, false, memory_order_release);
    return STATUS_OK;
}

bool journal_failed(const struct journal *journal)
{
    return atomic_load_explicit(&journal->failed, memory_order_acquire);
}

/* ---- preparing ------------------------------------------------------------------------------ */

enum status journal_prepare(struct journal *journal)
{
    if (!journal_wants_segment(journal))
        return STATUS_OK;
    enum status status = segment_make_spare(&journal->config, &journal->spare);
    if (status == STATUS_OK)
        spare_becomes(journal, SPARE_READY);
    return status;
}

bool journal_wants_segment(const struct journal *journal)
{
    return spare_is(journal, SPARE_NONE) && !journal_failed(journal);
}

uint64_t journal_segments_begun(const struct journal *journal)
{
    return atomic_load_explicit(&journal->segments_begun, memory_order_acquire);
}

uint64_t journal_segment_start(const struct journal *journal)
{
    return atomic_load_explicit(&journal->segment_start, memory_order_acquire);
}
