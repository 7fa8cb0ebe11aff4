/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/archive_command.h"

#include "base/span.h"
#include "base/status.h"
#include "cli/admin_command.h"
#include "contract/limits.h"
#include "contract/types.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    WAIT_MS = 100,
    ASKED_MAX = 36000 * 24, /* a day */
    WORDS_MAX = 12,
    NUMBER_CHARS = 24,
    STEP_MAX = 16,
};

struct asking {
    char *url, *key_file;
    char step[STEP_MAX + 1]; /* told last */
};

/* Runs a verb of `stampede admin`; what it prints is JSON, and freed by the caller. */
static bool server_ask(const struct asking *asking, char **words, int count, char **answer)
{
    char verb[] = "admin", json[] = "--json", url[] = "--url", key_file[] = "--key-file";
    char *arguments[WORDS_MAX + 8] = { verb };
    int used = 1;
    size_t size = 0;
    FILE *out = open_memstream(answer, &size);
    invariant(out != NULL && count <= WORDS_MAX);
    for (int i = 0; i < count; i++)
        arguments[used++] = words[i];
    arguments[used++] = json;
    if (asking->url != NULL) {
        arguments[used++] = url;
        arguments[used++] = asking->url;
    }
    if (asking->key_file != NULL) {
        arguments[used++] = key_file;
        arguments[used++] = asking->key_file;
    }
    const enum admin_cli_result result = admin_cli_run(used, arguments, out, stderr);
    fclose(out);
    return result == ADMIN_CLI_DONE;
}

/* What follows "name": in the answer, up to the end of the value; empty: it is not there. */
static struct span member(const char *answer, const char *name)
{
    char wanted[32];
    snprintf(wanted, sizeof wanted, "\"%s\":", name);
    const char *at = strstr(answer, wanted);
    if (at == NULL)
        return SPAN_NONE;
    at += strlen(wanted);
    while (*at == ' ')
        at++;
    const bool text = *at == '"';
    at += text;
    return (struct span){ at, strcspn(at, text ? "\"" : ",}\n ") };
}

static uint64_t member_number(const char *answer, const char *name)
{
    uint64_t number = 0;
    return span_to_u64(member(answer, name), &number) == STATUS_OK ? number : 0;
}

static void step_tell(struct asking *asking, const char *sale, struct span step)
{
    if (step.size > STEP_MAX || span_equal(step, span_from_string(asking->step)))
        return;
    memcpy(asking->step, step.data, step.size);
    asking->step[step.size] = 0;
    printf("sale %s: %s\n", sale, asking->step);
    fflush(stdout);
}

/* True: it goes on. */
static bool sale_look(struct asking *asking, char *number, bool *done)
{
    char *words[] = { "sale", "bundle", number }, *answer = NULL;
    const bool told = server_ask(asking, words, 3, &answer);
    const struct span step = told ? member(answer, "step") : SPAN_NONE;
    const struct span error = told ? member(answer, "error") : SPAN_NONE;
    *done = span_equal(step, SPAN("done"));
    if (step.size > 0)
        step_tell(asking, number, step);
    if (*done)
        printf("%.*s: %" PRIu64 " bytes, sha256 %.*s\n", (int)member(answer, "name").size,
            member(answer, "name").data, member_number(answer, "bytes"),
            (int)member(answer, "sha256").size, member(answer, "sha256").data);
    if (error.size > 0)
        fprintf(stderr, "stampede archive: sale %s: %.*s\n", number, (int)error.size, error.data);
    free(answer);
    return told && !*done && error.size == 0;
}

static bool sale_archive(struct asking *asking, sale_id sale)
{
    char number[NUMBER_CHARS], *answer = NULL;
    bool done = false;
    snprintf(number, sizeof number, "%u", sale);
    char *words[] = { "archive", "sale", number };
    const bool asked = server_ask(asking, words, 3, &answer);
    free(answer);
    if (!asked)
        return false;
    for (uint32_t i = 0; i < ASKED_MAX && sale_look(asking, number, &done); i++)
        usleep(WAIT_MS * 1000);
    return done;
}

