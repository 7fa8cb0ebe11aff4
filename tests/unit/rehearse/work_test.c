/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/work.h"

#include "base/base64.h"
#include "funnel/human/altcha.h"
#include "tests/unit/base/unit.h"

#include <stdlib.h>
#include <string.h>

static const char secret[ALTCHA_SECRET_CHARS + 1] =
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

static struct span challenge_make(struct altcha_challenge *challenge, uint32_t hashes, char *bytes)
{
    struct text text = text_in(bytes, ALTCHA_CHALLENGE_BYTES_MAX);
    *challenge = (struct altcha_challenge){ .item = 7, .user = 9, .expires_s = 1000 };
    memset(challenge->nonce, 0x5a, sizeof challenge->nonce);
    memset(challenge->salt, 0x3c, sizeof challenge->salt);
    altcha_work(hashes, challenge);
    altcha_render(challenge, secret, &text);
    assert_false(text.overflow);
    return text_span(&text);
}

static void what_is_solved_is_accepted_by_the_server(void **state)
{
    (void)state;
    static const uint32_t works[] = { 1, 16, 300, 4000 };
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        char bytes[ALTCHA_CHALLENGE_BYTES_MAX];
        struct altcha_challenge challenge, read;
        char *payload = work_solve(challenge_make(&challenge, works[i], bytes));
        assert_non_null(payload);
        assert_int_equal(altcha_check(span_from_string(payload), secret, 7, 9, 1, &read), ALTCHA_SOLVED);
        free(payload);
    }
}

static void too_much_work_and_what_is_no_challenge_is_given_up(void **state)
{
    (void)state;
    char bytes[ALTCHA_CHALLENGE_BYTES_MAX];
    struct altcha_challenge challenge;
    assert_null(work_solve(challenge_make(&challenge, ALTCHA_HASHES_MAX, bytes)));
    assert_null(work_solve(SPAN("{\"token\":\"x\",\"image\":\"data:\"}")));
    assert_null(work_solve(SPAN_NONE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_solved_is_accepted_by_the_server),
        cmocka_unit_test(too_much_work_and_what_is_no_challenge_is_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
