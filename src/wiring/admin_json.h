/* wiring/admin_json.h: strict reading of admin request bodies: an object with known fields of
 * the right type and range, nothing else. The first thing that is wrong is told, and nothing is
 * done. Thread: the desk's. */
#ifndef STAMPEDE_WIRING_ADMIN_JSON_H
#define STAMPEDE_WIRING_ADMIN_JSON_H

#include "base/span.h"

#include <jansson.h>
#include <stdint.h>

enum { FIELD_ERROR = 160 };
enum field_kind { FIELD_TEXT, FIELD_U32, FIELD_U64, FIELD_I32, FIELD_FLAG, FIELD_JSON };

struct field {
    const char *name;
    enum field_kind kind;
    void *into; /* char[most + 1], uint32_t, uint64_t, int32_t, bool, json_t * (borrowed) */
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

#endif
