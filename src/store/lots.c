/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lots.h"

#include "store/store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* A block is the filters of LOTS_PER_BLOCK lots, bit by bit: each word has one bit of each lot. A user has
 * MARKS words in one page of it, and may be in the lots whose bit is set in all of them: one of a thousand
 * strangers is taken for a user of a full lot. */
enum {
    LOTS_PER_BLOCK = 32,
    MARKS = 6,
    PAGE_WORDS = 1024, /* 4 KiB */
    PAGE_USERS = 64,   /* of a lot, on average */
    BLOCKS = LOTS_MAX / LOTS_PER_BLOCK,
};
/* The writer sets bits while readers look. A reader that sees an order sees its bits, which were set before
 * the transaction of the order was kept. */
typedef _Atomic uint32_t lot_page[PAGE_WORDS];

struct item_lots {
    item_id item;
    uint32_t known;           /* the lots below are in the blocks */
    uint64_t used;            /* the last time, as store_lots.uses counts */
    lot_page *blocks[BLOCKS]; /* NULL: there was no room, so each user may be in each lot */
};

struct store_lots {
    struct lot_filter filter; /* first: readers get its address, which is this one's */
    pthread_mutex_t lock; /* of items, blocks and `known`. The writer changes them, readers look; the
                               * writer looks without it */
    uint32_t lot_orders;
    uint64_t uses; /* orders that were written to items with several lots */
    struct item_lots *items[LOT_ITEMS_MAX];
};

const char store_lots_tables[] =
    "CREATE TABLE lot_numbers(lot INTEGER PRIMARY KEY CHECK(lot BETWEEN 0 AND 1023)) STRICT;";
static_assert(LOTS_MAX == 1024, "the CHECKs of lot_numbers and items say so, too");

enum status store_lot_numbers(struct sql_connection *connection)
{
    enum status status = sql_run(connection, STORE_LOT_NUMBERS_FEW, NO_VALUES);
    return status == STATUS_OK ? sql_run(connection, STORE_LOT_NUMBERS_REST, NO_VALUES) : status;
}

/* ---- filters ---- */

