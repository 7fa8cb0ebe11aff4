/* SPDX-License-Identifier: Apache-2.0 */
/* Sales as an administrator makes and changes them: bounds, standard values, and an audit entry for each
 * value that changed. */
#include "tests/unit/admin/admin_shop.h"

#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <string.h>

static int sale_make(const char *more)
{
    const unsigned long long now_ms = shop_now_ms();
    return shop_asks(HTTP_POST,
        shop_text("{\"title\":\"S\",\"start_ms\":%llu,\"end_ms\":%llu%s}", now_ms, now_ms + 60000, more),
        "/sales");
}

static void what_a_new_sale_does_not_say_has_its_standard_value(void **state)
{
    (void)state;
    assert_done(201, sale_make(""));
    assert_int_equal(shop_number("cooldown_s"), 60);
    assert_int_equal(shop_number("return_draw_ms"), 5000);
    assert_int_equal(shop_number("start_draw_ms"), 3000);
    assert_int_equal(shop_number("limit_per_user"), 0);
    assert_int_equal(shop_number("shards"), 1);
    assert_true(json_is_false(shop_value("published")));
    assert_true(json_is_false(shop_value("waiting_room")));
    assert_true(json_is_false(shop_value("pass_once")));
    assert_string_equal(json_string_value(shop_value("human_check")), "none");
}

static void each_value_has_its_bounds(void **state)
{
    static const struct {
        const char *name;
        uint64_t most;
    } numbers[] = { { "limit_per_user", 100000000 }, { "drop_percent", 100 },
        { "pace_per_s", 1000000 }, { "preheat_at_ms", 253402300799999 } };
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char more[64];
        snprintf(more, sizeof more, ",\"%s\":%llu", numbers[i].name, (unsigned long long)numbers[i].most);
        assert_done(201, sale_make(more));
        assert_int_equal(shop_number(numbers[i].name), numbers[i].most);
        snprintf(more, sizeof more, ",\"%s\":%llu", numbers[i].name,
            (unsigned long long)numbers[i].most + 1);
        assert_refused(422, numbers[i].name, sale_make(more));
        snprintf(more, sizeof more, ",\"%s\":-1", numbers[i].name);
        assert_refused(422, numbers[i].name, sale_make(more));
    }
    assert_refused(422, "colour", sale_make(",\"colour\":1"));
    assert_refused(422, "human_check must be one of:", sale_make(",\"human_check\":\"maybe\""));
    assert_done(201, sale_make(",\"human_check\":\"pow\""));
    assert_string_equal(json_string_value(shop_value("human_check")), "pow");
}

static void a_title_is_needed_and_has_its_length(void **state)
{
    (void)state;
    const unsigned long long now_ms = shop_now_ms();
    assert_refused(422, "title is missing",
        shop_asks(HTTP_POST, shop_text("{\"start_ms\":1,\"end_ms\":%llu}", now_ms + 60000), "/sales"));
    assert_refused(422, "title",
        shop_asks(HTTP_POST,
            shop_text("{\"title\":\"\",\"start_ms\":1,\"end_ms\":%llu}", now_ms + 60000), "/sales"));
}

static int times_make(uint64_t start_ms, uint64_t end_ms)
{
    return shop_asks(HTTP_POST,
        shop_text("{\"title\":\"S\",\"start_ms\":%llu,\"end_ms\":%llu}",
            (unsigned long long)start_ms, (unsigned long long)end_ms),
        "/sales");
}

static void a_sale_ends_after_it_starts_and_in_the_future(void **state)
{
    (void)state;
    const uint64_t now_ms = shop_now_ms();
    assert_refused(422, "end_ms must be after start_ms", times_make(now_ms + 5000, now_ms + 5000));
    assert_refused(422, "end_ms must be after start_ms", times_make(now_ms + 5000, now_ms + 4000));
    assert_refused(422, "in the future", times_make(now_ms - 60000, now_ms - 30000));
    assert_done(201, times_make(now_ms - 5000, now_ms + 60000));
}

static void a_change_keeps_what_it_does_not_name(void **state)
{
    (void)state;
    assert_done(201, sale_make(",\"drop_percent\":7,\"one_open_order\":true"));
    const sale_id sale = (sale_id)shop_number("id");
    assert_done(200, shop_asks(HTTP_PATCH, "{\"title\":\"T\"}", "/sales/%u", sale));
    assert_string_equal(json_string_value(shop_value("title")), "T");
    assert_int_equal(shop_number("drop_percent"), 7);
    assert_true(json_is_true(shop_value("one_open_order")));
    assert_int_equal(shop_number("cooldown_s"), 60);
}

