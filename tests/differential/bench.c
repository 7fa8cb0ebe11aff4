/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/differential/bench.h"

#include "base/clock.h"
#include "inventory/redis/command_text.h"
#include "tests/differential/pair.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SHARES = 41, /* of a row, each beside one of the yardstick */
    SHARE = 512,
    PURCHASES = SHARES * SHARE,
    UNITS = 10 * 1000 * 1000,
    DOOR_BATCH = 16,
};

static struct pair pair;

static void command_do(const struct command *command)
{
    const struct step step = { .kind = STEP_CALL, .time_ms = 1000, .count = 1 };
    invariant(pair_step(&pair, &step, command, &(struct purchase_door){ 0 }));
}

/* Item 1 has units, item 2 has none; a limit of one per item and of two in the sale. */
static void sale_make(struct runner *runner)
{
    const struct profile profile = {
        .config = { .items_max = 4, .sales_max = 2, .tickets_max = 1000 * 1000 }, .lag_max = UINT32_MAX
    };
    pair_open(&pair, runner, &profile);
    pair.compare_every = 1;
    command_do(&(struct command){ .type = COMMAND_SALE,
        .sale = { .sale = 1, .limit_per_user = 2, .start_ms = 1, .end_ms = COMMAND_TEXT_TIME_MAX } });
    for (item_id item = 1; item <= 2; item++) {
        const uint32_t units = item == 1 ? UNITS : 0;
        command_do(&(struct command){ .type = COMMAND_PREHEAT,
            .preheat = { .item = item,
                .sale = 1,
                .unit_price = 9900,
                .limit_per_user = 1,
                .pay_window_ms = 60000,
                .total = units,
                .channel_units = { units } } });
    }
}

struct row {
    item_id item; /* 1: wins, 2: refusals */
    bool door;    /* each with the mark of a pass, and a window */
    uint32_t batch;
};

/* True: each got the answer that was expected. */
static bool call_time(struct runner *runner, const struct row *row, uint64_t *next, uint64_t *ns)
{
    static char texts[SCRIPT_PURCHASES_MAX][COMMAND_TEXT_MAX];
    struct span words[RUNNER_WORDS_MAX] = { SPAN("0"), SPAN("reserve") }; /* 0: the server's time */
    static struct reply reply;
    for (uint32_t i = 0; i < row->batch; i++) {
        const uint64_t number = ++*next;
        struct text text = text_in(texts[i], sizeof texts[i]);
        const struct command command = { .type = COMMAND_RESERVE,
            .reserve = { .user = number * 0x9e3779b97f4a7c15u,
                .key = ~(number * 0x9e3779b97f4a7c15u),
                .item = row->item,
                .quantity = 1 } };
        const struct purchase_door door = { .mark = command.reserve.key,
            .mark_until_ms = COMMAND_TEXT_TIME_MAX,
            .requests = 10,
            .window_ms = 1000 };
        invariant(purchase_text_write(
                      &text, &command, row->door ? &door : NULL, &words[2 + PURCHASE_WORDS * i])
            == STATUS_OK);
    }
    const uint64_t began = clock_monotonic_ns();
    runner->call(runner, words, 2 + PURCHASE_WORDS * row->batch, &reply);
    *ns += clock_monotonic_ns() - began;
    const char expected = row->item == 1 ? '1' : '8';
    for (uint32_t i = 1; i <= row->batch; i++)
        if (reply.count != row->batch + 1 || reply.lines[i].data[0] != expected)
            return false;
    return true;
}

/* What one share of the purchases cost the processor: ours, and the yardstick's, as many at once. */
struct share {
    double us, yard_us;
};

