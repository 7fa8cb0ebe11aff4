/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/gate_limits.h"

#include "funnel/limits.h"
#include "funnel/switches.h"
#include "tests/unit/base/unit.h"

static struct config config;
static struct gate_limits gate;
static struct switches switches;
static char error[CONFIG_ERROR];

static int start(void **state)
{
    (void)state;
    config_defaults(&config);
    gate = (struct gate_limits){ .limits = NULL };
    switch_set(&switches, SWITCH_ADDRESS_RATE, 100);
    switch_set(&switches, SWITCH_ADMISSION_PER_S, 0);
    switch_set(&switches, SWITCH_BYPASS_ADDRESS_LIMIT, 0);
    switch_set(&switches, SWITCH_BYPASS_USER_LIMIT, 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    gate_limits_close(&gate);
    return 0;
}

static struct limits_rates applied(void)
{
    struct limits_rates rates;
    gate_limits_apply(gate.limits, &switches, &config);
    limits_get(gate.limits, &rates);
    return rates;
}

static void rates_are_as_configured_until_a_switch_says_otherwise(void **state)
{
    (void)state;
    assert_int_equal(gate_limits_open(&gate, &config, 2, false, error), STATUS_OK);
    struct limits_rates rates = applied();
    assert_int_equal(rates.address_per_s, 100);
    assert_int_equal(rates.address_burst, 200);
    assert_int_equal(rates.user_requests, 10);
    assert_int_equal(rates.user_window_ms, 10000);
    assert_int_equal(rates.admission_per_s, 0);
    switch_set(&switches, SWITCH_ADDRESS_RATE, 7);
    switch_set(&switches, SWITCH_ADMISSION_PER_S, 8);
    rates = applied();
    assert_int_equal(rates.address_per_s, 7);
    assert_int_equal(rates.admission_per_s, 8);
    switch_set(&switches, SWITCH_BYPASS_ADDRESS_LIMIT, 1);
    switch_set(&switches, SWITCH_BYPASS_USER_LIMIT, 1);
    rates = applied();
    assert_int_equal(rates.address_per_s, 0);
    assert_int_equal(rates.user_requests, 0);
    switch_set(&switches, SWITCH_BYPASS_ADDRESS_LIMIT, 0);
    switch_set(&switches, SWITCH_BYPASS_USER_LIMIT, 0);
    rates = applied();
    assert_int_equal(rates.address_per_s, 7);
    assert_int_equal(rates.user_requests, 10);
}

static void proxies_and_the_cap_come_from_the_configuration(void **state)
{
    (void)state;
    assert_int_equal(config_set(&config, "proxy.trusted", "10.0.0.0/8", error), STATUS_OK);
    assert_int_equal(config_set(&config, "proxy.protocol", "on", error), STATUS_OK);
    assert_int_equal(config_set(&config, "limits.connections_per_address", "0", error), STATUS_OK);
    assert_int_equal(gate_limits_open(&gate, &config, 2, false, error), STATUS_OK);
    assert_null(gate.callers);
    assert_true(gate.trusted.proxy_protocol);
    assert_int_equal(gate.trusted.count, 1);
    assert_int_equal(gate.trusted.blocks[0].bits, 104);
}

static void a_list_that_is_none_is_refused(void **state)
{
    (void)state;
    assert_int_equal(config_set(&config, "proxy.trusted", "somewhere", error), STATUS_OK);
    assert_int_equal(gate_limits_open(&gate, &config, 2, false, error), STATUS_BAD_INPUT);
    assert_string_equal(error, "proxy.trusted: somewhere");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rates_are_as_configured_until_a_switch_says_otherwise, start, end),
        cmocka_unit_test_setup_teardown(proxies_and_the_cap_come_from_the_configuration, start, end),
        cmocka_unit_test_setup_teardown(a_list_that_is_none_is_refused, start, end),
    };
    return cmocka_run_group_tests_name("gateway/gate_limits", tests, NULL, NULL);
}
