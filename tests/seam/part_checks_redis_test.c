/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/part_checks_redis_test.c: what Redis has is compared with the log, on a real Redis
 * (tools/with-redis) that goes on selling: each field that is changed by hand is found, and nothing else. */
#include "base/clock.h"
#include "contract/part_checks.h"
#include "tests/seam/redis_kit.h"
#include "tests/seam/remote_kit.h"

enum { UNITS = 900, SOLD = 150, AT_ONCE = 30, ANNA = 0xa1, BERT = 0xb2, FAR_MS = 2 * KIT_LONG_MS };

static const char *address;

/* ---- asking ---- */

static struct part_checks *checks_of(struct process *process)
{
    return remote_inventory(process->remote)->checks;
}

static enum part_answer answered(struct process *process, struct part_differences *found)
{
    struct part_checks *checks = checks_of(process);
    return checks->ops->answer(checks, found);
}

static void ask(struct process *process, enum part_question question)
{
    struct part_checks *checks = checks_of(process);
    checks->ops->ask(checks, KIT_PART, question);
}

static enum part_answer check(
    struct process *process, enum part_question question, struct part_differences *found)
{
    *found = (struct part_differences){ 0 };
    ask(process, question);
    KIT_UNTIL(process->kit, answered(process, found) != PART_WAIT);
    return answered(process, found);
}

static void expect_equal(struct process *process, enum part_question question)
{
    struct part_differences found;
    const enum part_answer answer = check(process, question, &found);
    if (answer != PART_EQUAL)
        fail_msg("answer %u, %u found: %s", answer, found.found, found.texts[0]);
}

/* Exactly one difference, and these words are in it. */
static void expect_one(struct process *process, enum part_question question, const char *words)
{
    struct part_differences found;
    assert_int_equal(check(process, question, &found), PART_DIFFERS);
    if (found.found != 1 || found.count != 1 || strstr(found.texts[0], words) == NULL)
        fail_msg("%u found, and not \"%s\": %s", found.found, words, found.texts[0]);
    assert_non_null(strstr(found.texts[0], "partition 32: "));
}

/* ---- the shop ---- */

static struct outcome buy(struct process *process, user_id user)
{
    const struct command command = kit_reserve(user, 1000 + user);
    return process_ask(process, &command);
}

/* Purchases of so many users from this one on; answers when all are won. */
static void buy_many(struct process *process, user_id user, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct command command = kit_reserve(user + i, 1000 + user + i);
        const uint64_t tag = process_post(process, &command);
        KIT_UNTIL(process->kit, process_is_answered(process, tag > AT_ONCE ? tag - AT_ONCE : 1));
    }
    const uint64_t last = process->tags;
    for (uint64_t tag = last - count + 1; tag <= last; tag++) {
        KIT_UNTIL(process->kit, process_is_answered(process, tag));
        assert_int_equal(process_outcome(process, tag).answer, ANSWER_WON);
    }
}

/* Something in each table of the engine: a room, an operator's command with a key, users, tickets. */
static struct process *shop_open(struct remote_kit *kit)
{
    struct process *process = remote_kit_sale_open(kit, UNITS);
    const struct command enter = { .type = COMMAND_ARRIVE, .arrive = { .sale = 1, .user = BERT } };
    const struct command users = { .type = COMMAND_USERS,
        .users = { .sale = 1, .count = 1, .users = { BERT } } };
    const struct command adjust = { .type = COMMAND_ADJUST,
        .adjust = { .item = 1, .delta = 5 },
        .origin = { .key = 0xfe, .request = 0xaa } };
    assert_int_equal(process_ask(process, &enter).answer, ANSWER_DONE);
    assert_int_equal(process_ask(process, &users).answer, ANSWER_DONE);
    assert_int_equal(process_ask(process, &adjust).answer, ANSWER_DONE);
    const struct outcome won = buy(process, ANNA);
    assert_int_equal(won.answer, ANSWER_WON);
    buy_many(process, 1000, SOLD);
    return process;
}

