/* SPDX-License-Identifier: Apache-2.0 */
/* archive/bundle.h: all that a sale was, in one compressed file that needs no server (docs/archive.md): lines
 * of text, gzip.
 *   stampede-bundle 1
 *   sale <id> <data id> <made ms> <start ms> <end ms>
 *   item <id> <price> <limit> <total> <locked> <sold>
 *   order <ticket> <item> <user> <quantity> <channel> <state> <reason> <price> <amount> <created>
 *         <pay by> <version>
 *   payment <id> <ticket> <paid ticket> <amount> <captured> <state> <use> <captured ms> <provider>
 *           <reference>
 *   refund <id> <payment> <ticket> <amount> <state> <done ms>
 *   part <id> <payment> <ticket> <amount> <state> <done ms>          a refund of a part of the money
 *   shipment <ticket> <state> <shipped ms> <delivered ms>
 *   sum <item> <state> <orders> <units> <amount>     the report: what the orders come to
 *   batch <bytes, hex>                               of the journal, whole: has a record of the sale
 *   log <partition> <last record>                    many machines: a log of the sale, then its entries
 *   entry <epoch> <first record> <bytes, hex>
 *   end <lines before> <SHA-256 of all that stands before this line>
 * Names, addresses and notes of customers are not in it: a user is the keyed hash that the log has.
 * Thread: one, which may take its time (struct bundle_pace). Errors: `error` says what is wrong. */
#ifndef STAMPEDE_ARCHIVE_BUNDLE_H
#define STAMPEDE_ARCHIVE_BUNDLE_H

#include "base/hash.h"
#include "contract/archive.h"
#include "journal/journal.h"

#include <stdio.h>

enum { BUNDLE_ERROR = 200, BUNDLE_NAME_MAX = ARCHIVE_NAME_MAX };

/* Asked between two small parts of the work. It may wait; false: the work is to end, with STATUS_BUSY. */
struct bundle_pace {
    bool (*go_on)(void *context);
    void *context;
};
struct bundle_source {
    struct order_store *store;
    struct disk *journal; /* its folder; NULL: many machines, the logs are in the store */
    uint64_t data_id;
    const struct bundle_pace *pace;
};
struct bundle_made {
    uint64_t orders, versions, positions; /* as struct archive_look (contract/archive.h) */
    uint64_t records, bytes;
    uint8_t hash[HASH_SHA256_BYTES]; /* of the file */
};
/* ARCHIVE_NAME */
void bundle_name(sale_id sale, char name[BUNDLE_NAME_MAX]);
/* Writes the bundle of a sale into a folder, in place of one that is there; synced when it returns. */
MUST_CHECK enum status bundle_write(const char *path, struct disk *folder,
    const struct bundle_source *source, sale_id sale, struct bundle_made *made,
    char error[BUNDLE_ERROR]);
/* Whether a file is one. */
bool bundle_is(const char *path);
/* Replays the sale's records with the engine and compares what comes out with the orders. The verdict
 * goes to `out`. STATUS_OK: all checks hold; STATUS_REFUSED: one does not; else it can't be read.
 * `pace` NULL: it need not wait for anybody. */
MUST_CHECK enum status bundle_verify(
    const char *path, const struct bundle_pace *pace, FILE *out, struct bundle_made *made);
struct journal_config bundle_journal(const struct bundle_source *source); /* to read it */

/* Removes segments of the log that nobody needs any more: every sale that has records in them is
 * archived, and the database and a start of the server begin later. *removed: how many. */
MUST_CHECK enum status archive_prune(const struct bundle_source *source, uint32_t *removed);
/* The sale that a record is about, given the sales of items; 0: none. */
struct command;
struct outcome;
sale_id archive_record_sale(
    const struct command *, const struct outcome *, const uint32_t *sale_of_item /* ITEMS_LIMIT */);

#endif
