/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/rehearse.h"

#include "base/clock.h"
#include "rehearse/copy.h"
#include "rehearse/crowd.h"
#include "rehearse/measure.h"
#include "rehearse/options.h"
#include "rehearse/report.h"
#include "rehearse/scratch_server.h"
#include "rehearse/target.h"
#include "rehearse/watch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    READY_PATIENCE_MS = 60000,
    PREPARE_MS = 4000, /* between the making of the sale and the first visitor */
    QUIET_MS = 1200,   /* an edge shows its counts ten times a second, later where cores are few */
    SETTLE_MS = 5000,  /* for payments and orders on their way, after the play */
    SALE_LENGTH_MS = 3600 * 1000,
    SPARE_FILES = 64,
};

struct rehearsal {
    struct rehearse_options options;
    struct copy copy;
    struct scratch_server host;
    struct target target;
    struct watch watch;
    struct sale_facts facts;
    struct visitor *visitors;
    struct tally *tally;
    struct server_counts counts;
    struct comparisons comparisons;
    struct findings findings;
    struct measured measured;
    char *before, *after;
    double cpu_s;
    uint64_t begin_ns;
};

static atomic_bool stopped;

static void on_stop(int signal_number)
{
    (void)signal_number;
    atomic_store(&stopped, true);
}

static void progress(void *context, const struct tally *tally)
{
    const struct tally_second *second = &tally->seconds[tally->seconds_count - 1];
    const struct rehearsal *rehearsal = context;
    const unsigned long long wins =
        (unsigned long long)tally->wins[WHO_PEOPLE] + (unsigned long long)tally->wins[WHO_BOTS];
    fprintf(stderr,
        "%4u s %+4d s  %7u answers/s  p99 %8.1f ms  %7u visiting  %7u over  %6llu won  "
        "%5u without a connection\n",
        tally->seconds_count, (int)tally->seconds_count - (int)rehearsal->options.early_s,
        second->answered, second->p99_us / 1000.0, second->coming, tally->over, wins, second->waiting);
}

static void files_allow(uint32_t *connections)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max != RLIM_INFINITY && *connections > limit.rlim_max - SPARE_FILES)
        *connections = (uint32_t)(limit.rlim_max - SPARE_FILES);
}

static bool sale_read(struct rehearsal *rehearsal, struct text *settings)
{
    const struct rehearse_options *options = &rehearsal->options;
    struct admin_session shop = { .out = stdout, .errors = stderr };
    if (options->example)
        return copy_example(&rehearsal->copy);
    const bool good = admin_session_open(&shop, options->url, options->key_file)
        && copy_read(&rehearsal->copy, &shop, options->sale);
    if (good)
        copy_settings_read(&rehearsal->copy, &shop, settings);
    admin_session_close(&shop);
    return good;
}

static bool lives(void *context)
{
    return scratch_server_lives(context);
}

static bool server_open(struct rehearsal *rehearsal, struct span settings)
{
    const struct rehearse_options *options = &rehearsal->options;
    const bool own = options->server_url == NULL;
    struct target *target = &rehearsal->target;
    struct scratch_server *host = &rehearsal->host;
    const char *path;
    target->session = (struct admin_session){ .out = stdout, .errors = stderr };
    if (own && !scratch_server_start(host, options->scratch, settings, options->connections, stderr))
        return false;
    const char *url = own ? host->url : options->server_url;
    if (!target_address(target, url, &path, stderr)
        || !admin_session_open(&target->session, url, own ? host->key_file : options->server_key_file))
        return false;
    if (target_ready(target, READY_PATIENCE_MS, own ? lives : NULL, host))
        return true;
    fprintf(stderr, "stampede rehearse: %s is not ready\n", url);
    if (own)
        scratch_server_log_show(host, stderr);
    return false;
}

/* The moments of the plan on our clock follow from the server's. */
static bool sale_make(struct rehearsal *rehearsal)
{
    const uint64_t early_ms = rehearsal->options.early_s * 1000ull;
    struct target *target = &rehearsal->target;
    struct sale_facts *facts = &rehearsal->facts;
    uint64_t made_ms, now_ms, pass_early_ms;
    if (!target_is_for_tests(target, &made_ms, &pass_early_ms)
        || !copy_make(&rehearsal->copy, &target->session, made_ms, early_ms + PREPARE_MS,
            SALE_LENGTH_MS, facts))
        return false;
    facts->pass_early_ns = pass_early_ms * NS_PER_MS;
    facts->start_ns = early_ms * NS_PER_MS;
    usleep(QUIET_MS * 1000);
    target->asked = 0;
    rehearsal->before = target_metrics(target);
    const uint64_t asked_ns = clock_monotonic_ns();
    if (rehearsal->before == NULL || !target_time(target, &now_ms))
        return false;
    const uint64_t begin_ms = made_ms + PREPARE_MS;
    rehearsal->begin_ns = asked_ns + (begin_ms > now_ms ? (begin_ms - now_ms) * NS_PER_MS : 0);
    if (now_ms > begin_ms) /* a slow start: fewer seconds before the sale opens */
        facts->start_ns = made_ms + PREPARE_MS + early_ms > now_ms
            ? (made_ms + PREPARE_MS + early_ms - now_ms) * NS_PER_MS
            : 0;
    return true;
}

