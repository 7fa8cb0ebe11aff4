/* SPDX-License-Identifier: Apache-2.0 */
/* cli/admin_session.h: calls to a server on behalf of `admin`: the address and the key, one request and
 * its answer, and the retries of a change whose answer does not come. The `admin` files and
 * src/rehearse include it.
 * Memory: whoever gets an answer frees it. Errors: said on `errors`; the result says of which kind. */
#ifndef STAMPEDE_CLI_ADMIN_SESSION_H
#define STAMPEDE_CLI_ADMIN_SESSION_H

#include "cli/admin_parts.h"
#include "cli/received.h"

#include <curl/curl.h>

enum { ADMIN_URL_BYTES = 512 };

struct admin_session {
    char url[ADMIN_URL_BYTES];
    char authorization[ADMIN_KEY_BYTES + 32];
    bool json;
    FILE *out, *errors;
    CURL *curl;
    struct curl_slist *headers;
};

struct admin_answer {
    struct received body;
    long status;
    json_t *json;  /* NULL: not JSON, but a CSV */
    uint64_t next; /* of a CSV: where the next page begins; 0: there is none */
};

/* What a request carries; `type`: the header. */
struct admin_body {
    const char *bytes;
    size_t size;
    const char *type;
};

/* `url` and `key_file` NULL: from the environment. Fill json, out and errors first. False: said why.
 * Close it in either case. */
MUST_CHECK bool admin_session_open(struct admin_session *session, const char *url, const char *key_file);
void admin_session_close(struct admin_session *session);

/* Says what went wrong; on ADMIN_CLI_DONE the answer is parsed and the caller frees it. A change gets a
 * key of its own and is asked for again while it is not known what became of it. */
enum admin_cli_result admin_session_send(struct admin_session *session, const char *method,
    const char *path, const struct admin_body *body, struct admin_answer *answer);
/* The same with a JSON body; NULL: none. */
enum admin_cli_result admin_session_call(struct admin_session *session, const char *method,
    const char *path, const json_t *json, struct admin_answer *answer);
void admin_answer_free(struct admin_answer *answer);
/* GET of something that is not JSON (/metrics). False: no answer, or another status than 200; nothing
 * is said. The
 * caller frees the bytes. */
MUST_CHECK bool admin_session_text(
    struct admin_session *session, const char *path, struct received *text);

/* As the user wants it: JSON, or for people. NULL: there was no body. */
void admin_session_print(struct admin_session *session, json_t *answer, const char *columns);

#endif
