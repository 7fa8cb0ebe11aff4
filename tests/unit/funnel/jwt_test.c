/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/jwt.h"

#include "base/base64.h"
#include "base/hash.h"
#include "tests/unit/base/unit.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW_S UINT64_C(1700000000)
#define NOW_MS (NOW_S * 1000)
#define GOOD_PAYLOAD "{\"sub\":\"alice\",\"exp\":1700000060}"
#define SECRET "0123456789abcdef0123456789abcdef"
enum { TOKEN_MAX = 8192, PEM_MAX = 4096 };

/* The shop's side: keys made for this run, and a signer that signs whatever it is told. */
enum signer { BY_RSA, BY_EC, BY_ED, BY_HMAC, SIGNERS };
static const char *const algs[SIGNERS] = { "RS256", "ES256", "EdDSA", "HS256" };
static EVP_PKEY *pairs[SIGNERS];
static char pems[SIGNERS][PEM_MAX];
static struct jwt_keys *keys;
static const struct jwt_rules no_rules = { .leeway_s = 0 };
static char token[TOKEN_MAX];

static void write_pem(EVP_PKEY *pair, char out[PEM_MAX])
{
    BIO *bio = BIO_new(BIO_s_mem());
    assert_int_equal(PEM_write_bio_PUBKEY(bio, pair), 1);
    int size = BIO_read(bio, out, PEM_MAX - 1);
    assert_true(size > 0);
    out[size] = '\0';
    BIO_free(bio);
}

static struct jwt_key_source pem_key(const char *kid, const char *pem)
{
    return (struct jwt_key_source){ .kid = span_from_string(kid), .pem = span_from_string(pem) };
}

static struct jwt_key_source secret_key(const char *kid, struct span secret)
{
    return (struct jwt_key_source){ .kid = span_from_string(kid), .secret = secret };
}

static int make_keys(void **state)
{
    (void)state;
    pairs[BY_RSA] = EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)2048);
    pairs[BY_EC] = EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
    pairs[BY_ED] = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    for (int i = BY_RSA; i <= BY_ED; i++)
        write_pem(pairs[i], pems[i]);
    struct jwt_key_source sources[] = { pem_key("RS256", pems[BY_RSA]), pem_key("ES256", pems[BY_EC]),
        pem_key("EdDSA", pems[BY_ED]), secret_key("HS256", SPAN(SECRET)) };
    char error[JWT_ERROR_BYTES];
    assert_int_equal(jwt_keys_load(&keys, sources, 4, error), STATUS_OK);
    assert_int_equal(jwt_keys_count(keys), 4);
    return 0;
}

static int free_keys(void **state)
{
    (void)state;
    jwt_keys_free(keys);
    for (int i = BY_RSA; i <= BY_ED; i++)
        EVP_PKEY_free(pairs[i]);
    return 0;
}

static size_t evp_sign(enum signer signer, struct span text, uint8_t *out, size_t size)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    assert_int_equal(
        EVP_DigestSignInit(context, NULL, signer == BY_ED ? NULL : EVP_sha256(), NULL, pairs[signer]), 1);
    assert_int_equal(EVP_DigestSign(context, out, &size, (const uint8_t *)text.data, text.size), 1);
    EVP_MD_CTX_free(context);
    return size;
}

static size_t sign(enum signer signer, struct span text, uint8_t out[1024])
{
    if (signer == BY_HMAC) {
        hash_hmac_sha256(SECRET, strlen(SECRET), text.data, text.size, out);
        return HASH_SHA256_BYTES;
    }
    if (signer != BY_EC)
        return evp_sign(signer, text, out, 1024);
    uint8_t der[128];
    const uint8_t *at = der;
    size_t size = evp_sign(BY_EC, text, der, sizeof der);
    ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &at, (long)size);
    assert_non_null(signature);
    assert_int_equal(BN_bn2binpad(ECDSA_SIG_get0_r(signature), out, 32), 32);
    assert_int_equal(BN_bn2binpad(ECDSA_SIG_get0_s(signature), out + 32, 32), 32);
    ECDSA_SIG_free(signature);
    return 64;
}

