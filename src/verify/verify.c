/* SPDX-License-Identifier: Apache-2.0 */
/* verify/verify.c: arguments, which kind of logs there are, and the verdict. */
#include "verify/verify_parts.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/time_text.h"

#include <inttypes.h>
#include <stdarg.h>

enum {
    FIRST_FULL_CHECK = 1 << 16, /* records */
    /* What a ticket takes in the journal: no win takes less than the first; lists of users take
     * less than the second for each user, and tables have room for 1.5 users a ticket. Small tables
     * are faster, so they are tried first. */
    BYTES_PER_TICKET = 64,
    BYTES_PER_LISTED_TICKET = 14,
};

void verify_fail(struct verify *verify, enum verify_check_id id, const char *format, ...)
{
    struct verify_check *check = &verify->checks[id];
    va_list arguments;
    check->ran = true;
    if (check->failures++ > 0)
        return;
    va_start(arguments, format);
    vsnprintf(check->what, sizeof check->what, format, arguments);
    va_end(arguments);
}

void verify_skip(struct verify *verify, enum verify_check_id id, const char *why)
{
    struct verify_check *check = &verify->checks[id];
    *check = (struct verify_check){ .ran = false };
    snprintf(check->what, sizeof check->what, "%s", why);
}

/* What is kept beside the engines. */
static enum status histories_open(struct verify *verify)
{
    const size_t bytes = ITEMS_LIMIT * (sizeof *verify->items + sizeof *verify->at_counts)
        + VERIFY_EVENTS_MAX * sizeof *verify->events + 4096;
    const enum status status = arena_open(&verify->arena, bytes);
    if (status != STATUS_OK)
        return status;
    verify->items = arena_take(&verify->arena, ITEMS_LIMIT, sizeof *verify->items);
    verify->at_counts = arena_take(&verify->arena, ITEMS_LIMIT, sizeof *verify->at_counts);
    verify->events = arena_take(&verify->arena, VERIFY_EVENTS_MAX, sizeof *verify->events);
    return STATUS_OK;
}

static void user_choose(struct verify *verify)
{
    const char *user = verify->options->user;
    if (user == NULL)
        return;
    const struct span text = span_from_string(user);
    if (span_to_hex64(text, &verify->user) != STATUS_OK || verify->user == 0)
        verify->user = funnel_user_id(&verify->keys, text);
}

/* The others look at the database alone. */
static bool check_needs_logs(uint32_t id)
{
    return id != CHECK_DATABASE && id != CHECK_DATA_ID && id != CHECK_MONEY && id != CHECK_AUDIT;
}

static void checks_settle(struct verify *verify, bool replayed)
{
    for (uint32_t id = 0; id < VERIFY_CHECKS; id++) {
        struct verify_check *check = &verify->checks[id];
        const bool of_store = id >= CHECK_DATABASE;
        if (check->failures > 0 || check->what[0] != 0)
            continue;
        if (of_store && verify->store == NULL)
            verify_skip(verify, id, verify->store_what);
        else if (of_store && id > CHECK_POSITION && !verify->store_compared)
            verify_skip(verify, id, "the log was not read up to the database's position");
        else if (!replayed && check_needs_logs(id))
            verify_skip(verify, id, "the log was not read to its end");
        else if (verify->source.partitions && id == CHECK_SNAPSHOTS)
            verify_skip(verify, id, "partitions have none");
        else
            check->ran = true;
    }
}

static void position_check(struct verify *verify)
{
    const lsn_t end = verify->recovery.end.lsn;
    if (verify->store == NULL)
        return;
    verify->checks[CHECK_POSITION].looked = verify->log_count;
    if (verify->store_data_id == 0 && end > 0)
        verify_fail(verify, CHECK_DATA_ID, "the database is new, but the journal ends at %" PRIu64, end);
    if (verify->source.partitions)
        return; /* each of them was looked at */
    const lsn_t position = verify->log->state.seq;
    if (position > end)
        verify_fail(verify, CHECK_POSITION,
            "the journal is older than the database: it ends at %" PRIu64
            ", orders are written up to %" PRIu64,
            end, position);
    else if (position < verify->start)
        verify_fail(verify, CHECK_POSITION,
            "the database is older than the journal: orders are written up to %" PRIu64
            ", the log is replayed from %" PRIu64,
            position, verify->start + 1);
}

static bool is_damaged(const struct verify *verify, enum status status)
{
    return status != STATUS_OK && verify->folder_replay.what[0] == 0;
}

