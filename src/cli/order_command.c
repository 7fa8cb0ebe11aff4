/* SPDX-License-Identifier: Apache-2.0 */
/* cli/order_command.c: a file of shipments goes to the server in parts of 100 lines, twice: first only to be
 * checked, then to be done. Each line is done once, so the same file may be sent again. */
#include "cli/order_command.h"

#include "base/csv.h"
#include "cli/admin_session.h"
#include "contract/fulfilment.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    FILE_BYTES_MAX = 8 * 1024 * 1024,
    LINES_MAX = 50000,
    CELL_BYTES = 128,
    COLUMNS = 3,
    ERRORS_SHOWN = 100,
};

struct parcel {
    uint64_t line;
    uint64_t order;
    char carrier[CARRIER_MAX + 1], tracking[TRACKING_MAX + 1];
};
struct parcels {
    struct admin_session *session;
    const char *path;
    struct parcel *list;
    uint32_t count, wrong, done, repeated;
};

const struct admin_verb *order_verb_choose(const struct admin_verb *verb, int argc, char **argv)
{
    char *words[] = { "order", "ship-file" };
    int count = 0;
    if (verb == NULL || strcmp(verb->name, "order ship") != 0)
        return verb;
    for (int i = 0; i < argc; i++)
        if (strncmp(argv[i], "--file", 6) == 0)
            return admin_verb_find(2, words, &count);
    return verb;
}

static void line_refuse(struct parcels *parcels, uint64_t line, const char *why)
{
    if (parcels->wrong++ < ERRORS_SHOWN)
        fprintf(parcels->session->errors, "line %" PRIu64 ": %s\n", line, why);
}

