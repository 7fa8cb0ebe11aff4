/* SPDX-License-Identifier: Apache-2.0 */
/* config/test_mode.h: a server whose payments go to the sandbox moves no real money. It must not be
 * taken for a real one: the sandbox never stands beside a real provider, and is reached from other
 * machines only if the operator says so. Pure functions, any thread. */
#ifndef STAMPEDE_CONFIG_TEST_MODE_H
#define STAMPEDE_CONFIG_TEST_MODE_H

#include "config/config.h"

/* The sandbox is one of payment.providers. */
bool test_mode_on(const struct config *config);
/* NULL: the settings fit; else what is wrong and what to do. */
const char *test_mode_wrong(const struct config *config);

#endif
