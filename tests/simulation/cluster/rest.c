/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/cluster/rest.c: when the faults are over, everybody gets an answer, what is free can be
 * bought, and Redis, the database, gateways and a replay of the log have the same state. */
#include "contract/ticket_number.h"
#include "inventory/redis/confirm.h"
#include "inventory/redis/image.h"
#include "inventory/redis/keys.h"
#include "inventory/redis/remote.h"
#include "tests/simulation/cluster/cluster.h"
#include "tests/simulation/cluster/people.h"
#include "tests/simulation/cluster/tasks.h"
#include "tests/simulation/trace.h"

#include <inttypes.h>
#include <string.h>

enum { REST_MS_MAX = 90 * 1000, QUIET_MS = 2500 };

static struct confirm *folds[DB_PARTS];

/* ---- until all is quiet ---- */

/* Redis is open with the database's epoch, and has told the script so. */
static bool part_is_open(const struct db_part *part)
{
    struct partition_keys keys;
    struct span epoch;
    uint64_t number = 0;
    partition_keys_make(&keys, CLUSTER_DATA_ID, part->state.part);
    const struct map *map = sim_redis_hash(&cluster.redis, keys.names[SCRIPT_KEY_PART]);
    return map != NULL && map_get(map, SPAN("epoch"), &epoch)
        && span_to_u64(epoch, &number) == STATUS_OK && number != 0 && number == part->state.epoch;
}

static const char *busy(void)
{
    if (people_wait())
        return "somebody waits for an answer";
    if (db_events_open() > 0)
        return "a stock event is open";
    if (db.part_count != cluster.profile.sales * cluster.profile.shards)
        return "a partition was never asked for";
    if (db_transfers_open() > 0)
        return "units are on their way between shards";
    for (uint32_t i = 0; i < db.part_count; i++)
        if (!part_is_open(&db.parts[i]))
            return "a partition is not open";
    for (uint32_t i = 0; i < GATEWAYS; i++)
        if (cluster.gateways[i].remote == NULL || !remote_idle(cluster.gateways[i].remote))
            return "a gateway has answers that wait";
    return NULL;
}

static void rest_until_quiet(void)
{
    const uint64_t until_ms = sim_now_ms + REST_MS_MAX;
    uint64_t quiet_ms = 0;
    for (;;) {
        const char *what = busy();
        cluster_step();
        if (what != NULL)
            quiet_ms = 0;
        else if (quiet_ms == 0)
            quiet_ms = sim_now_ms;
        if (quiet_ms != 0 && sim_now_ms > quiet_ms + QUIET_MS)
            return;
        if (what != NULL && sim_now_ms > until_ms)
            violation("I17 every request is answered", "%s, long after the last fault", what);
    }
}

/* ---- a replay of the log ---- */

static void folds_open(void)
{
    for (uint32_t i = 0; i < db.part_count; i++) {
        const struct db_part *part = &db.parts[i];
        const struct confirm_config config = {
            .part = part->state.part, .data_id = CLUSTER_DATA_ID, .engine = &cluster_engine
        };
        invariant(confirm_open(&folds[i], &config) == STATUS_OK);
        for (uint32_t n = 0; n < part->entry_count; n++)
            if (confirm_replay(folds[i], &part->entries[n].entry) != STATUS_OK)
                violation("I15 replay of the log", "%s", confirm_trouble(folds[i]));
        if (confirm_seq(folds[i]) != part->state.seq)
            violation("I15 replay of the log", "it ends at %" PRIu64 ", the partition at %" PRIu64,
                confirm_seq(folds[i]), part->state.seq);
        const char *broken = engine_check(confirm_engine(folds[i]));
        if (broken != NULL)
            violation("I1 conservation", "%s", broken);
    }
}

static void folds_close(void)
{
    for (uint32_t i = 0; i < DB_PARTS; i++) {
        confirm_close(folds[i]);
        folds[i] = NULL;
    }
}

/* In all shards of its sale. */
static struct item_counts fold_counts(item_id item)
{
    struct item_counts sum = { 0 }, counts;
    for (uint32_t i = 0; i < db.part_count; i++)
        if (part_sale(db.parts[i].state.part) == db.items[item].sale) {
            engine_item_counts(confirm_engine(folds[i]), item, &counts);
            item_counts_add(&sum, &counts);
        }
    return sum;
}

/* ---- comparisons ---- */

/* Each ticket of the replay is an order, and there are no others. */
static void orders_compare(void)
{
    uint64_t tickets = 0;
    for (uint32_t i = 0; i < db.part_count; i++) {
        const struct engine *engine = confirm_engine(folds[i]);
        for (ticket_number n = 1; n <= engine->tickets.last; n++) {
            const struct ticket_row *row = tickets_get(&engine->tickets, n);
            const ticket_number number = confirm_number(folds[i], n);
            const struct db_order *order = db_order(number);
            if (row == NULL || order == NULL || order->user != row->user || order->item != row->item
                || order->quantity != row->quantity || order->key != row->key
                || order->units != (enum ticket_state)row->state)
                violation("I16 the database is the fold of the log", "ticket %" PRIx64, number);
        }
        tickets += engine->tickets.last;
    }
    if (tickets != db.order_count)
        violation("I16 the database is the fold of the log", "%" PRIu64 " tickets, %u orders",
            tickets, db.order_count);
}

struct comparison {
    const struct map *maps[SCRIPT_HASHES];
    size_t counts[SCRIPT_HASHES];
};

