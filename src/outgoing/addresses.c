/* SPDX-License-Identifier: Apache-2.0 */
#include "outgoing/addresses.h"

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct prefix {
    uint8_t bytes[16];
    uint8_t bits;
};

/* The registries of special-purpose addresses (RFC 6890 and its updates), without those parts that
 * are reachable from everywhere. */
static const struct prefix not_public_v4[] = {
    { { 0 }, 8 },             /* this network; 0.0.0.0 reaches the machine itself */
    { { 10 }, 8 },            /* private */
    { { 100, 64 }, 10 },      /* shared by carriers */
    { { 127 }, 8 },           /* loopback */
    { { 169, 254 }, 16 },     /* link-local; metadata services of clouds */
    { { 172, 16 }, 12 },      /* private */
    { { 192, 0, 0 }, 24 },    /* protocol assignments */
    { { 192, 0, 2 }, 24 },    /* documentation */
    { { 192, 88, 99 }, 24 },  /* 6to4 relays, given up */
    { { 192, 168 }, 16 },     /* private */
    { { 198, 18 }, 15 },      /* benchmarks */
    { { 198, 51, 100 }, 24 }, /* documentation */
    { { 203, 0, 113 }, 24 },  /* documentation */
    { { 224 }, 4 },           /* multicast */
    { { 240 }, 4 },           /* reserved, broadcast */
};
static const struct prefix not_public_v6[] = {
    { { 0x00, 0x64, 0xff, 0x9b, 0x00, 0x01 }, 48 }, /* translation within one network */
    { { 0x01, 0x00 }, 64 },                         /* discard */
    { { 0x20, 0x01, 0x00 }, 23 },                   /* protocol assignments, Teredo */
    { { 0x20, 0x01, 0x0d, 0xb8 }, 32 },             /* documentation */
    { { 0x3f, 0xff }, 20 },                         /* documentation */
    { { 0x5f, 0x00 }, 16 },                         /* segment routing */
    { { 0xfc }, 7 },                                /* unique local */
    { { 0xfe, 0x80 }, 10 },                         /* link-local */
    { { 0xfe, 0xc0 }, 10 },                         /* site-local, given up */
    { { 0xff }, 8 },                                /* multicast */
};
/* IPv6 prefixes with an IPv4 address after them, at byte `at`. ::/96 has :: and ::1, too: as IPv4
 * they are in 0.0.0.0/8. */
static const struct carrier {
    struct prefix prefix;
    uint8_t at;
} carriers_of_v4[] = {
    { { { 0 }, 96 }, 12 }, { { { [10] = 0xff, [11] = 0xff }, 96 }, 12 },
    { { { 0x00, 0x64, 0xff, 0x9b }, 96 }, 12 }, /* translated */
    { { { 0x20, 0x02 }, 16 }, 2 },              /* 6to4 */
};

static bool prefix_has(const struct prefix *prefix, const uint8_t *address)
{
    const size_t whole = prefix->bits / 8;
    if (memcmp(prefix->bytes, address, whole) != 0)
        return false;
    if (prefix->bits % 8 == 0)
        return true;
    const uint8_t mask = (uint8_t)(0xff00u >> (prefix->bits % 8));
    return (prefix->bytes[whole] & mask) == (address[whole] & mask);
}

static bool any_has(const struct prefix *prefixes, size_t count, const uint8_t *address)
{
    for (size_t i = 0; i < count; i++)
        if (prefix_has(&prefixes[i], address))
            return true;
    return false;
}

static bool v4_is_public(const uint8_t *address)
{
    return !any_has(not_public_v4, sizeof not_public_v4 / sizeof *not_public_v4, address);
}

static bool v6_is_public(const uint8_t *address)
{
    for (size_t i = 0; i < sizeof carriers_of_v4 / sizeof *carriers_of_v4; i++)
        if (prefix_has(&carriers_of_v4[i].prefix, address))
            return v4_is_public(address + carriers_of_v4[i].at);
    return !any_has(not_public_v6, sizeof not_public_v6 / sizeof *not_public_v6, address);
}

bool address_is_public(const struct sockaddr *address, socklen_t size)
{
    if (address->sa_family == AF_INET && size >= sizeof(struct sockaddr_in)) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof v4);
        return v4_is_public((const uint8_t *)&v4.sin_addr);
    }
    if (address->sa_family == AF_INET6 && size >= sizeof(struct sockaddr_in6)) {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof v6);
        return v6_is_public(v6.sin6_addr.s6_addr);
    }
    return false;
}
