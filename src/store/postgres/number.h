/* SPDX-License-Identifier: Apache-2.0 */
/* store/postgres/number.h: whole numbers as PostgreSQL sends them, in binary. */
#ifndef STAMPEDE_STORE_POSTGRES_NUMBER_H
#define STAMPEDE_STORE_POSTGRES_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of types; they never change (pg_type.dat of PostgreSQL). */
enum postgres_type {
    POSTGRES_BOOL = 16,
    POSTGRES_BYTEA = 17,
    POSTGRES_INT8 = 20,
    POSTGRES_INT2 = 21,
    POSTGRES_INT4 = 23,
    POSTGRES_TEXT = 25,
    POSTGRES_INT8_ARRAY = 1016,
    POSTGRES_VARCHAR = 1043,
    POSTGRES_NUMERIC = 1700,
};

/* False: the type is not one of numbers, or the number is not a whole one of 64 bits. */
bool postgres_number(uint32_t type, const uint8_t *bytes, size_t size, int64_t *number);
void postgres_number_put(uint8_t bytes[8], uint64_t number); /* POSTGRES_INT8 */

#endif
