/* SPDX-License-Identifier: Apache-2.0 */
/* What other processes change is read here, too: over a real database, whose audit trail tells of each
 * change. */
#include "worker/shared_changes.h"

#include "api/catalog.h"
#include "api/handover.h"
#include "base/arena.h"
#include "base/clock.h"
#include "config/config.h"
#include "contract/cluster_store.h"
#include "funnel/bans.h"
#include "funnel/item_rules.h"
#include "funnel/switches.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/store/place.h"
#include "worker/ban_list.h"
#include "worker/catalog_updates.h"
#include "worker/page_export.h"
#include "worker/task.h"

#include <stdio.h>

enum { NOW_MS = 1000000, FAR_MS = NOW_MS * 2, MANY = 80 };

static struct {
    struct place place;
    struct arena arena;
    struct handover bans_shown, catalog_shown;
    struct reader_turns turns;
    struct task bans_task, catalog_task, pages_task, task;
    struct item_rules rules;
    struct config config;
    struct ban_list *bans;
    struct catalog_updates *catalog;
    struct order_store_ops ops;
    struct cluster_store_ops cluster;
    struct switches switches;
    uint32_t switched; /* how often the edges were told */
    uint32_t swept;    /* how often all sales were read */
    const struct order_store_ops *real;
} world;

/* Both are up to date: whoever is due later was told so by the changes. */
static void calm(void)
{
    world.bans_task.due_ms = world.catalog_task.due_ms = FAR_MS;
}

static bool bans_are_told(void)
{
    return world.bans_task.due_ms == 0;
}

static bool catalog_is_told(void)
{
    return world.catalog_task.due_ms == 0;
}

static void look(void)
{
    assert_int_equal(world.task.turn(world.task.self, NOW_MS), NOW_MS + CHANGES_LOOK_MS);
}

static void audit_about(const char *action, const char *detail)
{
    struct audit_entry entry = { .time_ms = NOW_MS, .actor = "ann" };
    snprintf(entry.action, sizeof entry.action, "%s", action);
    snprintf(entry.detail, sizeof entry.detail, "%s", detail);
    assert_int_equal(world.place.store->ops->audit_append(world.place.store, &entry), STATUS_OK);
}

static void audit(const char *action)
{
    audit_about(action, "");
}

static void switched(void *context)
{
    (void)context;
    world.switched++;
}

static void changes_open(bool on)
{
    world.switched = 0;
    switch_set(&world.switches, SWITCH_POW_BOOST, 0);
    shared_changes_open(&world.arena,
        &(struct shared_changes_config){ .store = world.place.store,
            .catalog = world.catalog,
            .bans = world.bans,
            .switches = &world.switches,
            .switched = switched,
            .on = on },
        &world.task);
}

static int setup(void **state)
{
    (void)state;
    clock_start(0);
    place_make(&world.place);
    assert_int_equal(place_open(&world.place, NULL), STATUS_OK);
    assert_int_equal(arena_open(&world.arena, 1 << 16), STATUS_OK);
    handover_create(&world.bans_shown, NULL, ban_set_free);
    handover_create(&world.catalog_shown, NULL, catalog_free);
    world.bans = ban_list_open(&world.arena,
        &(struct ban_list_config){
            .store = world.place.store, .shown = &world.bans_shown, .turns = &world.turns, .proxies = "" },
        &world.bans_task);
    world.catalog = catalog_updates_open(&world.arena,
        &(struct catalog_updates_config){ .store = world.place.store,
            .shown = &world.catalog_shown,
            .turns = &world.turns,
            .rules = &world.rules,
            .pages = page_export_open(&world.arena, &world.config, &world.pages_task),
            .items_max = 1 },
        &world.catalog_task);
    changes_open(true);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    handover_close(&world.bans_shown);
    handover_close(&world.catalog_shown);
    arena_close(&world.arena);
    place_remove(&world.place);
    return 0;
}

/* The first look knows no difference: what was read before it may be older. */
static void begin(void)
{
    look();
    calm();
    look();
    assert_false(bans_are_told() || catalog_is_told());
}

static void alone_it_looks_at_nothing(void **state)
{
    (void)state;
    changes_open(false);
    audit("sale.create");
    calm();
    assert_true(world.task.turn(world.task.self, NOW_MS) == TASK_IDLE);
    assert_false(bans_are_told() || catalog_is_told());
}

static void a_change_makes_what_it_is_about_be_read_again_once(void **state)
{
    (void)state;
    static const struct {
        const char *action;
        bool bans, catalog;
    } rows[] = {
        { "sale.create", false, true }, { "product.update", false, true },
        { "item.create", false, true }, { "ban.create", true, false }, { "ban.lift", true, false },
        { "order.cancel", false, false }, /* orders are told by other ways */
    };
    audit("sale.create");
    begin();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        audit(rows[i].action);
        calm();
        look();
        assert_int_equal(bans_are_told(), rows[i].bans);
        assert_int_equal(catalog_is_told(), rows[i].catalog);
        calm();
        look();
        assert_false(bans_are_told() || catalog_is_told());
    }
}

