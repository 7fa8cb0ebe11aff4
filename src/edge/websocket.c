/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/websocket.h"

#include "base/base64.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "edge/http_date.h"

#include <stdlib.h>
#include <wslay/wslay.h>

enum {
    KEY_CHARS = 24, /* 16 bytes in base64 with padding */
    KEY_BYTES = 16,
    HEAD_BYTES = 2,
    MASK_BYTES = 4,
    LENGTH_16 = 126, /* two bytes of length follow */
    LENGTH_64 = 127, /* eight */
    MASKED = 0x80,
    FINAL = 0x80,
};
/* What the protocol adds to the key before hashing. */
#define KEY_SUFFIX "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

/* ---- the handshake ---- */

struct fields { /* of the handshake; SPAN_NONE: not there */
    struct span upgrade, connection, version, key, protocols;
    bool repeated; /* one of them stands twice */
};

static void field_take(struct fields *fields, struct span name, struct span value)
{
    const struct {
        struct span name;
        struct span *place;
    } known[] = {
        { SPAN("upgrade"), &fields->upgrade },
        { SPAN("connection"), &fields->connection },
        { SPAN("sec-websocket-version"), &fields->version },
        { SPAN("sec-websocket-key"), &fields->key },
        { SPAN("sec-websocket-protocol"), &fields->protocols },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!span_equal_ignoring_case(name, known[i].name))
            continue;
        fields->repeated |= known[i].place->data != NULL;
        *known[i].place = span_trim(value, SPAN(" \t"));
    }
}

static void fields_read(const struct http_request *request, struct fields *fields)
{
    struct span lines = http_header_lines(request), line, name;
    *fields = (struct fields){ .repeated = false };
    while (span_take_until(&lines, '\n', &line)) {
        line.size -= line.size > 0; /* the CR */
        if (span_take_until(&line, ':', &name))
            field_take(fields, name, line);
    }
}

static bool list_has(struct span list, struct span wanted)
{
    struct span part;
    while (span_take_until(&list, ',', &part))
        if (span_equal_ignoring_case(span_trim(part, SPAN(" \t")), wanted))
            return true;
    return false;
}

/* Standard base64 with padding, as the protocol wants it; ours is base64url without. */
static void letters_swap(char *text, size_t size, const char *from, const char *to)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == from[0])
            text[i] = to[0];
        else if (text[i] == from[1])
            text[i] = to[1];
    }
}

static bool key_is_good(struct span key)
{
    char text[KEY_CHARS];
    uint8_t bytes[KEY_BYTES];
    size_t size = sizeof bytes;
    if (key.size != KEY_CHARS || !span_ends_with(key, SPAN("=="))
        || memchr(key.data, '-', key.size) != NULL || memchr(key.data, '_', key.size) != NULL)
        return false;
    memcpy(text, key.data, KEY_CHARS);
    letters_swap(text, KEY_CHARS, "+/", "-_");
    return base64_decode(span_of(text, KEY_CHARS - 2), bytes, &size) == STATUS_OK && size == KEY_BYTES;
}

static void accept_make(struct span key, char accept[WEBSOCKET_ACCEPT_CHARS])
{
    char joined[KEY_CHARS + sizeof KEY_SUFFIX];
    uint8_t digest[HASH_SHA1_BYTES];
    struct text text = text_in(joined, sizeof joined);
    text_add(&text, key);
    text_literal(&text, KEY_SUFFIX);
    invariant(!text.overflow);
    hash_sha1(text.data, text.size, digest);
    const size_t size = base64_encode(digest, sizeof digest, accept);
    invariant(size == WEBSOCKET_ACCEPT_CHARS - 1);
    letters_swap(accept, size, "-_", "+/");
    accept[size] = '=';
}

enum websocket_answer websocket_offer_read(
    const struct http_request *request, struct websocket_offer *offer)
{
    struct fields fields;
    fields_read(request, &fields);
    if (!list_has(fields.upgrade, SPAN("websocket")))
        return WEBSOCKET_NOT_ASKED;
    /* keep_alive is false for HTTP/1.0, which knows no upgrade. */
    if (fields.repeated || !request->keep_alive || !list_has(fields.connection, SPAN("upgrade"))
        || request->body.size > 0)
        return WEBSOCKET_MALFORMED;
    if (!span_equal(fields.version, SPAN("13")))
        return WEBSOCKET_OTHER_VERSION;
    if (!key_is_good(fields.key))
        return WEBSOCKET_MALFORMED;
    accept_make(fields.key, offer->accept);
    offer->protocols = fields.protocols;
    return WEBSOCKET_WELCOME;
}

