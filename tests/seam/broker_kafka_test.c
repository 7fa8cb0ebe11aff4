/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/broker_kafka_test.c: the suite of brokers against a real Kafka (tools/with-kafka), and what only
 * Kafka has: topics that are not as they should be, and settings. */
#include "queue/kafka/kafka_broker.h"

#include "base/clock.h"
#include "base/log.h"
#include "tests/seam/broker_suite.h"
#include "tests/support/halt.h"
#include "tests/unit/base/unit.h"

#include <librdkafka/rdkafka.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE_MS = 60 * 1000 };

static const char *address;
static uint32_t topics;
static char topic[40];

static struct kafka_config config_of(uint32_t partitions)
{
    return (struct kafka_config){ .brokers = address,
        .topic = topic,
        .group = "seam",
        .partitions = partitions,
        .replication = 1,
        .settings_file = "" };
}

static struct broker *kafka_open(const struct kafka_config *config)
{
    struct broker *broker = NULL;
    char error[256];
    if (kafka_broker_open(&broker, config, error, sizeof error) != STATUS_OK)
        fail_msg("%s", error);
    return broker;
}

static struct broker *made_open(void)
{
    snprintf(topic, sizeof topic, "seam-%d-%u", (int)getpid(), ++topics);
    const struct kafka_config config = config_of(2);
    return kafka_open(&config);
}

/* Turns until it says something with these words. */
static void says(struct broker *broker, const char *words)
{
    const uint64_t until_ms = clock_monotonic_ns() / 1000000 + PATIENCE_MS;
    const char *wrong = "";
    do {
        broker->ops->turn(broker, clock_monotonic_ns() / 1000000);
        wrong = broker->ops->wrong(broker);
        wrong = wrong == NULL ? "nothing" : wrong;
        if (clock_monotonic_ns() / 1000000 > until_ms)
            fail_msg("it does not say \"%s\" but \"%s\"", words, wrong);
        poll(NULL, 0, 5);
    } while (strstr(wrong, words) == NULL);
}

static void a_topic_with_another_number_of_partitions_is_not_touched(void **state)
{
    (void)state;
    struct broker *broker = made_open();
    broker_ready(broker);
    broker->ops->close(broker);
    const struct kafka_config config = config_of(3);
    broker = kafka_open(&config);
    says(broker, "another number of partitions than queue.partitions");
    struct broker_line *line = broker->ops->line_open(broker, 1);
    assert_int_equal(broker->ops->send(broker, line, 1, 1, SPAN("a")), STATUS_AWAY);
    broker->ops->line_close(broker, line);
    broker->ops->close(broker);
    const struct kafka_config right = config_of(2);
    broker = kafka_open(&right);
    broker_ready(broker);
    broker->ops->close(broker);
}

static void brokers_that_are_not_there_are_said_to_be_away(void **state)
{
    (void)state;
    struct kafka_config config = config_of(2);
    config.brokers = "127.0.0.1:1";
    struct broker *broker = kafka_open(&config);
    says(broker, "can't be reached");
    struct broker_line *line = broker->ops->line_open(broker, 1);
    assert_int_equal(broker->ops->send(broker, line, 1, 1, SPAN("a")), STATUS_AWAY);
    assert_int_equal(broker->ops->seek(broker, line, clock_now_ms()), STATUS_AWAY);
    broker->ops->line_close(broker, line);
    broker->ops->close(broker);
}

static void a_topic_that_kafka_does_not_make_is_said(void **state)
{
    (void)state;
    snprintf(topic, sizeof topic, "seam-%d-%u", (int)getpid(), ++topics);
    struct kafka_config config = config_of(2);
    config.replication = 3; /* there is one broker */
    struct broker *broker = kafka_open(&config);
    says(broker, "can't be made");
    broker->ops->close(broker);
}

/* As Kafka's tools ask for it. */
static int64_t committed(rd_kafka_t *asker, int partition)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, partition);
    const rd_kafka_resp_err_t error = rd_kafka_committed(asker, list, 1000);
    const int64_t offset = error == RD_KAFKA_RESP_ERR_NO_ERROR ? list->elems[0].offset : -1;
    rd_kafka_topic_partition_list_destroy(list);
    return offset;
}

static void sent_and_acked(struct broker *broker, struct broker_line *line, uint64_t count)
{
    for (uint64_t seq = 1; seq <= count; seq++)
        assert_int_equal(broker->ops->send(broker, line, seq, clock_now_ms(), SPAN("a")), STATUS_OK);
    broker_acked(broker, line);
}

