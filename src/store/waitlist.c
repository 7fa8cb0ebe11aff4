/* SPDX-License-Identifier: Apache-2.0 */
/* The waitlist (contract/waitlist.h). A place is waiting, offered or left; what became of an offer is
 * told by its order. `named`: the ticket whose return this place is to be served from, while that
 * return is under way. `passed`: the inventory refused it, see there. How many wait for an item is
 * counted along, so that nobody has to count a long line. */
#include "contract/waitlist_rules.h"

#include "store/parts.h"

const char store_waitlist_tables[] =
    "CREATE TABLE waitlist("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  item INTEGER NOT NULL REFERENCES items(id), user_id INTEGER NOT NULL,"
    "  quantity INTEGER NOT NULL CHECK(quantity > 0), joined_ms INTEGER NOT NULL,"
    "  state INTEGER NOT NULL CHECK(state BETWEEN 1 AND 3),"
    "  ticket INTEGER NOT NULL CHECK((ticket <> 0) = (state = 2)),"
    "  named INTEGER NOT NULL, passed INTEGER NOT NULL CHECK(passed IN (0, 1))"
    ") STRICT;"
    "CREATE UNIQUE INDEX waitlist_once ON waitlist(item, user_id){item, user_id} WHERE state = 1;"
    "CREATE INDEX waitlist_waiting ON waitlist(item, id){item, state, id} WHERE state = 1;"
    "CREATE INDEX waitlist_next ON waitlist(item, id, quantity){item, state, named, passed, id, "
    "quantity}"
    " WHERE state = 1 AND named = 0 AND passed = 0;"
    "CREATE INDEX waitlist_of_user ON waitlist(item, user_id, id);"
    "CREATE INDEX waitlist_named ON waitlist(named){named} WHERE named <> 0;"
    "CREATE INDEX waitlist_passed ON waitlist(user_id){passed, user_id} WHERE passed = 1;"
    "CREATE TABLE waitlist_lines("
    "  item INTEGER PRIMARY KEY, waiting INTEGER NOT NULL CHECK(waiting >= 0)"
    ") STRICT;"
    "CREATE INDEX waitlist_lines_waiting ON waitlist_lines(item){item, waiting} WHERE waiting > 0;";

static_assert(PLACE_WAITING == 1 && PLACE_OFFERED == 2 && PLACE_LEFT == 3,
    "numbers in the database never change their meaning");

#define PLACE_COLUMNS \
    "waitlist.id, waitlist.item, waitlist.user_id, waitlist.quantity, waitlist.joined_ms," \
    " waitlist.state, waitlist.ticket"

static const char places_next[] =
    "SELECT " PLACE_COLUMNS ", NULL, NULL FROM waitlist"
    " WHERE item = ?1 AND quantity <= ?2 AND state = 1 AND named = 0 AND passed = 0"
    " ORDER BY id LIMIT ?3";
static const char place_pass[] = "UPDATE waitlist SET passed = 1 WHERE id = ?1 AND state = 1";
static const char places_again[] = "UPDATE waitlist SET passed = 0 WHERE passed = 1";

static enum status place_state_take(struct sql_row *row, void *out)
{
    struct waitlist_place *place = out;
    place->state = (uint8_t)waitlist_place_state(place->state, column_u32(row, 7), column_u32(row, 8));
    return STATUS_OK;
}

static const struct sql_columns place_columns = COLUMNS_ALSO(waitlist_place, place_state_take,
    FIELD(waitlist_place, id), FIELD(waitlist_place, item), FIELD(waitlist_place, user),
    FIELD(waitlist_place, quantity), FIELD(waitlist_place, joined_ms), FIELD(waitlist_place, state),
    FIELD(waitlist_place, ticket));

static enum status position_find(struct store *store, struct waitlist_place *place)
{
    uint64_t before = 0;
    if (place->state != PLACE_WAITING)
        return STATUS_OK;
    const enum status status = sql_number(store,
        "SELECT count(*) FROM (SELECT 1 FROM waitlist"
        " WHERE item = ?1 AND id < ?2 AND state = 1 LIMIT ?3) AS earlier",
        VALUES(U64(place->item), U64(place->id), U64(WAITLIST_POSITION_MAX - 1)), &before);
    if (status == STATUS_OK)
        place->position = 1 + (uint32_t)before;
    return status;
}

