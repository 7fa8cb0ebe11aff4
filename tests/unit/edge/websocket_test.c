/* SPDX-License-Identifier: Apache-2.0 */
/* The protocol without sockets: handshakes, frames in, frames out. */
#include "edge/websocket.h"

#include "edge/http_date.h"
#include "edge/http_parse.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <string.h>

#define KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define UPGRADE "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"

static struct websocket_offer offer;

static enum websocket_answer offered(const char *lines)
{
    static char text[2048];
    struct http_request request;
    struct http_refusal refusal;
    size_t bytes;
    snprintf(text, sizeof text, "GET /v1/push HTTP/1.1\r\nHost: t\r\n%s\r\n", lines);
    assert_int_equal(http_parse(span_from_string(text), HTTP_BODY_MAX, &request, &bytes, &refusal),
        HTTP_PARSE_COMPLETE);
    return websocket_offer_read(&request, &offer);
}

static void the_example_of_the_standard_is_accepted(void **state)
{
    char bytes[512];
    struct text out = text_in(bytes, sizeof bytes - 1);
    (void)state;
    assert_int_equal(offered(UPGRADE KEY "Sec-WebSocket-Protocol: stampede.v1 ,, bearer.x\r\n"),
        WEBSOCKET_WELCOME);
    assert_memory_equal(offer.accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", WEBSOCKET_ACCEPT_CHARS);
    http_date_turn(0);
    websocket_accept(&out, &offer, SPAN("stampede.v1"));
    bytes[out.size] = 0;
    assert_non_null(strstr(bytes, "HTTP/1.1 101 Switching Protocols\r\n"));
    assert_non_null(strstr(bytes, "\r\nSec-WebSocket-Protocol: stampede.v1\r\n\r\n"));
    struct span name, list = offer.protocols;
    assert_true(websocket_protocol_take(&list, &name) && span_equal(name, SPAN("stampede.v1")));
    assert_true(websocket_protocol_take(&list, &name) && span_equal(name, SPAN("bearer.x")));
    assert_false(websocket_protocol_take(&list, &name));
}

static void names_and_tokens_have_no_case(void **state)
{
    (void)state;
    assert_int_equal(offered("UPGRADE: WebSocket\r\nconnection: keep-alive, UPGRADE\r\n"
                             "sec-websocket-version:13\r\n" KEY),
        WEBSOCKET_WELCOME);
    assert_int_equal(offered(UPGRADE KEY), WEBSOCKET_WELCOME);
    assert_null(offer.protocols.data);
}

static void anything_less_is_no_upgrade(void **state)
{
    (void)state;
    assert_int_equal(offered(""), WEBSOCKET_NOT_ASKED);
    assert_int_equal(offered("Upgrade: h2c\r\nConnection: Upgrade\r\n" KEY), WEBSOCKET_NOT_ASKED);
    assert_int_equal(
        offered("Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" KEY), WEBSOCKET_MALFORMED);
    assert_int_equal(
        offered("Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 8\r\n" KEY),
        WEBSOCKET_OTHER_VERSION);
    assert_int_equal(
        offered("Upgrade: websocket\r\nConnection: Upgrade\r\n" KEY), WEBSOCKET_OTHER_VERSION);
    assert_int_equal(offered(UPGRADE), WEBSOCKET_MALFORMED);
    assert_int_equal(offered(UPGRADE KEY KEY), WEBSOCKET_MALFORMED);
    assert_int_equal(offered(UPGRADE KEY "Upgrade: websocket\r\n"), WEBSOCKET_MALFORMED);
    assert_int_equal(offered("Upgrade: websocket\r\nConnection: close, Upgrade\r\n"
                             "Sec-WebSocket-Version: 13\r\n" KEY),
        WEBSOCKET_MALFORMED);
    /* 15 bytes, 17 bytes, stray bits, the other alphabet, no padding */
    assert_int_equal(offered(UPGRADE "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAA\r\n"), WEBSOCKET_MALFORMED);
    assert_int_equal(
        offered(UPGRADE "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAAA=\r\n"), WEBSOCKET_MALFORMED);
    assert_int_equal(
        offered(UPGRADE "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAB==\r\n"), WEBSOCKET_MALFORMED);
    assert_int_equal(
        offered(UPGRADE "Sec-WebSocket-Key: -AAAAAAAAAAAAAAAAAAAAA==\r\n"), WEBSOCKET_MALFORMED);
    assert_int_equal(
        offered(UPGRADE "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA\r\n"), WEBSOCKET_MALFORMED);
    assert_int_equal(
        offered(UPGRADE "Sec-WebSocket-Key: +/AAAAAAAAAAAAAAAAAAAA==\r\n"), WEBSOCKET_WELCOME);
}

static void heads_grow_with_their_payload(void **state)
{
    uint8_t head[WEBSOCKET_HEAD_MAX];
    (void)state;
    assert_int_equal(websocket_head((char *)head, WEBSOCKET_TEXT, 125), 2);
    assert_memory_equal(head, "\x81\x7d", 2);
    assert_int_equal(websocket_head((char *)head, WEBSOCKET_TEXT, 126), 4);
    assert_memory_equal(head, "\x81\x7e\x00\x7e", 4);
    assert_int_equal(websocket_head((char *)head, WEBSOCKET_TEXT, 65535), 4);
    assert_int_equal(websocket_head((char *)head, WEBSOCKET_TEXT, 65536), 10);
    assert_memory_equal(head, "\x81\x7f\0\0\0\0\0\x01\0\0", 10);
}

static void a_long_reason_is_cut(void **state)
{
    char bytes[256], reason[200];
    struct text out = text_in(bytes, sizeof bytes);
    (void)state;
    memset(reason, 'x', sizeof reason);
    websocket_frame_close(&out, WEBSOCKET_POLICY, span_of(reason, sizeof reason));
    assert_int_equal(out.size, 2 + WEBSOCKET_CONTROL_MAX);
    assert_memory_equal(bytes, "\x88\x7d\x03\xf0xx", 6);
    out.size = 0;
    websocket_frame_close(&out, WEBSOCKET_NO_CODE, SPAN_NONE);
    assert_int_equal(out.size, 2);
}

/* ---- frames in ---- */

static struct websocket_parser *parser;
static char input[4096];

static int parser_open(void **state)
{
    (void)state;
    parser = websocket_parser_create();
    return parser == NULL;
}

static int parser_close(void **state)
{
    (void)state;
    websocket_parser_free(parser);
    return 0;
}

/* A masked frame; `length`: as said in the head. */
static size_t frame_write(unsigned first, size_t length, const char *payload, size_t size)
{
    static const uint8_t mask[4] = { 0x11, 0x22, 0x33, 0x44 };
    size_t at = websocket_head(input, WEBSOCKET_TEXT, length);
    input[0] = (char)first;
    input[1] = (char)(input[1] | 0x80);
    memcpy(input + at, mask, sizeof mask);
    at += sizeof mask;
    for (size_t i = 0; i < size; i++)
        input[at + i] = (char)(payload[i] ^ mask[i % 4]);
    return at + size;
}

static struct websocket_message message;

static enum websocket_result parsed(size_t size)
{
    size_t bytes = 0;
    const enum websocket_result result = websocket_parse(parser, span_of(input, size), &message, &bytes);
    if (result == WEBSOCKET_WHOLE)
        assert_int_equal(bytes, size);
    if (result == WEBSOCKET_PARTIAL)
        assert_true(bytes > size && bytes <= WEBSOCKET_FRAME_MAX);
    return result;
}

static void refused(unsigned first, size_t length, const char *payload, size_t size, int code)
{
    assert_int_equal(parsed(frame_write(first, length, payload, size)), WEBSOCKET_REFUSED);
    assert_int_equal(message.code, code);
    /* And the parser goes on with the next connection's. */
    assert_int_equal(parsed(frame_write(0x89, 2, "hi", 2)), WEBSOCKET_WHOLE);
    assert_true(span_equal(message.payload, SPAN("hi")));
}

static void every_byte_of_a_frame_is_waited_for(void **state)
{
    static char longest[WEBSOCKET_MESSAGE_MAX];
    (void)state;
    memset(longest, 'm', sizeof longest);
    const size_t sizes[] = { 0, 1, 125, 126, 127, WEBSOCKET_MESSAGE_MAX };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t size = frame_write(0x81, sizes[i], longest, sizes[i]);
        for (size_t part = 0; part < size; part++)
            assert_int_equal(parsed(part), WEBSOCKET_PARTIAL);
        assert_int_equal(parsed(size), WEBSOCKET_WHOLE);
        assert_int_equal(message.opcode, WEBSOCKET_TEXT);
        assert_true(span_equal(message.payload, span_of(longest, sizes[i])));
    }
}

