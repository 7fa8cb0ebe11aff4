/* SPDX-License-Identifier: Apache-2.0 */
/* cli/admin_command.c: from the command line to the server and back. */
#include "cli/admin_command.h"

#include "base/clock.h"
#include "base/random.h"
#include "base/text.h"
#include "cli/admin_parts.h"
#include "cli/reconcile_command.h"
#include "cli/statement_command.h"
#include "contract/limits.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    URL_BYTES = 512,
    ANSWER_BYTES_MAX = 64 * 1024 * 1024,
    CONNECT_TIMEOUT_MS = 5000,
    ANSWER_TIMEOUT_MS = 60000,
    TRIES_MAX = 4,      /* of a change whose answer does not come */
    TRY_AGAIN_MS = 500, /* before the second; twice as long before each further one */
    CHANGE_KEY_BYTES = 16,
    RECONCILE_POLL_US = 100 * 1000,
    RECONCILE_POLLS_MAX = 36000, /* an hour */
};

struct session {
    char url[URL_BYTES];
    char authorization[ADMIN_KEY_BYTES + 32];
    bool json;
    FILE *out, *errors;
    CURL *curl;
    struct curl_slist *headers;
};

struct answer {
    char *bytes;
    size_t size;
    long status;
    json_t *json; /* NULL: not JSON */
};

static size_t answer_take(char *data, size_t one, size_t bytes, void *context)
{
    struct answer *answer = context;
    (void)one;
    if (bytes > ANSWER_BYTES_MAX - answer->size)
        return 0;
    char *more = realloc(answer->bytes, answer->size + bytes + 1);
    if (more == NULL)
        return 0;
    memcpy(more + answer->size, data, bytes);
    answer->bytes = more;
    answer->size += bytes;
    more[answer->size] = 0;
    return bytes;
}

static void answer_free(struct answer *answer)
{
    json_decref(answer->json);
    free(answer->bytes);
    *answer = (struct answer){ 0 };
}

/* What a request carries; `type`: the header. */
struct body {
    const char *bytes;
    size_t size;
    const char *type;
};

/* The headers of the next request; `key` NULL: without one. False: no memory. */
static bool headers_make(struct session *session, const char *type, const char *key)
{
    const char *const lines[] = { session->authorization, type, "Expect:", key };
    curl_slist_free_all(session->headers);
    session->headers = NULL;
    for (size_t i = 0; i < sizeof lines / sizeof *lines && lines[i] != NULL; i++) {
        struct curl_slist *more = curl_slist_append(session->headers, lines[i]);
        if (more == NULL)
            return false;
        session->headers = more;
    }
    return true;
}

static CURLcode exchange(struct session *session, const char *method, const char *path,
    const struct body *body, struct answer *answer)
{
    char url[URL_BYTES + ADMIN_PATH_BYTES];
    CURL *curl = session->curl;
    free(answer->bytes);
    *answer = (struct answer){ 0 };
    snprintf(url, sizeof url, "%s%s", session->url, path);
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, session->headers);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)ANSWER_TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, answer_take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
    if (strcmp(method, "GET") != 0) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body->bytes);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->size);
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    }
    const CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer->status);
    return code;
}

/* A change has a key of its own, so that it is done once however often it is asked for. */
static bool change_key_add(struct session *session, const char *type)
{
    uint8_t secret[CHANGE_KEY_BYTES];
    char line[sizeof "Idempotency-Key: " + 2 * CHANGE_KEY_BYTES];
    struct text text = text_in(line, sizeof line - 1);
    random_secret(secret, sizeof secret);
    text_literal(&text, "Idempotency-Key: ");
    text_hex(&text, span_of(secret, sizeof secret));
    line[text.size] = 0;
    return headers_make(session, type, line);
}

static bool nobody_there(CURLcode code)
{
    return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST;
}

