/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"

#include "tests/unit/base/unit.h"

#include <string.h>

static char error[CONFIG_ERROR];

/* The least that a server needs. */
static struct config least(void)
{
    struct config config;
    config_defaults(&config);
    assert_int_equal(config_set(&config, "data.folder", "/tmp/x", error), STATUS_OK);
    assert_int_equal(config_set(&config, "session.guests", "yes", error), STATUS_OK);
    return config;
}

struct pair {
    const char *name, *value;
};
static void set(struct config *config, struct pair pair)
{
    if (pair.name != NULL)
        assert_int_equal(config_set(config, pair.name, pair.value, error), STATUS_OK);
}

static void a_folder_and_a_way_in_are_enough(void **state)
{
    (void)state;
    struct config config = least();
    assert_int_equal(config_check(&config, error), STATUS_OK);
    set(&config, (struct pair){ "session.guests", "no" });
    assert_int_equal(config_check(&config, error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error, "session.jwt_keys"));
    set(&config, (struct pair){ "session.jwt_keys", "/tmp/keys" });
    assert_int_equal(config_check(&config, error), STATUS_OK);
    set(&config, (struct pair){ "data.folder", "" });
    assert_int_equal(config_check(&config, error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error, "data.folder"));
}

/* Settings, and a word of the reason why they do not go together; NULL: they do. */
static void inventory_queue_store_and_role_go_together_or_are_refused_with_the_reason(void **state)
{
    const struct pair pg = { "store.kind", "postgres" }, url = { "store.url", "postgresql://x/y" },
                      redis = { "inventory.kind", "redis" }, stream = { "queue.kind", "stream" },
                      kafka = { "queue.kind", "kafka" }, secret = { "cluster.secret_file", "/tmp/s" },
                      nodes = { "inventory.url", "10.0.0.1:6379,redis-b:6380,[::1]:6379" };
    const struct {
        struct pair set[8];
        const char *reason;
    } rows[] = {
        { { { "cluster.role", "all" } }, NULL },
        { { pg, url }, NULL },
        { { pg }, "store.url must be" },
        { { url }, "SQLite is a file" },
        { { { "store.kind", "oracle" } }, "store.kind must be" },
        { { pg, { "store.url", "postgresql://me:word@x/y" } }, "must not contain a password" },
        { { { "store.password_file", "/tmp/p" } }, "store.password_file is for" },
        { { { "cluster.role", "boss" } }, "cluster.role must be" },
        { { { "cluster.role", "gateway" } }, "need inventory.kind redis" },
        { { { "cluster.role", "worker" }, pg, url }, "need inventory.kind redis" },
        { { { "inventory.kind", "memory" } }, "inventory.kind must be" },
        { { { "queue.kind", "mail" } }, "queue.kind must be journal, stream" },
        { { kafka, pg, url }, "queue.kind must be journal with" },
        { { secret }, "cluster.secret_file is for" },
        { { redis, stream, secret }, "several processes can't share SQLite" },
        { { redis, pg, url, secret }, "queue.kind must be stream or kafka" },
        { { redis, stream, pg, url }, "cluster.secret_file must be set" },
        { { redis, stream, pg, url, secret }, "inventory.url must be" },
        { { redis, stream, pg, url, secret, nodes }, NULL },
        { { redis, stream, pg, url, secret, nodes, { "cluster.role", "gateway" } }, NULL },
        { { redis, stream, { "store.kind", "mysql" }, { "store.url", "mysql://x/y" }, secret, nodes,
              { "cluster.role", "worker" } },
            NULL },
        { { redis, stream, pg, url, secret, nodes, { "inventory.user", "stampede" },
              { "inventory.password_file", "/tmp/p" } },
            NULL },
        { { redis, kafka, pg, url, secret, nodes, { "queue.url", "k1:9092,k2:9092" } }, NULL },
        { { redis, kafka, pg, url, secret, nodes }, "queue.url must be" },
        { { redis, kafka, pg, url, secret, nodes, { "queue.url", "k1:9092," } }, "queue.url must be" },
        { { redis, kafka, pg, url, secret, nodes, { "queue.url", "k1:9092" },
              { "queue.topic", "two words" } },
            "queue.topic and queue.group may" },
        { { redis, kafka, pg, url, secret, nodes, { "queue.url", "k1:9092" }, { "queue.topic", ".." } },
            "queue.topic and queue.group may" },
        { { redis, kafka, pg, url, secret, nodes, { "queue.url", "k1:9092" }, { "queue.group", "" } },
            "queue.topic and queue.group may" },
        { { redis, stream, pg, url, secret, nodes, { "queue.url", "k1:9092" } },
            "are for queue.kind kafka" },
        { { { "queue.settings_file", "/tmp/s" } }, "are for queue.kind kafka" },
        { { nodes }, "inventory.url is for inventory.kind redis" },
        { { { "inventory.user", "stampede" } }, "inventory.user and inventory.password_file are for" },
        { { { "inventory.password_file", "/tmp/p" } }, "inventory.password_file are for" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct config config = least();
        for (size_t k = 0; k < sizeof rows[i].set / sizeof *rows[i].set; k++)
            set(&config, rows[i].set[k]);
        error[0] = 0;
        const enum status status = config_check(&config, error);
        assert_int_equal(status, rows[i].reason == NULL ? STATUS_OK : STATUS_BAD_INPUT);
        if (rows[i].reason != NULL && strstr(error, rows[i].reason) == NULL)
            fail_msg("row %zu: \"%s\" does not say \"%s\"", i, error, rows[i].reason);
    }
}

/* What the list of Redis servers may be; each other form is refused before anything is started. */
static void redis_servers_are_hosts_with_ports(void **state)
{
    static const char *const good[] = { "a:1", "10.0.0.1:6379", "redis.example:65535",
        "[::1]:6379,b:2", "a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1" };
    static const char *const bad[] = { "", "a", "a:", ":1", "a:0", "a:65536", "a:x", "a:1,", ",a:1",
        "a:1,,b:2", "a:1 ,b:2", "::1:6379", "[]:1", "redis://a:1", "me@a:1", "me:word@a:1",
        "a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1" };
    const struct pair rest[] = { { "inventory.kind", "redis" }, { "queue.kind", "stream" },
        { "store.kind", "postgres" }, { "store.url", "postgresql://x/y" },
        { "cluster.secret_file", "/tmp/s" } };
    struct config config = least();
    (void)state;
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        set(&config, rest[i]);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        set(&config, (struct pair){ "inventory.url", good[i] });
        if (config_check(&config, error) != STATUS_OK)
            fail_msg("%s: %s", good[i], error);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        set(&config, (struct pair){ "inventory.url", bad[i] });
        if (config_check(&config, error) != STATUS_BAD_INPUT || strstr(error, "inventory.url") == NULL)
            fail_msg("%s is not refused", bad[i]);
    }
}

