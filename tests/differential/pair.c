/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/differential/pair.h"

#include "inventory/redis/command_text.h"
#include "inventory/redis/record_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { SMALL_STATE = 300 }; /* fields that are compared after each call */

static bool differ(struct pair *pair, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool differ(struct pair *pair, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (pair->wrong[0] == 0)
        vsnprintf(pair->wrong, sizeof pair->wrong, format, arguments);
    va_end(arguments);
    return false;
}
#define TEXT(span) (int)(span).size, (span).data

/* ---- the state ---- */

static void field_load(void *context, enum script_key key, struct span field, struct span value)
{
    struct pair *pair = context;
    pair->runner->put(pair->runner, key, field, value);
}

static void partition_load(struct pair *pair)
{
    pair->runner->clear(pair->runner);
    door_model_close(&pair->door);
    door_model_open(&pair->door, pair->profile->requests, pair->profile->window_ms);
    image_write(&pair->engine, &pair->head, field_load, pair);
    pair->entries = 0;
}

struct comparison {
    struct pair *pair;
    const struct map *maps[SCRIPT_HASHES];
    size_t counts[SCRIPT_HASHES];
};

static void field_compare(void *context, enum script_key key, struct span field, struct span value)
{
    struct comparison *comparison = context;
    struct span found = SPAN("(none)");
    map_get(comparison->maps[key], field, &found);
    comparison->counts[key]++;
    if (!span_equal(found, value))
        differ(comparison->pair, "field %.*s of %s: the script has \"%.*s\", the engine \"%.*s\"",
            TEXT(field), script_key_names[key], TEXT(found), TEXT(value));
}

bool pair_compare(struct pair *pair)
{
    struct comparison comparison = { .pair = pair };
    for (uint32_t key = 0; key < SCRIPT_HASHES; key++)
        comparison.maps[key] = pair->runner->hash(pair->runner, key);
    image_write(&pair->engine, &pair->head, field_compare, &comparison);
    for (uint32_t key = 0; key < SCRIPT_HASHES; key++)
        if (comparison.counts[key] != comparison.maps[key]->count)
            differ(pair, "%s: the script has %zu fields, the engine %zu", script_key_names[key],
                comparison.maps[key]->count, comparison.counts[key]);
    return pair->wrong[0] == 0;
}

void pair_open(struct pair *pair, struct runner *runner, const struct profile *profile)
{
    pair->runner = runner;
    pair->profile = profile;
    pair->wrong[0] = 0;
    pair->calls = 0;
    pair->head = (struct image_head){ .epoch = RUNNER_EPOCH, .lag_max = profile->lag_max };
    invariant(engine_open(&pair->engine, &profile->config) == STATUS_OK);
    partition_load(pair);
}

void pair_close(struct pair *pair)
{
    engine_close(&pair->engine);
    door_model_close(&pair->door);
}

/* ---- a call ---- */

struct call {
    const struct step *step;
    char texts[SCRIPT_PURCHASES_MAX][COMMAND_TEXT_MAX];
    struct span words[RUNNER_WORDS_MAX];
    uint32_t word_count;
    struct span commands[SCRIPT_PURCHASES_MAX]; /* without the door's questions: what a record has */
    char time[32];
    struct reply reply;
    struct entry entry;
};

static bool door_asks(const struct purchase_door *door)
{
    return door->mark != 0 || door->requests != 0;
}

static void call_write(struct call *call, const struct step *step, const struct command *commands,
    const struct purchase_door *doors)
{
    snprintf(call->time, sizeof call->time, "%" PRIu64, step->time_ms);
    call->step = step;
    call->words[0] = span_from_string(call->time);
    call->words[1] = SPAN("reserve");
    call->word_count = 2;
    for (uint32_t i = 0; i < step->count; i++) {
        struct text text = text_in(call->texts[i], sizeof call->texts[i]);
        invariant(command_text_write(&text, &commands[i]) == STATUS_OK);
        call->commands[i] = text_span(&text);
        if (commands[i].type != COMMAND_RESERVE) {
            call->words[1] = call->commands[i];
            continue;
        }
        text = text_in(call->texts[i], sizeof call->texts[i]);
        invariant(purchase_text_write(&text, &commands[i], door_asks(&doors[i]) ? &doors[i] : NULL,
                      &call->words[call->word_count])
            == STATUS_OK);
        call->word_count += PURCHASE_WORDS;
    }
}

/* clang-format off */
#define ENGINE_SAYS "%u (detail %u, ticket %" PRIu64 ", time %" PRIu64 ", applied %d, free %u, number %u)"
/* clang-format on */

static bool outcomes_same(const struct outcome *a, const struct outcome *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static bool command_is(const struct command *command, struct span text, uint64_t time_ms)
{
    char bytes[COMMAND_TEXT_MAX];
    struct text again = text_in(bytes, sizeof bytes);
    return command_text_write(&again, command) == STATUS_OK && span_equal(text_span(&again), text)
        && command->time_ms == time_ms;
}

/* The door refuses, and there is no old answer to hear: the script must say so. */
static bool refusal_compare(struct pair *pair, const struct call *call, uint32_t index,
    const struct script_refusal *refusal)
{
    struct script_refusal answered;
    const struct span answer = call->reply.lines[index + 1];
    pair->spent += refusal->pass_spent;
    pair->too_fast += !refusal->pass_spent;
    if (refusal_text_read(answer, &answered) == STATUS_OK
        && answered.pass_spent == refusal->pass_spent && answered.wait_ms == refusal->wait_ms)
        return true;
    return differ(pair, "%.*s: the script answers \"%.*s\", the door %s (wait %u)",
        TEXT(call->commands[index]), TEXT(answer), refusal->pass_spent ? "pass-spent" : "too-fast",
        refusal->wait_ms);
}

/* What a purchase can't be asked by the door: it is none. */
static bool is_no_purchase(const struct outcome *outcome)
{
    return outcome->answer == ANSWER_UNKNOWN_ITEM || outcome->answer == ANSWER_BAD_QUANTITY
        || outcome->answer == ANSWER_BAD_CHANNEL;
}

/* True: the door refuses it, and there is no old answer. False: the engine is asked, perhaps for an old
 * answer only. */
static bool door_refuses(struct pair *pair, const struct purchase_door *door,
    struct command *command, struct script_refusal *refusal)
{
    struct command again = *command;
    struct outcome old;
    if (!door_asks(door))
        return false;
    again.reserve.flags |= RESERVE_REPEAT;
    again.reserve.pending_from = pair->head.told + 1;
    engine_apply(&pair->engine, &again, false, &old);
    if (is_no_purchase(&old)
        || door_model_ask(&pair->door, door, command->reserve.user, command->time_ms, refusal))
        return false;
    *command = again;
    return old.answer == ANSWER_NOTHING_TO_REPEAT;
}

/* The engine's outcome of a command is the script's, and so is the record. `line` moves on over it. */
static bool command_compare(struct pair *pair, struct call *call, uint32_t index,
    struct command *command, struct span *lines)
{
    struct outcome expected, answered, logged;
    struct command read;
    const struct span text = call->commands[index], answer = call->reply.lines[index + 1];
    const bool wins_run = pair->head.seq - pair->head.done < pair->head.lag_max;
    if (command->type == COMMAND_RESERVE)
        command->reserve.pending_from = pair->head.told + 1;
    engine_apply(&pair->engine, command, command->type != COMMAND_RESERVE || wins_run, &expected);
    pair->answers[expected.answer]++;
    if (expected.answer == ANSWER_CONFLICT && expected.detail < CONFLICTS)
        pair->conflicts[expected.detail]++;
    if (outcome_text_read(answer, &answered) != STATUS_OK)
        return differ(pair, "%.*s: can't read the answer \"%.*s\"", TEXT(text), TEXT(answer));
    if (!outcomes_same(&expected, &answered))
        return differ(pair, "%.*s: the script answers \"%.*s\", the engine " ENGINE_SAYS,
            TEXT(text), TEXT(answer), expected.answer, expected.detail, expected.ticket,
            expected.pay_by_ms, expected.applied, expected.free, expected.number);
    if (!expected.changed)
        return true;
    pair->head.seq++;
    struct span line = SPAN_NONE;
    span_take_until(lines, '\n', &line);
    if (line.size != text.size + 3 + answer.size || memcmp(line.data, text.data, text.size) != 0
        || memcmp(line.data + text.size, " = ", 3) != 0
        || memcmp(line.data + text.size + 3, answer.data, answer.size) != 0)
        return differ(pair, "%.*s: the record is \"%.*s\"", TEXT(text), TEXT(line));
    if (record_text_read(line, command->time_ms, &read, &logged) != STATUS_OK
        || !command_is(&read, text, command->time_ms) || !outcomes_same(&logged, &expected))
        return differ(pair, "%.*s: the record reads as something else", TEXT(line));
    return true;
}

static bool head_compare(struct pair *pair, const struct call *call, uint64_t time_ms)
{
    struct script_head head;
    const struct span text = call->reply.lines[0];
    if (script_head_read(text, &head) != STATUS_OK || head.epoch != pair->head.epoch
        || head.seq != pair->head.seq || head.done != pair->head.done
        || head.told != pair->head.told || head.time_ms != time_ms)
        return differ(pair, "the head is \"%.*s\", not %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
            TEXT(text), pair->head.epoch, pair->head.seq, pair->head.done, pair->head.told, time_ms);
    return true;
}

static bool entry_compare(struct pair *pair, const struct call *call, bool changed, uint64_t time_ms)
{
    const struct entry *entry = &call->entry;
    char id[64], time[32], epoch[16];
    pair->entries += changed;
    if (entry->entries != pair->entries)
        return differ(pair, "the stream has %" PRIu64 " entries, not %" PRIu64, entry->entries,
            pair->entries);
    if (!changed)
        return true;
    snprintf(id, sizeof id, "%" PRIu64 "-0", pair->head.seq);
    snprintf(time, sizeof time, "%" PRIu64, time_ms);
    snprintf(epoch, sizeof epoch, "%u", pair->head.epoch);
    if (strcmp(entry->id, id) != 0 || strcmp(entry->time, time) != 0 || strcmp(entry->epoch, epoch) != 0)
        return differ(pair, "the entry is %s of epoch %s at %s, not %s of %s at %s", entry->id,
            entry->epoch, entry->time, id, epoch, time);
    return true;
}

static bool state_is_small(const struct engine *engine)
{
    return engine->tickets.last + engine->buyers.rows_end + engine->places.count + engine->keys.count
        < SMALL_STATE;
}

static bool call_do(struct pair *pair, const struct step *step, const struct command *commands,
    const struct purchase_door *doors)
{
    static struct call call;
    const uint64_t seq_before = pair->head.seq;
    call_write(&call, step, commands, doors);
    pair->runner->call(pair->runner, call.words, call.word_count, &call.reply);
    if (call.reply.wrong[0] != 0)
        return differ(pair, "%.*s …: %s", TEXT(call.commands[0]), call.reply.wrong);
    if (call.reply.count != step->count + 1)
        return differ(pair, "%u answers to %u commands", call.reply.count - 1, step->count);
    pair->runner->entry(pair->runner, &call.entry);
    const uint64_t time_ms = step->time_ms > pair->head.time_ms ? step->time_ms : pair->head.time_ms;
    struct span lines = span_from_string(call.entry.lines);
    for (uint32_t i = 0; i < step->count; i++) {
        struct command command = commands[i];
        struct script_refusal refusal;
        command.time_ms = time_ms;
        if (door_refuses(pair, &doors[i], &command, &refusal)) {
            if (!refusal_compare(pair, &call, i, &refusal))
                return false;
            continue;
        }
        if (!command_compare(pair, &call, i, &command, &lines))
            return false;
    }
    const bool changed = pair->head.seq != seq_before;
    if (changed)
        pair->head.time_ms = time_ms;
    if (changed && lines.size != 0)
        return differ(pair, "records that nobody asked for: %.*s", TEXT(lines));
    if (!head_compare(pair, &call, time_ms) || !entry_compare(pair, &call, changed, time_ms))
        return false;
    if (++pair->calls % pair->compare_every != 0 && !state_is_small(&pair->engine))
        return true;
    return pair_compare(pair);
}

/* ---- what happens between calls ---- */

static bool done_do(struct pair *pair, const struct step *step)
{
    struct reply reply;
    char text[64];
    snprintf(text, sizeof text, "done %" PRIu64 " %" PRIu64, step->seq, step->ticket);
    const struct span words[] = { SPAN("1"), span_from_string(text) };
    pair->runner->call(pair->runner, words, 2, &reply);
    const bool beyond = step->seq > pair->head.seq || step->ticket > pair->engine.tickets.last;
    if (beyond != (reply.wrong[0] != 0))
        return differ(pair, "%s: \"%s\"", text, reply.wrong);
    if (!beyond && step->seq > pair->head.done)
        pair->head.done = step->seq;
    if (!beyond && step->ticket > pair->head.told)
        pair->head.told = step->ticket;
    return true;
}

static void reclaim_do(struct pair *pair)
{
    struct outcome outcome;
    const struct command command = { .type = COMMAND_RECLAIM,
        .time_ms = pair->head.time_ms,
        .reclaim = { .before_ms = pair->head.time_ms, .rows = RECLAIM_ROWS_MAX } };
    engine_apply(&pair->engine, &command, true, &outcome);
}

bool pair_step(struct pair *pair, const struct step *step, const struct command *commands,
    const struct purchase_door *doors)
{
    switch (step->kind) {
    case STEP_CALL:
        return call_do(pair, step, commands + step->first, doors + step->first);
    case STEP_DONE:
        return done_do(pair, step);
    case STEP_RECLAIM:
        reclaim_do(pair);
        break;
    case STEP_REOPEN:
        break;
    }
    partition_load(pair);
    return true;
}
