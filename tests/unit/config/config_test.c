/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"

#include "payment/provider.h"

#include "tests/unit/config/settings_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set_refused(const char *name, const char *value, const char *says)
{
    struct config config = defaults();
    error[0] = 0;
    assert_int_equal(config_set(&config, name, value, error), STATUS_BAD_INPUT);
    if (strstr(error, says) == NULL)
        fail_msg("%s = %s: \"%s\" does not say \"%s\"", name, value, error, says);
}

static void the_defaults_need_only_a_folder_and_a_way_in(void **state)
{
    (void)state;
    struct config config = defaults();
    assert_int_equal(config.port, 8080);
    assert_string_equal(config.address, "127.0.0.1");
    assert_string_equal(config.channels, "web");
    assert_int_equal(config_check(&config, error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error, "data.folder"));
    assert_int_equal(config_set(&config, "data.folder", "/tmp/x", error), STATUS_OK);
    assert_int_equal(config_check(&config, error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error, "session.jwt_keys"));
    assert_int_equal(config_set(&config, "session.guests", "yes", error), STATUS_OK);
    assert_int_equal(config_check(&config, error), STATUS_OK);
}

static void every_kind_of_bad_value_is_refused_by_name(void **state)
{
    (void)state;
    static const char *const no_numbers[] = { "", "abc", "-1", "+1", "1.5", "1e3", " 80", "080",
        "18446744073709551616" };
    for (size_t i = 0; i < sizeof no_numbers / sizeof *no_numbers; i++)
        set_refused("server.port", no_numbers[i], "server.port = ");
    set_refused("server.port", "65536", "is out of bounds (0 to 65535)");
    set_refused("data.tickets_max", "15", "data.tickets_max = 15 is out of bounds");
    set_refused("pass.life_s", "0", "is out of bounds (1 to 3599)");
    set_refused("pass.life_s", "3600", "is out of bounds (1 to 3599)");
    set_refused("session.guests", "true", "session.guests = true must be yes or no");
    set_refused("session.guests", "", "must be yes or no");
    char long_text[CONFIG_TEXT + 1];
    memset(long_text, 'x', CONFIG_TEXT);
    long_text[CONFIG_TEXT] = 0;
    set_refused("server.address", long_text, "is too long");
    set_refused("server.colour", "red", "unknown setting server.colour");
    set_refused("nowhere.port", "1", "unknown setting nowhere.port");
    set_refused("port", "1", "unknown setting port");
    set_refused("", "1", "unknown setting");
}

static void the_edge_of_each_bound_is_taken(void **state)
{
    (void)state;
    struct config config = defaults();
    assert_int_equal(config_set(&config, "server.port", "65535", error), STATUS_OK);
    assert_int_equal(config.port, 65535);
    assert_int_equal(config_set(&config, "server.port", "0", error), STATUS_OK);
    assert_int_equal(config_set(&config, "pass.life_s", "3599", error), STATUS_OK);
    char text[CONFIG_TEXT];
    memset(text, 'x', CONFIG_TEXT - 1);
    text[CONFIG_TEXT - 1] = 0;
    assert_int_equal(config_set(&config, "server.address", text, error), STATUS_OK);
    assert_string_equal(config.address, text);
}

static void off_is_another_word_for_0_only_where_it_is_said(void **state)
{
    (void)state;
    struct config config = defaults();
    assert_int_equal(config.archive_after_days, 0); /* an update archives nothing by itself */
    assert_int_equal(config_set(&config, "archive.after_days", "30", error), STATUS_OK);
    assert_int_equal(config.archive_after_days, 30);
    assert_int_equal(config_set(&config, "archive.after_days", "off", error), STATUS_OK);
    assert_int_equal(config.archive_after_days, 0);
    set_refused("archive.after_days", "never", "must be a whole number or off");
    set_refused("privacy.keep_days", "off", "must be a whole number");
}

static void a_refused_value_changes_nothing(void **state)
{
    (void)state;
    struct config config = defaults(), before = config;
    assert_int_equal(config_set(&config, "server.port", "70000", error), STATUS_BAD_INPUT);
    assert_memory_equal(&config, &before, sizeof config);
}