static enum status waitlist_place(
    struct order_store *handle, item_id item, user_id user, struct waitlist_place *place)
{
    struct store *store = store_of(handle);
    const enum status status = sql_one(store,
        "SELECT " PLACE_COLUMNS ", orders.state, orders.reason"
        " FROM waitlist LEFT JOIN orders ON orders.ticket = waitlist.ticket"
        " WHERE waitlist.item = ?1 AND waitlist.user_id = ?2 ORDER BY waitlist.id DESC LIMIT 1",
        VALUES(U64(item), U64(user)), &place_columns, place);
    return status == STATUS_OK ? position_find(store, place) : status;
}

static enum status line_read(struct store *store, item_id item, uint32_t *waiting)
{
    uint64_t count = 0;
    const enum status status = sql_number(
        store, "SELECT waiting FROM waitlist_lines WHERE item = ?1", VALUES(U64(item)), &count);
    *waiting = (uint32_t)count;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status store_waitlist_put(struct store *store, struct waitlist_place *place)
{
    const enum status status = sql_insert(store,
        "INSERT INTO waitlist(item, user_id, quantity, joined_ms, state, ticket, named, passed)"
        " VALUES(?1, ?2, ?3, ?4, 1, 0, 0, 0) RETURNING id",
        VALUES(U64(place->item), U64(place->user), U64(place->quantity), U64(place->joined_ms)),
        &place->id);
    if (status != STATUS_OK)
        return status;
    return sql_do(store,
        "INSERT INTO waitlist_lines(item, waiting) VALUES(?1, 1) ON CONFLICT(item)"
        " DO UPDATE SET waiting = waitlist_lines.waiting + excluded.waiting",
        VALUES(U64(place->item)));
}

/* A user who joins stands last, so the place is the kept number of those who wait, plus one. */
static enum status join_make(
    struct order_store *handle, struct waitlist_place *place, uint32_t line_max, uint8_t *answer)
{
    struct store *store = store_of(handle);
    struct waitlist_place old = { 0 };
    uint32_t waiting = 0;
    enum status status = waitlist_place(handle, place->item, place->user, &old);
    if (status == STATUS_OK || status == STATUS_NOT_FOUND)
        status = line_read(store, place->item, &waiting);
    if (status != STATUS_OK)
        return status;
    *answer = (uint8_t)waitlist_join_decide((enum place_state)old.state, waiting, line_max);
    if (*answer == JOIN_THERE)
        *place = old;
    if (*answer != JOIN_DONE)
        return STATUS_OK;
    status = store_waitlist_put(store, place);
    place->state = PLACE_WAITING;
    place->ticket = 0;
    place->position = waiting < WAITLIST_POSITION_MAX ? waiting + 1 : WAITLIST_POSITION_MAX;
    return status;
}

static enum status waitlist_join(
    struct order_store *handle, struct waitlist_place *place, uint32_t line_max, uint8_t *answer)
{
    struct store *store = store_of(handle);
    const struct waitlist_place wanted = *place;
    struct store_tries tries = { .repeatable = true };
    enum status status;
    STORE_TRIES (store, &tries, &status) {
        *place = wanted;
        status = store_begin(store);
        if (status == STATUS_OK)
            status = store_item_lock(store, place->item);
        if (status == STATUS_OK)
            status = join_make(handle, place, line_max, answer);
        status = store_end(store, status);
    }
    return status;
}

enum status store_waitlist_leave(struct store *store, item_id item, user_id user, bool *left)
{
    const enum status status = sql_do(store,
        "UPDATE waitlist SET state = 3, passed = 0 WHERE item = ?1 AND user_id = ?2 AND state = 1",
        VALUES(U64(item), U64(user)));
    *left = status == STATUS_OK && sql_matched(store) > 0;
    return *left ? sql_do(store, "UPDATE waitlist_lines SET waiting = waiting - 1 WHERE item = ?1",
               VALUES(U64(item)))
                 : status;
}

static enum status leave_once(struct store *store, item_id item, user_id user, bool *left)
{
    *left = false;
    enum status status = store_begin(store);
    if (status == STATUS_OK)
        status = store_item_lock(store, item);
    if (status == STATUS_OK)
        status = store_waitlist_leave(store, item, user, left);
    return store_end(store, status);
}

static enum status waitlist_leave(struct order_store *handle, item_id item, user_id user, bool *left)
{
    struct store *store = store_of(handle);
    struct store_tries tries = { 0 };
    enum status status;
    STORE_TRIES (store, &tries, &status)
        status = leave_once(store, item, user, left);
    return status;
}

static enum status places_read(struct order_store *handle, const char *sql, item_id item,
    uint64_t bound, struct waitlist_place *places, uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle), sql, VALUES(U64(item), U64(bound), U64(max)), &place_columns,
        PAGE(places, max, count));
}

