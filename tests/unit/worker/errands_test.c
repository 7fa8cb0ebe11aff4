/* SPDX-License-Identifier: Apache-2.0 */
/* Errands: whoever asks waits alone, lanes keep their number, and no transaction is open meanwhile. */
#include "worker/errands.h"

#include "api/job.h"
#include "api/link.h"
#include "base/arena.h"
#include "base/clock.h"
#include "contract/admin_store.h"
#include "contract/inventory.h"
#include "contract/order_store.h"
#include "funnel/keys.h"
#include "tests/unit/base/unit.h"
#include "worker/job_group.h"
#include "worker/task.h"

#include <string.h>

enum { ASKED_MAX = 2 * ASK_TOGETHER_MAX };

/* A port that keeps what is asked until the test answers it. */
static struct {
    struct inventory_port port; /* first */
    struct inventory_request asked[ASKED_MAX];
    uint32_t asked_count, flushed;
    struct inventory_answer answers[ASKED_MAX];
    uint32_t answer_count, taken;
    bool full, failed;
} inventory;

static struct inventory_request *port_reserve(struct inventory_port *port)
{
    (void)port;
    return inventory.full ? NULL : &inventory.asked[inventory.asked_count];
}

static void port_commit(struct inventory_port *port)
{
    (void)port;
    inventory.asked_count++;
}

static void port_flush(struct inventory_port *port)
{
    (void)port;
    inventory.flushed = inventory.asked_count;
}

static const struct inventory_answer *port_collect(struct inventory_port *port)
{
    (void)port;
    return inventory.taken < inventory.answer_count ? &inventory.answers[inventory.taken++] : NULL;
}

static bool has_failed(const struct inventory *unused)
{
    (void)unused;
    return inventory.failed;
}

/* The administrator's transaction. */
static struct {
    bool open, away;
    uint32_t pauses;
    bool grouping; /* whoever runs takes part in a group */
    bool grouped;  /* its transaction is open */
    uint32_t asked_when_ended;
} transaction;

static bool store_pause(struct order_store *store)
{
    const bool open = transaction.open;
    (void)store;
    transaction.open = false;
    transaction.pauses += open;
    return open;
}

static enum status store_begin(struct order_store *store)
{
    (void)store;
    transaction.open = !transaction.away;
    return transaction.away ? STATUS_AWAY : STATUS_OK;
}

static void group_begin(struct order_store *store)
{
    (void)store;
    transaction.grouping = true;
}

static bool group_is_open(const struct order_store *store)
{
    (void)store;
    return transaction.grouped;
}

static enum status group_end(struct order_store *store)
{
    (void)store;
    if (transaction.grouped)
        transaction.asked_when_ended = inventory.flushed;
    transaction.grouping = transaction.grouped = false;
    return STATUS_OK;
}

static const struct inventory_port_ops port_ops = { port_reserve, port_commit, port_flush, port_collect };
static const struct inventory_ops inventory_ops = { .failed = has_failed };
static struct inventory the_inventory = { .ops = &inventory_ops };
static const struct admin_store_ops admin_ops = { .begin = store_begin, .pause = store_pause };
static const struct order_store_ops store_ops = {
    .admin = &admin_ops, .group_begin = group_begin, .group_is_open = group_is_open, .group_end = group_end
};
static const struct funnel_keys keys;
static struct order_store store = { .ops = &store_ops };

struct place {
    struct arena arena;
    struct link *link;
    struct job_group *group;
    struct errands *errands;
    struct task task, group_task;
};

/* What one errand asks, and what it hears. */
struct wish {
    struct place *place;
    struct command command;
    struct job *acting;
    enum status status;
    struct outcome outcome;
    bool grouping; /* when it was resumed */
    bool ended;
};

static void wish_run(void *self, void *what)
{
    struct place *place = self;
    struct wish *wish = what;
    errands_acting(place->errands, wish->acting);
    wish->status = errands_ask(place->errands, &wish->command, &wish->outcome);
    wish->grouping = transaction.grouping;
    wish->ended = true;
}

