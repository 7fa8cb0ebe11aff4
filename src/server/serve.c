/* SPDX-License-Identifier: Apache-2.0 */
#include "server/serve.h"

#include "gateway/settings.h"
#include "server/server.h"

#include <stdio.h>
#include <string.h>

static const char usage[] = "usage: stampede %s [--config FILE] [--data DIR] [--port N] [--address "
                            "A] [--role ROLE] [--set section.key=value]...\n";

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
    const char *equals = strcmp(option, "--set") == 0 ? strchr(value, '=') : NULL;
    if (equals == NULL || (size_t)(equals - value) >= sizeof name)
        return STATUS_BAD_INPUT;
    memcpy(name, value, (size_t)(equals - value));
    name[equals - value] = 0;
    return config_set(config, name, equals + 1, error);
}

/* Standards, the file, the environment, the command line, in this order; at the start and again
 * on SIGHUP. An empty error: the command line is not understood. */
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
        status = i + 1 == line->argc
            ? STATUS_BAD_INPUT
            : serve_option_take(config, line->argv[i], line->argv[i + 1], error);
    return status == STATUS_OK ? config_check(config, error) : status;
}

static bool settings_good(struct config *config, struct command_line *line)
{
    char error[CONFIG_ERROR];
    if (settings_read(config, line, error) == STATUS_OK) {
        log_settings_use(config->log_level, config->log_format);
        return true;
    }
    if (error[0] == 0)
        fprintf(stderr, usage, line->argv[0]);
    else
        fprintf(stderr, "stampede: %s\n", error);
    return false;
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
    return settings_good(&config, &line) ? server_run(&config, &options) : 2;
}

int config_main(int argc, char **argv)
{
    struct config config;
    struct command_line line = { argc, argv };
    if (!settings_good(&config, &line))
        return 2;
    config_print(&config);
    return 0;
}
