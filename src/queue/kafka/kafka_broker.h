/* SPDX-License-Identifier: Apache-2.0 */
/* queue/kafka/kafka_broker.h: Kafka behind the seam of queue/broker.h, by librdkafka, which has threads of
 * its own.
 *
 * A partition `part` of ours goes to partition part % `partitions` of the topic, with the decimal number of
 * `part` as key; so several of ours may share one. The producer is idempotent and waits for all replicas that
 * are in sync. When it fails for good, or a message is refused, another one takes its place, and everything
 * that was not acknowledged is sent again.
 * The topic is made where there is none; one with another number of partitions is never touched.
 * The group has no members: it only keeps how far the database is, for tools that show it.
 *
 * Errors: STATUS_BAD_INPUT: librdkafka or its file of settings refuses a value; `error` says which. Whether
 * the brokers are there is found out later (`wrong`). */
#ifndef STAMPEDE_QUEUE_KAFKA_KAFKA_BROKER_H
#define STAMPEDE_QUEUE_KAFKA_KAFKA_BROKER_H

#include "queue/broker.h"

enum {
    KAFKA_LOOK_MS = 1000,  /* between two looks at a topic that is not as it should be */
    KAFKA_BUILD_MS = 1000, /* between two producers */
    KAFKA_KEPT_MS = 1000,  /* between two notes of how far the database is */
    KAFKA_PARTITIONS_MAX = 1024,
    KAFKA_SETTING_MAX = 1024, /* bytes of a line of the file of settings */
};

struct kafka_config {
    const char *brokers; /* HOST:PORT, with commas between */
    const char *topic, *group;
    uint32_t partitions, replication;
    /* "name = value" of librdkafka, a line each (TLS, SASL); the rest here is set after it. Empty: none */
    const char *settings_file;
};

MUST_CHECK enum status kafka_broker_open(
    struct broker **broker, const struct kafka_config *config, char *error, size_t error_bytes);
/* For tests: the producer fails for good. */
void kafka_broker_break(struct broker *broker);

#endif