static void what_follows_a_frame_is_left_alone(void **state)
{
    size_t bytes = 0;
    (void)state;
    const size_t size = frame_write(0x89, 3, "abc", 3);
    memset(input + size, 0xff, 100);
    assert_int_equal(
        websocket_parse(parser, span_of(input, size + 100), &message, &bytes), WEBSOCKET_WHOLE);
    assert_int_equal(bytes, size);
    assert_int_equal(message.opcode, WEBSOCKET_PING);
}

static void closes_have_a_code_a_reason_or_nothing(void **state)
{
    (void)state;
    assert_int_equal(parsed(frame_write(0x88, 0, "", 0)), WEBSOCKET_WHOLE);
    assert_int_equal(message.code, WEBSOCKET_NO_CODE);
    assert_int_equal(parsed(frame_write(0x88, 5,
                         "\x03\xe9"
                         "bye",
                         5)),
        WEBSOCKET_WHOLE);
    assert_int_equal(message.code, WEBSOCKET_GOING_AWAY);
    assert_true(span_equal(message.payload, SPAN("bye")));
    assert_int_equal(parsed(frame_write(0x88, 2, "\x0b\xb8", 2)), WEBSOCKET_WHOLE); /* 3000 */
    refused(0x88, 1, "x", 1, WEBSOCKET_PROTOCOL_ERROR);
    refused(0x88, 2, "\x03\xe7", 2, WEBSOCKET_PROTOCOL_ERROR); /* 999 */
    refused(0x88, 2, "\x03\xed", 2, WEBSOCKET_PROTOCOL_ERROR); /* 1005 */
    refused(0x88, 2, "\x13\x88", 2, WEBSOCKET_PROTOCOL_ERROR); /* 5000 */
}

