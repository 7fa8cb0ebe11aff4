/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/human/puzzle.h: what goes out with a picture and comes back with its answer: who it is for, until
 * when, and a keyed hash of the answer, signed. Nothing is kept here while the user looks at it.
 *   kind u32 | item u32 | user u64 | expires_s u32 | nonce u64 | answer u64 | start u32 | mac 16
 * Little-endian, 56 bytes as 75 base64url characters. mac: the first half of HMAC-SHA256 under
 * keys.human over the bytes before it. answer: SipHash under keys.puzzle over kind, nonce and answer; of a
 * slider 32 bits for each piece.
 * Thread: any. Memory: none. */
#ifndef STAMPEDE_FUNNEL_HUMAN_PUZZLE_H
#define STAMPEDE_FUNNEL_HUMAN_PUZZLE_H

#include "funnel/keys.h"

enum {
    PUZZLE_BYTES = 56,
    PUZZLE_CHARS = 75,
    PUZZLE_CODE_CHARS = 5,
    PUZZLE_PIECES = 2,    /* of a slider */
    PUZZLE_TOLERANCE = 7, /* pixels that a piece may lie off */
    PUZZLE_X_MAX = 4096,
    PUZZLE_OUTSIDE = 100, /* a kind: somebody outside gives the verdict (human.h); no answer in it */
};

struct puzzle {
    uint32_t kind; /* HUMAN_IMAGE, HUMAN_SLIDER or PUZZLE_OUTSIDE */
    item_id item;
    user_id user;
    uint32_t expires_s;
    uint64_t nonce;
    uint64_t answer; /* hashed */
    uint32_t start;  /* of which process (human.h) */
};
enum puzzle_answer {
    PUZZLE_GOOD,
    PUZZLE_MALFORMED,
    PUZZLE_FORGED,
    PUZZLE_EXPIRED,
    PUZZLE_FOREIGN, /* for another item or user */
};

/* What an answer becomes in struct puzzle. The code is read without regard to case. */
uint64_t puzzle_code_hash(const struct funnel_keys *keys, uint64_t nonce, struct span code);
uint64_t puzzle_slider_hash(
    const struct funnel_keys *keys, uint64_t nonce, const uint32_t x[PUZZLE_PIECES]);

void puzzle_issue(const struct funnel_keys *keys, const struct puzzle *puzzle, char out[PUZZLE_CHARS]);
/* Ours, alive, and for this user and item? *puzzle is filled for PUZZLE_GOOD only. */
MUST_CHECK enum puzzle_answer puzzle_read(const struct funnel_keys *keys, struct span token,
    item_id item, user_id user, uint64_t now_ms, struct puzzle *puzzle);

bool puzzle_code_fits(const struct funnel_keys *keys, const struct puzzle *puzzle, struct span code);
bool puzzle_slider_fits(
    const struct funnel_keys *keys, const struct puzzle *puzzle, const uint32_t x[PUZZLE_PIECES]);

#endif
