/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/room/room.h: the waiting room as arithmetic: places, how many are admitted, what to
 * tell those who wait. Nothing here is stored: arrival numbers, the size of the draw and the head
 * are the inventory's (inventory/engine_room.c).
 *
 * The draw. `secret` is fixed before anybody enters and its hash is public. Each arrival adds
 * (number, mark of the user) to a chain of hashes. When the sale starts, n arrivals are in it:
 *   mark   = first 8 bytes of SHA-256(secret ‖ "mark" ‖ sale u32 ‖ user u64)
 *   chain₀ = SHA-256("stampede arrivals 1" ‖ sale u32),  chainᵢ₊₁ = SHA-256(chainᵢ ‖ i u32 ‖ markᵢ u64)
 *   key    = first 16 bytes of HMAC(secret, "stampede draw 1" ‖ sale u32 ‖ n u32 ‖ chainₙ ‖ beacon)
 *   beacon = nothing, or where a public beacon was used the 64 lower-case hex digits of
 *            SHA-256("stampede beacon 1" ‖ bytes of name u32 ‖ name ‖ value)
 * and the place of number i is a permutation of [0, n) under that key: a Feistel network whose
 * rounds are Speck64/128, on the smallest even number of bits that holds n (at least 6), walked
 * along until it is below n. All numbers are little-endian. A later visitor has the arrival
 * number as place. docs/waiting-room.md has the same in Python.
 *
 * Thread: any; no state but what is passed. Memory: none. */
#ifndef STAMPEDE_FUNNEL_ROOM_ROOM_H
#define STAMPEDE_FUNNEL_ROOM_ROOM_H

#include "base/cipher.h"
#include "base/span.h"
#include "contract/types.h"
#include "funnel/keys.h"

enum {
    ROOM_SECRET_BYTES = 32,
    ROOM_DRAW_ROUNDS = 10,
    ROOM_HALF_BITS_MIN = 3, /* a network on fewer bits reaches too few permutations */
    ROOM_BEACON_MAX = 2 * HASH_SHA256_BYTES,
    ROOM_KEY_BYTES = 16,
};

void room_secret(const struct funnel_keys *keys, sale_id sale, uint8_t secret[ROOM_SECRET_BYTES]);
void room_commitment(
    sale_id sale, const uint8_t secret[ROOM_SECRET_BYTES], uint8_t commitment[HASH_SHA256_BYTES]);
uint64_t room_mark(const uint8_t secret[ROOM_SECRET_BYTES], sale_id sale, user_id user);

struct room_chain {
    uint8_t hash[HASH_SHA256_BYTES];
    uint32_t count;
};
void room_chain_begin(struct room_chain *chain, sale_id sale);
void room_chain_add(struct room_chain *chain, uint64_t mark);

struct room_draw {
    struct cipher_permutation cipher;
    uint32_t count; /* who takes part */
    uint32_t half_bits;
    uint8_t key[ROOM_KEY_BYTES];
    char beacon[ROOM_BEACON_MAX + 1]; /* as it went into the key; "": none */
};
/* A value of a beacon, bound to the name that was published for it: the text that a key is made of.
 * Name and value as BEACON_NAME_BYTES_MAX and BEACON_VALUE_BYTES_MAX allow; the value is not empty. */
void room_beacon(struct span name, struct span value, char out[ROOM_BEACON_MAX + 1]);
/* `beacon`: of room_beacon, or empty. */
void room_draw_make(struct room_draw *draw, const uint8_t secret[ROOM_SECRET_BYTES], sale_id sale,
    const struct room_chain *chain, struct span beacon);
/* The place of an arrival number, from 0. */
uint32_t room_place(const struct room_draw *draw, uint32_t number);

/* ---- who may go in now ---- */

struct room_rules {
    uint32_t turn_ms;            /* after this time admitted visitors are no longer waited for */
    uint32_t rate_min, rate_max; /* people a second, while there is stock */
};
/* What the inventory shows of a sale, all items together. */
struct room_stock {
    uint32_t free, held, sold; /* units */
};

enum { ROOM_SLICES = 16 };
/* One owner. Zeroed: nothing known yet. */
struct room_control {
    uint64_t last_ms; /* of the last look; 0: none yet */
    uint64_t slice_ms;
    uint32_t slice;                 /* the present one */
    uint32_t admitted[ROOM_SLICES]; /* in each sixteenth of the last turn */
    uint32_t taken[ROOM_SLICES];    /* units that were held or sold when the slice began */
    uint64_t credit_milli;          /* people who may still go in at rate_max, and a fraction */
    uint64_t floor_milli;           /* and who must at rate_min */
    uint64_t rate_milli;            /* people a second of late, times 1000 */
};
/* The picture that those who wait get. */
struct room_view {
    uint32_t free, held;
    uint32_t deciding;         /* admitted, in their turn, have not bought */
    uint32_t conversion_milli; /* units taken by each who was admitted, times 1000 */
    uint64_t rate_milli;
    uint32_t ready; /* how many more would be admitted at the next check */
};
/* Answers the new head, at least `head`. Called a few times a second from the start on. */
uint32_t room_admit(struct room_control *control, const struct room_rules *rules, uint64_t now_ms,
    const struct room_stock *stock, uint32_t head, uint32_t arrived, struct room_view *view);

enum room_odds { ROOM_GOOD, ROOM_FAIR, ROOM_POOR, ROOM_NONE, ROOM_ODDS };
extern const char *const room_odds_names[ROOM_ODDS];
enum room_odds room_odds(const struct room_view *view, uint32_t ahead);
/* 0: at the next look. UINT64_MAX: the line has not moved yet, or nobody goes in at present. */
uint64_t room_eta_ms(const struct room_view *view, uint32_t ahead);
/* When to ask again: the further from one's turn the later, and not all at once. */
uint32_t room_poll_ms(uint64_t eta_ms, uint64_t random);

#endif