/* Asks again while it is not known what became of it. *unknown: it still is not. */
static CURLcode exchange_surely(struct session *session, const char *method, const char *path,
    const struct body *body, struct answer *answer, bool *unknown)
{
    CURLcode code = CURLE_OK;
    *unknown = false;
    for (uint32_t i = 0; i < TRIES_MAX; i++) {
        if (i > 0)
            usleep(TRY_AGAIN_MS * 1000u << (i - 1));
        code = exchange(session, method, path, body, answer);
        if (code == CURLE_OK && answer->status != 504) {
            *unknown = false;
            return code;
        }
        *unknown |= !nobody_there(code);
        if (!*unknown)
            return code; /* it was never sent */
    }
    return code;
}

/* Says what went wrong; on success the answer is parsed and the caller frees it. */
static enum admin_cli_result call_with(struct session *session, const char *method,
    const char *path, const struct body *body, struct answer *answer)
{
    bool unknown = false;
    *answer = (struct answer){ 0 };
    const bool changes = strcmp(method, "GET") != 0;
    if (changes ? !change_key_add(session, body->type) : !headers_make(session, body->type, NULL))
        return ADMIN_CLI_NO_SERVER;
    const CURLcode code = changes ? exchange_surely(session, method, path, body, answer, &unknown)
                                  : exchange(session, method, path, body, answer);
    if (unknown)
        fprintf(session->errors,
            "stampede admin: no answer after %d tries: the change may have been made; check "
            "before you repeat it\n",
            TRIES_MAX);
    if (code != CURLE_OK) {
        fprintf(session->errors, "stampede admin: %s: %s\n", session->url, curl_easy_strerror(code));
        answer_free(answer);
        return ADMIN_CLI_NO_SERVER;
    }
    answer->json = answer->size > 0 ? json_loadb(answer->bytes, answer->size, 0, NULL) : NULL;
    if (answer->status >= 200 && answer->status < 300 && (answer->json != NULL || answer->size == 0))
        return ADMIN_CLI_DONE;
    const bool refused = answer->status >= 400 && answer->status < 600;
    if (refused)
        admin_print_problem(answer->status, answer->json, session->errors);
    else
        fprintf(session->errors, "stampede admin: %s does not answer like Stampede (%ld)\n",
            session->url, answer->status);
    answer_free(answer);
    return refused ? ADMIN_CLI_REFUSED : ADMIN_CLI_NO_SERVER;
}

static enum admin_cli_result call(struct session *session, const char *method, const char *path,
    const json_t *json, struct answer *answer)
{
    char *text = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;
    const struct body body = { .bytes = text != NULL ? text : "",
        .size = text != NULL ? strlen(text) : 0,
        .type = "Content-Type: application/json" };
    const enum admin_cli_result result = call_with(session, method, path, &body, answer);
    free(text);
    return result;
}

static void answer_print(struct session *session, json_t *answer, const char *columns)
{
    if (answer == NULL) {
        fputs(session->json ? "{}\n" : "done\n", session->out);
    } else if (session->json) {
        json_dumpf(answer, session->out, JSON_COMPACT);
        fputs("\n", session->out);
    } else {
        admin_print(answer, columns, session->out);
    }
}

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
static enum admin_cli_result page_get(struct session *session, const struct admin_request *request,
    const char *cursor, const char *at, struct answer *page)
{
    char path[ADMIN_PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s%c%s=%.32s", request->path,
        strchr(request->path, '?') != NULL ? '&' : '?', cursor, at);
    return call(session, "GET", path, NULL, page);
}

/* A list that is cut: pages are put together until there are so many rows, and who reads them is
 * told whether there are more. */