/* All pages of sales. */
static bool due_ask(struct asking *asking, char *days, uint64_t *asked, uint64_t *not_finished)
{
    uint64_t after = 0;
    do {
        char from[NUMBER_CHARS], *answer = NULL;
        snprintf(from, sizeof from, "%" PRIu64, after);
        char *words[] = { "archive", "due", "--after-days", days, "--after", from };
        const bool told = server_ask(asking, words, 6, &answer);
        after = told ? member_number(answer, "next") : 0;
        *asked += told ? member_number(answer, "asked") : 0;
        *not_finished += told ? member_number(answer, "not_finished") : 0;
        free(answer);
        if (!told)
            return false;
    } while (after != 0);
    return true;
}

static bool due_archive(struct asking *asking, uint64_t after_days)
{
    char days[NUMBER_CHARS];
    uint64_t asked = 0, not_finished = 0, waiting = 1, failed = 0, busy = 1;
    snprintf(days, sizeof days, "%" PRIu64, after_days);
    if (!due_ask(asking, days, &asked, &not_finished))
        return false;
    printf("%" PRIu64 " sales leave; %" PRIu64 " are not finished and stay\n", asked, not_finished);
    fflush(stdout);
    for (uint32_t i = 0; i < ASKED_MAX && (waiting > 0 || busy != 0); i++) {
        char *words[] = { "archive", "show" }, *answer = NULL;
        const bool told = server_ask(asking, words, 2, &answer);
        waiting = told ? member_number(answer, "waiting") : 0;
        failed = told ? member_number(answer, "failed") : 0;
        busy = told ? member_number(answer, "sale") : 0;
        free(answer);
        if (!told)
            return false;
        if (waiting > 0 || busy != 0)
            usleep(WAIT_MS * 1000);
    }
    printf("%" PRIu64 " sales could not leave\n", failed);
    return failed == 0;
}

static const char usage[] = "usage: stampede archive SALE [--url URL] [--key-file FILE]\n"
                            "       stampede archive --after-days N [--url URL] [--key-file FILE]\n"
                            "  Lets the running server move a sale that is over, or all that ended "
                            "N days ago, to bundles, and\n"
                            "  waits for it. `stampede verify BUNDLE` reads one anywhere.\n"
                            "  --url, --key-file   as for `stampede admin`\n";

static bool arguments_read(struct asking *asking, int argc, char **argv, uint32_t *sale, uint64_t *days)
{
    char *after_days = NULL;
    const struct {
        const char *name;
        char **to;
    } options[] = { { "--url", &asking->url }, { "--key-file", &asking->key_file },
        { "--after-days", &after_days } };
    for (int i = 1; i < argc; i++) {
        bool taken = false;
        for (size_t j = 0; j < sizeof options / sizeof *options && !taken; j++)
            if (strcmp(argv[i], options[j].name) == 0 && i + 1 < argc) {
                *options[j].to = argv[++i];
                taken = true;
            }
        if (!taken && (*sale != 0 || span_to_u32(span_from_string(argv[i]), sale) != STATUS_OK))
            return false;
    }
    if (after_days != NULL && span_to_u64(span_from_string(after_days), days) != STATUS_OK)
        return false;
    return (*sale != 0) != (after_days != NULL) && *sale < SALES_LIMIT;
}

int archive_main(int argc, char **argv)
{
    struct asking asking = { 0 };
    uint32_t sale = 0;
    uint64_t days = 0;
    const bool help = argc > 1 && strcmp(argv[1], "--help") == 0;
    if (help || !arguments_read(&asking, argc, argv, &sale, &days)) {
        fputs(usage, help ? stdout : stderr);
        return help ? 0 : 2;
    }
    return (sale != 0 ? sale_archive(&asking, sale) : due_archive(&asking, days)) ? 0 : 1;
}
