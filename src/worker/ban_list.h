/* SPDX-License-Identifier: Apache-2.0 */
/* worker/ban_list.h: from the bans in the database to the set that edges ask. All of them are read at the
 * start; later each that comes or goes is put into the set by itself, whatever their number.
 * Thread: the worker's. Errors: while the bans can't be read, the previous ones stay in force. */
#ifndef STAMPEDE_WORKER_BAN_LIST_H
#define STAMPEDE_WORKER_BAN_LIST_H

#include "base/address.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct ban;
struct handover;
struct order_store;
struct reader_turns;
struct task;

struct ban_list;
struct ban_list_config {
    struct order_store *store;
    struct handover *shown; /* struct ban_set */
    struct reader_turns *turns;
    const char *proxies; /* proxy.trusted */
};
struct ban_list *ban_list_open(
    struct arena *arena, const struct ban_list_config *config, struct task *task);
void ban_list_changed(struct ban_list *list); /* by others: all are read again */
void ban_list_lifted(struct ban_list *list, uint64_t id, uint64_t now_ms); /* the database has lifted it */
/* What has changed is in force when it returns, if the database can be read. */
void ban_list_show(struct ban_list *list, uint64_t now_ms);
/* Fills the id. STATUS_FULL: BANS_MAX are in force at ban->created_ms. */
MUST_CHECK enum status ban_list_put(struct ban_list *list, struct ban *ban);
uint64_t ban_list_count(const struct ban_list *list); /* those in force */
/* The machine itself, or a proxy of it: never banned by a rule. */
bool ban_list_is_protected(const struct ban_list *list, const struct address_block *block);
/* "user 12…", or the addresses. */
void ban_target(const struct ban *ban, char out[ADDRESS_BLOCK_CHARS_MAX + 8]);

#endif
