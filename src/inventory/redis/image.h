/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/image.h: the state of an engine as the fields of a partition's hashes (docs/redis.md):
 * what a partition is opened with, and what it is compared with.
 * Thread: the engine's. Memory: the texts live until the next field. */
#ifndef STAMPEDE_INVENTORY_REDIS_IMAGE_H
#define STAMPEDE_INVENTORY_REDIS_IMAGE_H

#include "inventory/engine.h"
#include "inventory/redis/script.h"

/* A field of SCRIPT_KEY_PART: its first word is the number of the last record. */
#define IMAGE_SEQ_FIELD "head"

/* What the engine does not know of its partition. */
struct image_head {
    uint32_t epoch;
    uint64_t seq, done, told, time_ms;
    uint64_t lag_max; /* so many records may wait for the database */
};

typedef void image_field(void *context, enum script_key key, struct span field, struct span value);

/* Each field once, in no order that matters. */
void image_write(
    const struct engine *engine, const struct image_head *head, image_field *put, void *context);

#endif