bool websocket_protocol_take(struct span *protocols, struct span *name)
{
    while (span_take_until(protocols, ',', name)) {
        *name = span_trim(*name, SPAN(" \t"));
        if (name->size > 0)
            return true;
    }
    return false;
}

void websocket_accept(struct text *out, const struct websocket_offer *offer, struct span protocol)
{
    text_literal(out, "HTTP/1.1 101 Switching Protocols\r\nDate: ");
    text_add(out, span_of(http_date(), HTTP_DATE_CHARS));
    text_literal(out, "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ");
    text_add(out, span_of(offer->accept, sizeof offer->accept));
    if (protocol.size > 0) {
        text_literal(out, "\r\nSec-WebSocket-Protocol: ");
        text_add(out, protocol);
    }
    text_literal(out, "\r\n\r\n");
}

/* ---- frames out ---- */

size_t websocket_head(char out[WEBSOCKET_HEAD_MAX], enum websocket_opcode opcode, size_t bytes)
{
    out[0] = (char)(FINAL | (int)opcode);
    if (bytes < LENGTH_16) {
        out[1] = (char)bytes;
        return HEAD_BYTES;
    }
    const size_t length_bytes = bytes <= UINT16_MAX ? 2 : 8;
    out[1] = (char)(length_bytes == 2 ? LENGTH_16 : LENGTH_64);
    for (size_t i = 0; i < length_bytes; i++)
        out[HEAD_BYTES + i] = (char)(uint8_t)((uint64_t)bytes >> (8 * (length_bytes - 1 - i)));
    return HEAD_BYTES + length_bytes;
}

void websocket_frame(struct text *out, enum websocket_opcode opcode, struct span payload)
{
    char head[WEBSOCKET_HEAD_MAX];
    text_add(out, span_of(head, websocket_head(head, opcode, payload.size)));
    text_add(out, payload);
}

void websocket_frame_close(struct text *out, enum websocket_code code, struct span reason)
{
    char bytes[WEBSOCKET_CONTROL_MAX];
    struct text payload = text_in(bytes, sizeof bytes);
    if (code != WEBSOCKET_NO_CODE) {
        const char number[2] = { (char)(uint8_t)((unsigned)code >> 8), (char)(uint8_t)code };
        if (reason.size > sizeof bytes - sizeof number)
            reason.size = sizeof bytes - sizeof number;
        text_add(&payload, span_of(number, sizeof number));
        text_add(&payload, reason);
    }
    websocket_frame(out, WEBSOCKET_CLOSE, text_span(&payload));
}

/* ---- frames in ---- */

struct websocket_parser {
    wslay_frame_context_ptr context;
    struct span input; /* of the one frame that is being read */
};

static ssize_t input_take(uint8_t *out, size_t room, int flags, void *self)
{
    struct websocket_parser *parser = self;
    (void)flags;
    const size_t size = parser->input.size < room ? parser->input.size : room;
    if (size == 0)
        return -1; /* no more for now */
    memcpy(out, parser->input.data, size);
    parser->input = span_of(parser->input.data + size, parser->input.size - size);
    return (ssize_t)size;
}

static bool context_make(struct websocket_parser *parser)
{
    const struct wslay_frame_callbacks callbacks = { .recv_callback = input_take };
    return wslay_frame_context_init(&parser->context, &callbacks, parser) == 0;
}

struct websocket_parser *websocket_parser_create(void)
{
    struct websocket_parser *parser = calloc(1, sizeof *parser);
    if (parser != NULL && !context_make(parser)) {
        free(parser);
        return NULL;
    }
    return parser;
}

void websocket_parser_free(struct websocket_parser *parser)
{
    if (parser == NULL)
        return;
    if (parser->context != NULL)
        wslay_frame_context_free(parser->context);
    free(parser);
}

/* Whether the length of the frame is known; `*need`: of the frame, or of what must come first. A
 * payload that is not accepted counts as one byte too long. */
