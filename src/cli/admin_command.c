/* SPDX-License-Identifier: Apache-2.0 */
/* cli/admin_command.c: from the command line to the server and back: runs the verb that the words name,
 * with as many requests as it needs. One request is cli/admin_session.c's. */
#include "cli/admin_command.h"

#include "base/clock.h"
#include "cli/admin_parts.h"
#include "cli/admin_session.h"
#include "cli/order_command.h"
#include "cli/reconcile_command.h"
#include "cli/statement_command.h"
#include "contract/limits.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    RECONCILE_POLL_US = 100 * 1000,
    RECONCILE_POLLS_MAX = 36000, /* an hour */
};

enum { CURSOR_BYTES = 32 };
/* A number, or an id in hex digits. False: there is no next page. */
static bool cursor_of(const json_t *next, char out[CURSOR_BYTES])
{
    if (json_is_integer(next))
        snprintf(out, CURSOR_BYTES, "%" JSON_INTEGER_FORMAT, json_integer_value(next));
    else if (json_is_string(next))
        snprintf(out, CURSOR_BYTES, "%s", json_string_value(next));
    return json_is_integer(next) || json_is_string(next);
}

/* A page of a list: `cursor` is where the one before ended. */
static enum admin_cli_result page_get(struct admin_session *session,
    const struct admin_request *request, const char *cursor, const char *at, struct admin_answer *page)
{
    char path[ADMIN_PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s%c%s=%.32s", request->path,
        strchr(request->path, '?') != NULL ? '&' : '?', cursor, at);
    return admin_session_call(session, "GET", path, NULL, page);
}

/* A list that is cut: pages are joined until there are enough rows, and who reads them is
 * told whether there are more. */
static enum admin_cli_result rows_follow(
    struct admin_session *session, const struct admin_request *request, struct admin_answer *first)
{
    const size_t wanted = request->rows != 0 ? (size_t)request->rows : ADMIN_ROWS_STANDARD;
    json_t *rows = admin_rows(first->json), *next = json_object_get(first->json, "next");
    char at[CURSOR_BYTES];
    while (json_array_size(rows) < wanted && cursor_of(next, at)) {
        struct admin_answer page;
        const enum admin_cli_result result =
            page_get(session, request, request->verb->cursor, at, &page);
        if (result != ADMIN_CLI_DONE)
            return result;
        next = json_object_get(page.json, "next");
        const bool good = json_array_extend(rows, admin_rows(page.json)) == 0
            && (next != NULL ? json_object_set(first->json, "next", next)
                             : json_object_del(first->json, "next"))
                == 0;
        admin_answer_free(&page);
        if (!good)
            return ADMIN_CLI_NO_SERVER;
        next = json_object_get(first->json, "next");
    }
    for (size_t size; (size = json_array_size(rows)) > wanted;) {
        json_array_remove(rows, size - 1);
        json_object_set(first->json, "next", json_object_get(json_array_get(rows, wanted - 1), "number"));
    }
    next = json_object_get(first->json, "next");
    if (next != NULL && !session->json)
        fprintf(session->errors,
            "there may be more: --before %" JSON_INTEGER_FORMAT ", or a larger --limit\n",
            json_integer_value(next));
    return ADMIN_CLI_DONE;
}

/* A list with more pages: their rows are appended to the first's. */
static enum admin_cli_result pages_follow(
    struct admin_session *session, const struct admin_request *request, struct admin_answer *first)
{
    json_t *rows = admin_rows(first->json);
    char after[CURSOR_BYTES], before[CURSOR_BYTES] = "";
    bool more = request->verb->pages && rows != NULL
        && cursor_of(json_object_get(first->json, "next"), after);
    while (more) {
        struct admin_answer page;
        const enum admin_cli_result result = page_get(session, request, "after", after, &page);
        if (result != ADMIN_CLI_DONE)
            return result;
        snprintf(before, sizeof before, "%s", after);
        more = json_array_extend(rows, admin_rows(page.json)) == 0
            && cursor_of(json_object_get(page.json, "next"), after) && strcmp(before, after) != 0;
        admin_answer_free(&page);
    }
    if (request->verb->pages)
        json_object_del(first->json, "next");
    return ADMIN_CLI_DONE;
}

static enum admin_cli_result request_run(struct admin_session *session, const struct admin_request *request)
{
    struct admin_answer answer;
    char at[CURSOR_BYTES];
    snprintf(at, sizeof at, "%llu", (unsigned long long)request->cursor);
    enum admin_cli_result result = request->cursor != 0
        ? page_get(session, request, request->verb->cursor, at, &answer)
        : admin_session_call(session, request->verb->method, request->path, request->body, &answer);
    if (result != ADMIN_CLI_DONE)
        return result;
    result = request->verb->cursor != NULL ? rows_follow(session, request, &answer)
                                           : pages_follow(session, request, &answer);
    if (result == ADMIN_CLI_DONE)
        admin_session_print(session, answer.json, request->verb->columns);
    admin_answer_free(&answer);
    return result;
}

