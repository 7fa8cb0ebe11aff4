/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fuzz/human_fuzz.c: the body of a request for a pass. As it comes it is never accepted: the keys
 * are made anew for each run. Its bytes as a payload that we sign the challenge of may be read, but are
 * never solved by chance twice: what was accepted once is spent. */
#include "base/arena.h"
#include "base/base64.h"
#include "base/random.h"
#include "funnel/human/altcha.h"
#include "funnel/human/human.h"
#include "funnel/human/suspicion.h"
#include "funnel/json_cursor.h"
#include "funnel/keys.h"
#include "funnel/spent.h"

#define NOW_MS (UINT64_C(1700000000) * 1000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct human *human_open(void)
{
    static struct arena arena;
    static struct funnel_keys keys;
    static struct human human;
    if (human.keys == NULL) {
        uint8_t master[FUNNEL_MASTER_BYTES];
        random_secret(master, sizeof master);
        invariant(funnel_keys_derive(&keys, master, sizeof master) == STATUS_OK);
        invariant(arena_open(&arena, 2 * spent_bytes(1000) + 2 * suspicion_bytes() + 4096) == STATUS_OK);
        human = (struct human){ .keys = &keys,
            .spent = spent_create(&arena, 1000),
            .tries = spent_create(&arena, 1000),
            .failures = suspicion_create(&arena, HUMAN_FAILURES_HALF_S),
            .passes = suspicion_create(&arena, HUMAN_PASSES_HALF_S),
            .pow_hashes = 16,
            .life_s = 120 };
    }
    return &human;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint64_t now_ms = NOW_MS;
    const struct human *human = human_open();
    now_ms += 20 * HUMAN_FAILURES_HALF_S * 1000; /* earlier failures are forgotten */
    struct human_visit visit = { .asked = HUMAN_SLIDER, .item = 7, .user = 1, .now_ms = now_ms };
    invariant(human_judge(human, &visit, span_of(data, size)) != HUMAN_PASSED);

    /* The same bytes as the JSON inside. */
    char payload[BASE64_STANDARD_CHARS(ALTCHA_PAYLOAD_BYTES_MAX)];
    struct altcha_challenge challenge;
    if (size <= ALTCHA_PAYLOAD_BYTES_MAX) {
        const size_t chars = base64_standard_encode(data, size, payload);
        invariant(altcha_check(span_of(payload, chars), human->keys->human, 7, 1, NOW_MS, &challenge)
            != ALTCHA_SOLVED);
    }
    return 0;
}
