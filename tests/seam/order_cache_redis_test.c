/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/order_cache_redis_test.c: order views that processes share, in a real server (tools/with-redis).
 * Two caches are two processes. */
#include "store/redis/order_cache.h"
#include "tests/seam/redis_kit.h"

#include <poll.h>
#include <string.h>

enum { TICKET = 0x1234, USER = 77, DATA_ID = 0xab, MANY = 1000 };

#define KEY "st:00000000000000ab:order:{0000000000001234}"

struct two {
    struct order_cache *one, *other;
};

static struct order_cache *opened(const char *address, uint64_t data_id)
{
    struct redis_client_config config = { 0 };
    struct span bad;
    struct order_cache *cache;
    assert_int_equal(redis_nodes_read(span_from_string(address), config.seeds, REDIS_SEEDS_MAX,
                         &config.seed_count, &bad),
        STATUS_OK);
    assert_int_equal(order_cache_open(&cache, &config, data_id), STATUS_OK);
    return cache;
}

static uint16_t port(void)
{
    return redis_kit_port(redis_kit_address(), 0);
}

static int setup(void **state)
{
    static struct two two;
    char said[REDIS_KIT_TEXT_MAX];
    two = (struct two){ opened(redis_kit_address(), DATA_ID), opened(redis_kit_address(), DATA_ID) };
    redis_kit_order(port(), said, "DEL %s", KEY);
    *state = &two;
    return 0;
}

static int teardown(void **state)
{
    const struct two *two = *state;
    two->one->ops->close(two->one);
    two->other->ops->close(two->other);
    return 0;
}

static bool got(struct order_cache *cache, struct order_cached *cached)
{
    return cache->ops->get(cache, TICKET, cached);
}

/* Whether a field of the key is this; "": there is none. */
static bool has(const char *field, const char *value)
{
    char said[REDIS_KIT_TEXT_MAX];
    redis_kit_order(port(), said, "HGET %s %s", KEY, field);
    return strcmp(said, value) == 0;
}

