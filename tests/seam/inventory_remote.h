/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/inventory_remote.h: the suite of the inventory seam against the inventory over Redis. */
#ifndef STAMPEDE_TESTS_SEAM_INVENTORY_REMOTE_H
#define STAMPEDE_TESTS_SEAM_INVENTORY_REMOTE_H

/* `variable` of the environment has the addresses of the servers. What main returns. */
int inventory_remote_run(const char *name, const char *variable);

#endif
