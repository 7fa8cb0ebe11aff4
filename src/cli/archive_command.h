/* SPDX-License-Identifier: Apache-2.0 */
/* cli/archive_command.h: `stampede archive`: asks the running server to move sales that are over to bundles,
 * and waits for it (docs/archive.md). All work is the server's. */
#ifndef STAMPEDE_CLI_ARCHIVE_COMMAND_H
#define STAMPEDE_CLI_ARCHIVE_COMMAND_H

int archive_main(int argc, char **argv);

#endif