static struct span make(enum signer signer, const char *header, const char *payload)
{
    size_t size = base64_encode(header, strlen(header), token);
    token[size++] = '.';
    size += base64_encode(payload, strlen(payload), token + size);
    uint8_t signature[1024];
    size_t bytes = sign(signer, span_of(token, size), signature);
    token[size++] = '.';
    size += base64_encode(signature, bytes, token + size);
    assert_true(size < sizeof token);
    return span_of(token, size);
}

static enum jwt_answer ask_at(struct span text, const struct jwt_rules *rules, uint64_t now_ms)
{
    struct jwt_claims claims;
    return jwt_verify(keys, rules, text, now_ms, &claims);
}

static enum jwt_answer ask(struct span text)
{
    return ask_at(text, &no_rules, NOW_MS);
}

static enum jwt_answer ask_payload(const char *payload, const struct jwt_rules *rules)
{
    return ask_at(make(BY_HMAC, "{\"alg\":\"HS256\",\"kid\":\"HS256\"}", payload), rules, NOW_MS);
}

static struct span make_good(enum signer signer)
{
    char header[96];
    snprintf(header, sizeof header, "{\"typ\":\"JWT\",\"alg\":\"%s\",\"kid\":\"%s\"}", algs[signer],
        algs[signer]);
    return make(signer, header, GOOD_PAYLOAD);
}

static void each_kind_of_key_verifies_its_own_tokens(void **state)
{
    (void)state;
    for (int i = 0; i < SIGNERS; i++) {
        struct jwt_claims claims;
        assert_int_equal(jwt_verify(keys, &no_rules, make_good((enum signer)i), NOW_MS, &claims), JWT_OK);
        assert_true(span_equal(span_of(claims.subject, claims.subject_bytes), SPAN("alice")));
        assert_true(claims.expires_ms == (NOW_S + 60) * 1000);
    }
}

static void every_changed_character_is_refused(void **state)
{
    (void)state;
    for (int i = 0; i < SIGNERS; i++) {
        struct span good = make_good((enum signer)i);
        for (size_t at = 0; at < good.size; at++) {
            char was = token[at];
            token[at] = was == 'A' ? 'B' : 'A';
            assert_int_not_equal(ask(good), JWT_OK);
            token[at] = was;
        }
        assert_int_equal(ask(good), JWT_OK);
    }
}

static void every_truncated_token_is_refused(void **state)
{
    (void)state;
    for (int i = 0; i < SIGNERS; i++) {
        struct span good = make_good((enum signer)i);
        for (size_t size = 0; size < good.size; size++) {
            char *copy = malloc(size > 0 ? size : 1); /* of exactly its size, for ASan */
            assert_non_null(copy);
            memcpy(copy, good.data, size);
            assert_int_not_equal(ask(span_of(copy, size)), JWT_OK);
            free(copy);
        }
        token[good.size] = 'A';
        assert_int_not_equal(ask(span_of(token, good.size + 1)), JWT_OK);
        token[good.size] = '.';
        assert_int_not_equal(ask(span_of(token, good.size + 1)), JWT_OK);
    }
}

static void the_alg_must_be_the_one_of_the_key(void **state)
{
    (void)state;
    for (int signer = 0; signer < SIGNERS; signer++) {
        for (int alg = 0; alg < SIGNERS; alg++) {
            char header[96];
            snprintf(header, sizeof header, "{\"alg\":\"%s\",\"kid\":\"%s\"}", algs[alg], algs[signer]);
            enum jwt_answer wanted = alg == signer ? JWT_OK : JWT_UNSUPPORTED;
            assert_int_equal(ask(make((enum signer)signer, header, GOOD_PAYLOAD)), wanted);
        }
    }
}

static void a_public_key_used_as_hmac_secret_is_refused(void **state)
{
    (void)state;
    char text[TOKEN_MAX];
    static const char header[] = "{\"alg\":\"HS256\",\"kid\":\"RS256\"}";
    size_t size = base64_encode(header, sizeof header - 1, text);
    text[size++] = '.';
    size += base64_encode(GOOD_PAYLOAD, sizeof GOOD_PAYLOAD - 1, text + size);
    uint8_t mac[HASH_SHA256_BYTES];
    hash_hmac_sha256(pems[BY_RSA], strlen(pems[BY_RSA]), text, size, mac);
    text[size++] = '.';
    size += base64_encode(mac, sizeof mac, text + size);
    assert_int_equal(ask(span_of(text, size)), JWT_UNSUPPORTED);
}

