/* SPDX-License-Identifier: Apache-2.0 */
/* server/version.h: the version of this program. */
#ifndef STAMPEDE_SERVER_VERSION_H
#define STAMPEDE_SERVER_VERSION_H

#ifndef STAMPEDE_VERSION
#define STAMPEDE_VERSION "0.2.0"
#endif

#endif