static uint64_t winners_count(const struct rehearsal *rehearsal)
{
    uint64_t winners = 0;
    for (uint32_t i = 0; i < rehearsal->options.users; i++)
        winners += rehearsal->visitors[i].ticket[0] != 0;
    return winners;
}

static uint64_t units_of(const struct sale_facts *facts)
{
    uint64_t units = 0;
    for (uint32_t i = 0; i < facts->item_count; i++)
        units += facts->units[i];
    return units;
}

/* Payments arrive after the bank has answered, orders are written after the win was told: what differs
 * is looked at again for a while. */
static bool server_settles(struct rehearsal *rehearsal)
{
    const uint64_t until_ms = clock_monotonic_ms() + SETTLE_MS;
    struct target *target = &rehearsal->target;
    struct server_counts *counts = &rehearsal->counts;
    for (;;) {
        free(rehearsal->after);
        usleep(QUIET_MS * 1000);
        const uint64_t asked = target->asked; /* what is asked from now on does not show yet */
        rehearsal->after = target_metrics(target);
        struct server_counts reported = { 0 };
        if (rehearsal->after == NULL || !target_report(target, rehearsal->facts.sale, &reported))
            return false;
        server_counts_read(rehearsal->before, rehearsal->after, counts);
        counts->report = reported.report;
        const struct seen_besides besides = { .own_requests = asked + rehearsal->watch.asked,
            .winners = winners_count(rehearsal),
            .units = units_of(&rehearsal->facts),
            .human_check = rehearsal->facts.human_check };
        comparisons_make(rehearsal->tally, counts, &besides, &rehearsal->comparisons);
        if (rehearsal->comparisons.different == 0 || clock_monotonic_ms() > until_ms)
            return true;
    }
}

static bool play(struct rehearsal *rehearsal)
{
    const struct rehearse_options *options = &rehearsal->options;
    const struct plan_options plan = { .seed = options->seed,
        .users = options->users,
        .bots_percent = options->bots_percent,
        .late_s = options->late_s,
        .pays_percent = options->pays_percent };
    const bool own = options->server_url == NULL;
    const char *url = own ? rehearsal->host.url : options->server_url;
    const struct crowd_options crowd = { .server = rehearsal->target.address,
        .server_bytes = rehearsal->target.address_bytes,
        .place = { .host = rehearsal->target.host },
        .seed = options->seed,
        .begin_ns = rehearsal->begin_ns,
        .length_ns = options->seconds * NS_PER_S,
        .connections = options->connections,
        .stop = &stopped,
        .second = progress,
        .context = rehearsal };
    plan_make(&plan, &rehearsal->facts, rehearsal->visitors);
    if (!watch_start(&rehearsal->watch, url,
            own ? rehearsal->host.key_file : options->server_key_file, stderr))
        return false;
    const double cpu_s = scratch_server_cpu_s(&rehearsal->host);
    const enum status status =
        crowd_play(&crowd, &rehearsal->facts, rehearsal->visitors, options->users, rehearsal->tally);
    rehearsal->cpu_s = scratch_server_cpu_s(&rehearsal->host) - cpu_s;
    watch_stop(&rehearsal->watch);
    if (status != STATUS_OK)
        fprintf(stderr, "stampede rehearse: the crowd could not play: %s\n",
            status == STATUS_FULL ? "no memory" : "no sockets; raise nofile or use fewer --connections");
    return status == STATUS_OK && server_settles(rehearsal);
}

static void conclude(struct rehearsal *rehearsal)
{
    const struct rehearse_options *options = &rehearsal->options;
    const struct copy *copy = &rehearsal->copy;
    const struct tally *tally = rehearsal->tally;
    struct measured *measured = &rehearsal->measured;
    *measured = (struct measured){ .users = options->users,
        .bots_percent = options->bots_percent,
        .units = units_of(&rehearsal->facts),
        .expect_users = options->expect_users,
        .machine_cores = options->machine_cores,
        .p99_goal_ms = options->p99_ms,
        .waiting_room = rehearsal->facts.waiting_room,
        .pace_per_s = copy_number(copy, "pace_per_s"),
        .drop_percent = copy_number(copy, "drop_percent"),
        .start_draw_ms = copy_number(copy, "start_draw_ms"),
        .peak_orders_per_s = watch_peak_orders(&rehearsal->watch),
        .peak_go_per_s = watch_peak_go(&rehearsal->watch),
        .cpu_s = rehearsal->cpu_s,
        .seconds = tally->seconds_count };
    snprintf(measured->human_check, sizeof measured->human_check, "%s",
        rehearsal->facts.human_check ? copy_text(copy, "human_check") : "none");
    for (uint32_t i = 0; i < tally->seconds_count; i++)
        if (tally->seconds[i].answered > measured->peak_requests_per_s)
            measured->peak_requests_per_s = tally->seconds[i].answered;
    findings_make(tally, &rehearsal->counts, &rehearsal->comparisons, measured, &rehearsal->findings);
}

