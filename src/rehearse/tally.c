/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/tally.h"

struct tally_second *tally_now(struct tally *tally)
{
    const uint32_t most = sizeof tally->seconds / sizeof *tally->seconds - 1;
    return &tally->seconds[tally->seconds_count < most ? tally->seconds_count : most];
}

void tally_answer(struct tally *tally, const struct visitor *visitor, enum word word, uint64_t took_ns)
{
    const uint32_t who = tally_who(visitor);
    const enum step step = (enum step)visitor->step;
    struct tally_second *second = tally_now(tally);
    const bool served = word == WORD_SERVED || word == WORD_WON || word == WORD_DECIDING;
    tally->told[who][step][word]++;
    tally->unknown_words += word == WORD_OTHER;
    if (word == WORD_NO_ANSWER)
        return;
    latency_add(&tally->latency[who][step], took_ns);
    latency_add(&tally->second, took_ns);
    second->answered++;
    second->refused += !served;
    tally->paid += step == STEP_BANK && served;
    tally->cancelled += step == STEP_CANCEL && served;
}

void tally_second(struct tally *tally, uint32_t waiting)
{
    struct tally_second *second = tally_now(tally);
    second->p99_us = (uint32_t)(latency_quantile_ns(&tally->second, 990) / 1000);
    second->waiting = waiting;
    second->coming = tally->came - tally->over;
    latency_clear(&tally->second);
    if (tally->seconds_count < sizeof tally->seconds / sizeof *tally->seconds)
        tally->seconds_count++;
}

uint64_t tally_told(const struct tally *tally, enum step step, enum word word)
{
    return tally->told[WHO_PEOPLE][step][word] + tally->told[WHO_BOTS][step][word];
}

uint64_t tally_step(const struct tally *tally, enum step step)
{
    uint64_t all = 0;
    for (uint32_t word = 0; word < WORDS; word++)
        all += tally_told(tally, step, (enum word)word);
    return all;
}

uint64_t tally_word(const struct tally *tally, enum word word)
{
    uint64_t all = 0;
    for (uint32_t step = 0; step < STEPS; step++)
        all += tally_told(tally, (enum step)step, word);
    return all;
}

uint64_t tally_answers(const struct tally *tally)
{
    uint64_t all = 0;
    for (uint32_t step = 0; step < STEPS; step++)
        all += tally_step(tally, (enum step)step);
    return all - tally_word(tally, WORD_NO_ANSWER);
}

void tally_latency_add(struct latency *latency, const struct latency *from)
{
    latency->total += from->total;
    latency->max_ns = from->max_ns > latency->max_ns ? from->max_ns : latency->max_ns;
    for (uint32_t slot = 0; slot < LATENCY_SLOTS; slot++)
        latency->slots[slot] += from->slots[slot];
}
