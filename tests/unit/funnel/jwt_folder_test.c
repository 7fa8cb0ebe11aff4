/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/funnel/jwt_folder_test.c: a folder gives the keys that its files name, all or none. */
#include "funnel/jwt.h"

#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECRET "0123456789abcdef0123456789abcdef"
/* A public key on P-256. */
#define PEM \
    "-----BEGIN PUBLIC KEY-----\n" \
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEtQ6SQfshltM/fooRyznrTn9wNQxF\n" \
    "0AGPr2F3/InnixYuWGiUuoMTw87OrjzdFp8gstcAnUnvwJAp+ypL+7vieQ==\n" \
    "-----END PUBLIC KEY-----\n"

static char folder[64], error[JWT_ERROR_BYTES];

static void put_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void drop_file(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(unlink(path), 0);
}

static int folder_make(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/jwt_folder_test.XXXXXX");
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int folder_drop(void **state)
{
    (void)state;
    return rmdir(folder);
}

static void a_folder_gives_its_keys_by_file_name(void **state)
{
    (void)state;
    struct jwt_keys *keys, *other;
    const struct jwt_key_source known[] = { { .kid = SPAN("ES256"), .pem = SPAN(PEM) },
        { .kid = SPAN("HS256"), .secret = SPAN(SECRET) } };
    put_file("ES256.pem", PEM);
    put_file("HS256.secret", SECRET "\n"); /* the newline is not part of it */
    put_file("README.txt", "not a key");
    put_file(".hidden.pem", "not a key");
    assert_int_equal(jwt_keys_load_folder(&keys, folder, error), STATUS_OK);
    assert_int_equal(jwt_keys_count(keys), 2);
    assert_int_equal(jwt_keys_load(&other, known, 2, error), STATUS_OK);
    const uint32_t one = jwt_key_mark(keys, 0), two = jwt_key_mark(keys, 1);
    const uint32_t ec = jwt_key_mark(other, 0), secret = jwt_key_mark(other, 1);
    assert_true((one == ec && two == secret) || (one == secret && two == ec)); /* folders have no order */
    jwt_keys_free(keys);
    jwt_keys_free(other);
    drop_file("ES256.pem");
    drop_file("HS256.secret");
    drop_file("README.txt");
    drop_file(".hidden.pem");
}

static void one_bad_key_and_there_are_none(void **state)
{
    (void)state;
    struct jwt_keys *keys;
    put_file("good.secret", SECRET);
    put_file("bad.pem", "not a key");
    assert_int_equal(jwt_keys_load_folder(&keys, folder, error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error, "bad"));
    assert_null(keys);
    drop_file("bad.pem");
    put_file("empty.secret", "");
    assert_int_equal(jwt_keys_load_folder(&keys, folder, error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error, "empty.secret"));
    drop_file("empty.secret");
    drop_file("good.secret");
}

static void a_folder_without_keys_or_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    struct jwt_keys *keys;
    assert_int_equal(jwt_keys_load_folder(&keys, folder, error), STATUS_BAD_INPUT);
    assert_int_equal(jwt_keys_load_folder(&keys, "/tmp/there/is/no/such/folder", error), STATUS_IO);
    assert_null(keys);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_drop)
int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(a_folder_gives_its_keys_by_file_name),
        RULE(one_bad_key_and_there_are_none),
        RULE(a_folder_without_keys_or_that_is_not_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
