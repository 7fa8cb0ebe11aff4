/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/allocation.h"

#include "base/status.h"

enum { RATE_ONE = 1000 * 1000 * 1000 };

__extension__ typedef unsigned __int128 wide;

bool allocation_weights_are_good(const struct allocation_weights *weights)
{
    const uint64_t sum = (uint64_t)weights->sales + weights->conversion + weights->value;
    return sum >= WEIGHTS_ONE - WEIGHTS_ROUNDING && sum <= WEIGHTS_ONE + WEIGHTS_ROUNDING;
}

static uint64_t sum_of(const uint64_t *numbers, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += numbers[i];
    return sum;
}

/* Shares `units` out in proportion to `weights`; all 0: equally. Their sum fits 64 bits. */
static void share_out(uint32_t units, const uint64_t *weights, uint32_t count, uint32_t *out)
{
    static const uint64_t equal[CHANNELS_MAX] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    static_assert(CHANNELS_MAX == 8, "a one for each");
    uint64_t rest[CHANNELS_MAX], sum = sum_of(weights, count);
    uint32_t left = units;
    bool served[CHANNELS_MAX] = { false };
    invariant(count > 0 && count <= CHANNELS_MAX);
    if (sum == 0) {
        weights = equal;
        sum = count;
    }
    for (uint32_t i = 0; i < count; i++) {
        const wide exact = (wide)units * weights[i];
        out[i] = (uint32_t)(exact / sum);
        rest[i] = (uint64_t)(exact % sum);
        left -= out[i];
    }
    invariant(left < count);
    for (; left > 0; left--) {
        uint32_t next = CHANNELS_MAX;
        for (uint32_t i = 0; i < count; i++)
            if (!served[i]
                && (next == CHANNELS_MAX || rest[i] > rest[next]
                    || (rest[i] == rest[next] && weights[i] > weights[next])))
                next = i;
        invariant(next < count); /* fewer are left than there are */
        served[next] = true;
        out[next]++;
    }
}

void allocation_units(uint32_t units, const uint32_t *shares, uint32_t count, uint32_t *out)
{
    uint64_t weights[CHANNELS_MAX];
    invariant(count <= CHANNELS_MAX);
    for (uint32_t i = 0; i < count; i++)
        weights[i] = shares[i];
    share_out(units, weights, count, out);
}

/* Thousandths of the smallest unit. */
static uint64_t mean_value(const struct sales_figures *figures)
{
    return figures->orders == 0 ? 0 : (uint64_t)((wide)figures->value * 1000 / figures->orders);
}

static uint64_t conversion_rate(const struct sales_figures *figures)
{
    if (figures->visits == 0)
        return 0;
    return figures->orders >= figures->visits
        ? RATE_ONE
        : (uint64_t)((wide)figures->orders * RATE_ONE / figures->visits);
}

void allocation_shares(const struct sales_figures *figures, uint32_t count,
    const struct allocation_weights *weights, struct allocation *out)
{
    uint64_t numbers[CHANNELS_MAX] = { 0 };
    invariant(count > 0 && count <= CHANNELS_MAX && allocation_weights_are_good(weights));
    *out = (struct allocation){ .conversion_known = true };
    for (uint32_t i = 0; i < count; i++) {
        invariant(figures[i].units <= FIGURE_MAX && figures[i].value <= FIGURE_VALUE_MAX);
        out->conversion_known &= figures[i].orders == 0 || figures[i].visits > 0;
        numbers[i] = figures[i].units;
    }
    share_out(SHARE_ONE, numbers, count, out->sales);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = out->conversion_known ? conversion_rate(&figures[i]) : 0;
    out->conversion_known &= sum_of(numbers, count) > 0;
    share_out(SHARE_ONE, numbers, count, out->conversion);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = mean_value(&figures[i]);
    share_out(SHARE_ONE, numbers, count, out->value);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = (uint64_t)weights->sales * out->sales[i]
            + (uint64_t)weights->conversion * out->conversion[i]
            + (uint64_t)weights->value * out->value[i];
    share_out(SHARE_ONE, numbers, count, out->share);
}

uint32_t allocation_moves(
    const uint32_t *now, const uint32_t *wanted, uint32_t count, struct allocation_move *moves)
{
    int64_t over[CHANNELS_MAX];
    uint32_t from = 0, to = 0, made = 0;
    invariant(count <= CHANNELS_MAX);
    for (uint32_t i = 0; i < count; i++)
        over[i] = (int64_t)now[i] - wanted[i];
    for (;;) {
        while (from < count && over[from] <= 0)
            from++;
        while (to < count && over[to] >= 0)
            to++;
        if (from == count || to == count)
            return made;
        const int64_t quantity = over[from] < -over[to] ? over[from] : -over[to];
        moves[made++] =
            (struct allocation_move){ (channel_index)from, (channel_index)to, (uint32_t)quantity };
        over[from] -= quantity;
        over[to] += quantity;
    }
}
