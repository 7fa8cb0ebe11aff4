/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/kafka/kafka_broker.h"

#include "base/log.h"
#include "base/metrics.h"
#include "queue/kafka/kafka_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

COUNTER(messages_acked, "stampede_broker_messages_total",
    "Entries of streams that the broker has acknowledged.");
COUNTER(producers_built, "stampede_broker_rebuilt_total",
    "Producers that failed and were replaced; what was not acknowledged is sent again.");

enum { CLOSE_WAIT_MS = 1000 };

static struct kafka *kafka_of(struct broker *broker)
{
    return (struct kafka *)broker;
}

/* ---- receipts ---- */

static void receipt_add(struct kafka *kafka, struct kafka_receipt *receipt)
{
    receipt->next = kafka->receipts;
    if (receipt->next != NULL)
        receipt->next->previous = receipt;
    kafka->receipts = receipt;
}

static void receipt_remove(struct kafka *kafka, struct kafka_receipt *receipt)
{
    *(receipt->previous == NULL ? &kafka->receipts : &receipt->previous->next) = receipt->next;
    if (receipt->next != NULL)
        receipt->next->previous = receipt->previous;
    free(receipt);
}

/* ---- what librdkafka tells, in `turn` ---- */

static struct kafka_line *line_find(const struct kafka *kafka, uint64_t number)
{
    struct kafka_line *line = kafka->lines;
    while (line != NULL && line->number != number)
        line = line->next;
    return line;
}

static void acked(struct kafka *kafka, const struct kafka_receipt *receipt, int64_t offset)
{
    struct kafka_line *line = line_find(kafka, receipt->line);
    metric_add(&messages_acked, 1);
    if (line == NULL || receipt->seq <= line->line.acked)
        return;
    line->line.acked = receipt->seq;
    line->acked_offset = offset;
    line->line.waits_since_ms = line->line.acked < line->line.sent ? kafka->now_ms : 0;
    kafka->has_acked = true;
}

static void delivered(rd_kafka_t *handle, const rd_kafka_message_t *message, void *opaque)
{
    struct kafka *kafka = opaque;
    struct kafka_receipt *receipt = message->_private;
    (void)handle;
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        acked(kafka, receipt, message->offset);
    } else if (!kafka->has_failed) {
        kafka->has_failed = true;
        log_error("kafka", "a message was not taken reason=\"%s\"", rd_kafka_err2str(message->err));
    }
    receipt_remove(kafka, receipt);
}

static void failed(rd_kafka_t *handle, int error, const char *reason, void *opaque)
{
    struct kafka *kafka = opaque;
    (void)handle;
    if (error == RD_KAFKA_RESP_ERR__FATAL)
        kafka->has_failed = true;
    else if (error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN && kafka->wrong == NULL)
        kafka->wrong = "no broker of Kafka can be reached";
    else
        return; /* librdkafka tries again */
    log_error("kafka", "%s", reason);
}

/* ---- the producer ---- */

static void wake_set(struct kafka *kafka, uint32_t which, rd_kafka_queue_t *queue)
{
    static const uint64_t one = 1;
    if (kafka->wakes[which] != NULL)
        rd_kafka_queue_destroy(kafka->wakes[which]);
    kafka->wakes[which] = queue;
    if (queue != NULL) /* -1 ends it */
        rd_kafka_queue_io_event_enable(queue, kafka->wake_fd, &one, sizeof one);
}

