/* SPDX-License-Identifier: Apache-2.0 */
/* cli/admin_parts.h: what the files of `admin` share: verbs as data, a request, and
 * printing. */
#ifndef STAMPEDE_CLI_ADMIN_PARTS_H
#define STAMPEDE_CLI_ADMIN_PARTS_H

#include "base/span.h"
#include "cli/admin_command.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    ADMIN_OPTIONS_MAX = 20,
    ADMIN_PATH_BYTES = 1024,
    ADMIN_ERROR_BYTES = 240,
    ADMIN_USERS_PER_CALL = 1000,
    ADMIN_ARGUMENTS_MAX = 256,
    ADMIN_KEY_BYTES = 512,
    ADMIN_ROWS_STANDARD = 100, /* of a list that is cut */
};

enum admin_option_kind {
    OPTION_PATH,   /* a number that goes into the path */
    OPTION_ID,     /* an order's 16 hex digits, for the path */
    OPTION_FILE,   /* a file that is sent: subjects, one per line, or a picture */
    OPTION_CURSOR, /* where a list goes on */
    OPTION_ROWS,   /* the most rows of the list, over all its pages */
    OPTION_TEXT,
    OPTION_NUMBER, /* 0 … 2^63 − 1 */
    OPTION_PRICE,  /* the smallest unit, or 99.00 in the currency */
    OPTION_SIGNED,
    OPTION_TIME,    /* see time_text.h */
    OPTION_FLAG,    /* true when given */
    OPTION_YES_NO,  /* true or false */
    OPTION_TEXTS,   /* may be repeated: an array */
    OPTION_NUMBERS, /* 1,2,3 or none: an array */
    OPTION_UNITS,   /* name=N, may be repeated: an object */
    OPTION_JSON,    /* an object as it is */
};

/* Named with dashes: an option. Without: a place on the line, in this order. `member`: of the body,
 * or of the query of a GET. */
struct admin_option {
    const char *name, *member;
    enum admin_option_kind kind;
    bool required;
    const char *help;
};
struct admin_verb {
    const char *name;          /* one or two words */
    const char *method, *path; /* '%' in the path: the OPTION_PATH number; '@': the OPTION_ID */
    const char *columns;       /* of the table, in order; those that no row has are left out */
    const char *help;
    bool pages;         /* a list that may come in pages, `after` the `next` of the one before */
    const char *cursor; /* a list that is cut after --limit rows: `next` goes in here */
    struct admin_option options[ADMIN_OPTIONS_MAX]; /* ends with name NULL */
};

struct admin_request {
    const struct admin_verb *verb;
    char path[ADMIN_PATH_BYTES]; /* with query */
    json_t *body;                /* NULL: none; the request's own */
    const char *file;
    uint64_t id;
    const char *order; /* OPTION_ID */
    uint64_t rows;     /* OPTION_ROWS; 0: not said */
    uint64_t cursor;   /* OPTION_CURSOR; 0: from the beginning */
};

/* admin_verbs.c: the table. */
extern const struct admin_verb admin_verbs[];
extern const uint32_t admin_verb_count;

/* admin_parse.c */
struct admin_arguments {
    const char *url, *key_file;
    bool json, help;
    int count; /* what is left for the verb */
    char *rest[ADMIN_ARGUMENTS_MAX];
};
/* The options of all verbs apart from the rest. NULL: fine; else what is wrong. */
const char *admin_arguments_split(struct admin_arguments *arguments, int argc, char **argv);
/* The verb that the words begin with; *words: how many it takes. NULL: none. */
const struct admin_verb *admin_verb_find(int argc, char **argv, int *words);
/* Arguments after the verb. STATUS_BAD_INPUT: `error` says what is wrong. */
MUST_CHECK enum status admin_request_parse(struct admin_request *request, const struct admin_verb *verb,
    int argc, char **argv, uint64_t now_ms, char error[ADMIN_ERROR_BYTES]);
/* The key from its file or the environment, as the header that carries it. False: said why. */
MUST_CHECK bool admin_key_read(const char *key_file, char *header, size_t header_bytes, FILE *errors);
void admin_request_free(struct admin_request *request);
void admin_verb_help(const struct admin_verb *verb, FILE *out);
void admin_verbs_help(FILE *out);
/* A line or two for words that are no verb: what is like it, and where all of them are told. */
void admin_verb_hint(int argc, char **argv, FILE *out);

/* admin_media.c: sends a picture in pieces and asks until it is kept. Says what went wrong; on
 * ADMIN_CLI_DONE the caller frees *answer. */
typedef enum admin_cli_result (*admin_media_call)(
    void *context, const char *method, const char *path, struct span body, json_t **answer);
enum admin_cli_result admin_media_send(admin_media_call call, void *context, const char *path,
    const char *file, FILE *errors, json_t **answer);

/* admin_print.c: lists as a table, anything else as lines `name: value`. */
void admin_print(json_t *answer, const char *columns, FILE *out);
/* The rows of an answer: itself if it is an array, else its first member that is one. NULL:
 * neither. */
json_t *admin_rows(json_t *answer);
/* One sentence for a problem document (or whatever came instead). */
void admin_print_problem(long status, const json_t *problem, FILE *out);

#endif
