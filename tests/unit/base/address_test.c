/* SPDX-License-Identifier: Apache-2.0 */
#include "base/address.h"

#include "unit.h"

static struct address parsed(const char *text)
{
    struct address address;
    assert_int_equal(address_parse(span_from_string(text), &address), STATUS_OK);
    return address;
}

static void good_spellings_come_back_in_the_one_we_print(void **state)
{
    static const char *const pairs[][2] = {
        { "0.0.0.0", "0.0.0.0" },
        { "255.255.255.255", "255.255.255.255" },
        { "203.0.113.7", "203.0.113.7" },
        { "::ffff:203.0.113.7", "203.0.113.7" },
        { "::ffff:cb00:7107", "203.0.113.7" },
        { "0:0:0:0:0:FFFF:203.0.113.7", "203.0.113.7" },
        { "::", "::" },
        { "2001:DB8:0:0:0:0:0:1", "2001:db8::1" },
        { "::1.2.3.4", "::1.2.3.4" },
        { "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        char bytes[ADDRESS_CHARS_MAX + 1] = { 0 };
        struct text out = text_in(bytes, ADDRESS_CHARS_MAX);
        const struct address address = parsed(pairs[i][0]);
        address_text(&out, &address);
        assert_string_equal(bytes, pairs[i][1]);
    }
}

static void anything_else_is_refused(void **state)
{
    static const char *const bad[] = { "", " ", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4",
        "1.2.3.4 ", " 1.2.3.4", "1.2.3.4:80", "0x1.2.3.4", "1.2.3.-4", "[::1]", "::1%eth0",
        ":::", "1::2::3", "12345::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "g::", "unknown",
        "_hidden", "1.2.3.4,5.6.7.8", "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.2555" };
    struct address address;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(address_parse(span_from_string(bad[i]), &address), STATUS_BAD_INPUT);
    assert_int_equal(address_parse(span_of("1.2.3.4\0", 8), &address), STATUS_BAD_INPUT);
    assert_int_equal(address_parse(SPAN_NONE, &address), STATUS_BAD_INPUT);
}

static bool within(const char *address_text_, const char *block_text)
{
    struct address_block block;
    const struct address address = parsed(address_text_);
    assert_int_equal(address_block_parse(span_from_string(block_text), &block), STATUS_OK);
    return address_in_block(&address, &block);
}

static void blocks_hold_their_first_and_last_address_and_not_one_more(void **state)
{
    (void)state;
    assert_true(within("10.0.0.0", "10.0.0.0/8"));
    assert_true(within("10.255.255.255", "10.0.0.0/8"));
    assert_false(within("9.255.255.255", "10.0.0.0/8"));
    assert_false(within("11.0.0.0", "10.0.0.0/8"));
    assert_true(within("203.0.113.127", "203.0.113.0/25"));
    assert_false(within("203.0.113.128", "203.0.113.0/25"));
    assert_true(within("1.2.3.4", "0.0.0.0/0"));
    assert_true(within("1.2.3.4", "1.2.3.4"));
    assert_false(within("1.2.3.5", "1.2.3.4"));
    assert_true(within("::ffff:1.2.3.4", "1.2.3.4/32"));
    assert_true(within("1.2.3.4", "::ffff:1.2.3.0/120"));
    assert_true(within("2001:db8:7fff::1", "2001:db8::/33"));
    assert_false(within("2001:db8:8000::1", "2001:db8::/33"));
    assert_true(within("::1", "::1/128"));
}

static void a_block_has_one_family(void **state)
{
    (void)state;
    assert_false(within("1.2.3.4", "::/0"));
    assert_false(within("::1", "0.0.0.0/0"));
    assert_true(within("fe80::1", "::/0"));
}

static void blocks_with_other_bits_set_or_no_good_number_are_refused(void **state)
{
    static const char *const bad[] = { "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/08",
        "10.0.0.0/-1", "10.0.0.0/8 ", "10.0.0.1/8", "203.0.113.64/25", "::1/127", "::/129",
        "::ffff:0:0/90", "10.0.0.0/8/8" };
    struct address_block block;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(address_block_parse(span_from_string(bad[i]), &block), STATUS_BAD_INPUT);
    assert_int_equal(address_block_parse(SPAN_NONE, &block), STATUS_BAD_INPUT);
}

static void blocks_are_printed_as_they_are_written(void **state)
{
    static const char *const texts[] = { "10.0.0.0/8", "2001:db8::/32", "1.2.3.4", "::1", "0.0.0.0/0" };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char bytes[ADDRESS_BLOCK_CHARS_MAX + 1] = { 0 };
        struct text out = text_in(bytes, ADDRESS_BLOCK_CHARS_MAX);
        struct address_block block;
        assert_int_equal(address_block_parse(span_from_string(texts[i]), &block), STATUS_OK);
        address_block_text(&out, &block);
        assert_string_equal(bytes, texts[i]);
    }
}

static void one_ipv6_customer_counts_as_one_and_an_ipv4_address_by_itself(void **state)
{
    const struct address a = parsed("2001:db8:1:2::1"), b = parsed("2001:db8:1:2:ffff::2"),
                         c = parsed("2001:db8:1:3::1"), d = parsed("10.0.0.1"), e = parsed("10.0.0.2");
    const struct address group_a = address_group(&a, 64), group_b = address_group(&b, 64),
                         group_c = address_group(&c, 64), group_d = address_group(&d, 64),
                         group_e = address_group(&e, 1);
    (void)state;
    assert_true(address_equal(&group_a, &group_b));
    assert_false(address_equal(&group_a, &group_c));
    assert_true(address_equal(&group_d, &d));
    assert_true(address_equal(&group_e, &e));
    for (uint32_t bits = 1; bits <= ADDRESS_BITS; bits++) { /* the fast way for 64 is no other way */
        const struct address all = parsed("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
        const struct address group = address_group(&all, bits);
        uint32_t set = 0;
        for (size_t i = 0; i < sizeof group.bytes; i++)
            set += (uint32_t)__builtin_popcount(group.bytes[i]);
        assert_int_equal(set, bits);
    }
}

static void the_hash_depends_on_the_key_and_on_every_bit(void **state)
{
    const struct hash_key key = { 1, 2 }, other = { 1, 3 };
    const struct address base = parsed("203.0.113.7");
    (void)state;
    assert_int_not_equal(address_hash(key, &base), address_hash(other, &base));
    for (uint32_t bit = 0; bit < ADDRESS_BITS; bit++) {
        struct address flipped = base;
        flipped.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_not_equal(address_hash(key, &base), address_hash(key, &flipped));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_spellings_come_back_in_the_one_we_print),
        cmocka_unit_test(anything_else_is_refused),
        cmocka_unit_test(blocks_hold_their_first_and_last_address_and_not_one_more),
        cmocka_unit_test(a_block_has_one_family),
        cmocka_unit_test(blocks_with_other_bits_set_or_no_good_number_are_refused),
        cmocka_unit_test(blocks_are_printed_as_they_are_written),
        cmocka_unit_test(one_ipv6_customer_counts_as_one_and_an_ipv4_address_by_itself),
        cmocka_unit_test(the_hash_depends_on_the_key_and_on_every_bit),
    };
    return cmocka_run_group_tests_name("base/address", tests, NULL, NULL);
}