static void none_and_other_algs_are_refused_in_any_spelling(void **state)
{
    (void)state;
    static const char *const refused[] = { "none", "None", "NONE", "nOnE", "hs256", "HS384",
        "HS256 ", "", "RS512", "PS256", "ES256K", "ES384" };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char header[96];
        snprintf(header, sizeof header, "{\"alg\":\"%s\",\"kid\":\"HS256\"}", refused[i]);
        struct span text = make(BY_HMAC, header, GOOD_PAYLOAD);
        assert_int_equal(ask(text), JWT_UNSUPPORTED);
        /* and with an empty signature, as "none" has it */
        const char *dot = memrchr(text.data, '.', text.size);
        assert_int_not_equal(ask(span_of(text.data, (size_t)(dot - text.data) + 1)), JWT_OK);
    }
}

static void a_bad_header_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        enum jwt_answer answer;
    } table[] = {
        { "{\"alg\":\"HS256\",\"kid\":\"HS256\",\"crit\":[\"exp\"]}", JWT_UNSUPPORTED },
        { "{\"alg\":\"HS256\",\"kid\":\"HS256\",\"crit\":null}", JWT_UNSUPPORTED },
        { "{\"alg\":\"HS256\",\"alg\":\"HS256\",\"kid\":\"HS256\"}", JWT_MALFORMED },
        { "{\"alg\":\"HS256\",\"kid\":\"HS256\",\"kid\":\"HS256\"}", JWT_MALFORMED },
        { "{\"alg\":\"HS256\",\"kid\":7}", JWT_MALFORMED },
        { "{\"alg\":1,\"kid\":\"HS256\"}", JWT_MALFORMED },
        { "{\"kid\":\"HS256\"}", JWT_MALFORMED }, { "[]", JWT_MALFORMED },
        { "\"HS256\"", JWT_MALFORMED }, { "{\"alg\":\"HS256\",\"kid\":\"HS256\"} x", JWT_MALFORMED },
        { "{\"alg\":\"HS256\",\"kid\":\"HS256\\u0000\"}", JWT_MALFORMED },
        { "{\"alg\":\"HS256\",\"kid\":\"other\"}", JWT_UNKNOWN_KEY },
        { "{\"alg\":\"HS256\",\"kid\":\"../HS256\"}", JWT_UNKNOWN_KEY },
        { "{\"alg\":\"HS256\",\"kid\":\"\"}", JWT_UNKNOWN_KEY },
        { "{\"alg\":\"HS256\"}", JWT_UNKNOWN_KEY }, /* there are several keys */
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_int_equal(ask(make(BY_HMAC, table[i].header, GOOD_PAYLOAD)), table[i].answer);
}

static void a_token_without_kid_is_taken_by_an_only_key(void **state)
{
    (void)state;
    struct jwt_key_source source = secret_key("only", SPAN(SECRET));
    struct jwt_keys *only;
    struct jwt_claims claims;
    char error[JWT_ERROR_BYTES];
    assert_int_equal(jwt_keys_load(&only, &source, 1, error), STATUS_OK);
    struct span text = make(BY_HMAC, "{\"alg\":\"HS256\"}", GOOD_PAYLOAD);
    assert_int_equal(jwt_verify(only, &no_rules, text, NOW_MS, &claims), JWT_OK);
    jwt_keys_free(only);
}

