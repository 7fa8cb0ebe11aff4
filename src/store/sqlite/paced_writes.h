/* SPDX-License-Identifier: Apache-2.0 */
/* store/sqlite/paced_writes.h: when SQLite folds its WAL it writes thousands of pages and syncs them all at
 * once; a sync of the journal on the same disk waits meanwhile. So pages of the database go to the disk in
 * slices while they are written, and threads that sell get the core in between. Nothing depends on it: SQLite
 * syncs as before.
 * Thread: paced_writes_start once, before others use SQLite. */
#ifndef STAMPEDE_STORE_SQLITE_PACED_WRITES_H
#define STAMPEDE_STORE_SQLITE_PACED_WRITES_H

#include <stdint.h>

void paced_writes_start(void);
uint64_t paced_writes_slices(void); /* how many so far; any thread */

#endif
