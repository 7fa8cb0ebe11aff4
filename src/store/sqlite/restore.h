/* SPDX-License-Identifier: Apache-2.0 */
/* store/sqlite/restore.h: what a batch needs of restore.c. */
#ifndef STAMPEDE_STORE_SQLITE_RESTORE_H
#define STAMPEDE_STORE_SQLITE_RESTORE_H

#include "contract/restore.h"
#include "store/sqlite/parts.h"

extern const struct restore_store_ops sqlite_restore_ops;

/* Make what a record names and the database has lost; the record then fills it. */
MUST_CHECK enum status sqlite_recover_sale(struct sqlite_batch *, const struct command_sale *);
MUST_CHECK enum status sqlite_recover_room(struct sqlite_batch *, sale_id); /* it has one */
MUST_CHECK enum status sqlite_recover_item(struct sqlite_batch *, const struct command_preheat *);

#endif
