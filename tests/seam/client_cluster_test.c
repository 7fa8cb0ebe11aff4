/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/client_cluster_test.c: the client against a real Redis Cluster of three masters with a replica
 * each. tools/with-cluster brings it. The last test kills a master. */
#include "tests/seam/redis_kit.h"
#include "tests/support/halt.h"

#include <signal.h>

enum { NODES = 6, MASTERS = 3 };

static const char *addresses;
static uint16_t ports[NODES];
static struct redis_kit kit;
/* A busy machine may take its time. */
static const struct redis_limits usual = { .connect_ms = REDIS_KIT_ANSWER_MS,
    .answer_ms = REDIS_KIT_ANSWER_MS };

static void setup_kit(uint32_t seed)
{
    char one[32];
    snprintf(one, sizeof one, "127.0.0.1:%u", ports[seed]);
    redis_kit_open(&kit, one, NULL, NULL, &usual);
    REDIS_KIT_UNTIL(&kit, redis_client_is_whole(kit.client));
}

static uint16_t slot_of(const char *key)
{
    return redis_slot(span_from_string(key));
}

static uint32_t master_of(const char *key) /* as the client sees it */
{
    const struct redis_node *node = redis_client_master(kit.client, slot_of(key));
    for (uint32_t i = 0; i < NODES; i++) {
        if (node != NULL && node->port == ports[i])
            return i;
    }
    return NODES;
}

static void from_any_node_each_key_finds_its_master(void **state)
{
    (void)state;
    char key[16], line[64], slot[REDIS_KIT_TEXT_MAX];
    uint32_t keys[NODES] = { 0 };
    setup_kit(NODES - 1); /* a replica */
    for (uint32_t i = 0; i < 300; i++) {
        snprintf(key, sizeof key, "key-%u", i);
        snprintf(line, sizeof line, "SET %s %u", key, i);
        assert_int_equal(redis_kit_ask(&kit, key, line), REDIS_ANSWER_OK);
        if (i % 30 == 0) {
            redis_kit_order(ports[0], slot, "CLUSTER KEYSLOT %s", key);
            snprintf(line, sizeof line, "%u", slot_of(key));
            assert_string_equal(slot, line);
        }
        keys[master_of(key)]++;
    }
    for (uint32_t i = 0; i < NODES; i++)
        assert_true(i < MASTERS ? keys[i] > 50 : keys[i] == 0);
    assert_true(redis_client_info(kit.client, 0)->cluster);
    assert_int_equal(kit.told, 300);
    redis_kit_close(&kit);
}

/* A slot on its way from one master to another. */
struct move {
    uint32_t from, to;
    uint16_t slot;
    char from_id[REDIS_KIT_TEXT_MAX], to_id[REDIS_KIT_TEXT_MAX];
};

static void move_begin(struct move *move, const char *key)
{
    move->slot = slot_of(key);
    move->from = master_of(key);
    move->to = (move->from + 1) % MASTERS;
    redis_kit_order(ports[move->from], move->from_id, "CLUSTER MYID");
    redis_kit_order(ports[move->to], move->to_id, "CLUSTER MYID");
    redis_kit_order(ports[move->to], NULL, "CLUSTER SETSLOT %u IMPORTING %s", move->slot, move->from_id);
    redis_kit_order(ports[move->from], NULL, "CLUSTER SETSLOT %u MIGRATING %s", move->slot, move->to_id);
}

static void move_key(const struct move *move, const char *key)
{
    redis_kit_order(ports[move->from], NULL, "MIGRATE 127.0.0.1 %u %s 0 20000", ports[move->to], key);
}

/* The receiver first; and all masters, so that none has an old map to tell. */
static void move_end(const struct move *move)
{
    for (uint32_t i = 0; i < MASTERS; i++)
        redis_kit_order(ports[(move->to + i) % MASTERS], NULL, "CLUSTER SETSLOT %u NODE %s",
            move->slot, move->to_id);
}

static void map_allow(const char *sign)
{
    for (uint32_t i = 0; i < NODES; i++)
        redis_kit_order(ports[i], NULL, "ACL SETUSER default %scluster|slots", sign);
}

static void a_slot_on_its_way_is_asked_for_at_both_ends(void **state)
{
    (void)state;
    struct move move;
    setup_kit(0);
    assert_int_equal(redis_kit_ask(&kit, "{moving}a", "SET {moving}a 1"), REDIS_ANSWER_OK);
    assert_int_equal(redis_kit_ask(&kit, "{moving}a", "SET {moving}b 2"), REDIS_ANSWER_OK);
    move_begin(&move, "{moving}a");
    move_key(&move, "{moving}a");
    assert_int_equal(redis_kit_ask(&kit, "{moving}a", "GET {moving}a"), REDIS_ANSWER_OK); /* ASK */
    assert_string_equal(kit.text, "1");
    assert_int_equal(redis_kit_ask(&kit, "{moving}a", "GET {moving}b"), REDIS_ANSWER_OK); /* still here */
    assert_string_equal(kit.text, "2");
    assert_int_equal(master_of("{moving}a"), move.from); /* ASK changes no map */
    assert_int_equal(redis_kit_ask(&kit, "{moving}a", "MGET {moving}a {moving}b"), REDIS_ANSWER_AGAIN);
    move_key(&move, "{moving}b");
    assert_int_equal(redis_kit_ask(&kit, "{moving}a", "MGET {moving}a {moving}b"), REDIS_ANSWER_OK);
    const uint32_t told = kit.told;
    map_allow("-"); /* so only MOVED tells who has the slot */
    move_end(&move);
    assert_int_equal(redis_kit_ask(&kit, "{moving}a", "GET {moving}b"), REDIS_ANSWER_OK); /* MOVED */
    assert_string_equal(kit.text, "2");
    assert_int_equal(kit.told, told + 1); /* once */
    assert_int_equal(master_of("{moving}a"), move.to);
    assert_true(redis_client_is_whole(kit.client));
    map_allow("+");
    redis_kit_close(&kit);
}

