/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sign.h"

#include "unit.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

/* Keys are made anew in each run: nothing that looks like a secret is in the repository. */
struct pem {
    char text[SIGN_PEM_BYTES_MAX];
    size_t size;
};
static EVP_PKEY *made;
static struct pem private_pem, public_pem, certificate_pem;

static struct span pem_span(const struct pem *pem)
{
    return span_of(pem->text, pem->size);
}

static void pem_keep(BIO *bio, struct pem *pem)
{
    int size = BIO_read(bio, pem->text, sizeof pem->text);
    assert_true(size > 0);
    pem->size = (size_t)size;
    BIO_free(bio);
}

static void certificate_make(void)
{
    X509 *certificate = X509_new();
    BIGNUM *serial = NULL;
    assert_true(BN_hex2bn(&serial, "0A5DC155A61B8E2B") > 0);
    assert_non_null(BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(certificate)));
    BN_free(serial);
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    assert_int_equal(X509_set_pubkey(certificate, made), 1);
    assert_true(X509_sign(certificate, made, EVP_sha256()) > 0);
    BIO *bio = BIO_new(BIO_s_mem());
    assert_int_equal(PEM_write_bio_X509(bio, certificate), 1);
    pem_keep(bio, &certificate_pem);
    X509_free(certificate);
}

static int keys_make(void **state)
{
    (void)state;
    made = EVP_RSA_gen(2048);
    assert_non_null(made);
    BIO *bio = BIO_new(BIO_s_mem());
    assert_int_equal(PEM_write_bio_PrivateKey(bio, made, NULL, NULL, 0, NULL, NULL), 1);
    pem_keep(bio, &private_pem);
    bio = BIO_new(BIO_s_mem());
    assert_int_equal(PEM_write_bio_PUBKEY(bio, made), 1);
    pem_keep(bio, &public_pem);
    certificate_make();
    return 0;
}

static int keys_drop(void **state)
{
    (void)state;
    EVP_PKEY_free(made);
    return 0;
}

static void every_flipped_bit_of_text_or_signature_breaks_it(void **state)
{
    struct sign_key *ours, *theirs;
    char serial[SIGN_SERIAL_MAX + 1], signature[SIGN_TEXT_MAX], text[] = "amount=0.01&out_trade_no=1";
    (void)state;
    assert_int_equal(sign_private_load(&ours, pem_span(&private_pem)), STATUS_OK);
    assert_int_equal(sign_public_load(&theirs, pem_span(&public_pem), serial), STATUS_OK);
    assert_string_equal(serial, "");
    const struct span whole = span_of(text, strlen(text));
    const size_t size = sign_make(ours, whole, signature);
    assert_int_equal(size, 344);
    assert_true(sign_holds(theirs, whole, span_of(signature, size)));
    for (size_t i = 0; i < 8 * whole.size; i++) {
        text[i / 8] = (char)(text[i / 8] ^ 1 << i % 8);
        assert_false(sign_holds(theirs, whole, span_of(signature, size)));
        text[i / 8] = (char)(text[i / 8] ^ 1 << i % 8);
    }
    for (size_t i = 0; i < 8 * size; i++) {
        signature[i / 8] = (char)(signature[i / 8] ^ 1 << i % 8);
        assert_false(sign_holds(theirs, whole, span_of(signature, size)));
        signature[i / 8] = (char)(signature[i / 8] ^ 1 << i % 8);
    }
    assert_false(sign_holds(theirs, whole, span_of(signature, size - 4)));
    assert_false(sign_holds(theirs, whole, SPAN_NONE));
    assert_true(sign_holds(theirs, whole, span_of(signature, size)));
    sign_key_free(ours);
    sign_key_free(theirs);
    sign_key_free(NULL);
}

static void a_certificate_gives_its_key_and_serial(void **state)
{
    struct sign_key *ours, *theirs;
    char serial[SIGN_SERIAL_MAX + 1], signature[SIGN_TEXT_MAX];
    (void)state;
    assert_int_equal(sign_private_load(&ours, pem_span(&private_pem)), STATUS_OK);
    assert_int_equal(sign_public_load(&theirs, pem_span(&certificate_pem), serial), STATUS_OK);
    assert_string_equal(serial, "0A5DC155A61B8E2B");
    const size_t size = sign_make(ours, SPAN("x"), signature);
    assert_true(sign_holds(theirs, SPAN("x"), span_of(signature, size)));
    sign_key_free(ours);
    sign_key_free(theirs);
}

