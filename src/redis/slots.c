/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/slots.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* ---- slots ---- */

/* CRC16 of XMODEM: polynomial 0x1021, from 0. */
static uint16_t crc16(struct span bytes)
{
    uint16_t crc = 0;
    for (size_t i = 0; i < bytes.size; i++) {
        crc = (uint16_t)(crc ^ (uint16_t)((uint8_t)bytes.data[i] << 8));
        for (int bit = 0; bit < 8; bit++)
            crc = (uint16_t)(crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1);
    }
    return crc;
}

/* Only the first '{' counts, with the first '}' after it; "{}" is no tag. */
static struct span tag_of(struct span key)
{
    const char *open = key.size == 0 ? NULL : memchr(key.data, '{', key.size);
    if (open == NULL)
        return key;
    const size_t left = key.size - (size_t)(open + 1 - key.data);
    const char *close = left == 0 ? NULL : memchr(open + 1, '}', left);
    if (close == NULL || close == open + 1)
        return key;
    return span_of(open + 1, (size_t)(close - open - 1));
}

uint16_t redis_slot(struct span key)
{
    return crc16(tag_of(key)) % REDIS_SLOTS;
}

/* ---- nodes ---- */

void redis_node_text(struct text *out, const struct redis_node *node)
{
    const bool v4 = address_is_v4(&node->address);
    if (!v4)
        text_literal(out, "[");
    address_text(out, &node->address);
    if (!v4)
        text_literal(out, "]");
    text_literal(out, ":");
    text_u64(out, node->port);
}

static bool port_read(struct span text, uint16_t *port)
{
    uint32_t number;
    if (span_to_u32(text, &number) != STATUS_OK || number == 0 || number > UINT16_MAX)
        return false;
    *port = (uint16_t)number;
    return true;
}

/* The last colon is before the port: addresses of IPv6 have more of them. */
static bool host_and_port(struct span text, struct span *host, uint16_t *port)
{
    const char *colon = text.size == 0 ? NULL : memrchr(text.data, ':', text.size);
    if (colon == NULL)
        return false;
    *host = span_of(text.data, (size_t)(colon - text.data));
    return port_read(span_of(colon + 1, text.size - host->size - 1), port);
}

static bool name_find(struct span host, struct address *address)
{
    enum { NAME_MAX_BYTES = 253 };
    char name[NAME_MAX_BYTES + 1];
    struct addrinfo *found = NULL;
    const struct addrinfo wanted = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
    if (host.size == 0 || host.size >= sizeof name || memchr(host.data, 0, host.size) != NULL)
        return false;
    memcpy(name, host.data, host.size);
    name[host.size] = 0;
    if (getaddrinfo(name, NULL, &wanted, &found) != 0)
        return false;
    const struct sockaddr *first = found->ai_addr;
    if (first->sa_family == AF_INET)
        *address = address_from_v4(&((const struct sockaddr_in *)(const void *)first)->sin_addr);
    else
        memcpy(address->bytes, &((const struct sockaddr_in6 *)(const void *)first)->sin6_addr,
            sizeof address->bytes);
    freeaddrinfo(found);
    return true;
}

static bool node_read(struct span text, struct redis_node *node)
{
    struct span host;
    if (!host_and_port(text, &host, &node->port))
        return false;
    if (host.size > 2 && host.data[0] == '[' && host.data[host.size - 1] == ']')
        host = span_of(host.data + 1, host.size - 2);
    return address_parse(host, &node->address) == STATUS_OK || name_find(host, &node->address);
}

enum status redis_nodes_read(
    struct span text, struct redis_node *nodes, uint32_t max, uint32_t *count, struct span *bad)
{
    struct span part;
    *count = 0;
    *bad = text;
    while (span_take_until(&text, ',', &part)) {
        *bad = span_trim(part, SPAN(" "));
        if (*count == max)
            return STATUS_FULL;
        if (!node_read(*bad, &nodes[*count]))
            return STATUS_BAD_INPUT;
        ++*count;
    }
    return *count > 0 ? STATUS_OK : STATUS_BAD_INPUT;
}

/* ---- the map ---- */

void redis_slots_clear(struct redis_slots *slots)
{
    slots->count = 0;
    memset(slots->node_of, REDIS_NODE_NONE, sizeof slots->node_of);
}

