/* SPDX-License-Identifier: Apache-2.0 */
/* cli/admin_parse.c: how a command line becomes a request, and the help, by the table of
 * verbs (admin_verbs.c). */
#include "base/span.h"
#include "base/text.h"
#include "base/time_text.h"
#include "cli/admin_parts.h"
#include "contract/currency.h"

#include <stdlib.h>
#include <string.h>

const struct admin_verb *admin_verb_find(int argc, char **argv, int *words)
{
    char two[64] = "";
    if (argc >= 2)
        snprintf(two, sizeof two, "%.30s %.30s", argv[0], argv[1]);
    for (uint32_t i = 0; argc >= 1 && i < admin_verb_count; i++) {
        *words = strchr(admin_verbs[i].name, ' ') != NULL ? 2 : 1;
        if (strcmp(admin_verbs[i].name, *words == 2 ? two : argv[0]) == 0)
            return &admin_verbs[i];
    }
    return NULL;
}

/* "web=30" */
static bool units_add(json_t *object, const char *value)
{
    struct span rest = span_from_string(value), name;
    uint32_t units;
    if (!span_take_until(&rest, '=', &name) || name.size == 0 || span_to_u32(rest, &units) != STATUS_OK)
        return false;
    return json_object_setn_new(object, name.data, name.size, json_integer(units)) == 0;
}

static bool text_ends(const char *member, json_t *body, const char *value, bool units)
{
    json_t *all = json_object_get(body, member);
    if (all == NULL) {
        all = units ? json_object() : json_array();
        if (json_object_set_new(body, member, all) != 0)
            return false;
    }
    return units ? units_add(all, value) : json_array_append_new(all, json_string(value)) == 0;
}

/* "1,2,3" or "none"; NULL: neither. */
static json_t *numbers_read(struct span list)
{
    json_t *numbers = json_array();
    struct span one;
    uint64_t number;
    if (span_equal(list, SPAN("none")))
        return numbers;
    while (span_take_until(&list, ',', &one)) {
        if (span_to_u64(one, &number) != STATUS_OK || number > INT64_MAX
            || json_array_append_new(numbers, json_integer((json_int_t)number)) != 0) {
            json_decref(numbers);
            return NULL;
        }
    }
    return numbers;
}

/* False: the value is not of the option's kind. */
static bool value_take(struct admin_request *request, const struct admin_option *option,
    const char *value, uint64_t now_ms)
{
    const struct span text = span_from_string(value);
    uint64_t number = 0;
    int64_t with_sign = 0;
    json_t *json = NULL;
    switch (option->kind) {
    case OPTION_PATH:
        return span_to_u64(text, &request->id) == STATUS_OK && request->id > 0;
    case OPTION_ID:
        request->order = value;
        return text.size == 16 && span_to_hex64(text, &number) == STATUS_OK;
    case OPTION_FILE:
        request->file = value;
        return true;
    case OPTION_CURSOR:
        return span_to_u64(text, &request->cursor) == STATUS_OK && request->cursor > 0
            && request->cursor <= INT64_MAX;
    case OPTION_ROWS:
        return span_to_u64(text, &request->rows) == STATUS_OK && request->rows > 0;
    case OPTION_TEXT:
        json = json_string(value);
        break;
    case OPTION_NUMBER:
        if (span_to_u64(text, &number) == STATUS_OK && number <= INT64_MAX)
            json = json_integer((json_int_t)number);
        break;
    case OPTION_PRICE:
        if (amount_parse(text, CURRENCY_DIGITS_MAX, &number) == STATUS_OK)
            json = json_string(value); /* the server knows the currency */
        else if (span_to_u64(text, &number) == STATUS_OK && number <= INT64_MAX)
            json = json_integer((json_int_t)number);
        break;
    case OPTION_SIGNED:
        if (span_to_i64(text, &with_sign) == STATUS_OK)
            json = json_integer(with_sign);
        break;
    case OPTION_TIME:
        if (time_text_parse(text, now_ms, &number) == STATUS_OK)
            json = json_integer((json_int_t)number);
        break;
    case OPTION_FLAG:
        json = json_true();
        break;
    case OPTION_YES_NO:
        if (strcmp(value, "yes") == 0 || strcmp(value, "no") == 0)
            json = json_boolean(value[0] == 'y');
        break;
    case OPTION_NUMBERS:
        json = numbers_read(text);
        break;
    case OPTION_JSON:
        json = json_loads(value, JSON_REJECT_DUPLICATES, NULL);
        break;
    case OPTION_TEXTS:
    case OPTION_UNITS:
        return text_ends(option->member, request->body, value, option->kind == OPTION_UNITS);
    }
    return json != NULL && json_object_set_new(request->body, option->member, json) == 0;
}

static bool option_is_place(const struct admin_option *option)
{
    return option->name[0] != '-';
}

