/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reconcile_command.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS_MAX = 16 };

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text == NULL ? "?" : text;
}

static long long number_of(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

bool reconcile_print_runs(const json_t *report)
{
    return strcmp(text_of(report, "state"), "running") == 0;
}

static void finding_print(const json_t *finding, FILE *out)
{
    const bool repaired = json_is_true(json_object_get(finding, "repaired"));
    const bool repairable = json_is_true(json_object_get(finding, "repairable"));
    fprintf(out, "%s: %s\n  %s\n", text_of(finding, "code"),
        repaired         ? "repaired"
            : repairable ? "can be repaired (--repair)"
                         : "needs a person",
        text_of(finding, "text"));
}

enum admin_cli_result reconcile_print(const json_t *report, bool json, FILE *out)
{
    const json_t *findings = json_object_get(report, "findings");
    const long long left = number_of(report, "left");
    const bool failed = strcmp(text_of(report, "state"), "done") != 0;
    if (json) {
        json_dumpf(report, out, JSON_COMPACT);
        fputs("\n", out);
    } else if (failed) {
        fprintf(out, "reconciliation failed: %s\n", text_of(report, "trouble"));
    } else {
        fprintf(out,
            "position %lld: %lld orders, %lld users, %lld counters, %lld payments, %lld items "
            "in %lld ms\n",
            number_of(report, "position"), number_of(report, "orders"), number_of(report, "users"),
            number_of(report, "counters"), number_of(report, "payments"), number_of(report, "items"),
            number_of(report, "ended_ms") - number_of(report, "started_ms"));
        if (number_of(report, "skipped") > 0)
            fprintf(out, "%lld not compared: they kept changing\n", number_of(report, "skipped"));
        for (size_t i = 0; i < json_array_size(findings); i++)
            finding_print(json_array_get(findings, i), out);
        if (number_of(report, "found") == 0)
            fprintf(out, "nothing found\n");
        else
            fprintf(out, "%lld found, %lld repaired, %lld left\n", number_of(report, "found"),
                number_of(report, "repaired"), left);
    }
    return failed ? ADMIN_CLI_NO_SERVER : left > 0 ? ADMIN_CLI_REFUSED : ADMIN_CLI_DONE;
}

static const char help_text[] =
    "usage: stampede reconcile [--repair] [--url URL] [--key-file FILE] [--json]\n"
    "  Compares database and inventory of a running server; sales continue meanwhile.\n"
    "  --repair     repair what is certain (needs the role admin)\n"
    "  --url        the server; default: STAMPEDE_URL, else http://127.0.0.1:8080\n"
    "  --key-file   a file with the admin key; default: STAMPEDE_ADMIN_KEY\n"
    "  --json       print the server's report unchanged\n"
    "  exit: 0 nothing is left, 1 findings are left, 2 could not run\n";

int reconcile_main(int argc, char **argv)
{
    char name[] = "admin", verb[] = "reconcile";
    char *arguments[ARGUMENTS_MAX] = { name, verb };
    FILE *report = NULL;
    char *text = NULL;
    size_t size = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            fputs(help_text, stdout);
            return 0;
        }
    }
    if (argc + 1 > ARGUMENTS_MAX) {
        fputs(help_text, stderr);
        return 2;
    }
    memcpy(&arguments[2], &argv[1], (size_t)(argc - 1) * sizeof *argv);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    report = open_memstream(&text, &size);
    const enum admin_cli_result result =
        report == NULL ? ADMIN_CLI_NO_SERVER : admin_cli_run(argc + 1, arguments, report, stderr);
    curl_global_cleanup();
    if (report != NULL)
        fclose(report);
    if (text != NULL)
        fputs(text, stdout);
    /* A refusal of the server has no report; findings have one. */
    const bool told = size > 0;
    free(text);
    if (result == ADMIN_CLI_DONE)
        return fflush(stdout) == 0 ? 0 : 2;
    return result == ADMIN_CLI_REFUSED && told ? 1 : 2;
}
