/* SPDX-License-Identifier: Apache-2.0 */
/* edge/websocket.h: the WebSocket protocol (RFC 6455) without sockets: the handshake, frames in,
 * frames out. Strict: what a browser never sends is refused.
 *
 * Clients may send control frames and short whole text messages; anything else gets the close code
 * that the protocol has for it. The server's frames are not masked, so that one that goes to many is
 * encoded once.
 * Thread: a parser belongs to one thread. Memory: a parser keeps one frame; what it gives out lives
 * until the next call. Errors: refusals are values with a close code. */
#ifndef STAMPEDE_EDGE_WEBSOCKET_H
#define STAMPEDE_EDGE_WEBSOCKET_H

#include "base/text.h"
#include "edge/http.h"

enum {
    WEBSOCKET_MESSAGE_MAX = 1024,  /* from a client; 1009 beyond */
    WEBSOCKET_FRAME_HEAD_MAX = 14, /* with the mask */
    WEBSOCKET_CONTROL_MAX = 125,   /* bytes of a ping, a pong, a close */
    WEBSOCKET_HEAD_MAX = 10,       /* of our own frames */
    WEBSOCKET_ACCEPT_CHARS = 28,
};
/* All of one frame that is accepted. */
#define WEBSOCKET_FRAME_MAX (WEBSOCKET_FRAME_HEAD_MAX + WEBSOCKET_MESSAGE_MAX)

enum websocket_opcode {
    WEBSOCKET_CONTINUATION = 0,
    WEBSOCKET_TEXT = 1,
    WEBSOCKET_BINARY = 2,
    WEBSOCKET_CLOSE = 8,
    WEBSOCKET_PING = 9,
    WEBSOCKET_PONG = 10,
};
enum websocket_code {
    WEBSOCKET_NORMAL = 1000,
    WEBSOCKET_GOING_AWAY = 1001,
    WEBSOCKET_PROTOCOL_ERROR = 1002,
    WEBSOCKET_UNSUPPORTED = 1003,
    WEBSOCKET_NO_CODE = 1005, /* never sent: a close without a code */
    WEBSOCKET_BAD_DATA = 1007,
    WEBSOCKET_POLICY = 1008,
    WEBSOCKET_TOO_LONG = 1009,
};

/* ---- the handshake ---- */

enum websocket_answer {
    WEBSOCKET_WELCOME,
    WEBSOCKET_NOT_ASKED,     /* no upgrade to a websocket in it: 426 */
    WEBSOCKET_OTHER_VERSION, /* 426 */
    WEBSOCKET_MALFORMED,     /* 400 */
};
struct websocket_offer {
    char accept[WEBSOCKET_ACCEPT_CHARS]; /* what the key must be answered with */
    struct span protocols;               /* the list as sent; SPAN_NONE: none */
};
/* The request is a GET. `offer` is filled for WEBSOCKET_WELCOME only. */
MUST_CHECK enum websocket_answer websocket_offer_read(
    const struct http_request *request, struct websocket_offer *offer);
/* The next name of a list of protocols; false at its end. */
bool websocket_protocol_take(struct span *protocols, struct span *name);
/* The 101 response. `protocol`: the one chosen, or SPAN_NONE. */
void websocket_accept(struct text *out, const struct websocket_offer *offer, struct span protocol);

/* ---- frames out ---- */

/* Writes the head of a whole frame of this size; returns the size of the head. */
size_t websocket_head(char out[WEBSOCKET_HEAD_MAX], enum websocket_opcode opcode, size_t bytes);
/* A whole frame. */
void websocket_frame(struct text *out, enum websocket_opcode opcode, struct span payload);
/* A close frame; a reason that is too long is cut. */
void websocket_frame_close(struct text *out, enum websocket_code code, struct span reason);

/* ---- frames in ---- */

struct websocket_parser;
struct websocket_parser *websocket_parser_create(void);      /* NULL: no memory */
void websocket_parser_free(struct websocket_parser *parser); /* accepts NULL */

enum websocket_result { WEBSOCKET_WHOLE, WEBSOCKET_PARTIAL, WEBSOCKET_REFUSED };
struct websocket_message {
    enum websocket_opcode opcode; /* TEXT, CLOSE, PING, PONG */
    struct span payload;          /* of a close: the reason */
    enum websocket_code code;     /* of a close */
};
/* The frame at the front of `data`. WHOLE: *bytes are done with. PARTIAL: come again when there are
 * more than *bytes. REFUSED: message->code says with which code to close. */
MUST_CHECK enum websocket_result websocket_parse(struct websocket_parser *parser, struct span data,
    struct websocket_message *message, size_t *bytes);

#endif
