/* SPDX-License-Identifier: Apache-2.0 */
/* contract/types.h: the words that all stages share. A user is a keyed 64-bit hash of the shop's
 * subject (docs/decisions/0003). Items, sales and products are small numbers from the store. A
 * ticket number counts wins from 1 in its partition (contract/ticket_number.h) and never leaves the program
 * as it is: outside it is a keyed permutation of it (16 hex digits), under one key as ticket id and under
 * another as order id. */
#ifndef STAMPEDE_CONTRACT_TYPES_H
#define STAMPEDE_CONTRACT_TYPES_H

#include "contract/limits.h"

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t user_id;       /* never 0 */
typedef uint32_t item_id;       /* never 0 */
typedef uint32_t sale_id;       /* never 0 */
typedef uint64_t ticket_number; /* never 0 */
typedef uint64_t lsn_t; /* number of a journal record: the seq of partition 0; 0 is before the first */
typedef uint8_t channel_index; /* 0 is the shop's own page, "web" */

/* Where a record stands. Each partition has a log of its own: its first record has seq 1, and each further
 * one the next number, whatever it is about. seq 0 is before the first record. Positions of two partitions
 * have no order. */
struct position {
    uint32_t part;
    uint64_t seq;
};
enum { SEQ_BITS = 43 }; /* more than eight million million records */
#define SEQ_MAX (((uint64_t)1 << SEQ_BITS) - 1)
enum { PART_EMBEDDED = 0 }; /* one machine: the shop is one partition, its log the journal */

#define TICKET_NUMBER_MAX UINT32_MAX /* of partition 0: the inventory keeps numbers in 32 bits */
enum { CHANNEL_SAFETY = 255 };       /* as a place in MOVE and SETTLE: the safety stock */
/* Of a sale with several shards: units that came back while somebody waited for them. Offers of the waitlist
 * take them, and nobody else (contract/waitlist.h). So such a sale has a channel less. */
enum { CHANNEL_LINE = CHANNELS_MAX - 1 };

enum gate { GATE_SCHEDULED, GATE_OPENED, GATE_PAUSED, GATE_ENDED };
/* GATE_SCHEDULED: follows start and end. GATE_OPENED: opened by hand before its start, follows
 * end. */

/* What a visitor must do before a pass is given, a row each: name; what clients call it. */
#define HUMAN_CHECK_LIST(X) \
    X(NONE, "none") \
    X(POW, "pow") \
    X(IMAGE, "image") \
    X(SLIDER, "slider")

enum human_check {
#define HUMAN_CHECK(check, name) HUMAN_##check,
    HUMAN_CHECK_LIST(HUMAN_CHECK)
#undef HUMAN_CHECK
        HUMAN_CHECKS,
};

static inline const char *human_check_name(uint8_t check)
{
#define HUMAN_CHECK(check, name) [HUMAN_##check] = (name),
    static const char *const names[HUMAN_CHECKS] = { HUMAN_CHECK_LIST(HUMAN_CHECK) };
#undef HUMAN_CHECK
    return check < HUMAN_CHECKS ? names[check] : "?";
}

/* For texts: " none pow image slider". */
#define HUMAN_CHECK_WORD(check, name) " " name
#define HUMAN_CHECK_NAMES HUMAN_CHECK_LIST(HUMAN_CHECK_WORD)

struct item_counts {
    uint32_t given; /* preheated + adjusted so far; given = free + held + sold + safety + written_off */
    uint32_t free; /* all channels */
    uint32_t held;
    uint32_t sold;
    uint32_t safety;
    uint32_t written_off;
    uint32_t channel_free[CHANNELS_MAX];
};

static inline void item_counts_add(struct item_counts *sum, const struct item_counts *counts)
{
    sum->given += counts->given;
    sum->free += counts->free;
    sum->held += counts->held;
    sum->sold += counts->sold;
    sum->safety += counts->safety;
    sum->written_off += counts->written_off;
    for (uint32_t channel = 0; channel < CHANNELS_MAX; channel++)
        sum->channel_free[channel] += counts->channel_free[channel];
}

#endif
