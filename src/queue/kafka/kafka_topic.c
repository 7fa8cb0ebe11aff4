/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "queue/kafka/kafka_parts.h"

#include <stdio.h>

static const char away[] = "the brokers of Kafka can't be reached";
static const char late[] = "the brokers of Kafka do not acknowledge what is sent to them";
static const char differs[] =
    "the topic of Kafka has another number of partitions than queue.partitions: name another topic";
static const char denied[] = "Kafka does not let us use the topic";
static const char not_made[] = "the topic of Kafka can't be made; the log says why";
static const char leaderless[] = "a partition of the topic of Kafka has no leader";

static void topic_make(struct kafka *kafka)
{
    char what[KAFKA_ERROR_MAX];
    rd_kafka_NewTopic_t *topic = rd_kafka_NewTopic_new(
        kafka->topic, (int)kafka->partitions, (int)kafka->replication, what, sizeof what);
    if (topic == NULL) {
        log_error("kafka", "the topic can't be made reason=\"%s\"", what);
        kafka->wrong = not_made;
        return;
    }
    log_info("kafka", "the topic is made topic=%s partitions=%u replication=%u", kafka->topic,
        kafka->partitions, kafka->replication);
    rd_kafka_CreateTopics(kafka->producer, &topic, 1, NULL, kafka->admin);
    rd_kafka_NewTopic_destroy(topic);
    kafka->is_making = true;
}

static void made_take(struct kafka *kafka)
{
    rd_kafka_event_t *event = rd_kafka_queue_poll(kafka->admin, 0);
    if (event == NULL)
        return;
    kafka->is_making = false;
    kafka->look_ms = 0;
    rd_kafka_resp_err_t error = rd_kafka_event_error(event);
    const rd_kafka_CreateTopics_result_t *result = rd_kafka_event_CreateTopics_result(event);
    size_t count = 0;
    const rd_kafka_topic_result_t **topics = error == RD_KAFKA_RESP_ERR_NO_ERROR
        ? rd_kafka_CreateTopics_result_topics(result, &count)
        : NULL;
    if (count == 1)
        error = rd_kafka_topic_result_error(topics[0]);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR && error != RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) {
        log_error("kafka", "the topic can't be made topic=%s reason=\"%s\"", kafka->topic,
            count == 1 && rd_kafka_topic_result_error_string(topics[0]) != NULL
                ? rd_kafka_topic_result_error_string(topics[0])
                : rd_kafka_err2str(error));
        kafka->wrong = not_made;
        kafka->look_ms = kafka->now_ms + KAFKA_LOOK_MS;
    }
    rd_kafka_event_destroy(event);
}

static const char *topic_judge(struct kafka *kafka, const struct rd_kafka_metadata_topic *topic)
{
    if (topic->err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) {
        kafka->wrong = "the topic of Kafka is being made";
        topic_make(kafka);
        return kafka->wrong;
    }
    if (topic->err != RD_KAFKA_RESP_ERR_NO_ERROR)
        return topic->err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ? denied : away;
    if (topic->partition_cnt != (int)kafka->partitions) {
        if (kafka->wrong != differs)
            log_error("kafka", "the topic has another number of partitions topic=%s has=%d set=%u",
                kafka->topic, topic->partition_cnt, kafka->partitions);
        return differs;
    }
    for (int i = 0; i < topic->partition_cnt; i++)
        if (topic->partitions[i].leader < 0)
            return leaderless;
    return NULL;
}

static void topic_look(struct kafka *kafka)
{
    const struct rd_kafka_metadata *found = NULL;
    kafka->look_ms = kafka->now_ms + KAFKA_LOOK_MS;
    const rd_kafka_resp_err_t error =
        rd_kafka_metadata(kafka->producer, 0, kafka->produced, &found, BROKER_WAIT_MS);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR || found->topic_cnt != 1)
        kafka->wrong = away;
    else
        kafka->wrong = topic_judge(kafka, &found->topics[0]);
    if (found != NULL)
        rd_kafka_metadata_destroy(found);
    if (kafka->wrong == NULL) {
        kafka->is_checked = true;
        log_info("kafka", "connected topic=%s partitions=%u", kafka->topic, kafka->partitions);
    }
}

static bool is_late(const struct kafka *kafka)
{
    for (const struct kafka_line *at = kafka->lines; at != NULL; at = at->next)
        if (at->line.waits_since_ms != 0 && kafka->now_ms > at->line.waits_since_ms + BROKER_AWAY_MS)
            return true;
    return false;
}

void kafka_topic_turn(struct kafka *kafka)
{
    if (kafka->is_making)
        made_take(kafka);
    if (kafka->wrong == NULL || kafka->wrong == late) /* the brokers may be there and yet take nothing */
        kafka->wrong = is_late(kafka) ? late : NULL;
    else if (!kafka->is_making && kafka->now_ms >= kafka->look_ms)
        topic_look(kafka);
}