static void each_bad_value_is_refused_and_named(void **state)
{
    static const struct {
        struct pair also, bad;
    } rows[] = {
        { .bad = { "data.segment_bytes", "67108865" } },
        { .bad = { "server.log_level", "loud" } },
        { .bad = { "orders.user_refund_to", "nowhere" } },
        { { "webhook.secret_file", "/tmp/s" }, { "webhook.url", "shop.example" } },
        { { "webhook.secret_file", "/tmp/s" }, { "webhook.url", "https://me@shop.example/" } },
        { { "webhook.secret_file", "/tmp/s" }, { "webhook.url", "https://shop.example/a b" } },
        { { "webhook.url", "https://shop.example/" }, { "webhook.secret_file", "" } },
        { .bad = { "payment.public_url", "sale.example" } },
        { .bad = { "payment.public_url", "ftp://x" } },
        { .bad = { "payment.public_url", "https://x/" } },
        { .bad = { "payment.public_url", "https://x?y" } },
        { .bad = { "payment.public_url", "https://x#y" } },
        { .bad = { "payment.public_url", "https://x y" } },
        { .bad = { "payment.public_url", "https://x\n" } },
        { .bad = { "page.login_url", "shop.example" } },
        { .bad = { "page.login_url", "https://shop.example/\"" } },
        { .bad = { "page.login_url", "https://shop.example/\\" } },
        { .bad = { "page.image_origins", "pictures" } },
        { .bad = { "page.url", "https://sale.example/" } },
        { .bad = { "page.url", "sale.example" } },
        { .bad = { "page.api_url", "https://api.example\">" } },
        { .bad = { "page.export", "/srv/pages" } },    /* without page.api_url */
        { .bad = { "page.on_publish", "/bin/true" } }, /* without page.export */
        { .bad = { "proxy.protocol", "perhaps" } },
        { .bad = { "proxy.trusted", "10.0.0.0/33" } },
        { .bad = { "proxy.protocol", "on" } },
        { .bad = { "watch.rate", "shout" } },
        { .bad = { "watch.unpaid", "shout" } },
        { .bad = { "human.outside", "oracle" } },
        { { "human.outside", "turnstile" }, { "human.outside_site_key", "" } },
        { { "human.outside", "turnstile" }, { "human.outside_site_key", "a b" } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct config config = least();
        const char *key = strchr(rows[i].bad.name, '.') + 1;
        set(&config, rows[i].also);
        set(&config, rows[i].bad);
        error[0] = 0;
        if (config_check(&config, error) != STATUS_BAD_INPUT || strstr(error, key) == NULL)
            fail_msg("%s = %s: \"%s\"", rows[i].bad.name, rows[i].bad.value, error);
    }
}

static void a_service_that_checks_visitors_needs_all_its_settings(void **state)
{
    static const struct pair steps[] = {
        { "human.outside", "turnstile" },
        { "human.outside_site_key", "0x4AAA-_.z" },
        { "human.outside_secret_file", "/tmp/secret" },
    };
    struct config config = least();
    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        set(&config, steps[i]);
        assert_int_equal(config_check(&config, error), i == 2 ? STATUS_OK : STATUS_BAD_INPUT);
    }
    set(&config, (struct pair){ "human.outside_fail", "ajar" });
    assert_int_equal(config_check(&config, error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error, "human.outside_fail"));
    set(&config, (struct pair){ "human.outside_fail", "open" });
    set(&config, (struct pair){ "human.outside_url", "here" });
    assert_int_equal(config_check(&config, error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error, "human.outside_url"));
    set(&config, (struct pair){ "human.outside_url", "http://127.0.0.1:1/" });
    assert_int_equal(config_check(&config, error), STATUS_OK);
}

static void each_good_value_is_taken(void **state)
{
    static const struct pair rows[] = {
        { "payment.public_url", "" },
        { "payment.public_url", "https://sale.example" },
        { "payment.public_url", "http://127.0.0.1:8080" },
        { "payment.public_url", "https://shop.example/flash" },
        { "page.login_url", "https://shop.example/login?next=%2F" },
        { "orders.user_refund_to", "write-off" },
        { "server.log_level", "error" },
        { "watch.crowd", "ban" },
        { "proxy.trusted", "10.0.0.0/8,::1" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct config config = least();
        set(&config, rows[i]);
        if (config_check(&config, error) != STATUS_OK)
            fail_msg("%s = %s: %s", rows[i].name, rows[i].value, error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_and_a_way_in_are_enough),
        cmocka_unit_test(inventory_queue_store_and_role_go_together_or_are_refused_with_the_reason),
        cmocka_unit_test(redis_servers_are_hosts_with_ports),
        cmocka_unit_test(each_bad_value_is_refused_and_named),
        cmocka_unit_test(a_service_that_checks_visitors_needs_all_its_settings),
        cmocka_unit_test(each_good_value_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