static void times_count_to_the_millisecond_and_leeway_is_bounded(void **state)
{
    (void)state;
    const char *header = "{\"alg\":\"HS256\",\"kid\":\"HS256\"}";
    struct jwt_rules lenient = { .leeway_s = 10 }, greedy = { .leeway_s = 1000000 };
    struct span text = make(BY_HMAC, header, GOOD_PAYLOAD);
    uint64_t end_ms = (NOW_S + 60) * 1000;
    assert_int_equal(ask_at(text, &no_rules, end_ms - 1), JWT_OK);
    assert_int_equal(ask_at(text, &no_rules, end_ms), JWT_EXPIRED);
    assert_int_equal(ask_at(text, &lenient, end_ms + 9999), JWT_OK);
    assert_int_equal(ask_at(text, &lenient, end_ms + 10000), JWT_EXPIRED);
    assert_int_equal(ask_at(text, &greedy, end_ms + UINT64_C(1000) * JWT_LEEWAY_MAX_S - 1), JWT_OK);
    assert_int_equal(ask_at(text, &greedy, end_ms + UINT64_C(1000) * JWT_LEEWAY_MAX_S), JWT_EXPIRED);
    static const char *const begins[] = { "nbf", "iat" };
    for (size_t i = 0; i < 2; i++) {
        char payload[128];
        snprintf(payload, sizeof payload, "{\"sub\":\"a\",\"exp\":1700000060,\"%s\":1700000020}",
            begins[i]);
        text = make(BY_HMAC, header, payload);
        assert_int_equal(ask_at(text, &no_rules, (NOW_S + 20) * 1000 - 1), JWT_NOT_YET);
        assert_int_equal(ask_at(text, &no_rules, (NOW_S + 20) * 1000), JWT_OK);
        assert_int_equal(ask_at(text, &lenient, (NOW_S + 10) * 1000 - 1), JWT_NOT_YET);
        assert_int_equal(ask_at(text, &lenient, (NOW_S + 10) * 1000), JWT_OK);
    }
}

static void a_bad_payload_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *payload;
        enum jwt_answer answer;
    } table[] = {
        { "{\"sub\":\"a\"}", JWT_MALFORMED }, /* exp must be there */
        { "{\"sub\":\"a\",\"exp\":\"1700000060\"}", JWT_MALFORMED },
        { "{\"sub\":\"a\",\"exp\":null}", JWT_MALFORMED },
        { "{\"sub\":\"a\",\"exp\":-1}", JWT_MALFORMED },
        { "{\"sub\":\"a\",\"exp\":1e300}", JWT_MALFORMED },
        { "{\"sub\":\"a\",\"exp\":1e400}", JWT_MALFORMED },
        { "{\"sub\":\"a\",\"exp\":1700000060.5}", JWT_OK },
        { "{\"sub\":\"a\",\"exp\":0}", JWT_EXPIRED },
        { "{\"sub\":\"a\",\"exp\":1700000060,\"nbf\":\"x\"}", JWT_MALFORMED },
        { "{\"sub\":\"a\",\"exp\":1700000060,\"iat\":[]}", JWT_MALFORMED },
        { "{\"exp\":1700000060}", JWT_BAD_SUBJECT },
        { "{\"sub\":7,\"exp\":1700000060}", JWT_BAD_SUBJECT },
        { "{\"sub\":null,\"exp\":1700000060}", JWT_BAD_SUBJECT },
        { "{\"sub\":[\"a\"],\"exp\":1700000060}", JWT_BAD_SUBJECT },
        { "{\"sub\":\"\",\"exp\":1700000060}", JWT_BAD_SUBJECT },
        { "{\"sub\":\"a\\u0000b\",\"exp\":1700000060}", JWT_MALFORMED },
        { "{\"sub\":\"a\",\"sub\":\"b\",\"exp\":1700000060}", JWT_MALFORMED },
        { "{\"sub\":\"a\",\"exp\":1,\"exp\":1700000060}", JWT_MALFORMED },
        { "{\"sub\":\"a\",\"exp\":1700000060,\"x\":{\"y\":1,\"y\":2}}", JWT_MALFORMED },
        { "[\"sub\"]", JWT_MALFORMED },
        { "alice", JWT_MALFORMED },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_int_equal(ask_payload(table[i].payload, &no_rules), table[i].answer);
}

static void a_subject_of_128_bytes_is_taken_and_one_of_129_refused(void **state)
{
    (void)state;
    char name[SUBJECT_BYTES_MAX + 2], payload[512];
    memset(name, 'n', sizeof name);
    name[SUBJECT_BYTES_MAX] = '\0';
    snprintf(payload, sizeof payload, "{\"sub\":\"%s\",\"exp\":1700000060}", name);
    assert_int_equal(ask_payload(payload, &no_rules), JWT_OK);
    name[SUBJECT_BYTES_MAX] = 'n';
    name[SUBJECT_BYTES_MAX + 1] = '\0';
    snprintf(payload, sizeof payload, "{\"sub\":\"%s\",\"exp\":1700000060}", name);
    assert_int_equal(ask_payload(payload, &no_rules), JWT_BAD_SUBJECT);
}

