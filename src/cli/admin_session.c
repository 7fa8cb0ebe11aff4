/* SPDX-License-Identifier: Apache-2.0 */
/* cli/admin_session.c: one request to the server, and its answer. */
#include "cli/admin_session.h"

#include "base/random.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CONNECT_TIMEOUT_MS = 5000,
    ANSWER_TIMEOUT_MS = 60000,
    TRIES_MAX = 4,      /* of a change whose answer does not come */
    TRY_AGAIN_MS = 500, /* before the second; twice as long before each further one */
    CHANGE_KEY_BYTES = 16,
};

void admin_answer_free(struct admin_answer *answer)
{
    json_decref(answer->json);
    free(answer->body.bytes);
    *answer = (struct admin_answer){ 0 };
}

/* The headers of the next request; `key` NULL: without one. False: no memory. */
static bool headers_make(struct admin_session *session, const char *type, const char *key)
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

static CURLcode exchange(struct admin_session *session, const char *method, const char *path,
    const struct admin_body *body, struct admin_answer *answer)
{
    char url[ADMIN_URL_BYTES + ADMIN_PATH_BYTES];
    CURL *curl = session->curl;
    free(answer->body.bytes);
    *answer = (struct admin_answer){ 0 };
    snprintf(url, sizeof url, "%s%s", session->url, path);
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, session->headers);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)ANSWER_TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, received_take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer->body);
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
static bool change_key_add(struct admin_session *session, const char *type)
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
static CURLcode exchange_surely(struct admin_session *session, const char *method, const char *path,
    const struct admin_body *body, struct admin_answer *answer, bool *unknown)
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

/* A page of CSV, and where the next one begins. */
static bool csv_is(struct admin_session *session, struct admin_answer *answer)
{
    struct curl_header *next = NULL;
    char *type = NULL;
    curl_easy_getinfo(session->curl, CURLINFO_CONTENT_TYPE, &type);
    if (curl_easy_header(session->curl, "Stampede-Next", 0, CURLH_HEADER, -1, &next) == CURLHE_OK
        && span_to_u64(span_from_string(next->value), &answer->next) != STATUS_OK)
        answer->next = 0;
    return type != NULL && strncmp(type, "text/csv", 8) == 0;
}

enum admin_cli_result admin_session_send(struct admin_session *session, const char *method,
    const char *path, const struct admin_body *body, struct admin_answer *answer)
{
    bool unknown = false;
    *answer = (struct admin_answer){ 0 };
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
        admin_answer_free(answer);
        return ADMIN_CLI_NO_SERVER;
    }
    answer->json =
        answer->body.size > 0 ? json_loadb(answer->body.bytes, answer->body.size, 0, NULL) : NULL;
    const bool csv = csv_is(session, answer);
    if (answer->status >= 200 && answer->status < 300
        && (csv || answer->json != NULL || answer->body.size == 0))
        return ADMIN_CLI_DONE;
    const bool refused = answer->status >= 400 && answer->status < 600;
    if (refused)
        admin_print_problem(answer->status, answer->json, session->errors);
    else
        fprintf(session->errors, "stampede admin: %s does not answer like Stampede (%ld)\n",
            session->url, answer->status);
    admin_answer_free(answer);
    return refused ? ADMIN_CLI_REFUSED : ADMIN_CLI_NO_SERVER;
}

bool admin_session_text(struct admin_session *session, const char *path, struct received *text)
{
    const struct admin_body none = { .bytes = "" };
    struct admin_answer answer = { 0 };
    *text = (struct received){ 0 };
    if (!headers_make(session, NULL, NULL))
        return false;
    const bool good = exchange(session, "GET", path, &none, &answer) == CURLE_OK
        && answer.status == 200 && answer.body.size > 0;
    if (good)
        *text = answer.body;
    else
        admin_answer_free(&answer);
    return good;
}

enum admin_cli_result admin_session_call(struct admin_session *session, const char *method,
    const char *path, const json_t *json, struct admin_answer *answer)
{
    char *text = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;
    const struct admin_body body = { .bytes = text != NULL ? text : "",
        .size = text != NULL ? strlen(text) : 0,
        .type = "Content-Type: application/json" };
    const enum admin_cli_result result = admin_session_send(session, method, path, &body, answer);
    free(text);
    return result;
}

void admin_session_print(struct admin_session *session, json_t *answer, const char *columns)
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

bool admin_session_open(struct admin_session *session, const char *url, const char *key_file)
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

void admin_session_close(struct admin_session *session)
{
    curl_slist_free_all(session->headers);
    if (session->curl != NULL)
        curl_easy_cleanup(session->curl);
    explicit_bzero(session->authorization, sizeof session->authorization);
}
