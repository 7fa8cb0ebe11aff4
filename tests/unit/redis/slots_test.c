/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/slots.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static struct redis_slots slots;
static const struct redis_node asked = {
    .address = { .bytes = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 9 } }, .port = 7000
};

static void assert_node(const struct redis_node *node, const char *text)
{
    char buffer[REDIS_NODE_CHARS_MAX + 1];
    struct text out = text_in(buffer, sizeof buffer - 1);
    redis_node_text(&out, node);
    assert_false(out.overflow);
    buffer[out.size] = 0;
    assert_string_equal(buffer, text);
}

/* The first is the vector of the specification of Redis Cluster; the others are what Redis 7.0.15 answers to
 * CLUSTER KEYSLOT. */
static void slots_are_those_of_redis(void **state)
{
    (void)state;
    const struct {
        const char *key;
        uint16_t slot;
    } known[] = { { "123456789", 0x31c3 }, { "foo", 12182 }, { "", 0 },
        { "{user1000}.following", 3443 }, { "{user1000}.followers", 3443 }, { "user1000", 3443 },
        { "foo{}{bar}", 8363 }, { "foo{{bar}}zap", 4015 }, { "{bar", 4015 },
        { "foo{bar}{zap}", 5061 }, { "bar", 5061 }, { "foo{", 7673 }, { "}foo{bar", 7622 } };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_int_equal(redis_slot(span_from_string(known[i].key)), known[i].slot);
}

static enum status map_of(const char *bytes)
{
    struct redis_reader *reader = NULL;
    const struct redis_value *value = NULL;
    assert_int_equal(redis_reader_open(&reader, 1 << 16, 1 << 12), STATUS_OK);
    assert_int_equal(redis_reader_feed(reader, span_from_string(bytes)), STATUS_OK);
    assert_int_equal(redis_reader_next(reader, &value), STATUS_OK);
    const enum status status = redis_slots_read(&slots, value, &asked);
    redis_reader_close(reader);
    return status;
}

#define MASTER(host) "*4\r\n" host ":7001\r\n$1\r\ni\r\n*0\r\n"
#define RANGE(first, last, master) "*3\r\n:" #first "\r\n:" #last "\r\n" master
#define A_HOST "$8\r\n10.0.0.1\r\n"
#define B_HOST "$8\r\n10.0.0.2\r\n"

static void a_map_is_read_and_gaps_stay_gaps(void **state)
{
    (void)state;
    assert_int_equal(map_of("*3\r\n" RANGE(0, 5, MASTER(A_HOST)) RANGE(7, 16382, MASTER(B_HOST))
                             RANGE(16383, 16383, MASTER(A_HOST))),
        STATUS_OK);
    assert_int_equal(slots.count, 2);
    assert_node(&slots.nodes[slots.node_of[0]], "10.0.0.1:7001");
    assert_node(&slots.nodes[slots.node_of[5]], "10.0.0.1:7001");
    assert_int_equal(slots.node_of[6], REDIS_NODE_NONE);
    assert_node(&slots.nodes[slots.node_of[7]], "10.0.0.2:7001");
    assert_node(&slots.nodes[slots.node_of[16382]], "10.0.0.2:7001");
    assert_node(&slots.nodes[slots.node_of[16383]], "10.0.0.1:7001");
    assert_int_equal(map_of("*0\r\n"), STATUS_OK);
    assert_int_equal(slots.count, 0);
}

static void a_master_may_leave_its_address_out_or_prefer_a_name(void **state)
{
    (void)state;
    assert_int_equal(map_of("*1\r\n" RANGE(0, 1, MASTER("$-1\r\n"))), STATUS_OK);
    assert_node(&slots.nodes[0], "10.0.0.9:7001");
    assert_int_equal(map_of("*1\r\n" RANGE(0, 1, MASTER("$0\r\n\r\n"))), STATUS_OK);
    assert_node(&slots.nodes[0], "10.0.0.9:7001");
    assert_int_equal(map_of("*1\r\n" RANGE(0, 1, MASTER("$3\r\n::1\r\n"))), STATUS_OK);
    assert_node(&slots.nodes[0], "[::1]:7001");
    const char named[] = "*1\r\n*3\r\n:0\r\n:1\r\n*4\r\n$5\r\nred-1\r\n:7001\r\n$1\r\ni\r\n"
                         "*2\r\n$2\r\nip\r\n$8\r\n10.0.0.3\r\n";
    assert_int_equal(map_of(named), STATUS_OK);
    assert_node(&slots.nodes[0], "10.0.0.3:7001");
    assert_int_equal(map_of("*1\r\n" RANGE(0, 1, MASTER("$5\r\nred-1\r\n"))), STATUS_BAD_INPUT);
}

