/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/room/room.h"

#include "base/bytes.h"
#include "base/text.h"
#include "contract/limits.h"

#include <string.h>

const char *const room_odds_names[ROOM_ODDS] = { "good", "fair", "poor", "none" };

/* ---- the draw ---- */

void room_secret(const struct funnel_keys *keys, sale_id sale, uint8_t secret[ROOM_SECRET_BYTES])
{
    static const char label[] = "room secret";
    uint8_t text[sizeof label - 1 + 8];
    static_assert((int)ROOM_SECRET_BYTES == (int)HASH_SHA256_BYTES, "a secret is one hash");
    memcpy(text, label, sizeof label - 1);
    bytes_put_u64(text + sizeof label - 1, sale);
    hash_hmac_sha256(keys->root, sizeof keys->root, text, sizeof text, secret);
}

void room_commitment(
    sale_id sale, const uint8_t secret[ROOM_SECRET_BYTES], uint8_t commitment[HASH_SHA256_BYTES])
{
    static const char label[] = "stampede room 1";
    uint8_t text[sizeof label - 1 + 4 + ROOM_SECRET_BYTES];
    memcpy(text, label, sizeof label - 1);
    bytes_put_u32(text + sizeof label - 1, sale);
    memcpy(text + sizeof label - 1 + 4, secret, ROOM_SECRET_BYTES);
    hash_sha256(text, sizeof text, commitment);
}

uint64_t room_mark(const uint8_t secret[ROOM_SECRET_BYTES], sale_id sale, user_id user)
{
    uint8_t text[ROOM_SECRET_BYTES + 16], digest[HASH_SHA256_BYTES];
    memcpy(text, secret, ROOM_SECRET_BYTES);
    memcpy(text + ROOM_SECRET_BYTES, "mark", 4);
    bytes_put_u32(text + ROOM_SECRET_BYTES + 4, sale);
    bytes_put_u64(text + ROOM_SECRET_BYTES + 8, user);
    hash_sha256(text, sizeof text, digest); /* of one length only, so it needs no more than the prefix */
    return bytes_get_u64(digest);
}

void room_chain_begin(struct room_chain *chain, sale_id sale)
{
    static const char label[] = "stampede arrivals 1";
    uint8_t text[sizeof label - 1 + 4];
    memcpy(text, label, sizeof label - 1);
    bytes_put_u32(text + sizeof label - 1, sale);
    hash_sha256(text, sizeof text, chain->hash);
    chain->count = 0;
}

void room_chain_add(struct room_chain *chain, uint64_t mark)
{
    uint8_t text[HASH_SHA256_BYTES + 12];
    memcpy(text, chain->hash, HASH_SHA256_BYTES);
    bytes_put_u32(text + HASH_SHA256_BYTES, chain->count++);
    bytes_put_u64(text + HASH_SHA256_BYTES + 4, mark);
    hash_sha256(text, sizeof text, chain->hash);
}

static uint32_t half_bits_for(uint32_t count)
{
    uint32_t half = ROOM_HALF_BITS_MIN;
    while (half < 16 && count > UINT32_C(1) << 2 * half)
        half++;
    return half;
}

/* The length stands before the name, so that no two pairs of name and value make the same bytes. */
void room_beacon(struct span name, struct span value, char out[ROOM_BEACON_MAX + 1])
{
    static const char label[] = "stampede beacon 1";
    enum { LABEL = sizeof label - 1, FIXED = LABEL + 4 };
    uint8_t text[FIXED + BEACON_NAME_BYTES_MAX + BEACON_VALUE_BYTES_MAX], digest[HASH_SHA256_BYTES];
    invariant(name.size > 0 && name.size <= BEACON_NAME_BYTES_MAX);
    invariant(value.size > 0 && value.size <= BEACON_VALUE_BYTES_MAX);
    memcpy(text, label, LABEL);
    bytes_put_u32(text + LABEL, (uint32_t)name.size);
    memcpy(text + FIXED, name.data, name.size);
    memcpy(text + FIXED + name.size, value.data, value.size);
    hash_sha256(text, FIXED + name.size + value.size, digest);
    struct text digits = text_in(out, ROOM_BEACON_MAX);
    text_hex(&digits, span_of(digest, sizeof digest));
    invariant(!digits.overflow);
    out[ROOM_BEACON_MAX] = 0;
}