/* OpenSSL judges ours, ours judges OpenSSL's. */
static void it_is_rsa_with_sha256_as_the_library_does_it(void **state)
{
    struct sign_key *ours;
    char text[SIGN_TEXT_MAX];
    uint8_t signature[SIGN_BYTES_MAX];
    size_t bytes = sizeof signature;
    (void)state;
    assert_int_equal(sign_private_load(&ours, pem_span(&private_pem)), STATUS_OK);
    const size_t size = sign_make(ours, SPAN("hello"), text);
    assert_int_equal(base64_standard_decode(span_of(text, size), signature, &bytes), STATUS_OK);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(made, NULL);
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned digest_bytes = 0;
    assert_int_equal(EVP_Digest("hello", 5, digest, &digest_bytes, EVP_sha256(), NULL), 1);
    assert_int_equal(EVP_PKEY_verify_init(context), 1);
    assert_int_equal(EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING), 1);
    assert_int_equal(EVP_PKEY_CTX_set_signature_md(context, EVP_sha256()), 1);
    assert_int_equal(EVP_PKEY_verify(context, signature, bytes, digest, digest_bytes), 1);
    EVP_PKEY_CTX_free(context);
    sign_key_free(ours);
}

static void what_is_no_rsa_key_of_a_fit_size_is_refused(void **state)
{
    struct sign_key *key;
    char serial[SIGN_SERIAL_MAX + 1];
    struct pem small;
    (void)state;
    EVP_PKEY *weak = EVP_RSA_gen(1024);
    BIO *bio = BIO_new(BIO_s_mem());
    assert_int_equal(PEM_write_bio_PUBKEY(bio, weak), 1);
    pem_keep(bio, &small);
    EVP_PKEY_free(weak);
    assert_int_equal(sign_public_load(&key, pem_span(&small), serial), STATUS_BAD_INPUT);
    assert_null(key);
    EVP_PKEY *curve = EVP_EC_gen("P-256");
    bio = BIO_new(BIO_s_mem());
    assert_int_equal(PEM_write_bio_PrivateKey(bio, curve, NULL, NULL, 0, NULL, NULL), 1);
    pem_keep(bio, &small);
    EVP_PKEY_free(curve);
    assert_int_equal(sign_private_load(&key, pem_span(&small)), STATUS_BAD_INPUT);
    assert_int_equal(sign_private_load(&key, pem_span(&public_pem)), STATUS_BAD_INPUT);
    assert_int_equal(sign_public_load(&key, SPAN_NONE, serial), STATUS_BAD_INPUT);
    assert_int_equal(sign_public_load(&key, SPAN("-----BEGIN"), serial), STATUS_BAD_INPUT);
    assert_int_equal(sign_public_load(&key, span_of(public_pem.text, public_pem.size / 2), serial),
        STATUS_BAD_INPUT);
    assert_null(key);
}

/* Test case 16 of the GCM specification. */
static const uint8_t seal_key[] =
    "\xfe\xff\xe9\x92\x86\x65\x73\x1c\x6d\x6a\x8f\x94\x67\x30\x83\x08"
    "\xfe\xff\xe9\x92\x86\x65\x73\x1c\x6d\x6a\x8f\x94\x67\x30\x83\x08";
#define SEAL_NONCE SPAN("\xca\xfe\xba\xbe\xfa\xce\xdb\xad\xde\xca\xf8\x88")
#define SEAL_ASSOCIATED \
    SPAN("\xfe\xed\xfa\xce\xde\xad\xbe\xef\xfe\xed\xfa\xce\xde\xad\xbe\xef\xab\xad\xda\xd2")
static const char sealed[] = "\x52\x2d\xc1\xf0\x99\x56\x7d\x07\xf4\x7f\x37\xa3\x2a\x84\x42\x7d"
                             "\x64\x3a\x8c\xdc\xbf\xe5\xc0\xc9\x75\x98\xa2\xbd\x25\x55\xd1\xaa"
                             "\x8c\xb0\x8e\x48\x59\x0d\xbb\x3d\xa7\xb0\x8b\x10\x56\x82\x88\x38"
                             "\xc5\xf6\x1e\x63\x93\xba\x7a\x0a\xbc\xc9\xf6\x62"
                             "\x76\xfc\x6e\xce\x0f\x4e\x17\x68\xcd\xdf\x88\x53\xbb\x2d\x55\x1b";