static void open_all(struct place *place)
{
    memset(&inventory, 0, sizeof inventory);
    memset(&transaction, 0, sizeof transaction);
    inventory.port.ops = &port_ops;
    memset(place, 0, sizeof *place);
    assert_int_equal(arena_open(&place->arena, 1 << 20), STATUS_OK);
    assert_int_equal(link_open(&place->link, 1, 1), STATUS_OK);
    place->group = job_group_open(&place->arena, &store, place->link, &place->group_task);
    const struct errands_config config = { .inventory = &the_inventory,
        .port = &inventory.port,
        .store = &store,
        .group = place->group,
        .keys = &keys };
    assert_int_equal(errands_open(&place->errands, &place->arena, &config, &place->task), STATUS_OK);
}

static void close_all(struct place *place)
{
    place->task.end(place->task.self, clock_now_ms());
    place->task.close(place->task.self);
    link_close(place->link);
    arena_close(&place->arena);
}

static void answer(uint32_t index, ticket_number ticket)
{
    inventory.answers[inventory.answer_count++] =
        (struct inventory_answer){ .tag = inventory.asked[index].tag,
            .outcome = { .ticket = ticket, .changed = true } };
}

static uint64_t turn(struct place *place, uint64_t now_ms)
{
    return place->task.turn(place->task.self, now_ms);
}

static bool begin(struct place *place, enum lane lane, struct wish *wish)
{
    return errands_begin(place->errands, lane, wish_run, place, wish);
}

static void each_errand_gets_its_own_answer_in_whatever_order_they_come(void **unused)
{
    struct place place;
    struct wish wishes[3] = { 0 };
    (void)unused;
    open_all(&place);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(begin(&place, LANE_SHARED, &wishes[i]));
    assert_int_equal(inventory.asked_count, 3);
    (void)turn(&place, clock_now_ms());
    assert_false(wishes[0].ended || wishes[1].ended || wishes[2].ended);
    answer(2, 102);
    answer(0, 100);
    (void)turn(&place, clock_now_ms());
    assert_true(wishes[0].ended && !wishes[1].ended && wishes[2].ended);
    assert_int_equal(wishes[0].outcome.ticket, 100);
    assert_int_equal(wishes[2].outcome.ticket, 102);
    answer(1, 101);
    (void)turn(&place, clock_now_ms());
    assert_int_equal(wishes[1].status, STATUS_OK);
    assert_int_equal(wishes[1].outcome.ticket, 101);
    close_all(&place);
}

static void operators_run_one_at_a_time_and_buyers_up_to_their_number(void **unused)
{
    struct place place;
    struct wish first = { 0 }, second = { 0 }, buyers[SHARED_ERRANDS + 1] = { 0 };
    (void)unused;
    open_all(&place);
    assert_true(begin(&place, LANE_OPERATORS, &first));
    assert_false(errands_has_room(place.errands, LANE_OPERATORS));
    assert_false(begin(&place, LANE_OPERATORS, &second));
    for (uint32_t i = 0; i < SHARED_ERRANDS; i++)
        assert_true(begin(&place, LANE_SHARED, &buyers[i]));
    assert_false(begin(&place, LANE_SHARED, &buyers[SHARED_ERRANDS]));
    answer(0, 1);
    (void)turn(&place, clock_now_ms());
    assert_true(first.ended);
    assert_true(begin(&place, LANE_OPERATORS, &second));
    close_all(&place); /* whoever waits gives up */
    assert_true(second.ended && buyers[0].ended && buyers[SHARED_ERRANDS - 1].ended);
}

static void without_an_answer_a_change_is_unknown_and_a_question_was_not_asked(void **unused)
{
    struct place place;
    struct job job = { .commanded = false };
    struct wish change = { .command = { .type = COMMAND_RESERVE } };
    struct wish question = { .command = { .type = COMMAND_ASK_TICKET }, .acting = &job };
    (void)unused;
    open_all(&place);
    const uint64_t begun_ms = clock_now_ms();
    assert_true(begin(&place, LANE_SHARED, &change));
    assert_true(begin(&place, LANE_SHARED, &question));
    assert_true(turn(&place, begun_ms + ASK_MS / 2) >= begun_ms + ASK_MS);
    assert_false(change.ended || question.ended);
    assert_true(turn(&place, clock_now_ms() + ASK_MS) == TASK_IDLE);
    assert_int_equal(change.status, STATUS_UNKNOWN);
    assert_int_equal(question.status, STATUS_AWAY);
    assert_false(job.commanded);
    answer(0, 5); /* too late: nobody hears it */
    (void)turn(&place, clock_now_ms());
    inventory.full = true;
    assert_true(begin(&place, LANE_SHARED, &change));
    assert_int_equal(change.status, STATUS_AWAY);
    close_all(&place);
}

