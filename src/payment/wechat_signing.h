/* SPDX-License-Identifier: Apache-2.0 */
/* payment/wechat_signing.h: the keys of a WeChat Pay merchant, and what is done with them: requests are
 * signed, answers and callbacks are checked, sealed transactions are opened. Only payment/wechat.c
 * includes it. Thread: the store thread. Memory: the keys only. */
#ifndef STAMPEDE_PAYMENT_WECHAT_SIGNING_H
#define STAMPEDE_PAYMENT_WECHAT_SIGNING_H

#include "base/sign.h"
#include "payment/provider.h"

#include <jansson.h>

enum {
    WECHAT_ID_MAX = 32,
    WECHAT_SERIAL_MAX = 64,
    WECHAT_TEXT_MAX = OUTGOING_REPLY_MAX + 256, /* what is signed */
    WECHAT_SEALED_MAX = 32 * 1024,
};

struct wechat_keys {
    char mchid[WECHAT_ID_MAX + 1];
    char serial[WECHAT_SERIAL_MAX + 1], platform_serial[WECHAT_SERIAL_MAX + 1];
    struct sign_key *ours, *theirs;
    uint8_t api_key[SIGN_SEAL_KEY_BYTES];
    char plain[WECHAT_TEXT_MAX], sealed[WECHAT_SEALED_MAX], opened[WECHAT_SEALED_MAX]; /* room */
};
struct wechat_key_files {
    const char *private_key, *api_key, *platform; /* paths */
    const char *platform_serial;                  /* "": that of the certificate */
};

/* `keys` is zero but for mchid and serial. NULL: open; else what is wrong. Close it in either case. */
MUST_CHECK const char *wechat_keys_open(struct wechat_keys *keys, const struct wechat_key_files *files);
void wechat_keys_close(struct wechat_keys *keys); /* wipes them */

/* Writes the headers of a call whose method is set. */
void wechat_request_sign(struct wechat_keys *keys, struct outgoing_call *call, struct span path,
    struct span body, uint64_t now_ms);
/* An answer or a callback. NULL: signed by the platform, and fresh; else what is wrong. */
MUST_CHECK const char *wechat_signed_check(
    struct wechat_keys *keys, struct span head, struct span body, uint64_t now_ms);
/* The transaction that is sealed in a callback; NULL: it can't be opened. The caller frees it. */
MUST_CHECK json_t *wechat_resource_open(struct wechat_keys *keys, const json_t *notice);

#endif
