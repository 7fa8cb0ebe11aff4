/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include "unit.h"

static void known_texts_have_known_digests(void **state)
{
    /* FIPS 180-4's example, and the empty text. */
    static const uint8_t abc[HASH_SHA1_BYTES] = { 0xa9, 0x99, 0x3e, 0x36, 0x47, 0x06, 0x81, 0x6a,
        0xba, 0x3e, 0x25, 0x71, 0x78, 0x50, 0xc2, 0x6c, 0x9c, 0xd0, 0xd8, 0x9d };
    static const uint8_t nothing[HASH_SHA1_BYTES] = { 0xda, 0x39, 0xa3, 0xee, 0x5e, 0x6b, 0x4b,
        0x0d, 0x32, 0x55, 0xbf, 0xef, 0x95, 0x60, 0x18, 0x90, 0xaf, 0xd8, 0x07, 0x09 };
    uint8_t digest[HASH_SHA1_BYTES];
    (void)state;
    hash_sha1("abc", 3, digest);
    assert_memory_equal(digest, abc, sizeof abc);
    hash_sha1("", 0, digest);
    assert_memory_equal(digest, nothing, sizeof nothing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_texts_have_known_digests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
