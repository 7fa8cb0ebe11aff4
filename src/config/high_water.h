/* SPDX-License-Identifier: Apache-2.0 */
/* config/high_water.h: how far the database of a data folder had got, kept beside it in the file
 * `high-water`, so that an older database is known when it comes back, and no number is given twice.
 *
 *   stampede-high-water 1
 *   position 5312                  orders are written up to here
 *   restoring 0                    1: `stampede restore` has begun, and not ended; 2: and the log is a
 * backup's, so
 *                                  that numbers of tickets have to be left out
 *   payments 17 4113               numbers given, and numbers that may have been given since
 *   …                              a line for each kind of row (contract/restore.h)
 *   crc32c 0a1b2c3d                of everything before this line
 *
 * It is replaced whole. Numbers are reserved before they can be used: those of the tables that count
 * by themselves in blocks, those of products, sales and items one by one, since there are few.
 * Thread: start-up, then the store thread. */
#ifndef STAMPEDE_CONFIG_HIGH_WATER_H
#define STAMPEDE_CONFIG_HIGH_WATER_H

#include "base/disk.h"
#include "contract/restore.h"

enum { HIGH_WATER_BLOCK = 4096, HIGH_WATER_TEXT = 200 };

enum high_water_restoring { HIGH_WATER_SERVED, HIGH_WATER_RESTORING, HIGH_WATER_FROM_BACKUP };

struct high_water {
    lsn_t position;     /* of partition 0: the journal that the folder has */
    uint32_t restoring; /* enum high_water_restoring */
    uint32_t count;
    struct {
        struct store_sequence used;
        uint64_t reserved;
    } rows[SEQUENCES_MAX];
};

/* STATUS_NOT_FOUND: there is none (yet). STATUS_CORRUPT: damaged. */
MUST_CHECK enum status high_water_read(struct disk *folder, struct high_water *mark);
MUST_CHECK enum status high_water_write(struct disk *folder, const struct high_water *mark);

/* Reads the numbers that the store has given by now. True in *ahead: more must be reserved
 * (high_water_reserve) and written before anybody relies on a number. */
MUST_CHECK enum status high_water_look(
    struct high_water *mark, struct order_store *store, bool *changed, bool *ahead);
/* `blocks` false: exactly what was given, at a clean stop. */
void high_water_reserve(struct high_water *mark, bool blocks);
/* No number that is reserved in `mark` is given again. */
MUST_CHECK enum status high_water_raise(const struct high_water *mark, struct order_store *store);
/* True: the store is older than `mark`; `what` says in what. */
MUST_CHECK enum status high_water_compare(const struct high_water *mark, struct order_store *store,
    bool *older, char what[HIGH_WATER_TEXT]);

#endif
