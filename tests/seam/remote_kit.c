/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/seam/remote_kit.h"

#include "base/log.h"
#include "contract/cluster_store.h"
#include "store/sqlite/sqlite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- what a process is told ---- */

static void changed(void *context, ticket_number ticket, user_id user)
{
    struct process *process = context;
    if (process->changed_count < KIT_NOTES_MAX)
        process->changed[process->changed_count++] = (struct kit_note){ ticket, user };
}

static void changes_end(void *context)
{
    struct process *process = context;
    process->changes_ends++;
}

static void proposed(void *context)
{
    const struct process *process = context;
    if (process->kit->worker.keeper != NULL)
        keeper_look(process->kit->worker.keeper);
}

static bool moved(void *context, ticket_number *ticket, user_id *user)
{
    struct process *process = context;
    *ticket = process->moved.ticket;
    *user = process->moved.user;
    process->moved.ticket = 0;
    return *ticket != 0;
}

/* ---- the shop ---- */

void remote_kit_open(struct remote_kit *kit, const char *addresses)
{
    struct sale second = { .title = "Another", .start_ms = 1, .end_ms = 2 };
    memset(kit, 0, sizeof *kit);
    place_make(&kit->place);
    assert_int_equal(place_open(&kit->place, NULL), STATUS_OK);
    assert_int_equal(kit->place.store->ops->sale_insert(kit->place.store, &second), STATUS_OK);
    parts_open(&kit->shop, addresses);
    partition_keys_make(&kit->shop.keys, kit->shop.data_id, KIT_PART);
    kit->given_ms = 1500;
    for (uint32_t i = 0; i < KIT_PROCESSES; i++) {
        struct process *process = &kit->each[i];
        process->kit = kit;
        process->config = (struct remote_config){ .redis = kit->shop.config,
            .data_id = kit->shop.data_id,
            .engine = parts_engine,
            .ports = KIT_PORTS,
            .ring_slots = KIT_SLOTS,
            .parts_max = 8,
            .tell_ms = KIT_LONG_MS,
            .timeout_ms = KIT_LONG_MS / 2,
            .lag_max = KEPT_LAG_MAX,
            .process = 100 + i,
            .given_ms = &kit->given_ms,
            .changed = changed,
            .changes_end = changes_end,
            .proposed = proposed,
            .moved = moved,
            .context = process };
    }
}

void remote_kit_close(struct remote_kit *kit)
{
    for (uint32_t i = 0; i < KIT_PROCESSES; i++)
        process_close(&kit->each[i]);
    kept_stop(&kit->worker);
    parts_close(&kit->shop);
    place_remove(&kit->place);
}

int remote_kit_setup(void **state, const char *addresses)
{
    struct remote_kit *kit = test_calloc(1, sizeof *kit);
    log_level_set(LOG_ERROR + 1);
    remote_kit_open(kit, addresses);
    kit_part_want(kit, KIT_PART);
    *state = kit;
    return 0;
}

int remote_kit_teardown(void **state)
{
    struct remote_kit *kit = *state;
    remote_kit_close(kit);
    test_free(kit);
    return 0;
}

struct process *remote_kit_sale_open(struct remote_kit *kit, uint32_t units)
{
    struct process *process = kit_process(kit, 0);
    kit_keeper_start(kit, 7, 1);
    process_open(process);
    KIT_UNTIL(kit, remote_health(process->remote).open == 1);
    remote_kit_sale(process, units);
    return process;
}

void kit_keeper_start(struct remote_kit *kit, uint64_t holder, uint32_t parts)
{
    kept_start(&kit->worker, &kit->place, &kit->shop, holder, KIT_LONG_MS);
    EVENTUALLY(kept_health(&kit->worker).open == parts);
}

void kit_part_want(struct remote_kit *kit, uint32_t part)
{
    struct order_store *store = kit->place.store;
    EVENTUALLY(store->ops->cluster->part_want(store, part) == STATUS_OK);
}

void kit_flushall(struct remote_kit *kit)
{
    parts_do(&kit->shop, REDIS_WORDS(SPAN("FLUSHALL")));
    parts_do(&kit->shop, REDIS_WORDS(SPAN("SCRIPT"), SPAN("FLUSH")));
}

