/* SPDX-License-Identifier: Apache-2.0 */
/* The degrade switches: a request changes all that it names or nothing, and leaves an audit entry each. */
#include "admin/switches.h"

#include "config/config.h"
#include "contract/limits.h"
#include "funnel/switches.h"
#include "tests/unit/admin/admin_shop.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <string.h>

static int change(const char *body)
{
    return shop_asks(HTTP_PATCH, body, "/switches");
}

static void switches_read(void)
{
    assert_done(200, shop_asks(HTTP_GET, NULL, "/switches"));
}

/* The number of the newest entry. */
static uint64_t audit_end(void)
{
    uint64_t last = 0;
    do {
        assert_done(200, shop_asks(HTTP_GET, NULL, "/audit?after=%llu", (unsigned long long)last));
        const size_t count = json_array_size(shop_value("audit"));
        for (size_t i = 0; i < count; i++)
            last = (uint64_t)json_integer_value(
                json_object_get(json_array_get(shop_value("audit"), i), "id"));
    } while (shop_value("next") != NULL);
    return last;
}

static void they_start_as_the_settings_say(void **state)
{
    static struct switches switches;
    struct config config;
    (void)state;
    config_defaults(&config);
    config.switch_pow_boost = 3;
    config.admission_per_s = 500;
    config.address_per_s = 7;
    config.switch_refuse_new = true;
    config.switch_bypass_waiting_room = true;
    switches_start(&switches, &config);
    assert_int_equal(switch_value(&switches, SWITCH_POW_BOOST), 3);
    assert_int_equal(switch_value(&switches, SWITCH_ADMISSION_PER_S), 500);
    assert_int_equal(switch_value(&switches, SWITCH_ADDRESS_RATE), 7);
    assert_int_equal(switch_value(&switches, SWITCH_REFUSE_NEW), 1);
    assert_int_equal(switch_value(&switches, SWITCH_BYPASS_WAITING_ROOM), 1);
    assert_int_equal(switch_value(&switches, SWITCH_BYPASS_ADDRESS_LIMIT), 0);
    assert_int_equal(switch_value(&switches, SWITCH_BYPASS_USER_LIMIT), 0);
    assert_int_equal(switch_value(&switches, SWITCH_BYPASS_HUMAN_CHECK), 0);
}

static void each_takes_values_up_to_its_bound_and_no_further(void **state)
{
    (void)state;
    for (unsigned name = 0; name < SWITCHES; name++) {
        const bool flag = switch_kinds[name].most == 1;
        const char *word = switch_kinds[name].name;
        assert_done(200,
            change(flag ? shop_text("{\"%s\":true}", word)
                        : shop_text("{\"%s\":%u}", word, switch_kinds[name].most)));
        json_t *value = shop_value(word);
        assert_true(flag ? json_is_true(value)
                         : json_integer_value(value) == (json_int_t)switch_kinds[name].most);
        if (flag)
            assert_refused(422, word, change(shop_text("{\"%s\":1}", word)));
        else if (switch_kinds[name].most < UINT32_MAX)
            assert_refused(
                422, word, change(shop_text("{\"%s\":%u}", word, switch_kinds[name].most + 1)));
        assert_done(200, change(shop_text(flag ? "{\"%s\":false}" : "{\"%s\":0}", word)));
    }
}

static void one_wrong_value_changes_none_of_them(void **state)
{
    (void)state;
    const uint32_t told = shop_switched();
    assert_refused(422, "bypass_user_limit", change("{\"refuse_new\":true,\"bypass_user_limit\":7}"));
    assert_refused(422, "no_such", change("{\"refuse_new\":true,\"no_such\":true}"));
    assert_refused(422, "does not exist", change("{\"refuse_new\":true,\"sold_out_items\":[499]}"));
    switches_read();
    assert_true(json_is_false(shop_value("refuse_new")));
    assert_int_equal(json_array_size(shop_value("sold_out_items")), 0);
    assert_int_equal(shop_switched(), told);
}