static void hostile_maps_are_refused(void **state)
{
    (void)state;
    const char *bad[] = {
        "+OK\r\n",
        "*1\r\n:1\r\n",
        "*1\r\n*2\r\n:0\r\n:1\r\n",               /* no master */
        "*1\r\n" RANGE(-1, 1, MASTER(A_HOST)),    /* below the first */
        "*1\r\n" RANGE(0, 16384, MASTER(A_HOST)), /* above the last */
        "*1\r\n" RANGE(0, 9223372036854775807, MASTER(A_HOST)),
        "*1\r\n" RANGE(2, 1, MASTER(A_HOST)),                             /* backwards */
        "*2\r\n" RANGE(0, 5, MASTER(A_HOST)) RANGE(5, 6, MASTER(B_HOST)), /* two masters */
        "*1\r\n" RANGE(0, 1, "*2\r\n" A_HOST ":0\r\n"),                   /* ports */
        "*1\r\n" RANGE(0, 1, "*2\r\n" A_HOST ":65536\r\n"),
        "*1\r\n" RANGE(0, 1, "*2\r\n" A_HOST "$1\r\n1\r\n"),
        "*1\r\n" RANGE(0, 1, "*1\r\n" A_HOST),
        "*1\r\n" RANGE(0, 1, "*2\r\n:1\r\n:1\r\n"),
        "*1\r\n" RANGE(0, 1, ":1\r\n"),
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(map_of(bad[i]), STATUS_BAD_INPUT);
}

static void there_are_at_most_64_masters(void **state)
{
    (void)state;
    static char map[16 * 1024];
    for (int masters = REDIS_NODES_MAX; masters <= REDIS_NODES_MAX + 1; masters++) {
        int size = snprintf(map, sizeof map, "*%d\r\n", masters);
        for (int i = 0; i < masters; i++)
            size += snprintf(map + size, sizeof map - (size_t)size,
                "*3\r\n:%d\r\n:%d\r\n*2\r\n" A_HOST ":%d\r\n", i, i, 7000 + i);
        assert_int_equal(map_of(map), masters == REDIS_NODES_MAX ? STATUS_OK : STATUS_FULL);
    }
    const struct redis_node known = slots.nodes[3], other = { .port = 1 };
    assert_int_equal(redis_slots_node(&slots, &known), 3);
    assert_int_equal(redis_slots_node(&slots, &other), REDIS_NODE_NONE);
    redis_slots_all(&slots, &other);
    assert_int_equal(slots.count, 1);
    assert_int_equal(slots.node_of[0], 0);
    assert_int_equal(slots.node_of[REDIS_SLOTS - 1], 0);
}

static void a_redirection_is_read_whole_or_not_at_all(void **state)
{
    (void)state;
    uint16_t slot = 0;
    struct redis_node node;
    assert_int_equal(redis_moved_read(SPAN("MOVED 3999 127.0.0.1:6381"), &asked, &slot, &node), STATUS_OK);
    assert_int_equal(slot, 3999);
    assert_node(&node, "127.0.0.1:6381");
    assert_int_equal(redis_moved_read(SPAN("ASK 16383 ::1:6381"), &asked, &slot, &node), STATUS_OK);
    assert_int_equal(slot, 16383);
    assert_node(&node, "[::1]:6381");
    assert_int_equal(redis_moved_read(SPAN("MOVED 0 :6381"), &asked, &slot, &node), STATUS_OK);
    assert_node(&node, "10.0.0.9:6381");
    const char *bad[] = { "", "MOVED", "MOVED 1", "MOVED 16384 127.0.0.1:1", "MOVED -1 127.0.0.1:1",
        "MOVED x 127.0.0.1:1", "MOVED 1 127.0.0.1", "MOVED 1 127.0.0.1:", "MOVED 1 127.0.0.1:65536",
        "MOVED 1 name:6379", "GONE 1 127.0.0.1:1" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(
            redis_moved_read(span_from_string(bad[i]), &asked, &slot, &node), STATUS_BAD_INPUT);
}

static void addresses_are_read_from_a_list(void **state)
{
    (void)state;
    struct redis_node nodes[3];
    uint32_t count = 0;
    struct span bad;
    assert_int_equal(
        redis_nodes_read(SPAN("10.0.0.1:1, [::1]:2,localhost:3"), nodes, 3, &count, &bad), STATUS_OK);
    assert_int_equal(count, 3);
    assert_node(&nodes[0], "10.0.0.1:1");
    assert_node(&nodes[1], "[::1]:2");
    assert_int_equal(nodes[2].port, 3);
    assert_int_equal(redis_nodes_read(SPAN("10.0.0.1:1,10.0.0.2:2"), nodes, 1, &count, &bad), STATUS_FULL);
    const char *wrong[] = { "", "10.0.0.1", "10.0.0.1:0", "10.0.0.1:1,,", ":1", "no name:1" };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(
            redis_nodes_read(span_from_string(wrong[i]), nodes, 3, &count, &bad), STATUS_BAD_INPUT);
    assert_int_equal(redis_nodes_read(SPAN("10.0.0.1:1,x"), nodes, 3, &count, &bad), STATUS_BAD_INPUT);
    assert_true(span_equal(bad, SPAN("x")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_are_those_of_redis),
        cmocka_unit_test(a_map_is_read_and_gaps_stay_gaps),
        cmocka_unit_test(a_master_may_leave_its_address_out_or_prefer_a_name),
        cmocka_unit_test(hostile_maps_are_refused),
        cmocka_unit_test(there_are_at_most_64_masters),
        cmocka_unit_test(a_redirection_is_read_whole_or_not_at_all),
        cmocka_unit_test(addresses_are_read_from_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