/* The option called `name`; for a place on the line: the next one that is still empty. */
static const struct admin_option *option_find(
    const struct admin_verb *verb, const char *name, uint32_t places)
{
    const bool named = strncmp(name, "--", 2) == 0;
    uint32_t place = 0;
    for (const struct admin_option *option = verb->options; option->name != NULL; option++) {
        if (named && strcmp(option->name, name) == 0)
            return option;
        if (!named && option_is_place(option) && place++ == places)
            return option;
    }
    return NULL;
}

static const char *kind_wants(enum admin_option_kind kind)
{
    static const char *const wants[] = {
        [OPTION_PATH] = "a number, 1 or more",
        [OPTION_ID] = "16 hex digits",
        [OPTION_FILE] = "a file",
        [OPTION_CURSOR] = "a number, 1 or more",
        [OPTION_ROWS] = "a number, 1 or more",
        [OPTION_TEXT] = "UTF-8 text",
        [OPTION_NUMBER] = "a whole number",
        [OPTION_PRICE] = "an amount like 99.00, or a whole number of its smallest unit",
        [OPTION_SIGNED] = "a whole number, like 50 or -5",
        [OPTION_TIME] =
            "a time: 2026-11-11T20:00 (local), …T20:00+08:00, …Z, ms since 1970, or +30s, +10m",
        [OPTION_FLAG] = "nothing",
        [OPTION_YES_NO] = "yes or no",
        [OPTION_TEXTS] = "UTF-8 text",
        [OPTION_NUMBERS] = "item numbers like 1,2,3, or none",
        [OPTION_UNITS] = "name=N, like web=500",
        [OPTION_JSON] = "a JSON object",
    };
    return wants[kind];
}

static void query_add(struct text *path, const char *member, const json_t *value, bool first)
{
    const char *string = json_string_value(value);
    text_string(path, first ? "?" : "&");
    text_string(path, member);
    text_literal(path, "=");
    if (string == NULL) {
        text_i64(path, json_is_true(value) ? 1 : json_integer_value(value));
        return;
    }
    for (const char *at = string; *at != 0; at++) {
        const bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z')
            || (*at >= '0' && *at <= '9') || strchr("-._~", *at) != NULL;
        if (plain)
            text_add(path, span_of(at, 1));
        else
            text_format(path, "%%%02X", (unsigned)(unsigned char)*at);
    }
}

static bool path_make(struct admin_request *request)
{
    struct text path = text_in(request->path, sizeof request->path - 1);
    bool first = true;
    for (const char *at = request->verb->path; *at != 0; at++) {
        if (*at == '%')
            text_u64(&path, request->id);
        else if (*at == '@')
            text_string(&path, request->order);
        else
            text_add(&path, span_of(at, 1));
    }
    if (strcmp(request->verb->method, "GET") == 0) {
        const char *member;
        json_t *value;
        json_object_foreach(request->body, member, value)
        {
            query_add(&path, member, value, first);
            first = false;
        }
        json_decref(request->body);
        request->body = NULL;
    } else if (json_object_size(request->body) == 0) {
        json_decref(request->body); /* gates and preheats have none */
        request->body = NULL;
    }
    request->path[path.size] = 0;
    return !path.overflow;
}

enum status admin_request_parse(struct admin_request *request, const struct admin_verb *verb,
    int argc, char **argv, uint64_t now_ms, char error[ADMIN_ERROR_BYTES])
{
    bool given[ADMIN_OPTIONS_MAX] = { 0 };
    uint32_t places = 0;
    *request = (struct admin_request){ .verb = verb, .body = json_object() };
    invariant(request->body != NULL);
    for (int i = 0; i < argc; i++) {
        const struct admin_option *option = option_find(verb, argv[i], places);
        if (option == NULL) {
            snprintf(error, ADMIN_ERROR_BYTES, "%s does not accept %.60s", verb->name, argv[i]);
            goto fail;
        }
        const bool place = option_is_place(option);
        const bool alone = place || option->kind == OPTION_FLAG;
        places += place;
        const char *value = alone ? argv[i] : i + 1 < argc ? argv[++i] : NULL;
        const bool again = given[option - verb->options] && option->kind != OPTION_TEXTS
            && option->kind != OPTION_UNITS;
        given[option - verb->options] = true;
        if (again || value == NULL || !value_take(request, option, value, now_ms)) {
            snprintf(error, ADMIN_ERROR_BYTES, again ? "%s occurs twice" : "%s must be %s",
                option->name, kind_wants(option->kind));
            goto fail;
        }
    }
    for (uint32_t i = 0; i < ADMIN_OPTIONS_MAX && verb->options[i].name != NULL; i++) {
        if (!verb->options[i].required || given[i])
            continue;
        snprintf(error, ADMIN_ERROR_BYTES, "%s needs %s", verb->name, verb->options[i].name);
        goto fail;
    }
    if (strcmp(verb->method, "PATCH") == 0 && json_object_size(request->body) == 0) {
        snprintf(error, ADMIN_ERROR_BYTES, "%s: nothing to change; name at least one option", verb->name);
        goto fail;
    }
    if (path_make(request))
        return STATUS_OK;
    snprintf(error, ADMIN_ERROR_BYTES, "the arguments are too long");
fail:
    admin_request_free(request);
    return STATUS_BAD_INPUT;
}