void room_draw_make(struct room_draw *draw, const uint8_t secret[ROOM_SECRET_BYTES], sale_id sale,
    const struct room_chain *chain, struct span beacon)
{
    static const char label[] = "stampede draw 1";
    enum { LABEL = sizeof label - 1, FIXED = LABEL + 8 + HASH_SHA256_BYTES };
    uint8_t text[FIXED + ROOM_BEACON_MAX], key[HASH_SHA256_BYTES];
    invariant(beacon.size <= ROOM_BEACON_MAX);
    memcpy(text, label, LABEL);
    bytes_put_u32(text + LABEL, sale);
    bytes_put_u32(text + LABEL + 4, chain->count);
    memcpy(text + LABEL + 8, chain->hash, HASH_SHA256_BYTES);
    if (beacon.size > 0) {
        memcpy(text + FIXED, beacon.data, beacon.size);
        memcpy(draw->beacon, beacon.data, beacon.size);
    }
    draw->beacon[beacon.size] = 0;
    hash_hmac_sha256(secret, ROOM_SECRET_BYTES, text, FIXED + beacon.size, key);
    const struct hash_key permutation = { bytes_get_u64(key), bytes_get_u64(key + 8) };
    cipher_permutation_make(&draw->cipher, permutation);
    memcpy(draw->key, key, sizeof draw->key);
    draw->count = chain->count;
    draw->half_bits = half_bits_for(chain->count);
}

/* One pass of the network over 2 × half_bits bits. */
static uint32_t feistel(const struct room_draw *draw, uint32_t value)
{
    const uint32_t mask = (UINT32_C(1) << draw->half_bits) - 1;
    uint32_t left = value >> draw->half_bits, right = value & mask;
    for (uint64_t round = 0; round < ROOM_DRAW_ROUNDS; round++) {
        const uint32_t mixed =
            left ^ ((uint32_t)cipher_permute(&draw->cipher, round << 32 | right) & mask);
        left = right;
        right = mixed;
    }
    return left << draw->half_bits | right;
}

/* The network covers less than four times as many numbers as take part (64 where few do), so it is
 * passed less than four times on average; a walk along a permutation comes back at the latest where
 * it began. */
uint32_t room_place(const struct room_draw *draw, uint32_t number)
{
    if (number >= draw->count)
        return number;
    do
        number = feistel(draw, number);
    while (number >= draw->count);
    return number;
}

/* ---- who may go in now ---- */

enum {
    MILLI = 1000,
    PRIOR = 20, /* prior of the conversion estimate: people who take one unit each */
    CONVERSION_MIN_MILLI = 10,
    CONVERSION_MAX_MILLI = 100 * MILLI,
    STEP_MAX_MS = 1000, /* after a pause (a restart) nobody rushes in at once */
    RATE_SMOOTH_MS = 4000,
    POLL_MIN_MS = 1000,
    POLL_MAX_MS = 15000,
    POLL_PART = 8, /* asks about this often before its turn */
};

