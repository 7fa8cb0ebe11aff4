/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/request.h"

static const char details[] = "{\"name\":\"Rehearsal\",\"phone\":\"10000000000\",\"address\":\"1 "
                              "Rehearsal Road\",\"note\":\"\"}";

static void line(struct text *out, const char *method, const char *path, const char *tail, uint32_t number)
{
    text_format(out, "%s %s%u%s HTTP/1.1\r\n", method, path, number, tail);
}

static void line_of_order(struct text *out, const char *method, const char *path,
    const char id[ID_CHARS], const char *tail)
{
    text_format(out, "%s %s%.*s%s HTTP/1.1\r\n", method, path, ID_CHARS, id, tail);
}

/* A bot that replays comes from another address each time. */
static uint32_t address_of(const struct visitor *visitor)
{
    return visitor->kind == VISITOR_REPLAY ? visitor->address ^ (uint32_t)(visitor->rounds + 1) << 12
                                           : visitor->address;
}

/* Every other time it shows its pass with somebody else's session. */
static const char *session_of(const struct visitor *visitors, const struct visitor *visitor)
{
    const struct visitor *other = &visitors[visitor->other];
    const bool foreign = visitor->kind == VISITOR_REPLAY && visitor->step == STEP_BUY
        && visitor->rounds % 2 == 1 && other->session[0] != 0;
    return foreign ? other->session : visitor->session;
}

/* The same key while it is the same purchase; a hammer means each to be another. */
static uint32_t purchase_number(const struct visitor *visitor)
{
    return visitor->kind == VISITOR_REPLAY ? 0 : visitor->rounds;
}

static void head_write(struct text *out, const struct request_place *place,
    const struct visitor *visitors, const struct visitor *visitor)
{
    const uint32_t address = address_of(visitor);
    const char *session = session_of(visitors, visitor);
    text_format(out, "Host: %s\r\n", place->host);
    if (visitor->kind == VISITOR_MEASURE)
        return;
    text_format(out, "X-Forwarded-For: %u.%u.%u.%u\r\n", address >> 24, address >> 16 & 255,
        address >> 8 & 255, address & 255);
    if (session[0] != 0 && visitor->step != STEP_BANK)
        text_format(out, "Authorization: Bearer %.*s\r\n", TOKEN_CHARS, session);
    if (visitor->step != STEP_BUY)
        return;
    text_format(out, "Idempotency-Key: r%u-%u\r\n", visitor->number, purchase_number(visitor));
    if (visitor->has_pass)
        text_format(out, "Stampede-Pass: %.*s\r\n", TOKEN_CHARS, visitor->pass);
}

static void body_write(struct text *out, const char *before, const char *value, const char *after)
{
    const size_t size = strlen(before) + strlen(value) + strlen(after);
    text_format(out, "%sContent-Length: %zu\r\n\r\n",
        size > 0 ? "Content-Type: application/json\r\n" : "", size);
    text_string(out, before);
    text_string(out, value);
    text_string(out, after);
}

static void line_write(struct text *out, const struct request_place *place,
    const struct sale_facts *facts, const struct visitor *visitor)
{
    const uint32_t item = facts->items[visitor->item];
    switch ((enum step)visitor->step) {
    case STEP_PAGE:
        line(out, "GET", "/v1/items/", "", item);
        break;
    case STEP_SESSION:
        text_literal(out, "POST /v1/session HTTP/1.1\r\n");
        break;
    case STEP_ENTER:
        line(out, "POST", "/v1/sales/", "/room", facts->sale);
        break;
    case STEP_ROOM:
        line(out, "GET", "/v1/sales/", "/room", facts->sale);
        break;
    case STEP_CHALLENGE:
        line(out, "GET", "/v1/items/", "/challenge?kind=pow", item);
        break;
    case STEP_PASS:
        line(out, "POST", "/v1/items/", "/pass", item);
        break;
    case STEP_BUY:
        line(out, "POST", "/v1/items/", "/buy", item);
        break;
    case STEP_TICKET:
        line_of_order(out, "GET", "/v1/tickets/", visitor->ticket, "");
        break;
    case STEP_DETAILS:
        line_of_order(out, "PUT", "/v1/orders/", visitor->order, "/details");
        break;
    case STEP_PAY:
        line_of_order(out, "POST", "/v1/orders/", visitor->order, "/pay");
        break;
    case STEP_ORDER:
        line_of_order(out, "GET", "/v1/orders/", visitor->order, "");
        break;
    case STEP_BANK:
        text_format(out, "POST /sandbox/v1/pay/%s HTTP/1.1\r\n", visitor->bank);
        break;
    case STEP_CANCEL:
        line_of_order(out, "POST", "/v1/orders/", visitor->order, "/cancel");
        break;
    case STEP_MEASURE:
    case STEPS:
        text_format(out, "GET %s HTTP/1.1\r\n", place->measure_path);
        break;
    }
}

bool request_write(const struct request_place *place, const struct sale_facts *facts,
    const struct visitor *visitors, uint32_t number, struct text *out)
{
    const struct visitor *visitor = &visitors[number];
    const enum step step = (enum step)visitor->step;
    line_write(out, place, facts, visitor);
    head_write(out, place, visitors, visitor);
    if (step == STEP_PASS && visitor->solution != NULL)
        body_write(out, "{\"solution\":\"", visitor->solution, "\"}");
    else if (step == STEP_PAY)
        body_write(out, "{\"provider\":\"sandbox\"}", "", "");
    else if (step == STEP_BANK)
        body_write(out, "{\"how\":\"pay\"}", "", "");
    else if (step == STEP_DETAILS)
        body_write(out, details, "", "");
    else if (step == STEP_PAGE || step == STEP_ROOM || step == STEP_CHALLENGE || step == STEP_TICKET
        || step == STEP_ORDER || step == STEP_MEASURE)
        text_literal(out, "\r\n");
    else
        body_write(out, "", "", "");
    return !out->overflow;
}
