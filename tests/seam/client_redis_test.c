/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/client_redis_test.c: the client against a real server without cluster. tools/with-redis
 * brings the server; one more is started and ended here. */
#include "tests/seam/redis_kit.h"
#include "tests/support/halt.h"

#include "base/clock.h"
#include "edge/edge.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *address;
static uint16_t port;
static struct redis_kit kit;
/* A busy machine may take its time. */
static const struct redis_limits usual = { .connect_ms = REDIS_KIT_ANSWER_MS,
    .answer_ms = REDIS_KIT_ANSWER_MS };

static const struct redis_info *info(void)
{
    return redis_client_info(kit.client, 0);
}

static void setup_kit(const struct redis_limits *limits)
{
    redis_kit_open(&kit, address, NULL, NULL, limits);
    REDIS_KIT_UNTIL(&kit, redis_client_is_whole(kit.client));
}

static void a_plain_server_has_all_slots_and_tells_what_it_is(void **state)
{
    (void)state;
    redis_kit_open(&kit, address, NULL, NULL, &usual);
    assert_int_equal(redis_kit_send(&kit, "a", 1, 1000, "GET a"), STATUS_AWAY);
    REDIS_KIT_UNTIL(&kit, redis_client_is_whole(kit.client));
    assert_true(info()->version[0] >= 7);
    assert_string_equal(info()->policy, "noeviction");
    assert_true(info()->master);
    assert_false(info()->cluster);
    assert_int_equal(strlen(info()->replid), REDIS_ID_CHARS);
    assert_ptr_equal(redis_client_info(kit.client, 0), redis_client_info(kit.client, REDIS_SLOTS - 1));
    assert_int_equal(redis_kit_ask(&kit, "a", "SET a 12"), REDIS_ANSWER_OK);
    assert_int_equal(redis_kit_ask(&kit, "a", "INCR a"), REDIS_ANSWER_OK);
    assert_string_equal(kit.text, "13");
    assert_int_equal(redis_kit_ask(&kit, "b", "GET a"), REDIS_ANSWER_OK); /* any key leads there */
    assert_string_equal(kit.text, "13");
    assert_int_equal(redis_kit_ask(&kit, "a", "LPUSH a 1"), REDIS_ANSWER_REFUSED);
    const uint64_t asked_ms = info()->asked_ms;
    REDIS_KIT_UNTIL(&kit, info()->asked_ms > asked_ms); /* each second */
    char trouble[64];
    struct text out = text_in(trouble, sizeof trouble);
    redis_client_trouble(kit.client, &out);
    assert_int_equal(out.size, 0);
    redis_kit_close(&kit);
}

static void thousands_in_flight_are_answered_in_order_and_one_more_is_not_taken(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    struct redis_limits few = usual;
    few.in_flight_max = MANY;
    setup_kit(&few);
    for (uint64_t round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < MANY; i++)
            assert_int_equal(
                redis_kit_send(&kit, "n", round * MANY + i, REDIS_KIT_ANSWER_MS, "INCR many"), STATUS_OK);
        assert_int_equal(redis_client_in_flight(kit.client), MANY);
        assert_int_equal(redis_kit_send(&kit, "n", 0, REDIS_KIT_ANSWER_MS, "INCR many"), STATUS_FULL);
        REDIS_KIT_UNTIL(&kit, redis_client_in_flight(kit.client) == 0);
    }
    assert_int_equal(kit.told, 3 * MANY);
    for (uint64_t i = 0; i < 3 * MANY; i++) {
        assert_int_equal(kit.tags[i], i);
        assert_int_equal(kit.answers[i], REDIS_ANSWER_OK);
    }
    assert_string_equal(kit.text, "3000"); /* each was done once */
    redis_kit_close(&kit);
}

