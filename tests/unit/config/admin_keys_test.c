/* SPDX-License-Identifier: Apache-2.0 */
/* The file of admin keys has names, roles and hashes. A key that a request shows is looked up in it. */
#include "config/admin_keys.h"

#include "base/text.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRONG "sk_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"
#define STRONG_TOO "sk_0123456789abcdefghijklmnopqrstuvwxyzABCDEFH"

static struct admin_keys keys;
static char error[ADMIN_ERROR];

static void hash_write(const char *key, char hex[2 * HASH_SHA256_BYTES + 1])
{
    uint8_t hash[HASH_SHA256_BYTES];
    struct text text = text_in(hex, (size_t)2 * HASH_SHA256_BYTES);
    hash_sha256(key, strlen(key), hash);
    text_hex(&text, span_of(hash, sizeof hash));
    hex[2 * HASH_SHA256_BYTES] = '\0';
}

static enum status load(const char *lines)
{
    char path[] = "/tmp/stampede-admin-keys-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, lines, strlen(lines)), strlen(lines));
    close(fd);
    const enum status status = admin_keys_load(&keys, path, error);
    unlink(path);
    return status;
}

static const struct admin_key *find(const char *key)
{
    return admin_keys_find(&keys, span_from_string(key));
}

static void a_key_is_found_by_its_hash_with_name_and_role(void **state)
{
    char hash[2 * HASH_SHA256_BYTES + 1], other[2 * HASH_SHA256_BYTES + 1], lines[512];
    (void)state;
    hash_write(STRONG, hash);
    hash_write(STRONG_TOO, other);
    snprintf(lines, sizeof lines, "# who\n\nanna:admin:%s\r\nbert:viewer:%s\n", hash, other);
    assert_int_equal(load(lines), STATUS_OK);
    assert_int_equal(keys.count, 2);
    assert_string_equal(find(STRONG)->name, "anna");
    assert_int_equal(find(STRONG)->right.role, ADMIN_ADMIN);
    assert_string_equal(find(STRONG_TOO)->name, "bert");
    assert_int_equal(find(STRONG_TOO)->right.role, ADMIN_VIEWER);
}

static void a_key_of_a_channel_names_its_channel_and_is_below_all_others(void **state)
{
    static const char *const bad[] = { "channel", "channel=", "channel=web", "channel=T",
        "channel=a b", "channel=12345678901234567" };
    char hash[2 * HASH_SHA256_BYTES + 1], lines[512], text[ADMIN_ROLE_CHARS_MAX + 1];
    (void)state;
    hash_write(STRONG, hash);
    snprintf(lines, sizeof lines, "tmall-1:channel=tmall:%s\n", hash);
    assert_int_equal(load(lines), STATUS_OK);
    assert_int_equal(find(STRONG)->right.role, ADMIN_CHANNEL);
    assert_true(ADMIN_CHANNEL < ADMIN_VIEWER);
    assert_string_equal(find(STRONG)->right.channel, "tmall");
    assert_string_equal(admin_right_text(&find(STRONG)->right, text), "channel=tmall");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(admin_right_read(span_from_string(bad[i])).role, ADMIN_NOBODY);
    const struct admin_right longest = admin_right_read(SPAN("channel=1234567890123456"));
    assert_string_equal(admin_right_text(&longest, text), "channel=1234567890123456");
    snprintf(lines, sizeof lines, "tmall:channel=tmall:scrypt:%032d:%s\n", 0, hash);
    assert_int_equal(load(lines), STATUS_BAD_INPUT); /* a channel has no password */
}

static void only_the_whole_hash_opens(void **state)
{
    char hash[2 * HASH_SHA256_BYTES + 1], lines[256];
    (void)state;
    hash_write(STRONG, hash);
    for (size_t at = 0; at < sizeof hash - 1; at++) {
        char wrong[sizeof hash];
        memcpy(wrong, hash, sizeof wrong);
        wrong[at] = wrong[at] == '0' ? '1' : '0';
        snprintf(lines, sizeof lines, "anna:admin:%s\n", wrong);
        assert_int_equal(load(lines), STATUS_OK);
        assert_null(find(STRONG));
    }
}

static void a_key_that_somebody_made_up_is_not_taken_but_told(void **state)
{
    static const char *const weak[] = { "secret", "sk_0123", (STRONG "x"),
        "sk_0123456789abcdefghijklmnopqrstuvwxyzABCDE!F",
        "pk_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG" };
    char hash[2 * HASH_SHA256_BYTES + 1], lines[256];
    (void)state;
    for (size_t i = 0; i < sizeof weak / sizeof *weak; i++) {
        hash_write(weak[i], hash);
        snprintf(lines, sizeof lines, "anna:admin:%s\n", hash);
        assert_int_equal(load(lines), STATUS_OK);
        assert_null(find(weak[i]));
        assert_string_equal(admin_keys_find_weak(&keys, span_from_string(weak[i]))->name, "anna");
    }
    assert_null(admin_keys_find_weak(&keys, SPAN_NONE));
    assert_null(admin_keys_find_weak(&keys, SPAN(STRONG)));
}

