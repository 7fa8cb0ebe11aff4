/* SPDX-License-Identifier: Apache-2.0 */
/* server/main.c: which command was asked for. */
#include "backup/backup.h"
#include "cli/admin_command.h"
#include "cli/archive_command.h"
#include "cli/draw_command.h"
#include "cli/export_command.h"
#include "cli/key_command.h"
#include "cli/mint_command.h"
#include "cli/reconcile_command.h"
#include "media/picture_command.h"
#include "rehearse/rehearse.h"
#include "server/database.h"
#include "server/demo.h"
#include "server/follow_command.h"
#include "server/migrate.h"
#include "server/restore.h"
#include "server/serve.h"
#include "server/version.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct verb {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
};
static const struct verb verbs[] = {
    { "serve", serve_main, "run the server" },
    { "demo", demo_main, "run a server with a sale to play with" },
    { "config", config_main, "print all settings as the server would see them" },
    { "admin", admin_cli_main, "manage products, sales, items, stock and orders through the admin API" },
    { "reconcile", reconcile_main, "compare database and inventory of a running server" },
    { "backup", backup_main, "copy the data folder of a server that may go on selling" },
    { "restore", restore_main,
        "make a data folder of a backup, or update an older database from its journal" },
    { "follow", follow_main, "keep a copy on a second machine, and take over with it" },
    { "archive", archive_main, "move a sale that is over to a bundle, so that the data folder stays small" },
    { "migrate", migrate_main, "move the shop of a data folder to many machines" },
    { "store", store_main, "make or migrate the tables of a database server" },
    { "verify", verify_command_main, "replay a data folder and check that every unit is accounted for" },
    { "draw", draw_main, "check the draw of a waiting room from the published data" },
    { "export", export_main, "write the pages into a folder that a CDN can carry" },
    { "rehearse", rehearse_main, "play a crowd against a copy of a sale, and report" },
    { "key", key_command_main, "make admin keys and passwords of the console, and list them" },
    { "mint", mint_main, "make passes and sessions for rehearsals, signed with the data folder's secret" },
};

static int help(FILE *out)
{
    fprintf(out, "stampede %s: a flash-sale server\n\nusage: stampede COMMAND ...\n\n", STAMPEDE_VERSION);
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        fprintf(out, "  %-9s %s\n", verbs[i].name, verbs[i].what);
    fprintf(out, "  %-9s %s\n\n`stampede COMMAND --help` shows the options of a command.\n",
        "version", "print the version");
    return out == stdout ? 0 : 2;
}

static bool asks_help(const char *word)
{
    return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

int main(int argc, char **argv)
{
    char *const asked = (char[]){ "--help" };
    if (argc < 2)
        return help(stderr);
    if (argc == 3 && asks_help(argv[1])) { /* help COMMAND */
        argv[1] = argv[2];
        argv[2] = asked;
    } else if (argc >= 3 && strcmp(argv[argc - 1], "-h") == 0) {
        argv[argc - 1] = asked;
    }
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(argv[1], verbs[i].name) == 0)
            return verbs[i].run(argc - 1, argv + 1);
    if (strcmp(argv[1], PICTURE_VERB) == 0) /* the server's own (picture_command.h) */
        return picture_command_main(argc - 1, argv + 1);
    if (strcmp(argv[1], "version") == 0 || strcmp(argv[1], "--version") == 0) {
        printf("stampede %s\n", STAMPEDE_VERSION);
        return 0;
    }
    if (asks_help(argv[1]))
        return help(stdout);
    fprintf(stderr, "stampede: unknown command '%s'; `stampede help` lists all commands\n", argv[1]);
    return 2;
}
