/* SPDX-License-Identifier: Apache-2.0 */
/* archive/prune.c: old segments leave the data folder.
 *
 * A segment may go when (1) every sale with a record in it is archived to the end, (2) it ends before
 * the position up to which orders are written, and (3) before the older of the kept snapshots: a start
 * reads from a snapshot on, and the segment that holds the snapshot's own batch stays. Oldest first, so
 * that what is left is always one log without a gap. The server never opens such a segment again, but to
 * pack it (journal/pack.h, which takes care), so this may run beside it. */
#include "archive/bundle.h"
#include "contract/archive.h"
#include "contract/command.h"
#include "contract/record.h"
#include "journal/pack.h"
#include "journal/segment.h"

#include <stdlib.h>
#include <string.h>

enum { ITEMS_PER_READ = 256 };

struct pruning {
    uint32_t *sale_of_item;
    bool *archived; /* by sale */
    bool needed;
    uint64_t oldest_snapshot; /* UINT64_MAX: there is none */
};

static enum status sales_read(struct pruning *pruning, struct order_store *store)
{
    struct archive *archives = calloc(SALES_LIMIT, sizeof *archives);
    struct item *items = calloc(ITEMS_PER_READ, sizeof *items);
    uint32_t count = 0, read = ITEMS_PER_READ;
    item_id after = 0;
    enum status status = archives == NULL || items == NULL
        ? STATUS_FULL
        : store->ops->archive->list(store, 1, archives, SALES_LIMIT, &count);
    for (uint32_t i = 0; status == STATUS_OK && i < count; i++)
        pruning->archived[archives[i].sale] = archives[i].step == ARCHIVE_DONE;
    while (status == STATUS_OK && read == ITEMS_PER_READ) {
        status = store->ops->items(store, 0, after, items, ITEMS_PER_READ, &read);
        for (uint32_t i = 0; status == STATUS_OK && i < read; i++) {
            after = items[i].id;
            pruning->sale_of_item[after] = items[i].sale;
        }
    }
    free(archives);
    free(items);
    return status;
}

static void snapshot_see(void *context, const char *name)
{
    struct pruning *pruning = context;
    uint64_t lsn = 0;
    if (span_to_hex64(span_from_string(name + strlen("snapshot-")), &lsn) == STATUS_OK
        && lsn < pruning->oldest_snapshot)
        pruning->oldest_snapshot = lsn;
}

static enum status record_see(void *context, const struct journal_record *record, uint64_t time_ms)
{
    struct pruning *pruning = context;
    struct command command;
    struct outcome outcome;
    (void)time_ms;
    if (record_decode(record->type, record->payload, &command, &outcome) != STATUS_OK)
        return STATUS_CORRUPT;
    const sale_id sale = archive_record_sale(&command, &outcome, pruning->sale_of_item);
    if (sale >= SALES_LIMIT || (sale != 0 && !pruning->archived[sale]))
        pruning->needed = true;
    return pruning->needed ? STATUS_BUSY : STATUS_OK; /* the rest need not be read */
}

/* The oldest segment, up to `last`. */
static enum status segment_look(
    struct pruning *pruning, const struct journal_config *journal, uint64_t last)
{
    struct journal_recovery recovery;
    pruning->needed = false;
    const enum status status = journal_scan_until(journal, NULL, last, record_see, pruning, &recovery);
    return pruning->needed ? STATUS_OK : status;
}

static enum status segments_remove(struct pruning *pruning, const struct journal_config *journal,
    const uint64_t *first_lsns, uint32_t count, uint64_t position, uint32_t *removed)
{
    struct disk *disk = journal->disk;
    for (uint32_t i = 0; i + 1 < count; i++) {
        const uint64_t last = first_lsns[i + 1] - 1;
        if (last >= position || pruning->oldest_snapshot == UINT64_MAX || last >= pruning->oldest_snapshot)
            break;
        enum status status = segment_look(pruning, journal, last);
        if (status != STATUS_OK || pruning->needed)
            return status;
        status = journal_segment_remove(disk, first_lsns[i]);
        if (status != STATUS_OK)
            return status;
        ++*removed;
    }
    return STATUS_OK;
}

enum status archive_prune(const struct bundle_source *source, uint32_t *removed)
{
    struct order_store *store = source->store;
    const struct journal_config journal = bundle_journal(source);
    struct pruning pruning = { .sale_of_item = calloc(ITEMS_LIMIT, sizeof(uint32_t)),
        .archived = calloc(SALES_LIMIT, sizeof(bool)),
        .oldest_snapshot = UINT64_MAX };
    uint64_t *first_lsns = calloc(SEGMENTS_MAX, sizeof *first_lsns);
    struct position position = { 0 };
    uint32_t count = 0;
    *removed = 0;
    enum status status = pruning.sale_of_item == NULL || pruning.archived == NULL || first_lsns == NULL
        ? STATUS_FULL
        : store->ops->applied(store, PART_EMBEDDED, &position);
    if (status == STATUS_OK)
        status = sales_read(&pruning, store);
    if (status == STATUS_OK)
        status = journal.disk->ops->list(journal.disk, "snapshot-", snapshot_see, &pruning);
    if (status == STATUS_OK)
        status = segment_list(journal.disk, first_lsns, SEGMENTS_MAX, &count);
    if (status == STATUS_OK)
        status = segments_remove(&pruning, &journal, first_lsns, count, position.seq, removed);
    free(first_lsns);
    free(pruning.sale_of_item);
    free(pruning.archived);
    return status;
}