static void the_end_is_not_moved_into_the_past(void **state)
{
    (void)state;
    const unsigned long long now_ms = shop_now_ms();
    assert_done(201, times_make(now_ms - 60000, now_ms + 3600000));
    const sale_id sale = (sale_id)shop_number("id");
    assert_refused(422, "end_ms must be in the future",
        shop_asks(HTTP_PATCH, shop_text("{\"end_ms\":%llu}", now_ms - 30000), "/sales/%u", sale));
    assert_refused(422, "end_ms must be after start_ms",
        shop_asks(HTTP_PATCH, shop_text("{\"start_ms\":%llu}", now_ms + 7200000), "/sales/%u", sale));
    assert_done(200,
        shop_asks(HTTP_PATCH, shop_text("{\"end_ms\":%llu}", now_ms + 60000), "/sales/%u", sale));
    assert_int_equal(shop_number("end_ms"), now_ms + 60000);
}

static void each_value_that_changed_is_an_audit_entry_with_both_values(void **state)
{
    char first[64], second[64], third[64];
    (void)state;
    assert_done(201, sale_make(",\"drop_percent\":7"));
    const sale_id sale = (sale_id)shop_number("id");
    assert_done(200,
        shop_asks(HTTP_PATCH, "{\"title\":\"T\",\"drop_percent\":8,\"waiting_room\":true,\"cooldown_s\":60}",
            "/sales/%u", sale));
    assert_done(200, shop_asks(HTTP_GET, NULL, "/audit"));
    snprintf(first, sizeof first, "sale %u title: \\\"S\\\" \u2192 \\\"T\\\"", sale);
    snprintf(second, sizeof second, "sale %u drop_percent: 7 \u2192 8", sale);
    snprintf(third, sizeof third, "sale %u waiting_room: false \u2192 true", sale);
    assert_said(first);
    assert_said(second);
    assert_said(third);
    snprintf(first, sizeof first, "sale %u cooldown_s", sale);
    assert_null(strstr(shop_said(), first));
}

static void a_sale_that_is_not_there_or_archived_is_not_changed(void **state)
{
    (void)state;
    const sale_id sale = shop_sale();
    assert_refused(404, "unknown-sale", shop_asks(HTTP_PATCH, "{\"title\":\"T\"}", "/sales/%u", 255));
    shop_item(sale, 1);
    shop_publish(sale);
    assert_done(200, shop_asks(HTTP_POST, NULL, "/sales/%u/end", sale));
    assert_done(200, shop_asks(HTTP_POST, NULL, "/sales/%u/archive", sale));
    assert_refused(409, "The sale is archived.",
        shop_asks(HTTP_PATCH, "{\"title\":\"T\"}", "/sales/%u", sale));
    assert_done(200, shop_asks(HTTP_GET, NULL, "/sales/%u", sale));
    assert_string_equal(json_string_value(shop_value("title")), "Sale");
}

static int shards_change(sale_id sale, uint32_t shards)
{
    return shop_asks(HTTP_PATCH, shop_text("{\"title\":\"T\",\"shards\":%u}", shards), "/sales/%u", sale);
}

static void shown(sale_id sale, const char *title, uint32_t shards)
{
    assert_done(200, shop_asks(HTTP_GET, NULL, "/sales/%u", sale));
    assert_string_equal(json_string_value(shop_value("title")), title);
    assert_int_equal(shop_number("shards"), shards);
}

static void one_machine_has_one_shard(void **state)
{
    static const char why[] = "needs several machines: inventory.kind = redis";
    (void)state;
    assert_refused(422, why, sale_make(",\"shards\":2"));
    assert_done(201, sale_make(",\"shards\":1"));
    const sale_id sale = (sale_id)shop_number("id");
    assert_refused(422, why, shards_change(sale, 2));
    shown(sale, "S", 1);
    assert_done(200, shards_change(sale, 1));
    shown(sale, "T", 1);
}

