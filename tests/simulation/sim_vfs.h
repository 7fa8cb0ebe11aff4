/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/sim_vfs.h: the files of SQLite in memory, on a disk that loses what was not
 * synced. The same promises as sim_disk.h: a crash keeps any subset of the unsynced pages (of 512
 * bytes here, so that SQLite's own pages tear), and the last bytes of some. One database at a
 * time; the shared memory of the WAL is plain memory. Thread: one. */
#ifndef STAMPEDE_TESTS_SIMULATION_SIM_VFS_H
#define STAMPEDE_TESTS_SIMULATION_SIM_VFS_H

#include "tests/simulation/sim_disk.h"

#define SIM_VFS_NAME "stampede-sim"

void sim_vfs_register(void);           /* once */
void sim_vfs_reset(uint64_t seed);     /* no files */
void sim_vfs_crash_in(uint32_t calls); /* the machine stops at the so-many-th write or sync from now */
void sim_vfs_crash_not(void);          /* forget that plan */
bool sim_vfs_dead(void);
void sim_vfs_kill(void);                  /* the machine has stopped: every call fails */
void sim_vfs_restart(enum sim_crash how); /* and comes back; every file must be closed */
void sim_vfs_keep(void);                  /* a copy of all files, as they are now */
void sim_vfs_put_back(void);  /* that copy, and nothing else; every file must be closed */
void sim_vfs_full(bool full); /* writes that need more room are refused */

#endif
