/* SPDX-License-Identifier: Apache-2.0 */
/* redis/reply.c: hiredis calls the create functions below while it reads. A list takes the places of all
 * its members at once, so that they lie side by side; a text is copied, since hiredis moves its
 * buffer. */
#include "redis/reply.h"

#include "base/arena.h"

#include <hiredis/read.h>
#include <stdlib.h>

struct redis_reader {
    struct arena arena; /* first: arena_object */
    redisReader *hiredis;
    uint32_t bytes_max, values_max;
    uint32_t bytes_used, values_used; /* by the reply being read */
    bool too_long;                    /* it did not fit */
    struct redis_value *values;       /* the first is the reply itself */
    char *bytes;
};

/* ---- what hiredis calls ---- */

static struct redis_value *value_place(const redisReadTask *task)
{
    const struct redis_reader *reader = task->privdata;
    const struct redis_value *parent = task->parent == NULL ? NULL : task->parent->obj;
    return parent == NULL ? reader->values : &parent->list[task->idx];
}

/* NULL: it does not fit, and hiredis gives up. */
static void *text_create(const redisReadTask *task, char *text, size_t size)
{
    struct redis_reader *reader = task->privdata;
    struct redis_value *value = value_place(task);
    if (size > reader->bytes_max - reader->bytes_used) {
        reader->too_long = true;
        return NULL;
    }
    char *copy = reader->bytes + reader->bytes_used;
    if (size > 0)
        memcpy(copy, text, size);
    reader->bytes_used += (uint32_t)size;
    value->kind = task->type == REDIS_REPLY_ERROR ? REDIS_KIND_ERROR
        : task->type == REDIS_REPLY_STATUS        ? REDIS_KIND_STATUS
                                                  : REDIS_KIND_TEXT;
    value->text = span_of(copy, size);
    return value;
}

static void *list_create(const redisReadTask *task, int count)
{
    struct redis_reader *reader = task->privdata;
    struct redis_value *value = value_place(task);
    if (count < 0 || (uint32_t)count > reader->values_max - reader->values_used) {
        reader->too_long = true;
        return NULL;
    }
    value->kind = REDIS_KIND_LIST;
    value->count = (uint32_t)count;
    value->list = reader->values + reader->values_used;
    reader->values_used += (uint32_t)count;
    return value;
}

static void *number_create(const redisReadTask *task, long long number)
{
    struct redis_value *value = value_place(task);
    value->kind = REDIS_KIND_NUMBER;
    value->number = number;
    return value;
}

static void *nil_create(const redisReadTask *task)
{
    struct redis_value *value = value_place(task);
    value->kind = REDIS_KIND_NIL;
    return value;
}

static void nothing_free(void *value)
{
    (void)value; /* the next reply takes its place */
}

static redisReplyObjectFunctions functions = {
    .createString = text_create,
    .createArray = list_create,
    .createInteger = number_create,
    .createNil = nil_create,
    .freeObject = nothing_free,
};

/* ---- the reader ---- */

static void reply_begin(struct redis_reader *reader)
{
    reader->values_used = 1;
    reader->bytes_used = 0;
    reader->too_long = false;
}

enum status redis_reader_reset(struct redis_reader *reader)
{
    redisReaderFree(reader->hiredis); /* accepts NULL */
    reply_begin(reader);
    reader->hiredis = redisReaderCreateWithFunctions(&functions);
    if (reader->hiredis == NULL)
        return STATUS_FULL;
    reader->hiredis->privdata = reader;
    reader->hiredis->maxbuf = 0; /* its buffer is kept, not made again */
    return STATUS_OK;
}

enum status redis_reader_open(struct redis_reader **opened, uint32_t bytes_max, uint32_t values_max)
{
    *opened = NULL;
    const size_t values_bytes = ((size_t)values_max + 1) * sizeof(struct redis_value);
    struct redis_reader *reader = arena_object(sizeof *reader, values_bytes + bytes_max);
    if (reader == NULL)
        return STATUS_FULL;
    reader->bytes_max = bytes_max;
    reader->values_max = values_max + 1;
    reader->values = arena_take(&reader->arena, reader->values_max, sizeof *reader->values);
    reader->bytes = arena_take(&reader->arena, 1, bytes_max);
    *opened = reader;
    return redis_reader_reset(reader);
}

void redis_reader_close(struct redis_reader *reader)
{
    if (reader != NULL)
        redisReaderFree(reader->hiredis); /* accepts NULL */
    arena_object_free(reader);
}

enum status redis_reader_feed(struct redis_reader *reader, struct span bytes)
{
    redisReader *hiredis = reader->hiredis;
    if (hiredis == NULL || hiredis->len - hiredis->pos > reader->bytes_max)
        return STATUS_FULL;
    return redisReaderFeed(hiredis, bytes.data, bytes.size) == REDIS_OK ? STATUS_OK : STATUS_FULL;
}

enum status redis_reader_next(struct redis_reader *reader, const struct redis_value **value)
{
    void *reply = NULL;
    if (reader->hiredis == NULL)
        return STATUS_FULL;
    if (reader->hiredis->reply == NULL && reader->hiredis->ridx < 0)
        reply_begin(reader);
    if (redisReaderGetReply(reader->hiredis, &reply) != REDIS_OK)
        return reader->too_long ? STATUS_FULL : STATUS_BAD_INPUT;
    if (reply == NULL)
        return STATUS_NOT_FOUND;
    *value = reply;
    return STATUS_OK;
}

/* ---- classes ---- */

enum redis_answer redis_answer_of(const struct redis_value *value)
{
    static const struct {
        const char *word;
        enum redis_answer answer;
    } classes[] = {
        { "NOSCRIPT", REDIS_ANSWER_NOSCRIPT },
        { "FENCED", REDIS_ANSWER_FENCED },
        { "MOVED", REDIS_ANSWER_MOVED },
        { "ASK", REDIS_ANSWER_ASK },
        { "TRYAGAIN", REDIS_ANSWER_AGAIN },
        { "LOADING", REDIS_ANSWER_AGAIN },
        { "BUSY", REDIS_ANSWER_AGAIN },
        { "CLUSTERDOWN", REDIS_ANSWER_AWAY },
        { "MASTERDOWN", REDIS_ANSWER_AWAY },
        { "READONLY", REDIS_ANSWER_AWAY },
        { "NOREPLICAS", REDIS_ANSWER_AWAY },
        { "MISCONF", REDIS_ANSWER_AWAY },
        { "OOM", REDIS_ANSWER_FULL },
        { "NOPERM", REDIS_ANSWER_DENIED },
        { "NOAUTH", REDIS_ANSWER_DENIED },
        { "WRONGPASS", REDIS_ANSWER_DENIED },
    };
    struct span word, text = value->text;
    if (value->kind != REDIS_KIND_ERROR)
        return REDIS_ANSWER_OK;
    if (!span_take_until(&text, ' ', &word))
        return REDIS_ANSWER_REFUSED;
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        if (span_equal(word, span_from_string(classes[i].word)))
            return classes[i].answer;
    }
    return REDIS_ANSWER_REFUSED;
}

struct span redis_denied_command(struct span error)
{
    struct span before, name;
    if (!span_take_until(&error, '\'', &before) || memchr(error.data, '\'', error.size) == NULL
        || !span_take_until(&error, '\'', &name))
        return SPAN_NONE;
    return name;
}
