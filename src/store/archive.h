/* SPDX-License-Identifier: Apache-2.0 */
/* store/archive.h: the operations of contract/archive.h that stand in files of their own. */
#ifndef STAMPEDE_STORE_ARCHIVE_H
#define STAMPEDE_STORE_ARCHIVE_H

#include "contract/archive.h"

/* archive_wishes.c */
enum status store_wish_get(struct order_store *, sale_id, struct archive_wish *);
enum status store_wish_put(struct order_store *, const struct archive_wish *);
enum status store_wishes_count(struct order_store *, uint64_t *open, uint64_t *failed);
enum status store_archive_next(struct order_store *, uint64_t now_ms, uint64_t ended_ms,
    sale_id after, sale_id *sale, bool *asked);

/* erase.c */
enum status store_archive_erase(struct order_store *, user_id, uint64_t *rows);
enum status store_archive_erase_older(
    struct order_store *, uint64_t before_ms, struct erase_cursor *, uint64_t *rows);

#endif
