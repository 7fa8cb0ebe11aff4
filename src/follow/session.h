/* SPDX-License-Identifier: Apache-2.0 */
/* follow/session.h: a connection between a server and its follower: both prove the secret, then every record
 * is sealed (AES-256-GCM) with a key of its own direction and the record's number, so that nobody between
 * them reads, changes, repeats or leaves out one.
 *
 * The caller proves the secret before the server says anything that depends on it, so a stranger at the port
 * learns nothing to guess it from. Keys are made from the secret and 32 random bytes of each side, so no two
 * connections have the same.
 *
 * A record: u32 bytes of what follows (at most WIRE_RECORD_MAX and the tag), sealed bytes.
 *
 * Thread: one. Errors: STATUS_AWAY: the connection is gone or too slow; STATUS_BAD_INPUT: the other side does
 * not know the secret, or does not keep to the format; STATUS_NOT_FOUND: no such address. */
#ifndef STAMPEDE_FOLLOW_SESSION_H
#define STAMPEDE_FOLLOW_SESSION_H

#include "base/sign.h"
#include "follow/wire.h"

struct follow_secret {
    char bytes[WIRE_SECRET_MAX + 1];
    size_t size;
};
/* STATUS_BAD_INPUT: it can't be read, or is too short or too long. */
MUST_CHECK enum status follow_secret_read(const char *path, struct follow_secret *secret);

enum { SESSION_SEALED_MAX = WIRE_RECORD_MAX + SIGN_SEAL_TAG_BYTES };
struct session {
    int fd; /* -1: none */
    uint8_t send_key[WIRE_KEY_BYTES], receive_key[WIRE_KEY_BYTES];
    uint32_t timeout_ms;     /* for a record as a whole */
    uint64_t sent, received; /* numbers of the next records */
    uint8_t sealed[4 + SESSION_SEALED_MAX], plain[WIRE_RECORD_MAX];
};

/* "HOST:PORT", "[v6]:PORT". Answers a descriptor; -1: errno tells. */
int session_listen(const char *address, uint16_t *port);
int session_dial(const char *address, uint32_t timeout_ms);
bool session_address_good(const char *address);

/* Takes `fd`. Each step, and each record after it, may take `timeout_ms`, however slowly bytes come. */
MUST_CHECK enum status session_call(
    struct session *session, int fd, const struct follow_secret *secret, uint32_t timeout_ms);
/* The server's side (follow/greeter.h), after the caller has proved the secret. Takes `fd`. */
void session_answer(struct session *session, int fd, const struct follow_secret *secret,
    const uint8_t caller[WIRE_NONCE_BYTES], const uint8_t served[WIRE_NONCE_BYTES], uint32_t timeout_ms);
bool session_proof_fits(const struct follow_secret *secret, bool server,
    const uint8_t caller[WIRE_NONCE_BYTES], const uint8_t served[WIRE_NONCE_BYTES],
    const uint8_t proof[WIRE_PROOF_BYTES]);
/* From now on each record may take as long. */
void session_patience(struct session *session, uint32_t timeout_ms);
void session_end(struct session *session); /* wipes the keys; accepts one that has ended */

MUST_CHECK enum status session_send(struct session *session, const void *data, size_t bytes);
/* *record: valid until the next call. */
MUST_CHECK enum status session_receive(struct session *session, struct span *record);
MUST_CHECK enum status session_word_send(struct session *session, const struct wire_word *word);
MUST_CHECK enum status session_word_receive(struct session *session, struct wire_word *word);
bool session_has_bytes(const struct session *session, uint32_t wait_ms); /* to receive, or it is gone */

/* A word to the server at `address`, and its answer. */
MUST_CHECK enum status session_ask(const char *address, const struct follow_secret *secret,
    uint32_t timeout_ms, const struct wire_word *word, struct wire_word *answer);

#endif