static enum status sales_counted(
    struct order_store *store, sale_id after, struct sale *rows, uint32_t max, uint32_t *count)
{
    world.swept++;
    return world.real->sales(store, after, rows, max, count);
}

static void a_change_of_one_sale_item_or_product_makes_nothing_else_be_read(void **state)
{
    (void)state;
    static const struct {
        const char *action, *detail;
        uint32_t swept;
    } rows[] = {
        { "sale.change", "sale 7 title: a", 0 },
        { "sale.open", "sale 7", 0 },
        { "item.create", "item 3 sale 7", 0 },
        { "product.change", "product 4294967295 name: a", 0 },
        { "channel.report", "taobao: 3", 0 },
        { "order.paid", "order 1", 0 },
        { "sale.change", "sale seven", 1 },
        { "sale.change", "sale 7a", 1 },
        { "item.change", "sale 7", 1 },
        { "product.change", "product 4294967296", 1 },
        { "dead-letter.retry", "dead letter 1", 1 },
        { "a-word-of-a-later-version", "sale 7", 1 },
    };
    world.real = world.place.store->ops;
    world.ops = *world.real;
    world.ops.sales = sales_counted;
    world.place.store->ops = &world.ops;
    begin();
    catalog_updates_show(world.catalog);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        world.swept = 0;
        audit_about(rows[i].action, rows[i].detail);
        look();
        catalog_updates_show(world.catalog);
        assert_int_equal(world.swept, rows[i].swept);
    }
}

static void boost_write(uint32_t value)
{
    const struct switch_row row = { .name = "pow_boost", .value = value };
    assert_int_equal(world.place.store->ops->cluster->switch_set(world.place.store, &row), STATUS_OK);
}

static void a_switch_is_followed_when_its_audit_row_is_seen(void **state)
{
    (void)state;
    begin();
    boost_write(2);
    look(); /* the row comes with the change, in one transaction */
    assert_int_equal(world.switched, 0);
    audit("switch.set");
    calm();
    look();
    assert_true(world.switched == 1 && switch_value(&world.switches, SWITCH_POW_BOOST) == 2);
    assert_false(bans_are_told() || catalog_is_told());
    look();
    assert_int_equal(world.switched, 1);
}

static void switches_are_as_they_were_left_before_the_first_turn(void **state)
{
    (void)state;
    boost_write(3);
    changes_open(true);
    assert_true(world.switched == 1 && switch_value(&world.switches, SWITCH_POW_BOOST) == 3);
    changes_open(false); /* one machine does not read them */
    assert_true(world.switched == 0 && switch_value(&world.switches, SWITCH_POW_BOOST) == 0);
}

static void the_first_change_of_all_is_seen(void **state)
{
    (void)state;
    begin(); /* while nothing was ever changed */
    audit("sale.create");
    look();
    assert_true(catalog_is_told());
}

static void what_changed_before_the_first_look_is_read(void **state)
{
    (void)state;
    calm(); /* the catalog was read when the process started */
    audit("sale.create");
    audit("ban.create");
    look();
    assert_true(bans_are_told() && catalog_is_told());
}

static void more_changes_than_are_listed_make_everything_be_read(void **state)
{
    (void)state;
    begin();
    for (uint32_t i = 0; i < MANY; i++)
        audit("order.cancel");
    audit("ban.create");
    look();
    assert_true(bans_are_told() && catalog_is_told());
    calm();
    look();
    assert_false(bans_are_told() || catalog_is_told());
}

static enum status list_away(struct order_store *store, uint64_t after, struct audit_entry *entries,
    uint32_t max, uint32_t *count)
{
    (void)store;
    (void)after;
    (void)entries;
    (void)max;
    *count = 0;
    return STATUS_AWAY;
}

static enum status last_away(struct order_store *store, uint64_t *id)
{
    (void)store;
    *id = 0;
    return STATUS_AWAY;
}

static void a_database_that_is_away_is_asked_again(void **state)
{
    (void)state;
    const struct order_store_ops *real = world.place.store->ops;
    begin();
    audit("ban.create");
    world.ops = *real;
    world.cluster = *real->cluster;
    world.ops.cluster = &world.cluster;
    world.place.store->ops = &world.ops;
    world.ops.audit_list = list_away;
    look();
    world.cluster.audit_last = last_away;
    look();
    assert_false(bans_are_told() || catalog_is_told());
    world.place.store->ops = real;
    look();
    assert_true(bans_are_told());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(alone_it_looks_at_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_change_makes_what_it_is_about_be_read_again_once, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_change_of_one_sale_item_or_product_makes_nothing_else_be_read, setup, teardown),
        cmocka_unit_test_setup_teardown(the_first_change_of_all_is_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(a_switch_is_followed_when_its_audit_row_is_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(
            switches_are_as_they_were_left_before_the_first_turn, setup, teardown),
        cmocka_unit_test_setup_teardown(what_changed_before_the_first_look_is_read, setup, teardown),
        cmocka_unit_test_setup_teardown(
            more_changes_than_are_listed_make_everything_be_read, setup, teardown),
        cmocka_unit_test_setup_teardown(a_database_that_is_away_is_asked_again, setup, teardown),
    };
    return cmocka_run_group_tests_name("worker/shared_changes", tests, NULL, NULL);
}
