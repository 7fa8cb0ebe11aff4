/* SPDX-License-Identifier: Apache-2.0 */
#include "server/serve.h"

#include "gateway/settings.h"
#include "server/server.h"

#include <stdio.h>
#include <string.h>

static const char options_text[] =
    "  --config FILE            a file of settings (docs/configuration.md)\n"
    "  --data DIR               the data folder: data.folder\n"
    "  --port N, --address A    where the server listens: server.port, server.address\n"
    "  --role ROLE              on several machines: cluster.role\n"
    "  --set section.key=value  any setting\n"
    "  The environment (STAMPEDE_SECTION_KEY) overrides the file, options override both.\n";
static const char serve_usage[] = "usage: stampede serve [--config FILE] [option value]...\n"
                                  "  Runs the server in the foreground until SIGTERM or Ctrl-C; "
                                  "SIGHUP reads the settings again.\n";
static const char config_usage[] =
    "usage: stampede config [--config FILE] [option value]...\n"
    "  Checks the settings and prints each with its value, as the server would see them.\n";

struct command_line {
    int argc;
    char **argv;
};

enum status serve_option_take(
    struct config *config, const char *option, const char *value, char error[CONFIG_ERROR])
{
    char name[CONFIG_TEXT];
    if (strcmp(option, "--config") == 0)
        return STATUS_OK; /* read already */
    if (strcmp(option, "--data") == 0)
        return config_set(config, "data.folder", value, error);
    if (strcmp(option, "--port") == 0)
        return config_set(config, "server.port", value, error);
    if (strcmp(option, "--address") == 0)
        return config_set(config, "server.address", value, error);
    if (strcmp(option, "--role") == 0)
        return config_set(config, "cluster.role", value, error);
    if (strcmp(option, "--set") != 0) {
        snprintf(error, CONFIG_ERROR, "unknown option '%.60s'; --help shows the options", option);
        return STATUS_BAD_INPUT;
    }
    const char *equals = strchr(value, '=');
    if (equals == NULL || (size_t)(equals - value) >= sizeof name) {
        snprintf(error, CONFIG_ERROR, "--set %.60s must be like section.key=value", value);
        return STATUS_BAD_INPUT;
    }
    memcpy(name, value, (size_t)(equals - value));
    name[equals - value] = 0;
    return config_set(config, name, equals + 1, error);
}

static enum status argument_take(
    struct config *config, const struct command_line *line, int at, char error[CONFIG_ERROR])
{
    if (at + 1 < line->argc)
        return serve_option_take(config, line->argv[at], line->argv[at + 1], error);
    snprintf(error, CONFIG_ERROR, "'%.60s' has no value after it; --help shows the options",
        line->argv[at]);
    return STATUS_BAD_INPUT;
}

/* Standards, the file, the environment, the command line, in this order; at the start and again
 * on SIGHUP. */
static enum status settings_read(struct config *config, void *context, char error[CONFIG_ERROR])
{
    const struct command_line *line = context;
    enum status status = STATUS_OK;
    error[0] = 0;
    config_defaults(config);
    for (int i = 1; i + 1 < line->argc && status == STATUS_OK; i += 2)
        if (strcmp(line->argv[i], "--config") == 0)
            status = config_load_file(config, line->argv[i + 1], error);
    if (status == STATUS_OK)
        status = config_load_environment(config, error);
    for (int i = 1; i < line->argc && status == STATUS_OK; i += 2)
        status = argument_take(config, line, i, error);
    return status == STATUS_OK ? config_check(config, error) : status;
}

static bool settings_good(struct config *config, struct command_line *line)
{
    char error[CONFIG_ERROR];
    if (settings_read(config, line, error) == STATUS_OK) {
        log_settings_use(config->log_level, config->log_format);
        return true;
    }
    fprintf(stderr, "stampede: %s\n", error);
    for (int i = 1; i < line->argc; i++)
        if (strcmp(line->argv[i], "--config") == 0)
            return false;
    fprintf(stderr, "stampede: no settings file was read: --config FILE names one\n");
    return false;
}

bool serve_help(const char *usage, int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[argc - 1], "--help") != 0)
        return false;
    fputs(usage, stdout);
    fputs(options_text, stdout);
    return true;
}

bool serve_settings_read(struct config *config, int argc, char **argv)
{
    struct command_line line = { argc, argv };
    return settings_good(config, &line);
}

int serve_main(int argc, char **argv)
{
    struct config config;
    struct command_line line = { argc, argv };
    const struct server_options options = { .settings_read = settings_read, .context = &line };
    if (serve_help(serve_usage, argc, argv))
        return 0;
    return settings_good(&config, &line) ? server_run(&config, &options) : 2;
}

int config_main(int argc, char **argv)
{
    struct config config;
    struct command_line line = { argc, argv };
    if (serve_help(config_usage, argc, argv))
        return 0;
    if (!settings_good(&config, &line))
        return 2;
    config_print(&config);
    return 0;
}
