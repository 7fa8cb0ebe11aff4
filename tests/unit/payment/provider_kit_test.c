/* SPDX-License-Identifier: Apache-2.0 */
#include "payment/provider.h"

#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <stdlib.h>

static uint32_t closed;

static void bank_close(struct provider *provider)
{
    closed++;
    free(provider);
}

/* The one value that it has is what is wrong with it. */
static const char *bank_take(struct provider *provider, const char *const *values)
{
    assert_non_null(provider->ops);
    assert_null(provider[1].ops);
    return values[0];
}

static void a_provider_with_a_wrong_setting_is_closed_and_named(void **state)
{
    static const struct provider_ops bank = { .name = "bank", .close = bank_close };
    struct provider *provider = NULL;
    char error[PROVIDER_ERROR] = "";
    (void)state;
    const size_t bytes = 2 * sizeof *provider;
    const char *wrong = "key must be set", *good = NULL;
    assert_int_equal(provider_make(&provider, &bank, bytes, bank_take, &wrong, error), STATUS_BAD_INPUT);
    assert_string_equal(error, "bank: key must be set");
    assert_null(provider);
    assert_int_equal(closed, 1);
    assert_int_equal(provider_make(&provider, &bank, bytes, bank_take, &good, error), STATUS_OK);
    assert_ptr_equal(provider->ops, &bank);
    assert_int_equal(closed, 1);
    bank_close(provider);
}

static void a_private_key_that_is_none_is_named(void **state)
{
    char path[] = "/tmp/stampede-kit-XXXXXX";
    struct sign_key *key = NULL;
    (void)state;
    const int fd = mkstemp(path);
    assert_int_equal(write(fd, "no key", 6), 6);
    close(fd);
    assert_string_equal(provider_private_key(path, &key),
        "private_key_file is not an RSA private key in PEM of 2048 bits or more");
    unlink(path);
    assert_string_equal(provider_private_key(path, &key), "private_key_file can't be read");
    assert_null(key);
}

static void a_header_is_found_by_name_in_any_case_and_only_once(void **state)
{
    const struct span head = SPAN("Host: a\r\nWechatpay-Nonce:  x y \r\nEmpty:\r\nTwice: 1\r\n"
                                  "tWICE: 2\r\nLast: z");
    (void)state;
    assert_true(span_equal(provider_header(head, "wechatpay-nonce"), SPAN("x y")));
    assert_true(span_equal(provider_header(head, "Last"), SPAN("z")));
    assert_non_null(provider_header(head, "Empty").data);
    assert_int_equal(provider_header(head, "Empty").size, 0);
    assert_null(provider_header(head, "Twice").data);
    assert_null(provider_header(head, "Hos").data);
    assert_null(provider_header(head, "ost").data);
    assert_null(provider_header(SPAN_NONE, "Host").data);
}

static void words_are_cut_between_characters_and_have_no_control_characters(void **state)
{
    struct provider_said said = { .amount = 7, .reference = "x" };
    char longer[PAYMENT_ERROR_MAX + 3];
    (void)state;
    provider_say(&said, WORD_REFUSED, "a\nb%s", "\x7f\x01");
    assert_int_equal(said.word, WORD_REFUSED);
    assert_string_equal(said.error, "a?b??");
    assert_int_equal(said.amount, 0);
    assert_string_equal(said.reference, "");
    memset(longer, 'x', sizeof longer);
    memcpy(longer + PAYMENT_ERROR_MAX - 1, "\xe9\x99\x90", 4);
    provider_say(&said, WORD_AGAIN, "%s", longer);
    assert_int_equal(strlen(said.error), PAYMENT_ERROR_MAX - 1);
}

