/* SPDX-License-Identifier: Apache-2.0 */
/* The table, and admin_cli_parse by it. */
#include "api/admin_endpoints.h"
#include "cli/admin_parts.h"

#include "tests/unit/base/unit.h"

#include <stdlib.h>
#include <string.h>

#define NOW_MS UINT64_C(1794398400000)

static struct admin_request request;
static char error[ADMIN_ERROR_BYTES];

static enum status parse(const char *line)
{
    static char words[512];
    char *arguments[40];
    int count = 0, verb_words;
    snprintf(words, sizeof words, "%s", line);
    for (char *at = words, *word; (word = strsep(&at, " ")) != NULL;)
        arguments[count++] = word;
    const struct admin_verb *verb = admin_verb_find(count, arguments, &verb_words);
    assert_non_null(verb);
    error[0] = 0;
    return admin_request_parse(&request, verb, count - verb_words, arguments + verb_words, NOW_MS, error);
}

static void parsed(const char *line, const char *method, const char *path, const char *body)
{
    if (parse(line) != STATUS_OK)
        fail_msg("%s: %s", line, error);
    assert_string_equal(request.verb->method, method);
    assert_string_equal(request.path, path);
    if (body == NULL) {
        assert_null(request.body);
    } else {
        char *text = json_dumps(request.body, JSON_COMPACT);
        assert_string_equal(text, body);
        free(text);
    }
    admin_request_free(&request);
}

static void refused(const char *line, const char *says)
{
    assert_int_equal(parse(line), STATUS_BAD_INPUT);
    assert_null(request.body);
    if (strstr(error, says) == NULL)
        fail_msg("%s: \"%s\" does not say \"%s\"", line, error, says);
}

static void every_verb_has_help_method_path_and_bounded_options(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < admin_verb_count; i++) {
        const struct admin_verb *verb = &admin_verbs[i];
        bool takes_id = false;
        assert_non_null(verb->help);
        assert_memory_equal(verb->path, "/admin/v1/", 10);
        assert_null(verb->options[ADMIN_OPTIONS_MAX - 1].name);
        for (const struct admin_option *option = verb->options; option->name != NULL; option++) {
            const bool in_path = option->kind == OPTION_PATH || option->kind == OPTION_ID;
            takes_id |= in_path;
            assert_non_null(option->help);
            assert_true(in_path || option->member != NULL);
        }
        assert_true(takes_id == (strpbrk(verb->path, "%@") != NULL));
    }
}

#define ENDPOINT(method, role, effect, path, handler) { #method, path },
static const struct {
    const char *method, *path;
} endpoints[] = { ADMIN_ENDPOINT_LIST(ENDPOINT) };
enum { ENDPOINTS = sizeof endpoints / sizeof *endpoints };

/* "/sales/#?after" and "/admin/v1/sales/%" are one path. */
static bool same_path(const char *endpoint, const char *verb)
{
    verb += strlen("/admin/v1");
    for (; *endpoint != '\0' && *endpoint != '?'; endpoint++, verb++)
        if (*endpoint != *verb && !(*endpoint == '#' && *verb == '%'))
            return false;
    return *verb == '\0';
}

static bool has_verb(uint32_t at)
{
    for (uint32_t i = 0; i < admin_verb_count; i++)
        if (strcmp(endpoints[at].method, admin_verbs[i].method) == 0
            && same_path(endpoints[at].path, admin_verbs[i].path))
            return true;
    return false;
}

static bool has_endpoint(const struct admin_verb *verb)
{
    for (uint32_t i = 0; i < ENDPOINTS; i++)
        if (strcmp(endpoints[i].method, verb->method) == 0 && same_path(endpoints[i].path, verb->path))
            return true;
    return false;
}

/* What a verb asks for besides its own endpoint. */
static bool is_part_of_a_verb(const char *method, const char *path)
{
    static const char *const parts[] = {
        "GET /media/uploads/#",     /* media add */
        "GET /statements/missing?", /* statement import */
        "GET /reconcile",           /* reconcile */
    };
    char whole[128];
    snprintf(whole, sizeof whole, "%s %s", method, path);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strncmp(whole, parts[i], strlen(parts[i])) == 0)
            return true;
    return false;
}