static bool text_is_good(const char *text, size_t most)
{
    for (const char *at = text; *at != 0; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            return false;
    return text[0] != 0 && strlen(text) <= most && text[0] != ' ' && text[strlen(text) - 1] != ' ';
}

static void line_take(
    struct parcels *parcels, uint64_t line, char cells[COLUMNS][CELL_BYTES], uint32_t count)
{
    struct parcel parcel = { .line = line };
    if (count == 1 && cells[0][0] == 0)
        return; /* an empty line */
    if (count != COLUMNS)
        line_refuse(parcels, line, "there must be three columns: order, carrier, tracking");
    else if (strlen(cells[0]) != 16 || span_to_hex64(span_from_string(cells[0]), &parcel.order) != STATUS_OK)
        line_refuse(parcels, line, "the order must be 16 hex digits");
    else if (!text_is_good(cells[1], CARRIER_MAX))
        line_refuse(parcels, line, "the carrier must have 1 to 64 bytes");
    else if (!text_is_good(cells[2], TRACKING_MAX))
        line_refuse(parcels, line, "the tracking number must have 1 to 64 bytes");
    else if (parcels->count == LINES_MAX)
        line_refuse(parcels, line, "there are more than 50,000 lines");
    else {
        memcpy(parcel.carrier, cells[1], strlen(cells[1]) + 1);
        memcpy(parcel.tracking, cells[2], strlen(cells[2]) + 1);
        parcels->list[parcels->count++] = parcel;
    }
}

static int parcel_compare(const void *left, const void *right)
{
    const struct parcel *a = left, *b = right;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static int line_compare(const void *left, const void *right)
{
    const struct parcel *a = left, *b = right;
    return a->line < b->line ? -1 : a->line > b->line;
}

static void doubles_refuse(struct parcels *parcels)
{
    qsort(parcels->list, parcels->count, sizeof *parcels->list, parcel_compare);
    for (uint32_t i = 1; i < parcels->count; i++)
        if (parcels->list[i].order == parcels->list[i - 1].order)
            line_refuse(parcels, parcels->list[i].line, "this order stands in an earlier line, too");
    qsort(parcels->list, parcels->count, sizeof *parcels->list, line_compare);
}

static void text_read(struct parcels *parcels, struct span text)
{
    char cells[COLUMNS][CELL_BYTES];
    uint64_t line = 1;
    uint32_t count = 0;
    enum status status;
    if (span_starts_with(text, SPAN("\xef\xbb\xbf"))) /* as spreadsheets begin a file */
        text = span_of(text.data + 3, text.size - 3);
    while (parcels->wrong < LINES_MAX) {
        const uint64_t at = line;
        status = csv_record(&text, cells[0], CELL_BYTES, COLUMNS, &count, &line);
        if (status == STATUS_NOT_FOUND)
            break;
        const bool header = at == 1 && status == STATUS_OK && strcmp(cells[0], "order") == 0;
        if (status != STATUS_OK)
            line_refuse(parcels, at, "this is not three cells of CSV");
        else if (!header)
            line_take(parcels, at, cells, count);
    }
    doubles_refuse(parcels);
}

static bool file_read(struct parcels *parcels, const char *path)
{
    const bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdin : fopen(path, "re");
    char *bytes = malloc(FILE_BYTES_MAX + 1);
    const size_t size = file != NULL && bytes != NULL ? fread(bytes, 1, FILE_BYTES_MAX + 1, file) : 0;
    const bool good = file != NULL && bytes != NULL && !ferror(file) && size <= FILE_BYTES_MAX;
    if (good)
        text_read(parcels, span_of(bytes, size));
    else
        fprintf(parcels->session->errors,
            "stampede admin: %s can't be read, or has more than 8 MiB\n", path);
    if (file != NULL && !standard)
        fclose(file);
    free(bytes);
    return good;
}

static json_t *part_json(const struct parcels *parcels, uint32_t from, uint32_t to, bool check)
{
    json_t *rows = json_array();
    for (uint32_t i = from; i < to; i++) {
        const struct parcel *parcel = &parcels->list[i];
        char order[20];
        snprintf(order, sizeof order, "%016" PRIx64, parcel->order);
        json_array_append_new(rows,
            json_pack("{s:s,s:s,s:s}", "order", order, "carrier", parcel->carrier, "tracking",
                parcel->tracking));
    }
    return json_pack("{s:o,s:b}", "rows", rows, "check", check ? 1 : 0);
}

static void answers_read(struct parcels *parcels, uint32_t from, const json_t *answer, bool check)
{
    const json_t *rows = json_object_get(answer, "rows");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *said = json_string_value(json_object_get(row, "answer"));
        const char *why = json_string_value(json_object_get(row, "why"));
        if (said != NULL && strcmp(said, "refused") == 0)
            line_refuse(parcels, parcels->list[from + i].line, why == NULL ? "refused" : why);
        else if (!check && said != NULL)
            *(strcmp(said, "done") == 0 ? &parcels->done : &parcels->repeated) += 1;
    }
}

static enum admin_cli_result parts_send(struct parcels *parcels, bool check)
{
    enum admin_cli_result result = ADMIN_CLI_DONE;
    for (uint32_t from = 0; from < parcels->count && result == ADMIN_CLI_DONE; from += FULFIL_MOVES_MAX) {
        const uint32_t left = parcels->count - from;
        const uint32_t to = from + (left < FULFIL_MOVES_MAX ? left : FULFIL_MOVES_MAX);
        json_t *body = part_json(parcels, from, to, check);
        struct admin_answer answer;
        if (body == NULL)
            return ADMIN_CLI_USAGE; /* a text is not UTF-8 */
        result = admin_session_call(parcels->session, "POST", parcels->path, body, &answer);
        json_decref(body);
        if (result != ADMIN_CLI_DONE)
            return result;
        answers_read(parcels, from, answer.json, check);
        admin_answer_free(&answer);
    }
    return result;
}

enum admin_cli_result order_ship_file(struct admin_session *session, const struct admin_request *request)
{
    struct parcels parcels = {
        .session = session, .path = request->path, .list = malloc(LINES_MAX * sizeof(struct parcel))
    };
    enum admin_cli_result result = ADMIN_CLI_USAGE;
    if (parcels.list != NULL && file_read(&parcels, request->file)) {
        result = parts_send(&parcels, true);
        if (result == ADMIN_CLI_DONE && parcels.wrong == 0)
            result = parts_send(&parcels, false);
        if (result == ADMIN_CLI_DONE && parcels.wrong > 0) {
            fprintf(session->errors, "%u bad lines; %s\n", parcels.wrong,
                parcels.done > 0 ? "the others were done" : "nothing was done");
            result = ADMIN_CLI_REFUSED;
        }
    }
    if (result == ADMIN_CLI_DONE && session->json)
        fprintf(session->out, "{\"shipped\":%u,\"repeated\":%u}\n", parcels.done, parcels.repeated);
    else if (result == ADMIN_CLI_DONE)
        fprintf(session->out, "%u orders shipped, %u were already\n", parcels.done, parcels.repeated);
    free(parcels.list);
    return result;
}

enum admin_cli_result order_export(struct admin_session *session, const struct admin_request *request)
{
    char path[ADMIN_PATH_BYTES + 64];
    uint64_t next = 0;
    do {
        struct admin_answer answer;
        if (next == 0)
            snprintf(path, sizeof path, "%s", request->path);
        else
            snprintf(path, sizeof path, "%s%cbefore=%" PRIu64, request->path,
                strchr(request->path, '?') != NULL ? '&' : '?', next);
        const enum admin_cli_result result = admin_session_call(session, "GET", path, NULL, &answer);
        if (result != ADMIN_CLI_DONE)
            return result;
        fwrite(answer.body.bytes, 1, answer.body.size, session->out);
        next = answer.next;
        admin_answer_free(&answer);
    } while (next != 0);
    return ADMIN_CLI_DONE;
}
