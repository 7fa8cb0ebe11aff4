/* SPDX-License-Identifier: Apache-2.0 */
#include "api/json_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

json_t *admin_body_parse(struct span body, char error[FIELD_ERROR])
{
    json_error_t trouble;
    if (body.size == 0) {
        snprintf(error, FIELD_ERROR, "The body is empty: send a JSON object.");
        return NULL;
    }
    json_t *object = json_loadb(body.data, body.size, JSON_REJECT_DUPLICATES, &trouble);
    if (object == NULL) {
        snprintf(error, FIELD_ERROR, "The body is not JSON: %.100s (at byte %d).", trouble.text,
            trouble.position);
        return NULL;
    }
    if (!json_is_object(object)) {
        snprintf(error, FIELD_ERROR, "The body must be a JSON object.");
        json_decref(object);
        return NULL;
    }
    return object;
}

static bool number_read(const struct field *field, const json_t *value, char error[FIELD_ERROR])
{
    const json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < field->least || number > field->most) {
        snprintf(error, FIELD_ERROR, "%s must be a whole number from %" PRId64 " to %" PRId64 ".",
            field->name, field->least, field->most);
        return false;
    }
    if (field->kind == FIELD_U32)
        *(uint32_t *)field->into = (uint32_t)number;
    else if (field->kind == FIELD_I32)
        *(int32_t *)field->into = (int32_t)number;
    else
        *(uint64_t *)field->into = (uint64_t)number;
    return true;
}

static bool text_read(const struct field *field, const json_t *value, char error[FIELD_ERROR])
{
    const size_t size = json_string_length(value);
    const char *text = json_string_value(value);
    const bool fits =
        json_is_string(value) && (int64_t)size >= field->least && (int64_t)size <= field->most;
    if (!fits || memchr(text, 0, size) != NULL) {
        snprintf(error, FIELD_ERROR, "%s must be a text of %" PRId64 " to %" PRId64 " bytes.",
            field->name, field->least, field->most);
        return false;
    }
    memcpy(field->into, text, size + 1);
    return true;
}

static bool price_read(const struct field *field, const json_t *value, char error[FIELD_ERROR])
{
    struct asked_price *price = field->into;
    const size_t size = json_string_length(value);
    if (json_is_string(value) && size > 0 && size < sizeof price->text) {
        memcpy(price->text, json_string_value(value), size + 1);
        return true;
    }
    price->text[0] = 0;
    price->minor = (uint64_t)json_integer_value(value);
    if (json_is_integer(value) && json_integer_value(value) >= field->least
        && json_integer_value(value) <= field->most)
        return true;
    snprintf(error, FIELD_ERROR,
        "%s must be a whole number of the currency's smallest unit from %" PRId64 " to %" PRId64
        ", or a text like \"99.00\".",
        field->name, field->least, field->most);
    return false;
}

bool admin_price_take(const char *name, const struct asked_price *asked, const char *currency,
    uint64_t most, uint64_t *minor, char error[FIELD_ERROR])
{
    unsigned digits = 0;
    *minor = asked->minor;
    if (asked->text[0] == 0)
        return true;
    if (!currency_find(span_from_string(currency), &digits)) {
        snprintf(error, FIELD_ERROR, "%s must be a whole number: %.3s is not a known currency.",
            name, currency);
        return false;
    }
    if (amount_parse(span_from_string(asked->text), digits, minor) == STATUS_OK && *minor <= most)
        return true;
    snprintf(error, FIELD_ERROR, "%s must be an amount of %s with %u digits after the point.", name,
        currency, digits);
    return false;
}

static bool field_read(const struct field *field, json_t *value, char error[FIELD_ERROR])
{
    if (field->given != NULL)
        *field->given = true;
    switch (field->kind) {
    case FIELD_TEXT:
        return text_read(field, value, error);
    case FIELD_U32:
    case FIELD_U64:
    case FIELD_I32:
        return number_read(field, value, error);
    case FIELD_FLAG:
        if (!json_is_boolean(value)) {
            snprintf(error, FIELD_ERROR, "%s must be true or false.", field->name);
            return false;
        }
        *(bool *)field->into = json_is_true(value);
        return true;
    case FIELD_JSON:
        *(json_t **)field->into = value;
        return true;
    case FIELD_PRICE:
        return price_read(field, value, error);
    }
    return false;
}

bool admin_fields_read(json_t *object, const struct field *fields, size_t count, char error[FIELD_ERROR])
{
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        size_t at = 0;
        while (at < count && strcmp(fields[at].name, name) != 0)
            at++;
        if (at == count) {
            snprintf(error, FIELD_ERROR, "Unknown field: %.60s.", name);
            return false;
        }
        if (!field_read(&fields[at], value, error))
            return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (fields[i].required && json_object_get(object, fields[i].name) == NULL) {
            snprintf(error, FIELD_ERROR, "%s is missing.", fields[i].name);
            return false;
        }
    }
    return true;
}