static void producer_close(struct kafka *kafka)
{
    if (kafka->producer == NULL)
        return;
    wake_set(kafka, 0, NULL);
    (void)!rd_kafka_purge(kafka->producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    (void)!rd_kafka_flush(kafka->producer, CLOSE_WAIT_MS);
    if (kafka->admin != NULL)
        rd_kafka_queue_destroy(kafka->admin);
    if (kafka->produced != NULL)
        rd_kafka_topic_destroy(kafka->produced);
    rd_kafka_destroy(kafka->producer);
    while (kafka->receipts != NULL) /* of messages whose report was not waited for */
        receipt_remove(kafka, kafka->receipts);
    kafka->producer = NULL;
    kafka->produced = NULL;
    kafka->admin = NULL;
}

static enum status producer_open(struct kafka *kafka, char *error, size_t error_bytes)
{
    char what[KAFKA_ERROR_MAX];
    rd_kafka_conf_t *settings = rd_kafka_conf_dup(kafka->producer_settings);
    kafka->producer = rd_kafka_new(RD_KAFKA_PRODUCER, settings, what, sizeof what);
    if (kafka->producer == NULL) {
        rd_kafka_conf_destroy(settings);
        snprintf(error, error_bytes, "queue: librdkafka: %.200s", what);
        return STATUS_BAD_INPUT;
    }
    kafka->produced = rd_kafka_topic_new(kafka->producer, kafka->topic, NULL);
    kafka->admin = rd_kafka_queue_new(kafka->producer);
    invariant(kafka->produced != NULL);
    wake_set(kafka, 0, rd_kafka_queue_get_main(kafka->producer));
    kafka->wrong = "the brokers of Kafka were not reached yet";
    kafka->has_failed = kafka->is_checked = kafka->is_making = false;
    kafka->look_ms = 0;
    return STATUS_OK;
}

static void producer_replace(struct kafka *kafka)
{
    char what[KAFKA_ERROR_MAX];
    if (kafka->now_ms < kafka->built_ms + KAFKA_BUILD_MS)
        return;
    kafka->built_ms = kafka->now_ms;
    producer_close(kafka);
    metric_add(&producers_built, 1);
    const enum status status = producer_open(kafka, what, sizeof what);
    for (struct kafka_line *at = kafka->lines; at != NULL; at = at->next) {
        at->line.sent = at->line.acked;
        at->line.waits_since_ms = 0;
    }
    if (status != STATUS_OK) {
        kafka->wrong = "there is no producer of Kafka; the log says why";
        log_error("kafka", "no producer reason=\"%s\"", what);
    }
}

/* ---- the seam ---- */

static bool kafka_turn(struct broker *broker, uint64_t now_ms)
{
    struct kafka *kafka = kafka_of(broker);
    kafka->now_ms = now_ms;
    kafka->has_acked = false;
    if (kafka->producer != NULL)
        rd_kafka_poll(kafka->producer, 0);
    if (kafka->has_acked && kafka->is_checked)
        kafka->wrong = NULL;
    if (kafka->has_failed || kafka->producer == NULL)
        producer_replace(kafka);
    if (kafka->producer != NULL)
        kafka_topic_turn(kafka);
    kafka_kept_turn(kafka);
    return kafka->has_acked;
}

static void kafka_wake(struct broker *broker, int fd)
{
    struct kafka *kafka = kafka_of(broker);
    kafka->wake_fd = fd;
    if (kafka->producer != NULL)
        wake_set(kafka, 0, rd_kafka_queue_get_main(kafka->producer));
    wake_set(kafka, 1, rd_kafka_queue_get_consumer(kafka->consumer));
}

static struct broker_line *kafka_line_open(struct broker *broker, uint32_t part)
{
    struct kafka *kafka = kafka_of(broker);
    struct kafka_line *line = calloc(1, sizeof *line);
    if (line == NULL)
        return NULL;
    *line = (struct kafka_line){
        .line = { .part = part }, .number = ++kafka->lines_made, .acked_offset = -1, .next = kafka->lines
    };
    kafka->lines = line;
    return &line->line;
}

static void kafka_line_close(struct broker *broker, struct broker_line *base)
{
    struct kafka *kafka = kafka_of(broker);
    struct kafka_line **at = &kafka->lines;
    while (*at != (struct kafka_line *)base)
        at = &(*at)->next;
    *at = (*at)->next;
    if (kafka->reader == (struct kafka_line *)base)
        kafka_read_end(kafka);
    free(base);
}

static enum status kafka_send(struct broker *broker, struct broker_line *line, uint64_t seq,
    uint64_t time_ms, struct span message)
{
    struct kafka *kafka = kafka_of(broker);
    char key[12];
    if (!kafka->is_checked || kafka->has_failed)
        return STATUS_AWAY;
    struct kafka_receipt *receipt = calloc(1, sizeof *receipt);
    if (receipt == NULL)
        return STATUS_FULL;
    receipt->line = ((struct kafka_line *)line)->number;
    receipt->part = line->part;
    receipt->seq = seq;
    receipt_add(kafka, receipt);
    const int key_size = snprintf(key, sizeof key, "%" PRIu32, line->part);
    const rd_kafka_resp_err_t error = rd_kafka_producev(kafka->producer,
        RD_KAFKA_V_RKT(kafka->produced), RD_KAFKA_V_PARTITION((int)(line->part % kafka->partitions)),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key, (size_t)key_size),
        RD_KAFKA_V_VALUE((void *)(uintptr_t)message.data, message.size),
        RD_KAFKA_V_TIMESTAMP((int64_t)time_ms), RD_KAFKA_V_OPAQUE(receipt), RD_KAFKA_V_END);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
        if (line->waits_since_ms == 0)
            line->waits_since_ms = kafka->now_ms;
        line->sent = seq;
        return STATUS_OK;
    }
    receipt_remove(kafka, receipt);
    if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL)
        return STATUS_FULL;
    log_error("kafka", "a message can't be sent part=%u seq=%" PRIu64 " reason=\"%s\"", line->part,
        seq, rd_kafka_err2str(error));
    kafka->has_failed = true;
    return STATUS_AWAY;
}

