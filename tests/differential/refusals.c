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
    const bool good =
        strncmp(reply.wrong, error, strlen(error)) == 0 && pair_compare(&pair) && entry.entries == 0;
    if (!good)
        printf("FAIL: %.*s … ends with \"%s\", not %s; %s\n", count > 1 ? (int)words[1].size : 0,
            count > 1 ? words[1].data : "", reply.wrong, error, pair.wrong);
    return good;
}

#define PURCHASE "reserve 0000000000000001 0 1 1 0 0 0"

static uint32_t texts_check(void)
{
    static const char *const bad[] = { "", "reserve", "reserve 0000000000000001 0 1 1 0 0 0 ",
        "reserve 1g 0 1 1 0 0 0", "reserve 0000000000000001 0 1 -1 0 0 0", "reclaim 1 1 1",
        "settle 1 1 0 2 0 0", "settle 1 1 0 0 0 1",
        "settle 1 1 0 0 0 5 0 0 1 0 0 1 0 0 1 0 0 1 0 0 1", "sale 1 0 1 2 0 0 0 0",
        "sale 1 0 1 2 0 0 0 0 x", "preheat 1 1", "gate 1", "users 1 2 0", "adjust 1 0 1.5",
        "move 1 0 1 -1", "arrive 1", "admit 1 x", "done 1 0", "done 0 1", "done x 0" };
    uint32_t wrong = 0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct span words[] = { SPAN("1000"), span_from_string(bad[i]) };
        wrong += !refused(words, 2, "BADCOMMAND");
    }
    return wrong;
}

static uint32_t shapes_check(void)
{
    struct span words[SCRIPT_PURCHASES_MAX + 2] = { SPAN("1000") };
    const struct span no_time[] = { SPAN("soon"), SPAN(PURCHASE) };
    const struct span nothing[] = { SPAN("1000") };
    const struct span second[] = { SPAN("1000"), SPAN(PURCHASE), SPAN("gate 1 0") };
    const struct span two[] = { SPAN("1000"), SPAN("ask-sale 1"), SPAN("ask-sale 1") };
    for (uint32_t i = 1; i < SCRIPT_PURCHASES_MAX + 2; i++)
        words[i] = SPAN(PURCHASE);
    uint32_t wrong = !refused(words, SCRIPT_PURCHASES_MAX + 2, "BADCOMMAND");
    wrong += !refused(no_time, 2, "BADCOMMAND");
    wrong += !refused(nothing, 1, "BADCOMMAND");
    wrong += !refused(second, 3, "BADCOMMAND");
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
    const uint32_t wrong = texts_check() + shapes_check() + fence_check(runner);
    pair_close(&pair);
    return wrong;
}
