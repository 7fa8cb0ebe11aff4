/* SPDX-License-Identifier: Apache-2.0 */
/* verify/verify_archives.c: orders that are not in the database because their sale was archived, and
 * numbers that nobody got. Which number was whose is in the bundles; here their count must be right, to the
 * last one. */
#include "contract/archive.h"
#include "contract/ticket_number.h"
#include "verify/verify_parts.h"

#include <inttypes.h>
#include <stdlib.h>

static enum status archives_list(struct verify *verify)
{
    const struct archive_store_ops *ops = verify->store->ops->archive;
    if (ops == NULL)
        return STATUS_OK;
    const enum status status =
        ops->list(verify->store, 0, verify->archives, SALES_LIMIT, &verify->archive_count);
    for (uint32_t i = 0; status == STATUS_OK && i < verify->archive_count; i++)
        verify->sale_archived[verify->archives[i].sale] = verify->archives[i].sale != 0;
    return status;
}

enum status verify_archives_read(struct verify *verify)
{
    verify->sale_archived = calloc(SALES_LIMIT, sizeof *verify->sale_archived);
    verify->archives = calloc(SALES_LIMIT, sizeof *verify->archives);
    if (verify->sale_archived == NULL || verify->archives == NULL)
        return STATUS_FULL;
    return archives_list(verify);
}

bool verify_archives_again(struct verify *verify)
{
    enum { AGAIN_MAX = 64 };
    const uint32_t before = verify->archive_count;
    if (verify->store == NULL || verify->archives == NULL || verify->archives_read++ >= AGAIN_MAX)
        return false;
    if (archives_list(verify) != STATUS_OK)
        return false;
    return verify->archive_count != before;
}

void verify_archives_close(struct verify *verify)
{
    free(verify->archives);
    free(verify->sale_archived);
    verify->archives = NULL;
    verify->sale_archived = NULL;
    verify->archive_count = 0;
}

bool verify_item_archived(const struct verify *verify, item_id item)
{
    const struct verify_log *log = verify->items[item].log;
    return verify->sale_archived != NULL && item < verify->config.items_max && log != NULL
        && verify->sale_archived[log->engine->items[item].sale];
}

void verify_gone_check(struct verify *verify)
{
    uint64_t left = 0;
    for (uint32_t i = 0; i < verify->archive_count; i++)
        left += verify->archives[i].orders;
    if (verify->gone != left && !verify->source.partitions)
        verify_fail(verify, CHECK_ORDERS,
            "%" PRIu64 " tickets have no order and no dead letter, but archived sales and numbers "
            "that were left "
            "out make %" PRIu64,
            verify->gone, left);
}