static void no_transaction_is_open_while_an_errand_waits(void **unused)
{
    struct place place;
    struct wish wish = { .command = { .type = COMMAND_RESERVE } };
    (void)unused;
    open_all(&place);
    transaction.open = true;
    assert_true(begin(&place, LANE_OPERATORS, &wish));
    assert_false(transaction.open);
    answer(0, 1);
    (void)turn(&place, clock_now_ms());
    assert_true(transaction.open);
    assert_int_equal(wish.status, STATUS_OK);
    transaction.away = true; /* it can't be begun again: what was commanded is not told as done */
    assert_true(begin(&place, LANE_OPERATORS, &wish));
    answer(1, 2);
    (void)turn(&place, clock_now_ms());
    assert_int_equal(wish.status, STATUS_UNKNOWN);
    assert_int_equal(transaction.pauses, 2);
    close_all(&place);
}

/* ---- many commands of one errand ---- */

struct many {
    uint32_t count;
    enum status status;
    struct outcome outcome;
    bool ended;
};

static void many_fill(void *context, uint32_t index, struct command *command)
{
    (void)context;
    *command = (struct command){ .type = COMMAND_USERS, .users = { .sale = 1, .count = 1 } };
    command->users.users[0] = index + 1;
}

static void many_run(void *self, void *what)
{
    struct place *place = self;
    struct many *many = what;
    errands_acting(place->errands, NULL);
    many->status = errands_ask_all(place->errands, many->count, many_fill, NULL, &many->outcome);
    many->ended = true;
}

static void answer_with(uint32_t index, enum answer said, int32_t applied)
{
    inventory.answers[inventory.answer_count++] =
        (struct inventory_answer){ .tag = inventory.asked[index].tag,
            .outcome = { .answer = (uint8_t)said, .applied = applied, .changed = applied != 0 } };
}

static void many_commands_are_on_their_way_before_the_first_answer(void **unused)
{
    struct place place;
    struct many many = { .count = ASK_TOGETHER_MAX + 3 };
    struct wish other = { .command = { .type = COMMAND_ASK_TICKET } };
    (void)unused;
    open_all(&place);
    assert_true(errands_begin(place.errands, LANE_OPERATORS, many_run, &place, &many));
    assert_int_equal(inventory.asked_count, ASK_TOGETHER_MAX);
    assert_true(begin(&place, LANE_SHARED, &other)); /* its answer is not one of them */
    answer_with(ASK_TOGETHER_MAX, ANSWER_FOUND, 0);
    for (uint32_t i = 1; i < ASK_TOGETHER_MAX; i++)
        answer_with(i, i % 2 == 0 ? ANSWER_DONE : ANSWER_UNCHANGED, i % 2 == 0);
    (void)turn(&place, clock_now_ms());
    assert_true(other.ended && other.outcome.answer == ANSWER_FOUND);
    assert_int_equal(inventory.asked_count, ASK_TOGETHER_MAX + 1); /* one is still waited for */
    answer_with(0, ANSWER_DONE, 1);
    (void)turn(&place, clock_now_ms());
    assert_int_equal(inventory.asked_count, ASK_TOGETHER_MAX + 1 + 3);
    assert_int_equal(inventory.asked[ASK_TOGETHER_MAX + 3].command.users.users[0], ASK_TOGETHER_MAX + 3);
    assert_false(many.ended);
    for (uint32_t i = 1; i <= 3; i++)
        answer_with(ASK_TOGETHER_MAX + i, ANSWER_DONE, 1);
    (void)turn(&place, clock_now_ms());
    assert_true(many.ended);
    assert_int_equal(many.status, STATUS_OK);
    assert_int_equal(many.outcome.applied, ASK_TOGETHER_MAX / 2 + 3);
    close_all(&place);
}