static void committed_wait(struct broker *broker, rd_kafka_t *asker, int partition, int64_t offset)
{
    const uint64_t until_ms = clock_monotonic_ns() / 1000000 + PATIENCE_MS;
    while (committed(asker, partition) != offset) {
        broker->ops->turn(broker, clock_monotonic_ns() / 1000000);
        if (clock_monotonic_ns() / 1000000 > until_ms)
            fail_msg("the group is at %lld", (long long)committed(asker, partition));
    }
}

static void how_far_the_database_is_stands_under_the_name_of_the_group(void **state)
{
    char error[200];
    (void)state;
    struct broker *broker = made_open();
    broker_ready(broker);
    struct broker_line *even = broker->ops->line_open(broker, 4); /* partition 0 of 2 */
    struct broker_line *odd = broker->ops->line_open(broker, 5);
    sent_and_acked(broker, even, 3);
    sent_and_acked(broker, odd, 7);
    rd_kafka_conf_t *settings = rd_kafka_conf_new();
    assert_int_equal(rd_kafka_conf_set(settings, "bootstrap.servers", address, error, sizeof error), 0);
    assert_int_equal(rd_kafka_conf_set(settings, "group.id", "seam", error, sizeof error), 0);
    rd_kafka_t *asker = rd_kafka_new(RD_KAFKA_CONSUMER, settings, error, sizeof error);
    assert_non_null(asker);
    broker->ops->kept(broker, odd, 6); /* the last one is not in the database yet */
    broker->ops->kept(broker, even, 3);
    committed_wait(broker, asker, 0, 3); /* both would be told together */
    assert_true(committed(asker, 1) < 0);
    broker->ops->kept(broker, odd, 7);
    committed_wait(broker, asker, 1, 7);
    rd_kafka_destroy(asker);
    broker->ops->line_close(broker, even);
    broker->ops->line_close(broker, odd);
    broker->ops->close(broker);
}

/* As any program could write to the topic. */
static void stranger_writes(const char *key, const char *text)
{
    const size_t size = key == NULL ? 0 : strlen(key);
    char error[200];
    rd_kafka_conf_t *settings = rd_kafka_conf_new();
    assert_int_equal(rd_kafka_conf_set(settings, "bootstrap.servers", address, error, sizeof error), 0);
    rd_kafka_t *writer = rd_kafka_new(RD_KAFKA_PRODUCER, settings, error, sizeof error);
    assert_non_null(writer);
    assert_int_equal(rd_kafka_producev(writer, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(1),
                         RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key, size),
                         RD_KAFKA_V_VALUE((void *)(uintptr_t)text, strlen(text)), RD_KAFKA_V_END),
        RD_KAFKA_RESP_ERR_NO_ERROR);
    assert_int_equal(rd_kafka_flush(writer, PATIENCE_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_destroy(writer);
}

static enum status next_wait(
    struct broker *broker, struct broker_line *line, struct span *message, char where[80])
{
    const uint64_t until_ms = clock_monotonic_ns() / 1000000 + PATIENCE_MS;
    enum status status;
    while ((status = broker->ops->next(broker, line, message, where)) == STATUS_BUSY)
        assert_true(clock_monotonic_ns() / 1000000 < until_ms);
    return status;
}

static void what_a_stranger_wrote_is_given_as_nothing_and_told_where(void **state)
{
    static const char *const keys[] = { NULL, "order", "4", "05" }; /* 4 belongs to partition 0 */
    struct span message;
    char where[80];
    (void)state;
    struct broker *broker = made_open();
    broker_ready(broker);
    struct broker_line *line = broker->ops->line_open(broker, 5);
    sent_and_acked(broker, line, 1);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        stranger_writes(keys[i], "hello");
    stranger_writes("7", "of partition 7");
    assert_int_equal(broker->ops->seek(broker, line, clock_now_ms()), STATUS_OK);
    assert_int_equal(next_wait(broker, line, &message, where), STATUS_OK);
    assert_true(span_equal(message, SPAN("a")));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char expected[80];
        snprintf(expected, sizeof expected, "partition 1, offset %zu", i + 1);
        assert_int_equal(next_wait(broker, line, &message, where), STATUS_OK);
        assert_int_equal(message.size, 0);
        assert_string_equal(where, expected);
    }
    assert_int_equal(next_wait(broker, line, &message, where), STATUS_NOT_FOUND);
    broker->ops->line_close(broker, line);
    broker->ops->close(broker);
}