static void redis_do(struct remote_kit *kit, const char *command, enum script_key key,
    const char *field, const char *value)
{
    parts_do(&kit->shop,
        (struct redis_words){ (const struct span[]){ span_from_string(command), kit->shop.keys.names[key],
                                  span_from_string(field), span_from_string(value) },
            value == NULL ? 3 : 4 });
}

static bool epoch_is(struct remote_kit *kit, const char *epoch)
{
    char text[REDIS_KIT_TEXT_MAX];
    redis_kit_order(redis_kit_port(address, 0), text, "HGET %s epoch",
        kit->shop.keys.names[SCRIPT_KEY_PART].data);
    return strcmp(text, epoch) == 0;
}

static int setup(void **state)
{
    return remote_kit_setup(state, address);
}

/* ---- rules ---- */

static void a_shop_that_was_not_touched_is_equal(void **state)
{
    struct process *process = shop_open(*state);
    expect_equal(process, PART_COMPARE);
    expect_equal(process, PART_COMPARE_RECENT);
    assert_int_equal(buy(process, BERT).answer, ANSWER_WON);
    expect_equal(process, PART_COMPARE_RECENT);
    expect_equal(process, PART_COMPARE);
}

static const struct {
    enum script_key key;
    const char *field, *value; /* NULL: it is taken out */
    const char *words;
} plants[] = {
    { SCRIPT_KEY_PART, "i1", "1 0 99", "field i1 of :m: Redis has \"1 0 99\", the log has \"1 0 99 100 " },
    { SCRIPT_KEY_PART, "s1", NULL, "field s1 of :m: Redis has nothing, the log has \"1000 2000 " },
    { SCRIPT_KEY_PART, "i7", "1 0 99", "field i7 of :m: Redis has \"1 0 99\", the log has nothing" },
    { SCRIPT_KEY_PART, "bounds", "0 0 0 0 0 0 0", "field bounds of :m: Redis has \"0 0 0 0 0 0 0\"" },
    { SCRIPT_KEY_USERS, "1:00000000000000a1", "9 1",
        "field 1:00000000000000a1 of :u: Redis has \"9 1\", the log has \"1 1\"" },
    { SCRIPT_KEY_USERS, "1:00000000000003e8", NULL,
        "field 1:00000000000003e8 of :u: Redis has nothing, the log has \"1 2\"" },
    { SCRIPT_KEY_USERS, "1:00000000000000b2", "1 1",
        "field 1:00000000000000b2 of :u: Redis has \"1 1\", the log has nothing" },
    { SCRIPT_KEY_USERS, "e1:00000000000000a1", "1",
        "field e1:00000000000000a1 of :u: Redis has \"1\", the log has nothing" },
    { SCRIPT_KEY_USERS, "p1:00000000000000b2", "7",
        "field p1:00000000000000b2 of :u: Redis has \"7\", the log has \"0\"" },
    { SCRIPT_KEY_TICKETS, "1", "00000000000000a1 0 1 1 0 2 5",
        "Redis has \"… 0 1 1 0 2 5\", the log has \"… 0000000000000489 1 1 0 0 1600\"" },
    { SCRIPT_KEY_TICKETS, "151", NULL, "field 151 of :t: Redis has nothing" },
    { SCRIPT_KEY_TICKETS, "152", "x\ny", "field 152 of :t: Redis has \"x.y\", the log has nothing" },
    { SCRIPT_KEY_KEYS, "0000000000000489", "2",
        "field 0000000000000489 of :k: Redis has \"2\", the log has \"1\"" },
    { SCRIPT_KEY_KEYS, "00000000000007d0", NULL,
        "field 00000000000007d0 of :k: Redis has nothing, the log has \"2\"" },
    { SCRIPT_KEY_KEYS, "00000000000000ff", "1",
        "field 00000000000000ff of :k: Redis has \"1\", the log has nothing" },
    { SCRIPT_KEY_KEYS, "a00000000000000fe", "1", "field a00000000000000fe of :k: Redis has \"1\"" },
    { SCRIPT_KEY_KEYS, "o1", "1", "field o1 of :k: Redis has \"1\", the log has nothing" },
};
enum { PLANTS = sizeof plants / sizeof *plants };

