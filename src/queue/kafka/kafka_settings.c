/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "queue/kafka/kafka_parts.h"

#include <stdio.h>
#include <string.h>

struct setting {
    const char *name, *value;
};

/* Nothing is lost or reordered between us and the brokers, and nothing is given up: the sender bounds what
 * waits. */
static const struct setting producer_rows[] = {
    { "enable.idempotence", "true" },
    { "acks", "all" },
    { "message.timeout.ms", "0" },
    { "linger.ms", "1" },
};
/* It reads single partitions from places that it is told; an end is told as an event. */
static const struct setting consumer_rows[] = {
    { "enable.auto.commit", "false" },
    { "enable.auto.offset.store", "false" },
    { "auto.offset.reset", "earliest" },
    { "enable.partition.eof", "true" },
    { "fetch.wait.max.ms", "10" },
};
static const struct setting common_rows[] = {
    { "client.id", "stampede" },
    { "socket.timeout.ms", "10000" },
    { "reconnect.backoff.max.ms", "1000" },
};

/* On a thread of librdkafka. Its own levels: 4 is a warning. */
static void logged(const rd_kafka_t *handle, int level, const char *facility, const char *text)
{
    (void)handle;
    if (level <= 4)
        log_warn("kafka", "%s: %s", facility, text);
}

static bool set(rd_kafka_conf_t *settings, const char *name, const char *value, char *error, size_t bytes)
{
    char what[KAFKA_ERROR_MAX];
    if (rd_kafka_conf_set(settings, name, value, what, sizeof what) == RD_KAFKA_CONF_OK)
        return true;
    snprintf(error, bytes, "%s: %.200s", name, what);
    return false;
}

static bool rows_set(
    rd_kafka_conf_t *settings, const struct setting *rows, size_t count, char *error, size_t bytes)
{
    for (size_t i = 0; i < count; i++)
        if (!set(settings, rows[i].name, rows[i].value, error, bytes))
            return false;
    return true;
}
#define ROWS_SET(settings, rows, error, bytes) \
    rows_set(settings, rows, sizeof(rows) / sizeof *(rows), error, bytes)

/* A line may hold a password: an error names its number and what is before the '='. */
static bool line_set(rd_kafka_conf_t *settings, char *line, uint32_t number, char *error, size_t error_bytes)
{
    char name[100], value[KAFKA_SETTING_MAX], what[KAFKA_ERROR_MAX];
    const struct span blanks = SPAN(" \t\r\n");
    struct span rest = span_trim(span_from_string(line), blanks), before = SPAN_NONE;
    if (rest.size == 0 || rest.data[0] == '#')
        return true;
    const bool has_both =
        memchr(rest.data, '=', rest.size) != NULL && span_take_until(&rest, '=', &before);
    before = span_trim(before, blanks);
    rest = span_trim(rest, blanks);
    if (!has_both || before.size == 0 || before.size >= sizeof name) {
        snprintf(error, error_bytes, "queue.settings_file: line %u is not \"name = value\"", number);
        return false;
    }
    snprintf(name, sizeof name, "%.*s", (int)before.size, before.data);
    snprintf(value, sizeof value, "%.*s", (int)rest.size, rest.data);
    const bool is_set = rd_kafka_conf_set(settings, name, value, what, sizeof what) == RD_KAFKA_CONF_OK;
    explicit_bzero(value, sizeof value);
    explicit_bzero(what, sizeof what); /* it repeats the value */
    if (!is_set)
        snprintf(error, error_bytes, "queue.settings_file: line %u: librdkafka refuses %s", number, name);
    return is_set;
}

static bool file_set(rd_kafka_conf_t *settings, const char *path, char *error, size_t error_bytes)
{
    char line[KAFKA_SETTING_MAX];
    uint32_t number = 0;
    bool is_set = true;
    if (path[0] == '\0')
        return true;
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        snprintf(error, error_bytes, "queue.settings_file: %.150s: %m", path);
        return false;
    }
    while (is_set && fgets(line, sizeof line, file) != NULL) {
        number++;
        is_set = strlen(line) + 1 < sizeof line;
        if (!is_set)
            snprintf(error, error_bytes, "queue.settings_file: line %u is too long", number);
        else
            is_set = line_set(settings, line, number, error, error_bytes);
    }
    if (is_set && ferror(file) != 0) {
        snprintf(error, error_bytes, "queue.settings_file: %.150s can't be read", path);
        is_set = false;
    }
    explicit_bzero(line, sizeof line);
    fclose(file);
    return is_set;
}

/* NULL: refused. */
static rd_kafka_conf_t *common_make(
    struct kafka *kafka, const struct kafka_config *config, char *error, size_t bytes)
{
    rd_kafka_conf_t *settings = rd_kafka_conf_new();
    if (!file_set(settings, config->settings_file, error, bytes)
        || !set(settings, "bootstrap.servers", config->brokers, error, bytes)
        || !ROWS_SET(settings, common_rows, error, bytes)) {
        rd_kafka_conf_destroy(settings);
        return NULL;
    }
    rd_kafka_conf_set_log_cb(settings, logged);
    rd_kafka_conf_set_opaque(settings, kafka);
    return settings;
}

enum status kafka_settings_take(
    struct kafka *kafka, const struct kafka_config *config, char *error, size_t error_bytes)
{
    char what[KAFKA_ERROR_MAX];
    kafka->producer_settings = common_make(kafka, config, error, error_bytes);
    if (kafka->producer_settings == NULL
        || !ROWS_SET(kafka->producer_settings, producer_rows, error, error_bytes))
        return STATUS_BAD_INPUT;
    rd_kafka_conf_t *settings = common_make(kafka, config, error, error_bytes);
    if (settings == NULL)
        return STATUS_BAD_INPUT;
    if (set(settings, "group.id", config->group, error, error_bytes)
        && ROWS_SET(settings, consumer_rows, error, error_bytes)) {
        kafka->consumer = rd_kafka_new(RD_KAFKA_CONSUMER, settings, what, sizeof what);
        if (kafka->consumer != NULL)
            return STATUS_OK; /* the settings are its own now */
        snprintf(error, error_bytes, "queue: librdkafka: %.200s", what);
    }
    rd_kafka_conf_destroy(settings);
    return STATUS_BAD_INPUT;
}
