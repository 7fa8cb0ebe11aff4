/* SPDX-License-Identifier: Apache-2.0 */
/* server/file_limit.h: how the descriptors of the process are shared out. Clients can take every descriptor
 * that edges may use; database, journal and outgoing calls need theirs at the same moment. */
#ifndef STAMPEDE_SERVER_FILE_LIMIT_H
#define STAMPEDE_SERVER_FILE_LIMIT_H

#include <stdint.h>

enum { FILES_KEPT = 384, FILES_KEPT_SHARE = 4, FILE_LIMIT_CONNECTIONS_MIN = 8 };

/* Connections that each of `edges` may have when so many files may be open: at most `wanted`. FILES_KEPT, but
 * no more than one of FILES_KEPT_SHARE, are kept for the rest of the program. */
uint32_t file_limit_connections(uint64_t files, uint32_t edges, uint32_t wanted);
/* Raises the limit of open files as far as it goes. `handshakes`: that each edge may have besides.
 * Answers the connections of each edge then; fewer than wanted are logged. */
uint32_t file_limit_raise(uint32_t edges, uint32_t wanted, uint32_t handshakes);

#endif
