/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/record_text.c
 *
 * FORMAT of an outcome: the number of the answer, then for each member that is not 0 a blank, its letter
 * and its value, in the order of the table below. The terms of a sale (ASK_SALE) are in capitals, and
 * all there. */
#include "inventory/redis/record_text.h"

#include "inventory/redis/command_text.h"

struct member {
    char letter;
    uint16_t at;
    uint8_t width;
    bool hex, negative;
};
#define MEMBER(the_letter, member, ...) \
    { \
        .letter = (the_letter), .at = offsetof(struct outcome, member), \
        .width = sizeof(((struct outcome *)0)->member), __VA_ARGS__ \
    }
static const struct member members[] = {
    MEMBER('c', changed, ),
    MEMBER('r', repeated, ),
    MEMBER('d', detail, ),
    MEMBER('t', ticket, ),
    MEMBER('p', unit_price, ),
    MEMBER('y', pay_by_ms, ), /* or again_ms */
    MEMBER('u', user, .hex = true),
    MEMBER('a', applied, .negative = true),
    MEMBER('q', quantity, ),
    MEMBER('f', free, ),
    MEMBER('i', item, ),
    MEMBER('n', number, ),
};
static const struct member terms[] = {
    MEMBER('S', terms.sale, ),
    MEMBER('L', terms.limit_per_user, ),
    MEMBER('B', terms.start_ms, ),
    MEMBER('E', terms.end_ms, ),
    MEMBER('G', terms.eligible_only, ),
    MEMBER('O', terms.one_open_order, ),
    MEMBER('X', terms.start_draw_ms, ),
    MEMBER('Z', terms.return_draw_ms, ),
    MEMBER('W', terms.cooldown_s, ),
};
enum { MEMBERS = sizeof members / sizeof *members, TERMS = sizeof terms / sizeof *terms };
static_assert(offsetof(struct outcome, pay_by_ms) == offsetof(struct outcome, again_ms),
    "one letter for both");

static bool number_read(struct span text, const struct member *member, uint64_t *value)
{
    int64_t number = 0;
    if (member->hex)
        return span_to_hex64(text, value) == STATUS_OK;
    if (member->negative) {
        const bool good =
            span_to_i64(text, &number) == STATUS_OK && number >= INT32_MIN && number <= INT32_MAX;
        *value = (uint64_t)number;
        return good;
    }
    return span_to_u64(text, value) == STATUS_OK && *value <= UINT64_MAX >> (64 - 8 * member->width);
}

/* Flags are 1 byte, and a bool must not hold anything else. */
static bool is_flag(const struct member *member)
{
    return strchr("crGO", member->letter) != NULL;
}

static bool member_read(struct span word, const struct member *member, struct outcome *outcome)
{
    uint64_t value = 0;
    if (!number_read(span_of(word.data + 1, word.size - 1), member, &value)
        || (is_flag(member) && value > 1))
        return false;
    memcpy((char *)outcome + member->at, &value, member->width);
    return true;
}

/* Words in the order of the table; `all`: none is missing, and 0 is written too. */
static bool members_read(
    struct span *text, const struct member *table, size_t count, bool all, struct outcome *outcome)
{
    for (size_t i = 0; i < count; i++) {
        if (text->size == 0 || text->data[0] != table[i].letter) {
            if (all)
                return false;
            continue;
        }
        struct span word = SPAN_NONE;
        span_take_until(text, ' ', &word);
        if (!member_read(word, &table[i], outcome)
            || (!all && span_equal(span_of(word.data + 1, 1), SPAN("0")) && !table[i].hex))
            return false;
    }
    return true;
}

enum status outcome_text_read(struct span text, struct outcome *outcome)
{
    struct span word;
    uint32_t answer = 0;
    memset(outcome, 0, sizeof *outcome);
    if (text.size == 0 || text.data[text.size - 1] == ' ' || !span_take_until(&text, ' ', &word)
        || span_to_u32(word, &answer) != STATUS_OK || answer <= ANSWER_NONE || answer >= ANSWERS_LOGGED)
        return STATUS_CORRUPT;
    outcome->answer = (uint8_t)answer;
    const bool has_terms = text.size > 0 && text.data[0] == terms[0].letter;
    const bool good = has_terms ? members_read(&text, terms, TERMS, true, outcome)
                                : members_read(&text, members, MEMBERS, false, outcome);
    return good && text.size == 0 ? STATUS_OK : STATUS_CORRUPT;
}

enum status refusal_text_read(struct span text, struct script_refusal *refusal)
{
    struct span word;
    memset(refusal, 0, sizeof *refusal);
    refusal->pass_spent = span_equal(text, SPAN("pass-spent"));
    if (refusal->pass_spent)
        return STATUS_OK;
    const bool good = span_take_until(&text, ' ', &word) && span_equal(word, SPAN("too-fast"))
        && span_to_u32(text, &refusal->wait_ms) == STATUS_OK && refusal->wait_ms > 0;
    return good ? STATUS_OK : STATUS_CORRUPT;
}

enum status script_head_read(struct span text, struct script_head *head)
{
    uint64_t epoch = 0;
    uint64_t *const values[] = { &epoch, &head->seq, &head->done, &head->told, &head->time_ms };
    memset(head, 0, sizeof *head);
    if (text.size == 0 || text.data[text.size - 1] == ' ')
        return STATUS_CORRUPT;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct span word;
        if (!span_take_until(&text, ' ', &word) || span_to_u64(word, values[i]) != STATUS_OK)
            return STATUS_CORRUPT;
    }
    if (text.size != 0 || epoch > UINT32_MAX || head->done > head->seq)
        return STATUS_CORRUPT;
    head->epoch = (uint32_t)epoch;
    return STATUS_OK;
}

enum status record_text_read(
    struct span line, uint64_t time_ms, struct command *command, struct outcome *outcome)
{
    static const struct span between = SPAN(" = ");
    /* No word of a command is "=", except an actor's name, which comes last: the last one counts. */
    const char *at = NULL;
    for (const char *next = line.data; next != NULL && next + between.size <= line.data + line.size;
         next++)
        if (memcmp(next, between.data, between.size) == 0)
            at = next;
    if (at == NULL)
        return STATUS_CORRUPT;
    const char *rest = at + between.size;
    enum status status = command_text_read(span_of(line.data, (size_t)(at - line.data)), command);
    if (status == STATUS_OK)
        status = outcome_text_read(span_of(rest, (size_t)(line.data + line.size - rest)), outcome);
    command->time_ms = time_ms;
    return status == STATUS_OK && outcome->changed ? STATUS_OK : STATUS_CORRUPT;
}
