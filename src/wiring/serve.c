#include "wiring/serve.h"

#include "wiring/server.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: stampede %s [--config FILE] [--data DIR] [--port N] [--address A] [--set section.key=value]...\n";

/* Takes one option of the command line; 0: taken, 2: wrong. The file and environment have been read before. */
static int option_take(struct config *config, const char *option, const char *value)
{
    char error[CONFIG_ERROR];
    enum status status = STATUS_OK;
    if (strcmp(option, "--config") == 0)
        return 0;
    if (strcmp(option, "--data") == 0)
        status = config_set(config, "data.folder", value, error);
    else if (strcmp(option, "--port") == 0)
        status = config_set(config, "server.port", value, error);
    else if (strcmp(option, "--address") == 0)
        status = config_set(config, "server.address", value, error);
    else if (strcmp(option, "--set") == 0) {
        char name[CONFIG_TEXT];
        const char *equals = strchr(value, '=');
        if (equals == NULL || (size_t)(equals - value) >= sizeof name)
            return 2;
        memcpy(name, value, (size_t)(equals - value));
        name[equals - value] = 0;
        status = config_set(config, name, equals + 1, error);
    } else {
        return 2;
    }
    if (status == STATUS_OK)
        return 0;
    fprintf(stderr, "stampede: %s\n", error);
    return 2;
}

/* 0, or the exit code after telling what is wrong. */
static int settings_read(int argc, char **argv, struct config *config, const char **path)
{
    char error[CONFIG_ERROR] = "";
    config_defaults(config);
    *path = NULL;
    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], "--config") == 0)
            *path = argv[i + 1];
    enum status status = *path == NULL ? STATUS_OK : config_load_file(config, *path, error);
    if (status == STATUS_OK)
        status = config_load_environment(config, error);
    if (status != STATUS_OK) {
        fprintf(stderr, "stampede: %s\n", error);
        return 2;
    }
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc || option_take(config, argv[i], argv[i + 1]) != 0) {
            fprintf(stderr, usage, argv[0]);
            return 2;
        }
    }
    if (config_check(config, error) == STATUS_OK)
        return 0;
    fprintf(stderr, "stampede: %s\n", error);
    return 2;
}

int serve_main(int argc, char **argv)
{
    struct config config;
    struct server_options options = { 0 };
    const int wrong = settings_read(argc, argv, &config, &options.config_path);
    return wrong != 0 ? wrong : server_run(&config, &options);
}

int config_main(int argc, char **argv)
{
    struct config config;
    const char *path;
    const int wrong = settings_read(argc, argv, &config, &path);
    if (wrong == 0)
        config_print(&config);
    return wrong;
}