void admin_request_free(struct admin_request *request)
{
    json_decref(request->body); /* accepts NULL */
    request->body = NULL;
}

void admin_verb_help(const struct admin_verb *verb, FILE *out)
{
    fprintf(out, "usage: stampede admin %s", verb->name);
    for (const struct admin_option *option = verb->options; option->name != NULL; option++) {
        const bool alone = option_is_place(option) || option->kind == OPTION_FLAG;
        fprintf(out, option->required ? " %s%s" : " [%s%s]", option->name, alone ? "" : " …");
    }
    fprintf(out, "\n  %s\n", verb->help);
    for (const struct admin_option *option = verb->options; option->name != NULL; option++)
        fprintf(out, "  %-16s %s (%s)\n", option->name, option->help,
            option->kind == OPTION_FLAG ? "no value" : kind_wants(option->kind));
}

const char *admin_arguments_split(struct admin_arguments *arguments, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const bool url = strcmp(argv[i], "--url") == 0;
        if (url || strcmp(argv[i], "--key-file") == 0) {
            if (i + 1 == argc)
                return "--url and --key-file need a value";
            *(url ? &arguments->url : &arguments->key_file) = argv[i + 1];
            i++;
        } else if (strcmp(argv[i], "--key") == 0) {
            return "other users can see arguments: pass the key by STAMPEDE_ADMIN_KEY or "
                   "--key-file";
        } else if (strcmp(argv[i], "--json") == 0) {
            arguments->json = true;
        } else if (strcmp(argv[i], "--help") == 0) {
            arguments->help = true;
        } else if (arguments->count == ADMIN_ARGUMENTS_MAX) {
            return "too many arguments";
        } else {
            arguments->rest[arguments->count++] = argv[i];
        }
    }
    return NULL;
}

void admin_verb_hint(int argc, char **argv, FILE *out)
{
    uint32_t alike = 0;
    if (argc == 0) {
        fprintf(out, "stampede admin: missing verb; try 'stampede admin --help'\n");
        return;
    }
    fprintf(out, "stampede admin: unknown verb '%.30s%s%.30s'", argv[0], argc > 1 ? " " : "",
        argc > 1 ? argv[1] : "");
    const size_t size = strlen(argv[0]);
    for (uint32_t i = 0; i < admin_verb_count; i++) {
        const char *name = admin_verbs[i].name;
        if (strncmp(name, argv[0], size) == 0 && (name[size] == ' ' || name[size] == 0))
            fprintf(out, "%s%s", alike++ == 0 ? "; there are: " : ", ", name);
    }
    fprintf(out, "\ntry 'stampede admin --help'\n");
}

static const char help_text[] =
    "usage: stampede admin [--url URL] [--key-file FILE] [--json] VERB …\n"
    "  --url        the server; default: STAMPEDE_URL, else http://127.0.0.1:8080\n"
    "  --key-file   a file with the admin key; default: STAMPEDE_ADMIN_KEY\n"
    "  --json       print the server's answer unchanged\n"
    "  VERB --help  show the options of a verb\n"
    "  exit: 0 done, 1 refused by the server, 2 wrong arguments, 3 no server\n\n";

void admin_verbs_help(FILE *out)
{
    fputs(help_text, out);
    for (uint32_t i = 0; i < admin_verb_count; i++)
        fprintf(out, "  %-16s %s\n", admin_verbs[i].name, admin_verbs[i].help);
}

bool admin_key_read(const char *key_file, char *header, size_t header_bytes, FILE *errors)
{
    char key[ADMIN_KEY_BYTES] = "";
    const char *from_environment = getenv("STAMPEDE_ADMIN_KEY");
    if (key_file != NULL) {
        FILE *file = fopen(key_file, "re");
        const bool got = file != NULL && fgets(key, sizeof key, file) != NULL;
        if (file != NULL)
            fclose(file);
        if (!got) {
            fprintf(errors, "stampede admin: %s can't be read, or is empty\n", key_file);
            return false;
        }
    } else if (from_environment != NULL) {
        snprintf(key, sizeof key, "%s", from_environment);
    }
    key[strcspn(key, " \t\r\n")] = 0;
    if (key[0] == 0) {
        fprintf(errors, "stampede admin: no admin key: set STAMPEDE_ADMIN_KEY or use --key-file\n");
        return false;
    }
    snprintf(header, header_bytes, "Authorization: Bearer %s", key);
    explicit_bzero(key, sizeof key);
    return true;
}