static bool is_named(const struct part_differences *found, const char *words)
{
    for (uint32_t i = 0; i < found->count; i++)
        if (strstr(found->texts[i], words) != NULL)
            return true;
    return false;
}

/* What is planted in one hash is found, all of it and nothing else; then the partition is loaded anew. */
static void hash_try(struct remote_kit *kit, struct process *process, enum script_key key)
{
    struct part_differences found;
    uint32_t planted = 0;
    for (uint32_t i = 0; i < PLANTS; i++) {
        if (plants[i].key != key)
            continue;
        redis_do(kit, plants[i].value == NULL ? "HDEL" : "HSET", key, plants[i].field, plants[i].value);
        planted++;
    }
    assert_int_equal(check(process, PART_COMPARE, &found), PART_DIFFERS);
    for (uint32_t i = 0; i < PLANTS; i++)
        if (plants[i].key == key && !is_named(&found, plants[i].words))
            fail_msg("nobody says \"%s\", but \"%s\"", plants[i].words, found.texts[0]);
    assert_int_equal(found.found, planted);
    assert_int_equal(check(process, PART_RELOAD, &found), PART_EQUAL);
    expect_equal(process, PART_COMPARE);
}

static void a_wrong_a_missing_and_a_strange_field_of_each_hash_are_found_and_repaired(void **state)
{
    struct remote_kit *kit = *state;
    struct process *process = shop_open(kit);
    for (uint32_t key = 0; key < SCRIPT_HASHES; key++)
        hash_try(kit, process, key);
    assert_int_equal(buy(process, BERT).answer, ANSWER_WON); /* it goes on selling */
    const struct heard heard = kept_heard(&kit->worker);
    assert_non_null(strstr(heard.first_alarm, "partition-closed: state-differs: "));
    assert_true(heard.cleared > 0);
}

static void many_differences_are_counted_and_some_are_named(void **state)
{
    struct remote_kit *kit = *state;
    struct process *process = shop_open(kit);
    struct part_differences found;
    char ticket[8];
    for (uint32_t i = 1; i <= SOLD; i++) {
        snprintf(ticket, sizeof ticket, "%u", i);
        redis_do(kit, "HDEL", SCRIPT_KEY_TICKETS, ticket, NULL);
    }
    assert_int_equal(check(process, PART_COMPARE, &found), PART_DIFFERS);
    assert_int_equal(found.found, SOLD);
    assert_int_equal(found.count, PART_DIFFERENCES_MAX);
}

/* Redis is ahead of the database in almost every reply, and each is judged at its own record. */
static void purchases_during_a_comparison_are_no_differences_and_hide_none(void **state)
{
    struct remote_kit *kit = *state;
    struct process *process = shop_open(kit);
    struct part_differences found = { 0 };
    user_id user = 5000;
    for (uint32_t round = 0; round < 2; round++) {
        ask(process, PART_COMPARE);
        for (const uint64_t begun_ms = kit_now_ms();
             answered(process, &found) == PART_WAIT && kit_still(begun_ms, "it is compared"); user++) {
            const struct command command = kit_reserve(user, 1000 + user);
            const uint64_t tag = process_post(process, &command);
            KIT_UNTIL(kit, process_is_answered(process, tag - AT_ONCE));
        }
        if (answered(process, &found) != (round == 0 ? PART_EQUAL : PART_DIFFERS) || found.found != round)
            fail_msg("round %u: %u found: %s", round, found.found, found.texts[0]);
        redis_do(kit, "HSET", SCRIPT_KEY_TICKETS, "3", "0 0 1 1 0 0 5");
    }
    assert_true(user > 5002); /* something was sold meanwhile */
    assert_non_null(strstr(found.texts[0], "field 3 of :t: "));
    process_rest(process);
}

