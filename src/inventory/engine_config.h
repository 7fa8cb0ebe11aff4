/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/engine_config.h: how large an engine is (inventory/engine.h). */
#ifndef STAMPEDE_INVENTORY_ENGINE_CONFIG_H
#define STAMPEDE_INVENTORY_ENGINE_CONFIG_H

#include <stdint.h>

struct engine_config {
    uint32_t items_max; /* ids 1 … items_max − 1 */
    uint32_t sales_max;
    uint64_t tickets_max;
    uint64_t places_max; /* in the waiting rooms of all sales; 0: no waiting rooms */
};

#endif
