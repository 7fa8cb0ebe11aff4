/* SPDX-License-Identifier: Apache-2.0 */
/* contract/record_fields.h: the fields of a record as a table, in the order of its bytes, and the two
 * walks over it: one writes, one reads. What the records of each type hold is contract/record.c's.
 * Pure functions, no memory of their own. Only contract/record.c includes it. */
#ifndef STAMPEDE_CONTRACT_RECORD_FIELDS_H
#define STAMPEDE_CONTRACT_RECORD_FIELDS_H

#include "base/bytes.h"
#include "base/status.h"
#include "contract/command.h"

#include <stddef.h>

/* The values that are accepted when a field is read. */
enum record_rule {
    RULE_ANY,
    RULE_SOME, /* an id: never 0 */
    RULE_UNITS,
    RULE_CHANGE, /* signed */
    RULE_DELTA,  /* signed, not 0; a decrease is cut down by the engine */
    RULE_PLACE,  /* a channel or the safety stock */
    RULE_GATE_MOVE,
    RULE_STEP,
    RULE_QUANTITY, /* or 0 */
    RULE_USERS,
    RULE_WAITERS,
    RULE_ROWS,
    RULE_COOLDOWN,
    RULE_DRAW,
    RULE_SHARD,
    RULE_TABLE,
};

struct record_field {
    uint16_t at;   /* where it lies in struct command or struct outcome */
    uint16_t flag; /* where the bool lies that is the highest bit of its bytes; 0: none */
    uint8_t width; /* bytes that it has there */
    uint8_t bytes; /* bytes that it has in the record */
    uint8_t times; /* so many in a row */
    uint8_t rule;
    bool in_outcome;
};

/* Rows of a table: bytes in the record, member, rule. FLAGGED: its highest bit is the bool `bit`. */
#define FIELD(type, member, size, count, the_rule) \
    .at = offsetof(struct type, member), .width = sizeof(((struct type *)0)->member) / (count), \
    .bytes = (size), .times = (count), .rule = RULE_##the_rule
#define COMMAND(size, member, the_rule) \
    { \
        FIELD(command, member, size, 1, the_rule) \
    }
#define COMMANDS(size, member, count, the_rule) \
    { \
        FIELD(command, member, size, count, the_rule) \
    }
#define FLAGGED(size, member, bit, the_rule) \
    { \
        FIELD(command, member, size, 1, the_rule), .flag = offsetof(struct command, bit) \
    }
#define OUTCOME(size, member, the_rule) \
    { \
        FIELD(outcome, member, size, 1, the_rule), .in_outcome = true \
    }

#define RECORD_FIELDS(table) (sizeof(table) / sizeof((table)[0]))

/* ---- writing: each answers where the next byte goes ---- */

static inline uint8_t *put_u8(uint8_t *at, uint8_t value)
{
    *at = value;
    return at + 1;
}
static inline uint8_t *put_u32(uint8_t *at, uint32_t value)
{
    bytes_put_u32(at, value);
    return at + 4;
}
static inline uint8_t *put_u64(uint8_t *at, uint64_t value)
{
    bytes_put_u64(at, value);
    return at + 8;
}

uint8_t *record_put_fields(uint8_t *at, const struct record_field *fields, size_t count,
    const struct command *command, const struct outcome *outcome);
#define RECORD_PUT(at, table, command, outcome) \
    record_put_fields(at, table, RECORD_FIELDS(table), command, outcome)

/* ---- reading ---- */

/* Reads from the front; a read past the end or a value out of range makes `bad`, which is
 * checked once at the end. */
struct record_input {
    const uint8_t *at;
    size_t left;
    bool bad;
};

/* So many bytes, at most 8 if they are not known to be there. */
const uint8_t *record_take(struct record_input *in, size_t bytes);

static inline void require(struct record_input *in, bool condition)
{
    in->bad |= !condition;
}

static inline uint8_t take_u8(struct record_input *in)
{
    return *record_take(in, 1);
}
static inline uint32_t take_u32(struct record_input *in)
{
    return bytes_get_u32(record_take(in, 4));
}
static inline uint64_t take_u64(struct record_input *in)
{
    return bytes_get_u64(record_take(in, 8));
}

void record_take_fields(struct record_input *in, const struct record_field *fields, size_t count,
    struct command *command, struct outcome *outcome);
#define RECORD_TAKE(in, table, command, outcome) \
    record_take_fields(in, table, RECORD_FIELDS(table), command, outcome)

#endif