static pid_t broker_pid(void)
{
    char path[200];
    int pid = 0;
    snprintf(path, sizeof path, "%s/pid", getenv("STAMPEDE_TEST_KAFKA_FOLDER"));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &pid), 1);
    fclose(file);
    return pid;
}

static void a_broker_that_acknowledges_nothing_is_as_good_as_away(void **state)
{
    (void)state;
    if (getenv("STAMPEDE_TEST_KAFKA_FOLDER") == NULL)
        skip(); /* somebody else's broker */
    struct broker *broker = made_open();
    broker_ready(broker);
    struct broker_line *line = broker->ops->line_open(broker, 1);
    assert_int_equal(broker->ops->send(broker, line, 1, clock_now_ms(), SPAN("a")), STATUS_OK);
    broker_acked(broker, line);
    halt(broker_pid());
    const uint64_t since_ms = clock_monotonic_ns() / 1000000;
    broker->ops->turn(broker, since_ms); /* its clock: the message is counted from here */
    assert_int_equal(broker->ops->send(broker, line, 2, clock_now_ms(), SPAN("b")), STATUS_OK);
    says(broker, "do not acknowledge");
    assert_true(clock_monotonic_ns() / 1000000 >= since_ms + BROKER_AWAY_MS);
    broker->ops->turn(broker, clock_monotonic_ns() / 1000000);
    assert_non_null(broker->ops->wrong(broker)); /* and it stays so */
    assert_int_equal(kill(broker_pid(), SIGCONT), 0);
    broker_acked(broker, line);
    broker_ready(broker);
    broker->ops->line_close(broker, line);
    broker->ops->close(broker);
}

static void settings_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void settings_that_librdkafka_refuses_are_named_and_not_shown(void **state)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        { "no equals sign\n", "line 1 is not" },
        { "# a comment\n\nsasl.nonsense = secret\n", "line 3: librdkafka refuses sasl.nonsense" },
        { "security.protocol = secret\n", "line 1: librdkafka refuses security.protocol" },
        { "= secret\n", "line 1 is not" },
    };
    char path[] = "/tmp/stampede-settings-XXXXXX", error[256];
    struct broker *broker;
    (void)state;
    close(mkstemp(path));
    struct kafka_config config = config_of(2);
    config.settings_file = path;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        settings_file(path, rows[i].text);
        assert_int_equal(kafka_broker_open(&broker, &config, error, sizeof error), STATUS_BAD_INPUT);
        assert_null(broker);
        if (strstr(error, rows[i].says) == NULL || strstr(error, "secret") != NULL)
            fail_msg("%s", error);
    }
    settings_file(path, "  fetch.message.max.bytes = 2000000 \r\n# nothing\nacks = 0\n");
    broker = kafka_open(&config);
    broker->ops->close(broker);
    unlink(path);
    assert_int_equal(kafka_broker_open(&broker, &config, error, sizeof error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error, path));
    config.settings_file = "";
    config.partitions = 0;
    assert_int_equal(kafka_broker_open(&broker, &config, error, sizeof error), STATUS_BAD_INPUT);
}

int main(void)
{
    const struct broker_suite_maker maker = {
        .name = "kafka", .open = made_open, .refuse = kafka_broker_break
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_topic_with_another_number_of_partitions_is_not_touched),
        cmocka_unit_test(brokers_that_are_not_there_are_said_to_be_away),
        cmocka_unit_test(a_topic_that_kafka_does_not_make_is_said),
        cmocka_unit_test(how_far_the_database_is_stands_under_the_name_of_the_group),
        cmocka_unit_test(what_a_stranger_wrote_is_given_as_nothing_and_told_where),
        cmocka_unit_test(a_broker_that_acknowledges_nothing_is_as_good_as_away),
        cmocka_unit_test(settings_that_librdkafka_refuses_are_named_and_not_shown),
    };
    address = getenv("STAMPEDE_TEST_KAFKA");
    if (address == NULL) {
        fputs("run by tools/with-kafka\n", stderr);
        return 1;
    }
    log_level_set(LOG_ERROR + 1);
    const int wrong = broker_suite_run(&maker);
    return wrong + cmocka_run_group_tests(tests, NULL, NULL);
}
