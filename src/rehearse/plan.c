/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/plan.h"

#include "base/status.h"

enum {
    EARLY_PERCENT = 60,       /* of people who are there before the start */
    BOT_AHEAD_MS = 4000,      /* bots get session and pass so long before the start … */
    BOT_AHEAD_LAST_MS = 1500, /* … at the latest so long before it */
    PEOPLE_NET = 0x0a000000,  /* 10.0.0.0/8: an address for each person */
    BOTS_NET = 0xac100000,    /* 172.16.0.0/12 */
    HAMMERS_PER_ADDRESS = 5,
    ACCOUNTS_PER_ADDRESS = 50,
};

const char *const visitor_labels[VISITOR_KINDS] = {
#define VISITOR(name, label, percent) label,
    VISITOR_LIST(VISITOR)
#undef VISITOR
};

/* splitmix64: each number follows from seed, visitor and count alone, so the order of events changes none. */
uint64_t plan_draw(uint64_t seed, struct visitor *visitor, uint64_t bound)
{
    uint64_t mixed =
        seed + 0x9e3779b97f4a7c15u * ((uint64_t)visitor->number << 16 | (visitor->draws++ & 0xffff));
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    mixed ^= mixed >> 31;
    return (uint64_t)((unsigned __int128)mixed * bound >> 64);
}

static enum visitor_kind bot_kind(uint64_t percent)
{
    static const uint8_t shares[VISITOR_KINDS] = {
#define VISITOR(name, label, share) share,
        VISITOR_LIST(VISITOR)
#undef VISITOR
    };
    for (uint32_t kind = 0; kind < VISITOR_KINDS; kind++) {
        if (percent < shares[kind])
            return (enum visitor_kind)kind;
        percent -= shares[kind];
    }
    return VISITOR_HAMMER;
}

static uint16_t item_choose(uint64_t seed, const struct sale_facts *facts, struct visitor *visitor)
{
    uint64_t all = 0, left;
    for (uint32_t i = 0; i < facts->item_count; i++)
        all += facts->units[i];
    if (all == 0)
        return 0;
    left = plan_draw(seed, visitor, all);
    for (uint16_t i = 0; i < facts->item_count; i++) {
        if (left < facts->units[i])
            return i;
        left -= facts->units[i];
    }
    return 0;
}

/* Most are there before the start, more of them the nearer it is; the others come less and less. */
static uint64_t person_comes(
    const struct plan_options *options, const struct sale_facts *facts, struct visitor *visitor)
{
    const bool early = plan_draw(options->seed, visitor, 100) < EARLY_PERCENT;
    const uint64_t span = early ? facts->start_ns : options->late_s * NS_PER_S;
    const uint64_t one = plan_draw(options->seed, visitor, span + 1);
    const uint64_t other = plan_draw(options->seed, visitor, span + 1);
    if (early)
        return one > other ? one : other;
    return facts->start_ns + (one < other ? one : other);
}

static uint64_t bot_comes(
    const struct plan_options *options, const struct sale_facts *facts, struct visitor *visitor)
{
    const uint64_t ahead = plan_between_ns(options->seed, visitor, BOT_AHEAD_LAST_MS, BOT_AHEAD_MS);
    return ahead < facts->start_ns ? facts->start_ns - ahead : 0;
}

static enum mood mood_draw(const struct plan_options *options, struct visitor *visitor)
{
    const uint64_t percent = plan_draw(options->seed, visitor, 100);
    if (percent < options->pays_percent)
        return MOOD_PAYS;
    return plan_draw(options->seed, visitor, 3) == 0 ? MOOD_CANCELS : MOOD_LEAVES;
}

void plan_make(const struct plan_options *options, const struct sale_facts *facts, struct visitor *visitors)
{
    uint32_t people = 0, bots[VISITOR_KINDS] = { 0 };
    for (uint32_t i = 0; i < options->users; i++) {
        struct visitor *visitor = &visitors[i];
        *visitor = (struct visitor){ .number = i, .step = STEP_PAGE };
        const bool bot = plan_draw(options->seed, visitor, 100) < options->bots_percent;
        visitor->kind =
            (uint8_t)(bot ? bot_kind(plan_draw(options->seed, visitor, 100)) : VISITOR_HUMAN);
        visitor->item = item_choose(options->seed, facts, visitor);
        visitor->mood = (uint8_t)mood_draw(options, visitor);
        if (!bot) {
            visitor->address = PEOPLE_NET + ++people;
            visitor->due_ns = person_comes(options, facts, visitor);
            continue;
        }
        const uint32_t of_kind = bots[visitor->kind]++;
        const uint32_t together =
            visitor->kind == VISITOR_HAMMER ? HAMMERS_PER_ADDRESS : ACCOUNTS_PER_ADDRESS;
        visitor->step = STEP_SESSION;
        visitor->address = BOTS_NET + ((uint32_t)visitor->kind << 16) + of_kind / together;
        visitor->due_ns = bot_comes(options, facts, visitor);
        visitor->other = i == 0 ? 0 : (uint32_t)plan_draw(options->seed, visitor, i);
    }
}

void plan_make_measure(uint32_t count, double rate, struct visitor *visitors)
{
    invariant(rate > 0);
    for (uint32_t i = 0; i < count; i++)
        visitors[i] = (struct visitor){ .number = i,
            .kind = VISITOR_MEASURE,
            .step = STEP_MEASURE,
            .due_ns = (uint64_t)((double)i * 1e9 / rate) };
}