static void of_many_commands_the_first_refusal_is_told_and_ends_them(void **unused)
{
    struct place place;
    struct many many = { .count = ASK_TOGETHER_MAX + 3 };
    (void)unused;
    open_all(&place);
    assert_true(errands_begin(place.errands, LANE_OPERATORS, many_run, &place, &many));
    for (uint32_t i = 0; i < ASK_TOGETHER_MAX; i++)
        answer_with(i,
            i == 7       ? ANSWER_UNKNOWN_SALE
                : i == 9 ? ANSWER_CONFLICT
                         : ANSWER_DONE,
            i != 7);
    (void)turn(&place, clock_now_ms());
    assert_true(many.ended);
    assert_int_equal(many.status, STATUS_OK);
    assert_int_equal(many.outcome.answer, ANSWER_UNKNOWN_SALE);
    assert_int_equal(inventory.asked_count, ASK_TOGETHER_MAX);
    close_all(&place);
}

static void a_command_ends_the_group_before_it_is_given_and_a_question_does_not(void **unused)
{
    struct place place;
    struct wish question = { .command = { .type = COMMAND_ASK_TICKET } };
    struct wish change = { .command = { .type = COMMAND_RESERVE } };
    (void)unused;
    open_all(&place);
    transaction.grouped = true; /* by a job of this round */
    assert_true(begin(&place, LANE_SHARED, &question));
    assert_true(transaction.grouped);
    assert_true(begin(&place, LANE_SHARED, &change));
    assert_false(transaction.grouped);
    assert_int_equal(transaction.asked_when_ended, 1); /* the question, and not the command */
    assert_int_equal(inventory.asked_count, 2);
    close_all(&place);
}

static void buyers_take_part_in_the_group_and_operators_do_not(void **unused)
{
    struct place place;
    struct wish buyer = { .command = { .type = COMMAND_ASK_TICKET } };
    struct wish chief = { .command = { .type = COMMAND_ASK_TICKET } };
    (void)unused;
    open_all(&place);
    assert_true(begin(&place, LANE_SHARED, &buyer));
    assert_true(transaction.grouping);
    transaction.grouped = true;
    assert_true(begin(&place, LANE_OPERATORS, &chief));
    assert_false(transaction.grouping || transaction.grouped);
    answer(0, 1);
    (void)turn(&place, clock_now_ms());
    assert_true(buyer.ended && buyer.grouping);
    answer(1, 1);
    transaction.grouped = true;
    (void)turn(&place, clock_now_ms());
    assert_true(chief.ended && !chief.grouping);
    close_all(&place);
}

static void an_inventory_that_failed_is_not_waited_for(void **unused)
{
    struct place place;
    struct wish wish = { .command = { .type = COMMAND_RESERVE } };
    (void)unused;
    open_all(&place);
    assert_true(begin(&place, LANE_SHARED, &wish));
    inventory.failed = true;
    (void)turn(&place, clock_now_ms());
    assert_int_equal(wish.status, STATUS_UNKNOWN);
    close_all(&place);
}

int main(void)
{
    clock_start(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_errand_gets_its_own_answer_in_whatever_order_they_come),
        cmocka_unit_test(operators_run_one_at_a_time_and_buyers_up_to_their_number),
        cmocka_unit_test(without_an_answer_a_change_is_unknown_and_a_question_was_not_asked),
        cmocka_unit_test(no_transaction_is_open_while_an_errand_waits),
        cmocka_unit_test(many_commands_are_on_their_way_before_the_first_answer),
        cmocka_unit_test(of_many_commands_the_first_refusal_is_told_and_ends_them),
        cmocka_unit_test(a_command_ends_the_group_before_it_is_given_and_a_question_does_not),
        cmocka_unit_test(buyers_take_part_in_the_group_and_operators_do_not),
        cmocka_unit_test(an_inventory_that_failed_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
