/* SPDX-License-Identifier: Apache-2.0 */
/* tests/support/provider_keys.h: keys for a provider and for the platform that it talks to, made anew in
 * each run, and the platform's side of signing and sealing. */
#ifndef STAMPEDE_TESTS_SUPPORT_PROVIDER_KEYS_H
#define STAMPEDE_TESTS_SUPPORT_PROVIDER_KEYS_H

#include "base/sign.h"
#include "base/text.h"
#include "payment/provider.h"

#define KEYS_APP_ID "2021000000000001"
#define KEYS_MCHID "1900000001"
#define KEYS_PLATFORM_SERIAL "PUB_KEY_ID_1"

enum { KEYS_PATH_MAX = 64 };
struct provider_keys {
    char folder[KEYS_PATH_MAX];
    char private_file[KEYS_PATH_MAX], platform_file[KEYS_PATH_MAX], api_file[KEYS_PATH_MAX];
    uint8_t api_key[SIGN_SEAL_KEY_BYTES];
    struct sign_key *platform; /* private: signs answers and callbacks */
    struct sign_key *shop;     /* public: checks requests */
};
void provider_keys_make(struct provider_keys *keys);
/* The files are not needed once the providers are open. */
void provider_keys_files_remove(struct provider_keys *keys);
void provider_keys_free(struct provider_keys *keys);

/* Opened with these keys, app_id, mchid…; `last` is method or kind. */
struct provider *provider_keys_open(const struct provider_keys *keys, const char *name, const char *last);

/* Appends the platform's signature over `signed_text`, in base64. */
void provider_keys_sign(const struct provider_keys *keys, struct span signed_text, struct text *out);
/* Appends header lines as WeChat Pay writes them for this body. */
void provider_keys_head(const struct provider_keys *keys, uint64_t time_s, const char *nonce,
    struct span body, struct text *out);
/* Appends, in base64, `plain` sealed under the API key with this nonce (12 bytes) and data. */
void provider_keys_seal(const struct provider_keys *keys, struct span nonce, struct span associated,
    struct span plain, struct text *out);

#endif
