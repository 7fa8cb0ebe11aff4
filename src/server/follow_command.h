/* SPDX-License-Identifier: Apache-2.0 */
/* server/follow_command.h: `stampede follow`, `stampede follow status`, `stampede follow takeover`
 * (docs/follow.md). */
#ifndef STAMPEDE_SERVER_FOLLOW_COMMAND_H
#define STAMPEDE_SERVER_FOLLOW_COMMAND_H

int follow_main(int argc, char **argv);

#endif