static bool frame_size(struct span data, size_t *need, size_t *payload)
{
    const uint8_t *head = (const uint8_t *)data.data;
    *need = HEAD_BYTES;
    if (data.size < HEAD_BYTES)
        return false;
    const unsigned length = head[1] & (MASKED - 1u);
    const size_t length_bytes = length == LENGTH_64 ? 8 : length == LENGTH_16 ? 2 : 0;
    *need = HEAD_BYTES + length_bytes;
    if (data.size < *need)
        return false;
    uint64_t bytes = length_bytes == 0 ? length : 0;
    for (size_t i = 0; i < length_bytes; i++)
        bytes = bytes << 8 | head[HEAD_BYTES + i];
    *payload = bytes > WEBSOCKET_MESSAGE_MAX ? (size_t)WEBSOCKET_MESSAGE_MAX + 1 : (size_t)bytes;
    *need += MASK_BYTES + *payload;
    return true;
}

static enum websocket_result refuse(struct websocket_message *message, enum websocket_code code)
{
    message->code = code;
    return WEBSOCKET_REFUSED;
}

static bool code_is_known(unsigned code)
{
    return (code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006)
        || (code >= 3000 && code <= 4999);
}

static enum websocket_result close_read(struct websocket_message *message)
{
    const uint8_t *bytes = (const uint8_t *)message->payload.data;
    message->code = WEBSOCKET_NO_CODE;
    if (message->payload.size == 0)
        return WEBSOCKET_WHOLE;
    if (message->payload.size < 2 || !code_is_known((unsigned)bytes[0] << 8 | bytes[1]))
        return refuse(message, WEBSOCKET_PROTOCOL_ERROR);
    message->code = (enum websocket_code)((unsigned)bytes[0] << 8 | bytes[1]);
    message->payload = span_of(bytes + 2, message->payload.size - 2);
    return utf8_is_valid(message->payload) ? WEBSOCKET_WHOLE : refuse(message, WEBSOCKET_BAD_DATA);
}

static enum websocket_result frame_judge(
    const struct wslay_frame_iocb *frame, struct websocket_message *message)
{
    message->opcode = (enum websocket_opcode)frame->opcode;
    message->payload = span_of(frame->data, frame->data_length);
    if (frame->rsv != 0 || frame->mask == 0)
        return refuse(message, WEBSOCKET_PROTOCOL_ERROR);
    switch (frame->opcode) {
    case WEBSOCKET_TEXT:
        if (frame->fin != 1)
            return refuse(message, WEBSOCKET_UNSUPPORTED);
        return utf8_is_valid(message->payload) ? WEBSOCKET_WHOLE : refuse(message, WEBSOCKET_BAD_DATA);
    case WEBSOCKET_BINARY:
        return refuse(message, WEBSOCKET_UNSUPPORTED);
    case WEBSOCKET_CLOSE:
        return close_read(message);
    case WEBSOCKET_PING:
    case WEBSOCKET_PONG:
        return WEBSOCKET_WHOLE;
    default: /* nothing was begun that could be continued */
        return refuse(message, WEBSOCKET_PROTOCOL_ERROR);
    }
}

enum websocket_result websocket_parse(struct websocket_parser *parser, struct span data,
    struct websocket_message *message, size_t *bytes)
{
    size_t need, payload = 0;
    *message = (struct websocket_message){ .payload = SPAN_NONE };
    if (data.size >= HEAD_BYTES && ((uint8_t)data.data[1] & MASKED) == 0)
        return refuse(message, WEBSOCKET_PROTOCOL_ERROR);
    if (frame_size(data, &need, &payload) && payload > WEBSOCKET_MESSAGE_MAX)
        return refuse(message, WEBSOCKET_TOO_LONG);
    *bytes = need;
    if (data.size < need)
        return WEBSOCKET_PARTIAL;
    /* All of one frame and not a byte more: so the context is at a frame's beginning after each call. */
    struct wslay_frame_iocb frame = { .data = NULL };
    parser->input = span_of(data.data, need);
    const ssize_t got = wslay_frame_recv(parser->context, &frame);
    if (got == (ssize_t)payload && parser->input.size == 0)
        return frame_judge(&frame, message);
    /* A context that has refused a frame can't go on. */
    wslay_frame_context_free(parser->context);
    parser->context = NULL;
    invariant(context_make(parser));
    return refuse(message, WEBSOCKET_PROTOCOL_ERROR);
}
