/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fuzz/redis_fuzz.c: what a Redis server says. What comes in pieces is read like what comes whole,
 * within its bounds; a map of slots names no node that it does not have; a redirection and what a server
 * tells about itself are read whole or not at all. */
#include "redis/look.h"
#include "redis/slots.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BYTES_MAX = 4096, VALUES_MAX = 512 };

static const struct redis_node asked = { .port = 1 };
static struct redis_slots slots;

static uint64_t mixed(uint64_t sum, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ at[i]) * 0x100000001b3;
    return sum;
}

/* Walks through all of it, so that a sanitizer sees what points nowhere. */
static uint64_t summed(uint64_t sum, const struct redis_value *value)
{
    sum = mixed(sum, &value->kind, sizeof value->kind);
    switch (value->kind) {
    case REDIS_KIND_NIL:
        return sum;
    case REDIS_KIND_TEXT:
    case REDIS_KIND_STATUS:
    case REDIS_KIND_ERROR:
        return mixed(sum, value->text.data, value->text.size);
    case REDIS_KIND_NUMBER:
        return mixed(sum, &value->number, sizeof value->number);
    case REDIS_KIND_LIST:
        for (uint32_t i = 0; i < value->count; i++)
            sum = summed(sum, &value->list[i]);
        return sum;
    }
    return sum;
}

static void value_check(const struct redis_value *value)
{
    struct redis_node node;
    struct redis_info info = { .process_id = 7 };
    struct redis_look look = { .apart_ms = 7, .memory_max = 7 };
    uint16_t slot = 0;
    if (redis_look_time(&look, value, 1000, 2000) != STATUS_OK)
        invariant(look.apart_ms == 7);
    if (redis_look_memory(&look, value) != STATUS_OK)
        invariant(look.memory_max == 7);
    if (redis_slots_read(&slots, value, &asked) == STATUS_OK) {
        for (uint32_t i = 0; i < REDIS_SLOTS; i++)
            invariant(slots.node_of[i] == REDIS_NODE_NONE || slots.node_of[i] < slots.count);
    }
    if (value->kind == REDIS_KIND_ERROR) {
        invariant(redis_answer_of(value) != REDIS_ANSWER_OK);
        if (redis_moved_read(value->text, &asked, &slot, &node) == STATUS_OK)
            invariant(slot < REDIS_SLOTS && node.port > 0);
        invariant(redis_denied_command(value->text).size < value->text.size + 1);
    }
    if (value->kind == REDIS_KIND_TEXT) {
        invariant(redis_slot(value->text) < REDIS_SLOTS);
        if (redis_info_read(value->text, &info) != STATUS_OK)
            invariant(info.process_id == 7);
    }
}

/* In pieces of so many bytes. Answers a sum of all replies and of how it ended. */
static uint64_t read_all(const char *data, size_t size, size_t piece, bool check)
{
    struct redis_reader *reader = NULL;
    uint64_t sum = 0xcbf29ce484222325;
    invariant(redis_reader_open(&reader, BYTES_MAX, VALUES_MAX) == STATUS_OK);
    enum status status = STATUS_NOT_FOUND;
    for (size_t at = 0; at < size && status == STATUS_NOT_FOUND; at += piece) {
        const struct redis_value *value;
        const size_t left = size - at;
        if (redis_reader_feed(reader, span_of(data + at, left < piece ? left : piece)) != STATUS_OK)
            break;
        while ((status = redis_reader_next(reader, &value)) == STATUS_OK) {
            sum = summed(sum, value);
            if (check)
                value_check(value);
        }
    }
    redis_reader_close(reader);
    return mixed(sum, &status, sizeof status);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > BYTES_MAX)
        return 0; /* what is not whole may then be refused, depending on the pieces */
    char *copy = malloc(size + 1); /* exactly so long: a sanitizer sees one byte more */
    invariant(copy != NULL);
    if (size > 0)
        memcpy(copy, data, size);
    const uint64_t whole = read_all(copy, size, size + 1, true);
    invariant(read_all(copy, size, 1, false) == whole);
    invariant(read_all(copy, size, 7, false) == whole);
    free(copy);
    return 0;
}