static void the_list_of_sold_out_items_is_replaced_as_a_whole(void **state)
{
    (void)state;
    const sale_id sale = shop_sale();
    const item_id first = shop_item(sale, 1), second = shop_item(sale, 1);
    assert_done(200, change(shop_text("{\"sold_out_items\":[%u]}", first)));
    assert_int_equal(shop_number("sold_out_items.0"), first);
    assert_done(200, change(shop_text("{\"sold_out_items\":[%u]}", second)));
    assert_int_equal(json_array_size(shop_value("sold_out_items")), 1);
    assert_int_equal(shop_number("sold_out_items.0"), second);
    assert_done(200, change("{\"refuse_new\":false}"));
    assert_int_equal(json_array_size(shop_value("sold_out_items")), 1); /* not named: as it was */
    assert_done(200, change("{\"sold_out_items\":[]}"));
    assert_int_equal(json_array_size(shop_value("sold_out_items")), 0);
}

static void a_list_that_is_too_long_or_has_no_items_is_refused(void **state)
{
    static const char *const wrong[] = { "7", "\"7\"", "[0]", "[-1]", "[1.5]", "[\"1\"]", "[262144]" };
    char list[4 * 201 + 1] = "1";
    (void)state;
    const item_id item = shop_item(shop_sale(), 1);
    assert_true(item >= 1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_refused(422, "at most 200 item numbers",
            change(shop_text("{\"sold_out_items\":%s}", wrong[i])));
    for (unsigned i = 1; i < 200; i++)
        memcpy(list + 2 * i - 1, ",1", 3);
    assert_done(200, change(shop_text("{\"sold_out_items\":[%s]}", list)));
    assert_refused(
        422, "at most 200 item numbers", change(shop_text("{\"sold_out_items\":[%s,1]}", list)));
    assert_done(200, change("{\"sold_out_items\":[]}"));
}

static void each_change_leaves_an_entry_and_what_stays_leaves_none(void **state)
{
    (void)state;
    const item_id item = shop_item(shop_sale(), 1);
    const unsigned long long before = audit_end();
    assert_done(200,
        change(shop_text("{\"refuse_new\":true,\"bypass_user_limit\":false,\"pow_boost\":2,"
                         "\"sold_out_items\":[%u]}",
            item)));
    assert_done(200, change("{\"refuse_new\":true}"));
    assert_done(200, shop_asks(HTTP_GET, NULL, "/audit?after=%llu", before));
    assert_int_equal(json_array_size(shop_value("audit")), 3);
    assert_said("refuse_new: 1, was 0");
    assert_said("pow_boost: 2, was 0");
    assert_said("answers sold out without a check");
    assert_string_equal(json_string_value(shop_value("audit.0.actor")), "ada");
    assert_done(200, change("{\"refuse_new\":false,\"pow_boost\":0,\"sold_out_items\":[]}"));
    assert_done(200, shop_asks(HTTP_GET, NULL, "/audit?after=%llu", before));
    assert_int_equal(json_array_size(shop_value("audit")), 6);
    assert_said("is sold again");
}

static void none_is_turned_when_its_audit_entry_can_not_be_written(void **state)
{
    (void)state;
    const item_id item = shop_item(shop_sale(), 1);
    const uint32_t told = shop_switched();
    const char *body = shop_text("{\"refuse_new\":true,\"sold_out_items\":[%u]}", item);
    shop_fault_set(FAULT_AUDIT);
    assert_refused(503, "unavailable", change(body));
    shop_fault_set(FAULT_AT_THE_END);
    assert_refused(503, "unavailable", change(body));
    shop_fault_set(FAULT_NONE);
    switches_read();
    assert_true(json_is_false(shop_value("refuse_new")));
    assert_int_equal(json_array_size(shop_value("sold_out_items")), 0);
    assert_int_equal(shop_switched(), told);
}

static void the_edges_are_told(void **state)
{
    (void)state;
    const uint32_t told = shop_switched();
    assert_done(200, change("{\"address_rate\":9}"));
    assert_int_equal(shop_switched(), told + 1);
}

int main(void)
{
    const struct CMUnitTest rules[] = {
        SHOP_RULE(they_start_as_the_settings_say),
        SHOP_RULE(each_takes_values_up_to_its_bound_and_no_further),
        SHOP_RULE(one_wrong_value_changes_none_of_them),
        SHOP_RULE(the_list_of_sold_out_items_is_replaced_as_a_whole),
        SHOP_RULE(a_list_that_is_too_long_or_has_no_items_is_refused),
        SHOP_RULE(each_change_leaves_an_entry_and_what_stays_leaves_none),
        SHOP_RULE(none_is_turned_when_its_audit_entry_can_not_be_written),
        SHOP_RULE(the_edges_are_told),
    };
    return cmocka_run_group_tests(rules, shop_open, shop_close);
}
