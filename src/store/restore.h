/* SPDX-License-Identifier: Apache-2.0 */
/* store/restore.h: what a batch needs of restore.c. */
#ifndef STAMPEDE_STORE_RESTORE_H
#define STAMPEDE_STORE_RESTORE_H

#include "contract/restore.h"
#include "store/parts.h"

extern const struct restore_store_ops store_restore_ops;

/* Make what a record names and the database has lost; the record then fills it. */
MUST_CHECK enum status store_recover_sale(struct store_batch *, const struct command_sale *);
MUST_CHECK enum status store_recover_room(struct store_batch *, sale_id); /* it has one */
MUST_CHECK enum status store_recover_item(struct store_batch *, const struct command_preheat *);

#endif