static void a_script_is_known_unknown_or_fenced(void **state)
{
    (void)state;
    char sha[REDIS_KIT_TEXT_MAX], line[256];
    setup_kit(&usual);
    assert_int_equal(redis_kit_ask(&kit, "a", "EVALSHA ffffffffffffffffffffffffffffffffffffffff 0"),
        REDIS_ANSWER_NOSCRIPT);
    assert_int_equal(redis_kit_ask(&kit, "a", "SCRIPT LOAD return{"), REDIS_ANSWER_REFUSED);
    assert_int_equal(
        redis_kit_ask(&kit, "a", "SCRIPT LOAD return{err='FENCED'..'\\32'..'7'}"), REDIS_ANSWER_OK);
    snprintf(sha, sizeof sha, "%s", kit.text);
    snprintf(line, sizeof line, "EVALSHA %s 0", sha);
    assert_int_equal(redis_kit_ask(&kit, "a", line), REDIS_ANSWER_FENCED);
    redis_kit_close(&kit);
}

static void trouble_says(const char *what)
{
    char trouble[512];
    const uint64_t since = redis_kit_now_ms();
    for (;;) {
        struct text out = text_in(trouble, sizeof trouble - 1);
        redis_client_trouble(kit.client, &out);
        trouble[out.size] = 0;
        if (strstr(trouble, what) != NULL || !redis_kit_still(since, what))
            return;
        redis_kit_turn(&kit);
    }
}

static void a_password_or_a_user_is_needed_and_a_missing_right_is_named(void **state)
{
    (void)state;
    redis_kit_order(port, NULL, "ACL SETUSER clerk on >right ~* &* -@all +info +set +evalsha");
    redis_kit_order(port, NULL, "ACL SETUSER blind on >right ~* &* -@all +set");
    redis_kit_open(&kit, address, "clerk", "wrong", &usual);
    trouble_says("login: WRONGPASS");
    assert_int_equal(redis_kit_send(&kit, "a", 1, 1000, "GET a"), STATUS_AWAY);
    redis_kit_close(&kit);
    redis_kit_open(&kit, address, "blind", "right", &usual);
    trouble_says("no permissions to run the 'info' command");
    redis_kit_close(&kit);
    redis_kit_open(&kit, address, "clerk", "right", &usual);
    REDIS_KIT_UNTIL(&kit, redis_client_is_whole(kit.client));
    assert_int_equal(redis_kit_ask(&kit, "a", "SET a 1"), REDIS_ANSWER_OK);
    assert_int_equal(redis_kit_ask(&kit, "a", "GET a"), REDIS_ANSWER_DENIED);
    assert_true(span_equal(redis_denied_command(span_from_string(kit.text)), SPAN("get")));
    redis_kit_close(&kit);
    redis_kit_order(port, NULL, "ACL SETUSER default resetpass >only");
    redis_kit_open(&kit, address, NULL, NULL, &usual);
    trouble_says("NOAUTH");
    redis_kit_close(&kit);
    redis_kit_open(&kit, address, NULL, "only", &usual);
    REDIS_KIT_UNTIL(&kit, redis_client_is_whole(kit.client));
    assert_int_equal(redis_kit_ask(&kit, "a", "ACL SETUSER default nopass"), REDIS_ANSWER_OK);
    redis_kit_close(&kit);
}

/* The rights that docs/redis.md tells an operator to give are enough for what the client itself does. */
static void the_rights_of_the_document_are_enough(void **state)
{
    (void)state;
    char line[1024], words[1024] = "";
    FILE *document = fopen("docs/redis.md", "r");
    assert_non_null(document);
    while (fgets(line, sizeof line, document) != NULL) {
        if (strncmp(line, "ACL SETUSER stampede ", 21) == 0)
            snprintf(words, sizeof words, "%.*s", (int)strcspn(line, "\n"), line);
    }
    fclose(document);
    assert_true(words[0] != 0);
    redis_kit_order(port, NULL, "%s", words);
    redis_kit_open(&kit, address, "stampede", "PASSWORD", &usual);
    REDIS_KIT_UNTIL(&kit, redis_client_is_whole(kit.client));
    /* Allowed, but this is no cluster. */
    assert_int_equal(redis_kit_ask(&kit, "a", "CLUSTER SLOTS"), REDIS_ANSWER_REFUSED);
    assert_int_equal(redis_kit_ask(&kit, "a", "ASKING"), REDIS_ANSWER_REFUSED);
    assert_int_equal(redis_kit_ask(&kit, "a", "SCRIPT LOAD return{1}"), REDIS_ANSWER_OK);
    assert_int_equal(redis_kit_ask(&kit, "a", "HSET st:1:{0}:m seq 1"), REDIS_ANSWER_OK);
    assert_int_equal(redis_kit_ask(&kit, "a", "HSET other seq 1"), REDIS_ANSWER_DENIED);
    assert_int_equal(redis_kit_ask(&kit, "a", "FLUSHALL"), REDIS_ANSWER_DENIED);
    redis_kit_subscriber_open(&kit);
    assert_int_equal(redis_subscriber_add(kit.subscriber, SPAN("st:1:{0}:notes")), STATUS_OK);
    REDIS_KIT_UNTIL(&kit, redis_subscriber_is_whole(kit.subscriber));
    assert_int_equal(redis_kit_ask(&kit, "a", "SPUBLISH st:1:{0}:notes hello"), REDIS_ANSWER_OK);
    REDIS_KIT_UNTIL(&kit, kit.notes == 1);
    redis_kit_close(&kit);
}

