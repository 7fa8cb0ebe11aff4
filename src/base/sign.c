/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sign.h"

#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdlib.h>

struct sign_key {
    EVP_PKEY *key;
    bool is_private;
};

/* OpenSSL would ask on the terminal. NOLINTNEXTLINE(readability-non-const-parameter) */
static int no_passphrase(char *buffer, int size, int writing, void *context)
{
    (void)buffer, (void)size, (void)writing, (void)context;
    return -1;
}

/* Takes over `found`, which may be NULL. */
static enum status key_keep(struct sign_key **key, EVP_PKEY *found, bool is_private)
{
    ERR_clear_error(); /* what is no key is an answer, not a fault to be found later */
    if (found == NULL || EVP_PKEY_get_base_id(found) != EVP_PKEY_RSA
        || EVP_PKEY_get_bits(found) < SIGN_RSA_BITS_MIN || EVP_PKEY_get_bits(found) > SIGN_RSA_BITS_MAX) {
        EVP_PKEY_free(found);
        return STATUS_BAD_INPUT;
    }
    struct sign_key *made = malloc(sizeof *made);
    if (made == NULL) {
        EVP_PKEY_free(found);
        return STATUS_FULL;
    }
    *made = (struct sign_key){ .key = found, .is_private = is_private };
    *key = made;
    return STATUS_OK;
}

static BIO *pem_open(struct span pem)
{
    if (pem.size == 0 || pem.size > SIGN_PEM_BYTES_MAX)
        return NULL;
    return BIO_new_mem_buf(pem.data, (int)pem.size);
}

enum status sign_private_load(struct sign_key **key, struct span pem)
{
    *key = NULL;
    BIO *bio = pem_open(pem);
    if (bio == NULL)
        return STATUS_BAD_INPUT;
    EVP_PKEY *found = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
    BIO_free(bio);
    return key_keep(key, found, true);
}

static bool serial_write(const X509 *certificate, char serial[SIGN_SERIAL_MAX + 1])
{
    BIGNUM *number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), NULL);
    char *digits = number == NULL ? NULL : BN_bn2hex(number);
    bool fits = digits != NULL && strlen(digits) <= SIGN_SERIAL_MAX;
    if (fits)
        memcpy(serial, digits, strlen(digits) + 1);
    OPENSSL_free(digits);
    BN_free(number);
    return fits;
}

static EVP_PKEY *certificate_read(struct span pem, char serial[SIGN_SERIAL_MAX + 1])
{
    BIO *bio = pem_open(pem);
    X509 *certificate = bio == NULL ? NULL : PEM_read_bio_X509(bio, NULL, no_passphrase, NULL);
    EVP_PKEY *found = NULL;
    if (certificate != NULL && serial_write(certificate, serial))
        found = X509_get_pubkey(certificate);
    X509_free(certificate);
    BIO_free(bio);
    return found;
}

enum status sign_public_load(struct sign_key **key, struct span pem, char serial[SIGN_SERIAL_MAX + 1])
{
    *key = NULL;
    serial[0] = '\0';
    BIO *bio = pem_open(pem);
    if (bio == NULL)
        return STATUS_BAD_INPUT;
    EVP_PKEY *found = PEM_read_bio_PUBKEY(bio, NULL, no_passphrase, NULL);
    BIO_free(bio);
    if (found == NULL)
        found = certificate_read(pem, serial);
    return key_keep(key, found, false);
}

void sign_key_free(struct sign_key *key)
{
    if (key == NULL)
        return;
    EVP_PKEY_free(key->key); /* clears the private numbers */
    explicit_bzero(key, sizeof *key);
    free(key);
}

size_t sign_make(const struct sign_key *key, struct span text, char out[SIGN_TEXT_MAX])
{
    uint8_t signature[SIGN_BYTES_MAX];
    size_t bytes = sizeof signature;
    invariant(key->is_private);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    invariant(context != NULL);
    invariant(EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key->key) == 1);
    invariant(EVP_DigestSign(context, signature, &bytes, (const uint8_t *)text.data, text.size) == 1);
    EVP_MD_CTX_free(context);
    return base64_standard_encode(signature, bytes, out);
}

bool sign_holds(const struct sign_key *key, struct span text, struct span signature)
{
    uint8_t bytes[SIGN_BYTES_MAX];
    size_t size = sizeof bytes;
    if (signature.size == 0 || base64_standard_decode(signature, bytes, &size) != STATUS_OK)
        return false;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = context != NULL && EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key->key) == 1
        && EVP_DigestVerify(context, bytes, size, (const uint8_t *)text.data, text.size) == 1;
    EVP_MD_CTX_free(context);
    ERR_clear_error();
    return good;
}

/* AES-256-GCM. The tag is written when it `seals`, else checked. */
static bool gcm_run(bool seals, const uint8_t *key, struct span nonce, struct span associated,
    struct span in, uint8_t *out, uint8_t tag[SIGN_SEAL_TAG_BYTES])
{
    int written = 0, last = 0;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    const bool good = context != NULL
        && EVP_CipherInit_ex(context, EVP_aes_256_gcm(), NULL, key, (const uint8_t *)nonce.data, seals) == 1
        && (associated.size == 0
            || EVP_CipherUpdate(
                   context, NULL, &last, (const uint8_t *)associated.data, (int)associated.size)
                == 1)
        && (in.size == 0
            || EVP_CipherUpdate(context, out, &written, (const uint8_t *)in.data, (int)in.size) == 1)
        && (seals || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, SIGN_SEAL_TAG_BYTES, tag) == 1)
        && EVP_CipherFinal_ex(context, out + written, &last) == 1 && (size_t)written == in.size
        && (!seals || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, SIGN_SEAL_TAG_BYTES, tag) == 1);
    EVP_CIPHER_CTX_free(context);
    ERR_clear_error();
    return good;
}

enum status sign_seal(const uint8_t key[SIGN_SEAL_KEY_BYTES], struct span nonce,
    struct span associated, struct span plain, void *out, size_t *size)
{
    if (nonce.size != SIGN_SEAL_NONCE_BYTES || plain.size > INT32_MAX || associated.size > INT32_MAX)
        return STATUS_BAD_INPUT;
    if (plain.size + SIGN_SEAL_TAG_BYTES > *size)
        return STATUS_FULL;
    if (!gcm_run(true, key, nonce, associated, plain, out, (uint8_t *)out + plain.size))
        return STATUS_IO;
    *size = plain.size + SIGN_SEAL_TAG_BYTES;
    return STATUS_OK;
}

enum status sign_unseal(const uint8_t key[SIGN_SEAL_KEY_BYTES], struct span nonce,
    struct span associated, struct span sealed, void *out, size_t *size)
{
    uint8_t tag[SIGN_SEAL_TAG_BYTES];
    if (nonce.size != SIGN_SEAL_NONCE_BYTES || sealed.size < SIGN_SEAL_TAG_BYTES
        || sealed.size > INT32_MAX || associated.size > INT32_MAX)
        return STATUS_BAD_INPUT;
    size_t bytes = sealed.size - SIGN_SEAL_TAG_BYTES;
    if (bytes > *size)
        return STATUS_FULL;
    memcpy(tag, sealed.data + bytes, sizeof tag);
    if (!gcm_run(false, key, nonce, associated, span_of(sealed.data, bytes), out, tag)) {
        explicit_bzero(out, bytes);
        return STATUS_BAD_INPUT;
    }
    *size = bytes;
    return STATUS_OK;
}
