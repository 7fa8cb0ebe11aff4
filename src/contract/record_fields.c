/* SPDX-License-Identifier: Apache-2.0 */
/* contract/record_fields.c: writes and reads what a table of fields says. */
#include "contract/record_fields.h"

#include <string.h>

uint8_t *record_put_fields(uint8_t *at, const struct record_field *fields, size_t count,
    const struct command *command, const struct outcome *outcome)
{
    for (const struct record_field *field = fields; field < fields + count; field++) {
        const void *of = field->in_outcome ? (const void *)outcome : (const void *)command;
        for (uint32_t i = 0; i < field->times; i++) {
            const uint8_t *from = (const uint8_t *)of + field->at + i * field->width;
            uint64_t value = 0;
            memcpy(&value, from, field->width); /* formats are little-endian as memory is */
            if (field->flag != 0) {
                const uint64_t bit = 1ULL << (8 * field->bytes - 1);
                invariant(value < bit);
                value |= *((const uint8_t *)of + field->flag) != 0 ? bit : 0;
            }
            memcpy(at, &value, field->bytes);
            at += field->bytes;
        }
    }
    return at;
}

const uint8_t *record_take(struct record_input *in, size_t bytes)
{
    static const uint8_t nothing[8];
    if (in->left < bytes) {
        in->bad = true;
        return nothing;
    }
    const uint8_t *at = in->at;
    in->at += bytes;
    in->left -= bytes;
    return at;
}

static bool rule_allows(enum record_rule rule, uint64_t value)
{
    const int32_t change = (int32_t)value;
    switch (rule) {
    case RULE_ANY:
        return true;
    case RULE_SOME:
        return value != 0;
    case RULE_UNITS:
        return value <= UNITS_MAX;
    case RULE_CHANGE:
        return change >= -UNITS_MAX && change <= UNITS_MAX;
    case RULE_DELTA:
        return change != 0 && change <= UNITS_MAX;
    case RULE_PLACE:
        return value < CHANNELS_MAX || value == CHANNEL_SAFETY;
    case RULE_GATE_MOVE:
        return value < GATE_MOVES;
    case RULE_STEP:
        return value < SETTLE_STEPS;
    case RULE_QUANTITY:
        return value <= QUANTITY_MAX;
    case RULE_USERS:
        return value >= 1 && value <= USERS_PER_COMMAND;
    case RULE_WAITERS:
        return value >= 1 && value <= WAITERS_PER_RETURN;
    case RULE_ROWS:
        return value >= 1 && value <= RECLAIM_ROWS_MAX;
    case RULE_COOLDOWN:
        return value <= COOLDOWN_MAX_S;
    case RULE_DRAW:
        return value <= DRAW_MAX_MS;
    case RULE_SHARD:
        return value < SHARDS_MAX;
    case RULE_TABLE:
        return value < ARCHIVE_TABLES;
    }
    return false;
}

void record_take_fields(struct record_input *in, const struct record_field *fields, size_t count,
    struct command *command, struct outcome *outcome)
{
    for (const struct record_field *field = fields; field < fields + count; field++) {
        void *of = field->in_outcome ? (void *)outcome : (void *)command;
        for (uint32_t i = 0; i < field->times; i++) {
            uint64_t value = 0;
            memcpy(&value, record_take(in, field->bytes), field->bytes);
            if (field->flag != 0) {
                const uint64_t bit = 1ULL << (8 * field->bytes - 1);
                *(bool *)((uint8_t *)of + field->flag) = (value & bit) != 0;
                value &= ~bit;
            }
            require(in, rule_allows((enum record_rule)field->rule, value));
            memcpy((uint8_t *)of + field->at + i * field->width, &value, field->width);
        }
    }
}