static void every_endpoint_has_a_verb_and_every_verb_an_endpoint(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < ENDPOINTS; i++)
        if (has_verb(i) == is_part_of_a_verb(endpoints[i].method, endpoints[i].path))
            fail_msg("%s %s: no verb in cli/admin_verbs.c", endpoints[i].method, endpoints[i].path);
    for (uint32_t i = 0; i < admin_verb_count; i++)
        if (!has_endpoint(&admin_verbs[i]))
            fail_msg("%s: no endpoint in api/admin_endpoints.h", admin_verbs[i].name);
}

static void lines_become_the_requests_of_the_api(void **state)
{
    (void)state;
    parsed("product create --name Phone --image /a.svg --image /b.svg --list-price 499900 "
           "--currency CNY",
        "POST", "/admin/v1/products",
        "{\"name\":\"Phone\",\"images\":[\"/a.svg\",\"/b.svg\"],\"list_price\":499900,"
        "\"currency\":\"CNY\"}");
    parsed("sale create --title T --start +30s --end +10m --limit 2 --preheat-at +1s", "POST",
        "/admin/v1/sales",
        "{\"title\":\"T\",\"start_ms\":1794398430000,\"end_ms\":1794399000000,\"limit_per_user\":2,"
        "\"preheat_at_ms\":1794398401000}");
    parsed("item create --sale 1 --product 2 --price 99900 --total 1000 --channel web=600 "
           "--channel app=400",
        "POST", "/admin/v1/items",
        "{\"sale\":1,\"product\":2,\"flash_price\":99900,\"total\":1000,"
        "\"channels\":{\"web\":600,\"app\":400}}");
    parsed("item adjust 3 -5", "POST", "/admin/v1/items/3/adjust", "{\"delta\":-5}");
    parsed("item adjust 3 50 --channel safety", "POST", "/admin/v1/items/3/adjust",
        "{\"delta\":50,\"channel\":\"safety\"}");
    parsed("item move 3 --from web --to app --quantity 7", "POST", "/admin/v1/items/3/move",
        "{\"from\":\"web\",\"to\":\"app\",\"quantity\":7}");
    parsed("item list --sale 4", "GET", "/admin/v1/items?sale=4", NULL);
    parsed("item list", "GET", "/admin/v1/items", NULL);
    parsed("item counts 9", "GET", "/admin/v1/items/9/counts", NULL);
    parsed("orders --item 2 --user 0123456789abcdef", "GET",
        "/admin/v1/orders?item=2&user=0123456789abcdef", NULL);
    parsed("sale preheat 8", "POST", "/admin/v1/sales/8/preheat", NULL);
    parsed("order paid 0123456789abcdef --amount 5 --currency CNY --reference r-1", "POST",
        "/admin/v1/orders/0123456789abcdef/paid",
        "{\"amount\":5,\"currency\":\"CNY\",\"reference\":\"r-1\"}");
    parsed("order cancel 0123456789abcdef", "POST", "/admin/v1/orders/0123456789abcdef/cancel", NULL);
    parsed("order refund 0123456789abcdef --to stock", "POST",
        "/admin/v1/orders/0123456789abcdef/refund", "{\"to\":\"stock\"}");
    parsed("dead-letter list", "GET", "/admin/v1/dead-letters", NULL);
}

static void messages_to_the_shop_are_listed_and_replayed(void **state)
{
    (void)state;
    parsed("webhook list --state failed", "GET", "/admin/v1/webhooks?state=failed", NULL);
    parsed("webhook list --order 5f0c1f6de1a2b3c4", "GET",
        "/admin/v1/webhooks?order=5f0c1f6de1a2b3c4", NULL);
    parsed("webhook replay 17", "POST", "/admin/v1/webhooks/17/replay", NULL);
    parsed("webhook replay-from 1794398400000", "POST", "/admin/v1/webhooks/replay",
        "{\"from_ms\":1794398400000}");
    refused("webhook replay-from", "needs TIME");
}