static void verdict_find(const struct verify *verify, enum status status, struct verify_verdict *verdict)
{
    const struct journal_damage *damage = &verify->recovery.damage;
    if (is_damaged(verify, status)) {
        verdict->result = VERIFY_DAMAGED;
        snprintf(verdict->text, sizeof verdict->text,
            "FAILED: journal damaged: %s at byte %" PRIu64 ": %s",
            damage->segment[0] != 0 ? damage->segment : "journal", damage->offset,
            damage->what[0] != 0 ? damage->what : status_name(status));
        return;
    }
    for (uint32_t id = 0; id < VERIFY_CHECKS; id++) {
        if (verify->checks[id].failures == 0)
            continue;
        verdict->result = VERIFY_FAILED;
        snprintf(verdict->text, sizeof verdict->text, "FAILED: %s: %s", verify_check_title(id),
            verify->checks[id].what);
        return;
    }
    verdict->result = VERIFY_HOLDS;
    snprintf(verdict->text, sizeof verdict->text,
        "verified: %" PRIu64 " records, %" PRIu64 " tickets, all checks hold",
        verify->recovery.records, verify->tickets);
}

static void run_close(struct verify *verify)
{
    verify_store_close(verify);
    if (verify->source.store != NULL)
        verify->source.store->ops->close(verify->source.store);
    verify->source.store = NULL;
    verify_logs_close(verify);
    engine_close(&verify->engine);
    arena_close(&verify->arena);
    explicit_bzero(&verify->keys, sizeof verify->keys);
    explicit_bzero(verify->source.master, sizeof verify->source.master);
    data_folder_close(&verify->folder);
}

/* A table that is full makes the engine refuse what the log says it did. */
static bool tables_too_small(const struct verify *verify)
{
    return verify->engine.items != NULL
        && (tickets_full(&verify->engine.tickets)
            || buyers_room(&verify->engine.buyers) < USERS_PER_COMMAND + 2);
}

/* Which kind of logs there are, and that the arguments are of that kind. */
static enum status source_open(struct verify *verify, char error[CONFIG_ERROR])
{
    const struct verify_options *options = verify->options;
    struct verify_source *source = &verify->source;
    enum status status = STATUS_OK;
    if (options->settings != NULL)
        status = options->open(options->settings, source, verify->source_error);
    if (options->folder != NULL && source->partitions) {
        snprintf(error, CONFIG_ERROR,
            "inventory.kind is redis: the logs are in the database, so no data folder is verified");
        return STATUS_BAD_INPUT;
    }
    if (options->folder != NULL) /* whatever the database is: the folder's log can be looked at */
        return STATUS_OK;
    if (status != STATUS_OK)
        snprintf(error, CONFIG_ERROR, "%s", verify->source_error);
    else if (!source->partitions)
        snprintf(error, CONFIG_ERROR,
            "inventory.kind is embedded: the log is in a data folder, which must be named");
    return error[0] == 0 ? STATUS_OK : STATUS_BAD_INPUT;
}

static enum status logs_replay(struct verify *verify, char error[CONFIG_ERROR])
{
    verify->full_check_at = FIRST_FULL_CHECK;
    verify->progress_ns = clock_monotonic_ns();
    if (!verify->source.partitions)
        return verify_folder_replay(verify);
    /* The database belongs to others, or can't be read: that is told. */
    return verify->store == NULL ? STATUS_OK : verify_partitions_replay(verify, error);
}

static enum status run_once(struct verify *verify, uint32_t bytes_per_ticket, char error[CONFIG_ERROR])
{
    enum status status = source_open(verify, error);
    if (status == STATUS_OK)
        status = histories_open(verify);
    if (status == STATUS_OK)
        status = verify->source.partitions ? verify_partitions_open(verify, error)
                                           : verify_folder_open(verify, bytes_per_ticket, error);
    if (status != STATUS_OK) {
        if (error[0] == 0)
            snprintf(error, CONFIG_ERROR, "%s", status_name(status));
        return status;
    }
    status = funnel_keys_derive(&verify->keys, verify->folder.master, sizeof verify->folder.master);
    invariant(status == STATUS_OK);
    user_choose(verify);
    verify_store_open(verify);
    return logs_replay(verify, error);
}

static void verdict_tell(const struct verify *verify, const struct verify_verdict *verdict, FILE *out)
{
    const bool opened = verify->logs != NULL;
    if (verify->options->json)
        verify_report_json(opened ? verify : NULL, verdict, out);
    else if (verify->options->quiet || !opened)
        fprintf(out, "%s\n", verdict->text);
    else
        verify_report_text(verify, verdict, out);
}

static bool logs_whole(const struct verify *verify)
{
    for (uint32_t i = 0; i < verify->log_count; i++)
        if (verify->logs[i].broken)
            return false;
    return verify->store_compared || !verify->source.partitions;
}

