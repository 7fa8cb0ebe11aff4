/* SPDX-License-Identifier: Apache-2.0 */
#include "api/texts.h"

#include "base/log.h"
#include "contract/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUBTAG_CHARS_MAX = 8, LANGUAGE_CHARS_LEAST = 2, LANGUAGE_CHARS_MOST = 3 };

const struct texts_member texts_of_products[] = {
    { "name", NAME_BYTES_MAX },
    { "description", DESCRIPTION_BYTES_MAX },
    { NULL, 0 },
};
const struct texts_member texts_of_sales[] = { { "title", NAME_BYTES_MAX }, { NULL, 0 } };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A language in small letters, then perhaps parts of letters and digits: it stands in addresses of pages. */
bool language_tag_is(struct span tag)
{
    size_t part = 0, parts = 0;
    if (tag.size > LANGUAGE_BYTES_MAX)
        return false;
    for (size_t i = 0; i <= tag.size; i++) {
        if (i == tag.size || tag.data[i] == '-') {
            if (part < LANGUAGE_CHARS_LEAST
                || part > (parts == 0 ? LANGUAGE_CHARS_MOST : (size_t)SUBTAG_CHARS_MAX))
                return false;
            parts++;
            part = 0;
            continue;
        }
        const char c = tag.data[i];
        const bool fits = parts == 0 ? c >= 'a' && c <= 'z' : is_letter(c) || (c >= '0' && c <= '9');
        if (!fits)
            return false;
        part++;
    }
    return true;
}

/* `sentence`: names the language first. */
#define WRONG(sentence) (snprintf(error, FIELD_ERROR, sentence, language), false)

static const struct texts_member *member_find(const struct texts_member *members, const char *name)
{
    while (members->name != NULL && strcmp(members->name, name) != 0)
        members++;
    return members->name == NULL ? NULL : members;
}

static bool language_check(const char *language, json_t *texts, const struct texts_member *members,
    char error[FIELD_ERROR])
{
    void *at;
    if (!language_tag_is(span_from_string(language)))
        return WRONG("texts.%.20s is not named by the tag of a language, like en or zh-CN.");
    if (!json_is_object(texts) || json_object_size(texts) == 0)
        return WRONG("texts.%s must be an object with texts.");
    for (at = json_object_iter(texts); at != NULL; at = json_object_iter_next(texts, at)) {
        const struct texts_member *member = member_find(members, json_object_iter_key(at));
        const json_t *value = json_object_iter_value(at);
        const size_t size = json_string_length(value);
        if (member == NULL)
            return WRONG("texts.%s has a member that is not known.");
        if (!json_is_string(value) || size == 0 || size > member->most
            || memchr(json_string_value(value), 0, size) != NULL) {
            snprintf(error, FIELD_ERROR, "texts.%s.%s must be a text of 1 to %zu bytes.", language,
                member->name, member->most);
            return false;
        }
    }
    return true;
}

bool texts_take(json_t *sent, const struct texts_member *members, char *out, size_t most,
    char error[FIELD_ERROR])
{
    void *at;
    if (sent == NULL)
        return true;
    if (!json_is_object(sent) || json_object_size(sent) > LANGUAGES_MAX) {
        snprintf(error, FIELD_ERROR, "texts must be an object of at most %d languages.", LANGUAGES_MAX);
        return false;
    }
    for (at = json_object_iter(sent); at != NULL; at = json_object_iter_next(sent, at))
        if (!language_check(json_object_iter_key(at), json_object_iter_value(at), members, error))
            return false;
    if (json_object_size(sent) == 0) {
        out[0] = 0;
        return true;
    }
    char *text = json_dumps(sent, JSON_COMPACT);
    invariant(text != NULL);
    const size_t size = strlen(text);
    if (size <= most)
        memcpy(out, text, size + 1);
    else
        snprintf(error, FIELD_ERROR, "texts are too long: %zu bytes of JSON, at most %zu.", size, most);
    free(text);
    return size <= most;
}

json_t *texts_parse(const char *kept)
{
    if (kept[0] == 0)
        return NULL;
    json_t *texts = json_loads(kept, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(texts)) { /* somebody wrote into the database */
        log_error("catalog", "texts in other languages that are no JSON object are left out: %.60s", kept);
        json_decref(texts);
        return NULL;
    }
    return texts;
}

void texts_json(const char *kept, struct text *out)
{
    if (kept[0] == 0)
        return;
    text_literal(out, ",\"texts\":");
    text_string(out, kept);
}

void texts_json_of(json_t *texts, const char *member, struct text *out)
{
    const char *comma = ",\"texts\":{";
    for (void *at = json_object_iter(texts); at != NULL; at = json_object_iter_next(texts, at)) {
        const char *text = json_string_value(json_object_get(json_object_iter_value(at), member));
        if (text == NULL)
            continue;
        text_string(out, comma);
        text_json(out, span_from_string(json_object_iter_key(at)));
        text_format(out, ":{\"%s\":", member);
        text_json(out, span_from_string(text));
        text_literal(out, "}");
        comma = ",";
    }
    if (comma[1] == 0)
        text_literal(out, "}");
}
