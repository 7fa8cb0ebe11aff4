/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/reply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { BYTES_MAX = 64, VALUES_MAX = 12 };

static struct redis_reader *opened(void)
{
    struct redis_reader *reader = NULL;
    assert_int_equal(redis_reader_open(&reader, BYTES_MAX, VALUES_MAX), STATUS_OK);
    return reader;
}

static void assert_text(const struct redis_value *value, enum redis_kind kind, const char *text)
{
    assert_int_equal(value->kind, kind);
    assert_int_equal(value->text.size, strlen(text));
    assert_memory_equal(value->text.data, text, value->text.size);
}

static const char nested[] = "*5\r\n*2\r\n$3\r\nabc\r\n:-7\r\n$-1\r\n+OK\r\n*-1\r\n-ERR no\r\n";

static void assert_nested(const struct redis_value *value)
{
    assert_int_equal(value->kind, REDIS_KIND_LIST);
    assert_int_equal(value->count, 5);
    assert_int_equal(value->list[0].kind, REDIS_KIND_LIST);
    assert_int_equal(value->list[0].count, 2);
    assert_text(&value->list[0].list[0], REDIS_KIND_TEXT, "abc");
    assert_int_equal(value->list[0].list[1].kind, REDIS_KIND_NUMBER);
    assert_int_equal(value->list[0].list[1].number, -7);
    assert_int_equal(value->list[1].kind, REDIS_KIND_NIL);
    assert_text(&value->list[2], REDIS_KIND_STATUS, "OK");
    assert_int_equal(value->list[3].kind, REDIS_KIND_NIL);
    assert_text(&value->list[4], REDIS_KIND_ERROR, "ERR no");
}

static void a_reply_that_is_cut_anywhere_is_read_like_a_whole_one(void **state)
{
    (void)state;
    struct redis_reader *reader = opened();
    const size_t size = sizeof nested - 1;
    const struct redis_value *value = NULL;
    for (size_t cut = 1; cut < size; cut++) {
        assert_int_equal(redis_reader_feed(reader, span_of(nested, cut)), STATUS_OK);
        assert_int_equal(redis_reader_next(reader, &value), STATUS_NOT_FOUND);
        assert_int_equal(redis_reader_feed(reader, span_of(nested + cut, size - cut)), STATUS_OK);
        assert_int_equal(redis_reader_next(reader, &value), STATUS_OK);
        assert_nested(value);
        assert_int_equal(redis_reader_next(reader, &value), STATUS_NOT_FOUND);
    }
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(redis_reader_next(reader, &value), STATUS_NOT_FOUND);
        assert_int_equal(redis_reader_feed(reader, span_of(nested + i, 1)), STATUS_OK);
    }
    assert_int_equal(redis_reader_next(reader, &value), STATUS_OK);
    assert_nested(value);
    redis_reader_close(reader);
}

/* Places are taken anew by each reply: a thousand of them need no more room than one. */
static void replies_that_come_together_are_given_one_by_one(void **state)
{
    (void)state;
    struct redis_reader *reader = opened();
    const struct redis_value *value = NULL;
    char bytes[64];
    for (int i = 0; i < 1000; i += 2) {
        const int size =
            snprintf(bytes, sizeof bytes, "*2\r\n:%d\r\n+a\r\n*2\r\n:%d\r\n$1\r\nb\r\n", i, i + 1);
        assert_int_equal(redis_reader_feed(reader, span_of(bytes, (size_t)size)), STATUS_OK);
        for (int j = i; j < i + 2; j++) {
            assert_int_equal(redis_reader_next(reader, &value), STATUS_OK);
            assert_int_equal(value->list[0].number, j);
            assert_text(
                &value->list[1], j == i ? REDIS_KIND_STATUS : REDIS_KIND_TEXT, j == i ? "a" : "b");
        }
        assert_int_equal(redis_reader_next(reader, &value), STATUS_NOT_FOUND);
    }
    redis_reader_close(reader);
}

static enum status first_of(
    struct redis_reader *reader, const char *bytes, const struct redis_value **value)
{
    assert_int_equal(redis_reader_reset(reader), STATUS_OK);
    assert_int_equal(redis_reader_feed(reader, span_from_string(bytes)), STATUS_OK);
    return redis_reader_next(reader, value);
}

static void a_reply_fills_its_room_and_one_byte_or_value_more_is_refused(void **state)
{
    (void)state;
    struct redis_reader *reader = opened();
    const struct redis_value *value = NULL;
    char bytes[256];
    snprintf(bytes, sizeof bytes, "*2\r\n$60\r\n%060d\r\n$4\r\nabcd\r\n", 0);
    assert_int_equal(first_of(reader, bytes, &value), STATUS_OK);
    assert_text(&value->list[1], REDIS_KIND_TEXT, "abcd");
    snprintf(bytes, sizeof bytes, "*2\r\n$60\r\n%060d\r\n$5\r\nabcde\r\n", 0);
    assert_int_equal(first_of(reader, bytes, &value), STATUS_FULL);
    assert_int_equal(
        first_of(reader,
            "*12\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n", &value),
        STATUS_OK);
    assert_int_equal(value->list[11].number, 1);
    assert_int_equal(first_of(reader, "*13\r\n", &value), STATUS_FULL);
    assert_int_equal(first_of(reader, "*2147483647\r\n", &value), STATUS_FULL);
    assert_int_equal(first_of(reader, "*10\r\n*2\r\n:1\r\n:1\r\n*1\r\n", &value), STATUS_FULL);
    redis_reader_close(reader);
}

