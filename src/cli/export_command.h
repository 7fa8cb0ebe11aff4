/* SPDX-License-Identifier: Apache-2.0 */
/* cli/export_command.h: `stampede export`: writes the pages of a running server into a folder that any web
 * server or CDN can carry. Files that did not change stay as they are; pages are written after what they
 * name. Items that are no longer public go; hashed files of earlier exports stay, since a page that is open
 * may still ask for them. */
#ifndef STAMPEDE_CLI_EXPORT_COMMAND_H
#define STAMPEDE_CLI_EXPORT_COMMAND_H

int export_main(int argc, char **argv);

#endif
