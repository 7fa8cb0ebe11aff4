/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/provider_keys.h"

#include "base/random.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SEALED_MAX = 64 * 1024, SIGNED_MAX = 128 * 1024 };

static void pem_take(BIO *bio, char pem[SIGN_PEM_BYTES_MAX], size_t *size)
{
    const int bytes = BIO_read(bio, pem, SIGN_PEM_BYTES_MAX);
    invariant(bytes > 0);
    *size = (size_t)bytes;
    BIO_free(bio);
}

static size_t pair_make(
    char private_pem[SIGN_PEM_BYTES_MAX], char public_pem[SIGN_PEM_BYTES_MAX], size_t *public_size)
{
    EVP_PKEY *key = EVP_RSA_gen(2048);
    size_t private_size = 0;
    BIO *bio = BIO_new(BIO_s_mem());
    invariant(key != NULL && PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) == 1);
    pem_take(bio, private_pem, &private_size);
    bio = BIO_new(BIO_s_mem());
    invariant(PEM_write_bio_PUBKEY(bio, key) == 1);
    pem_take(bio, public_pem, public_size);
    EVP_PKEY_free(key);
    return private_size;
}

static void file_write(
    const struct provider_keys *keys, const char *name, char path[KEYS_PATH_MAX], struct span bytes)
{
    const int length = snprintf(path, KEYS_PATH_MAX, "%s/%s", keys->folder, name);
    invariant(length > 0 && length < KEYS_PATH_MAX);
    FILE *file = fopen(path, "wbe");
    invariant(file != NULL && fwrite(bytes.data, 1, bytes.size, file) == bytes.size && fclose(file) == 0);
}

void provider_keys_make(struct provider_keys *keys)
{
    char private_pem[SIGN_PEM_BYTES_MAX], public_pem[SIGN_PEM_BYTES_MAX], serial[SIGN_SERIAL_MAX + 1];
    size_t public_size = 0;
    *keys = (struct provider_keys){ .folder = "/tmp/stampede-keys-XXXXXX" };
    invariant(mkdtemp(keys->folder) != NULL);
    size_t private_size = pair_make(private_pem, public_pem, &public_size);
    file_write(keys, "private.pem", keys->private_file, span_of(private_pem, private_size));
    invariant(sign_public_load(&keys->shop, span_of(public_pem, public_size), serial) == STATUS_OK);
    private_size = pair_make(private_pem, public_pem, &public_size);
    file_write(keys, "platform.pem", keys->platform_file, span_of(public_pem, public_size));
    invariant(sign_private_load(&keys->platform, span_of(private_pem, private_size)) == STATUS_OK);
    random_secret(keys->api_key, sizeof keys->api_key);
    for (size_t i = 0; i < sizeof keys->api_key; i++)
        keys->api_key[i] = (uint8_t)('a' + keys->api_key[i] % 16); /* a line end would be cut off */
    file_write(keys, "api_key", keys->api_file, span_of(keys->api_key, sizeof keys->api_key));
}

void provider_keys_files_remove(struct provider_keys *keys)
{
    unlink(keys->private_file);
    unlink(keys->platform_file);
    unlink(keys->api_file);
    rmdir(keys->folder);
}

void provider_keys_free(struct provider_keys *keys)
{
    provider_keys_files_remove(keys);
    sign_key_free(keys->platform);
    sign_key_free(keys->shop);
}

struct provider *provider_keys_open(const struct provider_keys *keys, const char *name, const char *last)
{
    const char *alipay[] = { "https://openapi.alipay.com/gateway.do", KEYS_APP_ID,
        keys->private_file, keys->platform_file, "", last };
    const char *wechat[] = { "https://api.mch.weixin.qq.com", KEYS_MCHID, "wx1", "ABCDEF",
        keys->private_file, keys->api_file, keys->platform_file, KEYS_PLATFORM_SERIAL, last };
    const struct provider_ops *ops = provider_find(name);
    struct provider *provider = NULL;
    char error[PROVIDER_ERROR];
    invariant(ops != NULL);
    invariant(ops->open(&provider, strcmp(name, "alipay") == 0 ? alipay : wechat, error) == STATUS_OK);
    return provider;
}

void provider_keys_sign(const struct provider_keys *keys, struct span signed_text, struct text *out)
{
    char signature[SIGN_TEXT_MAX];
    const size_t size = sign_make(keys->platform, signed_text, signature);
    text_add(out, span_of(signature, size));
}

void provider_keys_head(const struct provider_keys *keys, uint64_t time_s, const char *nonce,
    struct span body, struct text *out)
{
    static char room[SIGNED_MAX];
    struct text plain = text_in(room, sizeof room);
    text_format(&plain, "%llu\n%s\n", (unsigned long long)time_s, nonce);
    text_add(&plain, body);
    text_literal(&plain, "\n");
    invariant(!plain.overflow);
    text_format(out,
        "Wechatpay-Timestamp: %llu\r\nWechatpay-Nonce: %s\r\n"
        "Wechatpay-Serial: " KEYS_PLATFORM_SERIAL "\r\nWechatpay-Signature: ",
        (unsigned long long)time_s, nonce);
    provider_keys_sign(keys, text_span(&plain), out);
    text_literal(out, "\r\n");
}

void provider_keys_seal(const struct provider_keys *keys, struct span nonce, struct span associated,
    struct span plain, struct text *out)
{
    static uint8_t sealed[SEALED_MAX];
    static char encoded[BASE64_STANDARD_CHARS(SEALED_MAX)];
    int size = 0, last = 0;
    invariant(plain.size + SIGN_SEAL_TAG_BYTES <= sizeof sealed);
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    invariant(EVP_EncryptInit_ex(
                  context, EVP_aes_256_gcm(), NULL, keys->api_key, (const uint8_t *)nonce.data)
        == 1);
    invariant(
        EVP_EncryptUpdate(context, NULL, &last, (const uint8_t *)associated.data, (int)associated.size)
        == 1);
    invariant(
        EVP_EncryptUpdate(context, sealed, &size, (const uint8_t *)plain.data, (int)plain.size) == 1);
    invariant(EVP_EncryptFinal_ex(context, sealed + size, &last) == 1);
    invariant(
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, SIGN_SEAL_TAG_BYTES, sealed + size) == 1);
    EVP_CIPHER_CTX_free(context);
    text_add(out,
        span_of(encoded, base64_standard_encode(sealed, (size_t)size + SIGN_SEAL_TAG_BYTES, encoded)));
}
