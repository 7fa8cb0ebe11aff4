/* SPDX-License-Identifier: Apache-2.0 */
/* follow/wire.h: the bytes that a server and its follower exchange (docs/follow.md has the tables): the
 * greeting, which proves the shared secret in both directions; the words that follow it; and changes of
 * files. All numbers are little-endian.
 *
 * A change:
 *    0  u8   kind (enum mirror_kind)
 *    1  u8   part (enum mirror_part)
 *    2  u8   bytes of the name
 *    3  u8   0
 *    4  u32  bytes of the data, at most WIRE_DATA_MAX
 *    8  u64  offset
 *   16       name, data
 * Parsing is strict: a value that the writer can't have written is STATUS_BAD_INPUT and nothing moves.
 * Thread: any. Memory: none. */
#ifndef STAMPEDE_FOLLOW_WIRE_H
#define STAMPEDE_FOLLOW_WIRE_H

#include "base/disk.h"
#include "base/hash.h"
#include "base/span.h"
#include "contract/mirror.h"

enum {
    WIRE_VERSION = 2,
    WIRE_NONCE_BYTES = 32,
    WIRE_PROOF_BYTES = HASH_SHA256_BYTES,
    WIRE_KEY_BYTES = 32,
    WIRE_GREETING_BYTES = 8 + WIRE_NONCE_BYTES,
    WIRE_SECRET_MIN = 32,
    WIRE_SECRET_MAX = 512,
    WIRE_HEAD_BYTES = 16,
    WIRE_DATA_MAX = 64 * 1024,
    WIRE_CHANGE_MAX = WIRE_HEAD_BYTES + DISK_NAME_MAX + WIRE_DATA_MAX,
    WIRE_RECORD_MAX = 256 * 1024, /* plain bytes of one sealed record */
    WIRE_WORD_BYTES = 72,
    WIRE_NAMES_MAX = 256, /* of blocks, in one record */
    WIRE_NAMES_BYTES = 1 + WIRE_NAMES_MAX * HASH_SHA256_BYTES,
};
#define WIRE_GREETING "STMPFLW1"
#define WIRE_ZEROS_MAX (UINT64_C(1) << 30)
#define WIRE_FILE_MAX (UINT64_C(1) << 44) /* no file of a data folder is as long */

/* ---- the greeting: the caller speaks first, and proves the secret first ---- */

struct wire_keys {
    uint8_t to_server[WIRE_KEY_BYTES], to_caller[WIRE_KEY_BYTES];
};
void wire_greeting_put(uint8_t out[WIRE_GREETING_BYTES], const uint8_t caller[WIRE_NONCE_BYTES]);
MUST_CHECK enum status wire_greeting_read(struct span bytes, uint8_t caller[WIRE_NONCE_BYTES]);
/* What each side proves. `server` false: the caller's. */
void wire_proof(struct span secret, bool server, const uint8_t caller[WIRE_NONCE_BYTES],
    const uint8_t served[WIRE_NONCE_BYTES], uint8_t proof[WIRE_PROOF_BYTES]);
void wire_keys_make(struct span secret, const uint8_t caller[WIRE_NONCE_BYTES],
    const uint8_t served[WIRE_NONCE_BYTES], struct wire_keys *keys);

/* ---- words: what both sides say after the greeting, each in a sealed record of its own ---- */

enum wire_word_kind {
    WIRE_FOLLOW = 1, /* caller: I follow; data id 0: I have nothing; epoch and position: what I have */
    WIRE_ASK,        /* caller: which generation have you? This is mine */
    WIRE_FENCE,      /* caller: this generation sells from now on */
    WIRE_WELCOME, /* server: changes follow from position on; not `resumes`: a base begins there */
    WIRE_ANSWER,  /* server, to WIRE_ASK and WIRE_FENCE: my generation */
    WIRE_REFUSED, /* server: `reason` */
    WIRE_FENCED,  /* server: your generation is newer than mine, and I sell no more */
    WIRE_ACK,     /* follower: everything up to position is on my disk */
    WIRE_COMPARE, /* server: name the blocks that you have; WIRE_WELCOME comes after them */
    WIRE_WORD_KINDS,
};
enum wire_reason {
    WIRE_REASON_NONE,
    WIRE_REASON_OTHER_SHOP, /* another data id */
    WIRE_REASON_TAKEN,      /* another follower is connected */
    WIRE_REASON_OLD,        /* the caller's generation is older than the server's */
    WIRE_REASON_STOPPING,
    WIRE_REASON_VERSION, /* another version of this protocol */
    WIRE_REASONS,
};
struct wire_word {
    enum wire_word_kind kind;
    enum wire_reason reason;
    uint8_t version; /* of the sender's program; of ours when it is written */
    bool whole;      /* the copy is */
    bool resumes;    /* the follower goes on with what it has */
    bool sells;      /* the sender is a server, not a follower */
    uint64_t data_id, generation, epoch, position, head;
};
void wire_word_put(uint8_t out[WIRE_WORD_BYTES], const struct wire_word *word);
/* Every version understands the words that decide which server may sell: WIRE_ASK, WIRE_FENCE, the answers.
 * STATUS_CONFLICT: a word of another version that is about more; only `version` is read. */
MUST_CHECK enum status wire_word_read(struct span bytes, struct wire_word *word);

/* ---- names of blocks that a follower has (follow/blocks.h): u8 1: more come, 0: these are the last; names
 * ---- */

/* *names: inside of the record. */
MUST_CHECK enum status wire_names_read(struct span record, struct span *names, bool *more);

/* ---- changes ---- */

/* Answers the bytes of the change; `out` has room for WIRE_CHANGE_MAX. */
uint32_t wire_change_put(uint8_t *out, const struct mirror_change *change);
/* The change at the front, without what it points to being copied; `name` gets its name. *used: its bytes; 0:
 * more are needed. */
MUST_CHECK enum status wire_change_read(
    struct span bytes, struct mirror_change *change, char name[DISK_NAME_MAX], uint32_t *used);
/* A name that a change may have: of the files that are shipped, and no others. */
bool wire_name_good(enum mirror_part part, struct span name);
const char *wire_part_folder(enum mirror_part part); /* "." for the root */

#endif