static enum admin_cli_result rows_follow(
    struct session *session, const struct admin_request *request, struct answer *first)
{
    const size_t wanted = request->rows != 0 ? (size_t)request->rows : ADMIN_ROWS_STANDARD;
    json_t *rows = admin_rows(first->json), *next = json_object_get(first->json, "next");
    char at[CURSOR_BYTES];
    while (json_array_size(rows) < wanted && cursor_of(next, at)) {
        struct answer page;
        const enum admin_cli_result result =
            page_get(session, request, request->verb->cursor, at, &page);
        if (result != ADMIN_CLI_DONE)
            return result;
        next = json_object_get(page.json, "next");
        const bool good = json_array_extend(rows, admin_rows(page.json)) == 0
            && (next != NULL ? json_object_set(first->json, "next", next)
                             : json_object_del(first->json, "next"))
                == 0;
        answer_free(&page);
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

/* A list that goes on: the next page's rows are put behind the first's. */
static enum admin_cli_result pages_follow(
    struct session *session, const struct admin_request *request, struct answer *first)
{
    json_t *rows = admin_rows(first->json);
    char after[CURSOR_BYTES], before[CURSOR_BYTES] = "";
    bool more = request->verb->pages && rows != NULL
        && cursor_of(json_object_get(first->json, "next"), after);
    while (more) {
        struct answer page;
        const enum admin_cli_result result = page_get(session, request, "after", after, &page);
        if (result != ADMIN_CLI_DONE)
            return result;
        snprintf(before, sizeof before, "%s", after);
        more = json_array_extend(rows, admin_rows(page.json)) == 0
            && cursor_of(json_object_get(page.json, "next"), after) && strcmp(before, after) != 0;
        answer_free(&page);
    }
    if (request->verb->pages)
        json_object_del(first->json, "next");
    return ADMIN_CLI_DONE;
}

static enum admin_cli_result request_run(struct session *session, const struct admin_request *request)
{
    struct answer answer;
    char at[CURSOR_BYTES];
    snprintf(at, sizeof at, "%llu", (unsigned long long)request->cursor);
    enum admin_cli_result result = request->cursor != 0
        ? page_get(session, request, request->verb->cursor, at, &answer)
        : call(session, request->verb->method, request->path, request->body, &answer);
    if (result != ADMIN_CLI_DONE)
        return result;
    result = request->verb->cursor != NULL ? rows_follow(session, request, &answer)
                                           : pages_follow(session, request, &answer);
    if (result == ADMIN_CLI_DONE)
        answer_print(session, answer.json, request->verb->columns);
    answer_free(&answer);
    return result;
}

/* The sale with its items: one document as JSON, two tables for people. */
static enum admin_cli_result sale_show(struct session *session, const struct admin_request *request)
{
    char *words[] = { "item", "list" };
    int count;
    struct admin_request items = { .verb = admin_verb_find(2, words, &count) };
    struct answer sale, list = { 0 };
    enum admin_cli_result result = call(session, "GET", request->path, NULL, &sale);
    if (result != ADMIN_CLI_DONE)
        return result;
    invariant(items.verb != NULL);
    snprintf(items.path, sizeof items.path, "%s?sale=%llu", items.verb->path,
        (unsigned long long)request->id);
    result = call(session, "GET", items.path, NULL, &list);
    if (result == ADMIN_CLI_DONE)
        result = pages_follow(session, &items, &list);
    if (result == ADMIN_CLI_DONE && session->json) {
        json_object_set(sale.json, "items", admin_rows(list.json));
        answer_print(session, sale.json, NULL);
    } else if (result == ADMIN_CLI_DONE) {
        answer_print(session, sale.json, NULL);
        fputs("\n", session->out);
        answer_print(session, list.json, items.verb->columns);
    }
    answer_free(&sale);
    answer_free(&list);
    return result;
}

static enum admin_cli_result users_send(
    struct session *session, const struct admin_request *request, json_t *users, uint64_t *sent)
{
    struct answer answer;
    json_t *body = json_pack("{s:O}", "users", users);
    if (body == NULL)
        return ADMIN_CLI_NO_SERVER;
    const enum admin_cli_result result = call(session, "POST", request->path, body, &answer);
    json_decref(body);
    if (result != ADMIN_CLI_DONE)
        return result;
    answer_free(&answer);
    *sent += json_array_size(users);
    json_array_clear(users);
    if (isatty(fileno(session->errors)))
        fprintf(session->errors, "\r%llu users", (unsigned long long)*sent);
    return ADMIN_CLI_DONE;
}

static enum admin_cli_result user_lines(struct session *session,
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

static enum admin_cli_result users_load(struct session *session, const struct admin_request *request)
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

static bool session_open(struct session *session, const char *url, const char *key_file)
{
    if (url == NULL)
        url = getenv("STAMPEDE_URL");
    snprintf(session->url, sizeof session->url, "%s", url != NULL ? url : "http://127.0.0.1:8080");
    for (size_t size = strlen(session->url); size > 0 && session->url[size - 1] == '/'; size--)
        session->url[size - 1] = 0;
    if (!admin_key_read(key_file, session->authorization, sizeof session->authorization, session->errors))
        return false;
    session->curl = curl_easy_init();
    return session->curl != NULL;
}

static void session_close(struct session *session)
{
    curl_slist_free_all(session->headers);
    if (session->curl != NULL)
        curl_easy_cleanup(session->curl);
    explicit_bzero(session->authorization, sizeof session->authorization);
}

/* Waits until no run is under way; the answer is the last report. */
static enum admin_cli_result reconcile_wait(
    struct session *session, const char *path, struct answer *answer)
{
    for (uint32_t i = 0; i < RECONCILE_POLLS_MAX; i++) {
        const enum admin_cli_result result = call(session, "GET", path, NULL, answer);
        if (result != ADMIN_CLI_DONE || !reconcile_print_runs(answer->json))
            return result;
        answer_free(answer);
        usleep(RECONCILE_POLL_US);
    }
    fprintf(session->errors, "stampede admin: the reconciliation did not finish in time\n");
    return ADMIN_CLI_NO_SERVER;
}

/* A run of our own, after one that may be under way, and its report. */
static enum admin_cli_result reconcile_follow(struct session *session, const struct admin_request *request)
{
    struct answer answer;
    json_t *body = request->body != NULL ? json_incref(request->body) : json_object();
    enum admin_cli_result result = reconcile_wait(session, request->path, &answer);
    if (result == ADMIN_CLI_DONE) {
        answer_free(&answer);
        result = call(session, "POST", request->path, body, &answer);
    }
    if (result == ADMIN_CLI_DONE) {
        answer_free(&answer);
        result = reconcile_wait(session, request->path, &answer);
    }
    if (result == ADMIN_CLI_DONE) {
        result = reconcile_print(answer.json, session->json, session->out);
        answer_free(&answer);
    }
    json_decref(body);
    return result;
}

static enum admin_cli_result media_call(
    void *context, const char *method, const char *path, struct span bytes, json_t **json)
{
    const struct body body = { bytes.data, bytes.size, "Content-Type: application/octet-stream" };
    struct answer answer;
    const enum admin_cli_result result = call_with(context, method, path, &body, &answer);
    *json = NULL;
    if (result == ADMIN_CLI_DONE) {
        *json = json_incref(answer.json);
        answer_free(&answer);
    }
    return result;
}

/* A picture, and what became of it. */
static enum admin_cli_result media_add(struct session *session, const struct admin_request *request)
{
    json_t *json = NULL;
    const enum admin_cli_result result =
        admin_media_send(media_call, session, request->path, request->file, session->errors, &json);
    if (result == ADMIN_CLI_DONE)
        answer_print(session, json, NULL);
    json_decref(json);
    return result;
}

static enum admin_cli_result statement_ask(
    void *context, const char *method, const char *path, const json_t *body, json_t **json)
{
    struct answer answer;
    const enum admin_cli_result result = call(context, method, path, body, &answer);
    if (result != ADMIN_CLI_DONE)
        return result;
    *json = json_incref(answer.json);
    answer_free(&answer);
    return result;
}

static enum admin_cli_result statement_import(struct session *session, const struct admin_request *request)
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
    struct session session = { .json = arguments->json, .out = out, .errors = errors };
    enum admin_cli_result result = ADMIN_CLI_USAGE;
    if (session_open(&session, arguments->url, arguments->key_file)) {
        if (strcmp(request->verb->name, "media add") == 0)
            result = media_add(&session, request);
        else if (strcmp(request->verb->name, "statement import") == 0)
            result = statement_import(&session, request);
        else if (request->file != NULL)
            result = users_load(&session, request);
        else if (strcmp(request->verb->name, "sale show") == 0)
            result = sale_show(&session, request);
        else if (strcmp(request->verb->name, "reconcile") == 0)
            result = reconcile_follow(&session, request);
        else
            result = request_run(&session, request);
    }
    session_close(&session);
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