static void no_answer_overload_and_trouble_mean_again(void **state)
{
    static struct outgoing_call call;
    struct provider_said said;
    (void)state;
    for (int status = 200; status < 600; status++) {
        call = (struct outgoing_call){ .result = OUTGOING_ANSWERED, .status = status };
        assert_int_equal(provider_unanswered(&call, &said), status == 429 || status >= 500);
    }
    assert_int_equal(said.word, WORD_AGAIN);
    call = (struct outgoing_call){ .result = OUTGOING_FAILED, .error = "timeout" };
    assert_true(provider_unanswered(&call, &said));
    assert_string_equal(said.error, "no answer: timeout");
    call.result = OUTGOING_ADDRESS_REFUSED;
    assert_true(provider_unanswered(&call, &said));
    assert_int_equal(said.word, WORD_AGAIN);
}

static void names_are_printable_and_fit(void **state)
{
    char out[4] = "###";
    (void)state;
    assert_true(provider_name_copy(out, sizeof out, SPAN("a~!")));
    assert_string_equal(out, "a~!");
    assert_false(provider_name_copy(out, sizeof out, SPAN("abcd")));
    assert_false(provider_name_copy(out, sizeof out, SPAN("a b")));
    assert_false(provider_name_copy(out, sizeof out, SPAN("a\n")));
    assert_false(provider_name_copy(out, sizeof out, SPAN("\xe9")));
    assert_true(provider_name_copy(out, sizeof out, SPAN_NONE));
    assert_string_equal(out, "");
}

static void titles_are_cut_between_characters(void **state)
{
    (void)state;
    assert_true(span_equal(provider_title("\xe9\x99\x90\xe9\x87\x8f", 5), SPAN("\xe9\x99\x90")));
    assert_true(
        span_equal(provider_title("\xe9\x99\x90\xe9\x87\x8f", 6), SPAN("\xe9\x99\x90\xe9\x87\x8f")));
    assert_true(span_equal(provider_title("", 6), SPAN("order")));
    assert_true(span_equal(provider_title(NULL, 6), SPAN("order")));
}

static void fresh_is_a_window_with_two_edges(void **state)
{
    (void)state;
    assert_true(provider_fresh(1000, 1300 * 1000 + 999, 300, 10));
    assert_false(provider_fresh(1000, 1301 * 1000, 300, 10));
    assert_true(provider_fresh(1010, 1000 * 1000, 300, 10));
    assert_false(provider_fresh(1011, 1000 * 1000, 300, 10));
    assert_false(provider_fresh(UINT64_MAX, 0, 300, 300));
    assert_false(provider_fresh(0, UINT64_MAX, 300, 300));
}

static void addresses_are_https_or_this_machine(void **state)
{
    bool local = true;
    (void)state;
    assert_true(provider_url_fits("https://a.example/x", 64, &local));
    assert_false(local);
    assert_true(provider_url_fits("http://127.0.0.1:80/x", 64, &local));
    assert_true(local);
    assert_true(provider_url_fits("http://localhost:80", 64, &local));
    static const char *const wrong[] = { "", "http://a.example/", "http://127.0.0.1.example/",
        "ftp://a", "https://a/?x", "https://a/#x", "https://a b", "https://a\n", "https://a\"b",
        "http://localhost.a/" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(provider_url_fits(wrong[i], 64, &local));
    assert_false(provider_url_fits("https://a.example/x", 18, &local));
    assert_true(provider_url_fits("https://a.example/x", 19, &local));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_provider_with_a_wrong_setting_is_closed_and_named),
        cmocka_unit_test(a_private_key_that_is_none_is_named),
        cmocka_unit_test(a_header_is_found_by_name_in_any_case_and_only_once),
        cmocka_unit_test(words_are_cut_between_characters_and_have_no_control_characters),
        cmocka_unit_test(no_answer_overload_and_trouble_mean_again),
        cmocka_unit_test(names_are_printable_and_fit),
        cmocka_unit_test(titles_are_cut_between_characters),
        cmocka_unit_test(fresh_is_a_window_with_two_edges),
        cmocka_unit_test(addresses_are_https_or_this_machine),
    };
    return cmocka_run_group_tests_name("payment/provider_kit", tests, NULL, NULL);
}
