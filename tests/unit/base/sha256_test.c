/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include "base/text.h"

#include "unit.h"

#include <pthread.h>

static void assert_digest(const uint8_t digest[HASH_SHA256_BYTES], const char *expected)
{
    char hex[2 * HASH_SHA256_BYTES + 1] = "";
    struct text text = text_in(hex, sizeof hex);
    text_hex(&text, span_of(digest, HASH_SHA256_BYTES));
    assert_string_equal(hex, expected);
}

static void sha256_gives_the_fips_vectors(void **state)
{
    (void)state;
    uint8_t digest[HASH_SHA256_BYTES];
    hash_sha256(NULL, 0, digest);
    assert_digest(digest, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    hash_sha256("abc", 3, digest);
    assert_digest(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    hash_sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, digest);
    assert_digest(digest, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void hmac(const char *key, size_t key_bytes, struct span data, const char *expected)
{
    uint8_t digest[HASH_SHA256_BYTES];
    hash_hmac_sha256(key, key_bytes, data.data, data.size, digest);
    assert_digest(digest, expected);
}

static void hmac_gives_the_rfc_4231_vectors(void **state)
{
    (void)state;
    char key[131];
    memset(key, 0x0b, 20);
    hmac(key, 20, SPAN("Hi There"), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    hmac("Jefe", 4, SPAN("what do ya want for nothing?"),
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    hmac(key, sizeof key, SPAN("Test Using Larger Than Block-Size Key - Hash Key First"),
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    hmac(NULL, 0, SPAN_NONE, "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

static void a_key_of_one_block_is_used_as_it_is_and_one_byte_more_is_hashed(void **state)
{
    (void)state;
    char key[65];
    uint8_t hashed[HASH_SHA256_BYTES], direct[HASH_SHA256_BYTES], by_hash[HASH_SHA256_BYTES];
    memset(key, 'k', sizeof key);
    hash_sha256(key, 64, hashed);
    hash_hmac_sha256(key, 64, "data", 4, direct);
    hash_hmac_sha256(hashed, sizeof hashed, "data", 4, by_hash);
    assert_memory_not_equal(direct, by_hash, sizeof direct);
    hash_sha256(key, 65, hashed);
    hash_hmac_sha256(key, 65, "data", 4, direct);
    hash_hmac_sha256(hashed, sizeof hashed, "data", 4, by_hash);
    assert_memory_equal(direct, by_hash, sizeof direct);
}

static pthread_barrier_t together;

static void *hash_many(void *argument)
{
    uint8_t *digest = argument;
    pthread_barrier_wait(&together);
    hash_sha256("abc", 3, digest);
    for (int i = 0; i < 20000; i++)
        hash_sha256(digest, HASH_SHA256_BYTES, digest);
    return NULL;
}

static void threads_do_not_disturb_each_other(void **state)
{
    (void)state;
    assert_int_equal(pthread_barrier_init(&together, NULL, 5), 0);
    pthread_t threads[4];
    uint8_t digests[4][HASH_SHA256_BYTES], expected[HASH_SHA256_BYTES];
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hash_many, digests[i]), 0);
    hash_many(expected);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_memory_equal(digests[i], expected, sizeof expected);
    }
    pthread_barrier_destroy(&together);
}

static void pieces_have_the_hash_of_the_whole(void **state)
{
    (void)state;
    uint8_t bytes[1000], whole[HASH_SHA256_BYTES], pieces[HASH_SHA256_BYTES];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7);
    hash_sha256(bytes, sizeof bytes, whole);
    struct hash_stream *stream = hash_stream_open();
    for (size_t at = 0; at < sizeof bytes; at += 125)
        hash_stream_add(stream, bytes + at, 125);
    hash_stream_add(stream, bytes, 0);
    hash_stream_end(stream, pieces);
    assert_memory_equal(pieces, whole, sizeof whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_gives_the_fips_vectors),
        cmocka_unit_test(hmac_gives_the_rfc_4231_vectors),
        cmocka_unit_test(a_key_of_one_block_is_used_as_it_is_and_one_byte_more_is_hashed),
        cmocka_unit_test(threads_do_not_disturb_each_other),
        cmocka_unit_test(pieces_have_the_hash_of_the_whole),
    };
    return cmocka_run_group_tests_name("base/sha256", tests, NULL, NULL);
}