static const char opened[] = "\xd9\x31\x32\x25\xf8\x84\x06\xe5\xa5\x59\x09\xc5\xaf\xf5\x26\x9a"
                             "\x86\xa7\xa9\x53\x15\x34\xf7\xda\x2e\x4c\x30\x3d\x8a\x31\x8a\x72"
                             "\x1c\x3c\x0c\x95\x95\x68\x09\x53\x2f\xcf\x0e\x24\x49\xa6\xb5\x25"
                             "\xb1\x6a\xed\xf5\xaa\x0d\xe6\x57\xba\x63\x7b\x39";

static void the_published_vector_opens_and_nothing_near_it(void **state)
{
    char out[sizeof sealed], changed[sizeof sealed];
    size_t size = sizeof out;
    const struct span whole = span_of(sealed, sizeof sealed - 1);
    (void)state;
    assert_int_equal(sign_unseal(seal_key, SEAL_NONCE, SEAL_ASSOCIATED, whole, out, &size), STATUS_OK);
    assert_int_equal(size, sizeof opened - 1);
    assert_memory_equal(out, opened, size);
    for (size_t i = 0; i < 8 * whole.size; i++) {
        memcpy(changed, sealed, sizeof changed);
        changed[i / 8] = (char)(changed[i / 8] ^ 1 << i % 8);
        size = sizeof out;
        assert_int_equal(sign_unseal(seal_key, SEAL_NONCE, SEAL_ASSOCIATED,
                             span_of(changed, whole.size), out, &size),
            STATUS_BAD_INPUT);
        for (size_t j = 0; j < sizeof opened - 1; j++)
            assert_int_equal(out[j], 0);
    }
    assert_int_equal(sign_unseal(seal_key, SEAL_NONCE, SPAN("x"), whole, out, &size), STATUS_BAD_INPUT);
    assert_int_equal(
        sign_unseal(seal_key, SPAN("short"), SEAL_ASSOCIATED, whole, out, &size), STATUS_BAD_INPUT);
    assert_int_equal(sign_unseal(seal_key, SEAL_NONCE, SEAL_ASSOCIATED, span_of(sealed, 15), out, &size),
        STATUS_BAD_INPUT);
    size = sizeof opened - 2;
    assert_int_equal(sign_unseal(seal_key, SEAL_NONCE, SEAL_ASSOCIATED, whole, out, &size), STATUS_FULL);
}

static void what_is_sealed_is_the_published_vector(void **state)
{
    char out[sizeof sealed];
    size_t size = sizeof out;
    const struct span plain = span_of(opened, sizeof opened - 1);
    (void)state;
    assert_int_equal(sign_seal(seal_key, SEAL_NONCE, SEAL_ASSOCIATED, plain, out, &size), STATUS_OK);
    assert_int_equal(size, sizeof sealed - 1);
    assert_memory_equal(out, sealed, size);
    size = sizeof sealed - 2;
    assert_int_equal(sign_seal(seal_key, SEAL_NONCE, SEAL_ASSOCIATED, plain, out, &size), STATUS_FULL);
    size = sizeof out;
    assert_int_equal(
        sign_seal(seal_key, SPAN("short"), SEAL_ASSOCIATED, plain, out, &size), STATUS_BAD_INPUT);
    assert_int_equal(sign_seal(seal_key, SEAL_NONCE, SPAN_NONE, SPAN_NONE, out, &size), STATUS_OK);
    assert_int_equal(size, SIGN_SEAL_TAG_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_flipped_bit_of_text_or_signature_breaks_it),
        cmocka_unit_test(a_certificate_gives_its_key_and_serial),
        cmocka_unit_test(it_is_rsa_with_sha256_as_the_library_does_it),
        cmocka_unit_test(what_is_no_rsa_key_of_a_fit_size_is_refused),
        cmocka_unit_test(the_published_vector_opens_and_nothing_near_it),
        cmocka_unit_test(what_is_sealed_is_the_published_vector),
    };
    return cmocka_run_group_tests_name("base/sign", tests, keys_make, keys_drop);
}