static void on_several_machines_there_are_up_to_32(void **state)
{
    (void)state;
    shop_machines_set(true);
    assert_refused(422, "shards", sale_make(",\"shards\":0"));
    assert_refused(422, "shards", sale_make(",\"shards\":33"));
    assert_done(201, sale_make(",\"shards\":32"));
    const sale_id sale = (sale_id)shop_number("id");
    shown(sale, "S", 32);
    assert_refused(422, "shards", shards_change(sale, 33));
    assert_refused(422, "shards", shards_change(sale, 0));
    shown(sale, "S", 32);
    shop_machines_set(false); /* the shop has moved: what is not changed stays */
    assert_done(200, shop_asks(HTTP_PATCH, "{\"title\":\"T\"}", "/sales/%u", sale));
    shown(sale, "T", 32);
}

static void shards_change_until_the_sale_is_prepared(void **state)
{
    (void)state;
    shop_machines_set(true);
    assert_done(201, sale_make(",\"shards\":2"));
    const sale_id sale = (sale_id)shop_number("id");
    assert_done(200, shards_change(sale, 4));
    assert_done(201, sale_make(""));
    const sale_id other = (sale_id)shop_number("id");
    shop_machines_set(false);
    shop_fault_set(FAULT_PREPARED);
    assert_done(200, shop_asks(HTTP_PATCH, "{\"limit_per_user\":3}", "/sales/%u", sale));
    assert_done(200, shop_asks(HTTP_PATCH, "{\"limit_per_user\":3}", "/sales/%u", other));
    shop_fault_set(FAULT_NONE);
    shop_machines_set(true);
    assert_refused(409, "prepared with 4 shards; that can't change", shards_change(sale, 5));
    assert_refused(409, "prepared with 1 shard; that can't change", shards_change(other, 2));
    shown(sale, "T", 4);
    shown(other, "S", 1);
    assert_done(200, shards_change(other, 1));
    shown(other, "T", 1);
}

static void a_change_of_a_draft_on_several_machines_is_not_for_the_inventory(void **state)
{
    (void)state;
    shop_machines_set(true);
    assert_done(201, sale_make(""));
    const sale_id sale = (sale_id)shop_number("id");
    assert_done(200, shards_change(sale, 3));
    assert_refused(409, "does not know it yet", shop_asks(HTTP_POST, NULL, "/sales/%u/pause", sale));
    shop_machines_set(false);
    assert_done(200, shop_asks(HTTP_PATCH, "{\"limit_per_user\":3}", "/sales/%u", sale));
    assert_done(200, shop_asks(HTTP_POST, NULL, "/sales/%u/pause", sale));
}

static void a_sale_that_is_prepared_meanwhile_is_not_changed(void **state)
{
    (void)state;
    shop_machines_set(true);
    assert_done(201, sale_make(",\"shards\":2"));
    const sale_id first = (sale_id)shop_number("id");
    assert_done(201, sale_make(",\"shards\":2"));
    const sale_id second = (sale_id)shop_number("id");
    shop_fault_set(FAULT_PREPARED);
    assert_refused(503, "Try again shortly", shards_change(first, 2));
    assert_refused(409, "prepared with 2 shards", shards_change(second, 3));
    shop_fault_set(FAULT_NONE);
    shown(first, "S", 2);
    shown(second, "S", 2);
    assert_done(200, shards_change(first, 3));
}

int main(void)
{
    const struct CMUnitTest rules[] = {
        SHOP_RULE(what_a_new_sale_does_not_say_has_its_standard_value),
        SHOP_RULE(each_value_has_its_bounds),
        SHOP_RULE(a_title_is_needed_and_has_its_length),
        SHOP_RULE(a_sale_ends_after_it_starts_and_in_the_future),
        SHOP_RULE(a_change_keeps_what_it_does_not_name),
        SHOP_RULE(the_end_is_not_moved_into_the_past),
        SHOP_RULE(each_value_that_changed_is_an_audit_entry_with_both_values),
        SHOP_RULE(a_sale_that_is_not_there_or_archived_is_not_changed),
        SHOP_RULE(one_machine_has_one_shard),
        SHOP_RULE(on_several_machines_there_are_up_to_32),
        SHOP_RULE(shards_change_until_the_sale_is_prepared),
        SHOP_RULE(a_change_of_a_draft_on_several_machines_is_not_for_the_inventory),
        SHOP_RULE(a_sale_that_is_prepared_meanwhile_is_not_changed),
    };
    return cmocka_run_group_tests(rules, shop_open, shop_close);
}
