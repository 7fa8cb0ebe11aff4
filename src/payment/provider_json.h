/* SPDX-License-Identifier: Apache-2.0 */
/* payment/provider_json.h: reading members of what a provider has answered. A member of the wrong type
 * is as good as none. */
#ifndef STAMPEDE_PAYMENT_PROVIDER_JSON_H
#define STAMPEDE_PAYMENT_PROVIDER_JSON_H

#include "base/span.h"

#include <jansson.h>

/* An object, or NULL; names that come twice are refused. The caller calls json_decref. */
static inline json_t *provider_json_read(struct span text)
{
    json_t *json = json_loadb(text.data, text.size, JSON_REJECT_DUPLICATES, NULL);
    if (json_is_object(json))
        return json;
    json_decref(json);
    return NULL;
}
/* A string member; SPAN_NONE: none. Without zero bytes, which the parser refuses. */
static inline struct span provider_json_text(const json_t *json, const char *name)
{
    const json_t *value = json_object_get(json, name);
    return json_is_string(value) ? span_of(json_string_value(value), json_string_length(value))
                                 : SPAN_NONE;
}
static inline bool provider_json_is(const json_t *json, const char *name, const char *wanted)
{
    const struct span value = provider_json_text(json, name);
    return value.data != NULL && span_equal(value, span_from_string(wanted));
}
/* For error messages: "" where there is none. */
static inline const char *provider_json_shown(const json_t *json, const char *name)
{
    const json_t *value = json_object_get(json, name);
    return json_is_string(value) ? json_string_value(value) : "";
}
/* A whole number that is not negative. */
static inline bool provider_json_u64(const json_t *json, const char *name, uint64_t *number)
{
    const json_t *value = json_object_get(json, name);
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *number = (uint64_t)json_integer_value(value);
    return true;
}

#endif
