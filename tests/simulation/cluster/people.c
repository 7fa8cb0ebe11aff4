/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simulation/cluster/people.h"

#include "tests/simulation/cluster/tasks.h"
#include "tests/simulation/trace.h"

#include <inttypes.h>
#include <string.h>

enum {
    ATTEMPTS_MAX = 600,
    OPERATIONS_MAX = 160,
    OPERATORS = 4,
    VOIDS_MAX = 600,
    PROMISES_MAX = 1200,
    PATIENCE_MS = 1500
};

enum person_state { PERSON_IDLE, PERSON_ASKED, PERSON_DONE };

/* A purchase that somebody wants, with its key. */
struct attempt {
    user_id user;
    uint64_t key;
    item_id item;
    uint32_t quantity;
    enum person_state state;
    uint32_t serial; /* of the present question */
    uint64_t gateway, until_ms, again_ms;
    ticket_number deciding; /* told as being decided; 0: not */
    ticket_number won;      /* told; 0: not */
    enum answer told;       /* the end */
    uint32_t repeats;       /* so often it asks again after the end */
};
struct operation {
    struct command command;
    enum person_state state;
    uint32_t serial;
    uint64_t gateway, until_ms, again_ms;
};

static struct {
    struct attempt attempts[ATTEMPTS_MAX];
    uint32_t attempt_count;
    struct operation operations[OPERATIONS_MAX];
    uint32_t operation_count;
    ticket_number voids[VOIDS_MAX];
    uint32_t void_count;
    struct {
        ticket_number ticket;
        uint32_t attempt;
    } promises[PROMISES_MAX]; /* tickets that were told as being decided */
    uint32_t promise_count;
    bool paused[SALES_MAX + 1];
    uint64_t keys, wins, asked;
} people;

/* What a tag says: whose question it is, and which of theirs. */
enum tag_kind { TAG_BUY, TAG_TICKET, TAG_OPERATOR };
static uint64_t tag_make(enum tag_kind kind, uint32_t index, uint32_t serial)
{
    return (uint64_t)kind << 48 | (uint64_t)index << 32 | serial;
}

/* ---- what was told ---- */

static const char *const not_kept = "I6 durable before told";

static const struct db_order *order_must(
    const struct attempt *attempt, ticket_number ticket, const char *what)
{
    const struct db_order *order = db_order(ticket);
    if (order == NULL)
        violation(not_kept, "%s: user %" PRIx64 " is told of ticket %" PRIx64 ", which is no order",
            what, attempt->user, ticket);
    if (order->user != attempt->user || order->item != attempt->item)
        violation("I5 every told win is an order",
            "%s: user %" PRIx64 ", item %u is told of ticket %" PRIx64 ", which is user %" PRIx64
            "'s, item %u",
            what, attempt->user, attempt->item, ticket, order->user, order->item);
    return order;
}

static void win_check(const struct attempt *attempt, ticket_number ticket, const char *what)
{
    const struct db_order *order = order_must(attempt, ticket, what);
    if (order->quantity != attempt->quantity || order->key != attempt->key)
        violation("I5 every told win is an order",
            "%s: user %" PRIx64 " is told of %u units by key %" PRIx64 ", ticket %" PRIx64
            " has %u by key %" PRIx64,
            what, attempt->user, attempt->quantity, attempt->key, ticket, order->quantity, order->key);
}

static bool is_void(ticket_number ticket)
{
    for (uint32_t i = 0; i < people.void_count; i++)
        if (people.voids[i] == ticket)
            return true;
    return false;
}

static void deciding_told(const struct attempt *attempt, ticket_number ticket)
{
    const uint32_t index = (uint32_t)(attempt - people.attempts);
    if (ticket == 0 || is_void(ticket))
        violation("I13 told ids are never reused",
            "user %" PRIx64 " is told that ticket %" PRIx64 " is being decided", attempt->user, ticket);
    for (uint32_t i = 0; i < people.promise_count; i++) {
        if (people.promises[i].ticket != ticket)
            continue;
        if (people.promises[i].attempt == index)
            return;
        violation("I13 told ids are never reused",
            "ticket %" PRIx64 " is told to user %" PRIx64 " and to user %" PRIx64, ticket,
            people.attempts[people.promises[i].attempt].user, attempt->user);
    }
    for (uint32_t i = 0; i < people.attempt_count; i++)
        if (i != index && people.attempts[i].won == ticket)
            violation("I13 told ids are never reused",
                "ticket %" PRIx64 " was won by user %" PRIx64 ", and is told to user %" PRIx64,
                ticket, people.attempts[i].user, attempt->user);
    invariant(people.promise_count < PROMISES_MAX);
    people.promises[people.promise_count].ticket = ticket;
    people.promises[people.promise_count++].attempt = index;
}