static void a_file_sets_values_and_names_the_line_of_a_bad_one(void **state)
{
    (void)state;
    struct config config = defaults();
    file_write("; ours\n[server]\nport = 9000\n\n[data]\nfolder = /srv/x\n");
    assert_int_equal(config_load_file(&config, path, error), STATUS_OK);
    assert_int_equal(config.port, 9000);
    assert_string_equal(config.folder, "/srv/x");
    file_write("[server]\n\nport = none\n");
    assert_int_equal(config_load_file(&config, path, error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error, "line 3: server.port = none must be a whole number"));
    file_write("[server]\nprot = 9000\n");
    assert_int_equal(config_load_file(&config, path, error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error, "line 2: unknown setting server.prot"));
    file_write("[server]\nthis is not a setting\n");
    assert_int_equal(config_load_file(&config, path, error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error, "line 2"));
}

static void a_file_that_is_not_there_is_named(void **state)
{
    (void)state;
    struct config config = defaults();
    assert_int_equal(config_load_file(&config, "/no/such/file.ini", error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error, "/no/such/file.ini: can't be read"));
}

static void the_environment_overrides_the_file(void **state)
{
    (void)state;
    struct config config = defaults();
    file_write("[server]\nport = 9000\n");
    assert_int_equal(config_load_file(&config, path, error), STATUS_OK);
    setenv("STAMPEDE_SERVER_PORT", "9001", 1);
    setenv("STAMPEDE_SESSION_GUESTS", "yes", 1);
    assert_int_equal(config_load_environment(&config, error), STATUS_OK);
    assert_int_equal(config.port, 9001);
    assert_true(config.guests);
    setenv("STAMPEDE_SERVER_PORT", "many", 1);
    assert_int_equal(config_load_environment(&config, error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error, "server.port = many"));
    unsetenv("STAMPEDE_SERVER_PORT");
    unsetenv("STAMPEDE_SESSION_GUESTS");
}

static void a_value_can_come_from_a_file_named_in_the_environment(void **state)
{
    (void)state;
    struct config config = defaults();
    file_write("/srv/keys\n");
    setenv("STAMPEDE_ADMIN_KEYS_FILE", path, 1);
    assert_int_equal(config_load_environment(&config, error), STATUS_OK);
    assert_string_equal(config.admin_keys, "/srv/keys");
    setenv("STAMPEDE_ADMIN_KEYS", "/srv/other", 1); /* the value itself counts more */
    assert_int_equal(config_load_environment(&config, error), STATUS_OK);
    assert_string_equal(config.admin_keys, "/srv/other");
    unsetenv("STAMPEDE_ADMIN_KEYS");
    setenv("STAMPEDE_ADMIN_KEYS_FILE", "/no/such/file", 1);
    assert_int_equal(config_load_environment(&config, error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error, "/no/such/file"));
    unsetenv("STAMPEDE_ADMIN_KEYS_FILE");
}

static void each_provider_has_a_section_of_its_settings(void **state)
{
    (void)state;
    struct config config = defaults();
    assert_int_equal(config_set(&config, "sandbox.base", "http://127.0.0.1:1", error), STATUS_OK);
    assert_int_equal(config_set(&config, "sandbox.lost", "100", error), STATUS_OK);
    assert_int_equal(config.sandbox_lost, 100);
    for (size_t at = 0; provider_table[at] != NULL; at++) {
        const struct provider_ops *ops = provider_table[at];
        for (size_t i = 0; ops->settings[i].name != NULL; i++) {
            char name[64], value[32];
            snprintf(name, sizeof name, "%s.%s", ops->name, ops->settings[i].name);
            snprintf(value, sizeof value, "value %zu of %zu", i, at);
            assert_int_equal(config_set(&config, name, value, error), STATUS_OK);
            assert_string_equal(config.provider_values[at][i], value);
        }
    }
    set_refused("sandbox.lost", "101", "is out of bounds (0 to 100)");
    set_refused("sandbox.planet", "earth", "unknown setting sandbox.planet");
    set_refused("alipay.lost", "1", "unknown setting alipay.lost");
    set_refused("payment.query_ms", "99", "is out of bounds (100 to 3600000)");
}