static void kafka_close(struct broker *broker)
{
    struct kafka *kafka = kafka_of(broker);
    invariant(kafka->lines == NULL);
    if (kafka->consumer != NULL) {
        kafka_read_end(kafka);
        wake_set(kafka, 1, NULL);
        (void)!rd_kafka_consumer_close(kafka->consumer);
        rd_kafka_destroy(kafka->consumer);
    }
    if (kafka->producer_settings != NULL)
        rd_kafka_conf_destroy(kafka->producer_settings);
    rd_kafka_topic_partition_list_destroy(kafka->kept);
    producer_close(kafka);
    free(kafka);
}

static const char *kafka_wrong(const struct broker *broker)
{
    return ((const struct kafka *)(const void *)broker)->wrong;
}

static const struct broker_ops kafka_ops = {
    .turn = kafka_turn,
    .wrong = kafka_wrong,
    .wake = kafka_wake,
    .line_open = kafka_line_open,
    .line_close = kafka_line_close,
    .send = kafka_send,
    .kept = kafka_kept,
    .seek = kafka_seek,
    .next = kafka_next,
    .close = kafka_close,
};

void kafka_broker_break(struct broker *broker)
{
    (void)!rd_kafka_test_fatal_error(
        kafka_of(broker)->producer, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, "for a test");
}

enum status kafka_broker_open(
    struct broker **opened, const struct kafka_config *config, char *error, size_t error_bytes)
{
    *opened = NULL;
    if (config->partitions == 0 || config->partitions > KAFKA_PARTITIONS_MAX
        || strlen(config->topic) > KAFKA_NAME_MAX) {
        snprintf(error, error_bytes, "queue: the topic has a bad name or number of partitions");
        return STATUS_BAD_INPUT;
    }
    struct kafka *kafka = calloc(1, sizeof *kafka);
    invariant(kafka != NULL);
    kafka->broker.ops = &kafka_ops;
    kafka->wake_fd = -1;
    kafka->partitions = config->partitions;
    kafka->replication = config->replication;
    snprintf(kafka->topic, sizeof kafka->topic, "%s", config->topic);
    kafka->kept = rd_kafka_topic_partition_list_new((int)config->partitions);
    for (uint32_t i = 0; i < config->partitions; i++)
        rd_kafka_topic_partition_list_add(kafka->kept, config->topic, (int)i);
    enum status status = kafka_settings_take(kafka, config, error, error_bytes);
    if (status == STATUS_OK) {
        rd_kafka_conf_set_dr_msg_cb(kafka->producer_settings, delivered);
        rd_kafka_conf_set_error_cb(kafka->producer_settings, failed);
        (void)!rd_kafka_poll_set_consumer(kafka->consumer);
        status = producer_open(kafka, error, error_bytes);
    }
    if (status == STATUS_OK)
        *opened = &kafka->broker;
    else
        kafka_close(&kafka->broker);
    return status;
}
