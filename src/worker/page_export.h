/* SPDX-License-Identifier: Apache-2.0 */
/* worker/page_export.h: exports the pages (page.export) whenever the public catalog has changed: this program
 * again, as `stampede export`, in a process of its own that reads the pages as every browser does. One at a
 * time; what changes meanwhile leads to another one. A failure is logged and tried again.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_PAGE_EXPORT_H
#define STAMPEDE_WORKER_PAGE_EXPORT_H

#include <stdint.h>

struct arena;
struct config;
struct task;

struct page_export;
struct page_export *page_export_open(struct arena *arena, const struct config *config, struct task *task);
void page_export_start(struct page_export *export, uint16_t port); /* the server listens there */
void page_export_wanted(struct page_export *export);               /* the catalog is another one */

#endif