enum verify_result verify_run(const struct verify_options *options, FILE *out)
{
    static const struct verify nothing;
    struct verify verify = nothing;
    struct verify_verdict verdict = { .result = VERIFY_DAMAGED };
    char error[CONFIG_ERROR] = "";
    verify.options = options;
    enum status status = run_once(&verify, BYTES_PER_TICKET, error);
    if (status != STATUS_OK && tables_too_small(&verify)) {
        run_close(&verify);
        verify = nothing;
        verify.options = options;
        status = run_once(&verify, BYTES_PER_LISTED_TICKET, error);
    }
    if (error[0] != 0) {
        run_close(&verify);
        verify.options = options;
        snprintf(verdict.text, sizeof verdict.text, "FAILED: %.400s", error);
        verdict_tell(&verify, &verdict, out);
        return verdict.result;
    }
    if (status == STATUS_OK)
        position_check(&verify);
    checks_settle(&verify, status == STATUS_OK && logs_whole(&verify));
    if (is_damaged(&verify, status))
        verify_fail(&verify, CHECK_CHAIN, "%s", verify.recovery.damage.what);
    verdict_find(&verify, status, &verdict);
    verdict_tell(&verify, &verdict, out);
    run_close(&verify);
    return verdict.result;
}

static const char help_text[] =
    "usage: stampede verify DIR [--config FILE] [--user SUBJECT|ID] [--item N] [--at TIME] "
    "[--json] [--quiet]\n"
    "       stampede verify --config FILE [...]    many machines (inventory.kind = redis)\n"
    "  Replays the journal of a data folder, or of all partitions in a database, and checks\n"
    "  that every unit is accounted for.\n"
    "  --config the settings, where they name a database server; else the database is in DIR\n"
    "  --user   explain why this user won or not: the shop's name of the user, or 16 hex "
    "digits\n"
    "  --item   show only this item in tables\n"
    "  --at     show the counts at this moment: ms since 1970, or "
    "2026-11-11T12:00:00.250Z\n"
    "  --json   print the report as JSON\n"
    "  --quiet  print only the last line\n"
    "  exit: 0 all checks hold, 1 a check failed, 2 the folder, its journal or the settings can't "
    "be read\n";

static int usage(const char *wrong)
{
    if (wrong != NULL)
        fprintf(stderr, "stampede verify: %s\n", wrong);
    fputs(help_text, wrong != NULL ? stderr : stdout);
    return wrong != NULL ? VERIFY_DAMAGED : VERIFY_HOLDS;
}

/* NULL: taken; else what is wrong. *used: how many arguments. */
static const char *argument_take(struct verify_options *options, char **argv, int *used)
{
    const char *name = argv[0], *value = argv[1];
    *used = 1;
    if (strcmp(name, "--json") == 0) {
        options->json = true;
    } else if (strcmp(name, "--quiet") == 0) {
        options->quiet = true;
    } else if (name[0] != '-' && options->folder == NULL) {
        options->folder = name;
    } else if (name[0] != '-') {
        return "more than one data folder";
    } else {
        *used = 2;
        if (strcmp(name, "--user") != 0 && strcmp(name, "--item") != 0 && strcmp(name, "--at") != 0
            && strcmp(name, "--config") != 0)
            return "unknown option";
        if (value == NULL || value[0] == 0)
            return "an option has no value";
        if (strcmp(name, "--user") == 0)
            options->user = value;
        else if (strcmp(name, "--config") == 0)
            options->settings = value;
        else if (strcmp(name, "--item") == 0)
            return span_to_u32(span_from_string(value), &options->item) == STATUS_OK && options->item > 0
                ? NULL
                : "--item must be a number from 1";
        else if (time_text_parse(span_from_string(value), 0, &options->at_ms) != STATUS_OK)
            return "--at must be ms since 1970, or like 2026-11-11T12:00:00.250Z";
        else
            options->at_wanted = true;
    }
    return NULL;
}

int verify_main(int argc, char **argv, verify_open open)
{
    struct verify_options options = { .open = open };
    for (int i = 1, used; i < argc; i += used) {
        if (strcmp(argv[i], "--help") == 0)
            return usage(NULL);
        const char *wrong = argument_take(&options, argv + i, &used);
        if (wrong != NULL)
            return usage(wrong);
    }
    if (options.folder == NULL && options.settings == NULL)
        return usage("missing data folder, or --config FILE");
    log_level_set(LOG_ERROR); /* the report says it */
    const enum verify_result result = verify_run(&options, stdout);
    return fflush(stdout) == 0 ? (int)result : VERIFY_DAMAGED;
}