/* A text that never ends must not fill the memory. */
static void what_is_not_whole_is_kept_up_to_a_bound(void **state)
{
    (void)state;
    struct redis_reader *reader = opened();
    const struct redis_value *value = NULL;
    assert_int_equal(first_of(reader, "$1000000\r\n", &value), STATUS_NOT_FOUND);
    enum status status = STATUS_OK;
    uint32_t fed = 0;
    for (; status == STATUS_OK && fed < 10000; fed++) {
        assert_int_equal(redis_reader_next(reader, &value), STATUS_NOT_FOUND);
        status = redis_reader_feed(reader, SPAN("x"));
    }
    assert_int_equal(status, STATUS_FULL);
    assert_true(fed <= BYTES_MAX + 2);
    redis_reader_close(reader);
}

static void bytes_that_are_not_redis_are_refused(void **state)
{
    (void)state;
    struct redis_reader *reader = opened();
    const struct redis_value *value = NULL;
    const char *bad[] = { "HTTP/1.1 400 Bad Request\r\n", "x", "\r\n", "$-2\r\n", "*-2\r\n",
        ":1x\r\n", "$99999999999999999999\r\nx", "*99999999999\r\n",
        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(first_of(reader, bad[i], &value), STATUS_BAD_INPUT);
    assert_int_equal(first_of(reader, "+OK\r\n", &value), STATUS_OK);
    redis_reader_close(reader);
}

static enum redis_answer class_of(const char *error)
{
    return redis_answer_of(
        &(struct redis_value){ .kind = REDIS_KIND_ERROR, .text = span_from_string(error) });
}

static void errors_have_classes_by_their_first_word(void **state)
{
    (void)state;
    assert_int_equal(class_of("NOSCRIPT No matching script."), REDIS_ANSWER_NOSCRIPT);
    assert_int_equal(class_of("FENCED 7"), REDIS_ANSWER_FENCED);
    assert_int_equal(class_of("FENCED"), REDIS_ANSWER_FENCED);
    assert_int_equal(class_of("MOVED 1 127.0.0.1:1"), REDIS_ANSWER_MOVED);
    assert_int_equal(class_of("ASK 1 127.0.0.1:1"), REDIS_ANSWER_ASK);
    assert_int_equal(class_of("TRYAGAIN Multiple keys"), REDIS_ANSWER_AGAIN);
    assert_int_equal(class_of("LOADING Redis is loading"), REDIS_ANSWER_AGAIN);
    assert_int_equal(class_of("BUSY Redis is busy"), REDIS_ANSWER_AGAIN);
    assert_int_equal(class_of("CLUSTERDOWN Hash slot not served"), REDIS_ANSWER_AWAY);
    assert_int_equal(class_of("MASTERDOWN Link with MASTER is down"), REDIS_ANSWER_AWAY);
    assert_int_equal(class_of("READONLY You can't write"), REDIS_ANSWER_AWAY);
    assert_int_equal(class_of("OOM command not allowed"), REDIS_ANSWER_FULL);
    assert_int_equal(class_of("NOAUTH Authentication required."), REDIS_ANSWER_DENIED);
    assert_int_equal(class_of("WRONGPASS invalid"), REDIS_ANSWER_DENIED);
    assert_int_equal(class_of("ERR MOVED"), REDIS_ANSWER_REFUSED);
    assert_int_equal(class_of("MOVEDX 1"), REDIS_ANSWER_REFUSED);
    assert_int_equal(class_of(""), REDIS_ANSWER_REFUSED);
    /* Only errors: somebody may keep such a word as a value. */
    const struct redis_value text = { .kind = REDIS_KIND_TEXT, .text = SPAN("MOVED 1 127.0.0.1:1") };
    assert_int_equal(redis_answer_of(&text), REDIS_ANSWER_OK);
}

static void a_missing_right_names_its_command(void **state)
{
    (void)state;
    const struct span denied =
        SPAN("NOPERM this user has no permissions to run the 'evalsha' command");
    assert_true(span_equal(redis_denied_command(denied), SPAN("evalsha")));
    assert_int_equal(redis_denied_command(SPAN("NOPERM no access to 'one")).size, 0);
    assert_int_equal(redis_denied_command(SPAN("NOPERM No permissions to access a key")).size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reply_that_is_cut_anywhere_is_read_like_a_whole_one),
        cmocka_unit_test(replies_that_come_together_are_given_one_by_one),
        cmocka_unit_test(a_reply_fills_its_room_and_one_byte_or_value_more_is_refused),
        cmocka_unit_test(what_is_not_whole_is_kept_up_to_a_bound),
        cmocka_unit_test(bytes_that_are_not_redis_are_refused),
        cmocka_unit_test(errors_have_classes_by_their_first_word),
        cmocka_unit_test(a_missing_right_names_its_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