uint8_t redis_slots_node(struct redis_slots *slots, const struct redis_node *node)
{
    for (uint32_t i = 0; i < slots->count; i++) {
        if (redis_node_equal(&slots->nodes[i], node))
            return (uint8_t)i;
    }
    if (slots->count == REDIS_NODES_MAX)
        return REDIS_NODE_NONE;
    slots->nodes[slots->count] = *node;
    return (uint8_t)slots->count++;
}

void redis_slots_all(struct redis_slots *slots, const struct redis_node *node)
{
    redis_slots_clear(slots);
    memset(slots->node_of, redis_slots_node(slots, node), sizeof slots->node_of);
}

static bool number_between(const struct redis_value *value, int64_t least, int64_t most)
{
    return value->kind == REDIS_KIND_NUMBER && value->number >= least && value->number <= most;
}

/* Beside its names a node may tell more as a list of pairs: its address is "ip" if it prefers a host name. */
static bool address_of_pairs(const struct redis_value *master, struct address *address)
{
    const struct redis_value *pairs = master->count >= 4 ? &master->list[3] : NULL;
    for (uint32_t i = 0; pairs != NULL && pairs->kind == REDIS_KIND_LIST && i + 1 < pairs->count; i += 2) {
        const struct redis_value *name = &pairs->list[i], *value = &pairs->list[i + 1];
        if (name->kind == REDIS_KIND_TEXT && value->kind == REDIS_KIND_TEXT
            && span_equal(name->text, SPAN("ip")))
            return address_parse(value->text, address) == STATUS_OK;
    }
    return false;
}

/* [address or name or nothing, port, id, pairs] */
static bool master_read(
    const struct redis_value *master, const struct redis_node *asked, struct redis_node *node)
{
    if (master->kind != REDIS_KIND_LIST || master->count < 2
        || !number_between(&master->list[1], 1, UINT16_MAX))
        return false;
    const struct redis_value *host = &master->list[0];
    node->port = (uint16_t)master->list[1].number;
    node->address = asked->address;
    if (host->kind == REDIS_KIND_NIL || (host->kind == REDIS_KIND_TEXT && host->text.size == 0))
        return true; /* it does not know: the address by which we reached it */
    return host->kind == REDIS_KIND_TEXT
        && (address_parse(host->text, &node->address) == STATUS_OK
            || address_of_pairs(master, &node->address));
}

enum status redis_slots_read(
    struct redis_slots *slots, const struct redis_value *reply, const struct redis_node *asked)
{
    redis_slots_clear(slots);
    if (reply->kind != REDIS_KIND_LIST)
        return STATUS_BAD_INPUT;
    for (uint32_t i = 0; i < reply->count; i++) {
        const struct redis_value *range = &reply->list[i];
        struct redis_node node;
        if (range->kind != REDIS_KIND_LIST || range->count < 3
            || !number_between(&range->list[0], 0, REDIS_SLOTS - 1)
            || !number_between(&range->list[1], range->list[0].number, REDIS_SLOTS - 1)
            || !master_read(&range->list[2], asked, &node))
            return STATUS_BAD_INPUT;
        const uint8_t index = redis_slots_node(slots, &node);
        if (index == REDIS_NODE_NONE)
            return STATUS_FULL;
        for (int64_t slot = range->list[0].number; slot <= range->list[1].number; slot++) {
            if (slots->node_of[slot] != REDIS_NODE_NONE)
                return STATUS_BAD_INPUT;
            slots->node_of[slot] = index;
        }
    }
    return STATUS_OK;
}

enum status redis_moved_read(
    struct span error, const struct redis_node *asked, uint16_t *slot, struct redis_node *node)
{
    struct span word, number, host;
    uint32_t slot_number;
    if (!span_take_until(&error, ' ', &word)
        || (!span_equal(word, SPAN("MOVED")) && !span_equal(word, SPAN("ASK")))
        || !span_take_until(&error, ' ', &number) || span_to_u32(number, &slot_number) != STATUS_OK
        || slot_number >= REDIS_SLOTS || !host_and_port(error, &host, &node->port))
        return STATUS_BAD_INPUT;
    node->address = asked->address;
    if (host.size > 0 && address_parse(host, &node->address) != STATUS_OK)
        return STATUS_BAD_INPUT;
    *slot = (uint16_t)slot_number;
    return STATUS_OK;
}
