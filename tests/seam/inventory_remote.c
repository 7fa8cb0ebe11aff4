/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/seam/inventory_remote.h"

#include "base/clock.h"
#include "base/log.h"
#include "tests/seam/inventory_suite.h"
#include "tests/seam/remote_kit.h"
#include "tests/unit/base/unit.h"

#include <stdlib.h>

static const char *addresses;

static void *made_open(void)
{
    struct remote_kit *kit = calloc(1, sizeof *kit);
    assert_non_null(kit);
    remote_kit_open(kit, addresses);
    kit_part_want(kit, part_of_sale(1, 0));
    kit_part_want(kit, part_of_sale(2, 0));
    kit_keeper_start(kit, 7, 2);
    struct process *process = kit_process(kit, 0);
    process_open(process);
    KIT_UNTIL(kit, remote_health(process->remote).open == 2);
    return kit;
}

static void made_close(void *context)
{
    remote_kit_close(context);
    free(context);
}

static struct inventory *made_inventory(void *context)
{
    return remote_inventory(kit_process(context, 0)->remote);
}

static void made_run(void *context, uint64_t now_ms)
{
    struct remote_kit *kit = context;
    kit->given_ms = now_ms;
    process_rest(kit_process(kit, 0));
}

/* The process is another one; Redis, the keeper and the database go on. */
static void made_restart(void *context)
{
    struct process *process = kit_process(context, 0);
    process_close(process);
    process_open(process);
}

int inventory_remote_run(const char *name, const char *variable)
{
    const struct inventory_suite_maker maker = { .name = name,
        .no_reclaim = "a partition goes as a whole when its sale is over (decision 0037)",
        .no_hold = "the script itself counts what waits for the database",
        .no_failing = "Redis and the database may come back",
        .open = made_open,
        .close = made_close,
        .inventory = made_inventory,
        .run = made_run,
        .restart = made_restart };
    clock_start(0);
    log_level_set(LOG_ERROR + 1);
    addresses = getenv(variable);
    if (addresses == NULL) {
        print_error("%s is not set: run by tools/with-redis or tools/with-cluster\n", variable);
        return 1;
    }
    return inventory_suite_run(&maker);
}