static void what_is_printed_reads_back_the_same(void **state)
{
    (void)state;
    struct config config = defaults(), again = defaults();
    assert_int_equal(config_set(&config, "server.port", "9009", error), STATUS_OK);
    assert_int_equal(config_set(&config, "data.folder", "/srv/x", error), STATUS_OK);
    assert_int_equal(config_set(&config, "session.guests", "yes", error), STATUS_OK);
    fflush(stdout);
    const int kept = dup(STDOUT_FILENO), file = open(path, O_WRONLY | O_TRUNC);
    dup2(file, STDOUT_FILENO);
    config_print(&config);
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(file);
    assert_int_equal(config_load_file(&again, path, error), STATUS_OK);
    memcpy(again.sources, config.sources, sizeof again.sources); /* all of them came from the file */
    assert_memory_equal(&config, &again, sizeof config);
}

static struct config_setting setting_named(
    const struct config *config, const char *section, const char *key)
{
    struct config_setting setting;
    for (size_t at = 0; config_setting(config, at, &setting); at++)
        if (strcmp(setting.section, section) == 0 && strcmp(setting.key, key) == 0)
            return setting;
    fail_msg("no setting %s.%s", section, key);
    return setting;
}

static void a_setting_tells_its_source_and_an_address_no_secret(void **state)
{
    (void)state;
    struct config config = defaults();
    assert_int_equal(setting_named(&config, "server", "port").source, CONFIG_DEFAULT);
    assert_int_equal(config_set(&config, "server.port", "9009", error), STATUS_OK);
    const struct config_setting port = setting_named(&config, "server", "port");
    assert_int_equal(port.source, CONFIG_COMMAND);
    assert_string_equal(port.value, "9009");
    assert_int_equal(config_set(&config, "server.port", "x", error), STATUS_BAD_INPUT);
    assert_int_equal(
        config_set(&config, "webhook.url", "https://me:word@shop.example/in?token=word", error),
        STATUS_OK);
    assert_string_equal(setting_named(&config, "webhook", "url").value, "https://shop.example/in");
    assert_int_equal(config_set(&config, "webhook.url", "https://shop.example/a@b", error), STATUS_OK);
    assert_string_equal(setting_named(&config, "webhook", "url").value, "https://shop.example/a@b");
}

static void a_reload_takes_what_may_change_while_running_and_nothing_else(void **state)
{
    (void)state;
    struct config running = defaults(), fresh = defaults();
    assert_int_equal(config_set(&fresh, "session.guests", "yes", error), STATUS_OK);
    assert_int_equal(config_set(&fresh, "session.leeway_s", "7", error), STATUS_OK);
    assert_int_equal(config_set(&fresh, "cors.origins", "https://shop.example", error), STATUS_OK);
    assert_int_equal(config_set(&fresh, "server.port", "9009", error), STATUS_OK);
    assert_int_equal(config_set(&fresh, "server.pin", "yes", error), STATUS_OK);
    assert_int_equal(config_set(&fresh, "data.folder", "/srv/x", error), STATUS_OK);
    config_reload(&running, &fresh);
    struct config wanted = defaults();
    assert_int_equal(config_set(&wanted, "session.guests", "yes", error), STATUS_OK);
    assert_int_equal(config_set(&wanted, "session.leeway_s", "7", error), STATUS_OK);
    assert_int_equal(config_set(&wanted, "cors.origins", "https://shop.example", error), STATUS_OK);
    assert_memory_equal(&running, &wanted, sizeof running);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_defaults_need_only_a_folder_and_a_way_in),
        cmocka_unit_test(every_kind_of_bad_value_is_refused_by_name),
        cmocka_unit_test(the_edge_of_each_bound_is_taken),
        cmocka_unit_test(off_is_another_word_for_0_only_where_it_is_said),
        cmocka_unit_test(a_refused_value_changes_nothing),
        cmocka_unit_test(a_file_sets_values_and_names_the_line_of_a_bad_one),
        cmocka_unit_test(a_file_that_is_not_there_is_named),
        cmocka_unit_test(the_environment_overrides_the_file),
        cmocka_unit_test(a_value_can_come_from_a_file_named_in_the_environment),
        cmocka_unit_test(each_provider_has_a_section_of_its_settings),
        cmocka_unit_test(what_is_printed_reads_back_the_same),
        cmocka_unit_test(a_setting_tells_its_source_and_an_address_no_secret),
        cmocka_unit_test(a_reload_takes_what_may_change_while_running_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, path_make, path_remove);
}