static void a_script_is_not_known_where_its_slot_has_gone(void **state)
{
    (void)state;
    struct move move;
    char line[256];
    setup_kit(1);
    assert_int_equal(redis_kit_ask(&kit, "{script}", "SCRIPT LOAD return{KEYS[1]}"), REDIS_ANSWER_OK);
    snprintf(line, sizeof line, "EVALSHA %s 1 {script}", kit.text);
    assert_int_equal(redis_kit_ask(&kit, "{script}", line), REDIS_ANSWER_OK);
    move_begin(&move, "{script}");
    move_end(&move);
    assert_int_equal(redis_kit_ask(&kit, "{script}", line), REDIS_ANSWER_NOSCRIPT);
    redis_kit_close(&kit);
}

static void publish(const char *channel, const char *message)
{
    char line[128];
    snprintf(line, sizeof line, "SPUBLISH %s %s", channel, message);
    assert_int_equal(redis_kit_ask_again(&kit, channel, line), REDIS_ANSWER_OK);
}

static void messages_follow_their_slot(void **state)
{
    (void)state;
    struct move move;
    char name[16];
    setup_kit(2);
    redis_kit_subscriber_open(&kit);
    for (uint32_t i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "{%u}notes", i);
        assert_int_equal(redis_subscriber_add(kit.subscriber, span_from_string(name)), STATUS_OK);
    }
    REDIS_KIT_UNTIL(&kit, redis_subscriber_is_whole(kit.subscriber));
    assert_int_equal(kit.subscribed, 20);
    for (uint32_t i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "{%u}notes", i);
        publish(name, "hello");
        REDIS_KIT_UNTIL(&kit, kit.notes == i + 1);
    }
    assert_string_equal(kit.note, "{19}notes hello");
    move_begin(&move, "{7}notes");
    move_end(&move);
    REDIS_KIT_UNTIL(&kit, kit.subscribed == 21 && redis_subscriber_is_whole(kit.subscriber));
    assert_int_equal(master_of("{7}notes"), move.to);
    publish("{7}notes", "moved");
    REDIS_KIT_UNTIL(&kit, kit.notes == 21);
    assert_string_equal(kit.note, "{7}notes moved");
    redis_kit_close(&kit);
}

static void a_promoted_replica_is_found_with_another_replid_and_without_scripts(void **state)
{
    (void)state;
    char replid[REDIS_ID_CHARS + 1], line[256];
    const char *key = "{b}";
    setup_kit(0); /* the one that will be gone */
    redis_kit_subscriber_open(&kit);
    assert_int_equal(master_of(key), 0);
    assert_int_equal(redis_subscriber_add(kit.subscriber, span_from_string(key)), STATUS_OK);
    REDIS_KIT_UNTIL(&kit, redis_subscriber_is_whole(kit.subscriber));
    const struct redis_info *info = redis_client_info(kit.client, slot_of(key));
    const pid_t pid = (pid_t)info->process_id;
    snprintf(replid, sizeof replid, "%s", info->replid);
    assert_int_equal(redis_kit_ask(&kit, key, "SCRIPT LOAD return{KEYS[1]}"), REDIS_ANSWER_OK);
    snprintf(line, sizeof line, "EVALSHA %s 1 %s", kit.text, key);
    assert_int_equal(redis_kit_ask(&kit, key, line), REDIS_ANSWER_OK);
    const uint32_t told = kit.told;
    halt(pid);
    for (uint64_t i = 0; i < 10; i++)
        assert_int_equal(redis_kit_send(&kit, key, i, REDIS_KIT_ANSWER_MS, line), STATUS_OK);
    redis_kit_turn(&kit);
    assert_int_equal(kill(pid, SIGKILL), 0);
    REDIS_KIT_UNTIL(&kit, kit.told == told + 10); /* long before their time is over */
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(kit.answers[told + i], REDIS_ANSWER_UNKNOWN);
    assert_false(redis_client_is_whole(kit.client));
    assert_int_equal(redis_kit_ask_again(&kit, key, line), REDIS_ANSWER_NOSCRIPT);
    REDIS_KIT_UNTIL(&kit, redis_client_is_whole(kit.client) && redis_subscriber_is_whole(kit.subscriber));
    assert_int_equal(master_of(key), MASTERS); /* its replica */
    assert_string_not_equal(redis_client_info(kit.client, slot_of(key))->replid, replid);
    assert_true(kit.subscribed >= 2);
    publish(key, "promoted");
    REDIS_KIT_UNTIL(&kit, kit.notes == 1);
    redis_kit_close(&kit);
}

int main(void)
{
    addresses = getenv("STAMPEDE_TEST_CLUSTER");
    if (addresses == NULL) {
        puts("skipped: no Redis Cluster (run it by tools/with-cluster)");
        return 77;
    }
    for (uint32_t i = 0; i < NODES; i++)
        ports[i] = redis_kit_port(addresses, i);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_any_node_each_key_finds_its_master),
        cmocka_unit_test(a_slot_on_its_way_is_asked_for_at_both_ends),
        cmocka_unit_test(a_script_is_not_known_where_its_slot_has_gone),
        cmocka_unit_test(messages_follow_their_slot),
        cmocka_unit_test(a_promoted_replica_is_found_with_another_replid_and_without_scripts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
