/* SPDX-License-Identifier: Apache-2.0 */
/* Which request goes to which handler: roles, methods, queries. */
#include "admin/admin.h"

#include "api/admin_endpoints.h"
#include "tests/unit/admin/admin_shop.h"
#include "tests/unit/base/unit.h"

#include <string.h>

static const struct endpoint {
    enum http_method method;
    enum admin_role role;
    const char *path;
} endpoints[] = {
#define ENDPOINT(method, role, effect, path, handler) { HTTP_##method, ADMIN_##role, path },
    ADMIN_ENDPOINT_LIST(ENDPOINT)
};
enum { ENDPOINTS = sizeof endpoints / sizeof *endpoints };

/* The path of a pattern, about things that are not there. */
static int ask(const struct endpoint *endpoint, enum http_method method)
{
    char path[128];
    size_t size = 0;
    for (const char *at = endpoint->path; *at != 0 && *at != '?'; at++) {
        const char *part = *at == '#' ? "251" : *at == '@' ? "00000000000000ff" : NULL;
        if (part == NULL) {
            path[size++] = *at;
            continue;
        }
        memcpy(path + size, part, strlen(part));
        size += strlen(part);
    }
    path[size] = 0;
    return shop_asks(method, NULL, "%s", path);
}

static void every_endpoint_refuses_a_lower_role_and_no_other(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENDPOINTS; i++) {
        for (enum admin_role role = ADMIN_NOBODY; role <= ADMIN_ADMIN; role++) {
            if (role == ADMIN_CHANNEL)
                continue; /* it has routes of its own */
            shop_role_set(role);
            const int status = ask(&endpoints[i], endpoints[i].method);
            const bool refused = status == 403 && strstr(shop_said(), "admin-role") != NULL;
            if (refused != (role < endpoints[i].role))
                fail_msg("%s as role %d: %d %s", endpoints[i].path, role, status, shop_said());
        }
    }
}

static void a_key_of_a_channel_finds_no_route_of_operators(void **state)
{
    (void)state;
    shop_role_set(ADMIN_CHANNEL);
    for (size_t i = 0; i < ENDPOINTS; i++) {
        const bool shared = strcmp(endpoints[i].path, "/items/#") == 0
            || strcmp(endpoints[i].path, "/orders/@") == 0
            || strncmp(endpoints[i].path, "/orders/export", 14) == 0; /* read as an id there */
        if (shared && endpoints[i].method == HTTP_GET)
            continue; /* a channel has one of that name */
        const int status = ask(&endpoints[i], endpoints[i].method);
        if (status != 404 && status != 405)
            fail_msg("%s: %d %s", endpoints[i].path, status, shop_said());
    }
    shop_role_set(ADMIN_ADMIN);
}

static void every_endpoint_says_what_it_can_not_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENDPOINTS; i++) {
        const int status = ask(&endpoints[i], endpoints[i].method);
        if (status >= 500)
            fail_msg("%s: %d %s", endpoints[i].path, status, shop_said());
    }
}

static void a_method_that_a_path_does_not_have_is_told_with_those_it_has(void **state)
{
    (void)state;
    assert_done(405, shop_asks(HTTP_DELETE, NULL, "/sales/7"));
    assert_non_null(strstr(shop_headers(), "Allow: GET, HEAD, PATCH, OPTIONS\r\n"));
    assert_done(405, shop_asks(HTTP_PUT, NULL, "/items"));
    assert_non_null(strstr(shop_headers(), "Allow: GET, HEAD, POST, OPTIONS\r\n"));
    assert_done(404, shop_asks(HTTP_GET, NULL, "/nothing"));
    assert_done(404, shop_asks(HTTP_GET, NULL, "/sales/x"));
}

static void head_is_read_like_get(void **state)
{
    (void)state;
    shop_role_set(ADMIN_VIEWER);
    assert_done(200, shop_asks(HTTP_HEAD, NULL, "/sales"));
    shop_role_set(ADMIN_NOBODY);
    assert_done(403, shop_asks(HTTP_HEAD, NULL, "/sales"));
}

static void a_query_that_the_path_does_not_take_is_refused(void **state)
{
    (void)state;
    assert_refused(400, "bad-query", shop_asks(HTTP_GET, NULL, "/products?archived=1"));
    assert_refused(400, "bad-query", shop_asks(HTTP_GET, NULL, "/sales/1?after=1"));
    assert_refused(400, "bad-query", shop_asks(HTTP_GET, NULL, "/products?after=1&after=2"));
    assert_refused(400, "bad-query", shop_asks(HTTP_GET, NULL, "/products?after=4294967296"));
    assert_done(200, shop_asks(HTTP_GET, NULL, "/products?after=4294967295"));
}

int main(void)
{
    const struct CMUnitTest rules[] = {
        SHOP_RULE(every_endpoint_refuses_a_lower_role_and_no_other),
        SHOP_RULE(a_key_of_a_channel_finds_no_route_of_operators),
        SHOP_RULE(every_endpoint_says_what_it_can_not_read),
        SHOP_RULE(a_method_that_a_path_does_not_have_is_told_with_those_it_has),
        SHOP_RULE(head_is_read_like_get),
        SHOP_RULE(a_query_that_the_path_does_not_take_is_refused),
    };
    return cmocka_run_group_tests(rules, shop_open, shop_close);
}
