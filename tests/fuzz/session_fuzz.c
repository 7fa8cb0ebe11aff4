/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fuzz/session_fuzz.c: whatever comes in as an Authorization header is no session.
 * The key is made anew for each run, so no input in a corpus can ever be a good one. */
#include "base/base64.h"
#include "base/random.h"
#include "funnel/token.h"

#define NOW_MS (UINT64_C(1700000000) * 1000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct funnel_keys *fresh_keys(void)
{
    static struct funnel_keys keys;
    if (keys.session.held == 0) {
        uint8_t master[FUNNEL_MASTER_BYTES];
        random_secret(master, sizeof master);
        invariant(funnel_keys_derive(&keys, master, sizeof master) == STATUS_OK);
        funnel_keys_turn(&keys, NOW_MS);
    }
    return &keys;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct funnel_keys *keys = fresh_keys();
    struct session session;
    struct span header = span_of(data, size), token = SPAN_NONE;
    invariant(session_verify(keys, header, NOW_MS, &session) != TOKEN_OK);
    if (token_bearer(header, &token)) {
        invariant(token.size > 0 && token.data + token.size == header.data + header.size);
        invariant(session_verify(keys, token, NOW_MS, &session) != TOKEN_OK);
    }
    if (size >= TOKEN_BYTES) { /* the first bytes, spelled well, get as far as the signature */
        char text[TOKEN_CHARS];
        base64_encode(data, TOKEN_BYTES, text);
        invariant(session_verify(keys, span_of(text, sizeof text), NOW_MS, &session) != TOKEN_OK);
    }
    return 0;
}
