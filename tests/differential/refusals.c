/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/differential/refusals.h"

#include "tests/differential/pair.h"

#include <stdio.h>

static struct pair pair;

static const struct profile profile = { .config = { .items_max = 4, .sales_max = 2, .tickets_max = 40 },
    .lag_max = 100 };

/* The call ends with this error, and all is as it was. */
static bool refused(const struct span *words, uint32_t count, const char *error)
{
    static struct reply reply;
    static struct entry entry;
    pair.runner->call(pair.runner, words, count, &reply);
    pair.runner->entry(pair.runner, &entry);
    const bool good = strncmp(reply.wrong, error, strlen(error)) == 0 && pair_compare(&pair)
        && entry.entries == pair.entries && pair.runner->door_keys(pair.runner) == 0;
    if (!good)
        printf("FAIL: %.*s … ends with \"%s\", not %s; %s\n", count > 1 ? (int)words[1].size : 0,
            count > 1 ? words[1].data : "", reply.wrong, error, pair.wrong);
    return good;
}

static uint32_t texts_check(void)
{
    static const char *const bad[] = { "", "reserve", "reserve 0000000000000001 0 1 1 0 0 0",
        "reclaim 1 1 1", "settle 1 1 0 2 0 0", "settle 1 1 0 0 0 1",
        "settle 1 1 0 0 0 5 0 0 1 0 0 1 0 0 1 0 0 1 0 0 1", "sale 1 0 1 2 0 0 0 0",
        "sale 1 0 1 2 0 0 0 0 x", "preheat 1 1", "gate 1", "users 1 2 0", "adjust 1 0 1.5 0",
        "adjust 1 0 1 2", "move 1 0 1 -1", "arrive 1", "admit 1 x", "done 1 0", "done 0 1", "done x 0" };
    uint32_t wrong = 0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct span words[] = { SPAN("1000"), span_from_string(bad[i]) };
        wrong += !refused(words, 2, "BADCOMMAND");
    }
    return wrong;
}

#define USER SPAN("0000000000000001")
#define KEY SPAN("0")
#define WORDS "1 1 0 0 0"

static uint32_t purchases_check(void)
{
    static const char *const bad[] = { "", "1 1 0 0", WORDS " ", " " WORDS, WORDS " 0", "1 -1 0 0 0",
        WORDS " door", WORDS " door 5 1 1", WORDS " door x 1 1 1", WORDS " door 5 1 1 1 1",
        WORDS " door 5 -1 1 1", WORDS " door 5 1 61 1", WORDS " window 5 1 1 1" };
    uint32_t wrong = 0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct span words[] = { SPAN("1000"), SPAN("reserve"), USER, KEY, SPAN(WORDS), USER,
            KEY, span_from_string(bad[i]) };
        wrong += !refused(words, 8, "BADCOMMAND");
    }
    const struct span no_user[] = { SPAN("1000"), SPAN("reserve"), SPAN("1g"), KEY,
        SPAN(WORDS " door 5 1 1 1") };
    return wrong + !refused(no_user, 5, "BADCOMMAND");
}

static bool command_do(const struct command *command)
{
    const struct step step = { .kind = STEP_CALL, .time_ms = 1000, .count = 1 };
    return pair_step(&pair, &step, command, &(struct purchase_door){ 0 });
}

/* A purchase that would win, after another one that does: neither the user nor the key is taken as it is. */
static uint32_t wins_check(void)
{
    const struct command sale = { .type = COMMAND_SALE,
        .sale = { .sale = 1, .start_ms = 1, .end_ms = 9999 } };
    const struct command item = { .type = COMMAND_PREHEAT,
        .preheat = { .item = 1, .sale = 1, .total = 9, .channel_units = { 9 } } };
    const struct span bad_user[] = { SPAN("1000"), SPAN("reserve"), USER, KEY, SPAN(WORDS),
        SPAN("1g"), KEY, SPAN(WORDS) };
    const struct span bad_key[] = { SPAN("1000"), SPAN("reserve"), USER, KEY, SPAN(WORDS),
        SPAN("2"), SPAN("1g"), SPAN(WORDS) };
    if (!command_do(&sale) || !command_do(&item))
        return printf("FAIL: %s\n", pair.wrong) > 0;
    return (uint32_t)!refused(bad_user, 8, "BADCOMMAND") + !refused(bad_key, 8, "BADCOMMAND");
}

static uint32_t shapes_check(void)
{
    struct span words[RUNNER_WORDS_MAX] = { SPAN("1000"), SPAN("reserve") };
    const struct span no_time[] = { SPAN("soon"), SPAN("reserve"), USER, KEY, SPAN(WORDS) };
    const struct span nothing[] = { SPAN("1000") };
    const struct span two[] = { SPAN("1000"), SPAN("ask-sale 1"), SPAN("ask-sale 1") };
    for (uint32_t i = 2; i < RUNNER_WORDS_MAX; i += PURCHASE_WORDS) {
        words[i] = USER;
        words[i + 1] = KEY;
        words[i + 2] = SPAN(WORDS);
    }
    uint32_t wrong = !refused(words, RUNNER_WORDS_MAX, "BADCOMMAND"); /* one too many */
    for (uint32_t count = 2; count < 5; count++)                      /* none, and a part of one */
        wrong += !refused(words, count, "BADCOMMAND");
    wrong += !refused(words, 7, "BADCOMMAND");
    wrong += !refused(no_time, 5, "BADCOMMAND");
    wrong += !refused(nothing, 1, "BADCOMMAND");
    wrong += !refused(two, 3, "BADCOMMAND");
    return wrong;
}

/* Another epoch, later or earlier; and a server that has lost the partition. */
static uint32_t fence_check(struct runner *runner)
{
    const struct span words[] = { SPAN("1000"), SPAN("sale 1 0 1 2 0 0 0 0 0") };
    uint32_t wrong = 0;
    for (uint32_t epoch = RUNNER_EPOCH - 1; epoch <= RUNNER_EPOCH + 1; epoch += 2) {
        char text[16];
        snprintf(text, sizeof text, "%u", epoch);
        pair.head.epoch = epoch;
        runner->put(runner, SCRIPT_KEY_PART, SPAN("epoch"), span_from_string(text));
        wrong += !refused(words, 2, "FENCED");
    }
    runner->clear(runner);
    static struct reply reply;
    runner->call(runner, words, 2, &reply);
    if (strncmp(reply.wrong, "FENCED", 6) != 0 || runner->hash(runner, SCRIPT_KEY_PART)->count != 0)
        wrong += printf("FAIL: an empty server answers \"%s\"\n", reply.wrong) > 0;
    return wrong;
}

uint32_t refusals_check(struct runner *runner)
{
    pair_open(&pair, runner, &profile);
    pair.compare_every = 1;
    const uint32_t wrong =
        texts_check() + purchases_check() + shapes_check() + wins_check() + fence_check(runner);
    pair_close(&pair);
    return wrong;
}
