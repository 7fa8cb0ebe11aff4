/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/caller_counts.h"

#include "base/arena.h"
#include "base/metrics.h"

#include <stdatomic.h>

enum { LINE_WORDS = 8, COUNT_BITS = 24, TRIES_MAX = 16 };
#define COUNT_MASK ((1ull << COUNT_BITS) - 1)

struct caller_counts {
    struct arena arena;
    struct hash_key key;
    uint64_t line_mask;
    uint32_t cap, v6_bits;
    _Atomic uint64_t *words; /* tag over count; count 0: free, whatever the tag */
};

COUNTER(uncounted_metric, "stampede_edge_callers_uncounted_total",
    "Connections that were not counted by address because the table was full.");

enum status caller_counts_create(struct caller_counts **out, uint32_t callers, uint32_t cap,
    uint32_t v6_bits, struct hash_key key)
{
    uint64_t words = LINE_WORDS;
    invariant(cap > 0 && cap <= CALLER_CAP_MAX);
    while (words < (uint64_t)callers * CALLER_SPARE)
        words *= 2;
    struct caller_counts *counts = *out = arena_object(sizeof *counts, words * sizeof *counts->words);
    if (counts == NULL)
        return STATUS_FULL;
    counts->key = key;
    counts->line_mask = words / LINE_WORDS - 1;
    counts->cap = cap;
    counts->v6_bits = v6_bits;
    counts->words = arena_take(&counts->arena, words, sizeof *counts->words);
    return STATUS_OK;
}

void caller_counts_free(struct caller_counts *counts)
{
    arena_object_free(counts);
}

static _Atomic uint64_t *line_of(struct caller_counts *counts, const struct address *caller, uint64_t *tag)
{
    const struct address group = address_group(caller, counts->v6_bits);
    const uint64_t hash = address_hash(counts->key, &group);
    *tag = hash >> COUNT_BITS;
    return &counts->words[(hash & counts->line_mask) * LINE_WORDS];
}

/* The caller's word, else the first free one, else NULL. */
static _Atomic uint64_t *word_find(_Atomic uint64_t *line, uint64_t tag, uint64_t *seen)
{
    _Atomic uint64_t *free_word = NULL;
    uint64_t free_seen = 0;
    for (uint32_t i = 0; i < LINE_WORDS; i++) {
        const uint64_t word = atomic_load(&line[i]);
        if ((word & COUNT_MASK) != 0 && word >> COUNT_BITS == tag) {
            *seen = word;
            return &line[i];
        }
        if (free_word == NULL && (word & COUNT_MASK) == 0) {
            free_word = &line[i];
            free_seen = word;
        }
    }
    *seen = free_seen;
    return free_word;
}

enum caller_answer caller_enter(struct caller_counts *counts, const struct address *caller)
{
    uint64_t tag, seen;
    _Atomic uint64_t *line = line_of(counts, caller, &tag);
    for (int i = 0; i < TRIES_MAX; i++) {
        _Atomic uint64_t *word = word_find(line, tag, &seen);
        if (word == NULL)
            break;
        const uint64_t count = seen & COUNT_MASK;
        if (count >= counts->cap)
            return CALLER_TOO_MANY;
        if (atomic_compare_exchange_strong(word, &seen, tag << COUNT_BITS | (count + 1)))
            return CALLER_COUNTED;
    }
    metric_add(&uncounted_metric, 1);
    return CALLER_UNCOUNTED;
}

void caller_leave(struct caller_counts *counts, const struct address *caller, enum caller_answer entered)
{
    uint64_t tag;
    invariant(entered != CALLER_TOO_MANY);
    if (entered == CALLER_UNCOUNTED)
        return;
    /* Two threads may have found different free words for a new caller: either is one to take from. */
    _Atomic uint64_t *line = line_of(counts, caller, &tag);
    for (uint32_t i = 0; i < TRIES_MAX * LINE_WORDS; i++) { /* others may move theirs meanwhile */
        _Atomic uint64_t *at = &line[i % LINE_WORDS];
        uint64_t word = atomic_load(at);
        while ((word & COUNT_MASK) != 0 && word >> COUNT_BITS == tag)
            if (atomic_compare_exchange_weak(at, &word, word - 1))
                return;
    }
}
