/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_write.h"

void json_value(struct text *out, const char *name)
{
    const char last = out->size == 0 ? '{' : out->data[out->size - 1];
    if (last != '{' && last != '[' && last != ':' && last != ',')
        text_literal(out, ",");
    if (name != NULL) {
        text_literal(out, "\"");
        text_string(out, name);
        text_literal(out, "\":");
    }
}

void json_object_begin(struct text *out, const char *name)
{
    json_value(out, name);
    text_literal(out, "{");
}

void json_object_end(struct text *out)
{
    text_literal(out, "}");
}

void json_list_begin(struct text *out, const char *name)
{
    json_value(out, name);
    text_literal(out, "[");
}

void json_list_end(struct text *out)
{
    text_literal(out, "]");
}

void json_u64(struct text *out, const char *name, uint64_t value)
{
    json_value(out, name);
    text_u64(out, value);
}

void json_i64(struct text *out, const char *name, int64_t value)
{
    json_value(out, name);
    text_i64(out, value);
}

void json_bool(struct text *out, const char *name, bool value)
{
    json_value(out, name);
    text_string(out, value ? "true" : "false");
}

void json_text(struct text *out, const char *name, const char *value)
{
    json_value(out, name);
    text_json(out, span_from_string(value));
}

void json_hex(struct text *out, const char *name, uint64_t value)
{
    json_value(out, name);
    text_literal(out, "\"");
    text_hex64(out, value);
    text_literal(out, "\"");
}
