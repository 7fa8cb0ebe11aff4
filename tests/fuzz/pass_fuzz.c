/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fuzz/pass_fuzz.c: whatever comes in as a pass is refused, and reads no byte outside it;
 * the same bytes as a purchase body never give a quantity or channel outside their bounds. The key
 * is made anew for each run, so no input in a corpus can ever be a good pass. */
#include "base/base64.h"
#include "base/random.h"
#include "funnel/purchase_body.h"
#include "funnel/token.h"

#define NOW_MS (UINT64_C(1700000000) * 1000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct funnel_keys *fresh_keys(void)
{
    static struct funnel_keys keys;
    if (keys.pass.held == 0) {
        uint8_t master[FUNNEL_MASTER_BYTES];
        random_secret(master, sizeof master);
        invariant(funnel_keys_derive(&keys, master, sizeof master) == STATUS_OK);
        funnel_keys_turn(&keys, NOW_MS);
    }
    return &keys;
}

static void check_body(struct span text)
{
    struct purchase_body body;
    if (purchase_body_read(text, &body) != BODY_OK)
        return;
    invariant(body.quantity >= 1 && body.quantity <= QUANTITY_MAX);
    invariant(body.channel.size <= CHANNEL_NAME_MAX);
    invariant(body.channel.data == NULL || body.channel.size > 0);
    invariant(body.channel.data == NULL
        || (body.channel.data > text.data
            && body.channel.data + body.channel.size < text.data + text.size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct funnel_keys *keys = fresh_keys();
    struct pass pass;
    enum token_answer answer = pass_verify(keys, span_of(data, size), NOW_MS, &pass);
    invariant(answer != TOKEN_OK);
    /* Two decoders, one language: only strict base64url of 36 bytes is looked at. */
    uint8_t bytes[TOKEN_BYTES];
    size_t room = sizeof bytes;
    bool well_formed =
        size == TOKEN_CHARS && base64_decode(span_of(data, size), bytes, &room) == STATUS_OK;
    invariant(well_formed == (answer != TOKEN_MALFORMED));
    if (size >= TOKEN_BYTES) { /* the first bytes, spelled well, get as far as the signature */
        char text[TOKEN_CHARS];
        base64_encode(data, TOKEN_BYTES, text);
        answer = pass_verify(keys, span_of(text, sizeof text), NOW_MS, &pass);
        invariant(answer == TOKEN_FORGED || answer == TOKEN_EXPIRED);
    }
    check_body(span_of(data, size));
    return 0;
}
