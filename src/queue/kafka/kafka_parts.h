/* SPDX-License-Identifier: Apache-2.0 */
/* queue/kafka/kafka_parts.h: what the files of this folder share. */
#ifndef STAMPEDE_QUEUE_KAFKA_KAFKA_PARTS_H
#define STAMPEDE_QUEUE_KAFKA_KAFKA_PARTS_H

#include "queue/kafka/kafka_broker.h"

#include <librdkafka/rdkafka.h>

enum { KAFKA_NAME_MAX = 255, KAFKA_ERROR_MAX = 512 };

struct kafka_line {
    struct broker_line line; /* first: a broker_line from us is a kafka_line */
    uint64_t number;         /* of all lines that there were; 0 is none */
    int64_t acked_offset;    /* of the message with `acked`; negative: not known */
    struct kafka_line *next;
};

/* What belongs to a message that is under way. Its line may be gone when it arrives. */
struct kafka_receipt {
    uint64_t line; /* number */
    uint32_t part;
    uint64_t seq;
    struct kafka_receipt *previous, *next; /* of all that are under way */
};

struct kafka {
    struct broker broker; /* first: a broker from us is a kafka */
    uint32_t partitions, replication;
    char topic[KAFKA_NAME_MAX + 1];
    rd_kafka_conf_t *producer_settings; /* of the next one */
    rd_kafka_t *producer, *consumer;
    rd_kafka_topic_t *produced; /* the topic, at the producer */
    rd_kafka_queue_t *admin;    /* where the answer to a making of the topic comes */
    rd_kafka_queue_t *wakes[2]; /* whose arrivals wake `wake_fd`: those of producer and consumer */
    int wake_fd;                /* -1: none */
    uint64_t now_ms;            /* of the last turn */
    uint64_t look_ms, built_ms, kept_ms; /* when the topic is looked at next; of the last producer and note */
    const char *wrong;                   /* as broker_ops; a text of the program */
    bool is_checked;                     /* the topic is as it should be */
    bool is_making;                      /* an answer of `admin` is to come */
    bool has_failed;                     /* another producer is needed */
    bool has_acked;                      /* since the last turn */
    uint64_t lines_made;
    struct kafka_line *lines;
    struct kafka_receipt *receipts;
    int64_t read_from;                     /* where the reader begins */
    bool is_reading;                       /* it has begun */
    struct kafka_line *reader;             /* who reads back; NULL: nobody */
    rd_kafka_message_t *given;             /* what `next` gave */
    rd_kafka_topic_partition_list_t *kept; /* offsets that are to be noted; one for each partition */
    bool is_kept_new;
};

/* kafka_settings.c. *kafka has its settings, and a consumer. */
MUST_CHECK enum status kafka_settings_take(
    struct kafka *kafka, const struct kafka_config *config, char *error, size_t error_bytes);

/* kafka_topic.c: looks at the topic when that is due. */
void kafka_topic_turn(struct kafka *kafka);

/* kafka_read.c */
enum status kafka_seek(struct broker *broker, struct broker_line *line, uint64_t time_ms);
enum status kafka_next(
    struct broker *broker, struct broker_line *line, struct span *message, char where[80]);
void kafka_read_end(struct kafka *kafka); /* nobody reads any more */
void kafka_kept(struct broker *broker, struct broker_line *line, uint64_t seq);
void kafka_kept_turn(struct kafka *kafka);

#endif
