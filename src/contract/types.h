/* SPDX-License-Identifier: Apache-2.0 */
/* contract/types.h: the words that all stages share. A user is a keyed 64-bit hash of the shop's
 * subject (docs/decisions/0003). Items, sales and products are small numbers from the store. A
 * ticket number counts wins from 1 and never leaves the program as it is: outside it is a keyed
 * permutation of it (16 hex digits), under one key as ticket id and under another as order id. */
#ifndef STAMPEDE_CONTRACT_TYPES_H
#define STAMPEDE_CONTRACT_TYPES_H

#include "contract/limits.h"

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t user_id;       /* never 0 */
typedef uint32_t item_id;       /* never 0 */
typedef uint32_t sale_id;       /* never 0 */
typedef uint64_t ticket_number; /* never 0 */
typedef uint64_t lsn_t;         /* position in the log; 0 is before the first record */
typedef uint8_t channel_index;  /* 0 is the shop's own page, "web" */

enum { CHANNEL_SAFETY = 255 }; /* as a place in MOVE and SETTLE: the safety stock */

enum gate { GATE_SCHEDULED, GATE_OPENED, GATE_PAUSED, GATE_ENDED };
/* GATE_SCHEDULED: follows start and end. GATE_OPENED: opened by hand before its start, follows
 * end. */

/* What a visitor must do before a pass is given. */
enum human_check { HUMAN_NONE, HUMAN_POW, HUMAN_IMAGE, HUMAN_SLIDER, HUMAN_CHECKS };

struct item_counts {
    uint32_t given; /* preheated + adjusted so far; given = free + held + sold + safety + written_off */
    uint32_t free; /* all channels */
    uint32_t held;
    uint32_t sold;
    uint32_t safety;
    uint32_t written_off;
    uint32_t channel_free[CHANNELS_MAX];
};

#endif
