/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/certificate_list.h"

#include "tests/unit/base/unit.h"

static enum status parsed(
    const char *list, struct certificate_files files[CERTIFICATES_MAX], uint32_t *count)
{
    return certificate_list_parse(span_from_string(list), files, count);
}

static void pairs_are_read_in_their_order(void **state)
{
    struct certificate_files files[CERTIFICATES_MAX];
    uint32_t count;
    (void)state;
    assert_int_equal(parsed("/etc/a.pem:/etc/a.key, b.pem:b.key ,c:d", files, &count), STATUS_OK);
    assert_int_equal(count, 3);
    assert_string_equal(files[0].certificate, "/etc/a.pem");
    assert_string_equal(files[0].key, "/etc/a.key");
    assert_string_equal(files[1].certificate, "b.pem");
    assert_string_equal(files[1].key, "b.key");
    assert_string_equal(files[2].key, "d");
}

static void what_is_no_pair_is_refused(void **state)
{
    static const char *const bad[] = { "", "a", "a:", ":b", "a:b,", "a:b,,c:d", "a:b:c", ",a:b",
        "a:b c:d,x" };
    struct certificate_files files[CERTIFICATES_MAX];
    uint32_t count;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(parsed(bad[i], files, &count), STATUS_BAD_INPUT);
}

static void so_many_pairs_and_so_long_paths_and_no_more(void **state)
{
    char list[CERTIFICATES_MAX * 4 + 8] = "", path[CERTIFICATE_PATH_MAX + 8];
    struct certificate_files files[CERTIFICATES_MAX];
    uint32_t count;
    (void)state;
    for (size_t i = 0; i < CERTIFICATES_MAX; i++)
        memcpy(list + 4 * i, "a:b,", 5);
    list[4 * CERTIFICATES_MAX - 1] = 0;
    assert_int_equal(parsed(list, files, &count), STATUS_OK);
    assert_int_equal(count, CERTIFICATES_MAX);
    memcpy(list + 4 * CERTIFICATES_MAX - 1, ",a:b", 5);
    assert_int_equal(parsed(list, files, &count), STATUS_BAD_INPUT);
    memset(path, 'p', sizeof path);
    memcpy(path + CERTIFICATE_PATH_MAX - 1, ":k", 3);
    assert_int_equal(parsed(path, files, &count), STATUS_OK);
    memcpy(path + CERTIFICATE_PATH_MAX - 1, "p:k", 4);
    assert_int_equal(parsed(path, files, &count), STATUS_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_read_in_their_order),
        cmocka_unit_test(what_is_no_pair_is_refused),
        cmocka_unit_test(so_many_pairs_and_so_long_paths_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
