/* SPDX-License-Identifier: Apache-2.0 */
/* contract/limits.h: the bounds that several folders share, and how they relate. Bounds of one
 * folder are in its own headers. */
#ifndef STAMPEDE_CONTRACT_LIMITS_H
#define STAMPEDE_CONTRACT_LIMITS_H

#include <assert.h>

enum {
    CHANNELS_MAX = 8, /* pools an item can be split in */
    CHANNEL_NAME_MAX = 16,
    ITEMS_LIMIT = 1 << 18, /* configuration may ask for less */
    SALES_LIMIT = 16384,
    TICKETS_MAX_MOST = 1000 * 1000 * 1000, /* data.tickets_max is at most this */
    PLACES_MAX_MOST = 100 * 1000 * 1000,   /* room.places_max */
    SHARD_BITS = 5,
    SHARDS_MAX = 1 << SHARD_BITS,  /* of a sale on many machines */
    QUANTITY_MAX = 1000,           /* units in one purchase */
    UNITS_MAX = 100 * 1000 * 1000, /* units of one item */
    USERS_PER_COMMAND = 12,        /* eligible users loaded by one command */
    WAITERS_PER_RETURN = 4,        /* users in line that one return can serve */

    /* What the log was decided with; another value would not replay. */
    COOLDOWN_DOUBLINGS_MAX = 6,
    COOLDOWN_MAX_S = 12 * 3600,
    DRAW_MAX_MS = 60 * 1000,
    SKIP_NUMBERS_MAX = 1 << 24, /* numbers of tickets that one command leaves out */
    RECLAIM_ROWS_MAX = 512,     /* rows of tickets that one command looks at: below a millisecond */

    EDGES_MAX = 64,
    PORTS_MAX = EDGES_MAX + 4, /* edges; the store thread's own, its pump's, reconciliation's, rooms' */
    RING_SLOTS = 4096,         /* requests and answers between one thread and the inventory */
    JOB_SLOTS = 2048,          /* jobs between one edge and the store thread */
    VIEW_SLOTS = 512,          /* jobs between one edge and one reader of order views */
    VIEW_READERS_MAX = 13,     /* of store.connections */

    /* Many machines: the clock of a process and those of database and Redis. From the first on an alarm tells
     * it, from the second on the process is not ready. */
    CLOCK_APART_ALARM_MS = 250,
    CLOCK_APART_MAX_MS = 1000,

    RECORD_BYTES_MAX = 256,   /* one journal record with its header */
    BATCH_RECORDS_MAX = 4096, /* records in one journal batch */

    ORDER_BATCH_MAX = 2048, /* tickets in one store transaction */
    ORDER_BATCH_WAIT_MS = 20,
    WINS_WAIT_MS = 1000,   /* for orders that are far behind, before they are refused */
    ORDER_TRIES_MAX = 5,   /* attempts for a row the database refuses */
    ORDER_MOVES_MAX = 256, /* orders that one transaction pays, closes or refunds */

    SUBSTITUTES_MAX = 6, /* items that an item names for when it is sold out */
    SUBSTITUTES_BYTES_MAX = 6 * SUBSTITUTES_MAX,
    NAME_BYTES_MAX = 200,
    DESCRIPTION_BYTES_MAX = 4000,
    IMAGES_BYTES_MAX = 2000,         /* a JSON array of addresses */
    LANGUAGES_MAX = 8,               /* further ones, in which a product or sale has texts */
    LANGUAGE_BYTES_MAX = 15,         /* the tag of one, like zh-CN */
    PRODUCT_TEXTS_BYTES_MAX = 16000, /* of all further languages, as JSON */
    SALE_TEXTS_BYTES_MAX = 2000,
    KEY_BYTES_MAX = 64,       /* Idempotency-Key */
    ACTOR_BYTES_MAX = 64,     /* the name of an admin key */
    COMMAND_KEYS_MAX = 4096,  /* keyed admin commands that the inventory remembers */
    REFERENCE_BYTES_MAX = 64, /* the shop's name for a payment */
    PROVIDERS_MAX = 8,        /* payment providers */
    PROVIDER_SETTINGS_MAX = 16,
    SUBJECT_BYTES_MAX = 128, /* the shop's name for a user */

    BEACON_NAME_CHARACTERS_MAX = 120, /* what a draw's public beacon is called, in UTF-8 */
    BEACON_NAME_BYTES_MAX = 4 * BEACON_NAME_CHARACTERS_MAX,
    ROOM_MESSAGE_CHARACTERS_MAX = 120, /* what the operator tells those who wait, in UTF-8 */
    ROOM_MESSAGE_BYTES_MAX = 4 * ROOM_MESSAGE_CHARACTERS_MAX,
    BEACON_VALUE_BYTES_MAX = 200, /* ASCII: hex of the longest signature in use, and some */
};

static_assert((RING_SLOTS & (RING_SLOTS - 1)) == 0, "ring index uses a mask");
static_assert((JOB_SLOTS & (JOB_SLOTS - 1)) == 0, "ring index uses a mask");
static_assert((VIEW_SLOTS & (VIEW_SLOTS - 1)) == 0, "ring index uses a mask");
static_assert(ORDER_BATCH_MAX <= BATCH_RECORDS_MAX,
    "a store batch is part of a journal batch or more of them");

#endif
