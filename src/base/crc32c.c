/* SPDX-License-Identifier: Apache-2.0 */
/* CRC32C (Castagnoli, reflected polynomial 0x82f63b78), as in iSCSI and ext4. */
#include "base/bytes.h"
#include "base/hash.h"

static uint32_t crc32c_table[256];

/* Before main, so that no call has to ask whether the table is there. */
__attribute__((constructor)) static void crc32c_table_fill(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
        crc32c_table[i] = crc;
    }
}

uint32_t hash_crc32c_by_table(uint32_t crc, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    crc = ~crc;
    for (size_t i = 0; i < bytes; i++)
        crc = crc >> 8 ^ crc32c_table[(crc ^ at[i]) & 255];
    return ~crc;
}

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) static uint32_t crc32c_by_instruction(
    uint32_t crc, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t wide = ~crc;
    for (; bytes >= 8; at += 8, bytes -= 8)
        wide = __builtin_ia32_crc32di(wide, bytes_get_u64(at));
    crc = (uint32_t)wide;
    for (; bytes > 0; at++, bytes--)
        crc = __builtin_ia32_crc32qi(crc, *at);
    return ~crc;
}

uint32_t hash_crc32c(uint32_t crc, const void *data, size_t bytes)
{
    if (__builtin_cpu_supports("sse4.2"))
        return crc32c_by_instruction(crc, data, bytes);
    return hash_crc32c_by_table(crc, data, bytes);
}

#else

uint32_t hash_crc32c(uint32_t crc, const void *data, size_t bytes)
{
    return hash_crc32c_by_table(crc, data, bytes);
}

#endif
