/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 and HMAC (RFC 2104) on OpenSSL; the only file that knows. The context is kept per
 * thread, because making one costs more than hashing a short text. */
#include "base/hash.h"
#include "base/status.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SHA256_BLOCK_BYTES = 64 };

static pthread_once_t sha256_once = PTHREAD_ONCE_INIT;
static pthread_key_t sha256_exit; /* frees the context when its thread ends */
static EVP_MD *sha256_method;     /* fetched once: looking it up by name takes locks */
static _Thread_local EVP_MD_CTX *sha256_context;

static void sha256_thread_end(void *context)
{
    sha256_context = NULL;
    EVP_MD_CTX_free(context);
}

static void sha256_prepare(void)
{
    sha256_method = EVP_MD_fetch(NULL, "SHA256", NULL);
    invariant(sha256_method != NULL);
    int rc = pthread_key_create(&sha256_exit, sha256_thread_end);
    invariant(rc == 0);
}

static EVP_MD_CTX *sha256_open(void)
{
    if (__builtin_expect(sha256_context == NULL, 0)) {
        int rc = pthread_once(&sha256_once, sha256_prepare);
        invariant(rc == 0);
        sha256_context = EVP_MD_CTX_new();
        invariant(sha256_context != NULL);
        rc = pthread_setspecific(sha256_exit, sha256_context);
        invariant(rc == 0);
    }
    return sha256_context;
}

static void sha256_pair(const void *first, size_t first_bytes, const void *second,
    size_t second_bytes, uint8_t digest[HASH_SHA256_BYTES])
{
    EVP_MD_CTX *context = sha256_open();
    int ok = EVP_DigestInit_ex2(context, sha256_method, NULL);
    if (first_bytes > 0)
        ok &= EVP_DigestUpdate(context, first, first_bytes);
    if (second_bytes > 0)
        ok &= EVP_DigestUpdate(context, second, second_bytes);
    ok &= EVP_DigestFinal_ex(context, digest, NULL);
    invariant(ok == 1);
}

void hash_sha256(const void *data, size_t bytes, uint8_t digest[HASH_SHA256_BYTES])
{
    sha256_pair(data, bytes, NULL, 0, digest);
}

struct hash_stream {
    EVP_MD_CTX *context;
};

struct hash_stream *hash_stream_open(void)
{
    struct hash_stream *stream = calloc(1, sizeof *stream);
    invariant(stream != NULL);
    int rc = pthread_once(&sha256_once, sha256_prepare);
    invariant(rc == 0);
    stream->context = EVP_MD_CTX_new();
    rc = stream->context != NULL && EVP_DigestInit_ex2(stream->context, sha256_method, NULL);
    invariant(rc == 1);
    return stream;
}

void hash_stream_add(struct hash_stream *stream, const void *data, size_t bytes)
{
    const int rc = bytes == 0 ? 1 : EVP_DigestUpdate(stream->context, data, bytes);
    invariant(rc == 1);
}

void hash_stream_end(struct hash_stream *stream, uint8_t digest[HASH_SHA256_BYTES])
{
    const int rc = EVP_DigestFinal_ex(stream->context, digest, NULL);
    invariant(rc == 1);
    EVP_MD_CTX_free(stream->context);
    free(stream);
}

void hash_hmac_sha256(const void *key, size_t key_bytes, const void *data, size_t bytes,
    uint8_t digest[HASH_SHA256_BYTES])
{
    uint8_t inner[SHA256_BLOCK_BYTES] = { 0 };
    uint8_t outer[SHA256_BLOCK_BYTES];
    uint8_t inner_digest[HASH_SHA256_BYTES];
    if (key_bytes > SHA256_BLOCK_BYTES)
        hash_sha256(key, key_bytes, inner);
    else if (key_bytes > 0)
        memcpy(inner, key, key_bytes);
    for (size_t i = 0; i < SHA256_BLOCK_BYTES; i++) {
        outer[i] = inner[i] ^ 0x5c;
        inner[i] ^= 0x36;
    }
    sha256_pair(inner, sizeof inner, data, bytes, inner_digest);
    sha256_pair(outer, sizeof outer, inner_digest, sizeof inner_digest, digest);
    /* The blocks are the key: they must not stay on the stack. */
    OPENSSL_cleanse(inner, sizeof inner);
    OPENSSL_cleanse(outer, sizeof outer);
}
