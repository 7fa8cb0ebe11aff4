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

/* The tables that the fields are made of, in the order of a walk. */
enum image_table {
    IMAGE_HEAD,
    IMAGE_SALES,
    IMAGE_ITEMS,
    IMAGE_BUYERS,
    IMAGE_PLACES,
    IMAGE_COMMANDS, /* of operators, with a key */
    IMAGE_TICKETS,
    IMAGE_TABLES,
};
enum {
    IMAGE_ROW_FIELDS_MAX = 5, /* of one row: those of the head; others have two */
    IMAGE_SCAN_MAX = 16384,   /* rows that a step looks at, used or not */
};

/* Rows of a table: from `from` on, before `to`. */
struct image_rows {
    uint32_t table;
    uint64_t from, to;
};
/* Where a walk is. All zero: at the beginning of everything. */
struct image_walk {
    uint32_t table; /* IMAGE_TABLES: at the end */
    uint64_t row;
    uint64_t from[IMAGE_TABLES];    /* rows before are left out */
    uint64_t reached[IMAGE_TABLES]; /* of tables that were walked: where they ended */
    struct image_rows last;         /* what the last step has looked at */
};

/* The fields of the next rows, at most so many rows and of one table. False: nothing was left. */
bool image_walk_on(const struct engine *engine, const struct image_head *head,
    struct image_walk *walk, uint32_t rows, image_field *put, void *context);
/* The fields of these rows as they are now. */
void image_rows_write(const struct engine *engine, const struct image_head *head,
    const struct image_rows *rows, image_field *put, void *context);
/* Would image_write put this field? */
bool image_has(const struct engine *engine, enum script_key key, struct span field);
/* How many fields each hash has. */
void image_count(const struct engine *engine, uint64_t counts[SCRIPT_HASHES]);

#endif
