/* SPDX-License-Identifier: Apache-2.0 */
/* store/sqlite/sqlite.h: the order store on one machine: a SQLite file in WAL mode, synchronous=FULL.
 * Exactly one connection writes and checkpoints; others may only read the file. docs/store.md has
 * the tables.
 * Thread: the store thread only (opening may happen on another one before it starts).
 * Errors: as contract/order_store.h says. sqlite_store_open: STATUS_AWAY: can't be opened or
 * written now; STATUS_CORRUPT: not a database, or damaged; STATUS_CONFLICT: a database of another
 * program or of another schema version; STATUS_BAD_INPUT: no such VFS. `error` then says what is
 * wrong, by name. */
#ifndef STAMPEDE_STORE_SQLITE_SQLITE_H
#define STAMPEDE_STORE_SQLITE_SQLITE_H

#include "contract/order_store.h"
#include "store/schema.h"

#include <stddef.h>

enum {
    SQLITE_SCHEMA_FIRST = 5, /* the oldest one that can be migrated */
    SQLITE_SCHEMA_VERSION = STORE_SCHEMA_VERSION,
    SQLITE_APPLICATION_ID = 0x53544d50, /* "STMP" */
    SQLITE_CHECKPOINT_PAGES = 8000,     /* the WAL is folded back at about 32 MB */
    SQLITE_READER_CACHE_KIB = 32 * 1024,
    SQLITE_READER_BUSY_MS = 1000,
    SQLITE_STEPS_AT_A_TIME = 500, /* of a statement, before others are let through: some 50 µs */
    SQLITE_CACHE_KIB = 4 * 1024,  /* more is the system's: its pages cost no memory of ours */
};

/* Opens or makes the database at `path`; `vfs` names a registered SQLite VFS (NULL: the
 * default). */
MUST_CHECK enum status sqlite_store_open(
    struct order_store **store, const char *path, const char *vfs, char *error, size_t error_bytes);
/* For a server, which writes much: a cache that may grow to so many MiB, and pages that are written out a few
 * at a time when the WAL is folded. */
MUST_CHECK enum status sqlite_store_serve(struct order_store *store, uint32_t cache_mib);
/* A copy of the database as it is at one moment, which others may go on changing meanwhile: what is
 * copied does
 * not change. `to` must not exist. The copy is synced in parts; `pace` is called after each. */
MUST_CHECK enum status sqlite_store_copy(const char *path, const char *to,
    void (*pace)(void *context, uint64_t bytes), void *context, char *error, size_t error_bytes);
/* Brings the database of an earlier version to the present schema, in one transaction, after copying it
 * to `<path>.schema-<version>`. Does nothing to a present one, to none, and to a foreign one.
 * sqlite_store_open itself refuses older schemas, so that reading programs change nothing. */
MUST_CHECK enum status sqlite_store_migrate(
    const char *path, const char *vfs, char *error, size_t error_bytes);

#endif
