/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/comparison.h: does Redis have of a partition what the engine of its log makes of it? Redis
 * goes on meanwhile, so it is asked in steps, and each step is exact:
 *
 *   comparison_ask     names some fields of the engine as it is now; one read-only script asks for their
 *                      values, for the last record (H) and for how many fields there are, all at one moment
 *   comparison_take    keeps the reply, which names H
 *   (the owner)        waits until the engine has applied record H, and not the next one
 *   comparison_judge   makes the fields of the same rows anew, and compares
 *
 * If the engine is past H by then, the same step is asked again. At the end the numbers of fields are
 * compared; where Redis has more or fewer, or a difference was found, its fields are walked (HSCAN) for those
 * that the engine does not have. A step has at most COMPARISON_ROWS rows, so neither Redis nor the owner's
 * thread stands still.
 * Thread: the engine's. Memory: the caller's; it is large. */
#ifndef STAMPEDE_INVENTORY_REDIS_COMPARISON_H
#define STAMPEDE_INVENTORY_REDIS_COMPARISON_H

#include "inventory/redis/image.h"
#include "inventory/redis/keys.h"
#include "redis/reply.h"
#include "redis/request.h"

enum {
    COMPARISON_ROWS = 100, /* of the engine, in a step */
    COMPARISON_FIELDS = 2 * COMPARISON_ROWS + IMAGE_ROW_FIELDS_MAX,
    COMPARISON_VALUE_MAX = 512, /* the engine makes none that is longer */
    COMPARISON_NAME_MAX = 64,
    COMPARISON_TEXT_MAX = 160,
    COMPARISON_WORDS = 3 + 2 * SCRIPT_HASHES + COMPARISON_FIELDS,
};

struct compared_field {
    uint8_t key; /* enum script_key */
    bool is_there, is_judged;
    uint32_t name_size, value_size; /* what was kept of it: a longer one is cut */
    char name[COMPARISON_NAME_MAX], value[COMPARISON_VALUE_MAX + 1];
};

enum comparison_step { COMPARISON_WALK, COMPARISON_COUNTS, COMPARISON_SCAN, COMPARISON_OVER };

struct comparison {
    const struct partition_keys *keys;
    enum comparison_step step;
    struct image_walk walk, next; /* before and after the step that is asked */
    uint32_t key;                 /* COMPARISON_SCAN: the hash that is walked */
    char cursor[24], cursor_next[24];
    bool is_wrong[SCRIPT_HASHES];                           /* differences were told */
    bool is_odd[SCRIPT_HASHES];                             /* its fields are to be walked */
    uint64_t counts[SCRIPT_HASHES], lengths[SCRIPT_HASHES]; /* the engine's, Redis' */
    uint32_t epoch; /* of the last reply; 0: no script may run */
    uint64_t seq;   /* the same: H */
    uint32_t field_count;
    struct compared_field fields[COMPARISON_FIELDS];
    struct span words[COMPARISON_WORDS];
    char numbers[SCRIPT_HASHES][12];
};

/* One difference, in words: "field … of :u: Redis has …, the log has …". */
typedef void comparison_differs(void *context, const char *text);

/* `from`: where a comparison that found nothing has ended; what came before is left out. NULL: all. */
void comparison_begin(struct comparison *comparison, const struct partition_keys *keys,
    const struct image_walk *from);
/* The next step, or the same one again. The words live until the next call. */
struct redis_words comparison_ask(
    struct comparison *comparison, const struct engine *engine, const struct image_head *head);
/* False: this is no reply to it. */
MUST_CHECK bool comparison_take(
    struct comparison *comparison, const struct engine *engine, const struct redis_value *reply);
/* The engine has applied record comparison->seq; head->seq is that one. After the last step `step` is
 * COMPARISON_OVER. */
void comparison_judge(struct comparison *comparison, const struct engine *engine,
    const struct image_head *head, comparison_differs *differs, void *context);

#endif