#define SALT "000102030405060708090a0b0c0d0e0f"
#define HEX64 SALT SALT

static void a_password_is_found_by_its_name_and_its_hash_but_opens_nothing_as_a_key(void **state)
{
    char hash[2 * HASH_SHA256_BYTES + 1], lines[512];
    (void)state;
    hash_write(STRONG, hash);
    snprintf(lines, sizeof lines,
        "anna:viewer:%s\nanna:admin:scrypt:" SALT ":" HEX64 "\nbert:admin:scrypt:" SALT ":%s\n",
        hash, hash);
    assert_int_equal(load(lines), STATUS_OK);
    const struct admin_key *anna = admin_keys_find_password(&keys, SPAN("anna"));
    assert_int_equal(anna->right.role, ADMIN_ADMIN);
    assert_int_equal(anna->salt[15], 15);
    assert_ptr_equal(admin_keys_find_hash(&keys, anna->hash), anna);
    assert_null(admin_keys_find_password(&keys, SPAN("ann")));
    assert_null(admin_keys_find_password(&keys, SPAN("")));
    snprintf(lines, sizeof lines, "bert:admin:scrypt:" SALT ":%s\n", hash);
    assert_int_equal(load(lines), STATUS_OK);
    assert_null(find(STRONG)); /* a key whose hash equals that of a password */
}

static void a_name_has_one_password(void **state)
{
    (void)state;
    assert_int_equal(load("anna:admin:scrypt:" SALT ":" HEX64 "\nanna:viewer:scrypt:" SALT ":" HEX64 "\n"),
        STATUS_BAD_INPUT);
    assert_non_null(strstr(error, "line 2: a second password of the same name"));
}

static void a_line_that_is_wrong_is_named_and_nobody_gets_in(void **state)
{
#define SALTED(head, tail) (head SALT tail)
    static const char *const forms[] = { "anna:admin:%s0", "anna:admin:x%.63s", "anna:boss:%s",
        "anna:admin:scrypt:%s", "anna:admin:scrypt:0001:%s", "anna:admin:scrypt::%s",
        SALTED("anna:admin:scrypt:", ":%.62s"), SALTED("anna:boss:scrypt:", ":%s"),
        SALTED("anna:admin:argon2:", ":%s"), "anna::%s", ":admin:%s", "anna:Admin:%s",
        "anna:nobody:%s", "anna%s", "anna:admin:%.62s",
        "a234567890123456789012345678901234567890123456789012345678901234567:admin:%s" };
    char hash[2 * HASH_SHA256_BYTES + 1], line[256], lines[512];
    (void)state;
    hash_write(STRONG, hash);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(line, sizeof line, forms[i], hash);
#pragma GCC diagnostic pop
        snprintf(lines, sizeof lines, "# first\n%s\n", line);
        if (load(lines) != STATUS_BAD_INPUT)
            fail_msg("accepted: %s", line);
        assert_non_null(strstr(error, "line 2"));
    }
}

static void as_many_keys_as_there_is_room_for_and_no_more(void **state)
{
    static char lines[(ADMIN_KEYS_MAX + 1) * 100];
    char hash[2 * HASH_SHA256_BYTES + 1];
    size_t size = 0;
    (void)state;
    hash_write(STRONG, hash);
    for (int i = 0; i < ADMIN_KEYS_MAX; i++)
        size += (size_t)snprintf(lines + size, sizeof lines - size, "n%d:viewer:%s\n", i, hash);
    assert_int_equal(load(lines), STATUS_OK);
    assert_int_equal(keys.count, ADMIN_KEYS_MAX);
    snprintf(lines + size, sizeof lines - size, "more:viewer:%s\n", hash);
    assert_int_equal(load(lines), STATUS_BAD_INPUT);
    assert_int_equal(admin_keys_load(&keys, "/nowhere/keys", error), STATUS_IO);
    assert_int_equal(keys.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_found_by_its_hash_with_name_and_role),
        cmocka_unit_test(a_key_of_a_channel_names_its_channel_and_is_below_all_others),
        cmocka_unit_test(only_the_whole_hash_opens),
        cmocka_unit_test(a_key_that_somebody_made_up_is_not_taken_but_told),
        cmocka_unit_test(a_password_is_found_by_its_name_and_its_hash_but_opens_nothing_as_a_key),
        cmocka_unit_test(a_name_has_one_password),
        cmocka_unit_test(a_line_that_is_wrong_is_named_and_nobody_gets_in),
        cmocka_unit_test(as_many_keys_as_there_is_room_for_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