static void issuer_and_audience_are_checked_when_configured(void **state)
{
    (void)state;
    struct jwt_rules issuer = { .issuer = "shop" }, audience = { .audience = "stampede" };
    static const struct {
        const char *field;
        enum jwt_answer by_issuer, by_audience;
    } table[] = {
        { "\"iss\":\"shop\"", JWT_OK, JWT_WRONG_AUDIENCE },
        { "\"iss\":\"shop2\"", JWT_WRONG_ISSUER, JWT_WRONG_AUDIENCE },
        { "\"iss\":[\"shop\"]", JWT_WRONG_ISSUER, JWT_WRONG_AUDIENCE },
        { "\"aud\":\"stampede\"", JWT_WRONG_ISSUER, JWT_OK },
        { "\"aud\":\"stamped\"", JWT_WRONG_ISSUER, JWT_WRONG_AUDIENCE },
        { "\"aud\":[\"other\",\"stampede\"]", JWT_WRONG_ISSUER, JWT_OK },
        { "\"aud\":[\"other\"]", JWT_WRONG_ISSUER, JWT_WRONG_AUDIENCE },
        { "\"aud\":[[\"stampede\"],7]", JWT_WRONG_ISSUER, JWT_WRONG_AUDIENCE },
        { "\"aud\":{\"stampede\":1}", JWT_WRONG_ISSUER, JWT_WRONG_AUDIENCE },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char payload[160];
        snprintf(payload, sizeof payload, "{\"sub\":\"a\",\"exp\":1700000060,%s}", table[i].field);
        assert_int_equal(ask_payload(payload, &issuer), table[i].by_issuer);
        assert_int_equal(ask_payload(payload, &audience), table[i].by_audience);
        assert_int_equal(ask_payload(payload, &no_rules), JWT_OK);
    }
}

static void a_token_that_is_too_long_is_refused_unread(void **state)
{
    (void)state;
    static char payload[TOKEN_MAX];
    const char *header = "{\"alg\":\"HS256\",\"kid\":\"HS256\"}";
    for (int filler = 2800; filler <= 3000; filler++) {
        snprintf(payload, sizeof payload, "{\"sub\":\"a\",\"exp\":1700000060,\"x\":\"%*s\"}", filler, "");
        struct span text = make(BY_HMAC, header, payload);
        assert_int_equal(ask(text), text.size <= JWT_BYTES_MAX ? JWT_OK : JWT_MALFORMED);
    }
    for (int filler = 700; filler <= 740; filler++) {
        snprintf(payload, sizeof payload, "{\"alg\":\"HS256\",\"kid\":\"HS256\",\"x\":\"%*s\"}",
            filler, "");
        struct span text = make(BY_HMAC, payload, GOOD_PAYLOAD);
        size_t header_chars = (size_t)((const char *)memchr(text.data, '.', text.size) - text.data);
        assert_int_equal(ask(text), header_chars <= JWT_HEADER_CHARS_MAX ? JWT_OK : JWT_MALFORMED);
    }
}

static void an_es256_signature_of_zeros_or_in_der_is_refused(void **state)
{
    (void)state;
    struct span text = make_good(BY_EC);
    const char *dot = memrchr(text.data, '.', text.size);
    size_t head = (size_t)(dot - text.data);
    uint8_t der[128], zeros[64] = { 0 };
    size_t size = evp_sign(BY_EC, span_of(token, head), der, sizeof der);
    assert_int_equal(
        ask(span_of(token, head + 1 + base64_encode(der, size, token + head + 1))), JWT_FORGED);
    assert_int_equal(
        ask(span_of(token, head + 1 + base64_encode(zeros, 64, token + head + 1))), JWT_FORGED);
}

static void expect_bad_key(struct jwt_key_source source, const char *what)
{
    struct jwt_keys *made = keys;
    char error[JWT_ERROR_BYTES];
    assert_int_equal(jwt_keys_load(&made, &source, 1, error), STATUS_BAD_INPUT);
    assert_null(made);
    assert_non_null(strstr(error, what));
}

