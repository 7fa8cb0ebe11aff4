/* SPDX-License-Identifier: Apache-2.0 */
#include "outgoing/addresses.h"

#include "tests/unit/base/unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

static bool is_public(const char *text)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        return address_is_public((const struct sockaddr *)&v4, sizeof v4);
    if (inet_pton(AF_INET6, text, &v6.sin6_addr) != 1)
        fail_msg("%s is no address", text);
    return address_is_public((const struct sockaddr *)&v6, sizeof v6);
}

/* First and last of each range, and their neighbours outside. */
static void every_private_range_is_refused_to_its_edges(void **state)
{
    (void)state;
    static const char *const refused[] = { "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255",
        "100.64.0.0", "100.127.255.255", "127.0.0.1", "127.255.255.255", "169.254.0.0",
        "169.254.169.254", "169.254.255.255", "172.16.0.0", "172.31.255.255", "192.0.0.0",
        "192.0.0.255", "192.0.2.1", "192.88.99.1", "192.168.0.0", "192.168.255.255", "198.18.0.0",
        "198.19.255.255", "198.51.100.7", "203.0.113.7", "224.0.0.0", "239.255.255.255", "240.0.0.0",
        "255.255.255.255", "::", "::1", "fc00::", "fdff:ffff::1", "fe80::1", "febf:ffff::", "fec0::1",
        "ff00::", "ff02::1", "2001:db8::1", "2001::1", "100::1", "64:ff9b:1::1", "3fff::1" };
    static const char *const allowed[] = { "1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255",
        "100.128.0.0", "126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0",
        "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0", "192.167.255.255",
        "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "8.8.8.8", "2606:4700::1",
        "2a00:1450::1", "fbff::1", "2001:200::1" };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (is_public(refused[i]))
            fail_msg("%s was let through", refused[i]);
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (!is_public(allowed[i]))
            fail_msg("%s was refused", allowed[i]);
}

static void an_ipv4_address_inside_an_ipv6_address_counts_as_itself(void **state)
{
    (void)state;
    static const char *const refused[] = { "::ffff:127.0.0.1", "::ffff:10.1.2.3",
        "::ffff:169.254.169.254", "64:ff9b::127.0.0.1", "64:ff9b::192.168.1.1", "::10.0.0.1",
        "2002:7f00:1::1", "2002:c0a8:101::" };
    static const char *const allowed[] = { "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1" };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (is_public(refused[i]))
            fail_msg("%s was let through", refused[i]);
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (!is_public(allowed[i]))
            fail_msg("%s was refused", allowed[i]);
}

static void what_is_not_an_ip_address_is_refused(void **state)
{
    (void)state;
    struct sockaddr_un local = { .sun_family = AF_UNIX, .sun_path = "/run/x" };
    assert_false(address_is_public((const struct sockaddr *)&local, sizeof local));
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    v4.sin_addr.s_addr = htonl(0x08080808);
    assert_true(address_is_public((const struct sockaddr *)&v4, sizeof v4));
    assert_false(address_is_public((const struct sockaddr *)&v4, sizeof v4 - 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_private_range_is_refused_to_its_edges),
        cmocka_unit_test(an_ipv4_address_inside_an_ipv6_address_counts_as_itself),
        cmocka_unit_test(what_is_not_an_ip_address_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
