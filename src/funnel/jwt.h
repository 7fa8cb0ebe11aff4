/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/jwt.h: who the shop says the user is: its JSON Web Token, verified (RFC 7515, 7519,
 * 8725). A key belongs to one algorithm by its type (secret: HS256, RSA: RS256, P-256: ES256,
 * Ed25519: EdDSA); a token whose `alg` is another one is refused, "none" included. `crit` is
 * refused. `exp` and `sub` must be there.
 * Thread: a key set never changes after loading, so any thread may verify with it. To rotate, load
 * a new set, swap the pointer, free the old one when no thread can be inside jwt_verify with it.
 * Memory: verifying allocates (JSON, OpenSSL) and frees; this is not the purchase path. */
#ifndef STAMPEDE_FUNNEL_JWT_H
#define STAMPEDE_FUNNEL_JWT_H

#include "base/span.h"
#include "contract/limits.h"

enum {
    JWT_BYTES_MAX = 4096,        /* the whole token */
    JWT_HEADER_CHARS_MAX = 1024, /* its first part */
    JWT_KEYS_MAX = 16,
    JWT_KID_MAX = 64,
    JWT_ID_MAX = 128,
    JWT_SECRET_BYTES_MIN = 32,
    JWT_KEY_FILE_BYTES_MAX = 16384,
    JWT_LEEWAY_MAX_S = 300,
    JWT_ERROR_BYTES = 160,
};

/* X(name, text for metrics and logs) */
#define JWT_ANSWER_LIST(X) \
    X(OK, "ok") \
    X(MALFORMED, "malformed")     /* not a signed JWT, too long, duplicate or ill-typed fields */ \
    X(UNSUPPORTED, "unsupported") /* alg does not fit the key, "none", or crit */ \
    X(UNKNOWN_KEY, "unknown-key") /* kid unknown, or absent while there are several keys */ \
    X(FORGED, "forged")           /* signature does not match */ \
    X(EXPIRED, "expired") \
    X(NOT_YET, "not-yet") /* nbf or iat lies ahead */ \
    X(WRONG_ISSUER, "wrong-issuer") \
    X(WRONG_AUDIENCE, "wrong-audience") \
    X(BAD_SUBJECT, "bad-subject")      /* sub missing, not a string, empty or too long */ \
    X(NO_ID, "no-jti")                 /* jti is required and missing */ \
    X(BAD_CHANNEL, "bad-channel")      /* not the name of a channel; reported by the caller */ \
    X(TOO_LONG, "exp-too-far-for-jti") /* jti can't be remembered until exp */ \
    X(USED, "used-before")             /* jti was used before; reported by the caller */
enum jwt_answer {
#define JWT_ANSWER_ENUM(name, text) JWT_##name,
    JWT_ANSWER_LIST(JWT_ANSWER_ENUM)
#undef JWT_ANSWER_ENUM
        JWT_ANSWERS
};
const char *jwt_answer_name(enum jwt_answer answer);

struct jwt_rules {
    const char *issuer;   /* NULL: not checked */
    const char *audience; /* NULL: not checked */
    bool id_required;     /* jti must be there */
    uint32_t leeway_s;    /* clocks may differ by this; more than JWT_LEEWAY_MAX_S counts as that */
};
struct jwt_claims {
    char subject[SUBJECT_BYTES_MAX];
    size_t subject_bytes;
    uint64_t expires_ms;            /* `exp`, without leeway */
    uint32_t key_mark;              /* of the key that signed it, see jwt_key_mark */
    char id[JWT_ID_MAX];            /* jti: 1 … JWT_ID_MAX bytes */
    size_t id_bytes;                /* 0: there is none */
    char channel[CHANNEL_NAME_MAX]; /* whose units the user buys: 1 … CHANNEL_NAME_MAX bytes */
    size_t channel_bytes;           /* 0: there is none */
};

struct jwt_keys; /* opaque, immutable */
struct jwt_key_source {
    struct span kid;    /* 1 … JWT_KID_MAX bytes, unique */
    struct span secret; /* HS256: at least JWT_SECRET_BYTES_MIN bytes; or SPAN_NONE */
    struct span pem;    /* a public key in PEM; or SPAN_NONE */
};

/* All keys or none. STATUS_BAD_INPUT: `error` says which key and what is wrong with it; *keys is
 * then NULL. */
MUST_CHECK enum status jwt_keys_load(struct jwt_keys **keys, const struct jwt_key_source *sources,
    size_t count, char error[JWT_ERROR_BYTES]);
/* jwt_folder.c: every file of a folder: KID.pem (a public key), KID.secret (the bytes, without one final
 * newline). Other names, and names that start with a dot, are left alone. No key at all is an
 * error. */
MUST_CHECK enum status jwt_keys_load_folder(
    struct jwt_keys **keys, const char *folder, char error[JWT_ERROR_BYTES]);
void jwt_keys_free(struct jwt_keys *keys); /* accepts NULL */
size_t jwt_keys_count(const struct jwt_keys *keys);
/* A number that tells the key at `index` from others, made of its name and its bytes: 1 … 2^24 − 1. */
uint32_t jwt_key_mark(const struct jwt_keys *keys, size_t index);

/* `claims` is filled for JWT_OK only. The signature is checked before the payload is read. */
MUST_CHECK enum jwt_answer jwt_verify(const struct jwt_keys *keys, const struct jwt_rules *rules,
    struct span token, uint64_t now_ms, struct jwt_claims *claims);

#endif
