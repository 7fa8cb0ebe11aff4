/* SPDX-License-Identifier: Apache-2.0 */
/* store/cluster.h: what several machines share through the store (contract/cluster_store.h). */
#ifndef STAMPEDE_STORE_CLUSTER_H
#define STAMPEDE_STORE_CLUSTER_H

#include "contract/cluster_store.h"

struct store_batch;

/* partition.c */
extern const char store_cluster_tables[];
/* Inside a batch whose partition is locked, before its records: they are kept under this epoch. Nothing is
 * written if all of them, up to `last`, are in already. */
MUST_CHECK enum status store_entry_write(
    struct store_batch *, const struct journal_entry *, uint64_t last);
enum status store_part_state(struct order_store *, uint32_t part, struct part_state *);
enum status store_parts_list(
    struct order_store *, uint32_t from, struct part_state *, uint32_t max, uint32_t *count);
enum status store_part_want(struct order_store *, uint32_t part);
enum status store_epoch_raise(struct order_store *, uint32_t part, uint32_t from);
enum status store_journal_next(
    struct order_store *, uint32_t part, uint64_t after, struct journal_entry *, uint8_t *buffer);

/* moving.c */
enum status store_moving(struct order_store *, enum shop_moving *);

/* switch.c */
enum status store_switch_set(struct order_store *, const struct switch_row *);
enum status store_switch_list(struct order_store *, struct switch_row *, uint32_t max, uint32_t *count);

/* member.c */
enum status store_member_set(struct order_store *, const struct member *);
enum status store_member_list(struct order_store *, struct member *, uint32_t max, uint32_t *count);
enum status store_member_remove(struct order_store *, uint64_t process);
enum status store_members_forget(struct order_store *, uint64_t before_ms);
enum status store_write_check(struct order_store *, char *what, size_t what_bytes);

/* lease.c */
extern const struct cluster_store_ops store_cluster_ops;
enum status store_now(struct order_store *, uint64_t *now_ms);
enum status store_audit_last(struct order_store *, uint64_t *id); /* audit.c */
enum status store_lease_take(
    struct order_store *, const char *name, uint64_t holder, uint32_t ms, struct lease *);
enum status store_lease_look(struct order_store *handle, const char *name, struct lease *lease);
enum status store_lease_give(struct order_store *, const char *name, uint64_t holder);

/* apply.c */
enum status store_apply_entry(struct order_store *, const struct journal_entry *,
    const struct queue_record *, const uint8_t *dispositions, uint32_t count, struct refusal *);

#endif