/* The yardstick: microseconds of processor a purchase; 0: there is none. */
static double plain_us(struct runner *runner, bool sold_out, uint32_t batch, uint64_t *next)
{
    if (runner->plain == NULL)
        return 0;
    const double before_us = runner->cpu_us(runner);
    for (uint32_t left = SHARE; left > 0; left -= batch) {
        invariant(runner->plain(runner, sold_out, *next + 1, batch) == (sold_out ? 0 : batch));
        *next += batch;
    }
    return (runner->cpu_us(runner) - before_us) / SHARE;
}

static bool share_run(
    struct runner *runner, const struct row *row, uint64_t *next, struct share *share, uint64_t *ns)
{
    share->yard_us = plain_us(runner, row->item != 1, row->batch, next);
    const double before_us = runner->cpu_us(runner);
    for (uint32_t left = SHARE; left > 0; left -= row->batch)
        if (!call_time(runner, row, next, ns))
            return false;
    share->us = (runner->cpu_us(runner) - before_us) / SHARE;
    return true;
}

static int number_order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *numbers)
{
    qsort(numbers, SHARES, sizeof *numbers, number_order);
    return numbers[SHARES / 2];
}

/* Ours and the yardstick take turns, and the median of their ratios counts: what else runs on the machine
 * makes both slower. */
static bool row_print(struct runner *runner, const struct row *row, uint64_t *next)
{
    uint64_t ns = 0;
    double us[SHARES], yard_us[SHARES], ratio[SHARES];
    if (runner->plain != NULL)
        runner->plain(runner, row->item != 1, ++*next, 1); /* loads it */
    for (uint32_t i = 0; i < SHARES; i++) {
        struct share share;
        if (!share_run(runner, row, next, &share, &ns))
            return false;
        us[i] = share.us;
        yard_us[i] = share.yard_us;
        ratio[i] = share.yard_us > 0 ? share.us / share.yard_us : 0;
    }
    printf("%s%s in calls of %2u: %7.0f calls/s, %7.0f purchases/s, %6.2f us of processor each",
        row->item == 1 ? "wins    " : "refusals", row->door ? " with pass and window" : "", row->batch,
        (double)PURCHASES / row->batch * 1e9 / (double)ns, PURCHASES * 1e9 / (double)ns, median(us));
    if (runner->plain != NULL) {
        const double middle = median(ratio), yard_middle = median(yard_us);
        printf("; plain script %6.2f us: %.2f times (half of them %.2f to %.2f; the cheapest of "
               "each %.2f)",
            yard_middle, middle, ratio[SHARES / 4], ratio[SHARES * 3 / 4], us[0] / yard_us[0]);
    }
    printf("\n");
    return true;
}

static void bytes_print(struct runner *runner, uint32_t tickets)
{
    if (runner->bytes == NULL)
        return;
    for (uint32_t key = SCRIPT_KEY_USERS; key < SCRIPT_KEYS; key++)
        printf("%s %.0f bytes a ticket\n", script_key_names[key],
            (double)runner->bytes(runner, key) / tickets);
}

int bench_run(struct runner *runner, uint32_t only_batch)
{
    static const uint32_t batches[] = { 1, 16, 64 };
    enum { BATCHES = sizeof batches / sizeof *batches };
    uint64_t next = 0;
    bool good = true;
    static_assert(ANSWER_WON == 1 && ANSWER_SOLD_OUT == 8, "the first digit of the answer");
    sale_make(runner);
    for (item_id item = 1; item <= 2 && good; item++)
        for (size_t i = 0; i < BATCHES && good; i++)
            if (only_batch == 0 || only_batch == batches[i])
                good = row_print(runner, &(struct row){ item, false, batches[i] }, &next);
    for (item_id item = 1; item <= 2 && good && only_batch == 0; item++)
        good = row_print(runner, &(struct row){ item, true, DOOR_BATCH }, &next);
    if (!good)
        printf("FAIL: another answer than expected\n");
    else if (only_batch == 0)
        bytes_print(runner, (BATCHES + 1) * PURCHASES);
    pair_close(&pair);
    return good ? 0 : 1;
}
