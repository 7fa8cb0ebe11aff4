/* SPDX-License-Identifier: Apache-2.0 */
#include "store/postgres/number.h"

#include <endian.h>
#include <string.h>

/* A numeric is: how many digits, weight of the first one, sign, digits to show after the point
 * (each 16 bits), digits. A digit is one of base 10000; the one of weight 0 stands before the
 * point. Zeros at both ends are left out. */
enum { NUMERIC_HEAD = 8, NUMERIC_BASE = 10000, NUMERIC_WEIGHT_MAX = 4, NUMERIC_NEGATIVE = 0x4000 };

static uint16_t number_16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static bool numeric_read(const uint8_t *bytes, size_t size, int64_t *number)
{
    if (size < NUMERIC_HEAD)
        return false;
    const uint16_t digits = number_16(bytes), sign = number_16(bytes + 4);
    const int weight = (int16_t)number_16(bytes + 2);
    if (size != NUMERIC_HEAD + 2u * digits || (sign != 0 && sign != NUMERIC_NEGATIVE))
        return false; /* or not a number, or infinite */
    *number = 0;
    if (digits == 0)
        return true;
    if (weight < 0 || weight > NUMERIC_WEIGHT_MAX || digits > weight + 1)
        return false;
    int64_t below = 0; /* the negative ones reach further */
    for (int i = 0; i <= weight; i++) {
        const int digit = i < digits ? number_16(bytes + NUMERIC_HEAD + 2 * i) : 0;
        if (__builtin_mul_overflow(below, NUMERIC_BASE, &below)
            || __builtin_sub_overflow(below, digit, &below))
            return false;
    }
    *number = below;
    return sign != 0 || !__builtin_sub_overflow(0, below, number);
}

bool postgres_number(uint32_t type, const uint8_t *bytes, size_t size, int64_t *number)
{
    uint64_t value = 0;
    if (type == POSTGRES_NUMERIC)
        return numeric_read(bytes, size, number);
    if (size
        != (type == POSTGRES_INT8       ? 8u
                : type == POSTGRES_INT4 ? 4u
                : type == POSTGRES_INT2 ? 2u
                                        : 1u))
        return false;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | bytes[i];
    *number = type == POSTGRES_INT4 ? (int32_t)value
        : type == POSTGRES_INT2     ? (int16_t)value
                                    : (int64_t)value;
    return type == POSTGRES_INT8 || type == POSTGRES_INT4 || type == POSTGRES_INT2
        || (type == POSTGRES_BOOL && value <= 1);
}

void postgres_number_put(uint8_t bytes[8], uint64_t number)
{
    const uint64_t big = htobe64(number);
    memcpy(bytes, &big, sizeof big);
}