static void verbs_of_money_become_requests(void **state)
{
    (void)state;
    parsed("payment list 0123456789abcdef", "GET", "/admin/v1/orders/0123456789abcdef/payments", NULL);
    parsed("order details 0123456789abcdef", "GET", "/admin/v1/orders/0123456789abcdef/details", NULL);
    parsed("payment totals", "GET", "/admin/v1/payments/totals", NULL);
    parsed("refund list", "GET", "/admin/v1/refunds", NULL);
    parsed("refund list --open", "GET", "/admin/v1/refunds?open=1", NULL);
    parsed("sandbox show", "GET", "/admin/v1/sandbox", NULL);
    parsed("sandbox set --lost 20 --delay-ms 400", "PATCH", "/admin/v1/sandbox",
        "{\"lost\":20,\"delay_ms\":400}");
    refused("payment list 0123", "ORDER must be 16 hex digits");
    refused("payment list", "payment list needs ORDER");
    refused("sale change 2", "nothing to change");
    refused("switches set", "nothing to change");
    refused("sandbox set --lost many", "--lost must be a whole number");
    parsed("dead-letter list --state open", "GET", "/admin/v1/dead-letters?state=open", NULL);
    parsed("dead-letter retry 7", "POST", "/admin/v1/dead-letters/7/retry", NULL);
    parsed("dead-letter dismiss 7 --note gone", "POST", "/admin/v1/dead-letters/7/dismiss",
        "{\"note\":\"gone\"}");
    parsed("report 3", "GET", "/admin/v1/sales/3/report", NULL);
    parsed("reconcile --repair", "POST", "/admin/v1/reconcile", "{\"repair\":true}");
}

static void what_goes_into_a_query_is_escaped(void **state)
{
    (void)state;
    parsed("orders --user a&b=\xe5\x8f\x8c/?", "GET",
        "/admin/v1/orders?user=a%26b%3D%E5%8F%8C%2F%3F", NULL);
}

static void wrong_values_are_refused_by_the_options_name(void **state)
{
    (void)state;
    refused("sale open", "sale open needs N");
    refused("order cancel 12", "ORDER must be 16 hex digits");
    refused("order cancel 0123456789abcdeg", "ORDER must be 16 hex digits");
    refused("order refund 0123456789abcdef", "order refund needs --to");
    refused("sale open x", "N must be a number, 1 or more");
    refused("sale open 0", "N must be");
    refused("sale open 1 2", "sale open does not accept 2");
    refused("sale open 1 --now", "sale open does not accept --now");
    refused("sale create --title T --start noon --end +1m", "--start must be a time");
    refused("sale create --title T --start +1s", "sale create needs --end");
    refused("sale create --title", "--title must be");
    refused("item adjust 1 many", "DELTA must be");
    refused("item adjust 1 5 --channel a --channel b", "--channel occurs twice");
    refused("item create --sale 1 --product 2 --price -1 --total 1", "--price must be an amount");
    refused("item create --sale 1 --product 2 --price 9223372036854775808 --total 1", "--price must be");
    refused("item create --sale 1 --product 2 --price 1 --total 1 --channel web",
        "--channel must be name=N");
    refused("product create --name \xff --list-price 1 --currency CNY", "--name must be UTF-8 text");
}

static void an_unknown_verb_is_none(void **state)
{
    (void)state;
    int words;
    char *one[] = { "sale", NULL }, *other[] = { "orders", "list" };
    assert_null(admin_verb_find(0, one, &words));
    assert_null(admin_verb_find(1, one, &words));
    assert_non_null(admin_verb_find(2, other, &words)); /* the verb is one word, `list` is then refused */
    assert_int_equal(words, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_verb_has_help_method_path_and_bounded_options),
        cmocka_unit_test(every_endpoint_has_a_verb_and_every_verb_an_endpoint),
        cmocka_unit_test(lines_become_the_requests_of_the_api),
        cmocka_unit_test(messages_to_the_shop_are_listed_and_replayed),
        cmocka_unit_test(verbs_of_money_become_requests),
        cmocka_unit_test(what_goes_into_a_query_is_escaped),
        cmocka_unit_test(wrong_values_are_refused_by_the_options_name),
        cmocka_unit_test(an_unknown_verb_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