static void void_told(const struct attempt *attempt, ticket_number ticket)
{
    if (db_order(ticket) != NULL)
        violation("I5 void is no order",
            "user %" PRIx64 " is told that ticket %" PRIx64 " is void, and it is an order",
            attempt->user, ticket);
    if (is_void(ticket))
        return;
    invariant(people.void_count < VOIDS_MAX);
    people.voids[people.void_count++] = ticket;
}

/* The database has a new order. */
static void order_kept(const struct db_order *order)
{
    bool asked = false;
    if (is_void(order->ticket))
        violation("I5 void is no order", "ticket %" PRIx64 " was told as void, and is kept now",
            order->ticket);
    for (uint32_t i = 0; i < people.promise_count; i++) {
        const struct attempt *attempt = &people.attempts[people.promises[i].attempt];
        if (people.promises[i].ticket == order->ticket && attempt->key != order->key)
            violation("I13 told ids are never reused",
                "ticket %" PRIx64 " was told to user %" PRIx64 ", and is kept for user %" PRIx64,
                order->ticket, attempt->user, order->user);
    }
    for (uint32_t i = 0; i < people.attempt_count; i++) {
        const struct attempt *attempt = &people.attempts[i];
        asked |= attempt->key == order->key && attempt->user == order->user
            && attempt->item == order->item && attempt->quantity == order->quantity;
    }
    if (!asked)
        violation("I7 kept is what was asked", "nobody asked for ticket %" PRIx64, order->ticket);
}

void people_check(void)
{
    for (uint32_t i = 0; i < people.attempt_count; i++)
        if (people.attempts[i].won != 0)
            win_check(&people.attempts[i], people.attempts[i].won, "at rest");
}

/* ---- asking ---- */

static struct gateway *gateway_any(void)
{
    struct gateway *gateway = &cluster.gateways[cluster_below(GATEWAYS)];
    return gateway_is_up(gateway) ? gateway : NULL;
}

/* NULL: not now. */
static struct inventory_request *request_begin(struct gateway *gateway)
{
    return gateway == NULL ? NULL : gateway->port->ops->reserve(gateway->port);
}

static void request_end(struct gateway *gateway)
{
    gateway->port->ops->commit(gateway->port);
    gateway->port->ops->flush(gateway->port);
}

static void attempt_ask(struct attempt *attempt)
{
    struct gateway *gateway = gateway_any();
    struct inventory_request *request = request_begin(gateway);
    const uint32_t index = (uint32_t)(attempt - people.attempts);
    if (request == NULL)
        return;
    const bool looks = attempt->deciding != 0;
    *request = (struct inventory_request){ .tag = tag_make(looks ? TAG_TICKET : TAG_BUY, index,
                                               ++attempt->serial) };
    if (looks) {
        request->command.type = COMMAND_ASK_TICKET;
        request->command.ask.ticket = attempt->deciding;
    } else {
        request->command.type = COMMAND_RESERVE;
        request->command.reserve = (struct command_reserve){
            .user = attempt->user, .key = attempt->key, .item = attempt->item, .quantity = attempt->quantity
        };
        trace_step("buys", attempt->user, attempt->key, (uint64_t)(gateway - cluster.gateways));
        people.asked++;
    }
    request_end(gateway);
    attempt->state = PERSON_ASKED;
    attempt->gateway = gateway->process.number;
    attempt->until_ms = sim_now_ms + PATIENCE_MS;
}