static enum status waitlist_list(struct order_store *handle, item_id item, uint64_t after,
    struct waitlist_place *places, uint32_t max, uint32_t *count)
{
    return places_read(handle,
        "SELECT " PLACE_COLUMNS ", NULL, NULL FROM waitlist"
        " WHERE item = ?1 AND id > ?2 AND state = 1 ORDER BY id LIMIT ?3",
        item, after, places, max, count);
}

static enum status waitlist_next(struct order_store *handle, item_id item, uint32_t units,
    struct waitlist_place *places, uint32_t max, uint32_t *count)
{
    return places_read(handle, places_next, item, units, places, max, count);
}

static const struct sql_columns line_columns = COLUMNS(waitlist_line, FIELD(waitlist_line, item),
    FIELD(waitlist_line, waiting), FIELD(waitlist_line, window_ms));

static enum status waitlist_lines(struct order_store *handle, item_id after,
    struct waitlist_line *lines, uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle),
        "SELECT item, waiting, (SELECT balance_ms FROM items WHERE items.id = waitlist_lines.item)"
        " FROM waitlist_lines"
        " WHERE waiting > 0 AND item > ?1 ORDER BY item LIMIT ?2",
        VALUES(U64(after), U64(max)), &line_columns, PAGE(lines, max, count));
}

static enum status waitlist_pass(struct order_store *handle, uint64_t place)
{
    return sql_do(store_of(handle), place_pass, VALUES(U64(place)));
}

static enum status waitlist_again(struct order_store *handle)
{
    return sql_do(store_of(handle), places_again, NO_VALUES);
}

const struct waitlist_store_ops store_waitlist_ops = {
    .join = waitlist_join,
    .leave = waitlist_leave,
    .place = waitlist_place,
    .list = waitlist_list,
    .lines = waitlist_lines,
    .next = waitlist_next,
    .pass = waitlist_pass,
    .again = waitlist_again,
};

/* ---- parts of other transactions ---- */

