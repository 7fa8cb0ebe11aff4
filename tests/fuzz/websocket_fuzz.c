/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fuzz/websocket_fuzz.c: bytes from a client as websocket frames. Whatever comes: a frame is
 * whole only when all of it is there, cutting the input anywhere changes nothing, a refusal has a
 * code that may be sent, and the parser goes on afterwards. */
#include "edge/websocket.h"
#include "gateway/push_subscription.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void message_check(const struct websocket_message *message)
{
    invariant(message->payload.size <= WEBSOCKET_MESSAGE_MAX);
    switch (message->opcode) {
    case WEBSOCKET_TEXT: {
        struct push_watch watch;
        if (push_watch_message(message->payload, &watch))
            invariant(watch.count <= PUSH_WATCHED_MAX);
        break;
    }
    case WEBSOCKET_CLOSE:
        invariant(message->code >= WEBSOCKET_NORMAL && (int)message->code < 5000);
        break;
    case WEBSOCKET_PING:
    case WEBSOCKET_PONG:
        invariant(message->payload.size <= WEBSOCKET_CONTROL_MAX);
        break;
    case WEBSOCKET_CONTINUATION:
    case WEBSOCKET_BINARY:
        invariant(false);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct websocket_parser *parser;
    struct websocket_message message;
    size_t at = 0, bytes = 0, need = 0;
    if (parser == NULL)
        parser = websocket_parser_create();
    invariant(parser != NULL);
    while (at < size) {
        const struct span rest = span_of(data + at, size - at);
        const enum websocket_result result = websocket_parse(parser, rest, &message, &bytes);
        if (result == WEBSOCKET_REFUSED) {
            invariant(message.code == WEBSOCKET_PROTOCOL_ERROR || message.code == WEBSOCKET_UNSUPPORTED
                || message.code == WEBSOCKET_BAD_DATA || message.code == WEBSOCKET_TOO_LONG);
            break;
        }
        if (result == WEBSOCKET_PARTIAL) {
            invariant(bytes > rest.size && bytes <= WEBSOCKET_FRAME_MAX);
            break;
        }
        invariant(bytes > 0 && bytes <= rest.size && bytes <= WEBSOCKET_FRAME_MAX);
        message_check(&message);
        for (size_t part = 0; part < bytes; part += 1 + bytes / 8) {
            const struct span cut = span_of(data + at, part);
            invariant(websocket_parse(parser, cut, &message, &need) == WEBSOCKET_PARTIAL);
        }
        at += bytes;
    }
    static const char ping[] = "\x89\x80\x01\x02\x03\x04";
    invariant(websocket_parse(parser, span_of(ping, sizeof ping - 1), &message, &bytes) == WEBSOCKET_WHOLE);
    return 0;
}