static void a_server_that_stops_makes_answers_unknown_until_it_goes_on(void **state)
{
    (void)state;
    setup_kit(&usual);
    const pid_t pid = (pid_t)info()->process_id;
    halt(pid);
    const uint64_t start = redis_kit_now_ms();
    assert_int_equal(redis_kit_send(&kit, "a", 5, 300, "INCR stopped"), STATUS_OK);
    REDIS_KIT_UNTIL(&kit, kit.told == 1);
    const uint64_t took = redis_kit_now_ms() - start;
    assert_int_equal(kill(pid, SIGCONT), 0);
    assert_int_equal(kit.answers[0], REDIS_ANSWER_UNKNOWN);
    assert_true(took >= 300);
    REDIS_KIT_UNTIL(&kit, redis_client_is_whole(kit.client));
    assert_int_equal(redis_kit_ask(&kit, "a", "GET stopped"), REDIS_ANSWER_OK);
    assert_string_equal(kit.text, "1"); /* it was done, and nobody knew */
    redis_kit_close(&kit);
}

static void a_server_without_memory_says_so(void **state)
{
    (void)state;
    setup_kit(&usual);
    redis_kit_order(port, NULL, "CONFIG SET maxmemory 1");
    assert_int_equal(redis_kit_ask(&kit, "a", "SET a 1"), REDIS_ANSWER_FULL);
    redis_kit_order(port, NULL, "CONFIG SET maxmemory 0");
    assert_int_equal(redis_kit_ask(&kit, "a", "SET a 1"), REDIS_ANSWER_OK);
    redis_kit_close(&kit);
}

/* A demoted server takes no writes; promoted again it has another replid. */
static void a_demotion_is_seen_and_a_promotion_changes_the_replid(void **state)
{
    (void)state;
    char before[REDIS_ID_CHARS + 1];
    setup_kit(&usual);
    snprintf(before, sizeof before, "%s", info()->replid);
    redis_kit_order(port, NULL, "REPLICAOF 127.0.0.1 1");
    const enum redis_answer answer = redis_kit_ask(&kit, "a", "SET a 1");
    assert_int_equal(answer, REDIS_ANSWER_AWAY);
    REDIS_KIT_UNTIL(&kit, info() == NULL); /* nobody has the slots */
    redis_kit_order(port, NULL, "REPLICAOF NO ONE");
    REDIS_KIT_UNTIL(&kit, redis_client_is_whole(kit.client));
    assert_string_not_equal(info()->replid, before);
    assert_int_equal(redis_kit_ask(&kit, "a", "SET a 1"), REDIS_ANSWER_OK);
    redis_kit_close(&kit);
}

