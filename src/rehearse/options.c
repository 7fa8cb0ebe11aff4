/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/options.h"

#include "base/span.h"
#include "rehearse/crowd.h"

#include <unistd.h>

const char rehearse_usage[] =
    "usage: stampede rehearse --sale N [--url URL] [--key-file FILE] [options]\n"
    "       stampede rehearse --example [options]\n"
    "       stampede rehearse --measure URL [--rate N] [--seconds N]\n"
    "  Plays a crowd of people and bots against a copy of a sale, on a server that is started for "
    "it and ends\n"
    "  with it, and reports. --url and the key (or STAMPEDE_URL, STAMPEDE_ADMIN_KEY) are of the "
    "shop, whose sale is\n"
    "  only read. --example plays 1,000 units for 100,000 users and needs no shop.\n"
    "  --users N            visitors, 10000 (--example: 100000); at most 1000000\n"
    "  --bots PERCENT       of them, 20 (--example: 50): hammer, replay, many accounts, hoarder\n"
    "  --pays PERCENT       of people who win, 75; the others cancel or leave\n"
    "  --early S  --late S  people come from S seconds before the start (10) to S after it (20)\n"
    "  --seconds S          the play ends after so long (early + late + 30), at most 900\n"
    "  --connections N      at most so many at a time, 1000\n"
    "  --seed N             the same seed, the same visitors at the same moments; 1\n"
    "  --expect N           users that are expected at the real sale, for the number of machines\n"
    "  --cores N            of such a machine; those of this one\n"
    "  --p99-ms N           what people's p99 may be, 500\n"
    "  --json               the report on standard output as JSON\n"
    "  --json-file FILE, --html-file FILE, --text-file FILE   the report into a file as well\n"
    "  --scratch DIR        where the rehearsal server's folder is made and removed\n"
    "  --server URL --server-key-file FILE --on-this-server   play on a server that is there "
    "already and is in test\n"
    "                       mode (payment.providers = sandbox); the copy of the sale stays there\n"
    "  --measure URL        one GET after the other, --rate N a second (100) for --seconds S (5): "
    "only latency\n"
    "  exit: 0 done, 1 the report and the server's counts differ, 2 usage, 3 it could not be "
    "played\n";

struct number_option {
    const char *name;
    uint32_t *value;
    uint32_t least, most;
};
struct text_option {
    const char *name;
    const char **value;
};
struct flag_option {
    const char *name;
    bool *value;
};

static bool number_take(const struct number_option *option, const char *text, FILE *errors)
{
    uint32_t value = 0;
    if (span_to_u32(span_from_string(text), &value) == STATUS_OK && value >= option->least
        && value <= option->most) {
        *option->value = value;
        return true;
    }
    fprintf(errors, "stampede rehearse: %s must be a number from %u to %u\n", option->name,
        option->least, option->most);
    return false;
}

static bool flag_take(struct rehearse_options *options, const char *name)
{
    const struct flag_option flags[] = { { "--help", &options->help },
        { "--example", &options->example }, { "--json", &options->json },
        { "--on-this-server", &options->use_given_server } };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (strcmp(name, flags[i].name) == 0) {
            *flags[i].value = true;
            return true;
        }
    }
    return false;
}

/* 1: taken, 0: no such option, -1: said what is wrong. */
static int value_take(struct rehearse_options *options, const char *name, const char *value, FILE *errors)
{
    const struct number_option numbers[] = {
        { "--sale", &options->sale, 1, UINT32_MAX },
        { "--users", &options->users, 1, PLAN_USERS_MAX },
        { "--bots", &options->bots_percent, 0, 100 },
        { "--pays", &options->pays_percent, 0, 100 },
        { "--early", &options->early_s, 6, 300 },
        { "--late", &options->late_s, 1, 300 },
        { "--seconds", &options->seconds, 1, PLAN_SECONDS_MAX },
        { "--connections", &options->connections, 1, CROWD_CONNECTIONS_MAX },
        { "--expect", &options->expect_users, 1, 1000000000 },
        { "--cores", &options->machine_cores, 1, 1024 },
        { "--p99-ms", &options->p99_ms, 1, 60000 },
        { "--rate", &options->rate, 1, 100000 },
    };
    const struct text_option texts[] = {
        { "--url", &options->url },
        { "--key-file", &options->key_file },
        { "--server", &options->server_url },
        { "--server-key-file", &options->server_key_file },
        { "--measure", &options->measure_url },
        { "--scratch", &options->scratch },
        { "--html-file", &options->html_file },
        { "--json-file", &options->json_file },
        { "--text-file", &options->text_file },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(name, numbers[i].name) == 0)
            return number_take(&numbers[i], value, errors) ? 1 : -1;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(name, texts[i].name) == 0) {
            *texts[i].value = value;
            return 1;
        }
    }
    if (strcmp(name, "--seed") != 0)
        return 0;
    if (span_to_u64(span_from_string(value), &options->seed) == STATUS_OK)
        return 1;
    fputs("stampede rehearse: --seed must be a whole number\n", errors);
    return -1;
}

static const char *options_wrong(const struct rehearse_options *options)
{
    const int ways = (options->sale != 0) + options->example + (options->measure_url != NULL);
    if (ways != 1)
        return "say one of --sale N, --example and --measure URL";
    if ((options->server_url != NULL) != options->use_given_server)
        return "--server and --on-this-server are said together: the copy of the sale is made "
               "there and stays";
    if (options->server_url != NULL && options->server_key_file == NULL)
        return "--server needs --server-key-file";
    if (options->measure_url == NULL && options->seconds < options->early_s + 2)
        return "--seconds must be longer than --early";
    return NULL;
}

static void standards_set(struct rehearse_options *options)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const uint32_t play_s = options->early_s + options->late_s + 30;
    if (options->users == 0)
        options->users = options->example ? 100000 : 10000;
    if (options->bots_percent == UINT32_MAX)
        options->bots_percent = options->example ? 50 : 20;
    if (options->seconds == 0)
        options->seconds = options->measure_url != NULL ? 5 : play_s;
    if (options->expect_users == 0)
        options->expect_users = options->users;
    if (options->machine_cores == 0)
        options->machine_cores = cores > 0 ? (uint32_t)cores : 1;
}

bool rehearse_options_read(struct rehearse_options *options, int argc, char **argv, FILE *errors)
{
    *options = (struct rehearse_options){ .bots_percent = UINT32_MAX,
        .pays_percent = 75,
        .connections = 1000,
        .early_s = 10,
        .late_s = 20,
        .seed = 1,
        .p99_ms = 500,
        .rate = 100 };
    for (int i = 1; i < argc; i++) {
        if (flag_take(options, argv[i]))
            continue;
        const int taken = i + 1 < argc ? value_take(options, argv[i], argv[i + 1], errors) : 0;
        if (taken == 0)
            fprintf(errors,
                "stampede rehearse: %s: no such option, or it has no value; see --help\n", argv[i]);
        if (taken <= 0)
            return false;
        i++;
    }
    standards_set(options);
    const char *wrong = options->help ? NULL : options_wrong(options);
    if (wrong != NULL)
        fprintf(errors, "stampede rehearse: %s; see --help\n", wrong);
    return wrong == NULL;
}
