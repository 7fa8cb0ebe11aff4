/* SPDX-License-Identifier: Apache-2.0 */
#include "base/password.h"

#include "base/text.h"
#include "tests/unit/base/unit.h"

static const uint8_t salt[PASSWORD_SALT_BYTES] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

static void hash_is(struct span password, const uint8_t with[PASSWORD_SALT_BYTES], char hex[65])
{
    uint8_t hash[HASH_SHA256_BYTES];
    struct text text = text_in(hex, 64);
    assert_int_equal(password_hash(password, with, hash), STATUS_OK);
    text_hex(&text, span_of(hash, sizeof hash));
    hex[64] = 0;
}

/* Computed with another implementation: hashlib.scrypt(..., n=2**15, r=8, p=3, dklen=32). */
static void the_hash_is_that_of_scrypt_with_the_figures_that_the_header_names(void **state)
{
    char hex[65];
    (void)state;
    hash_is(SPAN("correct horse battery staple"), salt, hex);
    assert_string_equal(hex, "6705dba046cafbaba8de989bca88e0038ce03542d0c0cd96a8f956a72f86ee67");
}

static void another_salt_or_letter_makes_another_hash(void **state)
{
    char first[65], other[65];
    uint8_t more[PASSWORD_SALT_BYTES] = { 1 };
    (void)state;
    hash_is(SPAN("correct horse battery staple"), salt, first);
    hash_is(SPAN("correct horse battery staple"), more, other);
    assert_string_not_equal(first, other);
    hash_is(SPAN("correct horse battery Staple"), salt, other);
    assert_string_not_equal(first, other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hash_is_that_of_scrypt_with_the_figures_that_the_header_names),
        cmocka_unit_test(another_salt_or_letter_makes_another_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
