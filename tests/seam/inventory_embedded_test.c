/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/inventory_embedded_test.c: the embedded inventory keeps the rules of the seam. */
#include "inventory/embedded.h"

#include "tests/seam/inventory_suite.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/journal/memory_disk.h"

#include <stdlib.h>

struct made {
    struct disk *disk;
    struct embedded *embedded;
};

static void inventory_start(struct made *made)
{
    struct embedded_report report;
    const struct embedded_config config = {
        .journal = { .disk = made->disk,
            .data_id = 9,
            .segment_bytes = 8 * JOURNAL_PAGE,
            .batch_bytes = 2 * JOURNAL_PAGE },
        .engine = { .items_max = 4, .sales_max = 3, .tickets_max = 200, .places_max = 100 },
        .ports = INVENTORY_SUITE_PORTS,
        .ring_slots = 64,
    };
    assert_int_equal(embedded_open(&made->embedded, &config, &report), STATUS_OK);
}

static void *made_open(void)
{
    struct made *made = calloc(1, sizeof *made);
    assert_non_null(made);
    made->disk = memory_disk_open(11);
    inventory_start(made);
    return made;
}

static void made_close(void *context)
{
    struct made *made = context;
    embedded_close(made->embedded);
    memory_disk_close(made->disk);
    free(made);
}

static struct inventory *made_inventory(void *context)
{
    struct made *made = context;
    return embedded_inventory(made->embedded);
}

static void made_run(void *context, uint64_t now_ms)
{
    struct made *made = context;
    struct inventory *inventory = embedded_inventory(made->embedded);
    do {
        inventory->ops->turn(inventory, now_ms);
        (void)embedded_write(made->embedded);
        assert_true(embedded_housekeep(made->embedded) == STATUS_OK || inventory_failed(inventory));
        inventory->ops->turn(inventory, now_ms);
    } while (!embedded_idle(made->embedded) && !inventory_failed(inventory));
}

static void made_break(void *context)
{
    struct made *made = context;
    memory_disk_fail(made->disk, MEMORY_SYNC, 1);
}

static void made_restart(void *context)
{
    struct made *made = context;
    embedded_close(made->embedded);
    memory_disk_power_cut(made->disk);
    inventory_start(made);
}

int main(void)
{
    const struct inventory_suite_maker maker = { .name = "embedded inventory",
        .open = made_open,
        .close = made_close,
        .inventory = made_inventory,
        .run = made_run,
        .break_medium = made_break,
        .restart = made_restart };
    return inventory_suite_run(&maker);
}
