/* Does the time of refusing a forged pass tell how much of its signature was right?
 *
 * DESIGN
 * Two kinds of forgeries of one pass: wrong in the first byte of the signature, and wrong in the last.
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
    MAC_AT = TOKEN_SIGNED_BYTES,
    MAC_BYTES = TOKEN_BYTES - TOKEN_SIGNED_BYTES,
};
#define NOW_MS (UINT64_C(1700000000) * 1000)

struct kind {
    double count, mean, squares; /* Welford's */
};

struct subject {
    const char *name;
    bool (*refuses)(struct span text);
};

/* A line of the cache each: where they lie must not make a difference. */
struct forgery {
    alignas(64) char text[TOKEN_CHARS];
};

static struct funnel_keys keys;
static uint8_t right[TOKEN_BYTES];

static inline uint64_t ticks(void)
{
#ifdef __x86_64__
    unsigned processor;
    return __builtin_ia32_rdtscp(&processor); /* waits for what came before */
#else
    return clock_monotonic_ns();
#endif
}

static bool pass_refused(struct span text)
{
    struct pass pass;
    return pass_verify(&keys, text, NOW_MS, &pass) != TOKEN_OK;
}

/* What must never be: compares byte by byte and stops at the first that differs. */
static bool leak_refused(struct span text)
{
    uint8_t bytes[TOKEN_BYTES];
    size_t size = sizeof bytes;
    if (base64_decode(text, bytes, &size) != STATUS_OK)
        return true;
    for (volatile unsigned i = MAC_AT; i < TOKEN_BYTES; i++)
        if (bytes[i] != right[i])
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

static uint64_t sample(const struct subject *subject, const struct forgery forged[2], unsigned kind)
{
    alignas(64) char text[TOKEN_CHARS]; /* one place for both, so that only the content differs */
    memcpy(text, forged[kind].text, TOKEN_CHARS);
    const uint64_t start = ticks();
    const bool refused = subject->refuses(span_of(text, TOKEN_CHARS));
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
    const struct subject *subject, const struct forgery forged[2], struct random *random)
{
    static uint64_t times[CROP_SAMPLES];
    for (unsigned i = 0; i < CROP_SAMPLES; i++)
        times[i] = sample(subject, forged, (unsigned)random_below(random, 2));
    qsort(times, CROP_SAMPLES, sizeof *times, by_size);
    return times[CROP_SAMPLES / 100 * CROP_PERCENT];
}

static void measure(const struct subject *subject, const struct forgery forged[2], uint64_t samples)
{
    struct kind kinds[2] = { { .count = 0 }, { .count = 0 } };
    struct random random;
    random_seed(&random, 7);
    const uint64_t most = crop_find(subject, forged, &random);
    for (uint64_t i = 0; i < samples; i++) {
        const unsigned kind = (unsigned)random_below(&random, 2);
        const uint64_t took = sample(subject, forged, kind);
        if (took <= most)
            kind_add(&kinds[kind], (double)took);
    }
    printf("\"%s\":{\"t\":%.2f,\"first_byte\":%.2f,\"last_byte\":%.2f,\"counted\":%.0f}", subject->name,
        welch_t(&kinds[0], &kinds[1]), kinds[0].mean, kinds[1].mean, kinds[0].count + kinds[1].count);
}

int main(int argc, char **argv)
{
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
    char text[TOKEN_CHARS];
    struct forgery forged[2];
    const struct pass pass = { .user = 77, .item = 5, .expires_s = 1700000300, .nonce = 9 };
    pass_issue(&keys, &pass, text);
    size_t size = sizeof right;
    const enum status decoded = base64_decode(span_of(text, TOKEN_CHARS), right, &size);
    invariant(decoded == STATUS_OK);
    for (unsigned kind = 0; kind < 2; kind++) {
        uint8_t bytes[TOKEN_BYTES];
        memcpy(bytes, right, sizeof bytes);
        bytes[kind == 0 ? MAC_AT : MAC_AT + MAC_BYTES - 1] ^= 0x55;
        base64_encode(bytes, sizeof bytes, forged[kind].text);
    }
    printf("{\"samples\":%" PRIu64 ",", samples);
    for (unsigned i = 0; i < 2; i++) {
        measure(&subjects[i], forged, samples);
        printf(i == 0 ? "," : "}\n");
    }
    return 0;
}