static void messages_come_and_a_lost_connection_is_told_as_a_gap(void **state)
{
    (void)state;
    setup_kit(&usual);
    redis_kit_subscriber_open(&kit);
    assert_int_equal(redis_subscriber_add(kit.subscriber, SPAN_NONE), STATUS_BAD_INPUT);
    assert_int_equal(redis_subscriber_add(kit.subscriber, SPAN("one")), STATUS_OK);
    assert_int_equal(redis_subscriber_add(kit.subscriber, SPAN("one")), STATUS_CONFLICT);
    assert_int_equal(redis_subscriber_add(kit.subscriber, SPAN("two")), STATUS_OK);
    assert_false(redis_subscriber_is_whole(kit.subscriber));
    REDIS_KIT_UNTIL(&kit, redis_subscriber_is_whole(kit.subscriber));
    assert_int_equal(kit.subscribed, 2);
    redis_kit_order(port, NULL, "SPUBLISH two hello");
    REDIS_KIT_UNTIL(&kit, kit.notes == 1);
    assert_string_equal(kit.note, "two hello");
    redis_kit_order(port, NULL, "CLIENT KILL TYPE pubsub");
    REDIS_KIT_UNTIL(&kit, kit.subscribed >= 4 && redis_subscriber_is_whole(kit.subscriber));
    redis_kit_order(port, NULL, "SPUBLISH one again");
    REDIS_KIT_UNTIL(&kit, kit.notes == 2);
    assert_string_equal(kit.note, "one again");
    redis_subscriber_remove(kit.subscriber, SPAN("one"));
    char listeners[REDIS_KIT_TEXT_MAX] = "1";
    REDIS_KIT_UNTIL(&kit, (redis_kit_order(port, listeners, "SPUBLISH one gone"), listeners[0] == '0'));
    redis_kit_close(&kit);
}

/* ---- in the loop of an edge ---- */

enum { TRIPS = 200 };
struct looped {
    struct edge *edge;
    struct redis_client *client;
    uint32_t trips;
    bool begun;
};

static void trip_begin(struct looped *looped)
{
    assert_int_equal(redis_client_send(looped->client, SPAN("a"), looped->trips,
                         clock_now_ms() + REDIS_KIT_ANSWER_MS, REDIS_WORDS(SPAN("INCR"), SPAN("trips"))),
        STATUS_OK);
}

static void looped_answered(
    void *self, uint64_t tag, enum redis_answer answer, const struct redis_value *value)
{
    struct looped *looped = self;
    assert_int_equal(answer, REDIS_ANSWER_OK);
    assert_int_equal(tag, looped->trips);
    assert_int_equal(value->number, looped->trips + 1);
    if (++looped->trips < TRIPS)
        trip_begin(looped);
    else
        edge_stop(looped->edge);
}

static bool looped_turn(void *self, uint64_t now_ms)
{
    struct looped *looped = self;
    if (!looped->begun && redis_client_is_whole(looped->client)) {
        looped->begun = true;
        trip_begin(looped);
    }
    redis_client_turn(looped->client, now_ms);
    return false;
}

static void a_client_lives_in_the_loop_of_an_edge(void **state)
{
    (void)state;
    struct looped looped = { 0 };
    struct redis_client_config config = { .limits = usual };
    struct span bad;
    assert_int_equal(redis_nodes_read(span_from_string(address), config.seeds, REDIS_SEEDS_MAX,
                         &config.seed_count, &bad),
        STATUS_OK);
    const struct redis_client_owner owner = { .self = &looped, .answered = looped_answered };
    assert_int_equal(redis_client_open(&looped.client, &config, &owner), STATUS_OK);
    const struct edge_handler handler = { .self = &looped, .turn = looped_turn };
    const struct edge_config edge = {
        .address = "127.0.0.1", .listen_fd = -1, .connections_max = 4, .cpu = -1
    };
    assert_int_equal(edge_open(&looped.edge, &edge, &handler), STATUS_OK);
    assert_int_equal(edge_attend(looped.edge, redis_client_fd(looped.client)), STATUS_OK);
    const uint64_t start = redis_kit_now_ms();
    edge_run(looped.edge);
    print_message("%d trips in %u ms; by ticks alone at least %d ms\n", TRIPS,
        (unsigned)(redis_kit_now_ms() - start), TRIPS * EDGE_TICK_MS);
    assert_int_equal(looped.trips, TRIPS);
    edge_close(looped.edge);
    redis_client_close(looped.client);
}

/* ---- a server of our own ---- */

