/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/sim_disk.h: a disk in memory that loses what was not synced.
 *
 * Every file keeps, page by page, what it shows now and what would survive. A crash keeps an
 * arbitrary subset of the unsynced pages, and of some of them only a prefix that ends at any byte.
 * Names are their own thing: a create, a rename or a remove is not durable before sync_folder, and
 * a crash keeps an arbitrary subset of them. A failed sync leaves each page either durable or lost
 * for good: later syncs answer "fine" without it, as real kernels do. A full disk refuses pages
 * that the file does not have yet.
 *
 * Thread: one. Memory: everything is in the structure, so that thousands of disks a second cost
 * nothing. */
#ifndef STAMPEDE_TESTS_SIMULATION_SIM_DISK_H
#define STAMPEDE_TESTS_SIMULATION_SIM_DISK_H

#include "base/disk.h"
#include "base/random.h"

enum {
    SIM_PAGE = 4096,
    SIM_FILES_MAX = 128,
    SIM_FILE_PAGES_MAX = 40,
    SIM_POOL_PAGES = 3072,
    SIM_FOLDER_OPS_MAX = 64,
};

enum sim_crash {
    SIM_CRASH_KILL,  /* the process dies, the kernel lives: nothing is lost */
    SIM_CRASH_BARE,  /* power cut: nothing unsynced is left */
    SIM_CRASH_MIXED, /* power cut: any subset, torn pages */
    SIM_CRASHES,
};

enum sim_fault { SIM_FAULT_NONE, SIM_FAULT_READ, SIM_FAULT_WRITE, SIM_FAULT_SYNC, SIM_FAULT_CRASH };

struct sim_page {
    uint8_t bytes[SIM_PAGE];
};

struct sim_file_page {
    struct sim_page *now, *durable; /* NULL: zeros */
    bool allocated, dirty;
};
struct sim_file {
    bool used;
    uint32_t open_count;
    uint64_t size, durable_size;
    uint32_t pages_touched; /* pages at or past this are untouched */
    struct sim_file_page pages[SIM_FILE_PAGES_MAX];
};
struct sim_name {
    char name[DISK_NAME_MAX];
    uint32_t file;
};
struct sim_folder {
    uint32_t count;
    struct sim_name names[SIM_FILES_MAX];
};
struct sim_folder_op {
    enum { SIM_OP_CREATE, SIM_OP_RENAME, SIM_OP_REMOVE } kind;
    uint32_t file;
    char name[DISK_NAME_MAX], to[DISK_NAME_MAX];
};

struct sim_disk {
    struct disk disk; /* first: a disk is this */
    struct random random;
    bool full;           /* the harness turns it on and off */
    bool dead;           /* a planned crash has happened: everything fails until sim_disk_crash */
    enum sim_fault plan; /* fires at the plan_in-th call it fits, then is forgotten */
    uint32_t plan_in;
    uint32_t faults; /* fired so far, crashes excepted */
    uint32_t packed; /* segments that were replaced by a packed one */
    struct sim_folder now, durable;
    uint32_t op_count;
    struct sim_folder_op ops[SIM_FOLDER_OPS_MAX];
    struct sim_file files[SIM_FILES_MAX];
    uint32_t free_count;
    struct sim_page *free_pages[SIM_POOL_PAGES];
    struct sim_page *pool;
};

/* Once; `pool` must have SIM_POOL_PAGES pages. */
void sim_disk_create(struct sim_disk *disk, struct sim_page *pool);
void sim_disk_reset(struct sim_disk *disk, uint64_t seed); /* empty again */
/* What the machine finds after it comes back. Files must not be used any more by anyone. */
void sim_disk_crash(struct sim_disk *disk, enum sim_crash how);
bool sim_disk_has(const struct sim_disk *disk, const char *name);

#endif
