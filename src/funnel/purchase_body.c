/* SPDX-License-Identifier: Apache-2.0 */
/* The grammar, with JSON's whitespace allowed between any two tokens:
 *   body = "{" [ field *( "," field ) ] "}" / "null"              null is how generated clients write no body
 *   field = '"quantity"' ":" number / '"channel"' ":" string      each at most once
 * A JSON library would allocate, accept escapes and 1e3, and keep the last of two fields. */
#include "funnel/purchase_body.h"

enum field { FIELD_QUANTITY = 1, FIELD_CHANNEL = 2 }; /* bits of what was seen */

struct reader {
    const char *at, *end;
};

static inline void skip_space(struct reader *in)
{
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\n' || *in->at == '\r' || *in->at == '\t'))
        in->at++;
}

/* Takes the character, and the space before it. */
static inline bool take(struct reader *in, char wanted)
{
    skip_space(in);
    if (in->at == in->end || *in->at != wanted)
        return false;
    in->at++;
    return true;
}

static inline bool take_text(struct reader *in, struct span wanted)
{
    if ((size_t)(in->end - in->at) < wanted.size || memcmp(in->at, wanted.data, wanted.size) != 0)
        return false;
    in->at += wanted.size;
    return true;
}

/* Digits, and what makes a number of another kind must not follow them. */
static enum body_answer take_quantity(struct reader *in, uint32_t *quantity)
{
    skip_space(in);
    const char *first = in->at;
    uint32_t value = 0;
    while (in->at < in->end && *in->at >= '0' && *in->at <= '9' && value <= QUANTITY_MAX)
        value = value * 10 + (uint32_t)(*in->at++ - '0');
    if (value < 1 || value > QUANTITY_MAX || *first == '0')
        return BODY_BAD_QUANTITY;
    if (in->at < in->end && (*in->at == '.' || *in->at == 'e' || *in->at == 'E'))
        return BODY_BAD_QUANTITY;
    *quantity = value;
    return BODY_OK;
}

/* Printable ASCII without escapes. */
static enum body_answer take_channel(struct reader *in, struct span *channel)
{
    if (!take(in, '"'))
        return BODY_BAD_CHANNEL;
    const char *first = in->at;
    while (in->at < in->end && *in->at >= ' ' && *in->at <= '~' && *in->at != '"' && *in->at != '\\')
        in->at++;
    *channel = span_of(first, (size_t)(in->at - first));
    if (channel->size == 0 || channel->size > CHANNEL_NAME_MAX || !take_text(in, SPAN("\"")))
        return BODY_BAD_CHANNEL;
    return BODY_OK;
}

static enum body_answer take_field(struct reader *in, unsigned *seen, struct purchase_body *body)
{
    skip_space(in);
    unsigned field = take_text(in, SPAN("\"quantity\"")) ? FIELD_QUANTITY
        : take_text(in, SPAN("\"channel\""))             ? FIELD_CHANNEL
                                                         : 0;
    if (field == 0 || (*seen & field) != 0 || !take(in, ':'))
        return BODY_MALFORMED;
    *seen |= field;
    return field == FIELD_QUANTITY ? take_quantity(in, &body->quantity)
                                   : take_channel(in, &body->channel);
}

enum body_answer purchase_body_read(struct span text, struct purchase_body *body)
{
    *body = (struct purchase_body){ .quantity = 1, .channel = SPAN_NONE };
    if (text.size == 0)
        return BODY_OK;
    struct reader in = { text.data, text.data + text.size };
    if (text.size > PURCHASE_BODY_BYTES_MAX)
        return BODY_MALFORMED;
    skip_space(&in);
    const bool absent = take_text(&in, SPAN("null"));
    if (!absent && !take(&in, '{'))
        return BODY_MALFORMED;
    if (!absent && !take(&in, '}')) {
        unsigned seen = 0;
        do { /* ends: a third field is unknown or repeated */
            enum body_answer answer = take_field(&in, &seen, body);
            if (answer != BODY_OK)
                return answer;
        } while (take(&in, ','));
        if (!take(&in, '}'))
            return BODY_MALFORMED;
    }
    skip_space(&in);
    return in.at == in.end ? BODY_OK : BODY_MALFORMED;
}