/* The sale with its items: one document as JSON, two tables for people. */
static enum admin_cli_result sale_show(struct admin_session *session, const struct admin_request *request)
{
    char *words[] = { "item", "list" };
    int count;
    struct admin_request items = { .verb = admin_verb_find(2, words, &count) };
    struct admin_answer sale, list = { 0 };
    enum admin_cli_result result = admin_session_call(session, "GET", request->path, NULL, &sale);
    if (result != ADMIN_CLI_DONE)
        return result;
    invariant(items.verb != NULL);
    snprintf(items.path, sizeof items.path, "%s?sale=%llu", items.verb->path,
        (unsigned long long)request->id);
    result = admin_session_call(session, "GET", items.path, NULL, &list);
    if (result == ADMIN_CLI_DONE)
        result = pages_follow(session, &items, &list);
    if (result == ADMIN_CLI_DONE && session->json) {
        json_object_set(sale.json, "items", admin_rows(list.json));
        admin_session_print(session, sale.json, NULL);
    } else if (result == ADMIN_CLI_DONE) {
        admin_session_print(session, sale.json, NULL);
        fputs("\n", session->out);
        admin_session_print(session, list.json, items.verb->columns);
    }
    admin_answer_free(&sale);
    admin_answer_free(&list);
    return result;
}

static enum admin_cli_result users_send(struct admin_session *session,
    const struct admin_request *request, json_t *users, uint64_t *sent)
{
    struct admin_answer answer;
    json_t *body = json_pack("{s:O}", "users", users);
    if (body == NULL)
        return ADMIN_CLI_NO_SERVER;
    const enum admin_cli_result result =
        admin_session_call(session, "POST", request->path, body, &answer);
    json_decref(body);
    if (result != ADMIN_CLI_DONE)
        return result;
    admin_answer_free(&answer);
    *sent += json_array_size(users);
    json_array_clear(users);
    if (isatty(fileno(session->errors)))
        fprintf(session->errors, "\r%llu users", (unsigned long long)*sent);
    return ADMIN_CLI_DONE;
}

static enum admin_cli_result user_lines(struct admin_session *session,
    const struct admin_request *request, FILE *file, json_t *users, uint64_t *sent)
{
    char *line = NULL;
    size_t room = 0;
    uint64_t number = 0;
    enum admin_cli_result result = ADMIN_CLI_DONE;
    for (ssize_t size; result == ADMIN_CLI_DONE && (size = getline(&line, &room, file)) >= 0;) {
        number++;
        while (size > 0 && (line[size - 1] == '\n' || line[size - 1] == '\r'))
            size--;
        if (size == 0)
            continue;
        if (size > SUBJECT_BYTES_MAX
            || json_array_append_new(users, json_stringn(line, (size_t)size)) != 0) {
            fprintf(session->errors,
                "stampede admin: line %llu is not a subject (UTF-8, at most %d bytes)\n",
                (unsigned long long)number, SUBJECT_BYTES_MAX);
            result = ADMIN_CLI_USAGE;
        } else if (json_array_size(users) == ADMIN_USERS_PER_CALL) {
            result = users_send(session, request, users, sent);
        }
    }
    free(line);
    if (result == ADMIN_CLI_DONE && json_array_size(users) > 0)
        result = users_send(session, request, users, sent);
    return result;
}

static enum admin_cli_result users_load(struct admin_session *session, const struct admin_request *request)
{
    const bool standard = strcmp(request->file, "-") == 0;
    FILE *file = standard ? stdin : fopen(request->file, "re");
    json_t *users = json_array();
    uint64_t sent = 0;
    if (file == NULL || users == NULL) {
        fprintf(session->errors, "stampede admin: %s can't be read\n", request->file);
        json_decref(users);
        return ADMIN_CLI_USAGE;
    }
    const enum admin_cli_result result = user_lines(session, request, file, users, &sent);
    json_decref(users);
    if (!standard)
        fclose(file);
    if (isatty(fileno(session->errors)))
        fputs("\r", session->errors);
    if (session->json)
        fprintf(session->out, "{\"users\":%llu}\n", (unsigned long long)sent);
    else
        fprintf(session->out, "%llu users %s sale %llu\n", (unsigned long long)sent,
            strcmp(request->verb->name, "users remove") == 0 ? "named for removal from" : "loaded into",
            (unsigned long long)request->id);
    return result;
}

/* Waits until no run is under way; the answer is the last report. */
static enum admin_cli_result reconcile_wait(
    struct admin_session *session, const char *path, struct admin_answer *answer)
{
    for (uint32_t i = 0; i < RECONCILE_POLLS_MAX; i++) {
        const enum admin_cli_result result = admin_session_call(session, "GET", path, NULL, answer);
        if (result != ADMIN_CLI_DONE || !reconcile_print_runs(answer->json))
            return result;
        admin_answer_free(answer);
        usleep(RECONCILE_POLL_US);
    }
    fprintf(session->errors, "stampede admin: the reconciliation did not finish in time\n");
    return ADMIN_CLI_NO_SERVER;
}