static void field_compare(void *context, enum script_key key, struct span field, struct span value)
{
    struct comparison *comparison = context;
    struct span found = SPAN("(none)");
    if (comparison->maps[key] != NULL)
        map_get(comparison->maps[key], field, &found);
    comparison->counts[key]++;
    if (!span_equal(found, value))
        violation("I16 Redis is the fold of the log",
            "field %.*s of %s: Redis has \"%.*s\", the log \"%.*s\"", (int)field.size, field.data,
            script_key_names[key], (int)found.size, found.data, (int)value.size, value.data);
}

static void image_compare(const struct db_part *part, struct confirm *fold)
{
    struct partition_keys keys;
    struct comparison comparison = { 0 };
    const struct engine *engine = confirm_engine(fold);
    const struct image_head head = { .epoch = part->state.epoch,
        .seq = part->state.seq,
        .done = part->state.seq,
        .told = engine->tickets.last,
        .time_ms = confirm_time_ms(fold),
        .lag_max = cluster.profile.lag_max };
    partition_keys_make(&keys, CLUSTER_DATA_ID, part->state.part);
    for (uint32_t key = 0; key < SCRIPT_HASHES; key++)
        comparison.maps[key] = sim_redis_hash(&cluster.redis, keys.names[key]);
    image_write(engine, &head, field_compare, &comparison);
    for (uint32_t key = SCRIPT_KEY_USERS; key < SCRIPT_HASHES; key++) { /* not the opening's */
        const size_t count = comparison.maps[key] == NULL ? 0 : comparison.maps[key]->count;
        if (comparison.counts[key] != count)
            violation("I16 Redis is the fold of the log", "%s has %zu fields, the log %zu",
                script_key_names[key], count, comparison.counts[key]);
    }
}

/* ---- gateways ---- */

static void outcome_ask(struct gateway *gateway, const struct command *command, struct outcome *outcome)
{
    struct inventory_request *request = gateway->port->ops->reserve(gateway->port);
    const struct inventory_answer *answer = NULL;
    invariant(request != NULL);
    *request = (struct inventory_request){ .tag = UINT64_MAX, .command = *command };
    gateway->port->ops->commit(gateway->port);
    gateway->port->ops->flush(gateway->port);
    (void)remote_turn(gateway->remote, sim_now_ms);
    answer = gateway->port->ops->collect(gateway->port);
    invariant(answer != NULL && answer->tag == UINT64_MAX);
    *outcome = answer->outcome;
    (void)gateway->port->ops->collect(gateway->port);
}

/* A gateway answers by its replica what the replay would. */
static void gateway_compare(struct gateway *gateway)
{
    struct outcome outcome;
    for (item_id item = 1; item < DB_ITEMS_MAX; item++) {
        if (!db.items[item].open)
            continue;
        const struct item_counts counts = fold_counts(item);
        const struct board *board = remote_inventory(gateway->remote)->board;
        struct board_update shown;
        if (!board_read(board, item, &shown) || shown.counts.held != counts.held
            || shown.counts.sold != counts.sold || shown.counts.free != counts.free
            || shown.counts.given != counts.given || shown.counts.given != db.items[item].given)
            violation("I16 gateways have the fold of the log", "item %u", item);
    }
    for (uint32_t i = 0; i < db.order_count; i++) {
        const struct db_order *order = &db.orders[i];
        const struct command ask = { .type = COMMAND_ASK_TICKET, .ask = { .ticket = order->ticket } };
        outcome_ask(gateway, &ask, &outcome);
        if (outcome.answer != ANSWER_FOUND || outcome.user != order->user || outcome.item != order->item
            || outcome.quantity != order->quantity || outcome.detail != (uint8_t)order->units)
            violation("I16 gateways have the fold of the log", "ticket %" PRIx64 ": answer %u",
                order->ticket, outcome.answer);
    }
}

/* What was being decided has an end: the order, or void. */
static void promises_check(struct gateway *gateway)
{
    const ticket_number *ticket;
    struct outcome outcome;
    for (uint32_t i = 0; i < people_promises(&ticket, i); i++) {
        const struct command ask = { .type = COMMAND_ASK_TICKET, .ask = { .ticket = *ticket } };
        outcome_ask(gateway, &ask, &outcome);
        const bool is_order = db_order(*ticket) != NULL;
        if (outcome.answer != (is_order ? ANSWER_FOUND : ANSWER_VOID))
            violation("I5 deciding has an end", "ticket %" PRIx64 " is %s, and a gateway answers %u",
                *ticket, is_order ? "an order" : "no order", outcome.answer);
    }
}

/* ---- what is free can be bought ---- */

static void free_units_check(void)
{
    for (item_id item = 1; item < DB_ITEMS_MAX; item++) {
        if (!db.items[item].open)
            continue;
        const uint32_t is_free = fold_counts(item).channel_free[0];
        folds_close();
        const uint32_t attempt = people_buy(item);
        rest_until_quiet();
        const enum answer told = people_told(attempt);
        const bool won = told == ANSWER_WON || told == ANSWER_REPEATED;
        if (won != (is_free > 0))
            violation("I3 never undersell", "item %u has %u units, and a new user is told %u", item,
                is_free, told);
        folds_open();
    }
}

void rest_check(void)
{
    cluster.resting = true;
    faults_end();
    people_rest();
    rest_until_quiet();
    folds_open();
    free_units_check();
    orders_compare();
    for (uint32_t i = 0; i < db.part_count; i++)
        image_compare(&db.parts[i], folds[i]);
    for (uint32_t i = 0; i < GATEWAYS; i++) {
        gateway_compare(&cluster.gateways[i]);
        promises_check(&cluster.gateways[i]);
    }
    people_check();
    for (uint32_t i = 0; i < db.part_count; i++)
        trace_step("rest", engine_digest(confirm_engine(folds[i])), db.parts[i].state.seq,
            db.parts[i].state.epoch);
    folds_close();
}
