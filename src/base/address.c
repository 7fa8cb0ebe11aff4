/* SPDX-License-Identifier: Apache-2.0 */
#include "base/address.h"

#include <arpa/inet.h>

struct address address_from_v4(const void *four_bytes)
{
    struct address address = { .bytes = { [10] = 0xff, [11] = 0xff } };
    memcpy(address.bytes + 12, four_bytes, 4);
    return address;
}

enum status address_parse(struct span text, struct address *address)
{
    char copy[ADDRESS_CHARS_MAX + 1];
    uint8_t four[4];
    if (text.size == 0 || text.size > ADDRESS_CHARS_MAX || memchr(text.data, 0, text.size) != NULL)
        return STATUS_BAD_INPUT;
    memcpy(copy, text.data, text.size);
    copy[text.size] = 0;
    if (memchr(copy, ':', text.size) != NULL)
        return inet_pton(AF_INET6, copy, address->bytes) == 1 ? STATUS_OK : STATUS_BAD_INPUT;
    if (inet_pton(AF_INET, copy, four) != 1)
        return STATUS_BAD_INPUT;
    *address = address_from_v4(four);
    return STATUS_OK;
}

/* The first `bits` of the address. */
static struct address bits_kept(const struct address *address, uint32_t bits)
{
    struct address kept = { .bytes = { 0 } };
    memcpy(kept.bytes, address->bytes, bits / 8);
    if (bits % 8 != 0)
        kept.bytes[bits / 8] = (uint8_t)(address->bytes[bits / 8] & (0xff00u >> bits % 8));
    return kept;
}

enum status address_block_parse(struct span text, struct address_block *block)
{
    const char *slash = text.size == 0 ? NULL : memchr(text.data, '/', text.size);
    const size_t size = slash == NULL ? text.size : (size_t)(slash - text.data);
    const struct span name = span_of(text.data, size);
    uint32_t bits = ADDRESS_BITS;
    struct address first;
    if (address_parse(name, &first) != STATUS_OK)
        return STATUS_BAD_INPUT;
    if (slash != NULL) {
        const bool dots_only = memchr(name.data, ':', name.size) == NULL;
        const uint32_t before = dots_only ? ADDRESS_V4_BITS : 0;
        if (span_to_u32(span_of(slash + 1, text.size - size - 1), &bits) != STATUS_OK
            || bits > ADDRESS_BITS - before)
            return STATUS_BAD_INPUT;
        bits += before;
    }
    const struct address kept = bits_kept(&first, bits);
    if (!address_equal(&kept, &first))
        return STATUS_BAD_INPUT;
    *block = (struct address_block){ .first = first, .bits = (uint8_t)bits };
    return STATUS_OK;
}

void address_text(struct text *out, const struct address *address)
{
    char name[INET6_ADDRSTRLEN];
    const bool v4 = address_is_v4(address);
    invariant(inet_ntop(v4 ? AF_INET : AF_INET6, address->bytes + (v4 ? 12 : 0), name, sizeof name)
        != NULL);
    text_string(out, name);
}

void address_block_text(struct text *out, const struct address_block *block)
{
    const uint32_t before = address_is_v4(&block->first) ? ADDRESS_V4_BITS : 0;
    address_text(out, &block->first);
    if (block->bits == ADDRESS_BITS)
        return;
    text_literal(out, "/");
    text_u64(out, block->bits - before);
}

bool address_in_block(const struct address *address, const struct address_block *block)
{
    if (address_is_v4(address) != address_is_v4(&block->first))
        return false;
    const struct address kept = bits_kept(address, block->bits);
    return address_equal(&kept, &block->first);
}
