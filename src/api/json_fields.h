/* SPDX-License-Identifier: Apache-2.0 */
/* api/json_fields.h: strict reading of admin request bodies: an object with known fields of
 * the right type and range, nothing else. The first thing that is wrong is told, and nothing is
 * done. Thread: the worker's. */
#ifndef STAMPEDE_API_JSON_FIELDS_H
#define STAMPEDE_API_JSON_FIELDS_H

#include "base/span.h"
#include "contract/currency.h"

#include <jansson.h>
#include <stdint.h>

enum { FIELD_ERROR = 160 };
enum field_kind {
    FIELD_TEXT,
    FIELD_U32,
    FIELD_U64,
    FIELD_I32,
    FIELD_FLAG,
    FIELD_JSON,
    FIELD_PRICE
};

/* A price as it was said: 9900 is in the currency's smallest unit, "99.00" in the currency, which is
 * not known yet when the body is read. */
struct asked_price {
    uint64_t minor;
    char text[AMOUNT_CHARS_MAX]; /* "": `minor` was said */
};

struct field {
    const char *name;
    enum field_kind kind;
    /* char[most + 1], uint32_t, uint64_t, int32_t, bool, json_t * (borrowed), struct asked_price */
    void *into;
    int64_t least, most; /* numbers: bounds; text: bytes */
    bool required;
    bool *given; /* set when the field is there; may be NULL */
};

/* NULL and `error` filled: not JSON, not an object, a name twice. The caller json_decrefs. */
json_t *admin_body_parse(struct span body, char error[FIELD_ERROR]);
/* False and `error` filled: the first field that is unknown, missing, of another type or out of
 * range. */
MUST_CHECK bool admin_fields_read(
    json_t *object, const struct field *fields, size_t count, char error[FIELD_ERROR]);
/* False and `error` filled: it is not an amount of this currency from 0 to `most`. */
MUST_CHECK bool admin_price_take(const char *name, const struct asked_price *asked,
    const char *currency, uint64_t most, uint64_t *minor, char error[FIELD_ERROR]);

#endif