#define WAIT_FOR(condition) \
    for (const uint64_t since = redis_kit_now_ms(); !(condition) && redis_kit_still(since, #condition);) \
    poll(NULL, 0, 5)

/* A look that is answered, so that the next put counts: nothing else can be told from a server that is
 * slow, so the key has something that shows it. */
static void looked(struct order_cache *cache)
{
    struct order_cached cached;
    WAIT_FOR(got(cache, &cached));
}

static void put(struct order_cache *cache, uint64_t version, uint64_t read_ms, const char *json)
{
    cache->ops->put(cache, TICKET,
        &(struct order_cached){
            .version = version, .read_ms = read_ms, .user = USER, .json = span_from_string(json) });
}

/* The first view of an order that has none. */
static void first_put(struct order_cache *cache)
{
    struct order_cached cached;
    WAIT_FOR(((void)!got(cache, &cached), put(cache, 3, 1000, "{\"v\":3}"), has("v", "3")));
}

static void what_one_has_read_the_other_is_shown(void **state)
{
    const struct two *two = *state;
    struct order_cached cached;
    char life[REDIS_KIT_TEXT_MAX];
    first_put(two->one);
    WAIT_FOR(got(two->other, &cached));
    assert_int_equal(cached.version, 3);
    assert_int_equal(cached.read_ms, 1000);
    assert_int_equal(cached.user, USER);
    assert_true(span_equal(cached.json, SPAN("{\"v\":3}")));
    redis_kit_order(port(), life, "PTTL %s", KEY);
    assert_in_range(strtoul(life, NULL, 10), ORDER_CACHE_KEEP_MS - 120 * 1000, ORDER_CACHE_KEEP_MS);
}

static void an_older_view_replaces_no_newer_one(void **state)
{
    const struct two *two = *state;
    first_put(two->one);
    looked(two->one);
    put(two->one, 2, 9000, "{\"v\":2}"); /* an older version */
    looked(two->one);
    put(two->one, 3, 999, "{\"v\":\"early\"}"); /* the same version, read before */
    looked(two->one);                           /* answers come in order: both are done */
    assert_true(has("j", "{\"v\":3}"));
    put(two->one, 3, 1001, "{\"v\":\"late\"}");
    looked(two->one);
    assert_true(has("j", "{\"v\":\"late\"}"));
    put(two->one, 4, 1002, "{\"v\":4}");
    WAIT_FOR(has("v", "4"));
}

static void what_was_read_before_a_change_is_not_taken_after_it(void **state)
{
    const struct two *two = *state;
    struct order_cached cached;
    char mark[REDIS_KIT_TEXT_MAX];
    first_put(two->one);
    looked(two->one); /* and it reads the database now */
    WAIT_FOR((two->other->ops->turn(two->other), two->other->ops->drop(two->other, TICKET),
        two->other->ops->turn(two->other), !has("m", "")));
    assert_true(has("j", ""));
    put(two->one, 3, 2000, "{\"v\":3}");
    WAIT_FOR(!got(two->one, &cached)); /* after the put: answers come in order */
    assert_true(has("j", ""));
    redis_kit_order(port(), mark, "HGET %s m", KEY);
    assert_int_equal(strlen(mark), 16); /* µs */
    /* Whoever looks from now on sees what was changed, and may put it. */
    WAIT_FOR(((void)!got(two->one, &cached), put(two->one, 4, 2001, "{\"v\":4}"), has("v", "4")));
    WAIT_FOR(got(two->other, &cached));
    assert_int_equal(cached.version, 4);
}

static void a_view_without_a_look_before_is_not_put(void **state)
{
    const struct two *two = *state;
    struct order_cached cached;
    first_put(two->one);
    looked(two->one);
    (void)!two->one->ops->get(two->one, TICKET + 1, &cached);
    put(two->one, 9, 9000, "{\"v\":9}"); /* the last look was at another order */
    looked(two->one);
    put(two->one, 5, 5000, "{\"v\":5}");
    put(two->one, 6, 6000, "{\"v\":6}"); /* once for each look */
    looked(two->one);
    assert_true(has("v", "5"));
}

static void what_is_not_of_our_writing_counts_as_not_there(void **state)
{
    static const char *const wrong[][2] = { { "v", "03" }, { "a", "x" }, { "u", "77" } };
    const struct two *two = *state;
    struct order_cached cached;
    char said[REDIS_KIT_TEXT_MAX];
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        redis_kit_order(port(), said, "DEL %s", KEY);
        first_put(two->one);
        looked(two->other);
        redis_kit_order(port(), said, "HSET %s %s %s", KEY, wrong[i][0], wrong[i][1]);
        for (uint32_t tries = 0; tries < 3; tries++)
            assert_false(got(two->other, &cached));
    }
}

static void another_shop_has_views_of_its_own(void **state)
{
    const struct two *two = *state;
    struct order_cache *theirs = opened(redis_kit_address(), DATA_ID + 1);
    struct order_cached cached;
    first_put(two->one);
    looked(two->other);
    for (uint32_t tries = 0; tries < 3; tries++)
        assert_false(got(theirs, &cached));
    theirs->ops->close(theirs);
}

static void nobody_waits_long_for_a_server_that_is_away(void **state)
{
    struct order_cache *cache = opened("127.0.0.1:1", DATA_ID);
    struct order_cached cached;
    (void)state;
    const uint64_t began_ms = redis_kit_now_ms();
    for (uint32_t i = 0; i < MANY; i++)
        assert_false(got(cache, &cached));
    /* It rests after a failure: not every call waits for ORDER_CACHE_ASK_MS. */
    assert_in_range(redis_kit_now_ms() - began_ms, 0, MANY * ORDER_CACHE_ASK_MS / 2);
    put(cache, 1, 1, "{}");
    cache->ops->drop(cache, TICKET);
    cache->ops->turn(cache);
    cache->ops->close(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_one_has_read_the_other_is_shown, setup, teardown),
        cmocka_unit_test_setup_teardown(an_older_view_replaces_no_newer_one, setup, teardown),
        cmocka_unit_test_setup_teardown(
            what_was_read_before_a_change_is_not_taken_after_it, setup, teardown),
        cmocka_unit_test_setup_teardown(a_view_without_a_look_before_is_not_put, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_of_our_writing_counts_as_not_there, setup, teardown),
        cmocka_unit_test_setup_teardown(another_shop_has_views_of_its_own, setup, teardown),
        cmocka_unit_test(nobody_waits_long_for_a_server_that_is_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
