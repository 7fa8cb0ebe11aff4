/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/kafka/kafka_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A message has the time of its records, unless the topic is set to the broker's own clock: one minute for
 * clocks that are apart. What comes before the records that are wanted is passed over. */
enum { BACK_MS = 60 * 1000, NEXT_WAIT_MS = 5, PASSED_MAX = 1000 };

static int partition_of(const struct kafka *kafka, uint32_t part)
{
    return (int)(part % kafka->partitions);
}

static void given_forget(struct kafka *kafka)
{
    if (kafka->given != NULL)
        rd_kafka_message_destroy(kafka->given);
    kafka->given = NULL;
}

void kafka_read_end(struct kafka *kafka)
{
    given_forget(kafka);
    kafka->reader = NULL;
    kafka->is_reading = false;
    (void)!rd_kafka_assign(kafka->consumer, NULL);
}

/* ---- reading back ---- */

enum status kafka_seek(struct broker *broker, struct broker_line *line, uint64_t time_ms)
{
    struct kafka *kafka = (struct kafka *)broker;
    if (kafka->reader != NULL)
        return STATUS_BUSY;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_t *partition =
        rd_kafka_topic_partition_list_add(list, kafka->topic, partition_of(kafka, line->part));
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
    partition->offset = RD_KAFKA_OFFSET_BEGINNING;
    if (time_ms > BACK_MS) {
        partition->offset = (int64_t)(time_ms - BACK_MS);
        error = rd_kafka_offsets_for_times(kafka->consumer, list, BROKER_WAIT_MS);
    }
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR)
        error = partition->err;
    kafka->read_from = partition->offset; /* the end, if nothing is that new */
    rd_kafka_topic_partition_list_destroy(list);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
        return STATUS_AWAY;
    kafka->reader = (struct kafka_line *)line;
    return STATUS_OK;
}

/* The end that is found is that of now, and messages of ours that are still under way come before it. */
static bool read_begin(struct kafka *kafka, uint32_t part)
{
    for (const struct kafka_receipt *at = kafka->receipts; at != NULL; at = at->next)
        if (at->part == part)
            return false;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, kafka->topic, partition_of(kafka, part))->offset =
        kafka->read_from;
    kafka->is_reading = rd_kafka_assign(kafka->consumer, list) == RD_KAFKA_RESP_ERR_NO_ERROR;
    rd_kafka_topic_partition_list_destroy(list);
    return kafka->is_reading;
}

/* The key of our messages is the number of their partition. False: a stranger wrote it. */
static bool part_of(const struct kafka *kafka, const rd_kafka_message_t *message, uint32_t *part)
{
    return span_to_u32(span_of(message->key, message->key_len), part) == STATUS_OK
        && partition_of(kafka, *part) == (int)message->partition;
}

enum status kafka_next(
    struct broker *broker, struct broker_line *line, struct span *message, char where[80])
{
    struct kafka *kafka = (struct kafka *)broker;
    if (kafka->reader != (struct kafka_line *)line)
        return STATUS_NOT_FOUND;
    if (!kafka->is_reading && !read_begin(kafka, line->part))
        return STATUS_BUSY;
    for (uint32_t passed = 0; passed < PASSED_MAX; passed++) {
        given_forget(kafka);
        kafka->given = rd_kafka_consumer_poll(kafka->consumer, NEXT_WAIT_MS);
        if (kafka->given == NULL)
            return STATUS_BUSY;
        if (kafka->given->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            kafka_read_end(kafka);
            return STATUS_NOT_FOUND;
        }
        if (kafka->given->err != RD_KAFKA_RESP_ERR_NO_ERROR)
            continue; /* librdkafka tries again by itself what failed */
        uint32_t part;
        const bool is_ours = part_of(kafka, kafka->given, &part);
        if (is_ours && part != line->part)
            continue;
        *message = is_ours ? span_of(kafka->given->payload, kafka->given->len) : SPAN_NONE;
        snprintf(where, 80, "partition %d, offset %" PRId64, (int)kafka->given->partition,
            kafka->given->offset);
        return STATUS_OK;
    }
    return STATUS_BUSY;
}

/* ---- how far the database is ---- */

void kafka_kept(struct broker *broker, struct broker_line *line, uint64_t seq)
{
    struct kafka *kafka = (struct kafka *)broker;
    const int64_t acked_offset = ((const struct kafka_line *)line)->acked_offset;
    rd_kafka_topic_partition_t *kept = &kafka->kept->elems[partition_of(kafka, line->part)];
    if (seq < line->acked || acked_offset < 0 || acked_offset < kept->offset)
        return;
    kept->offset = acked_offset + 1; /* the next one that is wanted */
    kafka->is_kept_new = true;
}

/* Nobody depends on it: an answer is not waited for, and a failure is made good by the next note. */
void kafka_kept_turn(struct kafka *kafka)
{
    if (!kafka->is_kept_new || kafka->now_ms < kafka->kept_ms + KAFKA_KEPT_MS)
        return;
    kafka->kept_ms = kafka->now_ms;
    kafka->is_kept_new = false;
    (void)!rd_kafka_commit(kafka->consumer, kafka->kept, 1);
}
