/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator's store keeps the same rules as the real ones. */
#include "tests/seam/store_suite.h"
#include "tests/simulation/model_store.h"

#include <stddef.h>

static struct order_store *model_fresh(void *context)
{
    struct order_store *store;
    (void)context;
    return model_store_open(&store, &(struct model_store_config){ .orders = 8 }) == STATUS_OK ? store
                                                                                              : NULL;
}

static struct order_store *model_again(void *context, struct order_store *store)
{
    (void)context;
    model_store_crash(store);
    return store;
}

static void model_done(void *context, struct order_store *store)
{
    (void)context;
    store->ops->close(store);
}

int main(void)
{
    const struct store_maker maker = { "model", model_fresh, model_again, model_done, NULL };
    return store_suite_run(&maker);
}
