/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/redis/script.h"

#include "contract/command.h"
#include "inventory/buyers.h"

const char *const script_key_names[SCRIPT_KEYS] = { ":m", ":u", ":t", ":k", ":log" };

/* Words in capitals of the script, and what they stand for: the same numbers as in C, of the same names. */
struct constant {
    const char *name;
    uint64_t value;
};

#define CONSTANT(name) \
    { \
#name, name \
    }
#define ANSWER_CONSTANT(answer, label, problem) { "ANSWER_" #answer, ANSWER_##answer },
static const struct constant constants[] = {
    ANSWER_LIST(ANSWER_CONSTANT){ "PURCHASES_PER_CALL", SCRIPT_PURCHASES_MAX },
    { "REQUESTS_PER_WINDOW", SCRIPT_REQUESTS_MAX },
    { "CLOCK_SKEW_MS", SCRIPT_SKEW_MS },
    CONSTANT(BUYER_RETURNS_MAX),
    CONSTANT(BUYER_ROWS_PER_WIN),
    CONSTANT(CHANNELS_MAX),
    CONSTANT(CHANNEL_SAFETY),
    CONSTANT(COMMAND_KEYS_MAX),
    CONSTANT(CONFLICT_ALREADY_OPEN),
    CONSTANT(CONFLICT_BAD_MOVE),
    CONSTANT(CONFLICT_BAD_SPLIT),
    CONSTANT(CONFLICT_BAD_WINDOW),
    CONSTANT(CONFLICT_ENDED),
    CONSTANT(CONFLICT_FULL),
    CONSTANT(CONFLICT_HAS_BUYERS),
    CONSTANT(CONFLICT_NOT_PREHEATED),
    CONSTANT(CONFLICT_OTHER_LIMIT),
    CONSTANT(CONFLICT_OTHER_TERMS),
    CONSTANT(CONFLICT_OTHER_TOTAL),
    CONSTANT(COOLDOWN_DOUBLINGS_MAX),
    CONSTANT(COOLDOWN_MAX_S),
    CONSTANT(DRAW_MAX_MS),
    CONSTANT(GATE_MOVES),
    CONSTANT(GATE_MOVE_END),
    CONSTANT(GATE_MOVE_OPEN),
    CONSTANT(GATE_MOVE_PAUSE),
    CONSTANT(GATE_MOVE_REOPEN),
    CONSTANT(GATE_MOVE_RESUME),
    CONSTANT(QUANTITY_MAX),
    CONSTANT(RESERVE_AFTER_END),
    CONSTANT(RESERVE_OFFER),
    CONSTANT(RESERVE_REPEAT),
    CONSTANT(SETTLE_RETURN),
    CONSTANT(SETTLE_SOLD),
    CONSTANT(SETTLE_STEPS),
    CONSTANT(SETTLE_WRITE_OFF),
    CONSTANT(SHARDS_MAX),
    CONSTANT(TICKET_HELD),
    CONSTANT(TICKET_NUMBER_MAX),
    CONSTANT(TICKET_RETURNED),
    CONSTANT(TICKET_SOLD),
    CONSTANT(TICKET_WRITTEN_OFF),
    CONSTANT(UNITS_MAX),
    CONSTANT(WAITERS_PER_RETURN),
};
static_assert(CHANNELS_MAX == 8, "the script names the pools of an item one by one");

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* The word in capitals at the front. */
static struct span word_at(const char *at)
{
    size_t size = 0;
    while (is_capital(at[size]) || at[size] == '_' || (at[size] >= '0' && at[size] <= '9'))
        size++;
    return span_of(at, size);
}

struct filling {
    struct text *out;
    struct span prefix;
    uint32_t epoch;
};

static bool word_fill(const struct filling *filling, struct span word)
{
    if (span_equal(word, SPAN("PREFIX"))) {
        text_add(filling->out, filling->prefix);
        return true;
    }
    if (span_equal(word, SPAN("EPOCH"))) {
        text_u64(filling->out, filling->epoch);
        return true;
    }
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        if (!span_equal(word, span_from_string(constants[i].name)))
            continue;
        text_u64(filling->out, constants[i].value);
        return true;
    }
    return false;
}

/* Within quotes a word that is no constant is text; outside it would be a global variable. */
static void template_fill(const struct filling *filling)
{
    bool quoted = false;
    for (const char *at = script_template; *at != 0;) {
        if (!is_capital(*at)) {
            quoted ^= *at == '\'';
            text_add(filling->out, span_of(at++, 1));
            continue;
        }
        const struct span word = word_at(at);
        at += word.size;
        if (word_fill(filling, word))
            continue;
        invariant(quoted || span_equal(word, SPAN("KEYS")) || span_equal(word, SPAN("ARGV")));
        text_add(filling->out, word);
    }
}

static bool prefix_is_good(struct span prefix)
{
    for (size_t i = 0; i < prefix.size; i++) {
        const char c = prefix.data[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && (c == 0 || strchr(":{}.-", c) == NULL))
            return false;
    }
    return prefix.size > 0 && prefix.size <= SCRIPT_PREFIX_MAX;
}

enum status script_write(struct text *out, struct span prefix, uint32_t epoch)
{
    if (!prefix_is_good(prefix))
        return STATUS_BAD_INPUT;
    const struct filling filling = { out, prefix, epoch };
    template_fill(&filling);
    return out->overflow ? STATUS_FULL : STATUS_OK;
}

void script_sha(struct span script, char digits[SCRIPT_SHA_DIGITS + 1])
{
    uint8_t digest[HASH_SHA1_BYTES];
    struct text out = text_in(digits, SCRIPT_SHA_DIGITS);
    hash_sha1(script.data, script.size, digest);
    text_hex(&out, span_of(digest, sizeof digest));
    digits[SCRIPT_SHA_DIGITS] = 0;
}