static void keys_that_are_weak_or_of_another_kind_are_refused(void **state)
{
    (void)state;
    char pem[PEM_MAX];
    expect_bad_key(secret_key("short", span_of(SECRET, JWT_SECRET_BYTES_MIN - 1)), "32");
    expect_bad_key(pem_key("text", "hello"), "PEM");
    expect_bad_key(pem_key("", pems[BY_EC]), "name");
    expect_bad_key((struct jwt_key_source){ .kid = SPAN("nothing") }, "either");
    EVP_PKEY *weak = EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)1024);
    write_pem(weak, pem);
    expect_bad_key(pem_key("weak", pem), "2048");
    EVP_PKEY_free(weak);
    EVP_PKEY *curve = EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-384");
    write_pem(curve, pem);
    expect_bad_key(pem_key("curve", pem), "P-256");
    EVP_PKEY_free(curve);
    EVP_PKEY *exchange = EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
    write_pem(exchange, pem);
    expect_bad_key(pem_key("exchange", pem), "type");
    EVP_PKEY_free(exchange);
    BIO *bio = BIO_new(BIO_s_mem()); /* a private key has no business here */
    assert_int_equal(PEM_write_bio_PrivateKey(bio, pairs[BY_EC], NULL, NULL, 0, NULL, NULL), 1);
    int size = BIO_read(bio, pem, PEM_MAX);
    BIO_free(bio);
    expect_bad_key(
        (struct jwt_key_source){ .kid = SPAN("private"), .pem = span_of(pem, (size_t)size) }, "PEM");
}

static void a_name_twice_none_or_too_many_keys_are_refused(void **state)
{
    (void)state;
    struct jwt_key_source sources[JWT_KEYS_MAX + 1];
    char names[JWT_KEYS_MAX + 1][16], error[JWT_ERROR_BYTES];
    struct jwt_keys *made;
    for (int i = 0; i <= JWT_KEYS_MAX; i++) {
        snprintf(names[i], sizeof names[i], "k%d", i);
        sources[i] = secret_key(names[i], SPAN(SECRET));
    }
    assert_int_equal(jwt_keys_load(&made, sources, 0, error), STATUS_BAD_INPUT);
    assert_int_equal(jwt_keys_load(&made, sources, JWT_KEYS_MAX, error), STATUS_OK);
    jwt_keys_free(made);
    assert_int_equal(jwt_keys_load(&made, sources, JWT_KEYS_MAX + 1, error), STATUS_BAD_INPUT);
    sources[1].kid = sources[0].kid;
    assert_int_equal(jwt_keys_load(&made, sources, 2, error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error, "twice"));
    jwt_keys_free(NULL);
}

static void every_answer_has_a_name(void **state)
{
    (void)state;
    for (int i = 0; i < JWT_ANSWERS; i++)
        assert_true(strlen(jwt_answer_name((enum jwt_answer)i)) > 0);
}

int main(void)
{
    const struct CMUnitTest rules[] = {
        cmocka_unit_test(each_kind_of_key_verifies_its_own_tokens),
        cmocka_unit_test(every_changed_character_is_refused),
        cmocka_unit_test(every_truncated_token_is_refused),
        cmocka_unit_test(the_alg_must_be_the_one_of_the_key),
        cmocka_unit_test(a_public_key_used_as_hmac_secret_is_refused),
        cmocka_unit_test(none_and_other_algs_are_refused_in_any_spelling),
        cmocka_unit_test(a_bad_header_is_refused),
        cmocka_unit_test(a_token_without_kid_is_taken_by_an_only_key),
        cmocka_unit_test(times_count_to_the_millisecond_and_leeway_is_bounded),
        cmocka_unit_test(a_bad_payload_is_refused),
        cmocka_unit_test(a_subject_of_128_bytes_is_taken_and_one_of_129_refused),
        cmocka_unit_test(issuer_and_audience_are_checked_when_configured),
        cmocka_unit_test(a_token_that_is_too_long_is_refused_unread),
        cmocka_unit_test(an_es256_signature_of_zeros_or_in_der_is_refused),
        cmocka_unit_test(keys_that_are_weak_or_of_another_kind_are_refused),
        cmocka_unit_test(a_name_twice_none_or_too_many_keys_are_refused),
        cmocka_unit_test(every_answer_has_a_name),
    };
    return cmocka_run_group_tests(rules, make_keys, free_keys);
}
