/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/proxy_protocol.h"

enum {
    BLOCK_HEAD = 16, /* signature, version and command, family, length */
    FAMILY_UNSPECIFIED = 0x00,
    FAMILY_TCP4 = 0x11,
    FAMILY_TCP6 = 0x21,
    FAMILY_UNIX = 0x31,
    COMMAND_LOCAL = 0x20,
    COMMAND_PROXY = 0x21,
};
static const char signature[12] = "\r\n\r\n\0\r\nQUIT\n";

static enum proxy_result refuse(const char **why, const char *what)
{
    *why = what;
    return PROXY_REFUSED;
}

static enum proxy_result wait_for(size_t *bytes, size_t least)
{
    *bytes = least;
    return PROXY_PARTIAL;
}

/* Takes up to the next space, which must be there. */
static bool word_take(struct span *line, struct span *word)
{
    const char *space = line->size == 0 ? NULL : memchr(line->data, ' ', line->size);
    return space != NULL && span_take_until(line, ' ', word);
}

static bool port_fits(struct span text)
{
    uint32_t port;
    return span_to_u32(text, &port) == STATUS_OK && port <= 65535;
}

static bool address_fits(struct span text, bool v6, struct address *address)
{
    const bool colon = text.size > 0 && memchr(text.data, ':', text.size) != NULL;
    return colon == v6 && address_parse(text, address) == STATUS_OK;
}

/* What stands between "PROXY " and the end of the line. */
static bool line_read(struct span line, struct address *client)
{
    struct span family, source, target, port;
    struct address from, to;
    if (span_equal(line, SPAN("UNKNOWN")) || span_starts_with(line, SPAN("UNKNOWN ")))
        return true;
    if (!word_take(&line, &family) || !word_take(&line, &source) || !word_take(&line, &target)
        || !word_take(&line, &port))
        return false;
    const bool v6 = span_equal(family, SPAN("TCP6"));
    if ((!v6 && !span_equal(family, SPAN("TCP4"))) || !address_fits(source, v6, &from)
        || !address_fits(target, v6, &to) || !port_fits(port) || !port_fits(line))
        return false;
    *client = from;
    return true;
}

static enum proxy_result line_parse(
    struct span input, struct address *client, size_t *bytes, const char **why)
{
    static const struct span prefix = SPAN("PROXY ");
    const size_t seen = input.size < prefix.size ? input.size : prefix.size;
    if (memcmp(input.data, prefix.data, seen) != 0)
        return refuse(why, "no PROXY protocol header");
    const size_t window = input.size < PROXY_LINE_MAX ? input.size : PROXY_LINE_MAX;
    const char *end = memmem(input.data, window, "\r\n", 2);
    if (end == NULL)
        return window == PROXY_LINE_MAX ? refuse(why, "PROXY protocol line too long")
                                        : wait_for(bytes, input.size + 1);
    const struct span line = span_of(input.data + prefix.size, (size_t)(end - input.data) - prefix.size);
    if (!line_read(line, client))
        return refuse(why, "malformed PROXY protocol line");
    *bytes = (size_t)(end - input.data) + 2;
    return PROXY_COMPLETE;
}

/* `data` begins with the addresses, `size` bytes of them and what follows. */
static bool block_read(uint8_t family, const char *data, size_t size, struct address *client)
{
    switch (family) {
    case FAMILY_TCP4:
        if (size < 12)
            return false;
        *client = address_from_v4(data);
        return true;
    case FAMILY_TCP6:
        if (size < 36)
            return false;
        memcpy(client->bytes, data, sizeof client->bytes);
        return true;
    case FAMILY_UNIX:
    case FAMILY_UNSPECIFIED:
        return true;
    default:
        return false;
    }
}

static enum proxy_result block_parse(
    struct span input, struct address *client, size_t *bytes, const char **why)
{
    const size_t seen = input.size < sizeof signature ? input.size : sizeof signature;
    if (memcmp(input.data, signature, seen) != 0)
        return refuse(why, "no PROXY protocol header");
    if (input.size < BLOCK_HEAD)
        return wait_for(bytes, BLOCK_HEAD);
    const uint8_t *head = (const uint8_t *)input.data;
    const size_t size = (size_t)head[14] << 8 | head[15];
    if (head[12] != COMMAND_LOCAL && head[12] != COMMAND_PROXY)
        return refuse(why, "unknown PROXY protocol version or command");
    if (BLOCK_HEAD + size > PROXY_BLOCK_MAX)
        return refuse(why, "PROXY protocol block too long");
    if (input.size < BLOCK_HEAD + size)
        return wait_for(bytes, BLOCK_HEAD + size);
    if (head[12] == COMMAND_PROXY && !block_read(head[13], input.data + BLOCK_HEAD, size, client))
        return refuse(why, "malformed PROXY protocol block");
    *bytes = BLOCK_HEAD + size;
    return PROXY_COMPLETE;
}

enum proxy_result proxy_parse(struct span input, struct address *client, size_t *bytes, const char **why)
{
    if (input.size == 0)
        return wait_for(bytes, 1);
    return input.data[0] == signature[0] ? block_parse(input, client, bytes, why)
                                         : line_parse(input, client, bytes, why);
}