static uint64_t mixed(user_id user)
{
    user = (user ^ user >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    user = (user ^ user >> 27) * UINT64_C(0x94D049BB133111EB);
    return user ^ user >> 31;
}

static uint32_t pages_of(const struct store_lots *lots)
{
    return (lots->lot_orders + PAGE_USERS - 1) / PAGE_USERS;
}

struct place {
    uint32_t page;
    uint64_t marks; /* 10 bits each */
};

static struct place place_of(const struct store_lots *lots, user_id user)
{
    const uint64_t hash = mixed(user);
    return (struct place){ (uint32_t)((hash >> 32) * pages_of(lots) >> 32),
        hash * UINT64_C(0x9E3779B97F4A7C15) >> 4 };
}

static void users_add(_Atomic uint32_t *page, uint64_t marks, uint32_t bit)
{
    for (uint32_t i = 0; i < MARKS; i++, marks >>= 10) {
        _Atomic uint32_t *word = &page[marks % PAGE_WORDS];
        const uint32_t before = atomic_load_explicit(word, memory_order_relaxed);
        atomic_store_explicit(word, before | bit, memory_order_relaxed); /* one thread writes */
    }
}

static uint32_t lots_of(const _Atomic uint32_t *page, uint64_t marks)
{
    uint32_t lots = UINT32_MAX;
    for (uint32_t i = 0; i < MARKS; i++, marks >>= 10)
        lots &= atomic_load_explicit(&page[marks % PAGE_WORDS], memory_order_relaxed);
    return lots;
}

static void add(const struct store_lots *lots, struct item_lots *of, uint32_t lot, user_id user)
{
    lot_page *block = of->blocks[lot / LOTS_PER_BLOCK];
    const struct place place = place_of(lots, user);
    if (block != NULL)
        users_add(block[place.page], place.marks, UINT32_C(1) << lot % LOTS_PER_BLOCK);
}

/* NULL: an empty one. */
static void item_put(struct store_lots *lots, struct item_lots **place, struct item_lots *item)
{
    pthread_mutex_lock(&lots->lock);
    struct item_lots *before = *place;
    *place = item;
    pthread_mutex_unlock(&lots->lock);
    for (uint32_t i = 0; before != NULL && i < BLOCKS; i++)
        free(before->blocks[i]);
    free(before);
}

static uint32_t blocks_count(const struct item_lots *of)
{
    uint32_t count = 0;
    for (uint32_t i = 0; of != NULL && i < BLOCKS; i++)
        count += of->blocks[i] != NULL;
    return count;
}

/* A free place, or that of the item that was used longest ago. */
static struct item_lots **place_oldest(struct store_lots *lots)
{
    struct item_lots **oldest = NULL;
    for (uint32_t i = 0; i < LOT_ITEMS_MAX; i++) {
        struct item_lots **place = &lots->items[i];
        if (*place == NULL)
            return place;
        if (oldest == NULL || (*place)->used < (*oldest)->used)
            oldest = place;
    }
    return oldest;
}

static bool given_up(const struct store_lots *lots, const struct item_lots *of)
{
    return lots->uses - of->used > (uint64_t)LOTS_KEPT * lots->lot_orders;
}

static size_t bytes_used(const struct store_lots *lots)
{
    size_t blocks = 0;
    for (uint32_t i = 0; i < LOT_ITEMS_MAX; i++)
        blocks += blocks_count(lots->items[i]);
    return blocks * pages_of(lots) * sizeof(lot_page);
}

/* The block of a lot that comes next, if there is room. */
static void block_need(struct store_lots *lots, struct item_lots *of, uint32_t lot)
{
    const size_t bytes = pages_of(lots) * sizeof(lot_page);
    lot_page **block = &of->blocks[lot / LOTS_PER_BLOCK];
    if (*block != NULL || lot % LOTS_PER_BLOCK != 0)
        return;
    for (uint32_t i = 0; i < LOT_ITEMS_MAX && bytes_used(lots) + bytes > LOT_FILTERS_BYTES_MAX; i++) {
        struct item_lots **other = &lots->items[i];
        if (*other != NULL && *other != of && given_up(lots, *other))
            item_put(lots, other, NULL);
    }
    if (bytes_used(lots) + bytes > LOT_FILTERS_BYTES_MAX)
        return;
    lot_page *made = calloc(1, bytes);
    pthread_mutex_lock(&lots->lock);
    *block = made;
    pthread_mutex_unlock(&lots->lock);
}

static void lot_known(struct store_lots *lots, struct item_lots *of)
{
    pthread_mutex_lock(&lots->lock);
    of->known++;
    pthread_mutex_unlock(&lots->lock);
}

/* The next lot, as it is in the database. Fails: those that are in already are taken for users of it. */
static enum status lot_learn(struct store *store, struct item_lots *of)
{
    const uint32_t lot = of->known;
    struct sql_row *row;
    block_need(store->lots, of, lot);
    if (of->blocks[lot / LOTS_PER_BLOCK] == NULL) {
        lot_known(store->lots, of);
        return STATUS_OK;
    }
    enum status status = sql_query(store, "SELECT user_id FROM orders WHERE item = ?1 AND lot = ?2",
        VALUES(U64(of->item), U64(lot)), &row);
    if (status != STATUS_OK)
        return status;
    while ((status = sql_next(row)) == STATUS_OK)
        add(store->lots, of, lot, (user_id)row->connection->driver->number(row, 0));
    sql_finish(row);
    if (status != STATUS_NOT_FOUND)
        return status;
    lot_known(store->lots, of);
    return STATUS_OK;
}

/* NULL: it is not there. */
static struct item_lots *item_find(const struct store_lots *lots, item_id item)
{
    for (uint32_t i = 0; i < LOT_ITEMS_MAX; i++)
        if (lots->items[i] != NULL && lots->items[i]->item == item)
            return lots->items[i];
    return NULL;
}

/* NULL: there is no room. */
static struct item_lots *item_need(struct store_lots *lots, item_id item)
{
    struct item_lots *of = item_find(lots, item);
    lots->uses++;
    if (of == NULL) {
        struct item_lots **place = place_oldest(lots);
        if (*place != NULL && !given_up(lots, *place))
            return NULL;
        of = calloc(1, sizeof *of);
        if (of == NULL)
            return NULL;
        of->item = item;
        item_put(lots, place, of);
    }
    of->used = lots->uses;
    return of;
}

/* ---- lots ---- */

void store_lots_set(struct order_store *store, uint32_t orders)
{
    invariant(orders > 0);
    store_of(store)->lots->lot_orders = orders;
}

enum status store_lot_take(struct store_batch *batch, struct stock_row *row)
{
    const struct store_lots *lots = batch->store->lots;
    if (lots == NULL || row->lot_taken)
        return STATUS_OK;
    const uint64_t next = row->orders_written / lots->lot_orders;
    const uint32_t lot = next < LOTS_MAX ? (uint32_t)next : LOTS_MAX - 1;
    row->lot_taken = true;
    if (lot <= row->lot) /* after a repair of the sums fewer may be counted than before */
        return STATUS_OK;
    row->lot = lot;
    return store_batch_do(
        batch, "UPDATE items SET last_lot = ?2 WHERE id = ?1", VALUES(U64(row->item), U64(lot)));
}

void store_lots_add(struct store *store, const struct stock_row *row, user_id user)
{
    struct store_lots *lots = store->lots;
    struct item_lots *of = lots == NULL ? NULL : item_find(lots, row->item);
    if (of != NULL && of->known > row->lot)
        add(lots, of, row->lot, user);
}

static enum status lot_ask(
    struct store *store, const struct stock_row *row, uint32_t lot, user_id user, bool *found)
{
    if (lot >= row->lot) /* the newest: the database refuses it itself */
        return STATUS_OK;
    return sql_found(store,
        "SELECT 1 FROM orders WHERE item = ?1 AND lot = ?2 AND user_id = ?3 AND slot = 0",
        VALUES(U64(row->item), U64(lot), U64(user)), found);
}

/* The lots from `first` on, a bit each, that may have the user. */
static uint32_t lots_possible(const struct item_lots *of, uint32_t first, struct place place)
{
    const lot_page *block = of == NULL ? NULL : of->blocks[first / LOTS_PER_BLOCK];
    if (block == NULL || of->known <= first)
        return UINT32_MAX;
    const uint32_t lots = lots_of(block[place.page], place.marks);
    return of->known - first >= LOTS_PER_BLOCK ? lots : lots | UINT32_MAX << (of->known - first);
}

enum status store_lots_find(struct store_batch *batch, struct stock_row *row, user_id user, bool *found)
{
    struct store *store = batch->store;
    *found = false;
    if (row->lot == 0 || store->lots == NULL)
        return STATUS_OK;
    struct item_lots *of = item_need(store->lots, row->item);
    enum status status = STATUS_OK;
    while (of != NULL && of->known <= row->lot && row->lots_learned < LOTS_LEARNED && status == STATUS_OK) {
        row->lots_learned++;
        status = lot_learn(store, of);
    }
    const struct place place = place_of(store->lots, user);
    for (uint32_t first = 0; first < row->lot && status == STATUS_OK && !*found; first += LOTS_PER_BLOCK) {
        uint32_t lots = lots_possible(of, first, place);
        for (; __builtin_expect(lots != 0, 0) && status == STATUS_OK && !*found; lots &= lots - 1)
            status = lot_ask(store, row, first + (uint32_t)__builtin_ctz(lots), user, found);
    }
    return status;
}

/* ---- the filter of readers ---- */

static bool may_have(struct lot_filter *filter, uint64_t item, uint64_t lot, uint64_t user)
{
    struct store_lots *lots = (struct store_lots *)filter;
    const uint32_t first = (uint32_t)lot / LOTS_PER_BLOCK * LOTS_PER_BLOCK;
    pthread_mutex_lock(&lots->lock);
    const uint32_t possible =
        lots_possible(item_find(lots, (item_id)item), first, place_of(lots, (user_id)user));
    pthread_mutex_unlock(&lots->lock);
    return (possible >> (lot - first) & 1) != 0;
}

bool store_lots_open(struct store *store)
{
    if (!store->connection->driver->keys_by_lot)
        return true;
    struct store_lots *lots = calloc(1, sizeof *lots);
    if (lots == NULL)
        return false;
    pthread_mutex_init(&lots->lock, NULL);
    lots->filter.may_have = may_have;
    lots->lot_orders = LOT_ORDERS;
    store->lots = lots;
    store->connection->lots = &lots->filter;
    return true;
}

void store_lots_close(struct store *store)
{
    struct store_lots *lots = store->lots;
    if (lots == NULL)
        return;
    for (uint32_t i = 0; i < LOT_ITEMS_MAX; i++)
        item_put(lots, &lots->items[i], NULL);
    pthread_mutex_destroy(&lots->lock);
    free(lots);
}