static uint32_t least(uint64_t a, uint64_t b)
{
    const uint64_t small = a < b ? a : b;
    return small < UINT32_MAX ? (uint32_t)small : UINT32_MAX;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static void slices_begin(struct room_control *control, uint64_t now_ms, uint32_t taken)
{
    control->last_ms = control->slice_ms = now_ms;
    for (uint32_t i = 0; i < ROOM_SLICES; i++)
        control->taken[i] = taken;
}

/* Forgets what is older than a turn. */
static void slices_turn(
    struct room_control *control, const struct room_rules *rules, uint64_t now_ms, uint32_t taken)
{
    const uint64_t length_ms = rules->turn_ms / ROOM_SLICES + 1;
    for (uint32_t i = 0; i < ROOM_SLICES && now_ms >= control->slice_ms + length_ms; i++) {
        control->slice = (control->slice + 1) % ROOM_SLICES;
        control->slice_ms += length_ms;
        control->admitted[control->slice] = 0;
        control->taken[control->slice] = taken;
    }
    if (now_ms >= control->slice_ms + length_ms)
        control->slice_ms = now_ms;
}

static uint32_t in_turn(const struct room_control *control)
{
    uint64_t people = 0;
    for (uint32_t i = 0; i < ROOM_SLICES; i++)
        people += control->admitted[i];
    return least(people, UINT32_MAX);
}

/* Units for each person whose turn is over; those who are in their turn and have bought make it
 * too high rather than too low, so that fewer are let in for nothing. */
static uint32_t conversion_milli(uint32_t taken, uint32_t finished)
{
    const uint64_t milli = ((uint64_t)taken + PRIOR) * MILLI / ((uint64_t)finished + PRIOR);
    return milli < CONVERSION_MIN_MILLI ? CONVERSION_MIN_MILLI
        : milli > CONVERSION_MAX_MILLI  ? CONVERSION_MAX_MILLI
                                        : (uint32_t)milli;
}

static void view_make(const struct room_control *control, const struct room_stock *stock,
    uint32_t head, struct room_view *view)
{
    const uint32_t people = in_turn(control);
    const uint32_t taken = least((uint64_t)stock->held + stock->sold, UINT32_MAX);
    const uint32_t oldest = control->taken[(control->slice + 1) % ROOM_SLICES];
    *view = (struct room_view){ .free = stock->free,
        .held = stock->held,
        .deciding = (uint32_t)less(people, less(taken, oldest)),
        .conversion_milli = conversion_milli(taken, (uint32_t)less(head, people)),
        .rate_milli = control->rate_milli };
}

/* As many as the units that are free are expected to be enough for, beside those who are in. */
static uint32_t wanted(const struct room_view *view)
{
    const uint64_t people =
        ((uint64_t)view->free * MILLI + view->conversion_milli - 1) / view->conversion_milli;
    return least(less(people, view->deciding), UINT32_MAX);
}

static void rate_learn(struct room_control *control, uint64_t step_ms, uint32_t admitted)
{
    const uint64_t weight = step_ms < RATE_SMOOTH_MS ? step_ms : RATE_SMOOTH_MS;
    const uint64_t now_milli = (uint64_t)admitted * MILLI * MILLI / step_ms;
    control->rate_milli =
        (control->rate_milli * (RATE_SMOOTH_MS - weight) + now_milli * weight) / RATE_SMOOTH_MS;
}

/* At this moment, whoever is there. */
static uint32_t may_go_in(const struct room_control *control, const struct room_view *view)
{
    if (view->free == 0)
        return 0;
    const uint64_t least_people = control->floor_milli / MILLI;
    const uint64_t people = wanted(view) > least_people ? wanted(view) : least_people;
    return least(people, control->credit_milli / MILLI);
}

uint32_t room_admit(struct room_control *control, const struct room_rules *rules, uint64_t now_ms,
    const struct room_stock *stock, uint32_t head, uint32_t arrived, struct room_view *view)
{
    const uint32_t taken = least((uint64_t)stock->held + stock->sold, UINT32_MAX);
    if (control->last_ms == 0)
        slices_begin(control, now_ms, taken);
    const uint64_t past_ms = less(now_ms, control->last_ms);
    const uint64_t step_ms = past_ms < STEP_MAX_MS ? past_ms : STEP_MAX_MS;
    slices_turn(control, rules, now_ms, taken);
    view_make(control, stock, head, view);
    view->ready = may_go_in(control, view);
    if (step_ms == 0)
        return head;
    control->last_ms = now_ms;
    control->credit_milli =
        least(control->credit_milli + step_ms * rules->rate_max, (uint64_t)rules->rate_max * MILLI);
    control->floor_milli =
        least(control->floor_milli + step_ms * rules->rate_min, (uint64_t)rules->rate_min * MILLI);
    const uint64_t people = least(may_go_in(control, view), less(arrived, head));
    control->credit_milli -= people * MILLI;
    control->floor_milli = less(control->floor_milli, people * MILLI);
    control->admitted[control->slice] += (uint32_t)people;
    if (people < less(arrived, head)) /* an empty line says nothing about its speed */
        rate_learn(control, step_ms, (uint32_t)people);
    view_make(control, stock, head + (uint32_t)people, view);
    view->ready = may_go_in(control, view);
    return head + (uint32_t)people;
}

/* The units that those ahead are expected to take, against those that are there. Held units may
 * come back; a quarter of them is what we hope for at most. */
enum room_odds room_odds(const struct room_view *view, uint32_t ahead)
{
    if (view->free == 0 && view->held == 0)
        return ROOM_NONE;
    const uint64_t before = ((uint64_t)ahead + view->deciding) * view->conversion_milli / MILLI;
    if (before + before / 4 < view->free)
        return ROOM_GOOD;
    return before < (uint64_t)view->free + view->free / 4 + view->held / 4 ? ROOM_FAIR : ROOM_POOR;
}

uint64_t room_eta_ms(const struct room_view *view, uint32_t ahead)
{
    if (ahead < view->ready)
        return 0;
    if (view->rate_milli == 0)
        return UINT64_MAX;
    return ((uint64_t)ahead + 1) * MILLI * MILLI / view->rate_milli;
}

uint32_t room_poll_ms(uint64_t eta_ms, uint64_t random)
{
    uint64_t pause_ms = eta_ms / POLL_PART;
    if (pause_ms < POLL_MIN_MS)
        pause_ms = POLL_MIN_MS;
    if (pause_ms > POLL_MAX_MS)
        pause_ms = POLL_MAX_MS;
    return (uint32_t)(pause_ms + random % (pause_ms / 2));
}