static void operation_ask(struct operation *operation)
{
    struct gateway *gateway = gateway_any();
    struct inventory_request *request = request_begin(gateway);
    const uint32_t index = (uint32_t)(operation - people.operations);
    if (request == NULL)
        return;
    *request = (struct inventory_request){ .tag = tag_make(TAG_OPERATOR, index, ++operation->serial),
        .command = operation->command };
    request_end(gateway);
    trace_step("operates", operation->command.type, operation->command.origin.key, 0);
    operation->state = PERSON_ASKED;
    operation->gateway = gateway->process.number;
    operation->until_ms = sim_now_ms + 8000;
}

static void attempt_add(user_id user, item_id item, uint32_t quantity)
{
    if (people.attempt_count == ATTEMPTS_MAX - 8 && !cluster.resting)
        return;
    invariant(people.attempt_count < ATTEMPTS_MAX);
    people.attempts[people.attempt_count++] = (struct attempt){ .user = user,
        .key = UINT64_C(0x1000) + ++people.keys,
        .item = item,
        .quantity = quantity,
        .repeats = (uint32_t)cluster_below(3) };
}

uint32_t people_buy(item_id item)
{
    attempt_add(UINT64_C(0xff000000) + people.keys, item, 1);
    return people.attempt_count - 1;
}

enum answer people_told(uint32_t attempt)
{
    return people.attempts[attempt].state == PERSON_DONE ? people.attempts[attempt].told : ANSWER_NONE;
}

/* ---- answers ---- */

static void again(struct attempt *attempt, uint64_t ms)
{
    attempt->state = PERSON_IDLE;
    attempt->again_ms = sim_now_ms + cluster_below(ms + 1);
    if (!cluster.resting && cluster_below(12) == 0) { /* or not: it may still win */
        attempt->state = PERSON_DONE;
        attempt->told = ANSWER_UNAVAILABLE;
    }
}

static void attempt_end(struct attempt *attempt, enum answer told)
{
    attempt->state = PERSON_DONE;
    attempt->told = told;
    attempt->deciding = 0;
    if (attempt->repeats == 0)
        return;
    attempt->repeats--;
    attempt->state = PERSON_IDLE;
    attempt->again_ms = sim_now_ms + cluster_below(2000);
}

static void buy_answered(struct attempt *attempt, const struct outcome *outcome, bool current)
{
    const enum answer answer = outcome->answer;
    trace_step("told", attempt->user, answer, outcome->ticket);
    switch (outcome->answer) {
    case ANSWER_WON:
    case ANSWER_REPEATED:
        win_check(attempt, outcome->ticket, answer == ANSWER_WON ? "won" : "repeated");
        if (attempt->won != 0 && attempt->won != outcome->ticket)
            violation("I8 one key, one outcome",
                "key %" PRIx64 " is told tickets %" PRIx64 " and %" PRIx64, attempt->key,
                attempt->won, outcome->ticket);
        people.wins += attempt->won == 0;
        attempt->won = outcome->ticket;
        break;
    case ANSWER_ALREADY_BOUGHT:
    case ANSWER_LIMIT_REACHED:
        if (outcome->ticket != 0)
            (void)order_must(attempt, outcome->ticket, "has bought");
        break;
    case ANSWER_OPEN_ORDER: {
        const struct db_order *order = db_order(outcome->ticket);
        if (order == NULL || order->user != attempt->user)
            violation(not_kept, "user %" PRIx64 " is told of an open order that is not theirs: %" PRIx64,
                attempt->user, outcome->ticket);
        break;
    }
    case ANSWER_DECIDING:
        deciding_told(attempt, outcome->ticket);
        attempt->deciding = outcome->ticket;
        break;
    default:
        break;
    }
    if (!current)
        return;
    if (answer == ANSWER_DECIDING || answer == ANSWER_IN_PROGRESS || answer == ANSWER_UNAVAILABLE
        || answer == ANSWER_TOO_POPULAR || answer == ANSWER_UNKNOWN_ITEM || answer == ANSWER_PAUSED
        || answer == ANSWER_NOT_YOUR_MOMENT || answer == ANSWER_COOLING_DOWN)
        again(attempt, 400);
    else
        attempt_end(attempt, answer);
}