/* ---- processes ---- */

struct process *kit_process(struct remote_kit *kit, uint32_t index)
{
    assert_true(index < KIT_PROCESSES);
    return &kit->each[index];
}

void process_hear(struct process *process)
{
    assert_int_equal(thread_start(&process->log, "log", remote_log_run, process->remote), STATUS_OK);
}

void process_open(struct process *process)
{
    char error[200];
    assert_int_equal(
        sqlite_store_open(&process->store, process->kit->place.path, NULL, error, sizeof error),
        STATUS_OK);
    process->config.store = process->store;
    if (remote_open(&process->remote, &process->config, error, sizeof error) != STATUS_OK)
        fail_msg("%s", error);
    if (!process->is_deaf)
        process_hear(process);
    do {
        process_turn(process);
    } while (remote_health(process->remote).redis_away);
}

void process_close(struct process *process)
{
    if (process->remote != NULL) {
        remote_stop(process->remote);
        thread_join(&process->log);
        remote_close(process->remote);
    }
    if (process->store != NULL)
        process->store->ops->close(process->store);
    process->remote = NULL;
    process->store = NULL;
}

static struct inventory_port *port_of(struct process *process)
{
    struct inventory *inventory = remote_inventory(process->remote);
    return inventory->ops->port(inventory, 0, NULL);
}

void process_turn(struct process *process)
{
    if (!remote_turn(process->remote, kit_now_ms()))
        wake_wait(remote_wake(process->remote), 1);
}

static void answers_collect(struct process *process)
{
    struct inventory_port *port = port_of(process);
    for (const struct inventory_answer *answer; (answer = port->ops->collect(port)) != NULL;) {
        assert_true(answer->tag > 0 && answer->tag <= process->tags);
        process->outcomes[answer->tag] = answer->outcome;
        process->answers[answer->tag]++;
        assert_int_equal(process->answers[answer->tag], 1);
    }
}

void process_rest(struct process *process)
{
    const uint64_t since_ms = kit_now_ms();
    do {
        process_turn(process);
    } while (!remote_idle(process->remote) && kit_still(since_ms, "nothing waits for an answer"));
}

uint64_t process_post(struct process *process, const struct command *command)
{
    struct inventory_port *port = port_of(process);
    struct inventory_request *request = port->ops->reserve(port);
    assert_non_null(request);
    assert_true(process->tags + 1 < KIT_TAGS_MAX);
    *request = (struct inventory_request){ .tag = ++process->tags, .command = *command };
    port->ops->commit(port);
    port->ops->flush(port);
    return process->tags;
}

bool process_is_answered(struct process *process, uint64_t tag)
{
    answers_collect(process);
    return process->answers[tag] != 0;
}

struct outcome process_outcome(const struct process *process, uint64_t tag)
{
    assert_int_equal(process->answers[tag], 1);
    return process->outcomes[tag];
}

struct outcome process_ask(struct process *process, const struct command *command)
{
    const uint64_t tag = process_post(process, command);
    KIT_UNTIL(process->kit, process_is_answered(process, tag));
    return process_outcome(process, tag);
}

void kit_turn(struct remote_kit *kit)
{
    for (uint32_t i = 0; i < KIT_PROCESSES; i++)
        if (kit->each[i].remote != NULL)
            process_turn(&kit->each[i]);
}

/* ---- commands ---- */

struct command kit_reserve(user_id user, uint64_t key)
{
    return (struct command){ .type = COMMAND_RESERVE,
        .reserve = { .user = user, .key = key, .item = 1, .quantity = 1 } };
}

void remote_kit_sale(struct process *process, uint32_t units)
{
    const struct command sale = { .type = COMMAND_SALE,
        .sale = { .sale = 1, .start_ms = 1000, .end_ms = 2000 } };
    struct command item = { .type = COMMAND_PREHEAT };
    item.preheat = (struct command_preheat){
        .item = 1, .sale = 1, .unit_price = 99, .pay_window_ms = 100, .total = units
    };
    item.preheat.channel_units[0] = units;
    assert_int_equal(process_ask(process, &sale).answer, ANSWER_DONE);
    assert_int_equal(process_ask(process, &item).answer, ANSWER_DONE);
}