/* The next place after this one whose wish fits. 0: there is none. */
static enum status place_find(struct store *store, item_id item, uint64_t after, uint32_t units,
    uint64_t *place, uint32_t *quantity)
{
    uint64_t row[2] = { 0 };
    const enum status status = sql_numbers(store,
        "SELECT id, quantity FROM waitlist WHERE item = ?1 AND id > ?2 AND quantity <= ?3"
        " AND state = 1 AND named = 0 AND passed = 0 ORDER BY id LIMIT 1",
        VALUES(U64(item), U64(after), U64(units)), row, 2);
    *place = row[0];
    *quantity = (uint32_t)row[1];
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* Mostly nobody waits. */
enum status store_waitlist_pick(struct store_batch *batch, const struct order *order)
{
    struct store *store = batch->store;
    uint64_t place = 0;
    uint32_t left = order->quantity, quantity = 0;
    enum status status = place_find(store, order->item, 0, left, &place, &quantity);
    if (status == STATUS_OK && place != 0 && store_locks(store)) {
        status = store_item_lock(store, order->item);
        if (status == STATUS_OK)
            status = place_find(store, order->item, 0, left, &place, &quantity);
    }
    for (uint32_t i = 0; i < WAITERS_PER_RETURN && status == STATUS_OK && place != 0; i++) {
        const bool taken = waitlist_take(&left, quantity);
        invariant(taken);
        status = store_batch_do(batch, "UPDATE waitlist SET named = ?2 WHERE id = ?1",
            VALUES(U64(place), U64(order->ticket)));
        batch->line_named = true;
        if (left == 0)
            break;
        if (status == STATUS_OK)
            status = place_find(store, order->item, place, left, &place, &quantity);
    }
    return status;
}

/* Mostly nobody is named or passed over: then one look, at the beginning of two indexes, is cheaper than
 * asking for each return. */
static enum status line_look(struct store *store, bool *named, bool *passed)
{
    uint64_t row[2] = { 0 };
    const enum status status = sql_numbers(store,
        "SELECT CASE WHEN EXISTS(SELECT 1 FROM waitlist WHERE named <> 0) THEN 1 ELSE 0 END,"
        " CASE WHEN EXISTS(SELECT 1 FROM waitlist WHERE passed = 1) THEN 1 ELSE 0 END",
        NO_VALUES, row, 2);
    *named = row[0] != 0;
    *passed = row[1] != 0;
    return status;
}

static enum status batch_line_look(struct store_batch *batch)
{
    bool named = false, passed = false;
    if (batch->line_seen)
        return STATUS_OK;
    const enum status status = line_look(batch->store, &named, &passed);
    batch->line_seen = status == STATUS_OK;
    batch->line_named |= named;
    batch->line_passed |= passed;
    return status;
}

static enum status waiter_take(struct sql_row *row, void *out)
{
    *(struct waiter *)out = (struct waiter){ .key = waitlist_key(column_u64(row, 0)),
        .user = column_u64(row, 1),
        .quantity = column_u32(row, 2) };
    return STATUS_OK;
}

static const struct sql_columns waiter_columns = { .also = waiter_take };

static enum status settle_named(struct store *store, struct command_settle *settle)
{
    uint32_t count;
    const enum status status = sql_rows(store,
        "SELECT id, user_id, quantity FROM waitlist"
        " WHERE named = ?1 AND named <> 0 ORDER BY id LIMIT ?2",
        VALUES(U64(settle->ticket), U64(WAITERS_PER_RETURN)), &waiter_columns,
        PAGE(settle->waiters, WAITERS_PER_RETURN, &count));
    settle->waiter_count = (uint8_t)count;
    if (status != STATUS_OK || count == 0)
        return status;
    uint64_t window_ms = 0;
    const enum status found = sql_number(store,
        "SELECT items.balance_ms FROM items JOIN waitlist ON waitlist.item = items.id"
        " WHERE waitlist.id = ?1",
        VALUES(U64(waitlist_place_of(settle->waiters[0].key))), &window_ms);
    settle->waiter_window_ms = (uint32_t)window_ms;
    return found;
}

enum status store_waitlist_named(struct store *store, struct stock_event *events, uint32_t count)
{
    bool named = false, passed;
    enum status status = count == 0 ? STATUS_OK : line_look(store, &named, &passed);
    for (uint32_t i = 0; i < count && named && status == STATUS_OK; i++) {
        struct command_settle *settle = &events[i].settle;
        if (settle->step == SETTLE_RETURN && settle->to == WAITLIST_CHANNEL)
            status = settle_named(store, settle);
    }
    return status;
}

enum status store_waitlist_offer(struct store_batch *batch, uint64_t key, user_id user, ticket_number ticket)
{
    if (waitlist_place_of(key) == 0)
        return STATUS_OK;
    const uint64_t place = waitlist_place_of(key);
    enum status status = store_batch_do(batch,
        "UPDATE waitlist SET state = 2, ticket = ?2, named = 0, passed = 0"
        " WHERE id = ?1 AND user_id = ?3 AND state = 1",
        VALUES(U64(place), U64(ticket), U64(user)));
    if (status != STATUS_OK)
        return status;
    if (sql_matched(batch->store) == 0) /* who has left gets the offer that was under way */
        return store_batch_do(batch,
            "UPDATE waitlist SET state = 2, ticket = ?2, named = 0, passed = 0"
            " WHERE id = ?1 AND user_id = ?3 AND state = 3",
            VALUES(U64(place), U64(ticket), U64(user)));
    return store_batch_do(batch,
        "UPDATE waitlist_lines SET waiting = waiting - 1"
        " WHERE item = (SELECT item FROM waitlist WHERE id = ?1)",
        VALUES(U64(place)));
}

enum status store_waitlist_settled(struct store_batch *batch, const struct queue_record *record)
{
    const struct command_settle *settle = &record->command.settle;
    enum status status = batch_line_look(batch);
    for (uint32_t i = 0; i < settle->waiter_count && status == STATUS_OK; i++) {
        const struct waiter *waiter = &settle->waiters[i];
        const struct waiter_verdict verdict = waitlist_waiter_verdict(record, i);
        bool over = false;
        if (verdict.ticket != 0)
            status = store_booking_is_over(batch->store, waiter->key, &over);
        if (status == STATUS_OK && verdict.ticket != 0 && !over)
            status = store_waitlist_offer(batch, waiter->key, waiter->user, verdict.ticket);
        else if (status == STATUS_OK && verdict.ticket == 0 && verdict.place != 0)
            status = store_batch_do(batch, place_pass, VALUES(U64(verdict.place)));
        batch->line_passed |= verdict.place != 0;
    }
    if (status == STATUS_OK && settle->step == SETTLE_RETURN && batch->line_named)
        status = store_batch_do(batch, "UPDATE waitlist SET named = 0 WHERE named = ?1 AND named <> 0",
            VALUES(U64(settle->ticket)));
    /* Something of this user's has moved: a limit may be free again. */
    if (status == STATUS_OK && batch->line_passed)
        status = store_batch_do(batch, "UPDATE waitlist SET passed = 0 WHERE passed = 1 AND user_id = ?1",
            VALUES(U64(record->outcome.user)));
    return status;
}

enum status store_waitlist_terms(struct store_batch *batch)
{
    return store_batch_do(batch, places_again, NO_VALUES);
}