static void ticket_answered(struct attempt *attempt, const struct outcome *outcome, bool current)
{
    trace_step("ticket-is", attempt->user, outcome->answer, outcome->ticket);
    const ticket_number ticket = outcome->ticket;
    if (outcome->answer == ANSWER_FOUND) {
        win_check(attempt, ticket, "found");
        people.wins += attempt->won == 0;
        attempt->won = ticket;
    }
    if (outcome->answer == ANSWER_VOID)
        void_told(attempt, ticket);
    if (!current)
        return;
    if (outcome->answer == ANSWER_FOUND) {
        attempt_end(attempt, ANSWER_WON);
    } else {
        if (outcome->answer == ANSWER_VOID)
            attempt->deciding = 0; /* and tries once more, with the same key */
        again(attempt, 300);
    }
}

static void operation_answered(struct operation *operation, const struct outcome *outcome, bool current)
{
    const uint64_t key = operation->command.origin.key;
    trace_step("operated", operation->command.type, outcome->answer, key);
    if (outcome->answer == ANSWER_DONE && !db_operator_done(key))
        violation(not_kept, "an operator is told that command %u is done, and it is not kept",
            operation->command.type);
    if (!current)
        return;
    const bool open = outcome->answer == ANSWER_UNAVAILABLE || outcome->answer == ANSWER_TOO_POPULAR
        || outcome->answer == ANSWER_UNKNOWN_SALE || outcome->answer == ANSWER_UNKNOWN_ITEM;
    operation->state = open ? PERSON_IDLE : PERSON_DONE;
    operation->again_ms = sim_now_ms + 100;
}

void people_collect(struct gateway *gateway)
{
    const struct inventory_answer *answer;
    while ((answer = gateway->port->ops->collect(gateway->port)) != NULL) {
        const enum tag_kind kind = (enum tag_kind)(answer->tag >> 48);
        const uint32_t index = (uint32_t)(answer->tag >> 32) & 0xffff, serial = (uint32_t)answer->tag;
        struct attempt *attempt = &people.attempts[index];
        const bool current = attempt->state == PERSON_ASKED && attempt->serial == serial;
        if (kind == TAG_BUY)
            buy_answered(attempt, &answer->outcome, current);
        else if (kind == TAG_TICKET)
            ticket_answered(attempt, &answer->outcome, current);
        else
            operation_answered(&people.operations[index], &answer->outcome,
                people.operations[index].serial == serial);
    }
}

void people_gateway_died(const struct gateway *gateway)
{
    for (uint32_t i = 0; i < people.attempt_count; i++)
        if (people.attempts[i].gateway == gateway->process.number)
            people.attempts[i].until_ms = 0;
    for (uint32_t i = 0; i < people.operation_count; i++)
        if (people.operations[i].gateway == gateway->process.number)
            people.operations[i].until_ms = 0;
}

/* ---- what they want ---- */

static void operation_add(const struct command *command)
{
    invariant(people.operation_count < OPERATIONS_MAX);
    struct operation *operation = &people.operations[people.operation_count++];
    *operation = (struct operation){ .command = *command };
    operation->command.origin.key = operation->command.origin.request =
        UINT64_C(0xa000000) + people.operation_count;
}

static void sale_add(sale_id sale)
{
    const struct cluster_profile *profile = &cluster.profile;
    struct command command = { .type = COMMAND_SALE,
        .sale = { .sale = sale,
            .limit_per_user = profile->sale_limit,
            .start_ms = sim_now_ms - 1000,
            .end_ms = sim_now_ms + 3600 * 1000,
            .one_open_order = profile->one_open_order,
            .return_draw_ms = profile->return_draw_ms,
            .cooldown_s = profile->cooldown_s } };
    operation_add(&command);
    for (uint32_t i = 0; i < profile->items; i++) {
        command = (struct command){ .type = COMMAND_PREHEAT };
        command.preheat = (struct command_preheat){ .item = 1 + (sale - 1) * ITEMS_PER_SALE + i,
            .sale = sale,
            .unit_price = 99,
            .limit_per_user = profile->limit,
            .pay_window_ms = 5000,
            .total = profile->units };
        command.preheat.channel_units[0] = profile->units;
        operation_add(&command);
    }
}

void people_start(void)
{
    memset(&people, 0, sizeof people);
    db.kept = order_kept;
    for (sale_id sale = 1; sale <= cluster.profile.sales; sale++)
        sale_add(sale);
}

static item_id item_any(void)
{
    return (item_id)(1 + cluster_below(cluster.profile.sales) * ITEMS_PER_SALE
        + cluster_below(cluster.profile.items));
}