/* It was free a moment ago. */
static uint16_t port_spare(void)
{
    struct sockaddr_in own = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof own;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&own, size), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&own, &size), 0);
    close(fd);
    return ntohs(own.sin_port);
}

static pid_t server_start(uint16_t own_port, const char *folder)
{
    char number[8];
    snprintf(number, sizeof number, "%u", own_port);
    const pid_t parent = getpid(), pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        /* It ends with the test, however that ends. */
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent
            && freopen("/dev/null", "w", stdout) != NULL)
            execlp("redis-server", "redis-server", "--port", number, "--bind", "127.0.0.1", "--dir",
                folder, "--save", "", (char *)NULL);
        _exit(127);
    }
    return pid;
}

static void a_server_that_was_killed_is_another_one_when_it_is_back(void **state)
{
    (void)state;
    char folder[] = "/tmp/stampede-redis-XXXXXX", own[32], before[REDIS_ID_CHARS + 1],
         replid[REDIS_ID_CHARS + 1];
    assert_non_null(mkdtemp(folder));
    const uint16_t own_port = port_spare();
    snprintf(own, sizeof own, "127.0.0.1:%u", own_port);
    pid_t pid = server_start(own_port, folder);
    redis_kit_open(&kit, own, NULL, NULL, &usual);
    REDIS_KIT_UNTIL(&kit, redis_client_is_whole(kit.client));
    assert_int_equal(info()->process_id, pid);
    snprintf(before, sizeof before, "%s", info()->run_id);
    snprintf(replid, sizeof replid, "%s", info()->replid);
    assert_int_equal(redis_kit_ask(&kit, "a", "SCRIPT LOAD return{1}"), REDIS_ANSWER_OK);
    char line[REDIS_KIT_TEXT_MAX + 16];
    snprintf(line, sizeof line, "EVALSHA %s 0", kit.text);
    assert_int_equal(redis_kit_ask(&kit, "a", line), REDIS_ANSWER_OK);
    const uint32_t told = kit.told;
    halt(pid);
    assert_int_equal(redis_kit_send(&kit, "a", 1, REDIS_KIT_ANSWER_MS, "PING"), STATUS_OK);
    redis_kit_turn(&kit);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    REDIS_KIT_UNTIL(&kit, kit.told == told + 1);
    assert_int_equal(kit.answers[told], REDIS_ANSWER_UNKNOWN);
    assert_int_equal(redis_kit_send(&kit, "a", 1, REDIS_KIT_ANSWER_MS, "PING"), STATUS_AWAY);
    trouble_says("it can't be reached: Connection refused");
    pid = server_start(own_port, folder);
    REDIS_KIT_UNTIL(&kit, redis_client_is_whole(kit.client));
    assert_string_not_equal(info()->run_id, before);
    assert_string_not_equal(info()->replid, replid);
    assert_int_equal(redis_kit_ask(&kit, "a", line), REDIS_ANSWER_NOSCRIPT);
    redis_kit_close(&kit);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    address = getenv("STAMPEDE_TEST_REDIS");
    if (address == NULL) {
        puts("skipped: no Redis (run it by tools/with-redis)");
        return 77;
    }
    port = redis_kit_port(address, 0);
    clock_start(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_server_has_all_slots_and_tells_what_it_is),
        cmocka_unit_test(thousands_in_flight_are_answered_in_order_and_one_more_is_not_taken),
        cmocka_unit_test(a_script_is_known_unknown_or_fenced),
        cmocka_unit_test(a_password_or_a_user_is_needed_and_a_missing_right_is_named),
        cmocka_unit_test(the_rights_of_the_document_are_enough),
        cmocka_unit_test(a_server_that_stops_makes_answers_unknown_until_it_goes_on),
        cmocka_unit_test(a_server_without_memory_says_so),
        cmocka_unit_test(a_demotion_is_seen_and_a_promotion_changes_the_replid),
        cmocka_unit_test(messages_come_and_a_lost_connection_is_told_as_a_gap),
        cmocka_unit_test(a_client_lives_in_the_loop_of_an_edge),
        cmocka_unit_test(a_server_that_was_killed_is_another_one_when_it_is_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