static void a_recent_comparison_looks_at_items_and_at_what_is_new(void **state)
{
    struct remote_kit *kit = *state;
    struct process *process = shop_open(kit);
    expect_equal(process, PART_COMPARE);
    redis_do(kit, "HSET", SCRIPT_KEY_TICKETS, "3", "0 0 1 1 0 0 5");
    expect_equal(process, PART_COMPARE_RECENT); /* an old one: a whole comparison finds it */
    assert_int_equal(buy(process, BERT).answer, ANSWER_WON);
    redis_do(kit, "HSET", SCRIPT_KEY_USERS, "1:00000000000000b2", "5 5");
    expect_one(process, PART_COMPARE_RECENT, "field 1:00000000000000b2 of :u: Redis has \"5 5\"");
    struct part_differences found;
    assert_int_equal(check(process, PART_COMPARE_RECENT, &found), PART_DIFFERS);
    assert_int_equal(found.found, 2); /* after a difference all is looked at */
}

static void a_recent_comparison_sees_that_an_old_field_is_missing(void **state)
{
    struct remote_kit *kit = *state;
    struct process *process = shop_open(kit);
    expect_equal(process, PART_COMPARE);
    redis_do(kit, "HDEL", SCRIPT_KEY_TICKETS, "3", NULL);
    expect_one(process, PART_COMPARE_RECENT, ":t: Redis has 150 fields, the log makes 151");
}

static void turns_much_later(struct remote_kit *kit, struct process *process)
{
    for (uint32_t i = 0; i < 3; i++) {
        kit_turn(kit);
        (void)remote_turn(process->remote, kit_now_ms() + FAR_MS);
    }
}

static void what_cant_be_compared_now_is_not_known(void **state)
{
    struct remote_kit *kit = *state;
    struct process *process = remote_kit_sale_open(kit, UNITS);
    struct part_differences found;
    struct part_checks *checks = checks_of(process);
    checks->ops->ask(checks, 5 * KIT_PART, PART_COMPARE);
    KIT_UNTIL(kit, answered(process, &found) == PART_NOT_OPEN);
    kept_stop(&kit->worker);
    const struct command command = kit_reserve(ANNA, 1);
    const uint64_t tag = process_post(process, &command);
    KIT_UNTIL(kit, remote_health(process->remote).parked == 1);
    ask(process, PART_COMPARE); /* Redis is a record ahead, and nobody keeps it */
    for (uint32_t i = 0; i < 50; i++)
        kit_turn(kit);
    assert_int_equal(answered(process, &found), PART_WAIT);
    turns_much_later(kit, process);
    assert_int_equal(answered(process, &found), PART_NOT_KNOWN);
    assert_true(process_is_answered(process, tag)); /* its time is over, too */
}

static void without_a_worker_a_reload_waits_and_the_next_one_does_it(void **state)
{
    struct remote_kit *kit = *state;
    struct process *process = shop_open(kit);
    struct part_differences found;
    redis_do(kit, "HSET", SCRIPT_KEY_USERS, "1:00000000000000b2", "1 1");
    kept_stop(&kit->worker);
    ask(process, PART_RELOAD);
    KIT_UNTIL(kit, epoch_is(kit, "0")); /* nothing is sold from it */
    assert_int_equal(answered(process, &found), PART_WAIT);
    kit_keeper_start(kit, 8, 1);
    KIT_UNTIL(kit, answered(process, &found) == PART_EQUAL);
    expect_equal(process, PART_COMPARE);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, remote_kit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(a_shop_that_was_not_touched_is_equal),
        RULE(a_wrong_a_missing_and_a_strange_field_of_each_hash_are_found_and_repaired),
        RULE(many_differences_are_counted_and_some_are_named),
        RULE(purchases_during_a_comparison_are_no_differences_and_hide_none),
        RULE(a_recent_comparison_looks_at_items_and_at_what_is_new),
        RULE(a_recent_comparison_sees_that_an_old_field_is_missing),
        RULE(what_cant_be_compared_now_is_not_known),
        RULE(without_a_worker_a_reload_waits_and_the_next_one_does_it),
    };
    clock_start(0);
    address = redis_kit_address();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
