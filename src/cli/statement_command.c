/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/statement_command.h"

#include "base/status.h"
#include "cli/admin_parts.h"
#include "payment/statement.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_PER_PART = 100, FILE_BYTES_MAX = 256 * 1024 * 1024 };

struct import {
    const struct statement_cli *cli;
    const char *provider;
    json_t *rows;        /* of the part that is being filled */
    json_t *differences; /* all */
    bool sent;           /* a part, so that the next one is not the first */
    json_int_t agree, of_others, asked;
    enum admin_cli_result result;
};

/* NULL: said why. The caller frees. */
static char *file_read(const struct statement_cli *cli, const char *path, size_t *size)
{
    FILE *file = fopen(path, "rbe");
    char *bytes = NULL;
    bool whole = false;
    *size = 0;
    for (size_t room = 1 << 20; file != NULL && !whole && room <= FILE_BYTES_MAX; room *= 2) {
        char *more = realloc(bytes, room);
        if (more == NULL)
            break;
        bytes = more;
        *size += fread(bytes + *size, 1, room - *size, file);
        if (ferror(file) != 0)
            break;
        whole = *size < room;
    }
    if (file != NULL)
        fclose(file);
    if (whole)
        return bytes;
    free(bytes);
    fprintf(cli->errors, "stampede admin: %s can't be read, or is larger than 256 MiB\n", path);
    return NULL;
}

static json_int_t number_of(const json_t *answer, const char *name)
{
    return json_integer_value(json_object_get(answer, name));
}

static bool part_send(struct import *import)
{
    json_t *answer = NULL;
    json_t *body = json_pack("{s:s, s:O, s:b}", "provider", import->provider, "rows", import->rows,
        "first", !import->sent);
    import->result = body == NULL
        ? ADMIN_CLI_NO_SERVER
        : import->cli->ask(import->cli->context, "POST", "/admin/v1/statements", body, &answer);
    json_decref(body);
    json_array_clear(import->rows);
    import->sent = true;
    if (import->result != ADMIN_CLI_DONE)
        return false;
    import->agree += number_of(answer, "agree");
    import->of_others += number_of(answer, "of_others");
    import->asked += number_of(answer, "asked");
    json_array_extend(import->differences, json_object_get(answer, "differences"));
    json_decref(answer);
    return true;
}

static bool row_count(void *context, const struct statement_row *row)
{
    (void)context;
    (void)row;
    return true;
}

static bool row_send(void *context, const struct statement_row *row)
{
    struct import *import = context;
    json_t *json = json_pack("{s:s, s:s, s:I, s:s}", "reference", row->reference, "kind",
        row->kind == STATEMENT_CAPTURED ? "captured" : "refunded", "amount",
        (json_int_t)row->amount, "currency", row->currency);
    import->result = ADMIN_CLI_NO_SERVER;
    if (json == NULL || json_array_append_new(import->rows, json) != 0)
        return false;
    import->result = ADMIN_CLI_DONE;
    return json_array_size(import->rows) < ROWS_PER_PART || part_send(import);
}

/* Read once to see that all of it is understood, then sent. */
static bool rows_import(struct import *import, struct span text, struct statement_reader *reader)
{
    *reader = (struct statement_reader){ .text = text, .take = row_count };
    const enum status status = statement_read(import->provider, reader);
    import->result = ADMIN_CLI_USAGE;
    if (status == STATUS_NOT_FOUND)
        fprintf(import->cli->errors,
            "stampede admin: --provider must be alipay, wechat, stripe or sandbox\n");
    else if (status != STATUS_OK)
        fprintf(import->cli->errors, "stampede admin: line %u: %s; nothing was imported\n",
            reader->line, reader->error);
    if (status != STATUS_OK)
        return false;
    import->result = ADMIN_CLI_DONE;
    reader->text = text;
    reader->take = row_send;
    reader->context = import;
    if (statement_read(import->provider, reader) != STATUS_OK)
        return false;
    return json_array_size(import->rows) == 0 || part_send(import);
}

static bool missing_ask(struct import *import, const char *of, uint64_t from_ms, uint64_t to_ms)
{
    char path[ADMIN_PATH_BYTES];
    json_int_t after = 0;
    do {
        json_t *answer = NULL;
        snprintf(path, sizeof path,
            "/admin/v1/statements/missing?provider=%s&of=%s&from_ms=%" PRIu64 "&to_ms=%" PRIu64
            "&after=%lld",
            import->provider, of, from_ms, to_ms, (long long)after);
        import->result = import->cli->ask(import->cli->context, "GET", path, NULL, &answer);
        if (import->result != ADMIN_CLI_DONE)
            return false;
        json_array_extend(import->differences, json_object_get(answer, "missing"));
        after = number_of(answer, "next");
        json_decref(answer);
    } while (after != 0);
    return true;
}

static void report_print(const struct import *import, uint32_t rows)
{
    const struct statement_cli *cli = import->cli;
    const json_int_t differ = (json_int_t)json_array_size(import->differences);
    json_t *report = json_pack("{s:O, s:I, s:I, s:I, s:I}", "differences", import->differences,
        "rows", (json_int_t)rows, "agree", import->agree, "of_others", import->of_others, "asked",
        import->asked);
    if (cli->json) {
        json_dumpf(report, cli->out, JSON_COMPACT);
        fputs("\n", cli->out);
    } else {
        if (differ > 0)
            admin_print(import->differences,
                "difference reference order amount currency state captured refund.state "
                "refund.amount time_ms",
                cli->out);
        fprintf(cli->out,
            "%u rows: %lld agree, %lld unrelated to Stampede; %lld differences, %lld queried\n",
            rows, (long long)import->agree, (long long)import->of_others, (long long)differ,
            (long long)import->asked);
    }
    json_decref(report);
}

static uint64_t moment_of(const json_t *options, const char *name, uint64_t standard)
{
    const json_t *value = json_object_get(options, name);
    return json_is_integer(value) ? (uint64_t)json_integer_value(value) : standard;
}

enum admin_cli_result statement_cli_run(
    const struct statement_cli *cli, const char *path, const json_t *options)
{
    struct import import = { .cli = cli,
        .provider = json_string_value(json_object_get(options, "provider")),
        .rows = json_array(),
        .differences = json_array(),
        .result = ADMIN_CLI_USAGE };
    struct statement_reader reader;
    size_t size = 0;
    char *bytes = file_read(cli, path, &size);
    if (bytes != NULL && rows_import(&import, span_of(bytes, size), &reader)) {
        /* Books without times: all that there is. */
        const uint64_t from_ms = moment_of(options, "from_ms", reader.from_ms);
        const uint64_t to_ms = moment_of(options, "to_ms", reader.to_ms != 0 ? reader.to_ms : INT64_MAX);
        if (missing_ask(&import, "payments", from_ms, to_ms)
            && missing_ask(&import, "refunds", from_ms, to_ms)) {
            report_print(&import, reader.rows);
            if (json_array_size(import.differences) > 0)
                import.result = ADMIN_CLI_REFUSED;
        }
    }
    free(bytes);
    json_decref(import.rows);
    json_decref(import.differences);
    return import.result;
}