static void what_no_browser_sends_is_refused_with_its_code(void **state)
{
    static char longest[WEBSOCKET_MESSAGE_MAX];
    (void)state;
    refused(0xc1, 1, "x", 1, WEBSOCKET_PROTOCOL_ERROR); /* reserved bits */
    refused(0x91, 1, "x", 1, WEBSOCKET_PROTOCOL_ERROR);
    refused(0x80, 1, "x", 1, WEBSOCKET_PROTOCOL_ERROR); /* nothing to continue */
    refused(0x83, 1, "x", 1, WEBSOCKET_PROTOCOL_ERROR); /* opcodes that nobody has defined */
    refused(0x8f, 1, "x", 1, WEBSOCKET_PROTOCOL_ERROR);
    refused(0x09, 1, "x", 1, WEBSOCKET_PROTOCOL_ERROR);         /* half a ping */
    refused(0x89, 126, longest, 126, WEBSOCKET_PROTOCOL_ERROR); /* a long one */
    refused(0x82, 1, "x", 1, WEBSOCKET_UNSUPPORTED);
    refused(0x01, 1, "x", 1, WEBSOCKET_UNSUPPORTED);
    refused(0x81, WEBSOCKET_MESSAGE_MAX + 1, "", 0, WEBSOCKET_TOO_LONG);
    refused(0x81, SIZE_MAX, "", 0, WEBSOCKET_TOO_LONG);
    memcpy(input, "\x81\x01x", 3); /* not masked: known after two bytes */
    assert_int_equal(parsed(2), WEBSOCKET_REFUSED);
    assert_int_equal(message.code, WEBSOCKET_PROTOCOL_ERROR);
    memcpy(input, "\x81\xfe\x00\x01\0\0\0\0x", 9); /* a length in more bytes than it needs */
    assert_int_equal(parsed(9), WEBSOCKET_REFUSED);
    assert_int_equal(message.code, WEBSOCKET_PROTOCOL_ERROR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_the_standard_is_accepted),
        cmocka_unit_test(names_and_tokens_have_no_case),
        cmocka_unit_test(anything_less_is_no_upgrade),
        cmocka_unit_test(heads_grow_with_their_payload),
        cmocka_unit_test(a_long_reason_is_cut),
        cmocka_unit_test_setup_teardown(every_byte_of_a_frame_is_waited_for, parser_open, parser_close),
        cmocka_unit_test_setup_teardown(what_follows_a_frame_is_left_alone, parser_open, parser_close),
        cmocka_unit_test_setup_teardown(closes_have_a_code_a_reason_or_nothing, parser_open, parser_close),
        cmocka_unit_test_setup_teardown(
            what_no_browser_sends_is_refused_with_its_code, parser_open, parser_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
