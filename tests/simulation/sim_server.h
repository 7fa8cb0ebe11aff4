/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/sim_server.h: the order store on a database server that is there already
 * (tools/with-postgres, tools/with-mariadb): a crash of the simulated machine ends its connection only.
 * Everything in the database is dropped for each sale, so the jobs of a run can't share one. */
#ifndef STAMPEDE_TESTS_SIMULATION_SIM_SERVER_H
#define STAMPEDE_TESTS_SIMULATION_SIM_SERVER_H

#include "contract/order_store.h"

void sim_server_use(const char *url); /* before the first sale */
void sim_server_reset(void);          /* the next one to open finds new tables */
MUST_CHECK enum status sim_server_open(struct order_store **store, char *error, size_t error_bytes);

#endif