static bool report_put(const struct report *report,
    void (*write_report)(const struct report *, struct text *), const char *path)
{
    char *bytes = malloc(REPORT_BYTES);
    struct text text = text_in(bytes, bytes != NULL ? REPORT_BYTES : 0);
    if (bytes == NULL)
        return false;
    write_report(report, &text);
    FILE *opened = path != NULL ? fopen(path, "we") : NULL;
    FILE *file = path != NULL ? opened : stdout;
    bool good = file != NULL && !text.overflow && fwrite(text.data, 1, text.size, file) == text.size;
    good = (opened != NULL ? fclose(opened) : fflush(stdout)) == 0 && good;
    if (!good)
        fprintf(stderr, "stampede rehearse: the report can't be written to %s\n",
            path != NULL ? path : "standard output");
    free(bytes);
    return good;
}

static bool reports_write(const struct rehearsal *rehearsal)
{
    const struct rehearse_options *options = &rehearsal->options;
    const struct report report = { .title = copy_text(&rehearsal->copy, "title"),
        .server = rehearsal->target.session.url,
        .seed = options->seed,
        .units = rehearsal->measured.units,
        .users = options->users,
        .bots_percent = options->bots_percent,
        .connections = options->connections,
        .seconds = rehearsal->tally->seconds_count,
        .start_s = (uint32_t)(rehearsal->facts.start_ns / NS_PER_S),
        .copy = &rehearsal->copy,
        .tally = rehearsal->tally,
        .counts = &rehearsal->counts,
        .comparisons = &rehearsal->comparisons,
        .measured = &rehearsal->measured,
        .findings = &rehearsal->findings };
    bool good = report_put(&report, options->json ? report_json : report_text, NULL);
    if (options->html_file != NULL)
        good &= report_put(&report, report_html, options->html_file);
    if (options->json_file != NULL)
        good &= report_put(&report, report_json, options->json_file);
    if (options->text_file != NULL)
        good &= report_put(&report, report_text, options->text_file);
    return good;
}

static int rehearse(struct rehearsal *rehearsal)
{
    static char settings_bytes[SCRATCH_SETTINGS_BYTES];
    struct text settings = text_in(settings_bytes, sizeof settings_bytes);
    files_allow(&rehearsal->options.connections);
    rehearsal->visitors = calloc(rehearsal->options.users, sizeof *rehearsal->visitors);
    rehearsal->tally = calloc(1, sizeof *rehearsal->tally);
    if (rehearsal->visitors == NULL || rehearsal->tally == NULL) {
        fputs("stampede rehearse: no memory\n", stderr);
        return REHEARSE_FAILED;
    }
    if (!sale_read(rehearsal, &settings) || settings.overflow
        || !server_open(rehearsal, text_span(&settings)) || !sale_make(rehearsal) || !play(rehearsal))
        return REHEARSE_FAILED;
    conclude(rehearsal);
    if (!reports_write(rehearsal))
        return REHEARSE_FAILED;
    return rehearsal->comparisons.different == 0 ? REHEARSE_DONE : REHEARSE_DIFFERS;
}

static void rehearsal_end(struct rehearsal *rehearsal)
{
    watch_stop(&rehearsal->watch);
    admin_session_close(&rehearsal->target.session);
    scratch_server_end(&rehearsal->host);
    copy_free(&rehearsal->copy);
    free(rehearsal->visitors);
    free(rehearsal->tally);
    free(rehearsal->before);
    free(rehearsal->after);
}

int rehearse_main(int argc, char **argv)
{
    static struct rehearsal rehearsal;
    const struct sigaction stop = { .sa_handler = on_stop };
    if (!rehearse_options_read(&rehearsal.options, argc, argv, stderr))
        return REHEARSE_USAGE;
    if (rehearsal.options.help) {
        fputs(rehearse_usage, stdout);
        return REHEARSE_DONE;
    }
    (void)sigaction(SIGINT, &stop, NULL);
    (void)sigaction(SIGTERM, &stop, NULL);
    if (rehearsal.options.measure_url != NULL)
        return measure_run(&rehearsal.options, &stopped);
    const int result = rehearse(&rehearsal);
    rehearsal_end(&rehearsal);
    return result;
}