/* A run of our own, after one that may be under way, and its report. */
static enum admin_cli_result reconcile_follow(
    struct admin_session *session, const struct admin_request *request)
{
    struct admin_answer answer;
    json_t *body = request->body != NULL ? json_incref(request->body) : json_object();
    enum admin_cli_result result = reconcile_wait(session, request->path, &answer);
    if (result == ADMIN_CLI_DONE) {
        admin_answer_free(&answer);
        result = admin_session_call(session, "POST", request->path, body, &answer);
    }
    if (result == ADMIN_CLI_DONE) {
        admin_answer_free(&answer);
        result = reconcile_wait(session, request->path, &answer);
    }
    if (result == ADMIN_CLI_DONE) {
        result = reconcile_print(answer.json, session->json, session->out);
        admin_answer_free(&answer);
    }
    json_decref(body);
    return result;
}

static enum admin_cli_result media_call(
    void *context, const char *method, const char *path, struct span bytes, json_t **json)
{
    const struct admin_body body = { bytes.data, bytes.size, "Content-Type: application/octet-stream" };
    struct admin_answer answer;
    const enum admin_cli_result result = admin_session_send(context, method, path, &body, &answer);
    *json = NULL;
    if (result == ADMIN_CLI_DONE) {
        *json = json_incref(answer.json);
        admin_answer_free(&answer);
    }
    return result;
}

/* A picture, and what became of it. */
static enum admin_cli_result media_add(struct admin_session *session, const struct admin_request *request)
{
    json_t *json = NULL;
    const enum admin_cli_result result =
        admin_media_send(media_call, session, request->path, request->file, session->errors, &json);
    if (result == ADMIN_CLI_DONE)
        admin_session_print(session, json, NULL);
    json_decref(json);
    return result;
}

static enum admin_cli_result statement_ask(
    void *context, const char *method, const char *path, const json_t *body, json_t **json)
{
    struct admin_answer answer;
    const enum admin_cli_result result = admin_session_call(context, method, path, body, &answer);
    if (result != ADMIN_CLI_DONE)
        return result;
    *json = json_incref(answer.json);
    admin_answer_free(&answer);
    return result;
}

static enum admin_cli_result statement_import(
    struct admin_session *session, const struct admin_request *request)
{
    const struct statement_cli cli = { .ask = statement_ask,
        .context = session,
        .json = session->json,
        .out = session->out,
        .errors = session->errors };
    return statement_cli_run(&cli, request->file, request->body);
}

static enum admin_cli_result verb_run(const struct admin_arguments *arguments,
    const struct admin_request *request, FILE *out, FILE *errors)
{
    struct admin_session session = { .json = arguments->json, .out = out, .errors = errors };
    enum admin_cli_result result = ADMIN_CLI_USAGE;
    if (admin_session_open(&session, arguments->url, arguments->key_file)) {
        if (strcmp(request->verb->name, "media add") == 0)
            result = media_add(&session, request);
        else if (strcmp(request->verb->name, "statement import") == 0)
            result = statement_import(&session, request);
        else if (strcmp(request->verb->name, "order ship-file") == 0)
            result = order_ship_file(&session, request);
        else if (strcmp(request->verb->name, "order export") == 0)
            result = order_export(&session, request);
        else if (request->file != NULL)
            result = users_load(&session, request);
        else if (strcmp(request->verb->name, "sale show") == 0)
            result = sale_show(&session, request);
        else if (strcmp(request->verb->name, "reconcile") == 0)
            result = reconcile_follow(&session, request);
        else
            result = request_run(&session, request);
    }
    admin_session_close(&session);
    return result;
}

enum admin_cli_result admin_cli_run(int argc, char **argv, FILE *out, FILE *errors)
{
    struct admin_arguments arguments = { 0 };
    struct admin_request request;
    char error[ADMIN_ERROR_BYTES];
    int words = 0;
    const char *wrong = admin_arguments_split(&arguments, argc, argv);
    const struct admin_verb *verb = admin_verb_find(arguments.count, arguments.rest, &words);
    verb = order_verb_choose(verb, arguments.count, arguments.rest);
    if (wrong != NULL) {
        fprintf(errors, "stampede admin: %s\n", wrong);
        return ADMIN_CLI_USAGE;
    }
    if (arguments.help && (verb != NULL || arguments.count == 0)) {
        if (verb != NULL)
            admin_verb_help(verb, out);
        else
            admin_verbs_help(out);
        return ADMIN_CLI_DONE;
    }
    if (verb == NULL) {
        admin_verb_hint(arguments.count, arguments.rest, errors);
        return ADMIN_CLI_USAGE;
    }
    if (admin_request_parse(
            &request, verb, arguments.count - words, arguments.rest + words, clock_wall_ms(), error)
        != STATUS_OK) {
        fprintf(errors, "stampede admin: %s\ntry 'stampede admin %s --help'\n", error, verb->name);
        return ADMIN_CLI_USAGE;
    }
    const enum admin_cli_result result = verb_run(&arguments, &request, out, errors);
    admin_request_free(&request);
    return result;
}

int admin_cli_main(int argc, char **argv)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    const enum admin_cli_result result = admin_cli_run(argc, argv, stdout, stderr);
    curl_global_cleanup();
    return fflush(stdout) == 0 ? (int)result : ADMIN_CLI_NO_SERVER;
}
