/* SPDX-License-Identifier: Apache-2.0 */
/* Bans by hand: whom, how long, and what would lock out the shop itself. */
#include "contract/bans.h"

#include "tests/unit/admin/admin_shop.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <string.h>

static int ban(const char *whom)
{
    return shop_asks(HTTP_POST, shop_text("{%s,\"minutes\":5,\"reason\":\"test\"}", whom), "/bans");
}

static void a_ban_names_exactly_one(void **state)
{
    (void)state;
    assert_refused(422, "Name exactly one",
        shop_asks(HTTP_POST, "{\"minutes\":5,\"reason\":\"test\"}", "/bans"));
    assert_refused(422, "Name exactly one", ban("\"user\":\"ann\",\"address\":\"203.0.113.7\""));
    assert_refused(422, "Name exactly one", ban("\"user\":\"ann\",\"user_id\":\"0123456789abcdef\""));
    assert_done(201, ban("\"user\":\"ann\""));
    assert_done(201, ban("\"user_id\":\"0123456789abcdef\""));
    assert_string_equal(json_string_value(shop_value("user_id")), "0123456789abcdef");
    assert_refused(422, "16 hex digits", ban("\"user_id\":\"0123456789abcdeg\""));
    assert_refused(422, "16 hex digits", ban("\"user_id\":\"0000000000000000\""));
}

static void an_address_is_one_or_a_block(void **state)
{
    static const char *const wrong[] = { "203.0.113", "203.0.113.7/24", "203.0.113.0/33", "moon",
        "::/129" };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char whom[64];
        snprintf(whom, sizeof whom, "\"address\":\"%s\"", wrong[i]);
        assert_refused(422, "address must be like", ban(whom));
    }
    assert_done(201, ban("\"address\":\"203.0.113.7\""));
    assert_done(201, ban("\"address\":\"203.0.113.0/24\""));
    assert_done(201, ban("\"address\":\"2001:db8::/32\""));
    assert_string_equal(json_string_value(shop_value("address")), "2001:db8::/32");
    assert_refused(422, "Sessions belong to users", ban("\"address\":\"203.0.113.7\",\"sessions\":true"));
}

static void what_would_lock_out_the_shop_wants_force(void **state)
{
    (void)state;
    assert_refused(422, "would ban the server itself", ban("\"address\":\"127.0.0.1\""));
    assert_refused(422, "would ban the server itself", ban("\"address\":\"::1\""));
    assert_refused(422, "wider than /8", ban("\"address\":\"32.0.0.0/7\""));
    assert_refused(422, "wider than /8", ban("\"address\":\"2000::/15\""));
    assert_done(201, ban("\"address\":\"33.0.0.0/8\""));
    assert_done(201, ban("\"address\":\"2002::/16\""));
    assert_done(201, ban("\"address\":\"32.0.0.0/7\",\"force\":true"));
    assert_done(201, ban("\"address\":\"127.0.0.1\",\"force\":true"));
}

static void minutes_and_reason_have_their_bounds(void **state)
{
    char body[BAN_REASON_MAX + 96], reason[BAN_REASON_MAX + 2];
    (void)state;
    assert_refused(422, "minutes",
        shop_asks(HTTP_POST, "{\"user\":\"a\",\"minutes\":0,\"reason\":\"r\"}", "/bans"));
    assert_refused(422, "minutes",
        shop_asks(HTTP_POST,
            shop_text("{\"user\":\"a\",\"minutes\":%d,\"reason\":\"r\"}", BAN_MINUTES_MAX + 1), "/bans"));
    assert_done(201,
        shop_asks(HTTP_POST,
            shop_text("{\"user\":\"a\",\"minutes\":%d,\"reason\":\"r\"}", BAN_MINUTES_MAX), "/bans"));
    assert_int_equal(
        shop_number("until_ms"), shop_number("created_ms") + (uint64_t)BAN_MINUTES_MAX * 60000);
    assert_refused(
        422, "reason is missing", shop_asks(HTTP_POST, "{\"user\":\"a\",\"minutes\":1}", "/bans"));
    memset(reason, 'r', sizeof reason);
    reason[BAN_REASON_MAX + 1] = 0;
    snprintf(body, sizeof body, "{\"user\":\"a\",\"minutes\":1,\"reason\":\"%s\"}", reason);
    assert_refused(422, "reason", shop_asks(HTTP_POST, body, "/bans"));
}

static void a_ban_is_lifted_once_and_leaves_the_list(void **state)
{
    char entry[32];
    (void)state;
    assert_done(201, ban("\"user\":\"bob\",\"sessions\":true"));
    assert_true(json_is_true(shop_value("sessions")));
    assert_string_equal(json_string_value(shop_value("by")), "ada");
    const unsigned long long id = shop_number("id");
    snprintf(entry, sizeof entry, "\"id\":%llu,\"kind\"", id);
    assert_done(200, shop_asks(HTTP_GET, NULL, "/bans"));
    assert_said(entry);
    assert_done(200, shop_asks(HTTP_POST, NULL, "/bans/%llu/lift", id));
    assert_true(shop_number("lifted_ms") > 0);
    assert_refused(409, "already lifted", shop_asks(HTTP_POST, NULL, "/bans/%llu/lift", id));
    assert_refused(404, "not-found", shop_asks(HTTP_POST, NULL, "/bans/9999/lift"));
    assert_done(200, shop_asks(HTTP_GET, NULL, "/bans"));
    assert_null(strstr(shop_said(), entry));
    assert_done(200, shop_asks(HTTP_GET, NULL, "/bans?all=1"));
    assert_said(entry);
    assert_done(200, shop_asks(HTTP_GET, NULL, "/audit"));
    assert_said("ban.add");
    assert_said("ban.lift");
}

int main(void)
{
    const struct CMUnitTest rules[] = {
        SHOP_RULE(a_ban_names_exactly_one),
        SHOP_RULE(an_address_is_one_or_a_block),
        SHOP_RULE(what_would_lock_out_the_shop_wants_force),
        SHOP_RULE(minutes_and_reason_have_their_bounds),
        SHOP_RULE(a_ban_is_lifted_once_and_leaves_the_list),
    };
    return cmocka_run_group_tests(rules, shop_open, shop_close);
}