static void sale_turn(sale_id sale)
{
    struct command command = { .type = COMMAND_GATE };
    bool *paused = &people.paused[sale];
    command.gate =
        (struct command_gate){ .sale = sale, .move = *paused ? GATE_MOVE_RESUME : GATE_MOVE_PAUSE };
    *paused = !*paused;
    operation_add(&command);
}

/* Units come and go, and the sale pauses for a while. */
static void operator_turn(void)
{
    struct command command = { .type = COMMAND_ADJUST };
    const item_id item = item_any();
    if (people.operation_count + SALES_MAX >= OPERATIONS_MAX)
        return;
    command.adjust = (struct command_adjust){ .item = item, .delta = (int32_t)cluster_below(7) - 3 };
    if (cluster_below(3) == 0)
        sale_turn(cluster_sale(item));
    else
        operation_add(&command);
}

void people_rest(void)
{
    for (sale_id sale = 1; sale <= cluster.profile.sales; sale++)
        if (people.paused[sale])
            sale_turn(sale);
}

uint32_t people_promises(const ticket_number **ticket, uint32_t index)
{
    *ticket = index < people.promise_count ? &people.promises[index].ticket : NULL;
    return people.promise_count;
}

static void operation_turn(struct operation *operation)
{
    if (operation->state == PERSON_ASKED && operation->until_ms <= sim_now_ms)
        operation->state = PERSON_IDLE;
    if (operation->state == PERSON_IDLE && operation->again_ms <= sim_now_ms)
        operation_ask(operation);
}

/* Some at once change units; the others go one after the other: the sale before its items. */
static bool operations_turn(void)
{
    uint32_t open = 0;
    for (uint32_t i = 0; i < people.operation_count && open < OPERATORS; i++) {
        struct operation *operation = &people.operations[i];
        const bool alone = operation->command.type != COMMAND_ADJUST;
        if (operation->state == PERSON_DONE)
            continue;
        if (alone && open > 0)
            break;
        operation_turn(operation);
        open += alone ? OPERATORS : 1;
    }
    return open > 0;
}

static void attempts_turn(void)
{
    for (uint32_t i = 0; i < people.attempt_count; i++) {
        struct attempt *attempt = &people.attempts[i];
        if (attempt->state == PERSON_ASKED && attempt->until_ms <= sim_now_ms)
            attempt->state = PERSON_IDLE; /* nobody answers: somewhere else, with the same key */
        if (attempt->state == PERSON_IDLE && attempt->again_ms <= sim_now_ms && cluster_below(2) == 0)
            attempt_ask(attempt);
    }
}

static void orders_turn(void)
{
    static const enum order_event events[] = { ORDER_EVENT_PAY, ORDER_EVENT_CANCEL, ORDER_EVENT_REFUND };
    if (db.order_count == 0 || db.event_count + 8 > DB_EVENTS_MAX)
        return;
    const uint32_t index = (uint32_t)cluster_below(db.order_count);
    const enum order_event event = events[cluster_below(3)];
    if (db_order_move(index, event, cluster_below(8) == 0))
        trace_step("order-moves", db.orders[index].ticket, event, 0);
}

void people_turn(void)
{
    const bool setting_up = operations_turn()
        && people.operation_count <= cluster.profile.sales * (1 + cluster.profile.items);
    if (!cluster.resting && !setting_up) {
        if (cluster_below(3) == 0)
            attempt_add(UINT64_C(0x500) + cluster_below(cluster.profile.users), item_any(),
                (uint32_t)(1 + cluster_below(cluster.profile.quantity)));
        if (cluster_below(6) == 0)
            orders_turn();
        if (cluster_below(20) == 0)
            operator_turn();
    }
    attempts_turn();
}

bool people_wait(void)
{
    for (uint32_t i = 0; i < people.operation_count; i++)
        if (people.operations[i].state != PERSON_DONE)
            return true;
    for (uint32_t i = 0; i < people.attempt_count; i++)
        if (people.attempts[i].state != PERSON_DONE)
            return true;
    return false;
}

uint64_t people_wins(void)
{
    return people.wins;
}

uint64_t people_asked(void)
{
    return people.asked;
}

uint64_t people_voids(void)
{
    return people.void_count;
}
