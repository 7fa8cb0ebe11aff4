/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/cluster/db_parts.h: what db.c (rows) and db_ops.c (operations of the seam) share. */
#ifndef STAMPEDE_TESTS_CLUSTER_DB_PARTS_H
#define STAMPEDE_TESTS_CLUSTER_DB_PARTS_H

#include "contract/ticket_number.h"
#include "tests/simulation/cluster/db.h"

/* As store_parts_make: all partitions of its sale at once, if it has none. */
void db_parts_make(uint32_t part);
void db_record_apply(struct db_part *part, const struct queue_record *record, uint32_t epoch);
void db_late_forget(void);

#endif
