/* SPDX-License-Identifier: Apache-2.0 */
/* base/bytes.h: little-endian numbers in byte buffers, for file and wire formats. */
#ifndef STAMPEDE_BASE_BYTES_H
#define STAMPEDE_BASE_BYTES_H

#include <assert.h>
#include <stdint.h>
#include <string.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "formats are written as they lie in memory");

#define BYTES_ACCESS(name, type) \
    static inline void bytes_put_##name(void *at, type value) \
    { \
        memcpy(at, &value, sizeof value); \
    } \
    static inline type bytes_get_##name(const void *at) \
    { \
        type value; \
        memcpy(&value, at, sizeof value); \
        return value; \
    }
BYTES_ACCESS(u16, uint16_t)
BYTES_ACCESS(u32, uint32_t)
BYTES_ACCESS(u64, uint64_t)
#undef BYTES_ACCESS

#endif
