/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/store_lost_answers.h: the store on a network that loses one answer of the server, whichever
 * it is, with the connection. Nothing is doubled, nothing is lost, and if the store says that nothing was
 * kept, that is so. */
#ifndef STAMPEDE_TESTS_STORE_LOST_ANSWERS_H
#define STAMPEDE_TESTS_STORE_LOST_ANSWERS_H

#include "tests/seam/store_server.h"

/* What main() answers; 77: there is no server. */
int store_lost_answers_run(const struct store_server *chosen);

#endif
