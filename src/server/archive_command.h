/* SPDX-License-Identifier: Apache-2.0 */
/* server/archive_command.h: `stampede archive`: makes the bundle of a sale, verifies it, lets the
 * running server take the sale out of store and inventory, and removes old segments of the log
 * (docs/archive.md). */
#ifndef STAMPEDE_SERVER_ARCHIVE_COMMAND_H
#define STAMPEDE_SERVER_ARCHIVE_COMMAND_H

int archive_main(int argc, char **argv);

#endif
