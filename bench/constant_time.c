/* SPDX-License-Identifier: Apache-2.0 */
/* Does the time of refusing a forged pass tell how much of its signature was right?
 *
 * DESIGN
 * Two kinds of forgeries of many passes: wrong in the first byte of the signature, and wrong in the last.
 * Of many, because two texts differ in time by a hair for what is written in them, whatever is compared.
 * They come in random order, each timed alone by the processor's counter; what is slower than nine in ten
 * (interrupts, other programs) is left out, and Welch's t says how sure one can be that the means of the
 * two kinds differ. A comparison that stops at the first difference shows a t of hundreds; the same
 * measurement of such a one is printed beside ours, so that a t near zero can't come from a blind method.
 * Prints one line of JSON. Not a test: figures of a busy machine are for people (and a wide bound). */
#include "base/base64.h"
#include "base/clock.h"
#include "base/random.h"
#include "funnel/token.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES_DEFAULT = 2 * 1000 * 1000,
    SAMPLES_MAX = 1000 * 1000 * 1000,
    CROP_SAMPLES = 20000,
    CROP_PERCENT = 90,
    PASSES = 1024,
    MAC_AT = TOKEN_SIGNED_BYTES,
    MAC_BYTES = TOKEN_BYTES - TOKEN_SIGNED_BYTES,
};
#define NOW_MS (UINT64_C(1700000000) * 1000)

struct kind {
    double count, mean, squares; /* Welford's */
};

struct subject {
    const char *name;
    bool (*refuses)(struct span text, unsigned pass);
};

/* A line of the cache each: where they lie must not make a difference. */
struct forgery {
    alignas(64) char text[TOKEN_CHARS];
};
struct forgeries {
    struct forgery of[PASSES][2];
};

static struct funnel_keys keys;
static uint8_t right[PASSES][TOKEN_BYTES];

static inline uint64_t ticks(void)
{
#ifdef __x86_64__
    unsigned processor;
    return __builtin_ia32_rdtscp(&processor); /* waits for what came before */
#else
    return clock_monotonic_ns();
#endif
}

static bool pass_refused(struct span text, unsigned pass)
{
    struct pass read;
    (void)pass;
    return pass_verify(&keys, text, NOW_MS, &read) != TOKEN_OK;
}

/* What must never be: compares byte by byte and stops at the first that differs. */
static bool leak_refused(struct span text, unsigned pass)
{
    uint8_t bytes[TOKEN_BYTES];
    size_t size = sizeof bytes;
    if (base64_decode(text, bytes, &size) != STATUS_OK)
        return true;
    for (volatile unsigned i = MAC_AT; i < TOKEN_BYTES; i++)
        if (bytes[i] != right[pass][i])
            return true;
    return false;
}

static void kind_add(struct kind *kind, double value)
{
    kind->count++;
    const double off = value - kind->mean;
    kind->mean += off / kind->count;
    kind->squares += off * (value - kind->mean);
}

static double welch_t(const struct kind *a, const struct kind *b)
{
    const double spread = a->squares / (a->count - 1) / a->count + b->squares / (b->count - 1) / b->count;
    return spread > 0 ? (a->mean - b->mean) / sqrt(spread) : 0;
}

static uint64_t sample(const struct subject *subject, const struct forgeries *forged,
    struct random *random, unsigned *kind)
{
    alignas(64) char text[TOKEN_CHARS]; /* one place for all, so that only the content differs */
    const unsigned pass = (unsigned)random_below(random, PASSES);
    *kind = (unsigned)random_below(random, 2);
    memcpy(text, forged->of[pass][*kind].text, TOKEN_CHARS);
    const uint64_t start = ticks();
    const bool refused = subject->refuses(span_of(text, TOKEN_CHARS), pass);
    const uint64_t took = ticks() - start;
    invariant(refused);
    return took;
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static uint64_t crop_find(
    const struct subject *subject, const struct forgeries *forged, struct random *random)
{
    static uint64_t times[CROP_SAMPLES];
    unsigned kind;
    for (unsigned i = 0; i < CROP_SAMPLES; i++)
        times[i] = sample(subject, forged, random, &kind);
    qsort(times, CROP_SAMPLES, sizeof *times, by_size);
    return times[CROP_SAMPLES / 100 * CROP_PERCENT];
}

static void measure(const struct subject *subject, const struct forgeries *forged, uint64_t samples)
{
    struct kind kinds[2] = { { .count = 0 }, { .count = 0 } };
    struct random random;
    random_seed(&random, 7);
    const uint64_t most = crop_find(subject, forged, &random);
    for (uint64_t i = 0; i < samples; i++) {
        unsigned kind;
        const uint64_t took = sample(subject, forged, &random, &kind);
        if (took <= most)
            kind_add(&kinds[kind], (double)took);
    }
    printf("\"%s\":{\"t\":%.2f,\"first_byte\":%.2f,\"last_byte\":%.2f,\"counted\":%.0f}", subject->name,
        welch_t(&kinds[0], &kinds[1]), kinds[0].mean, kinds[1].mean, kinds[0].count + kinds[1].count);
}

static void forge(struct forgeries *forged)
{
    struct random random;
    random_seed(&random, 11);
    for (unsigned i = 0; i < PASSES; i++) {
        char text[TOKEN_CHARS];
        const struct pass pass = { .user = random_next(&random) | 1,
            .item = 5,
            .expires_s = 1700000300,
            .nonce = (uint32_t)random_next(&random) & PASS_NONCE_MAX };
        size_t size = TOKEN_BYTES;
        pass_issue(&keys, &pass, text);
        const enum status decoded = base64_decode(span_of(text, TOKEN_CHARS), right[i], &size);
        invariant(decoded == STATUS_OK);
        for (unsigned kind = 0; kind < 2; kind++) {
            uint8_t bytes[TOKEN_BYTES];
            memcpy(bytes, right[i], sizeof bytes);
            bytes[kind == 0 ? MAC_AT : MAC_AT + MAC_BYTES - 1] ^=
                (uint8_t)(1 + random_below(&random, 255));
            base64_encode(bytes, sizeof bytes, forged->of[i][kind].text);
        }
    }
}

int main(int argc, char **argv)
{
    static struct forgeries forged;
    static const char master[FUNNEL_MASTER_BYTES] = "a master secret to be timed, 32b";
    static const struct subject subjects[] = { { "pass", pass_refused }, { "leaky", leak_refused } };
    const uint64_t samples = argc > 1 ? strtoull(argv[1], NULL, 10) : SAMPLES_DEFAULT;
    if (samples < CROP_SAMPLES || samples > SAMPLES_MAX) {
        fprintf(stderr, "usage: constant_time [SAMPLES]\n");
        return 2;
    }
    const enum status status = funnel_keys_derive(&keys, master, sizeof master);
    invariant(status == STATUS_OK);
    funnel_keys_turn(&keys, NOW_MS);
    forge(&forged);
    printf("{\"samples\":%" PRIu64 ",", samples);
    for (unsigned i = 0; i < 2; i++) {
        measure(&subjects[i], &forged, samples);
        printf(i == 0 ? "," : "}\n");
    }
    return 0;
}
